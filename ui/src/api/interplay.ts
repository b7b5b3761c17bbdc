// SPDX-License-Identifier: MIT
// Answers of `interplay`, `correspondences` and `blocking` (docs/http-api.md).
import { reachOf, Shares } from '../lib/interplay';
import type { Site, WaitObject, Waits } from '../lib/interplay';
import type { Lane } from '../lib/timelinelanes';
import type {
  BlockingColumns,
  InterplayCellsColumns,
  InterplayPairsColumns,
  InterplayThreadsColumns,
  InterplayWaitsColumns,
  LanePiecesColumns,
  LanesColumns,
  LockTreeColumns,
  LodThreadsColumns,
} from '../gen/tables';
import { take, tableOf } from './columns';
import type { Column, Columns } from './columns';
import { list, num, objects, text } from './json';
import type { Json } from './json';

const orNone = (json: Json, key: string): number =>
  typeof json[key] === 'number' ? json[key] : -1;

export function decodeObjects(meta: Json): WaitObject[] {
  return objects(meta, 'objects').map(row => ({
    ...{ id: text(row, 'id'), name: text(row, 'name'), kind: text(row, 'kind') },
    ...{ waiters: num(row, 'n_waiters'), releasers: num(row, 'n_releasers') },
    ...{ waits: num(row, 'waits'), ns: num(row, 'wait_ns'), free: num(row, 'uncontended') },
    isNeverReleased: row['is_never_released'] === true,
    isReused: row['is_reused'] === true,
  }));
}

export function decodeSites(meta: Json): Site[] {
  return objects(meta, 'sites').map(row => ({
    ...{ name: text(row, 'function'), call: text(row, 'call'), path: text(row, 'path') },
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
  ...{ start: 'start_ns', end: 'end_ns', first: 'first_release_ns', last: 'last_release_ns' },
  ...{ count: 'count', sum: 'sum_ns', longest: 'longest_ns', releaser: 'releaser' },
  ...{ object: 'object', site: 'wait_site', releaseSite: 'release_site', depth: 'wait_depth' },
  ...{
    releaseDepth: 'release_depth',
    confidence: 'confidence',
    flags: 'flags',
    unknown: 'unknown',
  },
} as const satisfies Record<string, keyof InterplayWaitsColumns>;

type RowColumns = { [K in keyof typeof ROW_COLUMNS]: Waits[K] };

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
  const waiter = tableOf<InterplayWaitsColumns>(answer, 'rows')('waiter');
  const columns = Object.fromEntries(
    Object.entries(ROW_COLUMNS).map(([key, name]) => [key, take(answer, 'rows', name)]),
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
      ...{ n: own.length, reach: reachOf(part.end), objects: known, sites },
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
    ...{ n: 0, start: f, end: f, first: f, last: f, count: u, sum: f, longest: f, releaser: i },
    ...{ object: i, site: i, releaseSite: i, depth: h, releaseDepth: h, confidence: b, flags: b },
    ...{ unknown: b, reach: f, objects: [], sites: [], reasons: [], confidences: [] },
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

export interface Cell {
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

export interface SitePair {
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
function rowsOf<T, C>(
  answer: Columns,
  table: string,
  names: Record<keyof T, keyof C & string>,
): T[] {
  const columns = Object.entries<string>(names).map(
    ([key, name]) => [key, take(answer, table, name)] as const,
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
    ...{ thread: 'thread', first: 'first_ns', last: 'last_ns', waits: 'waits', waitNs: 'wait_ns' },
    ...{ longestNs: 'longest_wait_ns', longestAt: 'longest_wait_at_ns', io: 'io', ioNs: 'io_ns' },
    ...{ releases: 'releases', free: 'uncontended', released: 'released' },
    ...{ releasedNs: 'released_ns', failed: 'failed', cut: 'cut', mainReleaser: 'main_releaser' },
    ...{ mainReleaserNs: 'main_releaser_ns', releasers: 'n_releasers', leastDepth: 'least_depth' },
    ...{ mostDepth: 'most_depth', neverWaits: 'never_waits', waitsAllAlong: 'waits_all_along' },
  });
  const reasons = list<string>(meta, 'reason_texts').map(String);
  return {
    span: { t0: num(meta, 'from_ns'), t1: num(meta, 'to_ns') },
    threads: threads.map(row => ({
      ...row,
      ...{ neverWaits: row.neverWaits === 1, waitsAllAlong: row.waitsAllAlong === 1 },
    })),
    cells: rowsOf<Cell, InterplayCellsColumns>(answer, 'cells', {
      ...{ waiter: 'waiter', releaser: 'releaser', count: 'count', ns: 'sum_ns' },
      ...{ longestNs: 'longest_ns', longestAt: 'longest_at_ns', objects: 'n_objects' },
      object: 'object',
    }),
    pairs: rowsOf<SitePair, InterplayPairsColumns>(answer, 'pairs', {
      ...{ site: 'wait_site', releaseSite: 'release_site', kind: 'kind', count: 'count' },
      ...{ ns: 'sum_ns', longestNs: 'longest_ns', longestAt: 'longest_at_ns' },
      longestWaiter: 'longest_waiter',
    }),
    ...{ objects: decodeObjects(meta), sites: decodeSites(meta) },
    patterns: objects(meta, 'patterns').map(row => ({
      ...{ kind: text(row, 'kind'), text: text(row, 'text'), thread: orNone(row, 'thread') },
      ...{ others: list<number>(row, 'others').map(Number), from: num(row, 'from_ns') },
      to: num(row, 'to_ns'),
    })),
    ...{ waits: num(meta, 'waits'), waitNs: num(meta, 'wait_ns'), joined: num(meta, 'joined') },
    ...{ free: num(meta, 'uncontended'), io: num(meta, 'io'), ioNs: num(meta, 'io_ns') },
    ...{ lost: num(meta, 'lost'), leftOut: Number(meta['left_out_threads'] ?? 0) },
    ...{ known: new Set(list<string>(meta, 'known').map(String)) },
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
    ...{
      names: list<string>(meta, 'names').map(String),
      n: parent.length,
      total: num(meta, 'total'),
    },
    ...{ sumNs: num(meta, 'sum_ns'), unknownNs: num(meta, 'unknown_ns') },
  };
}

/* ---- lanes ---- */

export function decodeLanes(answer: Columns): Lane[] {
  const known = decodeObjects(answer.meta);
  const lane = tableOf<LanesColumns>(answer, 'lanes');
  const piece = tableOf<LanePiecesColumns>(answer, 'pieces');
  const thread = lane('thread');
  const object = lane('object');
  const first = lane('first_piece');
  const many = lane('n_pieces');
  const [held, waited, waits] = [lane('held_ns'), lane('held_waited_ns'), lane('waits_ns')];
  const start = piece('start_ns');
  const end = piece('end_ns');
  const count = piece('count');
  const state = piece('state');
  return Array.from(thread, (id, i) => {
    const [a, b] = [first[i]!, first[i]! + many[i]!];
    const own = known[object[i]!];
    if (!own || b > start.length) throw new Error('a lane names an unknown object or piece');
    return {
      ...{ thread: id, object: own, n: b - a, start: start.slice(a, b), end: end.slice(a, b) },
      ...{ count: count.slice(a, b), state: state.slice(a, b) },
      ns: [held[i]!, waited[i]!, waits[i]!] as const,
    };
  });
}
