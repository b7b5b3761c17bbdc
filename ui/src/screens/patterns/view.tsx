// SPDX-License-Identifier: MIT
// The chart of the Patterns screen: one block of ribbons a thread.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { BaseStage } from '../../shared/draw/base';
import { whyNone } from '../../shared/lib/behaviours';
import { duration, exact, integer, plural } from '../../shared/lib/format';
import type { Span } from '../../shared/lib/model';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { regimeWords } from '../../shared/state/rows';
import type { OnReady, ScreenSpec } from '../../shared/state/screens';
import { ChartSettings, Frame, bindPointer, runKey } from '../../shared/views/chart';
import type { FrameProps, Pointing } from '../../shared/views/chart';
import { NoCalls, Command } from '../../shared/views/parts';
import { useApp, usePart } from '../../shared/views/use';
import { cardFacts, Hue, PatternPanel, ClusterCard } from './behaviour';
import { PatternStage } from './draw';
import { PatternStory, PatternLegend } from './side';
import { usePattern } from './spread';
import * as pat from './state';
import { foldedMap } from './state';
import type { PatternRow } from './state';

function ThreadLabel({ row }: { row: PatternRow }): JSX.Element {
  const app = useApp();
  const picked = usePart(s => s.picked);
  const thread = row.thread!;
  const n = row.own?.ribbons.length ?? 0;
  const click = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) act.pick(app, thread.index);
    else act.toggleTall(app, thread.index);
  };
  return (
    <div
      class="label"
      role="rowheader"
      style={{ top: `${row.y}px`, height: `${row.height - 1}px` }}
    >
      <button
        class={picked.has(thread.index) ? 'thread picked' : 'thread'}
        aria-expanded={row.isTall}
        title={`${row.isTall ? 'Low ribbons' : 'High ribbons, with names'} (e); Ctrl+click ticks it`}
        onClick={click}
      >
        <b>{thread.label}</b> {thread.name && <span class="tname">{thread.name}</span>}
      </button>
      <small>{n > 0 ? plural(n, 'ribbon') : 'no behaviour'}</small>
    </div>
  );
}

function GroupLabel({ row }: { row: PatternRow }): JSX.Element {
  const { title, remark } = row.group!;
  return (
    <div
      class="label"
      role="rowheader"
      style={{ top: `${row.y}px`, height: `${row.height - 1}px` }}
    >
      <b class="pack-title">{title}</b>
      <small title={remark}>{remark}</small>
    </div>
  );
}

function leftOut(rows: readonly (PatternRow['own'] | null)[]): string {
  const sum = { cut: 0, excluded: 0, limited: 0 };
  for (const own of rows) {
    sum.cut += own?.cut ?? 0;
    sum.excluded += own?.excluded ?? 0;
    sum.limited += own?.limited ?? 0;
  }
  const parts = [
    sum.cut && `${integer(sum.cut)} cut`,
    sum.excluded && `${integer(sum.excluded)} excluded`,
    sum.limited && `${integer(sum.limited)} over a limit`,
  ];
  return parts.filter(Boolean).join(', ') || 'nothing';
}

function Numbers({ row }: { row: PatternRow }): JSX.Element {
  const app = useApp();
  const { threads } = app.model.behaviours!.shapes;
  const style = { top: `${row.y}px`, height: `${row.height - 1}px` };
  if (row.group)
    return (
      <div class="numbers" style={style}>
        <span class="calls" role="cell" />
        <span class="left" role="cell">
          {leftOut(row.group.threads.map(t => threads[t.index] ?? null))}
          <br />
          <button class="link" onClick={() => act.togglePack(app, row.group!.key)}>
            expand ▸
          </button>
        </span>
      </div>
    );
  const own = row.own;
  const title = own
    ? `${plural(own.clusters, 'behaviour')}, ${integer(own.newClusters)} of them on none of the threads before; ${plural(own.shapes, 'shape')}, ${integer(own.newShapes)} new; ${plural(own.calls, 'complete call')}`
    : '';
  return (
    <div class="numbers" style={style} title={title}>
      <span class="calls" role="cell">
        {integer(own?.clusters ?? 0)}
        <br />
        <i>{integer(own?.shapes ?? 0)}</i>
      </span>
      <span class="left" role="cell">
        {own ? `${integer(own.newClusters)} new` : ''}
        <br />
        <i>{own && leftOut([own]) !== 'nothing' ? leftOut([own]) : ''}</i>
      </span>
    </div>
  );
}

function Selected(): JSX.Element {
  const app = useApp();
  const chosen = usePattern(s => s.chosen);
  const cluster = usePattern(s => s.cluster);
  const text = chosen
    ? pat.chosenSentence(app.model, chosen)
    : cluster >= 0
      ? pat.clusterSentence(app.model, cluster)
      : 'Nothing selected. Arrow keys walk.';
  return (
    <div role="option" id="item-now" aria-selected={chosen !== null}>
      {text}
    </div>
  );
}

