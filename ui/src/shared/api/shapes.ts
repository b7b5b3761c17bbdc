// SPDX-License-Identifier: MIT
// The part `shapes` of the page's data (docs/page-data.md), checked and made columns.
import { binsOf } from '../lib/histogram';
import type { Bins } from '../lib/histogram';
import type {
  CallTree,
  Cluster,
  Drop,
  Occurrence,
  Rare,
  Ribbon,
  Shapes,
  ShapeTable,
  ShapeThread,
  Spike,
} from '../lib/shapes';
import { column, damaged, list, num, object, objects } from './columns';
import type { Json } from './columns';

/** What indices in the data may reach to. */
interface Bounds {
  functions: number;
  threads: number;
  clusters: number;
  shapes: number;
  columns: number;
}

function within(value: number | undefined, n: number, what: string): number {
  if (!Number.isInteger(value) || value! < 0 || value! >= n) throw damaged(`${what} ${value}`);
  return value!;
}

/** A column that says itself how long it is. */
function own(json: Json, key: string): number[] {
  return column(json, key, list(json, key).length);
}

function orNone(value: number | undefined, n: number, what: string): number {
  return value === -1 ? -1 : within(value, n, what);
}

/* ---- shapes ---- */

function decodeTable(json: Json, bounds: Bounds): ShapeTable {
  const id = own(json, 'id');
  const n = id.length;
  const counts = column(json, 'kn', n);
  const kidsFrom = new Int32Array(n + 1);
  counts.forEach((kids, i) => {
    kidsFrom[i + 1] = kidsFrom[i]! + Math.max(0, kids | 0);
  });
  const edges = kidsFrom[n]!;
  const up = column(json, 'k', edges);
  const kid = new Int32Array(edges);
  for (let s = 0; s < n; s++)
    for (let e = kidsFrom[s]!; e < kidsFrom[s + 1]!; e++)
      kid[e] = within(s - up[e]!, s, 'a shape\u2019s child');
  return {
    n,
    id: Int32Array.from(id),
    kidsFrom,
    kid,
    fn: Int32Array.from(column(json, 'f', n), f => orNone(f, bounds.functions, 'function')),
    cluster: Int32Array.from(column(json, 'c', n), c => orNone(c, bounds.clusters, 'cluster')),
    count: Float64Array.from(column(json, 'n', n)),
    least: Float64Array.from(column(json, 'a', edges)),
    most: Float64Array.from(column(json, 'b', edges)),
    sum: Float64Array.from(column(json, 's', edges)),
    more: Int32Array.from(column(json, 'm', n)),
  };
}

/* ---- clusters ---- */

function occurrences(from: Json, n: number, bounds: Bounds): Occurrence[] {
  const [thread, start, length, shape] = ['h', 's', 't', 'p'].map(k => column(from, k, n));
  return Array.from({ length: n }, (_, i) => ({
    thread: within(thread![i], bounds.threads, 'thread'),
    start: start![i]!,
    end: start![i]! + length![i]!,
    shape: orNone(shape![i], bounds.shapes, 'shape'),
  }));
}

/** The histograms of the first clusters, with their totals. */
function decodeBins(
  json: Json,
  full: number,
  totals: (index: number) => { sum: number; min: number; max: number },
): Bins[] {
  const lengths = own(json, 'bn');
  if (lengths.length > full) throw damaged('more histograms than clusters in full');
  const n = lengths.reduce((sum, many) => sum + Math.max(0, many | 0), 0);
  const [steps, counts] = [column(json, 'b', n), column(json, 'bc', n)];
  let at = 0;
  return lengths.map((many, index) => {
    const from = at;
    at += Math.max(0, many | 0);
    let bin = 0;
    const numbers = steps.slice(from, at).map((step, i) => {
      bin += step;
      if (!Number.isInteger(bin) || bin > 255 || (i > 0 && step < 1)) throw damaged('a histogram');
      return bin;
    });
    return binsOf(numbers, counts.slice(from, at), totals(index));
  });
}

