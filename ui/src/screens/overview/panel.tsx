// SPDX-License-Identifier: MIT
// What a thread did in an interval, as far as the page knows it. Notable calls, gaps and pauses have
// exact borders. An expression that lies whole in the interval is exact too; of one cut by a border
// only bounds are known, because the order of its calls is folded. Nothing in between is guessed.
import { GREY_HUE } from '../../shared/lib/color';
import { overviewOf } from './state';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { duration, exact, integer, percent, plural, span, times } from '../../shared/lib/format';
import { KIND, PAUSE, overlap } from '../../shared/lib/model';
import type { Span, Thread } from '../../shared/lib/model';
import * as act from '../../shared/state/actions';
import type { App, Item, Model, State } from '../../shared/state/app';
import { shownThreads } from '../../shared/state/rows';
import { Command, Name, Swatch, Heads } from '../../shared/views/parts';
import { useApp, usePart, useRested } from '../../shared/views/use';
import { SetPanel } from './calls';
import { ExactTable, useExact } from './exact';
import { HueBar } from './bar';

type DidState = 'no call' | 'waits' | 'stalled' | 'inside a call' | 'runs' | 'waits, runs';

interface Did {
  thread: Thread;
  state: DidState;
  /** Calls that touch the interval: exactly, or at least and at most. */
  callsLeast: number;
  callsMost: number;
  /** Self time known exactly, by function, longest first. */
  self: { fn: number; ns: number }[];
  /** Time in calls that no row resolves: cut expressions, folded nodes, slivers. */
  unresolved: number;
  /** Time in which no call was open. */
  outside: number;
  wait: number;
  still: number;
  /** The innermost notable call open all along, or -1. */
  throughout: number;
  isExact: boolean;
}

interface Tally {
  t0: number;
  t1: number;
  self: Map<number, number>;
  least: number;
  most: number;
  covered: number;
  isExact: boolean;
}

function add(tally: Tally, fn: number, ns: number): void {
  if (ns > 0) tally.self.set(fn, (tally.self.get(fn) ?? 0) + ns);
}

function addBox(thread: Thread, box: number, tally: Tally): void {
  const { rows } = thread;
  const isWhole = rows.start[box]! >= tally.t0 && rows.end[box]! <= tally.t1;
  tally.most += rows.count[box]!;
  if (isWhole) {
    tally.least += rows.count[box]!;
    for (let i = box + 1; i < rows.next[box]!; i++)
      if (rows.kind[i] === KIND.NODE) add(tally, rows.fn[i]!, rows.self[i]!);
  } else {
    tally.least += 1;
    tally.isExact = false;
  }
}

function addCall(thread: Thread, call: number, tally: Tally): void {
  const { rows } = thread;
  tally.least++;
  tally.most++;
  const inside = overlap(rows.start[call]!, rows.end[call]!, tally.t0, tally.t1);
  const isWhole = rows.start[call]! >= tally.t0 && rows.end[call]! <= tally.t1;
  const below = addChildren(thread, call + 1, rows.next[call]!, inside, tally);
  add(tally, rows.fn[call]!, isWhole ? rows.self[call]! : below.n > 0 ? below.gaps : inside);
}

/** Rows under one parent (or at root). Slivers can only lie in what the other rows leave free. */
function addChildren(
  thread: Thread,
  from: number,
  to: number,
  inside: number,
  tally: Tally,
): { n: number; gaps: number } {
  const { rows } = thread;
  const slivers: number[] = [];
  let [n, gaps, covered] = [0, 0, 0];
  for (let c = from; c < to; c = rows.next[c]!) {
    n++;
    if (rows.kind[c] === KIND.SLIVER) {
      slivers.push(c);
      continue;
    }
    const part = overlap(rows.start[c]!, rows.end[c]!, tally.t0, tally.t1);
    covered += part;
    if (rows.kind[c] === KIND.GAP) gaps += part;
    else addRow(thread, c, tally);
  }
  if (covered < inside) for (const c of slivers) addRow(thread, c, tally);
  return { n, gaps };
}

