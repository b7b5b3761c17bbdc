// SPDX-License-Identifier: MIT
// Shapes as the page knows them (docs/page-data.md): clusters, most time first; ribbons of every
// thread as columns of runs; and what is asked of them without a screen.
import type { Bins } from './histogram';
import { ratio } from './numbers';

/** One call. `shape` is an index into the page's shapes, -1 if that was not sent. */
export interface Occurrence {
  thread: number;
  start: number;
  end: number;
  shape: number;
}

/** `has` is false for clusters of which only names, counts and sums were sent. */
export interface Cluster {
  index: number;
  id: number;
  fn: number;
  depth: number;
  shapesAll: number;
  ribbon: number;
  count: number;
  sum: number;
  threads: number;
  has: boolean;
  min: number;
  max: number;
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  /** Standard deviation of its durations. */
  deviation: number;
  /** All calls of its function that have a shape. */
  ofFunction: { count: number; sum: number; deviation: number };
  /** null: not sent. */
  bins: Bins | null;
  spikes: number;
  drops: number;
  surprise: number;
  first: Occurrence | null;
  typical: Occurrence | null;
  slowest: Occurrence | null;
  shapes: number[];
}

/** Shapes as columns; children stand before their parents, so no shape holds itself. */
export interface ShapeTable {
  n: number;
  id: Int32Array;
  fn: Int32Array;
  cluster: Int32Array; // -1: none that is listed
  count: Float64Array;
  kidsFrom: Int32Array; // n + 1
  kid: Int32Array;
  least: Float64Array; // repetitions of the kid
  most: Float64Array;
  sum: Float64Array;
  /** Children that were not sent, by shape. */
  more: Int32Array;
}

/** The calls of one occurrence in pre-order; `all` counts those that were not sent, too. */
export interface CallTree extends Calls {
  cluster: number;
  thread: number;
}

/** The calls of one occurrence in pre-order; `all` is how many it has, `n` how many are here. */
export interface Calls {
  all: number;
  n: number;
  level: Uint16Array;
  fn: Int32Array;
  start: Float64Array;
  end: Float64Array;
}

/** Runs by column: next to each other, not overlapping. */
export interface Ribbon {
  n: number;
  clusters: number;
  first: Int32Array; // column
  width: Int32Array; // columns
  cluster: Int32Array;
  others: Int32Array;
  count: Float64Array;
  covered: Uint8Array; // of FULL, rounded up
  start: Float64Array; // of the longest occurrence; NaN: not sent
  end: Float64Array;
  /** Of the longest: place + 1 among the cluster's shapes, 0 if it was not sent. */
  shape: Int32Array;
}
const FULL = 16;

interface Presence {
  cluster: number;
  count: number;
  sum: number;
}

export interface ShapeThread {
  thread: number;
  shapes: number;
  newShapes: number;
  clusters: number;
  newClusters: number;
  calls: number;
  cut: number;
  excluded: number;
  limited: number;
  group: number;
  presences: Presence[]; // most time first
  ribbons: Ribbon[]; // shallowest first
}

export interface Spike extends Occurrence {
  cluster: number;
  times: number;
}

export interface Drop {
  cluster: number;
  from: number;
  to: number;
  count: number;
  expected: number;
}

/** A shape that occurs once, or on one thread alone, or of which one call is slow. */
export interface Rare extends Occurrence {
  id: number;
  fn: number;
  cluster: number; // -1: none that is listed
  isOnce: boolean;
  isOneThread: boolean;
  isSlow: boolean;
  count: number;
  functionCalls: number; // with a shape, of its function
  /** Surprise in bits, and the time that it is worth. */
  bits: number;
  time: number;
  mean: number; // of its other calls; 0: none
}

