// SPDX-License-Identifier: MIT
// The chart of the Overview: one row a thread, calls and folded runs over time.
import type { JSX } from 'preact';
import type { BaseStage } from '../../shared/draw/base';
import { compact, duration, integer, plural, times } from '../../shared/lib/format';
import type { Thread } from '../../shared/lib/model';
import * as act from '../../shared/state/actions';
import type { ChartRow } from '../../shared/state/rows';
import { Frame } from '../../shared/views/frame';

import { useApp, usePart } from '../../shared/views/use';
import { Stage } from './draw_stage';
import { RegimeStatus, useRegimeWords } from './views_regimes';
import { KIND } from '../../shared/lib/model';
import { Swatch } from '../../shared/views/parts';
import { exact } from '../../shared/lib/format';
import { factsOf } from './views_panel';
import { Key } from '../../shared/views/parts';
import type { App } from '../../shared/state/app';
import type { Item } from '../../shared/state/app';
import type { Pointing } from '../../shared/views/gestures';
import { bindPointer } from '../../shared/views/gestures';
import { runKey } from '../../shared/views/gestures';
import { stepSet } from '../../shared/state/sets';

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
      <i>{out.nodes > 0 ? `${compact(out.nodes)} folded` : duration(out.ns)}</i>
    </>
  );
}

