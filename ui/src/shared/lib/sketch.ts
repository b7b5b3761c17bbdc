// SPDX-License-Identifier: MIT
// A first picture of a thread, before its regimes are known: the longest calls a few pixels can
// show, and clusters of those that are shorter.
import { KIND } from './model';
import type { Rows } from './model';

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
    ...{ n, kind: new Uint8Array(n), level: new Uint16Array(n), parent: new Int32Array(n) },
    ...{ next: new Int32Array(n), fn: new Int32Array(n), flags: new Uint8Array(n) },
    ...{ start: new Float64Array(n), end: new Float64Array(n), count: new Float64Array(n) },
    ...{ sum: new Float64Array(n), self: new Float64Array(n), min: new Float64Array(n) },
    ...{ max: new Float64Array(n), folded: new Uint32Array(n) },
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
