// SPDX-License-Identifier: MIT
// Answers of `lod` (docs/http-api.md) as the rows of a first picture.
import type { Rows } from '../lib/model';
import { sketchRows } from '../lib/sketch';
import type { LodItems } from '../lib/sketch';
import { take } from './columns';
import type { Columns } from './columns';

function itemsOf(answer: Columns): LodItems {
  return {
    start: take<Float64Array>(answer, 'items', 'start_ns'),
    end: take<Float64Array>(answer, 'items', 'end_ns'),
    count: take<Uint32Array>(answer, 'items', 'count'),
    covered: take<Float64Array>(answer, 'items', 'covered_ns'),
    longest: take<Float64Array>(answer, 'items', 'longest_ns'),
    depth: take<Uint16Array>(answer, 'items', 'depth'),
    fn: take<Uint32Array>(answer, 'items', 'function'),
    longestFn: take<Uint32Array>(answer, 'items', 'longest_function'),
    isCluster: take<Uint8Array>(answer, 'items', 'is_cluster'),
  };
}

/** Rows by thread id. `nFunctions`: every function id is less. */
export function decodeSketch(answer: Columns, nFunctions: number): Map<number, Rows> {
  const items = itemsOf(answer);
  const id = take<Uint32Array>(answer, 'threads', 'id');
  const first = take<Uint32Array>(answer, 'threads', 'first_item');
  const n = take<Uint32Array>(answer, 'threads', 'n_items');
  const byThread = new Map<number, Rows>();
  id.forEach((thread, i) => {
    if (first[i]! + n[i]! > items.start.length) throw new Error('the server sent too few items');
    const rows = sketchRows(items, first[i]!, first[i]! + n[i]!);
    if (rows.fn.some(fn => fn >= nFunctions)) throw new Error('an item names an unknown function');
    byThread.set(thread, rows);
  });
  return byThread;
}