function addRow(thread: Thread, i: number, tally: Tally): void {
  const { rows } = thread;
  const start = rows.start[i]!;
  const end = rows.end[i]!;
  const touches =
    end > start ? start < tally.t1 && end > tally.t0 : start >= tally.t0 && start < tally.t1;
  if (!touches) return;
  if (rows.kind[i] === KIND.CALL) addCall(thread, i, tally);
  else if (rows.kind[i] === KIND.EXPRESSION) addBox(thread, i, tally);
  else if (rows.kind[i] === KIND.SLIVER) {
    const isWhole = start >= tally.t0 && end <= tally.t1;
    tally.most += rows.count[i]!;
    if (isWhole) tally.least += rows.count[i]!;
    else tally.isExact = false;
  }
}

function openThroughout(thread: Thread, { t0, t1 }: Span): number {
  const { rows } = thread;
  let found = -1;
  let i = 0;
  while (i < rows.n) {
    const covers = rows.kind[i] === KIND.CALL && rows.start[i]! <= t0 && rows.end[i]! >= t1;
    if (covers) found = i;
    i = covers ? i + 1 : rows.next[i]!;
  }
  return found;
}

/** Time between `t0` and `t1` in which some root call or root expression was open. */
function rootCover(thread: Thread, { t0, t1 }: Span): number {
  const { rows } = thread;
  let covered = 0;
  for (let i = 0; i < rows.n; i = rows.next[i]!)
    if (rows.kind[i] === KIND.CALL || rows.kind[i] === KIND.EXPRESSION)
      covered += overlap(rows.start[i]!, rows.end[i]!, t0, t1);
  return covered;
}

function pauseTime(thread: Thread, kind: number, { t0, t1 }: Span): number {
  const { pauses } = thread;
  let total = 0;
  for (let p = 0; p < pauses.n; p++)
    if (pauses.kind[p] === kind) total += overlap(pauses.start[p]!, pauses.end[p]!, t0, t1);
  return total;
}

function stateOf(did: Omit<Did, 'state'>, length: number): DidState {
  const { wait, still, outside } = did;
  if (outside >= length * 0.999) return 'no call';
  if (wait + outside >= length * 0.995) return 'waits';
  if (still + outside >= length * 0.995) return 'stalled';
  const isOneCall = did.callsMost <= 64 && did.throughout >= 0 && did.unresolved < length * 0.01;
  if (isOneCall) return 'inside a call';
  return wait > length * 0.05 ? 'waits, runs' : 'runs';
}

export function whatItDid(thread: Thread, span: Span): Did {
  const tally: Tally = {
    t0: span.t0,
    t1: span.t1,
    self: new Map<number, number>(),
    least: 0,
    most: 0,
    covered: 0,
    isExact: true,
  };
  addChildren(thread, 0, thread.rows.n, span.t1 - span.t0, tally);
  const inCalls = rootCover(thread, span);
  const self = [...tally.self].map(([fn, ns]) => ({ fn, ns })).sort((a, b) => b.ns - a.ns);
  const known = self.reduce((sum, { ns }) => sum + ns, 0);
  const did = {
    thread,
    callsLeast: tally.least,
    callsMost: tally.most,
    self,
    unresolved: Math.max(0, inCalls - known),
    outside: Math.max(0, span.t1 - span.t0 - inCalls),
    wait: pauseTime(thread, PAUSE.WAIT, span),
    still: pauseTime(thread, PAUSE.STILL, span),
    throughout: openThroughout(thread, span),
    isExact: tally.isExact && thread.foldedNodes === 0,
  };
  return { ...did, state: stateOf(did, span.t1 - span.t0) };
}

/** One sentence over all threads. */
function summarize(all: readonly Did[]): string {
  const counts = new Map<DidState, number>();
  for (const { state } of all) counts.set(state, (counts.get(state) ?? 0) + 1);
  const words: [DidState, string][] = [
    ['runs', 'ran'],
    ['waits, runs', 'waited and ran'],
    ['waits', 'waited throughout'],
    ['stalled', 'stalled inside a call'],
    ['inside a call', 'were inside one call'],
    ['no call', 'had no call'],
  ];
  const parts = words
    .filter(([state]) => counts.has(state))
    .map(([state, word]) => `${counts.get(state)} ${word}`);
  if (parts.length === 0) return 'No thread.';
  return `${parts[0]!.replace(/^(\d+) /, (_, n: string) => `${n} ${n === '1' ? 'thread' : 'threads'} `)}${
    parts.length > 1 ? `, ${parts.slice(1).join(', ')}` : ''
  }.`;
}