export interface Shapes {
  from: number;
  to: number;
  columns: number;
  /** Runs shorter than this many columns were merged with their neighbours. */
  cell: number;
  threshold: number; // in half units
  clusters: Cluster[];
  shapes: ShapeTable;
  calls: CallTree[];
  spikes: Spike[];
  drops: Drop[];
  /** Most surprising time first; without callers that are rare for what they call. */
  rare: Rare[];
  threads: (ShapeThread | null)[]; // by the trace's thread index
  totals: {
    shapes: number;
    trivialShapes: number;
    clusters: number;
    trivialClusters: number;
    ribbons: number;
    rareBelow: number;
    rareClusters: number;
    calls: number;
    cutCalls: number;
    repairedCalls: number;
    excludedCalls: number;
    limitedCalls: number;
    unclustered: number;
    /** Behaviours on threads that have no runs: there would be too many. */
    undrawn: number;
    spikes: number;
    drops: number;
    runs: number;
    runsSent: number;
    bareRuns: number;
    bareThreads: number;
    rare: number;
    rareCallers: number;
  };
}

/** Time at which a column begins. */
export function columnTime({ from, to, columns }: Shapes, column: number): number {
  return from + Math.floor(((to - from) * column) / columns);
}

/**
 * What a run stands for in time: the only occurrence, exact, cut at the run's columns; else the
 * columns in which its cluster dominates.
 */
export function runSpan(
  shapes: Shapes,
  ribbon: Ribbon,
  run: number,
): { t0: number; t1: number; isExact: boolean } {
  const t0 = columnTime(shapes, ribbon.first[run]!);
  const t1 = columnTime(shapes, ribbon.first[run]! + ribbon.width[run]!);
  const none = { t0, t1, isExact: false };
  const start = ribbon.start[run]!;
  const isOne = ribbon.count[run]! <= 1 && !Number.isNaN(start);
  if (!isOne || (ribbon.count[run] === 1 && start < t0)) return none;
  const [from, to] = [Math.max(t0, start), Math.min(t1, ribbon.end[run]!)];
  const share = ((to - from) / Math.max(1, t1 - t0)) * FULL;
  const isAll = to >= from && ribbon.covered[run]! - 1 <= share; // else a second one ends here
  return isAll ? { t0: from, t1: to, isExact: true } : none;
}

/** Time that a run's cluster covers, as far as the page knows it. */
export function runCovered(shapes: Shapes, ribbon: Ribbon, run: number): number {
  const span = runSpan(shapes, ribbon, run);
  return (span.t1 - span.t0) * (span.isExact ? 1 : ribbon.covered[run]! / FULL);
}

/** Spans and covered times of all runs of a ribbon, for drawing. */
export interface Spans {
  t0: Float64Array;
  t1: Float64Array;
  covered: Float64Array;
  isExact: Uint8Array;
}

export function spansOf(shapes: Shapes, ribbon: Ribbon): Spans {
  const { n } = ribbon;
  const spans = {
    t0: new Float64Array(n),
    t1: new Float64Array(n),
    covered: new Float64Array(n),
    isExact: new Uint8Array(n),
  };
  for (let run = 0; run < n; run++) {
    const { t0, t1, isExact } = runSpan(shapes, ribbon, run);
    spans.t0[run] = t0;
    spans.t1[run] = t1;
    spans.isExact[run] = isExact ? 1 : 0;
    spans.covered[run] = (t1 - t0) * (isExact ? 1 : ribbon.covered[run]! / FULL);
  }
  return spans;
}

