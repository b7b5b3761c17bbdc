// SPDX-License-Identifier: MIT
// Answers of `lod` (docs/http-api.md) as the rows of a first picture.
import type { Rows } from '../lib/model';
import { sketchRows } from '../lib/sketch';
import type { LodItems } from '../lib/sketch';
import type { LodItemsColumns, LodThreadsColumns } from '../gen/tables';
import { tableOf } from './columns';
import type { Columns } from './columns';

function itemsOf(answer: Columns): LodItems {
  const item = tableOf<LodItemsColumns>(answer, 'items');
  return {
    start: item('start_ns'),
    end: item('end_ns'),
    count: item('count'),
    covered: item('covered_ns'),
    longest: item('longest_ns'),
    depth: item('depth'),
    fn: item('function'),
    longestFn: item('longest_function'),
    isCluster: item('is_cluster'),
  };
}

/** Rows by thread id. `nFunctions`: every function id is less. */
export function decodeSketch(answer: Columns, nFunctions: number): Map<number, Rows> {
  const items = itemsOf(answer);
  const thread = tableOf<LodThreadsColumns>(answer, 'threads');
  const id = thread('id');
  const first = thread('first_item');
  const n = thread('n_items');
  const byThread = new Map<number, Rows>();
  id.forEach((one, i) => {
    if (first[i]! + n[i]! > items.start.length) throw new Error('the server sent too few items');
    const rows = sketchRows(items, first[i]!, first[i]! + n[i]!);
    if (rows.fn.some(fn => fn >= nFunctions)) throw new Error('an item names an unknown function');
    byThread.set(one, rows);
  });
  return byThread;
}
