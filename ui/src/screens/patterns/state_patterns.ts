// SPDX-License-Identifier: MIT
// The Patterns screen: its rows, what a search finds on it, and what a person can do there.
import { ALWAYS_APART, LEAST_ALIKE } from '../../shared/lib/alike';
import { duration, exact, integer, plural } from '../../shared/lib/format';
import type { Thread } from '../../shared/lib/model';
import { matchesName, matchesThread, parseQuery } from '../../shared/lib/search';
import type { Query } from '../../shared/lib/search';
import { columnTime, nearestTree, spansOf, treeWithin } from '../../shared/lib/shapes';
import type {
  CallTree,
  Cluster,
  Occurrence,
  Rare,
  Ribbon,
  ShapeTable,
  ShapeThread,
  Spans,
  Spike,
} from '../../shared/lib/shapes';
import { reveal, set, setRange, setWindow } from '../../shared/state/actions';
import type {
  App,
  Chosen,
  ClusterKey,
  Model,
  PatternView,
  RunAt,
  State,
} from '../../shared/state/app';
import { idleOf } from '../../shared/state/idle';
import { ROW, sortThreads, stripHeight } from '../../shared/state/rows';
import { nearShapes, ShapeMetric } from './lib_shapediff';
import type { Near } from './lib_shapediff';

/* ---- search ---- */

export interface ClusterHits {
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
    ...{ query, clusters, list: asks ? found : [] },
    threads: new Set(threads.map(thread => thread.index)),
  };
}

let last: { model: Model; text: string; hits: ClusterHits } | null = null;

/** What a search text finds among behaviours; null if it is empty. The last answer is kept. */
export function findClusters(model: Model, text: string): ClusterHits | null {
  if (text.trim() === '' || !model.behaviours) return null;
  if (last?.model !== model || last.text !== text)
    last = { model, text, hits: search(model, text) };
  return last.hits;
}

/* ---- rows ---- */

export interface Group {
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
  const title = id < 0 ? `${n} threads without` : `${n} threads alike`;
  return { key: `g${id}`, threads, title, remark: groupRemark(model, threads) };
}

function shownThreads(model: Model, state: State): Thread[] {
  const hits = state.isFiltered ? findClusters(model, state.query) : null;
  const keeps = (t: Thread): boolean =>
    !state.hidden.has(t.index) &&
    (!hits || hits.threads.has(t.index)) &&
    (!state.only || state.only.has(t.index));
  return sortThreads(model.trace.threads.filter(keeps), state.sort);
}

export interface PatternRows {
  rows: PatternRow[];
  height: number;
  shown: Thread[];
}

