// SPDX-License-Identifier: MIT
// What a search finds: functions, threads, and the rows that match.
import { KIND } from '../lib/model';
import type { Rows, Thread } from '../lib/model';
import { matchesName, matchesThread, parseQuery } from '../lib/search';
import type { Query } from '../lib/search';
import type { Item, Model } from './app';

export interface Hits {
  query: Query;
  /** By function: does its name match; null if the query does not ask for names. */
  functions: Uint8Array | null;
  threads: ReadonlySet<number>;
  /** Matching rows, thread by thread in time order. */
  items: Item[];
  /** The same, for drawing: by thread, 1 for each matching row. */
  marks: Map<number, Uint8Array>;
}

function rowMatches(query: Query, names: Uint8Array | null, rows: Rows, i: number): boolean {
  const kind = rows.kind[i]!;
  if (kind === KIND.SLIVER || kind === KIND.OTHER) return false;
  const isGap = kind === KIND.GAP;
  if (query.kind === null && isGap) return false;
  if (query.kind === 'gap' && !isGap) return false;
  if (query.kind === 'call' && kind !== KIND.CALL) return false;
  if (query.kind === 'expression' && kind !== KIND.EXPRESSION) return false;
  if (query.kind === null && kind === KIND.EXPRESSION) return false;
  if (names && (rows.fn[i]! < 0 || names[rows.fn[i]!] !== 1)) return false;
  const isNode = kind === KIND.NODE;
  const longest = isNode ? rows.max[i]! : rows.end[i]! - rows.start[i]!;
  const shortest = isNode ? rows.min[i]! : longest;
  return longest >= query.min && shortest <= query.max;
}

function search(model: Model, text: string): Hits {
  const query = parseQuery(text);
  const { functions, threads } = model.trace;
  const names = query.asksFunction
    ? Uint8Array.from(functions.name, name => (matchesName(query, name) ? 1 : 0))
    : null;
  const asksRows = names !== null || query.min > 0 || query.max < Infinity || query.kind !== null;
  const hits: Hits = { query, functions: names, threads: new Set(), items: [], marks: new Map() };
  const found = new Set<number>();
  for (const thread of threads) {
    if (!matchesThread(query, thread.tid, thread.name)) continue;
    const n = asksRows ? markRows(hits, query, names, thread) : 1;
    if (!asksRows) hits.marks.set(thread.index, new Uint8Array(thread.rows.n).fill(1));
    if (n > 0) found.add(thread.index);
  }
  return { ...hits, threads: found };
}

function markRows(hits: Hits, query: Query, names: Uint8Array | null, thread: Thread): number {
  const { rows } = thread;
  const marks = new Uint8Array(rows.n);
  let n = 0;
  for (let i = 0; i < rows.n; i++) {
    if (!rowMatches(query, names, rows, i)) continue;
    marks[i] = 1;
    n++;
    hits.items.push({ thread: thread.index, row: i });
  }
  if (n > 0) hits.marks.set(thread.index, marks);
  return n;
}

let last: { model: Model; text: string; hits: Hits } | null = null;

/** The hits of a search text; null if it is empty. The last answer is kept. */
export function findHits(model: Model, text: string): Hits | null {
  if (text.trim() === '') return null;
  if (last?.model !== model || last.text !== text)
    last = { model, text, hits: search(model, text) };
  return last.hits;
}
