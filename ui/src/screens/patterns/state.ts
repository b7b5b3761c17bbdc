// SPDX-License-Identifier: MIT
// The Patterns screen: its rows, what a search finds on it, and what a person can do there.
import { Atom, Own } from '../../shared/lib/atom';
import { duration, exact, integer, plural } from '../../shared/lib/format';
import { readSpan, writeSpan } from '../../shared/lib/fragment';
import { ALWAYS_APART, LEAST_ALIKE } from '../../shared/lib/layout';
import type { Span, Thread } from '../../shared/lib/model';
import { matchesName, matchesThread, parseQuery } from '../../shared/lib/search';
import type { Query } from '../../shared/lib/search';
import { columnTime, nearestTree, spansOf, treeWithin } from '../../shared/lib/shapes';
import type {
  CallTree,
  Cluster,
  Occurrence,
  Rare,
  Ribbon,
  ShapeThread,
  Spans,
  Spike,
} from '../../shared/lib/shapes';
import { idleStretches, foldMap } from '../../shared/lib/timemap';
import type { TimeMap } from '../../shared/lib/timemap';
import { reveal, say, set, setRange, setWindow } from '../../shared/state/actions';
import type { App, Model, State } from '../../shared/state/app';
import { ROW, shownThreads, stripHeight } from '../../shared/state/rows';
import { nearShapes, ShapeMetric } from './shapediff';
import type { Near } from './shapediff';

/* ---- state ---- */

/** A run of a ribbon. */
export interface RunAt {
  thread: number;
  ribbon: number;
  run: number;
}

/** An occurrence of a behaviour that was chosen, and where it was found. */
export interface Chosen {
  cluster: number;
  at: Occurrence;
  /** one: of several there; columns: only these are known, not when it was. */
  how: 'run' | 'one' | 'columns' | 'typical' | 'slowest' | 'first' | 'spike' | 'rare';
  run: RunAt | null;
}

const CLUSTER_KEYS = [
  'name',
  'count',
  'sum',
  'mean',
  'p50',
  'p99',
  'max',
  'threads',
  'first',
  'surprise',
] as const;
export type ClusterKey = (typeof CLUSTER_KEYS)[number];

type Point = { x: number; y: number } | null;

export interface PatternsState {
  /** The selected behaviour, or -1. */
  cluster: number;
  chosen: Chosen | null;
  /** The behaviour under the pointer, or -1, and the run if it is one of a ribbon. */
  over: number;
  overRun: RunAt | null;
  pointer: Point;
  /** Spikes and drops are drawn. */
  hasMarks: boolean;
  sort: ClusterKey;
  /** The selected occurrence as its shape, or its calls by event or by time. */
  drawing: 'shape' | 'order' | 'time';
  tab: 'table' | 'rare' | 'diff';
  /** Shapes that are compared: indices into the page's, or -1. */
  a: number;
  b: number;
  /** The shape picked in a behaviour's gallery, or -1. */
  shape: number;
  /** Where runs share a pixel, rare behaviours are favoured. */
  isRare: boolean;
  /** Stretches without any occurrence are folded. */
  isFolded: boolean;
}

const FRESH: PatternsState = {
  cluster: -1,
  chosen: null,
  over: -1,
  overRun: null,
  pointer: null,
  hasMarks: true,
  sort: 'sum',
  drawing: 'time',
  tab: 'table',
  a: -1,
  b: -1,
  shape: -1,
  isRare: false,
  isFolded: false,
};

/** The same behaviour and shapes among those of another model. */
function inOther(now: PatternsState, before: Model, model: Model): PatternsState {
  const behaviour = before.behaviours?.list[now.cluster]?.cluster.id;
  const cluster = model.behaviours?.list.findIndex(one => one.cluster.id === behaviour) ?? -1;
  const ids = model.behaviours?.shapes.shapes.id;
  const find = (shape: number): number => {
    const id = before.behaviours?.shapes.shapes.id[shape];
    return id === undefined || !ids ? -1 : ids.indexOf(id);
  };
  const chosen = cluster >= 0 && now.chosen ? { ...now.chosen, cluster } : null;
  const shapes = { a: find(now.a), b: find(now.b), shape: find(now.shape) };
  return { ...now, ...shapes, cluster, chosen, over: -1, overRun: null };
}

