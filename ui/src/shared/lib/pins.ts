// SPDX-License-Identifier: MIT
// A pinned card: what it is of, and where that was seen, short enough for an address.
import { readSpan, writeSpan } from './fragment';
import type { Span } from './model';

export interface Pin {
  /** Of the screen. */
  digit: number;
  window: Span;
  /** A behaviour by its id, and one occurrence of it; or a row of a thread (state/app.ts). */
  what:
    | { kind: 'behaviour'; id: number; at: { tid: number; span: Span } | null }
    | { kind: 'row'; row: string };
}

/** "3~0-12.5~c17", "3~0-12.5~c17~t7.1-2", "1~0-12.5~t7.0.3.1200-4500". */
export function writePin({ digit, window, what }: Pin): string {
  const head = `${digit}~${writeSpan(window)}~`;
  if (what.kind === 'row') return head + what.row;
  const at = what.at ? `~t${what.at.tid}.${writeSpan(what.at.span)}` : '';
  return `${head}c${what.id}${at}`;
}

export function readPin(text: string): Pin | null {
  const [digit, span, what, at, ...more] = text.split('~');
  const window = readSpan(span);
  if (!/^[1-9]$/.test(digit ?? '') || !window || what === undefined || more.length > 0) return null;
  const base = { digit: Number(digit), window };
  const id = /^c(\d{1,9})$/.exec(what)?.[1];
  if (id === undefined)
    return /^t\d/.test(what) && at === undefined
      ? { ...base, what: { kind: 'row', row: what } }
      : null;
  const match = /^t(\d+)\.(.*)$/.exec(at ?? '');
  const own = readSpan(match?.[2]);
  if (at !== undefined && !own) return null;
  const occurrence = match && own ? { tid: Number(match[1]), span: own } : null;
  return { ...base, what: { kind: 'behaviour', id: Number(id), at: occurrence } };
}

/** Whether two are cards of the same thing, wherever it was seen. */
export function isSamePin(a: Pin, b: Pin): boolean {
  const window = { t0: 0, t1: 1 };
  return writePin({ ...a, window }) === writePin({ ...b, window });
}