function ThreadLabel({ row, top }: { row: ChartRow; top: number }): JSX.Element {
  const app = useApp();
  const picked = usePart(s => s.picked);
  const thread = row.thread!;
  const isSketch = app.model.trace.part?.kind === 'sketch';
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
        {isSketch ? plural(thread.calls, 'call') : `${duration(thread.runningNs)} running`}
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
  const { part } = app.model.trace;
  const isSketch = part?.kind === 'sketch';
  return (
    <div class="numbers" style={{ top: `${top}px`, height: `${row.height - 1}px` }}>
      <span class="calls" role="cell">
        {part?.kind === 'window' ? '' : integer(calls)}
        <br />
        <i>{isSketch ? '' : `\u2192 ${integer(after)}`}</i>
      </span>
      <span class="left" role="cell" title={leftOutTitle(out)}>
        {isSketch && row.thread ? (
          ''
        ) : row.thread ? (
          <LeftOutCell out={out} />
        ) : (
          <>
            {isSketch ? '' : out.calls === 0 ? 'nothing' : `${compact(out.calls)} in slivers`}
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

function Totals({ n }: { n: number }): JSX.Element {
  const app = useApp();
  const { trace } = app.model;
  const unpacked = usePart(s => s.unpacked);
  const words = useRegimeWords();
  const out = leftOutOf(trace.threads);
  const { calls, rowsAfter, foldedNs, raised } = trace.totals;
  const ratio = rowsAfter > 0 ? calls / rowsAfter : 0;
  if (trace.part?.kind === 'sketch')
    return (
      <div class="totals">
        <span class="grow">
          {integer(n)} of {plural(trace.threads.length, 'thread')} shown. {words}
        </span>
        <RegimeStatus />
      </div>
    );
  return (
    <div class="totals">
      <span class="grow">
        {words} {integer(n)} of {plural(trace.threads.length, 'thread')} shown. Left out:{' '}
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
      <RegimeStatus />
      <b>
        {plural(calls, 'call')} {'\u2192'} {plural(rowsAfter, 'row')}
      </b>
      <span class="dim">{integer(ratio)} : 1</span>
    </div>
  );
}

function Selected(): JSX.Element {
  const item = usePart(s => s.item);
  const app = useApp();
  return (
    <div role="option" id="item-now" aria-selected={item !== null}>
      {item ? act.sentence(app, item) : 'No item selected. Arrow keys walk.'}
    </div>
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

const LISTED = ['epoch', 'only', 'sort', 'hidden', 'open', 'unpacked', 'isFiltered'] as const;
const PAINTED = ['window', 'query', 'isRegime', 'family'] as const;

export function Chart({ onReady }: { onReady: (stage: BaseStage) => void }): JSX.Element {
  return (
    <Frame<ChartRow, Stage>
      label="Threads over time"
      listLabel="Items of all threads. Left and right walk in time, up and down between threads."
      heads={['calls \u2192 rows', 'left out']}
      make={(app, canvases) => new Stage(app, canvases)}
      bind={bindItems}
      onKey={chartKey}
      painted={PAINTED}
      listed={LISTED}
      threadOf={(now, before) =>
        now.item && (now.item !== before.item || now.open !== before.open) ? now.item.thread : null
      }
      holds={(row, thread) =>
        row.thread?.index === thread || row.pack?.threads.some(t => t.index === thread) === true
      }
      row={row => (
        <>
          {row.thread ? <ThreadLabel row={row} top={row.y} /> : <PackLabel row={row} top={row.y} />}
          <Numbers row={row} top={row.y} />
        </>
      )}
      selected={() => <Selected />}
      totals={rows => (
        <Totals n={rows.reduce((sum, row) => sum + (row.pack?.threads.length ?? 1), 0)} />
      )}
      empty={() => <Empty />}
      onReady={onReady}
    />
  );
}

export function Tooltip(): JSX.Element | null {
  const app = useApp();
  const hover = usePart(s => s.hover);
  const pointer = usePart(s => s.pointer);
  if (!hover || !pointer) return null;
  const thread = app.model.trace.threads[hover.thread]!;
  const { rows } = thread;
  const i = hover.row;
  const isFolded = rows.kind[i] === KIND.NODE || rows.kind[i] === KIND.OTHER;
  const time = isFolded ? rows.sum[i]! : rows.end[i]! - rows.start[i]!;
  const isLeft = pointer.x + 12 + 290 > innerWidth;
  const isUp = pointer.y + 220 > innerHeight;
  const style = {
    left: isLeft ? 'auto' : `${pointer.x + 12}px`,
    right: isLeft ? `${innerWidth - pointer.x + 12}px` : 'auto',
    top: isUp ? 'auto' : `${pointer.y + 14}px`,
    bottom: isUp ? `${innerHeight - pointer.y + 14}px` : 'auto',
  };
  const flags = rows.flags[i]!;
  const marks = [
    flags & 8 && 'unusual for its function',
    flags & 1 && 'began before the trace',
    flags & 2 && 'open at the end',
    flags & 4 && 'repaired',
  ].filter(Boolean);
  return (
    <div class="tip" role="tooltip" style={style}>
      <div class="line">
        <Swatch fn={rows.fn[i]!} />
        <b class="grow">{act.title(app, hover)}</b>
        <b>{duration(time)}</b>
      </div>
      <p class="remark">
        {thread.label} · {isFolded ? 'first starts' : 'starts'} {exact(rows.start[i]!)} · depth{' '}
        {rows.level[i]}
      </p>
      <table>
        <tbody>
          {factsOf(app.model, hover).map(fact => (
            <tr key={fact.name}>
              <th scope="row">{fact.name}</th>
              <td class="num">{fact.value}</td>
              <td class="num dim">{fact.more ?? ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {marks.length > 0 && <p class="remark">{marks.join(', ')}</p>}
      {isFolded && <p class="remark">Folded: order inside is by first occurrence, not by time.</p>}
      <p class="keys">
        <Key>click</Key> keep <Key>z</Key> zoom <Key>Esc</Key> clear
      </p>
    </div>
  );
}

/** The Overview's pointing: items. */
export function bindItems(app: App, stage: Stage, area: HTMLElement): () => void {
  const itemAt = (x: number, y: number): Item | null => {
    const hit = stage.hit(x, y);
    return hit && { thread: hit.thread, row: hit.row };
  };
  const pointing: Pointing = {
    stage,
    borders: (x, y) => {
      const hit = stage.hit(x, y);
      return hit && [hit.x0, hit.x1];
    },
    hover: (x, y, pointer) => {
      const item = itemAt(x, y);
      act.hover(app, item, item ? pointer : null);
    },
    leave: () => act.hover(app, null, null),
    click: (x, y) => act.select(app, itemAt(x, y)),
  };
  if (app.served)
    pointing.menu = (x, y, event) => {
      const at = y + stage.scrollTop;
      const row = stage.rows().rows.find(one => at >= one.y && at < one.y + one.height);
      const item = itemAt(x, y);
      const thread = item?.thread ?? row?.thread?.index ?? -1;
      const t = stage.view().t(x);
      act.hover(app, null, null);
      act.openMenu(app, { x: event.clientX, y: event.clientY, t, item, thread });
    };
  return bindPointer(app, pointing, area);
}

/** Items of a thread that can carry the focus: those in view, from the painted ones. */
export function focusable(app: App, stage: Stage, thread: number): number[] {
  const { rows } = app.model.trace.threads[thread]!;
  const seen = new Set<number>();
  for (const hit of stage.hits())
    if (hit.thread === thread && rows.kind[hit.row] !== KIND.SLIVER) seen.add(hit.row);
  return [...seen].sort((a, b) => a - b);
}

export function firstItem(app: App, stage: Stage, thread: number): Item {
  return { thread, row: focusable(app, stage, thread)[0] ?? 0 };
}

export function stepItem(app: App, stage: Stage, by: 1 | -1): void {
  const { item } = app.state.get();
  if (!item) return stepThread(app, stage, 1);
  const list = focusable(app, stage, item.thread);
  const at = list.indexOf(item.row);
  const next = list[at < 0 ? 0 : Math.min(list.length - 1, Math.max(0, at + by))];
  if (next !== undefined) act.select(app, { thread: item.thread, row: next });
}

export function stepThread(app: App, stage: Stage, by: 1 | -1): void {
  const { item } = app.state.get();
  const all = stage.rows().rows.flatMap(row => row.pack?.threads ?? [row.thread!]);
  const threads = all.filter(thread => thread.rows.n > 0); // a part of the trace has some without
  if (threads.length === 0) return;
  const at = item ? threads.findIndex(thread => thread.index === item.thread) : -1;
  const next = threads[Math.min(threads.length - 1, Math.max(0, at + by))]!;
  const { rows } = next;
  const before = item && app.model.trace.threads[item.thread]!.rows.start[item.row]!;
  let row = firstItem(app, stage, next.index).row;
  if (before !== null)
    for (const candidate of focusable(app, stage, next.index))
      if (rows.start[candidate]! <= before && rows.end[candidate]! > before) {
        row = candidate;
        break;
      }
  act.select(app, { thread: next.index, row });
}

export function chartKey(app: App, stage: Stage, event: KeyboardEvent): boolean {
  return runKey(app, event, {
    ArrowRight: () => stepItem(app, stage, 1),
    ArrowLeft: () => stepItem(app, stage, -1),
    ArrowDown: () => stepThread(app, stage, 1),
    ArrowUp: () => stepThread(app, stage, -1),
    Period: () => stepSet(app, 1) || act.stepHit(app, 1),
    Comma: () => stepSet(app, -1) || act.stepHit(app, -1),
    KeyE: () => toggleTallOf(app),
  });
}

export function toggleTallOf(app: App): void {
  const { item } = app.state.get();
  if (item) act.toggleTall(app, item.thread);
}
