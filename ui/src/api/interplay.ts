// SPDX-License-Identifier: MIT
// Answers of `waits` and `interplay` (docs/http-api.md).
import type { Pair, WaitObject, Waits } from '../lib/interplay';
import { take } from './columns';
import type { Columns } from './columns';
import { num, object, objects, text } from './json';
import type { Json } from './json';

function many(answer: Columns, name: string): number {
  return answer.tables.get(name)?.rows ?? 0;
}

/** Waits by thread id. */
export function decodeWaits(answer: Columns, from: number, to: number): Map<number, Waits> {
  const first = take<Uint32Array>(answer, 'threads', 'first_item');
  const count = take<Uint32Array>(answer, 'threads', 'n_items');
  const nItems = many(answer, 'items');
  const curveItem = take<Uint32Array>(answer, 'curves', 'item');
  const column = {
    start: take<Float64Array>(answer, 'items', 'start_ns'),
    end: take<Float64Array>(answer, 'items', 'end_ns'),
    wait: take<Float64Array>(answer, 'items', 'wait_ns'),
    io: take<Float64Array>(answer, 'items', 'io_ns'),
    longest: take<Float64Array>(answer, 'items', 'longest_ns'),
    count: take<Uint32Array>(answer, 'items', 'count'),
    depth: take<Uint16Array>(answer, 'items', 'depth'),
    fn: take<Int32Array>(answer, 'items', 'function'),
    object: take<Int32Array>(answer, 'items', 'object'),
    flags: take<Uint8Array>(answer, 'items', 'flags'),
  };
  const curve = {
    toThread: take<Uint32Array>(answer, 'curves', 'thread'),
    toFirst: take<Float64Array>(answer, 'curves', 'first_ns'),
    toLast: take<Float64Array>(answer, 'curves', 'last_ns'),
    toCount: take<Uint32Array>(answer, 'curves', 'count'),
    toDepth: take<Uint16Array>(answer, 'curves', 'depth'),
    toFn: take<Int32Array>(answer, 'curves', 'function'),
  };
  const curveFrom = curveStarts(curveItem, nItems);
  const out = new Map<number, Waits>();
  take<Uint32Array>(answer, 'threads', 'id').forEach((thread, i) => {
    const [a, b] = [first[i]!, first[i]! + count[i]!];
    if (b > nItems) throw new Error('the server sent too few items');
    const [c, d] = [curveFrom[a]!, curveFrom[b]!];
    out.set(thread, {
      ...{ from, to, pixel: num(answer.meta, 'pixel_ns'), n: b - a },
      ...slices(column, a, b),
      ...slices(curve, c, d),
      curveFrom: curveFrom.slice(a, b + 1).map(at => at - c),
    });
  });
  return out;
}

type Sliceable = { slice(a: number, b: number): unknown };

function slices<T extends Record<string, Sliceable>>(columns: T, a: number, b: number): T {
  return Object.fromEntries(
    Object.entries(columns).map(([key, column]) => [key, column.slice(a, b)]),
  ) as T;
}

/** Curves are in order of their items. */
function curveStarts(item: Uint32Array, nItems: number): Uint32Array {
  const from = new Uint32Array(nItems + 1);
  let at = 0;
  for (let i = 0; i <= nItems; i++) {
    while (at < item.length && item[at]! < i) at++;
    from[i] = at;
  }
  if (at < item.length && item[at]! >= nItems) throw new Error('a curve names an unknown item');
  return from;
}

export interface ThreadWaits {
  thread: number;
  waits: number;
  waitNs: number;
  ioNs: number;
  /** Of its lifetime, in [0, 1]. */
  share: number;
  longestNs: number;
  longestAt: number;
  /** It waited once, from its begin to its end, and nothing could end that. */
  isForever: boolean;
}

export interface Site {
  waiter: number;
  releaser: number;
  waitFn: number;
  releaseFn: number;
  waitName: string;
  releaseName: string;
  count: number;
  ns: number;
  longestNs: number;
  longestAt: number;
}

export interface Pattern {
  kind: string;
  sentence: string;
  threads: number[];
  at: number;
}

/** What `interplay` says of a part of the trace. */
export interface Summary {
  span: { t0: number; t1: number };
  threads: ThreadWaits[];
  pairs: Pair[];
  sites: Site[];
  objects: WaitObject[];
  patterns: Pattern[];
  waits: number;
  /** Waits of which the release is known. */
  matched: number;
  knows: { waits: boolean; releases: boolean; objects: boolean; io: boolean; calls: boolean };
  /** What cannot be known of this trace, and how it could. */
  unknown: { what: string; how: string }[];
}

const orNone = (json: Json, key: string): number =>
  typeof json[key] === 'number' ? (json[key] as number) : -1;

export function decodeSummary(json: Json): Summary {
  const knows = object(json, 'knows');
  return {
    span: { t0: num(json, 'from_ns'), t1: num(json, 'to_ns') },
    threads: objects(json, 'threads').map(row => ({
      ...{ thread: num(row, 'thread'), waits: num(row, 'waits'), waitNs: num(row, 'wait_ns') },
      ...{ ioNs: num(row, 'io_ns'), share: num(row, 'share'), longestNs: num(row, 'longest_ns') },
      ...{ longestAt: num(row, 'longest_at_ns'), isForever: row['is_forever'] === true },
    })),
    pairs: objects(json, 'pairs').map(row => ({
      ...{ waiter: num(row, 'waiter'), releaser: orNone(row, 'releaser') },
      ...{ count: num(row, 'count'), ns: num(row, 'wait_ns') },
    })),
    sites: objects(json, 'sites').map(row => ({
      ...{ waiter: num(row, 'waiter'), releaser: orNone(row, 'releaser') },
      ...{ waitFn: orNone(row, 'wait_fn'), releaseFn: orNone(row, 'release_fn') },
      ...{ waitName: text(row, 'wait_function'), releaseName: text(row, 'release_function') },
      ...{ count: num(row, 'count'), ns: num(row, 'wait_ns'), longestNs: num(row, 'longest_ns') },
      longestAt: num(row, 'longest_at_ns'),
    })),
    objects: objects(json, 'objects').map(row => ({
      ...{ id: num(row, 'object'), name: text(row, 'name'), kind: text(row, 'kind') },
      ...{ waiters: num(row, 'waiters'), waits: num(row, 'waits'), ns: num(row, 'wait_ns') },
      free: orNone(row, 'uncontended'),
    })),
    patterns: objects(json, 'patterns').map(row => ({
      ...{ kind: text(row, 'kind'), sentence: text(row, 'sentence'), at: orNone(row, 'at_ns') },
      threads: Array.isArray(row['threads']) ? row['threads'].map(Number) : [],
    })),
    ...{ waits: num(json, 'waits'), matched: num(json, 'matched') },
    knows: {
      ...{ waits: knows['waits'] === true, releases: knows['releases'] === true },
      ...{ objects: knows['objects'] === true, io: knows['io'] === true },
      calls: knows['calls'] === true,
    },
    unknown: objects(json, 'unknown').map(row => ({
      ...{ what: text(row, 'what'), how: text(row, 'how') },
    })),
  };
}