/* ---- The panel below the chart: what each thread did in an interval, the facts of an item, or the list
 * of outliers. Whatever the page knows only as bounds is shown as bounds. ---- */

const FIRST = 60;

function callsText(did: Did): string {
  if (did.callsLeast === did.callsMost) return integer(did.callsMost);
  return `${integer(did.callsLeast)}\u2013${integer(did.callsMost)}`;
}

function Bar({ did, length }: { did: Did; length: number }): JSX.Element {
  const { model } = useApp();
  const times = did.self.map(({ fn, ns }) => ({
    ns,
    hue: fn < 0 ? GREY_HUE : model.families.hue[fn]!,
    isWait: fn >= 0 && model.trace.functions.isWait[fn] === 1,
  }));
  const title = did.unresolved > 0 ? `${duration(did.unresolved)} is known only in sum` : '';
  return <HueBar times={times} rest={did.unresolved} length={length} title={title} />;
}

function DidRow({ did, length }: { did: Did; length: number }): JSX.Element {
  const app = useApp();
  const item = usePart(s => s.item);
  const { thread, throughout } = did;
  const { rows } = thread;
  const top = did.self[0];
  const choose = (): void => {
    if (throughout >= 0) act.select(app, { thread: thread.index, row: throughout });
  };
  return (
    <tr class={item?.thread === thread.index ? 'now' : ''}>
      <th scope="row">
        <button class="row-link" title="Show what was on the stack throughout" onClick={choose}>
          {thread.label}
        </button>
      </th>
      <td>{did.state}</td>
      <td class="num">{callsText(did)}</td>
      <td class="bars">
        <Bar did={did} length={length} />
      </td>
      <td class="clip">
        {top ? (
          <>
            <Swatch fn={top.fn} />
            <Name fn={top.fn} />
          </>
        ) : (
          <span class="dim">{did.unresolved > 0 ? 'not resolved' : '\u2013'}</span>
        )}
      </td>
      <td class="num key">{top ? duration(top.ns) : '\u2013'}</td>
      <td class="num dim">
        {did.unresolved > length * 0.0005 ? `\u2264 ${duration(did.unresolved)}` : ''}
      </td>
      <td class="clip dim">
        {throughout >= 0 ? (
          <>
            <Name fn={rows.fn[throughout]!} /> depth {rows.level[throughout]}
          </>
        ) : (
          '\u2013'
        )}
      </td>
      <td class="num">
        {throughout >= 0 ? duration(rows.end[throughout]! - rows.start[throughout]!) : '\u2013'}
      </td>
    </tr>
  );
}

function isBusy(did: Did): number {
  return did.callsMost;
}

function IntervalTable({
  of,
  what,
  trouble,
}: {
  of: Span;
  what: string;
  trouble: string;
}): JSX.Element {
  const { model, state, served } = useApp();
  const [limit, setLimit] = useState(FIRST);
  const hidden = usePart(s => s.hidden);
  const isFiltered = usePart(s => s.isFiltered);
  const query = usePart(s => s.query);
  const all = useMemo(() => {
    const threads = shownThreads(model, state.get());
    return threads.map(thread => whatItDid(thread, of)).sort((a, b) => isBusy(b) - isBusy(a));
  }, [model, of.t0, of.t1, hidden, isFiltered, isFiltered ? query : '']);
  const length = Math.max(1, of.t1 - of.t0);
  const loose = all.filter(did => !did.isExact && did.unresolved > length * 0.0005).length;
  return (
    <div class="interval">
      <h2>
        {span(of.t0, of.t1)}: {what}{' '}
        <small>
          {summarize(all)}{' '}
          {loose === 0
            ? 'Times are exact, calls cut at the borders.'
            : `Exact but for ${plural(loose, 'thread')}: runs cut by the border and folded parts are known only in sum (\u2264).`}{' '}
          {served && !trouble && 'The exact answer is asked for.'}
          {trouble && <b class="bad-text">No exact answer: {trouble}.</b>}
        </small>
      </h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="What each thread did">
        <table class="fixed wide">
          <Heads
            of={[
              ['Thread', 'c-thread'],
              ['State', 'c-state'],
              ['Calls', 'num c-calls'],
              [`Time by function (${duration(length)})`, 'c-bar'],
              'Most self time in',
              ['there', 'num c-time'],
              ['only in sum', 'num c-time'],
              'On the stack throughout',
              ['open for', 'num c-time'],
            ]}
          />
          <tbody>
            {all.slice(0, limit).map(did => (
              <DidRow key={did.thread.index} did={did} length={length} />
            ))}
          </tbody>
        </table>
        <p class="remark">
          {Math.min(limit, all.length)} of {all.length} shown, most calls first.{' '}
          {all.length > limit && (
            <button class="link" onClick={() => setLimit(all.length)}>
              show all
            </button>
          )}
        </p>
      </div>
    </div>
  );
}