function decodeClusters(json: Json, bounds: Bounds): Cluster[] {
  const n = bounds.clusters;
  const full = own(json, 'min').length;
  if (full > n) throw damaged('more clusters in full than there are');
  const [id, fn, depth, shapes, ribbon, count, sum, threads] = [
    'id',
    'f',
    'depth',
    'shapes',
    'ribbon',
    'n',
    'sum',
    'threads',
  ].map(key => column(json, key, n));
  const [min, max, p50, p90, p99, p999, spikes, drops, surprise, members] = [
    'min',
    'max',
    'p50',
    'p90',
    'p99',
    'p999',
    'spikes',
    'drops',
    'surprise',
    'mn',
  ].map(key => column(json, key, full));
  const [deviation, fnCount, fnSum, fnDeviation] = ['sd', 'fn', 'fs', 'fd'].map(key =>
    column(json, key, full),
  );
  const bins = decodeBins(json, full, i => ({ sum: sum![i]!, min: min![i]!, max: max![i]! }));
  const first = occurrences(object(json, 'first'), full, bounds);
  const typical = occurrences(object(json, 'typical'), full, bounds);
  const slowest = occurrences(object(json, 'slowest'), full, bounds);
  const member = own(json, 'm');
  let at = 0;
  return Array.from({ length: n }, (_, i) => {
    const has = i < full;
    const mine = has ? member.slice(at, (at += Math.max(0, members![i]! | 0))) : [];
    return {
      index: i,
      id: id![i]!,
      fn: orNone(fn![i], bounds.functions, 'function'),
      depth: depth![i]!,
      shapesAll: shapes![i]!,
      ribbon: ribbon![i]!,
      count: count![i]!,
      sum: sum![i]!,
      threads: threads![i]!,
      has,
      min: min![i] ?? 0,
      max: max![i] ?? 0,
      p50: p50![i] ?? 0,
      p90: p90![i] ?? 0,
      p99: p99![i] ?? 0,
      p999: p999![i] ?? 0,
      spikes: spikes![i] ?? 0,
      deviation: deviation![i] ?? 0,
      bins: bins[i] ?? null,
      ofFunction: { count: fnCount![i] ?? 0, sum: fnSum![i] ?? 0, deviation: fnDeviation![i] ?? 0 },
      drops: drops![i] ?? 0,
      surprise: surprise![i] ?? 0,
      first: first[i] ?? null,
      typical: typical[i] ?? null,
      slowest: slowest[i] ?? null,
      shapes: mine.map(s => within(s, bounds.shapes, 'shape')),
    };
  });
}

/* ---- threads ---- */

interface Runs {
  column: number[];
  width: number[];
  cluster: number[];
  others: number[];
  count: number[];
  covered: number[];
  start: number[];
  length: number[];
  shape: number[];
}

function decodeRibbon(
  runs: Runs,
  at: number,
  n: number,
  clusters: number,
  shapes: Bounds & { from: number },
): Ribbon {
  const part = (values: number[]): number[] => values.slice(at, at + n);
  const first = new Int32Array(n);
  const start = new Float64Array(n);
  let [column, time] = [0, shapes.from];
  for (let i = 0; i < n; i++) {
    const [gap, width] = [runs.column[at + i]!, runs.width[at + i]!];
    first[i] = column + gap;
    column = first[i]! + width;
    if (!(gap >= 0) || !(width > 0) || column > shapes.columns) throw damaged('a run of a ribbon');
    const hasLongest = runs.length[at + i]! >= 0;
    if (hasLongest) time += runs.start[at + i]!;
    start[i] = hasLongest ? time : NaN;
  }
  const length = part(runs.length);
  return {
    n,
    clusters,
    first,
    start,
    width: Int32Array.from(part(runs.width)),
    cluster: Int32Array.from(part(runs.cluster), c => within(c, shapes.clusters, 'cluster')),
    others: Int32Array.from(part(runs.others)),
    count: Float64Array.from(part(runs.count)),
    shape: Int32Array.from(part(runs.shape)),
    covered: Uint8Array.from(part(runs.covered)),
    end: start.map((s, i) => s + length[i]!),
  };
}

