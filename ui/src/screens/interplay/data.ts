// SPDX-License-Identifier: MIT
// Waits of threads, the releases that ended them, and what is derived from both: shares of calls,
// colours, bundles, who is worth showing.
import type {
  BlockingColumns,
  InterplayCellsColumns,
  InterplayPairsColumns,
  InterplayThreadsColumns,
  InterplayWaitsColumns,
  LockTreeColumns,
  LodThreadsColumns,
} from '../../gen/tables';
import { list, num, objects, tableOf, text, decodeObjects } from '../../shared/api/columns';
import type { Column, Columns, Json } from '../../shared/api/columns';
import type { Span } from '../../shared/lib/model';
import type { WaitObject } from '../../shared/lib/names';

export const FLAG = {
  CUT_START: 1,
  CUT_END: 2,
  FAILED: 4,
  TIMED: 8,
  NO_OBJECT: 16,
  LOSSY: 32,
  SHARED: 64,
  REACQUIRED: 128,
} as const;

/** Where a thread waits or releases. */
export interface Site {
  /** As shown; the innermost function that is no part of a lock. */
  name: string;
  /** The function that waits or releases. */
  call: string;
  path: string;
  fn: number;
}

/** Waits of one thread, in order of their starts; they may overlap. `count` of them are one where
 * they would be too close to be drawn apart. */
export interface Waits {
  n: number;
  start: Float64Array;
  end: Float64Array;
  /** Releases, the earliest and the latest. */
  first: Float64Array;
  last: Float64Array;
  count: Uint32Array;
  /** Their durations together, and the longest. */
  sum: Float64Array;
  longest: Float64Array;
  /** -1: nobody is known. */
  releaser: Int32Array;
  /** Indices into `objects`, and `sites`; -1: none. */
  object: Int32Array;
  site: Int32Array;
  releaseSite: Int32Array;
  depth: Uint16Array;
  releaseDepth: Uint16Array;
  confidence: Uint8Array;
  flags: Uint8Array;
  /** Why nobody is known. */
  unknown: Uint8Array;
  /** The latest end of this one and all before. */
  reach: Float64Array;
  objects: readonly WaitObject[];
  sites: readonly Site[];
  /** Sentences by `unknown`. */
  reasons: readonly string[];
  /** Words by `confidence`. */
  confidences: readonly string[];
}

export function reachOf(end: Float64Array): Float64Array {
  const reach = new Float64Array(end.length);
  for (let i = 0, most = -Infinity; i < end.length; i++) reach[i] = most = Math.max(most, end[i]!);
  return reach;
}

/** Places of the waits that touch [t0, t1): the first that can, and behind the last. */
export function waitsIn(waits: Waits, t0: number, t1: number): { first: number; behind: number } {
  return { first: firstFrom(waits.reach, t0), behind: firstFrom(waits.start, t1) };
}