/* ---- one item ---- */

function Fact({ name, value, more }: { name: string; value: string; more?: string }): JSX.Element {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="key">{value}</td>
      <td class="num dim">{more ?? ''}</td>
    </tr>
  );
}

function boxOf(thread: Thread, row: number): number {
  const { rows } = thread;
  for (let i = row; i >= 0; i = rows.parent[i]!) if (rows.kind[i] === KIND.EXPRESSION) return i;
  return -1;
}

interface FactRow {
  name: string;
  value: string;
  more?: string;
}

/** The facts of an item: the tool-tip shows the first, the panel all. */
export function factsOf(model: Model, item: Item): FactRow[] {
  const thread = model.trace.threads[item.thread]!;
  const { rows } = thread;
  const i = item.row;
  const kind = rows.kind[i]!;
  const length = rows.end[i]! - rows.start[i]!;
  const life = Math.max(1, thread.end - thread.start);
  if (kind === KIND.CALL && rows.count[i]! > 1)
    return [
      { name: 'calls', value: integer(rows.count[i]!), more: 'too short for this picture' },
      { name: 'they cover', value: duration(rows.sum[i]!) },
      { name: 'the longest', value: duration(rows.max[i]!) },
    ];
  if (kind === KIND.CALL && model.trace.part?.kind === 'sketch') return [];
  if (kind === KIND.CALL)
    return [
      {
        name: 'self',
        value: duration(rows.self[i]!),
        more: percent(rows.self[i]! / Math.max(1, length)),
      },
      { name: 'share of the thread', value: percent(length / life) },
      ...functionFacts(model, rows.fn[i]!),
    ];
  if (kind === KIND.GAP) return [{ name: 'share of the thread', value: percent(length / life) }];
  if (kind === KIND.SLIVER || kind === KIND.EXPRESSION)
    return [
      { name: 'calls', value: integer(rows.count[i]!) },
      {
        name: 'their self time',
        value: duration(rows.self[i]!),
        more: percent(rows.self[i]! / Math.max(1, length)),
      },
      { name: 'share of the thread', value: percent(length / life) },
    ];
  const box = boxOf(thread, i);
  const width = box < 0 ? life : Math.max(1, rows.end[box]! - rows.start[box]!);
  const facts: FactRow[] = [
    { name: 'calls', value: integer(rows.count[i]!) },
    {
      name: 'sum',
      value: duration(rows.sum[i]!),
      more: `${percent(rows.sum[i]! / width)} of the run`,
    },
    {
      name: 'self',
      value: duration(rows.self[i]!),
      more: percent(rows.self[i]! / Math.max(1, rows.sum[i]!)),
    },
  ];
  if (kind === KIND.NODE) {
    const mean = rows.sum[i]! / Math.max(1, rows.count[i]!);
    facts.push({
      name: 'min, mean, max',
      value: [rows.min[i]!, mean, rows.max[i]!].map(duration).join(', '),
    });
  }
  return [...facts, ...functionFacts(model, rows.fn[i]!)];
}

function functionFacts({ trace: { functions: f, part } }: Model, fn: number): FactRow[] {
  if (fn < 0) return [];
  if (part?.kind === 'sketch') return [];
  const closed = f.count[fn]! - f.openCount[fn]!;
  if (closed === 0)
    return [{ name: `all ${integer(f.count[fn]!)} calls`, value: 'open at the end' }];
  return [
    { name: `median of all ${integer(closed)}`, value: duration(f.p50[fn]!) },
    { name: 'p99, max of all', value: `${duration(f.p99[fn]!)}, ${duration(f.max[fn]!)}` },
  ];
}