/** The ribbons of every thread that has shapes, in the order of `threads`. */
function decodeRibbons(json: Json, threads: number, bounds: Bounds & { from: number }): Ribbon[][] {
  const counts = column(json, 'ribbons', threads);
  const lengths = own(json, 'runs');
  const clusters = column(json, 'clusters', lengths.length);
  const n = lengths.reduce((sum, many) => sum + many, 0);
  const get = (key: string): number[] => column(json, key, n);
  const runs: Runs = {
    column: get('c'),
    width: get('w'),
    cluster: get('k'),
    others: get('o'),
    count: get('n'),
    covered: get('v'),
    start: get('s'),
    length: get('t'),
    shape: get('p'),
  };
  let at = 0;
  const all = lengths.map((many, i) => {
    if (!Number.isInteger(many) || many < 0) throw damaged('a ribbon\u2019s length');
    const ribbon = decodeRibbon(runs, at, many, clusters[i]!, bounds);
    at += many;
    return ribbon;
  });
  let from = 0;
  const lists = counts.map(many => all.slice(from, (from += Math.max(0, many | 0))));
  if (from !== all.length) throw damaged('ribbons of no thread');
  return lists;
}

function decodeThread(json: Json, ribbons: Ribbon[], bounds: Bounds): ShapeThread {
  const presences = object(json, 'presences');
  const cluster = own(presences, 'c');
  const count = column(presences, 'n', cluster.length);
  const sum = column(presences, 'sum', cluster.length);
  return {
    thread: within(num(json, 'thread'), bounds.threads, 'thread'),
    shapes: num(json, 'shapes'),
    newShapes: num(json, 'new_shapes'),
    clusters: num(json, 'clusters'),
    newClusters: num(json, 'new_clusters'),
    calls: num(json, 'calls'),
    cut: num(json, 'cut_calls'),
    excluded: num(json, 'excluded_calls'),
    limited: num(json, 'limited_calls'),
    group: num(json, 'group'),
    presences: cluster.map((c, i) => ({
      cluster: within(c, bounds.clusters, 'cluster'),
      count: count[i]!,
      sum: sum[i]!,
    })),
    ribbons,
  };
}

/* ---- the rest ---- */

/** Entries and exits of a tree's calls as times since the one before; here made starts and ends. */
function decodeTree(
  nodes: { closed: number[]; fn: number[]; before: number[]; after: number[] },
  at: number,
  n: number,
  root: number,
): Pick<CallTree, 'n' | 'level' | 'fn' | 'start' | 'end'> {
  const level = new Uint16Array(n);
  const [start, end] = [new Float64Array(n), new Float64Array(n)];
  const open: number[] = [];
  let last = root;
  const close = (): void => {
    const call = open.pop()!;
    last += nodes.after[at + call]!;
    end[call] = last;
  };
  for (let i = 0; i < n; i++) {
    const closed = nodes.closed[at + i]!;
    if (!(closed >= 0) || (i > 0 && closed >= open.length)) throw damaged('a tree of calls');
    for (let k = 0; k < closed && i > 0; k++) close();
    level[i] = open.length;
    start[i] = last += nodes.before[at + i]!;
    open.push(i);
  }
  while (open.length > 0) close();
  return { n, level, fn: Int32Array.from(nodes.fn.slice(at, at + n)), start, end };
}

function decodeCalls(json: Json, bounds: Bounds): CallTree[] {
  const cluster = own(json, 'c');
  const [thread, root, sent, all] = ['h', 's', 'n', 'all'].map(key =>
    column(json, key, cluster.length),
  );
  const n = own(json, 'l').length;
  const [closed, fn, before, after] = ['l', 'f', 'b', 'e'].map(key => column(json, key, n));
  const nodes = { closed: closed!, fn: fn!, before: before!, after: after! };
  for (const f of fn!) orNone(f, bounds.functions, 'function');
  let at = 0;
  return cluster.map((c, i) => {
    const many = sent![i]!;
    const from = at;
    if (!Number.isInteger(many) || many < 1 || (at += many) > n) throw damaged('a tree of calls');
    return {
      cluster: within(c, bounds.clusters, 'cluster'),
      thread: within(thread![i], bounds.threads, 'thread'),
      all: all![i]!,
      ...decodeTree(nodes, from, many, root![i]!),
    };
  });
}