export const PATTERNS_STATE = new Own<App, Atom<PatternsState>>('patterns', app => {
  const state = new Atom(FRESH);
  let { model } = app;
  app.state.subscribe((now, before) => {
    if (now.epoch !== before.epoch) {
      const old = model;
      ({ model } = app);
      state.update(own => inOther(own, old, model));
    } else if (now.screen !== before.screen) put(app, { over: -1, overRun: null });
  });
  return state;
});

export const stateOf = (app: App): PatternsState => PATTERNS_STATE.of(app).get();

export function put(app: App, change: Partial<PatternsState>): void {
  PATTERNS_STATE.of(app).update(now => ({ ...now, ...change }));
}

/* ---- search ---- */

interface ClusterHits {
  query: Query;
  clusters: Uint8Array;
  /** The same as a list, most time first. */
  list: number[];
  threads: ReadonlySet<number>;
}

/** By cluster: what its shapes in the page call, directly or not, is as the query wants it. */
function callsAsWanted(model: Model, { calls }: Query): (cluster: Cluster) => boolean {
  const { shapes: table } = model.behaviours!.shapes;
  const tests = calls.map(({ test, is }) => {
    const named = Uint8Array.from(model.trace.functions.name, name => (test(name) ? 1 : 0));
    const holds = new Uint8Array(table.n);
    for (let s = 0; s < table.n; s++)
      for (let e = table.kidsFrom[s]!; e < table.kidsFrom[s + 1]!; e++)
        if (holds[table.kid[e]!] || named[table.fn[table.kid[e]!]!]) holds[s] = 1;
    return { holds, is };
  });
  return ({ shapes }) =>
    tests.every(({ holds, is }) => shapes.length > 0 && shapes.some(s => holds[s] === 1) === is);
}

function search(model: Model, text: string): ClusterHits {
  const query = parseQuery(text);
  const { list, shapes, present } = model.behaviours!;
  const asksCount = query.least > 0 || query.below < Infinity;
  const asksTime = query.min > 0 || query.max < Infinity;
  const asks = query.asksFunction || asksTime || asksCount || query.calls.length > 0;
  const calls = callsAsWanted(model, query);
  const clusters = Uint8Array.from(list, ({ cluster }) => {
    const mean = cluster.sum / Math.max(1, cluster.count);
    const [min, max] = cluster.has ? [cluster.min, cluster.max] : [mean, mean];
    const name = cluster.fn < 0 ? '' : model.fullName(cluster.fn);
    const isIt = matchesName(query, name) && max >= query.min && min <= query.max;
    const isAsOften = cluster.count >= query.least && cluster.count < query.below;
    return isIt && isAsOften && calls(cluster) ? 1 : 0;
  });
  const wanted = model.trace.threads.filter(t => matchesThread(query, t.tid, t.name));
  const threads = wanted.filter(
    t => !asks || (shapes.threads[t.index] && present[t.index]!.some((is, c) => is && clusters[c])),
  );
  const found = list.map(({ cluster }) => cluster.index).filter(c => clusters[c] === 1);
  return {
    query,
    clusters,
    list: asks ? found : [],
    threads: new Set(threads.map(thread => thread.index)),
  };
}

const LAST = new Own<Model, { text: string; hits: ClusterHits | null }>('cluster hits', () => ({
  text: '',
  hits: null,
}));

/** What a search text finds among behaviours; null if it is empty. The last answer is kept. */
export function findClusters(model: Model, text: string): ClusterHits | null {
  if (text.trim() === '' || !model.behaviours) return null;
  const last = LAST.of(model);
  if (last.text !== text) [last.text, last.hits] = [text, search(model, text)];
  return last.hits;
}

/* ---- rows ---- */

interface Group {
  key: string;
  threads: Thread[];
  title: string;
  remark: string;
}

export interface PatternRow {
  key: string;
  thread: Thread | null; // null: a group
  own: ShapeThread | null;
  group: Group | null;
  isTall: boolean;
  y: number;
  height: number;
}

export const RIBBON = 5; // 4 and a gap of 1
export const TALL_RIBBON = 13;
const FEW = 2; // threads that are tall without being asked