/** What the ribbons do not show, in one line. */
export function leftOutWords(app: ReturnType<typeof useApp>): string {
  const { shapes } = app.model.behaviours!;
  const { totals, columns, cell } = shapes;
  const width = ((shapes.to - shapes.from) / columns) * cell;
  const parts = [`Resolution ${duration(width)}`];
  if (cell > 1) parts.push(`${integer(totals.runsSent)} of ${plural(totals.runs, 'run')}, merged`);
  if (totals.bareRuns > 0)
    parts.push(
      `${integer(totals.bareRuns)} of ${plural(totals.runsSent, 'run')} without the time of their longest call`,
    );
  parts.push(`the calls of ${plural(shapes.calls.length, 'occurrence')} are here`);
  parts.push(`${plural(totals.trivialClusters, 'trivial behaviour')} (calls nothing) not drawn`);
  if (totals.rareClusters > 0)
    parts.push(`${integer(totals.rareClusters)} rarer than ${integer(totals.rareBelow)} not drawn`);
  if (totals.cutCalls > 0) parts.push(`${plural(totals.cutCalls, 'call')} cut by the edges`);
  if (totals.limitedCalls > 0)
    parts.push(`${plural(totals.limitedCalls, 'call')} beyond the limits of shapes`);
  if (totals.undrawn > 0)
    parts.push(
      `${plural(totals.undrawn, 'behaviour')} of little time on a thread not drawn: too many`,
    );
  if (totals.bareThreads > 0)
    parts.push(`${plural(totals.bareThreads, 'thread')} of few calls without ribbons here`);
  return parts.join('; ');
}

function Totals({ rows }: { rows: readonly PatternRow[] }): JSX.Element {
  const app = useApp();
  const isRare = usePattern(s => s.isRare);
  const unpacked = usePart(s => s.unpacked);
  const { totals } = app.model.behaviours!.shapes;
  const n = rows.reduce((sum, row) => sum + (row.group?.threads.length ?? 1), 0);
  const groups = [...unpacked].filter(key => /^g\d+$/.test(key));
  return (
    <div class="totals">
      <span class="grow" title={leftOutWords(app)}>
        {integer(n)} of {plural(app.model.trace.threads.length, 'thread')} shown.{' '}
        {isRare && <b>Rare behaviours are favoured: pixels do not show shares of time. </b>}
        {leftOutWords(app)}.
        {groups.length > 0 && (
          <>
            {' '}
            <button class="link" onClick={() => groups.forEach(key => act.togglePack(app, key))}>
              pack similar threads
            </button>
          </>
        )}
      </span>
      <b>
        {plural(totals.shapes, 'shape')} {'\u2192'} {plural(totals.clusters, 'behaviour')}{' '}
        {'\u2192'} {plural(totals.ribbons, 'ribbon')}
      </b>
    </div>
  );
}