/** The first element at `t` or beyond it. */
function firstFrom(values: Float64Array, t: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The wait at `t` that a call of `depth` stands for, or -1: the innermost. Of an aggregate, any that
 * lies in it or below. */
export function waitAt(waits: Waits, t: number, depth: number, isAggregate: boolean): number {
  const { first, behind } = waitsIn(waits, t, t + 1);
  for (let i = behind - 1; i >= first; i--) {
    const isThere = waits.start[i]! <= t && (waits.end[i]! > t || waits.end[i] === waits.start[i]);
    const own = waits.depth[i]!;
    if (isThere && (own === depth || (isAggregate && own >= depth))) return i;
  }
  return -1;
}

/* ---- shares ---- */

/** How much of any part of a thread's time is waiting or input/output: sums by column of time. */
export class Shares {
  /** `wait` and `io` of column i, which lies from from + i x ns. */
  constructor(
    private readonly from: number,
    private readonly ns: number,
    private readonly waitSum: Float64Array,
    private readonly ioSum: Float64Array,
  ) {}

  static of(
    from: number,
    to: number,
    width: number,
    columns: { column: Uint32Array; wait: Float64Array; io: Float64Array },
  ): Shares {
    const [wait, io] = [new Float64Array(width + 1), new Float64Array(width + 1)];
    columns.column.forEach((at, i) => {
      if (at >= width) return;
      wait[at + 1] = columns.wait[i]!;
      io[at + 1] = columns.io[i]!;
    });
    for (const sum of [wait, io]) for (let i = 1; i <= width; i++) sum[i]! += sum[i - 1]!;
    return new Shares(from, Math.max(1e-9, (to - from) / width), wait, io);
  }

  /** ns of both in [t0, t1). */
  in(t0: number, t1: number): { wait: number; io: number } {
    return {
      wait: this.until(this.waitSum, t1) - this.until(this.waitSum, t0),
      io: this.until(this.ioSum, t1) - this.until(this.ioSum, t0),
    };
  }

  private until(sum: Float64Array, t: number): number {
    const at = Math.min(Math.max(0, (t - this.from) / this.ns), sum.length - 1);
    const whole = Math.min(Math.floor(at), sum.length - 2);
    return sum[whole]! + (sum[whole + 1]! - sum[whole]!) * (at - whole);
  }
}

/** How a call is coloured (section IV B 3): by the larger of waiting and input/output, as strongly as
 * its share of the call. 0: neither happened in it. */
interface Tone {
  kind: 'none' | 'wait' | 'io';
  share: number;
}

export const TONE_STEPS = 6;

export function toneOf(shares: Shares | null, t0: number, t1: number): Tone {
  if (!shares) return { kind: 'none', share: 0 };
  const { wait, io } = shares.in(t0, t1);
  if (wait <= 0 && io <= 0) return { kind: 'none', share: 0 };
  const most = Math.max(wait, io);
  return { kind: io > wait ? 'io' : 'wait', share: Math.min(1, most / Math.max(1, t1 - t0)) };
}

/** Steps from 1 to TONE_STEPS: a share that is not nothing is seen. */
export function toneStep(share: number): number {
  return Math.max(1, Math.min(TONE_STEPS, Math.ceil(share * TONE_STEPS)));
}

/** A tone as one number: 0 neutral, then steps of waiting, then those of input and output. */
export function toneCode({ kind, share }: Tone): number {
  if (kind === 'none') return 0;
  return toneStep(share) + (kind === 'io' ? TONE_STEPS : 0);
}

/* ---- threads ---- */

/** Hue by thread: as long as there are enough, each has its own; then at least neighbours of `order`,
 * which is a circle, never have the same. A thread keeps its hue where that lets it. */
export function threadHues(order: readonly number[], hues: number): Map<number, number> {
  const out = new Map<number, number>();
  const uses = new Array<number>(hues).fill(0);
  order.forEach((thread, i) => {
    const before = out.get(order[i - 1] ?? -1);
    const behind = i === order.length - 1 ? out.get(order[0]!) : undefined;
    const least = Math.min(...uses);
    let hue = thread % hues;
    for (let tries = 0; tries < hues; tries++, hue = (hue + 1) % hues)
      if (uses[hue] === least && hue !== before && hue !== behind) break;
    while (hue === before || hue === behind) hue = (hue + 1) % hues;
    out.set(thread, hue);
    uses[hue]!++;
  });
  return out;
}

/** Who made whom wait. */
export interface Pair {
  waiter: number;
  /** -1: not known. */
  releaser: number;
  count: number;
  ns: number;
}

export const MOST_CONTEXTS = 8;

/** Threads to show around `focus`: those that it waited for and that waited for it, most blocked time
 * first; then those of most blocked time of their own. */
export function pickContexts(
  focus: number,
  pairs: readonly Pair[],
  blocked: ReadonlyMap<number, number>,
  most = MOST_CONTEXTS,
): number[] {
  const near = new Map<number, number>();
  for (const { waiter, releaser, ns } of pairs) {
    const other = waiter === focus ? releaser : releaser === focus ? waiter : -1;
    if (other >= 0 && other !== focus) near.set(other, (near.get(other) ?? 0) + ns);
  }
  const byNs = (all: ReadonlyMap<number, number>): number[] =>
    [...all].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([thread]) => thread);
  const rest = byNs(blocked).filter(thread => thread !== focus && !near.has(thread));
  return [...byNs(near), ...rest].slice(0, most);
}