function groupsOf(model: Model, shown: readonly Thread[]): Map<number, Thread[]> {
  const groups = new Map<number, Thread[]>();
  if (shown.length <= ALWAYS_APART) return groups;
  for (const thread of shown) {
    const own = model.behaviours!.shapes.threads[thread.index];
    const key = own?.ribbons.length ? own.group : -1;
    groups.set(key, [...(groups.get(key) ?? []), thread]);
  }
  for (const [key, threads] of groups) if (threads.length < LEAST_ALIKE) groups.delete(key);
  return groups;
}

/** What most of the first thread's outermost time is. */
function groupRemark(model: Model, threads: readonly Thread[]): string {
  const { shapes, list } = model.behaviours!;
  const top = shapes.threads[threads[0]!.index]?.presences[0];
  return top ? `mostly ${list[top.cluster]!.title}` : 'no behaviour';
}

function makeGroup(model: Model, id: number, threads: Thread[]): Group {
  const n = threads.length;
  const title = id < 0 ? `${n} threads without` : `${n} similar threads`;
  return { key: `g${id}`, threads, title, remark: groupRemark(model, threads) };
}

interface PatternRows {
  rows: PatternRow[];
  height: number;
  shown: Thread[];
}

function patternRows(model: Model, state: State): PatternRows {
  const { shapes } = model.behaviours!;
  const shown = shownThreads(model, state, findClusters);
  const groups = groupsOf(model, shown);
  const isPacked = (thread: Thread): boolean =>
    [...groups].some(([id, list]) => !state.unpacked.has(`g${id}`) && list.includes(thread));
  const rows: PatternRow[] = [];
  let y = 0;
  const put = (row: Omit<PatternRow, 'y'>): void => {
    rows.push({ ...row, y });
    y += row.height;
  };
  for (const thread of shown) {
    if (isPacked(thread)) continue;
    const own = shapes.threads[thread.index] ?? null;
    const isTall = state.open.has(thread.index) !== shown.length <= FEW;
    const ribbons = own?.ribbons.length ?? 0;
    const height = Math.max(ROW, ribbons * (isTall ? TALL_RIBBON : RIBBON) + 6);
    put({ key: `t${thread.index}`, thread, own, group: null, isTall, height });
  }
  const calls = (list: Thread[]): number => list.reduce((sum, t) => sum + t.calls, 0);
  for (const [id, list] of [...groups].sort((a, b) => calls(b[1]) - calls(a[1]))) {
    if (state.unpacked.has(`g${id}`)) continue;
    const group = makeGroup(model, id, list);
    const height = Math.max(ROW, Math.ceil(list.length * stripHeight(list.length)) + 8);
    put({ key: `g${id}`, thread: null, own: null, group, isTall: false, height });
  }
  return { rows, height: y, shown };
}

/** The same rows as long as nothing that decides them has changed. */
export function memoPatternRows(app: App): () => PatternRows {
  let held: { state: State; built: PatternRows } | null = null;
  return () => {
    const state = app.state.get();
    const keys = ['epoch', 'only', 'sort', 'hidden', 'open', 'unpacked', 'isFiltered'] as const;
    const isSame =
      held !== null &&
      keys.every(key => held!.state[key] === state[key]) &&
      (!state.isFiltered || held.state.query === state.query);
    if (!isSame) held = { state, built: patternRows(app.model, state) };
    return held!.built;
  };
}

/* ---- runs ---- */

const SPANS = new Own<Model, Map<Ribbon, Spans>>('ribbon spans', () => new Map());

export function ribbonSpans(model: Model, ribbon: Ribbon): Spans {
  const known = SPANS.of(model);
  let own = known.get(ribbon);
  if (!own) known.set(ribbon, (own = spansOf(model.behaviours!.shapes, ribbon)));
  return own;
}

export function ribbonAt(model: Model, at: RunAt): Ribbon | null {
  return model.behaviours?.shapes.threads[at.thread]?.ribbons[at.ribbon] ?? null;
}

/** The ribbon of a thread in which a cluster has runs, or -1. */
function ribbonOfCluster(own: ShapeThread | null, cluster: number): number {
  return own ? own.ribbons.findIndex(ribbon => ribbon.cluster.includes(cluster)) : -1;
}

