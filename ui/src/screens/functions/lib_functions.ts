// SPDX-License-Identifier: MIT
// The table of functions: rows as the server tells them, in order, filtered, and as text.
import { matchesName } from '../../shared/lib/search';
import type { Query } from '../../shared/lib/search';

/** Times in ns; NaN where no call both began and ended, and where it is not known yet. */
export interface FunctionRow {
  id: number;
  name: string;
  module: string;
  count: number;
  inclusive: number;
  self: number;
  min: number;
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
  threads: number;
  /** Calls without an end, and calls that began before the trace: counted, not timed; neither. */
  openCount: number;
  openNs: number;
  cutCount: number;
}

export type FunctionKey =
  | 'name'
  | 'count'
  | 'self'
  | 'inclusive'
  | 'min'
  | 'mean'
  | 'p50'
  | 'p99'
  | 'p999'
  | 'max'
  | 'threads';

export const FUNCTION_KEYS: readonly FunctionKey[] = [
  ...(['name', 'count', 'self', 'inclusive', 'min', 'mean'] as const),
  ...(['p50', 'p99', 'p999', 'max', 'threads'] as const),
];

/** What sorts by a column, in words. */
export const SORT_WORDS: Record<FunctionKey, [down: string, up: string]> = {
  name: ['names from Z', 'names from A'],
  count: ['most calls first', 'fewest calls first'],
  self: ['most self time first', 'least self time first'],
  inclusive: ['most inclusive time first', 'least inclusive time first'],
  min: ['longest minimum first', 'shortest minimum first'],
  mean: ['longest mean first', 'shortest mean first'],
  p50: ['longest median first', 'shortest median first'],
  p99: ['longest p99 first', 'shortest p99 first'],
  p999: ['longest p99.9 first', 'shortest p99.9 first'],
  max: ['longest call first', 'shortest longest call first'],
  threads: ['most threads first', 'fewest threads first'],
};

function compareNumbers(a: number, b: number): number {
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : -1;
  return Number.isNaN(b) ? 1 : a - b;
}

/** A new list, in order; equal rows by name and id, whatever the direction. Unknown values last. */
export function sortFunctions(
  rows: readonly FunctionRow[],
  key: FunctionKey,
  isUp: boolean,
): FunctionRow[] {
  const byName = (a: FunctionRow, b: FunctionRow): number =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : a.id - b.id;
  if (key === 'name') return [...rows].sort((a, b) => (isUp ? byName(a, b) : byName(b, a)));
  return [...rows].sort((a, b) => {
    const [x, y] = [a[key], b[key]];
    if (Number.isNaN(x) || Number.isNaN(y)) return compareNumbers(y, x) || byName(a, b);
    return (isUp ? x - y : y - x) || byName(a, b);
  });
}

/** Rows whose name matches, and which have a call as long as asked for. */
export function filterFunctions(rows: readonly FunctionRow[], query: Query): FunctionRow[] {
  const asksTime = query.min > 0 || query.max < Infinity;
  return rows.filter(
    row =>
      matchesName(query, row.name) && (!asksTime || (row.max >= query.min && row.min <= query.max)),
  );
}

/** Tab-separated, times in whole ns: what "copy" puts on the clipboard. */
export function functionsText(rows: readonly FunctionRow[]): string {
  const heads = [
    ...['function', 'calls', 'self_ns', 'inclusive_ns', 'min_ns', 'mean_ns', 'p50_ns', 'p99_ns'],
    ...['p999_ns', 'max_ns', 'threads'],
  ];
  const number = (value: number): string => (Number.isNaN(value) ? '' : String(Math.round(value)));
  const lines = rows.map(row =>
    [
      row.name,
      ...[row.count, row.self, row.inclusive, row.min, row.mean, row.p50, row.p99].map(number),
      ...[row.p999, row.max, row.threads].map(number),
    ].join('\t'),
  );
  return [heads.join('\t'), ...lines].join('\n') + '\n';
}