/** The thread to begin with: the one that others waited for longest; without releases, the one that
 * waited longest. */
export function pickFocus(pairs: readonly Pair[], blocked: ReadonlyMap<number, number>): number {
  const sum = new Map<number, number>();
  for (const { waiter, releaser, ns } of pairs)
    if (releaser >= 0 && releaser !== waiter) sum.set(releaser, (sum.get(releaser) ?? 0) + ns);
  const best = [...(sum.size > 0 ? sum : blocked)].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return best[0]?.[0] ?? -1;
}

/* ---- curves ---- */

export interface Curve {
  thread: number;
  /** Place of the wait; of a bundle, of its first. */
  item: number;
  start: number;
  end: number;
  depth: number;
  /** Waits in it: more than one are a bundle. */
  count: number;
  /** Place in the objects, or -1 if they differ. */
  object: number;
  /** Who released, and when at the earliest and latest. */
  to: number;
  first: number;
  last: number;
  toDepth: number;
  /** Time waited. */
  ns: number;
}

/** A curve of several waits (a bundle) is drawn only of the thread under the pointer. */
export const isBundle = (curve: Curve): boolean => curve.count > 1;

/** Waits narrower than this share a curve. */
const LEAST_PX = 3;

function curveOf(waits: Waits, thread: number, i: number): Curve {
  return {
    thread,
    item: i,
    start: waits.start[i]!,
    end: waits.end[i]!,
    depth: waits.depth[i]!,
    count: waits.count[i]!,
    object: waits.object[i]!,
    to: waits.releaser[i]!,
    first: waits.first[i]!,
    last: waits.last[i]!,
    toDepth: waits.releaseDepth[i]!,
    ns: waits.sum[i]!,
  };
}

function join(into: Curve, waits: Waits, i: number): void {
  into.end = Math.max(into.end, waits.end[i]!);
  into.count += waits.count[i]!;
  into.first = Math.min(into.first, waits.first[i]!);
  into.last = Math.max(into.last, waits.last[i]!);
  into.ns += waits.sum[i]!;
  into.depth = Math.min(into.depth, waits.depth[i]!);
  into.toDepth = Math.min(into.toDepth, waits.releaseDepth[i]!);
  if (into.object !== waits.object[i]) into.object = -1;
}

/** Curves of a thread's waits in view to threads that are shown, in order of start. Short waits that
 * lie within a pixel of each other and go to one thread are one, from the earliest release to the
 * latest (equation 8). */
export function curvesOf(
  waits: Waits,
  thread: number,
  view: Span,
  pixelNs: number,
  isShown: (thread: number) => boolean,
): Curve[] {
  const out: Curve[] = [];
  const open = new Map<number, Curve>();
  const { first, behind } = waitsIn(waits, view.t0, view.t1);
  const least = LEAST_PX * pixelNs;
  for (let i = first; i < behind; i++) {
    const to = waits.releaser[i]!;
    if (waits.end[i]! < view.t0 || to < 0 || to === thread || !isShown(to)) continue;
    if (waits.end[i]! - waits.start[i]! >= least) {
      out.push(curveOf(waits, thread, i));
      continue;
    }
    const last = open.get(to);
    const isNear =
      last && waits.start[i]! - last.end < pixelNs && last.end - last.start < 8 * least;
    if (isNear) join(last, waits, i);
    else {
      const made = curveOf(waits, thread, i);
      open.set(to, made);
      out.push(made);
    }
  }
  return out;
}