/** What is known of a run, as an occurrence: the longest, or its columns. */
export function occurrenceOf(model: Model, at: RunAt): Occurrence & { isKnown: boolean } {
  const { shapes } = model.behaviours!;
  const ribbon = ribbonAt(model, at)!;
  const own = shapes.clusters[ribbon.cluster[at.run]!]!;
  const isKnown = !Number.isNaN(ribbon.start[at.run]!);
  const first = ribbon.first[at.run]!;
  const [start, end] = isKnown
    ? [ribbon.start[at.run]!, ribbon.end[at.run]!]
    : [columnTime(shapes, first), columnTime(shapes, first + ribbon.width[at.run]!)];
  const shape = own.shapes[ribbon.shape[at.run]! - 1] ?? -1;
  return { thread: at.thread, start, end, shape, isKnown };
}

/** The run of a thread that holds a moment of a cluster, or null. */
function runAtTime(model: Model, thread: number, cluster: number, t: number): RunAt | null {
  const own = model.behaviours!.shapes.threads[thread] ?? null;
  const ribbon = ribbonOfCluster(own, cluster);
  if (!own || ribbon < 0) return null;
  const { t0, t1 } = ribbonSpans(model, own.ribbons[ribbon]!);
  const run = own.ribbons[ribbon]!.cluster.findIndex((c, i) => c === cluster && t1[i]! > t);
  return run >= 0 && t0[run]! <= t ? { thread, ribbon, run } : null;
}

/* ---- what a person can do ---- */

export function hoverRun(app: App, at: RunAt | null, pointer: Point): void {
  const now = stateOf(app);
  const over = at ? ribbonAt(app.model, at)!.cluster[at.run]! : -1;
  if (!at && now.over < 0) return;
  const isSame =
    at !== null &&
    now.overRun?.thread === at.thread &&
    now.overRun.ribbon === at.ribbon &&
    now.overRun.run === at.run;
  put(app, { over, overRun: isSame ? now.overRun : at, pointer });
}

export function hoverCluster(app: App, over: number): void {
  put(app, { over, overRun: null, pointer: null });
}

export function selectCluster(app: App, cluster: number): void {
  const now = stateOf(app);
  const next = now.cluster === cluster && !now.chosen ? -1 : cluster;
  put(app, { cluster: next, chosen: null });
  say(app, next < 0 ? '' : clusterSentence(app.model, next));
}

function choose(app: App, chosen: Chosen): void {
  put(app, { cluster: chosen.cluster, chosen });
  say(app, chosenSentence(app.model, chosen));
}

/** The longest of the run if it was sent; else one whose calls were; else its columns. */
export function chooseRun(app: App, at: RunAt | null): void {
  if (!at) {
    put(app, { chosen: null, cluster: -1 });
    return say(app, '');
  }
  const { model } = app;
  const cluster = ribbonAt(model, at)!.cluster[at.run]!;
  const { isKnown, ...columns } = occurrenceOf(model, at);
  if (isKnown) return choose(app, { cluster, at: columns, how: 'run', run: at });
  const { thread, start, end } = columns;
  const tree = treeWithin(model.behaviours!.shapes, cluster, thread, start, end);
  const one = tree && { thread, start: tree.start[0]!, end: tree.end[0]!, shape: -1 };
  choose(app, { cluster, at: one ?? columns, how: one ? 'one' : 'columns', run: at });
}

/** Instead of calls that the page does not hold: those of the behaviour nearest to them. */
export function standIn({ behaviours }: Model, { cluster, at }: Chosen): CallTree | null {
  return nearestTree(behaviours!.shapes, cluster, at.thread, at.start);
}

/** Brings an occurrence into view, with some room around it, if it cannot be seen. */
function show(app: App, { thread, start, end }: Occurrence): void {
  const { window, crumbs } = app.state.get();
  reveal(app, thread);
  const isVisible = start >= window.t0 && end <= window.t1;
  if (isVisible && end - start >= (window.t1 - window.t0) / 300) return;
  const room = Math.max((end - start) * 2, 50);
  set(app, { crumbs: [...crumbs, window] });
  setWindow(app, start - room, end + room);
}

export function chooseExample(
  app: App,
  cluster: number,
  how: 'typical' | 'slowest' | 'first',
): void {
  const at = app.model.behaviours?.list[cluster]?.cluster[how];
  if (!at) return;
  const run = runAtTime(app.model, at.thread, cluster, at.start);
  choose(app, { cluster, at, how, run });
}