function decodeRare(json: Json, bounds: Bounds): Rare[] {
  const id = own(json, 'id');
  const n = id.length;
  const at = occurrences(object(json, 'at'), n, bounds);
  const [fn, cluster, why, count, of, time, mean, bits] = [
    'f',
    'c',
    'why',
    'n',
    'of',
    'time',
    'mean',
    'bits',
  ].map(key => column(json, key, n));
  return at.map((one, i) => ({
    ...one,
    id: id[i]!,
    fn: orNone(fn![i], bounds.functions, 'function'),
    cluster: orNone(cluster![i], bounds.clusters, 'cluster'),
    isOnce: (why![i]! & 1) !== 0,
    isOneThread: (why![i]! & 2) !== 0,
    isSlow: (why![i]! & 4) !== 0,
    count: count![i]!,
    functionCalls: of![i]!,
    time: time![i]!,
    mean: mean![i]!,
    bits: bits![i]!,
  }));
}

function decodeSpikes(json: Json, bounds: Bounds): Spike[] {
  const cluster = own(json, 'c');
  const at = occurrences(object(json, 'at'), cluster.length, bounds);
  const times = column(json, 'x', cluster.length);
  return at.map((one, i) => ({
    ...one,
    cluster: within(cluster[i], bounds.clusters, 'cluster'),
    times: times[i]!,
  }));
}

function decodeDrops(json: Json, bounds: Bounds): Drop[] {
  const cluster = own(json, 'c');
  const [from, length, count, expected] = ['s', 't', 'n', 'e'].map(key =>
    column(json, key, cluster.length),
  );
  return cluster.map((c, i) => ({
    cluster: within(c, bounds.clusters, 'cluster'),
    from: from![i]!,
    to: from![i]! + length![i]!,
    count: count![i]!,
    expected: expected![i]!,
  }));
}

function decodeTotals(json: Json): Shapes['totals'] {
  return {
    shapes: num(json, 'shapes'),
    trivialShapes: num(json, 'trivial_shapes'),
    clusters: num(json, 'clusters'),
    trivialClusters: num(json, 'trivial_clusters'),
    ribbons: num(json, 'ribbons'),
    rareBelow: num(json, 'rare_below'),
    rareClusters: num(json, 'rare_clusters'),
    calls: num(json, 'calls'),
    cutCalls: num(json, 'cut_calls'),
    repairedCalls: num(json, 'repaired_calls'),
    excludedCalls: num(json, 'excluded_calls'),
    limitedCalls: num(json, 'limited_calls'),
    unclustered: num(json, 'unclustered_shapes'),
    undrawn: num(json, 'undrawn'),
    spikes: num(json, 'spikes'),
    drops: num(json, 'drops'),
    runs: num(json, 'runs'),
    runsSent: num(json, 'runs_sent'),
    bareRuns: num(json, 'bare_runs'),
    bareThreads: num(json, 'bare_threads'),
    rare: num(json, 'rare'),
    rareCallers: num(json, 'rare_callers'),
  };
}

/** The part of the data, or null if the page has none. Throws a sentence if it is damaged. */
export function decodeShapes(value: unknown, functions: number, threads: number): Shapes | null {
  if (typeof value !== 'object' || value === null) return null;
  const json = value as Json;
  const [from, to, columns] = [num(json, 'from_ns'), num(json, 'to_ns'), num(json, 'columns')];
  const clusters = object(json, 'clusters');
  const table = object(json, 'table');
  const bounds = {
    functions,
    threads,
    columns,
    from,
    clusters: list(clusters, 'id').length,
    shapes: list(table, 'id').length,
  };
  if (!(to >= from) || !Number.isInteger(columns) || columns < 1)
    throw damaged('ribbons\u2019 columns');
  const all: (ShapeThread | null)[] = new Array<ShapeThread | null>(threads).fill(null);
  const entries = objects(json, 'threads');
  const ribbons = decodeRibbons(object(json, 'ribbons'), entries.length, bounds);
  entries.forEach((entry, i) => {
    const thread = decodeThread(entry, ribbons[i]!, bounds);
    all[thread.thread] = thread;
  });
  return {
    from,
    to,
    columns,
    cell: Math.max(1, num(json, 'cell')),
    threshold: num(json, 'threshold_halves'),
    clusters: decodeClusters(clusters, bounds),
    shapes: decodeTable(table, bounds),
    calls: decodeCalls(object(json, 'calls'), bounds),
    spikes: decodeSpikes(object(json, 'spikes'), bounds),
    drops: decodeDrops(object(json, 'drops'), bounds),
    rare: decodeRare(object(json, 'rare'), bounds),
    threads: all,
    totals: decodeTotals(object(json, 'totals')),
  };
}
