// SPDX-License-Identifier: MIT
// What to draw when items are narrower than a person can see. Neighbours that fall into the same
// two pixels become one glyph of at least that width, in the colour of the longest, with a count.
import { KIND } from './model';
import type { Rows } from './model';

export const MIN_WIDTH = 2;

export interface Glyph {
  x0: number;
  x1: number;
  /** The longest item: it gives colour, hover and click. */
  item: number;
  /** The last of its items, by place in the list; the first is `at - n + 1`. */
  at: number;
  /** Items in it; 1 if it stands for itself. */
  n: number;
}

/**
 * `items` in order of x, not overlapping. Every item is in exactly one glyph, and no two glyphs
 * overlap: a wide item begins behind the two pixels of a narrow one before it. `weight` says what
 * "longest" is, if not the width.
 */
export function glyphs(
  items: ArrayLike<number>,
  x0: (item: number) => number,
  x1: (item: number) => number,
  weight?: (item: number) => number,
): Glyph[] {
  const out: Glyph[] = [];
  let last: Glyph | null = null;
  let longest = 0;
  let heaviest = 0;
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!;
    const end = x1(item);
    const width = end - x0(item);
    const own = weight ? weight(item) : width;
    const from = Math.max(x0(item), last?.x1 ?? -Infinity);
    if (last && longest < MIN_WIDTH && width < MIN_WIDTH && x0(item) < last.x1) {
      last.n++;
      last.x1 = Math.max(last.x1, end);
      last.at = i;
      longest = Math.max(longest, width);
      if (own > heaviest) [heaviest, last.item] = [own, item];
      continue;
    }
    last = { x0: from, x1: Math.max(end, from + MIN_WIDTH), item, at: i, n: 1 };
    longest = width;
    heaviest = own;
    out.push(last);
  }
  return out;
}

/* ---- Which of several behaviours a pixel shows, if rare ones are to be seen, too: each with a chance in
 * proportion to the fourth root of its time. What decides is a hash of where it is, so the same
 * place always shows the same. ---- */

/** 0 <= value < 1, settled by `seed`. */
export function hashed(seed: number): number {
  let h = Math.imul(seed | 0, 0x9e3779b1) ^ 0x811c9dc5;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}

/** One of `items`: of the group that is drawn, the heaviest (of equals the first). */
export function sampleRare(
  items: readonly number[],
  group: (item: number) => number,
  weight: (item: number) => number,
  seed: number,
): number {
  const sums = new Map<number, number>();
  for (const item of items) sums.set(group(item), (sums.get(group(item)) ?? 0) + weight(item));
  const order = [...sums].sort((a, b) => a[0] - b[0]);
  const chances = order.map(([, sum]) => Math.max(sum, 1e-9) ** 0.25);
  let left = hashed(seed) * chances.reduce((a, b) => a + b, 0);
  let at = 0;
  while (at + 1 < order.length && left >= chances[at]!) left -= chances[at++]!;
  const own = items.filter(item => group(item) === order[at]![0]);
  return own.reduce((best, item) => (weight(item) > weight(best) ? item : best));
}

/* ---- A first picture of a thread, before its regimes are known: the longest calls a few pixels can
 * show, and clusters of those that are shorter. ---- */

/** Items of all threads (docs/http-api.md, lod): of each thread those of depth 0 in time order, then
 * those of depth 1, and so on. */
export interface LodItems {
  start: Float64Array;
  end: Float64Array;
  count: Uint32Array;
  covered: Float64Array;
  longest: Float64Array;
  depth: Uint16Array;
  fn: Uint32Array;
  longestFn: Uint32Array;
  isCluster: Uint8Array;
}

export const SKETCH_LEVELS = 5;

/** Indices of the items `from` .. `to` in pre-order: by start, outer before inner. */
function preOrder(items: LodItems, from: number, to: number): number[] {
  const list: number[] = [];
  for (let i = from; i < to; i++) if (items.depth[i]! < SKETCH_LEVELS) list.push(i);
  return list.sort(
    (a, b) => items.start[a]! - items.start[b]! || items.depth[a]! - items.depth[b]! || a - b,
  );
}

function emptyRows(n: number): Rows {
  return {
    n,
    kind: new Uint8Array(n),
    level: new Uint16Array(n),
    parent: new Int32Array(n),
    next: new Int32Array(n),
    fn: new Int32Array(n),
    flags: new Uint8Array(n),
    start: new Float64Array(n),
    end: new Float64Array(n),
    count: new Float64Array(n),
    sum: new Float64Array(n),
    self: new Float64Array(n),
    min: new Float64Array(n),
    max: new Float64Array(n),
    folded: new Uint32Array(n),
  };
}

/** Rows of one thread. A row of more than one call is a cluster: its function is that of the longest
 * call in it, its sum what the calls cover. Linear but for the sort. */
export function sketchRows(items: LodItems, from: number, to: number): Rows {
  const order = preOrder(items, from, to);
  const rows = emptyRows(order.length);
  const open: number[] = []; // rows around the one at hand, outermost first
  order.forEach((at, row) => {
    const depth = items.depth[at]!;
    while (open.length > 0) {
      const above = open[open.length - 1]!;
      if (rows.level[above]! < depth && rows.end[above]! > items.start[at]!) break;
      rows.next[open.pop()!] = row;
    }
    rows.kind[row] = KIND.CALL;
    rows.level[row] = depth;
    rows.parent[row] = open.length > 0 ? open[open.length - 1]! : -1;
    rows.fn[row] = items.isCluster[at] ? items.longestFn[at]! : items.fn[at]!;
    rows.start[row] = items.start[at]!;
    rows.end[row] = items.end[at]!;
    rows.count[row] = Math.max(1, items.count[at]!);
    rows.sum[row] = items.isCluster[at] ? items.covered[at]! : rows.end[row] - rows.start[row];
    rows.min[row] = 0;
    rows.max[row] = items.longest[at]!;
    open.push(row);
  });
  for (const row of open) rows.next[row] = order.length;
  return rows;
}
