// SPDX-License-Identifier: MIT
// Cells of plain lists (docs/http-api.md): as their units have them printed, and in order.
import { bytes, count, nanoseconds, ratio, seconds, share } from './numbers';

export type Cell = string | number | boolean | null;

export interface ListColumn {
  key: string;
  head: string;
  unit: string;
  text: string;
}

export interface PlainList {
  found: number;
  /** Why there is no row. */
  none: string;
  columns: ListColumn[];
  rows: Record<string, Cell>[];
}

const WORDS: Record<string, (value: number) => string> = {
  count,
  bytes,
  share,
  ratio,
  ns: nanoseconds,
  at: seconds,
  id: String,
};

/** "-": unknown. */
export function cellText(cell: Cell, unit: string): string {
  if (cell === null) return '-';
  if (typeof cell === 'number') return (WORDS[unit] ?? String)(cell);
  return typeof cell === 'string' ? cell : cell ? 'y' : '-';
}

/** Numbers the largest first, texts in the order of the alphabet, the unknown last. */
export function byColumn(
  rows: readonly Record<string, Cell>[],
  key: string,
): Record<string, Cell>[] {
  return [...rows].sort(({ [key]: a = null }, { [key]: b = null }) => {
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return typeof a === 'string' ? a.localeCompare(String(b)) : Number(b) - Number(a);
  });
}