export function chooseSpike(app: App, spike: Spike): void {
  const run = runAtTime(app.model, spike.thread, spike.cluster, spike.start);
  choose(app, { cluster: spike.cluster, at: spike, how: 'spike', run });
  show(app, spike);
}

/** A rare shape: its slowest call. If its behaviour is not listed, it becomes the range. */
export function chooseRare(app: App, rare: Rare): void {
  if (rare.cluster >= 0) {
    const run = runAtTime(app.model, rare.thread, rare.cluster, rare.start);
    choose(app, { cluster: rare.cluster, at: rare, how: 'rare', run });
  } else {
    put(app, { chosen: null, cluster: -1 });
    setRange(app, { t0: rare.start, t1: Math.max(rare.end, rare.start + 1) }, false);
  }
  show(app, rare);
}

export function showChosen(app: App): void {
  const { chosen } = stateOf(app);
  if (chosen) show(app, chosen.at);
}

/** All runs of a cluster in the threads shown, thread by thread in time order. */
function runsOf(app: App, cluster: number): RunAt[] {
  const { model, state } = app;
  const out: RunAt[] = [];
  for (const { index: thread } of patternRows(model, state.get()).shown) {
    const own = model.behaviours!.shapes.threads[thread] ?? null;
    const ribbon = ribbonOfCluster(own, cluster);
    if (!own || ribbon < 0) continue;
    own.ribbons[ribbon]!.cluster.forEach((c, run) => {
      if (c === cluster) out.push({ thread, ribbon, run });
    });
  }
  return out;
}

/** The first place of a behaviour on a thread. */
export function chooseOnThread(app: App, cluster: number, thread: number): void {
  const own = app.model.behaviours!.shapes.threads[thread] ?? null;
  const ribbon = ribbonOfCluster(own, cluster);
  reveal(app, thread);
  if (ribbon < 0) return;
  chooseRun(app, { thread, ribbon, run: own!.ribbons[ribbon]!.cluster.indexOf(cluster) });
  showChosen(app);
}

/** The next or previous place of the selected behaviour; without one, of the first hit. */
export function stepRun(app: App, by: 1 | -1): void {
  const now = stateOf(app);
  const hits = findClusters(app.model, app.state.get().query);
  const cluster = now.cluster >= 0 ? now.cluster : (hits?.list[0] ?? 0);
  const list = runsOf(app, cluster);
  if (list.length === 0) return;
  const { run, at } = now.chosen?.cluster === cluster ? now.chosen : { run: null, at: null };
  const place = run ?? (at && runAtTime(app.model, at.thread, cluster, at.start));
  const found = place ? list.findIndex(r => r.thread === place.thread && r.run === place.run) : -1;
  const n = list.length;
  const next = list[found < 0 ? (by > 0 ? 0 : n - 1) : (found + by + n) % n]!;
  chooseRun(app, next);
  reveal(app, next.thread);
}

/** The next or previous hit of the search: the slowest occurrence of each behaviour. */
export function stepCluster(app: App, by: 1 | -1): void {
  const hits = findClusters(app.model, app.state.get().query);
  if (!hits || hits.list.length === 0) return;
  const n = hits.list.length;
  const at = hits.list.indexOf(stateOf(app).cluster);
  const next = hits.list[at < 0 ? (by > 0 ? 0 : n - 1) : (at + by + n) % n]!;
  put(app, { cluster: next, chosen: null });
  say(app, clusterSentence(app.model, next));
}

export function toggleMarks(app: App): void {
  put(app, { hasMarks: !stateOf(app).hasMarks });
}

export function nextDrawing(app: App): void {
  const next = { shape: 'order', order: 'time', time: 'shape' } as const;
  put(app, { drawing: next[stateOf(app).drawing] });
}

/* ---- two shapes ---- */

const METRIC = new Own<Model, ShapeMetric>(
  'shape metric',
  ({ behaviours }) => new ShapeMetric(behaviours!.shapes.shapes),
);

export const metricOf = (model: Model): ShapeMetric => METRIC.of(model);

/** The shape that is meant: of the occurrence, picked in the gallery, or the typical one's. */
export function meantShape(app: App): number {
  const { cluster, chosen, shape } = stateOf(app);
  const own = app.model.behaviours?.list[cluster]?.cluster;
  if (!own) return -1;
  if (chosen && chosen.at.shape >= 0) return chosen.at.shape;
  if (own.shapes.includes(shape)) return shape;
  const typical = own.typical?.shape ?? -1;
  return typical >= 0 ? typical : (own.shapes[0] ?? -1);
}