/** The most time comes first; what is beyond `most` is counted, not drawn. */
export function longestFirst(curves: Curve[], most: number): { drawn: Curve[]; left: number } {
  if (curves.length <= most) return { drawn: curves, left: 0 };
  const sorted = [...curves].sort(
    (a, b) => b.ns - a.ns || a.start - b.start || a.thread - b.thread,
  );
  return { drawn: sorted.slice(0, most), left: curves.length - most };
}

/* ---- Answers of `interplay`, `correspondences` and `blocking` (docs/http-api.md). ---- */

const orNone = (json: Json, key: string): number =>
  typeof json[key] === 'number' ? json[key] : -1;

function decodeSites(meta: Json): Site[] {
  return objects(meta, 'sites').map(row => ({
    name: text(row, 'function'),
    call: text(row, 'call'),
    path: text(row, 'path'),
    fn: orNone(row, 'fn'),
  }));
}

export interface Rows {
  byThread: Map<number, Waits>;
  /** Waits there are; as many as rows, if none is bundled or left out. */
  found: number;
  rows: number;
  isExact: boolean;
}

const ROW_COLUMNS = {
  start: 'start_ns',
  end: 'end_ns',
  first: 'first_release_ns',
  last: 'last_release_ns',
  count: 'count',
  sum: 'sum_ns',
  longest: 'longest_ns',
  releaser: 'releaser',
  object: 'object',
  site: 'wait_site',
  releaseSite: 'release_site',
  depth: 'wait_depth',
  releaseDepth: 'release_depth',
  confidence: 'confidence',
  flags: 'flags',
  unknown: 'unknown',
} as const satisfies Record<string, keyof InterplayWaitsColumns>;

type RowColumns = {
  [K in keyof typeof ROW_COLUMNS]: InterplayWaitsColumns[(typeof ROW_COLUMNS)[K]];
};

function pick<T extends Column>(column: T, places: readonly number[]): T {
  const out = new (column.constructor as new (n: number) => T)(places.length);
  places.forEach((place, i) => (out[i] = column[place]!));
  return out;
}

/** Places in order of their starts: nearly always as they are. */
function byStart(start: Float64Array): Uint32Array {
  const order = Uint32Array.from(start, (_, i) => i);
  const isSorted = start.every((t, i) => i === 0 || start[i - 1]! <= t);
  return isSorted ? order : order.sort((a, b) => start[a]! - start[b]! || a - b);
}

/** Rows by the thread that waited. */
export function decodeCorrespondences(answer: Columns): Rows {
  const { meta } = answer;
  const wait = tableOf<InterplayWaitsColumns>(answer, 'rows');
  const waiter = wait('waiter');
  const columns = Object.fromEntries(
    Object.entries(ROW_COLUMNS).map(([key, name]) => [key, wait(name)]),
  ) as unknown as RowColumns;
  const places = new Map<number, number[]>();
  const [known, sites] = [decodeObjects(meta), decodeSites(meta)];
  const order = byStart(columns.start);
  let rows = 0;
  for (const i of order) {
    if (columns.object[i]! >= known.length || columns.site[i]! >= sites.length)
      throw new Error('a wait names an unknown object or place');
    const own = places.get(waiter[i]!);
    if (own) own.push(i);
    else places.set(waiter[i]!, [i]);
    rows += columns.count[i]!;
  }
  const words = {
    reasons: list<string>(meta, 'reason_texts').map(String),
    confidences: list<string>(meta, 'confidences').map(String),
  };
  const byThread = new Map<number, Waits>();
  for (const [thread, own] of places) {
    const part = Object.fromEntries(
      Object.entries(columns).map(([key, column]) => [key, pick(column, own)]),
    ) as unknown as RowColumns;
    byThread.set(thread, {
      ...part,
      n: own.length,
      reach: reachOf(part.end),
      objects: known,
      sites,
      ...words,
    });
  }
  const found = num(meta, 'found');
  return { byThread, found, rows, isExact: waiter.length === found };
}