function Below({ item }: { item: Item }): JSX.Element | null {
  const app = useApp();
  const { rows } = app.model.trace.threads[item.thread]!;
  const children: number[] = [];
  for (let c = item.row + 1; c < rows.next[item.row]!; c = rows.next[c]!) children.push(c);
  children.sort((a, b) => rows.sum[b]! - rows.sum[a]!);
  if (children.length === 0) return null;
  return (
    <table class="fixed">
      <Heads of={[`directly below (${children.length})`, ['calls', 'num n'], ['sum', 'num t']]} />
      <tbody>
        {children.slice(0, 40).map(c => (
          <tr key={c}>
            <td class="clip">
              <button
                class="row-link"
                onClick={() => act.select(app, { thread: item.thread, row: c })}
              >
                <Swatch fn={rows.fn[c]!} /> {act.title(app, { thread: item.thread, row: c })}
              </button>
            </td>
            <td class="num">{integer(rows.count[c]!)}</td>
            <td class="num key">{duration(rows.sum[c]!)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Where the rest is: nothing folded is out of reach. */
function rest(model: Model, item: Item): { why: string; command: string } | null {
  const thread = model.trace.threads[item.thread]!;
  const { rows } = thread;
  const kind = rows.kind[item.row]!;
  const base = `--tid ${thread.tid} ${model.trace.name}`;
  if (kind === KIND.OTHER)
    return {
      why: `${plural(rows.folded[item.row]!, 'node')} folded to fit the budget of rows. All of them:`,
      command: `weft regtime --segments --glyphs 0 ${base}`,
    };
  if (kind === KIND.NODE || kind === KIND.EXPRESSION)
    return {
      why: 'Single calls of a run are folded. A finer cut:',
      command: `weft regtime --segments --preset fine --glyphs 0 ${base}`,
    };
  if (kind === KIND.SLIVER)
    return {
      why: 'Runs shorter than a gap are counted, not drawn. With a smaller gap:',
      command: `weft regtime --segments --gap 1us --glyphs 0 ${base}`,
    };
  return null;
}

function stackOf(thread: Thread, row: number): number[] {
  const { rows } = thread;
  const stack: number[] = [];
  for (let i = rows.parent[row]!; i >= 0; i = rows.parent[i]!)
    if (rows.fn[i]! >= 0) stack.unshift(i);
  return stack;
}

function ItemFacts({ item }: { item: Item }): JSX.Element {
  const app = useApp();
  const { model } = app;
  const thread = model.trace.threads[item.thread]!;
  const { rows } = thread;
  const isFolded = rows.kind[item.row] === KIND.NODE || rows.kind[item.row] === KIND.OTHER;
  const more = rest(model, item);
  const length = rows.end[item.row]! - rows.start[item.row]!;
  const [start, end] = [rows.start[item.row]!, rows.end[item.row]!];
  return (
    <div class="facts" tabIndex={0} role="region" aria-label="Selected item">
      <h2 class="title">
        <Swatch fn={rows.fn[item.row]!} />
        <span class="grow">{act.title(app, item)}</span>
        <b>{duration(isFolded ? rows.sum[item.row]! : length)}</b>
      </h2>
      <p class="remark">
        {stackOf(thread, item.row).map(i => (
          <span key={i}>
            <button class="link" onClick={() => act.select(app, { thread: item.thread, row: i })}>
              {model.name(rows.fn[i]!)}
            </button>
            {' \u203a '}
          </span>
        ))}
        {thread.label}
        {thread.name && ` ${thread.name}`}, depth {rows.level[item.row]}
      </p>
      <table>
        <tbody>
          <Fact name={isFolded ? 'First start' : 'Start'} value={exact(start)} />
          {!isFolded && <Fact name="End" value={exact(end)} more={`+${exact(length)}`} />}
          {factsOf(model, item).map(fact => (
            <Fact key={fact.name} {...fact} />
          ))}
        </tbody>
      </table>
      <Below item={item} />
      {more && (
        <p class="remark">
          {more.why} <Command text={more.command} />
        </p>
      )}
    </div>
  );
}

/* ---- outliers ---- */

function OutlierTable(): JSX.Element {
  const app = useApp();
  const { trace } = app.model;
  return (
    <div class="interval">
      <h2>
        Outliers{' '}
        <small>
          {integer(trace.outliers.length)} most unusual of {integer(trace.outliersFound)}: own = for
          its function, long = for its thread
        </small>
        <button class="link right" onClick={() => act.showPanel(app, 'interval')}>
          close
        </button>
      </h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="All outliers">
        <table class="fixed wide">
          <Heads
            of={[
              'Function',
              ['Thread', 'c-thread'],
              ['start', 'num c-time'],
              ['duration', 'num c-time'],
              ['own median', 'num c-time'],
              ['times', 'num c-time'],
              ['unusual', 'c-state'],
              'Called by',
            ]}
          />
          <tbody>
            {trace.outliers.map((outlier, i) => (
              <tr key={i}>
                <th scope="row" class="clip">
                  <button class="row-link" onClick={() => act.goToOutlier(app, outlier)}>
                    <Swatch fn={outlier.fn} /> {outlier.kind === 'gap' ? 'no call, after ' : ''}
                    <Name fn={outlier.fn} />
                  </button>
                </th>
                <td>{trace.threads[outlier.thread]!.label}</td>
                <td class="num">{duration(outlier.start)}</td>
                <td class="num key">{duration(outlier.end - outlier.start)}</td>
                <td class="num">{duration(outlier.median)}</td>
                <td class="num">{times(outlier.times)}</td>
                <td>{[outlier.own && 'own', outlier.long && 'long'].filter(Boolean).join(', ')}</td>
                <td class="clip dim">
                  {outlier.context
                    .slice(-3)
                    .map(fn => app.model.name(fn))
                    .join(' \u203a ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** Where nothing is known yet. */
function Asked({ of, trouble }: { of: Span; trouble: string }): JSX.Element {
  return (
    <div class="interval">
      <h2>
        {span(of.t0, of.t1)}: what each thread did then{' '}
        <small>{trouble ? <b class="bad-text">{trouble}</b> : 'asked of the server'}</small>
      </h2>
    </div>
  );
}

const REST_MS = 150;

/** The span that the panel is of, and its words. */
interface Shown {
  of: Span;
  what: string;
}

function shownOf(app: App): Shown {
  const { range, item, window } = app.state.get();
  const { hover } = overviewOf(app).state.get();
  const hovered = app.served && !range && !item ? hover : null;
  const of = range ?? act.itemSpan(app, item) ?? act.itemSpan(app, hovered) ?? window;
  const isWhole = window.t0 === 0 && window.t1 >= app.model.trace.duration;
  if (range || item || hovered) return { of, what: 'what each thread did then' };
  if (isWhole) return { of, what: 'what each thread did, whole trace' };
  return { of, what: 'what each thread did in view' };
}

const isSameShown = (a: Shown, b: Shown): boolean =>
  a.of.t0 === b.of.t0 && a.of.t1 === b.of.t1 && a.what === b.what;

/** What was chosen is shown at once; what is passed over, dragged or zoomed, when that rests. */
function restOf({ range, isPreview, item }: State): number {
  return (range !== null && !isPreview) || (range === null && item !== null) ? 0 : REST_MS;
}

export function Panel(): JSX.Element {
  const app = useApp();
  const item = usePart(s => s.item);
  const panel = usePart(s => s.panel);
  const atoms = [app.state, overviewOf(app).state];
  const { of, what } = useRested(
    atoms,
    () => shownOf(app),
    isSameShown,
    () => restOf(app.state.get()),
  );
  const { answer, trouble } = useExact(of);
  return (
    <section class="panel" aria-label="Details">
      {item && <ItemFacts item={item} />}
      {panel === 'outliers' ? (
        <OutlierTable />
      ) : panel === 'set' && app.served ? (
        <SetPanel />
      ) : answer ? (
        <ExactTable answer={answer} what={what} />
      ) : app.model.trace.part?.kind === 'sketch' ? (
        <Asked of={of} trouble={trouble} />
      ) : (
        <IntervalTable of={of} what={what} trouble={trouble} />
      )}
    </section>
  );
}