export function shapeTitle(model: Model, shape: number): string {
  const table = model.behaviours!.shapes.shapes;
  const own = model.behaviours!.list[table.cluster[shape]!];
  return own?.title ?? model.name(table.fn[shape]!);
}

export function setSide(app: App, side: 'a' | 'b', shape: number): void {
  const { shapes } = app.model.behaviours!;
  const said =
    shape < 0
      ? 'No shape is selected: pick a behaviour first.'
      : `${side.toUpperCase()} is ${shapeTitle(app.model, shape)}, shape ${shapes.shapes.id[shape]}.`;
  if (shape >= 0) put(app, { [side]: shape, tab: 'diff' });
  say(app, said);
}

/** Shows the behaviour of a shape, with this shape in its gallery. */
export function pickShape(app: App, shape: number): void {
  const cluster = app.model.behaviours!.shapes.shapes.cluster[shape]!;
  put(app, { shape });
  if (cluster < 0) return;
  put(app, { cluster, chosen: null });
  say(app, clusterSentence(app.model, cluster));
}

/** Whether a search finds a function by name. */
export function matchesFunction(model: Model, query: Query, fn: number): boolean {
  return fn >= 0 && matchesName(query, model.fullName(fn));
}

export function swapSides(app: App): void {
  const { a, b } = stateOf(app);
  put(app, { a: b, b: a });
}

const NEAR = 4; // half units

/** Shapes of the same function that are near one. */
export function nearTo(model: Model, shape: number): Near[] {
  return nearShapes(model.behaviours!.shapes.shapes, metricOf(model), shape, NEAR);
}

export function toggleSampling(app: App): void {
  put(app, { isRare: !stateOf(app).isRare });
}

/** How much of the time is idle, in a sentence. */
export function idleWords({ model, state }: App): string {
  const { stretches } = idleOf(model, state.get().hidden);
  if (stretches.length === 0)
    return 'No stretch of 3\u00a0% of the time is idle in all threads shown.';
  const all = stretches.reduce((sum, { t0, t1 }) => sum + t1 - t0, 0);
  return `${plural(stretches.length, 'stretch', 'stretches')} without any occurrence, ${duration(all)} of ${duration(model.trace.duration)}.`;
}

export function toggleFolds(app: App): void {
  const isFolded = !stateOf(app).isFolded;
  put(app, { isFolded });
  say(app, `${isFolded ? 'Folded' : 'Not folded'}: ${idleWords(app)}`);
}

/* ---- the address ---- */

/** What the screen adds to the address: what is selected, the ids of A and B, and what is shown. */
export function writeView(app: App): [string, string][] {
  const { trace, behaviours } = app.model;
  const now = stateOf(app);
  const ids = behaviours?.shapes.shapes.id;
  const name = (shape: number): string =>
    ids && shape >= 0 && shape < ids.length ? `shape:${ids[shape]}` : '';
  const at = now.chosen?.at;
  return [
    ['cl', String(behaviours?.list[now.cluster]?.cluster.id ?? '')],
    [
      'occ',
      at ? `t${trace.threads[at.thread]!.tid}.${writeSpan({ t0: at.start, t1: at.end })}` : '',
    ],
    ['marks', now.hasMarks ? '' : '0'],
    ['by', now.sort === 'sum' ? '' : now.sort],
    ['A', name(now.a)],
    ['B', name(now.b)],
    ['tab', now.tab === 'table' ? '' : now.tab],
    ['pick', now.isRare ? 'rare' : ''],
    ['idle', now.isFolded ? 'fold' : ''],
  ];
}

/** The behaviour of an id, and its occurrence on a thread at a time; cluster -1: none. */
export function placed(
  { trace, behaviours }: Model,
  id: number,
  occurrence: { tid: number; span: Span } | null,
): Pick<PatternsState, 'cluster' | 'chosen'> {
  const cluster = behaviours?.list.findIndex(one => one.cluster.id === id) ?? -1;
  const thread = trace.threads.findIndex(({ tid }) => tid === occurrence?.tid);
  if (cluster < 0 || !occurrence || thread < 0) return { cluster, chosen: null };
  const { t0: start, t1: end } = occurrence.span;
  const { typical, slowest, first } = behaviours!.list[cluster]!.cluster;
  const known = [typical, slowest, first].find(
    one => one?.thread === thread && one.start === start && one.end === end,
  );
  const at = { thread, start, end, shape: known?.shape ?? -1 };
  return { cluster, chosen: { cluster, at, how: 'run', run: null } };
}