export function noWaits(): Waits {
  const [f, u, i, h, b] = [
    new Float64Array(),
    new Uint32Array(),
    new Int32Array(),
    new Uint16Array(),
    new Uint8Array(),
  ];
  return {
    n: 0,
    start: f,
    end: f,
    first: f,
    last: f,
    count: u,
    sum: f,
    longest: f,
    releaser: i,
    object: i,
    site: i,
    releaseSite: i,
    depth: h,
    releaseDepth: h,
    confidence: b,
    flags: b,
    unknown: b,
    reach: f,
    objects: [],
    sites: [],
    reasons: [],
    confidences: [],
  };
}

/** Shares by thread. */
export function decodeBlocking(answer: Columns): Map<number, Shares> {
  const { meta } = answer;
  const threads = tableOf<LodThreadsColumns>(answer, 'threads');
  const columns = tableOf<BlockingColumns>(answer, 'columns');
  const [first, many] = [threads('first_item'), threads('n_items')];
  const [column, wait, io] = [columns('column'), columns('wait_ns'), columns('io_ns')];
  const [from, to, width] = [num(meta, 'from_ns'), num(meta, 'to_ns'), num(meta, 'width')];
  const out = new Map<number, Shares>();
  threads('id').forEach((thread, i) => {
    const [a, b] = [first[i]!, first[i]! + many[i]!];
    const own = { column: column.subarray(a, b), wait: wait.subarray(a, b), io: io.subarray(a, b) };
    out.set(thread, Shares.of(from, to, Math.max(1, width), own));
  });
  return out;
}

/* ---- the summary ---- */

export interface ThreadWaits {
  thread: number;
  first: number;
  last: number;
  waits: number;
  waitNs: number;
  longestNs: number;
  longestAt: number;
  io: number;
  ioNs: number;
  releases: number;
  free: number;
  released: number;
  releasedNs: number;
  failed: number;
  cut: number;
  mainReleaser: number;
  mainReleaserNs: number;
  releasers: number;
  leastDepth: number;
  mostDepth: number;
  neverWaits: boolean;
  waitsAllAlong: boolean;
}

interface Cell {
  waiter: number;
  /** -1: not known. */
  releaser: number;
  count: number;
  ns: number;
  longestNs: number;
  longestAt: number;
  objects: number;
  object: number;
}

interface SitePair {
  site: number;
  releaseSite: number;
  kind: number;
  count: number;
  ns: number;
  longestNs: number;
  longestAt: number;
  longestWaiter: number;
}

export interface Pattern {
  kind: string;
  text: string;
  thread: number;
  others: number[];
  from: number;
  to: number;
}

/** What `interplay` says of a part of the trace. */
export interface Summary {
  span: { t0: number; t1: number };
  threads: ThreadWaits[];
  cells: Cell[];
  pairs: SitePair[];
  objects: WaitObject[];
  sites: Site[];
  patterns: Pattern[];
  waits: number;
  waitNs: number;
  /** Waits of which the release is known. */
  joined: number;
  free: number;
  io: number;
  ioNs: number;
  lost: number;
  /** Threads that are not of the recorded program, and are not asked about. */
  leftOut: number;
  known: ReadonlySet<string>;
  /** What the sources do not tell, in sentences. */
  lacks: { name: string; text: string }[];
  /** Waits without releaser, by why. */
  unknown: { text: string; count: number }[];
}

/** The rows of a table as objects: key by column. */
function rowsOf<T, C extends Record<keyof C, Column>>(
  answer: Columns,
  table: string,
  names: Record<keyof T, keyof C & string>,
): T[] {
  const column = tableOf<C>(answer, table);
  const columns = Object.entries<keyof C & string>(names).map(
    ([key, name]) => [key, column(name)] as const,
  );
  const n = answer.tables.get(table)!.rows;
  return Array.from(
    { length: n },
    (_, i) => Object.fromEntries(columns.map(([key, column]) => [key, column[i]])) as T,
  );
}

type Plain<T> = { [K in keyof T]: T[K] extends boolean ? number : T[K] };

