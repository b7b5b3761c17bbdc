// SPDX-License-Identifier: MIT
// The calls of one occurrence, as a server has them: all, or the longest that can be drawn.
import type { Calls } from '../../shared/lib/shapes';

/** Calls in pre-order by start: of one thread, with what lies around them. */
export interface CallRows {
  start: Float64Array;
  end: Float64Array;
  depth: Uint16Array;
  /** Function by index of the page's table, -1: not in it. */
  fn: Int32Array;
}

/** The call from `start` to `end` of function `fn`, and its first row behind; null: it is not there. */
function rangeOf(rows: CallRows, start: number, end: number, fn: number): [number, number] | null {
  const n = rows.start.length;
  for (let i = 0; i < n; i++) {
    if (rows.start[i] !== start || rows.end[i] !== end || rows.fn[i] !== fn) continue;
    let to = i + 1;
    while (to < n && rows.depth[to]! > rows.depth[i]!) to++;
    return [i, to];
  }
  return null;
}

/** Of more than `most` calls the longest: a caller is never shorter than its callees, and stands
 * before them, so that none is left without its caller. O(n log n). */
function longest(rows: CallRows, from: number, to: number, most: number): number[] {
  const all = Array.from({ length: to - from }, (_, i) => from + i);
  if (all.length <= most) return all;
  const length = (i: number): number => rows.end[i]! - rows.start[i]!;
  all.sort((a, b) => length(b) - length(a) || rows.depth[a]! - rows.depth[b]! || a - b);
  return all.slice(0, most).sort((a, b) => a - b);
}

/** `all`: how many calls the occurrence has, if the rows are not all of them. */
export function callTree(
  rows: CallRows,
  start: number,
  end: number,
  fn: number,
  most: number,
): Calls | null {
  const range = rangeOf(rows, start, end, fn);
  if (!range) return null;
  const list = longest(rows, range[0], range[1], most);
  const root = rows.depth[range[0]]!;
  return {
    ...{ all: range[1] - range[0], n: list.length },
    level: Uint16Array.from(list, i => rows.depth[i]! - root),
    fn: Int32Array.from(list, i => rows.fn[i]!),
    start: Float64Array.from(list, i => rows.start[i]!),
    end: Float64Array.from(list, i => rows.end[i]!),
  };
}