export function patternRows(model: Model, state: State): PatternRows {
  const { shapes } = model.behaviours!;
  const shown = shownThreads(model, state);
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

const spans = new WeakMap<Ribbon, Spans>();

export function ribbonSpans(model: Model, ribbon: Ribbon): Spans {
  let own = spans.get(ribbon);
  if (!own) spans.set(ribbon, (own = spansOf(model.behaviours!.shapes, ribbon)));
  return own;
}

export function ribbonAt(model: Model, at: RunAt): Ribbon | null {
  return model.behaviours?.shapes.threads[at.thread]?.ribbons[at.ribbon] ?? null;
}

/** The ribbon of a thread in which a cluster has runs, or -1. */
export function ribbonOfCluster(own: ShapeThread | null, cluster: number): number {
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
export function runAtTime(model: Model, thread: number, cluster: number, t: number): RunAt | null {
  const own = model.behaviours!.shapes.threads[thread] ?? null;
  const ribbon = ribbonOfCluster(own, cluster);
  if (!own || ribbon < 0) return null;
  const { t0, t1 } = ribbonSpans(model, own.ribbons[ribbon]!);
  const run = own.ribbons[ribbon]!.cluster.findIndex((c, i) => c === cluster && t1[i]! > t);
  return run >= 0 && t0[run]! <= t ? { thread, ribbon, run } : null;
}

/* ---- what a person can do ---- */

export function hoverRun(app: App, at: RunAt | null, pointer: State['pointer']): void {
  const now = app.state.get();
  const over = at ? ribbonAt(app.model, at)!.cluster[at.run]! : -1;
  if (!at && now.over < 0) return;
  const isSame =
    at !== null &&
    now.overRun?.thread === at.thread &&
    now.overRun.ribbon === at.ribbon &&
    now.overRun.run === at.run;
  set(app, { over, overRun: isSame ? now.overRun : at, pointer });
}

export function hoverCluster(app: App, over: number): void {
  set(app, { over, overRun: null, pointer: null });
}

export function selectCluster(app: App, cluster: number): void {
  const now = app.state.get();
  const next = now.cluster === cluster && !now.chosen ? -1 : cluster;
  set(app, { cluster: next, chosen: null, said: next < 0 ? '' : clusterSentence(app.model, next) });
}

function choose(app: App, chosen: Chosen): void {
  const { drawing } = app.state.get();
  set(app, { cluster: chosen.cluster, chosen, drawing, said: chosenSentence(app.model, chosen) });
}

/** The longest of the run if it was sent; else one whose calls were; else its columns. */
export function chooseRun(app: App, at: RunAt | null): void {
  if (!at) return set(app, { chosen: null, cluster: -1, said: '' });
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
    set(app, { chosen: null, cluster: -1 });
    setRange(app, { t0: rare.start, t1: Math.max(rare.end, rare.start + 1) }, false);
  }
  show(app, rare);
}

export function showChosen(app: App): void {
  const { chosen } = app.state.get();
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
  const now = app.state.get();
  const hits = findClusters(app.model, now.query);
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
  const now = app.state.get();
  const hits = findClusters(app.model, now.query);
  if (!hits || hits.list.length === 0) return;
  const n = hits.list.length;
  const at = hits.list.indexOf(now.cluster);
  const next = hits.list[at < 0 ? (by > 0 ? 0 : n - 1) : (at + by + n) % n]!;
  set(app, { cluster: next, chosen: null, said: clusterSentence(app.model, next) });
}

export function toggleMarks(app: App): void {
  set(app, { hasMarks: !app.state.get().hasMarks });
}

export function sortClusters(app: App, clusterSort: ClusterKey): void {
  set(app, { clusterSort });
}

export function setDrawing(app: App, drawing: State['drawing']): void {
  set(app, { drawing });
}

export function nextDrawing(app: App): void {
  const next = { shape: 'order', order: 'time', time: 'shape' } as const;
  set(app, { drawing: next[app.state.get().drawing] });
}

/* ---- two shapes ---- */

const metrics = new WeakMap<ShapeTable, ShapeMetric>();

export function metricOf({ behaviours }: Model): ShapeMetric {
  const table = behaviours!.shapes.shapes;
  let metric = metrics.get(table);
  if (!metric) metrics.set(table, (metric = new ShapeMetric(table)));
  return metric;
}

export function setView(app: App, change: Partial<PatternView>): void {
  set(app, { patterns: { ...app.state.get().patterns, ...change } });
}

/** The shape that is meant: of the occurrence, picked in the gallery, or the typical one's. */
export function meantShape({ model, state }: App): number {
  const { cluster, chosen, patterns } = state.get();
  const own = model.behaviours?.list[cluster]?.cluster;
  if (!own) return -1;
  if (chosen && chosen.at.shape >= 0) return chosen.at.shape;
  if (own.shapes.includes(patterns.shape)) return patterns.shape;
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
  if (shape >= 0) setView(app, { [side]: shape, tab: 'diff' });
  set(app, { said });
}

/** Shows the behaviour of a shape, with this shape in its gallery. */
export function pickShape(app: App, shape: number): void {
  const cluster = app.model.behaviours!.shapes.shapes.cluster[shape]!;
  setView(app, { shape });
  if (cluster >= 0) set(app, { cluster, chosen: null, said: clusterSentence(app.model, cluster) });
}

/** Whether a search finds a function by name. */
export function matchesFunction(model: Model, query: Query, fn: number): boolean {
  return fn >= 0 && matchesName(query, model.fullName(fn));
}

export function swapSides(app: App): void {
  const { a, b } = app.state.get().patterns;
  setView(app, { a: b, b: a });
}

const NEAR = 4; // half units

/** Shapes of the same function that are near one. */
export function nearTo(model: Model, shape: number): Near[] {
  return nearShapes(model.behaviours!.shapes.shapes, metricOf(model), shape, NEAR);
}

export function toggleSampling(app: App): void {
  setView(app, { isRare: !app.state.get().patterns.isRare });
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
  setView(app, { isFolded: !app.state.get().patterns.isFolded });
  const { isFolded } = app.state.get().patterns;
  set(app, { said: `${isFolded ? 'Folded' : 'Not folded'}: ${idleWords(app)}` });
}

/** What the screen adds to the address: the ids of A and B, and what is shown. */
export function writeView({ model, state }: App): [string, string][] {
  const { a, b, tab, isRare, isFolded } = state.get().patterns;
  const ids = model.behaviours?.shapes.shapes.id;
  const name = (shape: number): string =>
    ids && shape >= 0 && shape < ids.length ? `shape:${ids[shape]}` : '';
  return [
    ...([
      ['A', name(a)],
      ['B', name(b)],
      ['tab', tab === 'table' ? '' : tab],
      ['pick', isRare ? 'rare' : ''],
      ['idle', isFolded ? 'fold' : ''],
    ] as [string, string][]),
  ];
}

export function readView(app: App, get: (key: string) => string): void {
  const ids = app.model.behaviours?.shapes.shapes.id;
  const find = (text: string): number => {
    const id = /^shape:(\d+)$/.exec(text)?.[1];
    return id === undefined || !ids ? -1 : ids.indexOf(Number(id));
  };
  const tab = get('tab');
  setView(app, {
    ...{ a: find(get('A')), b: find(get('B')), isRare: get('pick') === 'rare' },
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