export function decodeSummary(answer: Columns): Summary {
  const { meta } = answer;
  const threads = rowsOf<Plain<ThreadWaits>, InterplayThreadsColumns>(answer, 'threads', {
    thread: 'thread',
    first: 'first_ns',
    last: 'last_ns',
    waits: 'waits',
    waitNs: 'wait_ns',
    longestNs: 'longest_wait_ns',
    longestAt: 'longest_wait_at_ns',
    io: 'io',
    ioNs: 'io_ns',
    releases: 'releases',
    free: 'uncontended',
    released: 'released',
    releasedNs: 'released_ns',
    failed: 'failed',
    cut: 'cut',
    mainReleaser: 'main_releaser',
    mainReleaserNs: 'main_releaser_ns',
    releasers: 'n_releasers',
    leastDepth: 'least_depth',
    mostDepth: 'most_depth',
    neverWaits: 'never_waits',
    waitsAllAlong: 'waits_all_along',
  });
  const reasons = list<string>(meta, 'reason_texts').map(String);
  return {
    span: { t0: num(meta, 'from_ns'), t1: num(meta, 'to_ns') },
    threads: threads.map(row => ({
      ...row,
      neverWaits: row.neverWaits === 1,
      waitsAllAlong: row.waitsAllAlong === 1,
    })),
    cells: rowsOf<Cell, InterplayCellsColumns>(answer, 'cells', {
      waiter: 'waiter',
      releaser: 'releaser',
      count: 'count',
      ns: 'sum_ns',
      longestNs: 'longest_ns',
      longestAt: 'longest_at_ns',
      objects: 'n_objects',
      object: 'object',
    }),
    pairs: rowsOf<SitePair, InterplayPairsColumns>(answer, 'pairs', {
      site: 'wait_site',
      releaseSite: 'release_site',
      kind: 'kind',
      count: 'count',
      ns: 'sum_ns',
      longestNs: 'longest_ns',
      longestAt: 'longest_at_ns',
      longestWaiter: 'longest_waiter',
    }),
    objects: decodeObjects(meta),
    sites: decodeSites(meta),
    patterns: objects(meta, 'patterns').map(row => ({
      kind: text(row, 'kind'),
      text: text(row, 'text'),
      thread: orNone(row, 'thread'),
      others: list<number>(row, 'others').map(Number),
      from: num(row, 'from_ns'),
      to: num(row, 'to_ns'),
    })),
    waits: num(meta, 'waits'),
    waitNs: num(meta, 'wait_ns'),
    joined: num(meta, 'joined'),
    free: num(meta, 'uncontended'),
    io: num(meta, 'io'),
    ioNs: num(meta, 'io_ns'),
    lost: num(meta, 'lost'),
    leftOut: Number(meta['left_out_threads'] ?? 0),
    known: new Set(list<string>(meta, 'known').map(String)),
    lacks: objects(meta, 'lacks').map(row => ({
      name: text(row, 'name'),
      text: text(row, 'text'),
    })),
    unknown: list<number>(meta, 'by_unknown')
      .map((count, i) => ({ text: reasons[i] ?? '', count }))
      .filter(({ count }) => count > 0),
  };
}

/* ---- trees ---- */

export interface LockTree {
  parent: Int32Array;
  depth: Uint16Array;
  fn: Int32Array;
  count: Float64Array;
  sum: Float64Array;
  self: Float64Array;
  names: string[];
  n: number;
  total: number;
  sumNs: number;
  unknownNs: number;
}

export function decodeLockTree(answer: Columns): LockTree {
  const { meta } = answer;
  const node = tableOf<LockTreeColumns>(answer, 'nodes');
  const parent = node('parent');
  return {
    parent,
    depth: node('depth'),
    fn: node('function'),
    count: node('count'),
    sum: node('sum_ns'),
    self: node('self_ns'),
    names: list<string>(meta, 'names').map(String),
    n: parent.length,
    total: num(meta, 'total'),
    sumNs: num(meta, 'sum_ns'),
    unknownNs: num(meta, 'unknown_ns'),
  };
}