function Empty(): JSX.Element {
  const app = useApp();
  return (
    <p class="empty">
      {app.model.trace.threads.length > 0
        ? 'Every thread is hidden or filtered. '
        : 'This trace holds no call. '}
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
}

const LISTED = ['epoch', 'only', 'sort', 'hidden', 'open', 'unpacked', 'isFiltered'] as const;
const PAINTED = ['window', 'query', 'isRegime', 'hidden'] as const;

/** What is selected or pointed at lies over the rows; all else is in them. */
const OVER: readonly string[] = ['cluster', 'chosen', 'over', 'overRun', 'pointer'];

const follow: FrameProps<PatternRow, PatternStage>['follow'] = (app, paint, keep) =>
  pat.PATTERNS_STATE.of(app).subscribe((now, before) => {
    const keys = Object.keys(now) as (keyof pat.PatternsState)[];
    paint(keys.some(key => now[key] !== before[key] && !OVER.includes(key)));
    if (now.chosen !== before.chosen) keep(now.chosen?.at.thread ?? null);
  });

function PatternChart({ onReady }: { onReady: (stage: BaseStage) => void }): JSX.Element {
  const app = useApp();
  return (
    <Frame<PatternRow, PatternStage>
      label="Behaviours over time"
      listLabel="Ribbons of all threads. Left and right walk in time, up and down between ribbons."
      heads={['behaviours', 'new \u00b7 omitted']}
      make={(app, canvases) => new PatternStage(app, canvases)}
      bind={bindRuns}
      onKey={ribbonKey}
      painted={PAINTED}
      listed={LISTED}
      follow={follow}
      threadOf={(now, before) =>
        now.open === before.open ? null : (pat.stateOf(app).chosen?.at.thread ?? null)
      }
      holds={(row, thread) =>
        row.thread?.index === thread || row.group?.threads.some(t => t.index === thread) === true
      }
      row={row => (
        <>
          {row.thread ? <ThreadLabel row={row} /> : <GroupLabel row={row} />}
          <Numbers row={row} />
        </>
      )}
      selected={() => <Selected />}
      totals={rows => <Totals rows={rows} />}
      empty={() => <Empty />}
      onReady={onReady}
    />
  );
}

/** Instead of the chart, if there is nothing to draw. */
function NoPatterns(): JSX.Element {
  const { model, served } = useApp();
  const { shapes } = model.trace;
  if (served?.trace.calls === 0)
    return (
      <section class="chart none" aria-label="Behaviours over time">
        <NoCalls served={served} />
      </section>
    );
  return (
    <section class="chart none" aria-label="Behaviours over time">
      <p class="empty">
        {shapes ? whyNone(shapes) : 'This page was written without shapes.'}
        <br />
        {shapes ? 'What the trace holds of shapes, in words: ' : 'To have them, write it again: '}
        <Command
          text={
            shapes
              ? `weft shapes ${model.trace.name}`
              : `weft report ${model.trace.name} -o PAGE.html`
          }
        />
      </p>
    </section>
  );
}

/* ---- ribbons ---- */

function bindRuns(app: App, stage: PatternStage, area: HTMLElement): () => void {
  const pointing: Pointing = {
    stage,
    borders: (x, y) => {
      const found = stage.run(x, y);
      return found && [found.bar.x0, found.bar.x1];
    },
    hover: (x, y, pointer) => {
      const at = stage.run(x, y)?.at ?? null;
      pat.hoverRun(app, at, at ? pointer : null);
    },
    leave: () => pat.hoverRun(app, null, null),
    click: (x, y) => pat.chooseRun(app, stage.run(x, y)?.at ?? null),
  };
  return bindPointer(app, pointing, area);
}

/** The bar of another lane (`by` lanes away) or the next one of the same. */
function stepBar(app: App, stage: PatternStage, lanes: number, bars: number): void {
  const all = stage.painted().filter(lane => lane.bars.length > 0);
  const run = pat.stateOf(app).chosen?.run ?? null;
  const from = all.findIndex(
    lane =>
      lane.thread === run?.thread &&
      (lane.ribbon < 0 || lane.ribbon === run.ribbon) &&
      lane.bars.some(bar => bar.runs.includes(run.run)),
  );
  const lane = all[from < 0 ? 0 : Math.min(all.length - 1, Math.max(0, from + lanes))];
  if (!lane) return;
  const now = from < 0 ? null : all[from]!.bars.find(bar => bar.runs.includes(run!.run));
  const at = now ? lane.bars.findIndex(bar => bar.x1 > now.x0) : 0;
  const place = Math.max(
    0,
    Math.min(lane.bars.length - 1, (at < 0 ? lane.bars.length - 1 : at) + bars),
  );
  const bar = lane.bars[place]!;
  pat.chooseRun(app, { thread: lane.thread, ribbon: bar.ribbon, run: bar.run });
}

function ribbonKey(app: App, stage: PatternStage, event: KeyboardEvent): boolean {
  return runKey(app, event, {
    ArrowRight: () => stepBar(app, stage, 0, 1),
    ArrowLeft: () => stepBar(app, stage, 0, -1),
    ArrowDown: () => stepBar(app, stage, 1, 0),
    ArrowUp: () => stepBar(app, stage, -1, 0),
    Period: () => pat.stepRun(app, 1),
    Comma: () => pat.stepRun(app, -1),
    KeyE: () => {
      const thread = pat.stateOf(app).chosen?.at.thread;
      if (thread !== undefined) act.toggleTall(app, thread);
    },
  });
}

/** There is no stage to wait for. */
function EmptyScreen({ onReady }: { onReady: OnReady }): JSX.Element {
  useEffect(() => onReady(null), []);
  return (
    <main class="centre">
      <NoPatterns />
    </main>
  );
}

const hasPatterns = ({ model }: App): boolean => (model.behaviours?.list.length ?? 0) > 0;

function PatternScreen({ onReady }: { onReady: OnReady }): JSX.Element {
  const app = useApp();
  usePart(s => s.colors);
  if (!hasPatterns(app)) return <EmptyScreen onReady={onReady} />;
  return (
    <>
      <PatternStory />
      <main class="centre">
        <PatternChart onReady={onReady} />
      </main>
      <PatternLegend />
      <PatternPanel />
      <ClusterCard />
    </>
  );
}

function patternWords(app: App): string {
  const totals = app.model.behaviours?.shapes.totals;
  return totals
    ? `${plural(totals.calls, 'complete call')} in ${plural(totals.shapes, 'shape')}`
    : '';
}

function patternKey(app: App, event: KeyboardEvent): boolean {
  if (!hasPatterns(app)) return false;
  const steps: Record<string, () => void> = event.altKey
    ? {
        KeyA: () => pat.setSide(app, 'a', pat.meantShape(app)),
        KeyB: () => pat.setSide(app, 'b', pat.meantShape(app)),
      }
    : {
        o: () => pat.toggleMarks(app),
        i: () => pat.toggleFolds(app),
        r: () => pat.toggleSampling(app),
        v: () => pat.nextDrawing(app),
      };
  const step = steps[event.altKey ? event.code : event.key];
  step?.();
  return step !== undefined;
}

/** What the search box says. */
function searchText({ model }: App, query: string): string {
  const hits = pat.findClusters(model, query);
  if (!hits) return '';
  if (hits.query.error) return hits.query.error;
  const threads = plural(hits.threads.size, 'thread');
  return hits.list.length > 0 ? `${plural(hits.list.length, 'behaviour')} in ${threads}` : threads;
}

const CARDS: ScreenSpec['cards'] = {
  atHand(app) {
    const { trace, behaviours } = app.model;
    const { cluster, chosen } = pat.stateOf(app);
    const id = behaviours?.list[cluster]?.cluster.id;
    if (id === undefined) return null;
    const span = focus(app);
    const at = chosen && span && { tid: trace.threads[chosen.at.thread]!.tid, span };
    return { kind: 'behaviour', id, at };
  },
  read(app, what) {
    const { model } = app;
    if (what.kind !== 'behaviour') return null;
    const { cluster, chosen } = pat.placed(model, what.id, what.at);
    const own = model.behaviours?.list[cluster];
    if (!own) return null;
    const at = chosen?.at;
    return {
      sentence: chosen ? pat.chosenSentence(model, chosen) : pat.clusterSentence(model, cluster),
      title: own.title,
      time: at ? duration(at.end - at.start) : '',
      remark: at
        ? `${model.trace.threads[at.thread]!.label}, starts ${exact(at.start)}`
        : 'behaviour, in all threads',
      facts: () => cardFacts(model, own),
      Mark: () => <Hue hue={own.hue} />,
      select() {
        if (at) act.reveal(app, at.thread);
        pat.put(app, { cluster, chosen });
      },
    };
  },
};

/** The time of the chosen occurrence. */
function focus(app: App): Span | null {
  const { chosen } = pat.stateOf(app);
  return chosen && { t0: chosen.at.start, t1: Math.max(chosen.at.end, chosen.at.start + 1) };
}

function clear(app: App): boolean {
  const { chosen, cluster } = pat.stateOf(app);
  if (app.state.get().range || chosen) {
    pat.put(app, { chosen: null });
    act.clearItem(app);
    return true;
  }
  if (cluster >= 0) pat.put(app, { cluster: -1 });
  return cluster >= 0;
}

export const PATTERNS: ScreenSpec = {
  key: 'patterns',
  name: 'Patterns',
  View: PatternScreen,
  kind: app => (hasPatterns(app) ? ' patterns' : ' patterns bare'),
  keys: [
    ['\u2191\u2193', 'ribbon'],
    ['\u2190\u2192', 'run'],
    ['. ,', 'next, previous place'],
    ['v', 'shape / calls'],
    ['Alt+A Alt+B', 'compare'],
    ['o', 'spikes, drops'],
    ['r', 'rare'],
    ['i', 'fold idle'],
    ['W S A D', 'zoom, pan'],
    ['z', 'zoom to it'],
    ['h', 'highlight / filter'],
    ['e', 'high ribbons'],
    ['Esc', 'clear'],
  ],
  help: [
    ['v', 'Patterns: calls in time, calls in order, shape'],
    ['o', 'Patterns: spikes and drops on and off'],
    [
      'calls: count:',
      'Patterns, in the search box: behaviours that call it; of so many occurrences',
    ],
    ['Alt+A, Alt+B', 'Patterns: the selected shape is A, is B; both are compared'],
    ['i', 'Patterns: fold stretches in which no thread shown has an occurrence'],
    ['r', 'Patterns: where runs share a pixel, favour rare behaviours; rare calls have marks'],
  ],
  status: app => patternWords(app) || regimeWords(app),
  onKey: patternKey,
  Settings: () => <ChartSettings color="behaviour" />,
  own: pat.PATTERNS_STATE,
  timeMap: foldedMap,
  search: { isApart: true, text: searchText, step: pat.stepCluster },
  cards: CARDS,
  focus,
  clear,
  watch: (app, changed) => pat.PATTERNS_STATE.of(app).subscribe(changed),
  write: pat.writeView,
  read: pat.readView,
};
