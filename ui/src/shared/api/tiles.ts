// SPDX-License-Identifier: MIT

import type { Columns } from './columns';
import type { Tile } from '../lib/tiles';
import { take } from './columns';

/** The items of each thread of an answer, copied out of it. */
export function tilesFrom(answer: Columns, level: number, index: number): Tile[] {
  const ids = take<Uint32Array>(answer, 'threads', 'id');
  const first = take<Uint32Array>(answer, 'threads', 'first_item');
  const many = take<Uint32Array>(answer, 'threads', 'n_items');
  const start = take<Float64Array>(answer, 'items', 'start_ns');
  const end = take<Float64Array>(answer, 'items', 'end_ns');
  const covered = take<Float64Array>(answer, 'items', 'covered_ns');
  const longest = take<Float64Array>(answer, 'items', 'longest_ns');
  const count = take<Uint32Array>(answer, 'items', 'count');
  const depth = take<Uint16Array>(answer, 'items', 'depth');
  const fn = take<Uint32Array>(answer, 'items', 'function');
  const longestFn = take<Uint32Array>(answer, 'items', 'longest_function');
  const isCluster = take<Uint8Array>(answer, 'items', 'is_cluster');
  return Array.from(ids, (thread, i) => {
    const [a, b] = [first[i]!, first[i]! + many[i]!];
    return {
      ...{ thread, level, index, n: b - a, start: start.slice(a, b), end: end.slice(a, b) },
      ...{ covered: covered.slice(a, b), longest: longest.slice(a, b), count: count.slice(a, b) },
      ...{ fn: fn.slice(a, b), longestFn: longestFn.slice(a, b) },
      isCluster: isCluster.slice(a, b),
      depthFrom: depthStarts(depth, a, b),
      bytes: 300 + (b - a) * 45,
      usedAt: 0,
    };
  });
}

export function depthStarts(depth: Uint16Array, a: number, b: number): Uint32Array {
  const levels = b > a ? depth[b - 1]! + 1 : 0;
  const from = new Uint32Array(levels + 1);
  for (let i = a; i < b; i++) from[depth[i]! + 1] = i - a + 1;
  for (let d = 1; d <= levels; d++) from[d] = Math.max(from[d]!, from[d - 1]!);
  return from;
}
