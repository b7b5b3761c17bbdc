// SPDX-License-Identifier: MIT
// The chart: axis, labels, canvas and numbers, one row a thread. Only rows in view are in the DOM.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { Stage } from '../draw/stage';
import { compact, duration, integer, plural, times } from '../lib/format';
import type { Thread } from '../lib/model';
import * as act from '../state/actions';
import type { ChartRow } from '../state/rows';
import type { App, State } from '../state/app';
import { bindPointer, chartKey } from './gestures';
import { useApp, usePart } from './use';

interface LeftOut {
  calls: number;
  ns: number;
  nodes: number;
  foldedNs: number;
}

function leftOutOf(threads: readonly Thread[]): LeftOut {
  const sum = { calls: 0, ns: 0, nodes: 0, foldedNs: 0 };
  for (const thread of threads) {
    sum.calls += thread.sliverCalls;
    sum.ns += thread.sliverNs;
    sum.nodes += thread.foldedNodes;
    sum.foldedNs += thread.foldedNs;
  }
  return sum;
}

function leftOutTitle({ calls, ns, nodes, foldedNs }: LeftOut): string {
  return `${plural(calls, 'call')} in slivers, ${duration(ns)}; ${plural(nodes, 'node')} folded, ${duration(foldedNs)}`;
}

function LeftOutCell({ out }: { out: LeftOut }): JSX.Element {
  if (out.calls === 0 && out.nodes === 0) return <>nothing</>;
  return (
    <>
      {compact(out.calls)} in slivers
      <br />
      <i>{out.nodes > 0 ? `${compact(out.nodes)} nodes folded` : duration(out.ns)}</i>
    </>
  );
}

function ThreadLabel({ row, top }: { row: ChartRow; top: number }): JSX.Element {
  const app = useApp();
  const picked = usePart(s => s.picked);
  const thread = row.thread!;
  const raised = thread.factor !== 1 ? `; thresholds raised ${times(thread.factor)}` : '';
  const click = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) act.pick(app, thread.index);
    else act.toggleTall(app, thread.index);
  };
  return (
    <div class="label" role="rowheader" style={{ top: `${top}px`, height: `${row.height - 1}px` }}>
      <button
        class={picked.has(thread.index) ? 'thread picked' : 'thread'}
        aria-expanded={row.isTall}
        title={`${row.isTall ? 'Compact' : 'Every level'} (e); Ctrl+click ticks it${raised}`}
        onClick={click}
      >
        <b>{thread.label}</b> {thread.name && <span class="tname">{thread.name}</span>}
      </button>
      <small>
        {duration(thread.runningNs)} running
        {thread.factor !== 1 ? ` \u00b7 d, g ${times(thread.factor)}` : ''}
      </small>
    </div>
  );
}

function PackLabel({ row, top }: { row: ChartRow; top: number }): JSX.Element {
  return (
    <div class="label" role="rowheader" style={{ top: `${top}px`, height: `${row.height - 1}px` }}>
      <b class="pack-title">{row.pack!.title}</b>
      <small title={row.pack!.remark}>{row.pack!.remark}</small>
    </div>
  );
}

function Numbers({ row, top }: { row: ChartRow; top: number }): JSX.Element {
  const app = useApp();
  const threads = row.pack?.threads ?? [row.thread!];
  const calls = threads.reduce((sum, t) => sum + t.calls, 0);
  const after = threads.reduce((sum, t) => sum + t.rowsAfter, 0);
  const out = leftOutOf(threads);
  return (
    <div class="numbers" style={{ top: `${top}px`, height: `${row.height - 1}px` }}>
      <span class="calls" role="cell">
        {integer(calls)}
        <br />
        <i>
          {'\u2192'} {integer(after)}
        </i>
      </span>
      <span class="left" role="cell" title={leftOutTitle(out)}>
        {row.thread ? (
          <LeftOutCell out={out} />
        ) : (
          <>
            {out.calls === 0 ? 'nothing' : `${compact(out.calls)} in slivers`}
            <br />
            <button class="link" onClick={() => act.togglePack(app, row.pack!.key)}>
              expand ▸
            </button>
          </>
        )}
      </span>
    </div>
  );
}

function basePart(a: State, b: State): boolean {
  return (
    a.window !== b.window ||
    a.query !== b.query ||
    a.isFiltered !== b.isFiltered ||
    a.isRegime !== b.isRegime ||
    a.sort !== b.sort ||
    a.hidden !== b.hidden ||
    a.open !== b.open ||
    a.unpacked !== b.unpacked ||
    a.family !== b.family
  );
}

function connect(app: App, stage: Stage, redraw: () => void): () => void {
  const off = app.state.subscribe((now, before) => {
    if (basePart(now, before)) stage.markBase();
    else stage.markOverlay();
    const reshaped =
      now.sort !== before.sort ||
      now.hidden !== before.hidden ||
      now.open !== before.open ||
      now.unpacked !== before.unpacked ||
      now.isFiltered !== before.isFiltered ||
      (now.isFiltered && now.query !== before.query);
    if (reshaped) redraw();
  });
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const retheme = (): void => stage.retheme();
  dark.addEventListener('change', retheme);
  return () => {
    off();
    dark.removeEventListener('change', retheme);
  };
}