/** The first index from which on `values` (ascending) are at least `least`. */
export function lowerBound(values: ArrayLike<number>, least: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Piece {
  ribbon: number;
  run: number;
  t0: number;
  t1: number;
}

/**
 * A thread as one flat line: at each time the outermost behaviour (the lowest ribbon that has one
 * there).
 */
export function outermost(shapes: Shapes, { ribbons }: ShapeThread): Piece[] {
  let line: Piece[] = [];
  for (let r = ribbons.length - 1; r >= 0; r--) {
    const ribbon = ribbons[r]!;
    const next: Piece[] = [];
    let at = 0;
    for (let run = 0; run < ribbon.n; run++) {
      const { t0, t1 } = runSpan(shapes, ribbon, run);
      let free = t0;
      while (at < line.length && line[at]!.t1 <= t0) next.push(line[at++]!);
      for (let k = at; k < line.length && line[k]!.t0 < t1; k++) {
        if (line[k]!.t0 > free) next.push({ ribbon: r, run, t0: free, t1: line[k]!.t0 });
        free = Math.max(free, line[k]!.t1);
        if (line[k]!.t1 <= t1) {
          next.push(line[k]!);
          at = k + 1;
        }
      }
      if (free < t1) next.push({ ribbon: r, run, t0: free, t1 });
    }
    while (at < line.length) next.push(line[at++]!);
    line = next;
  }
  return line;
}

/** The trees of a cluster that the page holds. */
function treesOf({ calls }: Shapes, cluster: number): readonly CallTree[] {
  return calls.filter(tree => tree.cluster === cluster);
}

/** The real calls of an occurrence, if the page holds them. */
export function callsOf(shapes: Shapes, cluster: number, at: Occurrence): CallTree | null {
  const isIt = ({ thread, start, end }: CallTree): boolean =>
    thread === at.thread && start[0] === at.start && end[0] === at.end;
  return treesOf(shapes, cluster).find(isIt) ?? null;
}

/** A tree of the cluster that begins on a thread between two times. */
export function treeWithin(
  shapes: Shapes,
  cluster: number,
  thread: number,
  t0: number,
  t1: number,
): CallTree | null {
  const isIn = (tree: CallTree): boolean =>
    tree.thread === thread && tree.start[0]! < t1 && tree.end[0]! > t0;
  return treesOf(shapes, cluster).find(isIn) ?? null;
}

/** The tree of the cluster that begins nearest to a time: of the thread, or of any. */
export function nearestTree(
  shapes: Shapes,
  cluster: number,
  thread: number,
  t: number,
): CallTree | null {
  const list = treesOf(shapes, cluster);
  const own = list.filter(tree => tree.thread === thread);
  const away = (tree: CallTree): number => Math.abs(tree.start[0]! - t);
  return (own.length > 0 ? own : list).reduce<CallTree | null>(
    (best, tree) => (best && away(best) <= away(tree) ? best : tree),
    null,
  );
}

/** One line of a shape drawn as an indented tree. */
interface TreeLine {
  level: number;
  shape: number; // -1: "n more"
  least: number;
  most: number;
  mean: number;
  /** Lines that are not shown, if shape is -1. */
  more: number;
}

/** A shape as lines in pre-order, at most `limit`; shapes share children, so trees can be vast. */
export function treeLines(table: ShapeTable, shape: number, limit: number): TreeLine[] {
  const lines: TreeLine[] = [];
  const visit = (s: number, level: number, edge: number, parentCount: number): void => {
    if (lines.length >= limit) return;
    const mean = edge < 0 ? 1 : table.sum[edge]! / Math.max(1, parentCount);
    const [least, most] = edge < 0 ? [1, 1] : [table.least[edge]!, table.most[edge]!];
    lines.push({ level, shape: s, least, most, mean, more: 0 });
    for (let e = table.kidsFrom[s]!; e < table.kidsFrom[s + 1]!; e++) {
      if (lines.length >= limit) {
        const left = table.kidsFrom[s + 1]! - e;
        lines.push({ level: level + 1, shape: -1, least: 0, most: 0, mean: 0, more: left });
        break;
      }
      visit(table.kid[e]!, level + 1, e, table.count[s]!);
    }
    if (table.more[s]! > 0 && lines.length <= limit)
      lines.push({ level: level + 1, shape: -1, least: 0, most: 0, mean: 0, more: table.more[s]! });
  };
  visit(shape, 0, -1, 1);
  return lines;
}

export function repeatText({ least, most, mean }: TreeLine): string {
  if (least === 1 && most === 1) return '';
  if (least === most) return `\u00d7${least}`;
  return `\u00d7${least}\u2013${most}, mean ${ratio(mean)}`;
}