export function readView(app: App, get: (key: string) => string): void {
  const ids = app.model.behaviours?.shapes.shapes.id;
  const find = (text: string): number => {
    const id = /^shape:(\d+)$/.exec(text)?.[1];
    return id === undefined || !ids ? -1 : ids.indexOf(Number(id));
  };
  const tab = get('tab');
  const match = /^t(\d+)\.(.*)$/.exec(get('occ'));
  const span = readSpan(match?.[2]);
  const at = match && span ? { tid: Number(match[1]), span } : null;
  put(app, {
    ...placed(app.model, /^\d+$/.test(get('cl')) ? Number(get('cl')) : -1, at),
    hasMarks: get('marks') !== '0',
    sort: CLUSTER_KEYS.find(key => key === get('by')) ?? 'sum',
    a: find(get('A')),
    b: find(get('B')),
    isRare: get('pick') === 'rare',
    isFolded: get('idle') === 'fold',
    tab: tab === 'rare' || tab === 'diff' ? tab : 'table',
  });
}

/* ---- sentences ---- */

export function clusterSentence(model: Model, index: number): string {
  const { cluster, title } = model.behaviours!.list[index]!;
  const mean = cluster.sum / Math.max(1, cluster.count);
  return `${title}: ${plural(cluster.count, 'occurrence')} in ${plural(cluster.threads, 'thread')}, ${duration(cluster.sum)} in all, mean ${duration(mean)}.`;
}

export function chosenSentence(model: Model, { cluster, at, how, run }: Chosen): string {
  const { title } = model.behaviours!.list[cluster]!;
  const thread = model.trace.threads[at.thread]!.label;
  const ribbon = run && ribbonAt(model, run);
  const n = ribbon && how === 'run' ? ribbon.count[run.run]! : 1;
  const words = { run: '', one: '', columns: 'by columns alone' };
  const word = how in words ? words[how as keyof typeof words] : how;
  const of = n > 1 ? `longest of ${integer(n)} there` : word;
  return `${title}, ${duration(at.end - at.start)}, ${thread}, starts at ${exact(at.start)}${of && `, ${of}`}.`;
}

/* ---- Stretches in which nothing occurs may be folded. ---- */

/** Of the whole: what a fold takes, and how long a stretch is at least that is folded. */
const FOLD = 0.014;
const LEAST = 0.03;

interface Idle {
  stretches: readonly Span[];
  map: TimeMap;
}

interface Found {
  hidden: ReadonlySet<number> | null;
  idle: Idle | null;
}
const FOUND = new Own<Model, Found>('idle', () => ({ hidden: null, idle: null }));

/** Stretches in which no thread that is shown has an occurrence of any behaviour. */
export function idleOf(model: Model, hidden: ReadonlySet<number>): Idle {
  const held = FOUND.of(model);
  if (held.hidden === hidden) return held.idle!;
  const { shapes } = model.behaviours!;
  const { duration } = model.trace;
  const lists = shapes.threads.flatMap(own =>
    own && !hidden.has(own.thread) ? own.ribbons.map(ribbon => spansOf(shapes, ribbon)) : [],
  );
  const isAny = lists.some(({ t0 }) => t0.length > 0);
  const stretches = isAny ? idleStretches(lists, duration, Math.max(1, duration * LEAST)) : [];
  held.hidden = hidden;
  return (held.idle = { stretches, map: foldMap(duration, stretches, FOLD) });
}

/** Those that are folded now. */
export function folded(app: App): readonly Span[] {
  const { model, state } = app;
  const isOn = stateOf(app).isFolded && model.behaviours !== null;
  return isOn ? idleOf(model, state.get().hidden).stretches : [];
}

/** The axis without them; null: nothing is folded. */
export function foldedMap(app: App): TimeMap | null {
  return folded(app).length > 0 ? idleOf(app.model, app.state.get().hidden).map : null;
}