function Totals({ n }: { n: number }): JSX.Element {
  const app = useApp();
  const { trace } = app.model;
  const unpacked = usePart(s => s.unpacked);
  const out = leftOutOf(trace.threads);
  const { rowsAfter, foldedNs, raised } = trace.totals;
  const ratio = rowsAfter > 0 ? trace.calls / rowsAfter : 0;
  return (
    <div class="totals">
      <span class="grow">
        {integer(n)} of {plural(trace.threads.length, 'thread')} shown. Left out:{' '}
        {plural(out.calls, 'call')}, {duration(out.ns)} in slivers; {duration(foldedNs)} folded into
        “other”;{' '}
        {raised === 0
          ? 'no threshold raised'
          : `${plural(raised, 'thread')} with raised thresholds`}
        .
        {unpacked.size > 0 && (
          <>
            {' '}
            <button
              class="link"
              onClick={() => [...unpacked].forEach(key => act.togglePack(app, key))}
            >
              pack alike threads
            </button>
          </>
        )}
      </span>
      <b>
        {plural(trace.calls, 'call')} {'\u2192'} {plural(rowsAfter, 'row')}
      </b>
      <span class="dim">{integer(ratio)} : 1</span>
    </div>
  );
}

function Listbox({ stage }: { stage: Stage | null }): JSX.Element {
  const item = usePart(s => s.item);
  const app = useApp();
  void stage;
  if (!item)
    return (
      <div role="option" id="item-now" aria-selected="false">
        No item selected. Arrow keys walk.
      </div>
    );
  return (
    <div role="option" id="item-now" aria-selected="true">
      {act.sentence(app, item)}
    </div>
  );
}

export function Chart({ onReady }: { onReady: (stage: Stage) => void }): JSX.Element {
  const app = useApp();
  const scroller = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLDivElement>(null);
  const axis = useRef<HTMLCanvasElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const [stage, setStage] = useState<Stage | null>(null);
  const [box, setBox] = useState({ top: 0, height: 600 });
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useLayoutEffect(() => {
    const made = new Stage(app, {
      axis: axis.current!,
      base: base.current!,
      overlay: overlay.current!,
    });
    const off = connect(app, made, () => redraw(undefined as never));
    const unbind = bindPointer(app, made, area.current!);
    const measure = (): void => {
      const height = scroller.current!.clientHeight;
      made.resize(area.current!.clientWidth, height);
      setBox(now => ({ ...now, height }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(scroller.current!);
    observer.observe(area.current!);
    measure();
    setStage(made);
    onReady(made);
    return () => {
      off();
      unbind();
      observer.disconnect();
    };
  }, [app]);
  useEffect(() => scrollToItem(app, stage, scroller.current), [stage]);
  const built = stage?.rows() ?? { rows: [], height: 0 };
  const visible = built.rows.filter(
    row => row.y + row.height >= box.top - 40 && row.y <= box.top + box.height + 40,
  );
  const shown = built.rows.reduce((sum, row) => sum + (row.pack?.threads.length ?? 1), 0);
  const onScroll = (): void => {
    const top = scroller.current!.scrollTop;
    stage?.scroll(top);
    setBox(now => ({ ...now, top }));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current) return;
    if (stage && chartKey(app, stage, event)) event.preventDefault();
  };
  return (
    <section class="chart" aria-label="Threads over time">
      <div class="head">
        <span class="h-thread">Thread</span>
        <canvas ref={axis} aria-hidden="true" class="axis" />
        <span class="h-numbers">
          <span>calls → rows</span>
          <span>left out</span>
        </span>
      </div>
      <div
        ref={scroller}
        id="chart"
        class="scroller"
        tabIndex={0}
        role="listbox"
        aria-label="Items of all threads. Left and right walk in time, up and down between threads."
        aria-activedescendant="item-now"
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        <div class="sr">
          <Listbox stage={stage} />
        </div>
        <div class="content" style={{ height: `${built.height}px` }} role="presentation">
          <div ref={area} class="area" style={{ height: `${box.height}px` }}>
            <canvas ref={base} aria-hidden="true" />
            <canvas ref={overlay} aria-hidden="true" class="over" />
          </div>
          <div role="table" aria-label="Threads in view" class="rows">
            {visible.map(row => (
              <div role="row" key={row.key}>
                {row.thread ? (
                  <ThreadLabel row={row} top={row.y} />
                ) : (
                  <PackLabel row={row} top={row.y} />
                )}
                <Numbers row={row} top={row.y} />
              </div>
            ))}
          </div>
          {built.rows.length === 0 && <Empty />}
        </div>
      </div>
      <Totals n={shown} />
    </section>
  );
}

function Empty(): JSX.Element {
  const app = useApp();
  if (app.model.trace.threads.length > 0)
    return (
      <p class="empty">
        Every thread is hidden or filtered.{' '}
        <button
          class="link"
          onClick={() => {
            act.showAll(app);
            act.setQuery(app, '');
          }}
        >
          Show all
        </button>
      </p>
    );
  return (
    <p class="empty">
      This trace holds no call. Was the program built with tracing, and did it run to its end?
    </p>
  );
}

/** Keeps the selected item's row in view. */
function scrollToItem(app: App, stage: Stage | null, scroller: HTMLElement | null): () => void {
  if (!stage || !scroller) return () => undefined;
  return app.state.subscribe((now, before) => {
    if (!now.item || (now.item === before.item && now.open === before.open)) return;
    const row = stage
      .rows()
      .rows.find(
        r =>
          r.thread?.index === now.item!.thread ||
          r.pack?.threads.some(t => t.index === now.item!.thread),
      );
    if (!row) return;
    const { scrollTop, clientHeight } = scroller;
    if (row.y < scrollTop) scroller.scrollTop = row.y;
    else if (row.y + Math.min(row.height, clientHeight) > scrollTop + clientHeight)
      scroller.scrollTop = row.y + Math.min(row.height, clientHeight) - clientHeight;
  });
}
