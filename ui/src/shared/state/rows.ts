// SPDX-License-Identifier: MIT
// The rows of the chart: which threads, in which order, packed or alone, and how high.
import { plural, bytes, integer, percent } from '../lib/format';
import { findPacks, MARK } from '../lib/layout';
import type { Pack } from '../lib/layout';
import { PAUSE, KIND } from '../lib/model';
import type { Thread, Rows } from '../lib/model';
import { matchesName, matchesThread, parseQuery } from '../lib/search';
import type { Query } from '../lib/search';
import type { App, Model, SortKey, State, Item } from './app';

export interface ChartRow {
  key: string;
  thread: Thread | null; // null: a pack
  pack: Pack | null;
  isTall: boolean;
  y: number;
  height: number;
}

export const ROW = 33;
const ABOVE = 2;
export const MARK_TOP = ABOVE;

/** When a thread first does something else than wait. */
function firstTurn({ pauses, first }: Thread): number {
  const isWaiting = pauses.n > 0 && pauses.kind[0] !== PAUSE.STILL;
  return isWaiting && pauses.start[0]! - first < 2e5 ? pauses.end[0]! : first;
}

const ORDER: Record<SortKey, (a: Thread, b: Thread) => number> = {
  turn: (a, b) => firstTurn(a) - firstTurn(b),
  tid: (a, b) => a.tid - b.tid,
  calls: (a, b) => b.calls - a.calls,
  first: (a, b) => a.first - b.first,
  wait: (a, b) => b.waitNs - a.waitNs,
  still: (a, b) => b.stillNs - a.stillNs,
  ran: (a, b) => b.runningNs - a.runningNs,
};

/** In a part of the trace the order is that of the whole: rows stay where they were. */
export function sortThreads(threads: readonly Thread[], sort: SortKey): Thread[] {
  const order = ORDER[sort];
  return [...threads].sort(
    (a, b) => order(a.whole ?? a, b.whole ?? b) || a.tid - b.tid || a.index - b.index,
  );
}

export function shownThreads(
  model: Model,
  state: State,
  find: (model: Model, text: string) => { threads: ReadonlySet<number> } | null = findHits,
): Thread[] {
  const hits = state.isFiltered ? find(model, state.query) : null;
  const keeps = (t: Thread): boolean =>
    !state.hidden.has(t.index) &&
    (!hits || hits.threads.has(t.index)) &&
    (!state.only || state.only.has(t.index));
  return sortThreads(model.trace.threads.filter(keeps), state.sort);
}

export function stripHeight(n: number): number {
  return n <= 16 ? 5 : n <= 60 ? 1 : 60 / n;
}

/** Packs stand last, the one with most calls first; "other threads" at the very end. */
function sortPacks(packs: Pack[]): Pack[] {
  const calls = (pack: Pack): number => pack.threads.reduce((sum, t) => sum + t.calls, 0);
  const rank = (pack: Pack): number => (pack.key === 'brief' || pack.key === 'none' ? 1 : 0);
  return [...packs].sort((a, b) => rank(a) - rank(b) || calls(b) - calls(a));
}

interface Built {
  rows: ChartRow[];
  height: number;
  shown: Thread[];
}

export function buildRows(model: Model, state: State): Built {
  const shown = shownThreads(model, state);
  const { packs } = findPacks(model.trace, shown, model.families.short);
  const packed = new Map<number, Pack>();
  for (const pack of packs)
    if (!state.unpacked.has(pack.key)) for (const t of pack.threads) packed.set(t.index, pack);
  const rows: ChartRow[] = [];
  let y = 0;
  const put = (row: Omit<ChartRow, 'y'>): void => {
    rows.push({ ...row, y });
    y += row.height;
  };
  const putThread = (thread: Thread): void => {
    const isTall = state.open.has(thread.index);
    const mark = isTall ? model.layout(thread, true).height : MARK;
    put({
      key: `t${thread.tid}.${thread.index}`,
      thread,
      pack: null,
      isTall,
      height: mark + ROW - MARK,
    });
  };
  for (const thread of shown) if (!packed.has(thread.index)) putThread(thread);
  for (const pack of sortPacks(packs)) {
    if (state.unpacked.has(pack.key)) continue;
    const n = pack.threads.length;
    const strips = Math.max(Math.ceil(n * stripHeight(n)) + 8, n <= 16 && n > 5 ? 54 : ROW);
    const height = pack.key === 'none' ? ROW : Math.max(ROW, strips);
    put({ key: `p${pack.key}`, thread: null, pack, isTall: false, height });
  }
  return { rows, height: y, shown };
}

/** The same rows as long as nothing that decides them has changed. */
export function memoRows(app: App): () => Built {
  let last: { state: State; model: Model; built: Built } | null = null;
  return () => {
    const state = app.state.get();
    const isSame =
      last !== null &&
      last.model === app.model &&
      last.state.sort === state.sort &&
      last.state.hidden === state.hidden &&
      last.state.only === state.only &&
      last.state.open === state.open &&
      last.state.unpacked === state.unpacked &&
      last.state.isFiltered === state.isFiltered &&
      (!state.isFiltered || last.state.query === state.query);
    if (!isSame) last = { state, model: app.model, built: buildRows(app.model, state) };
    return last!.built;
  };
}

export function regimeWords({ model: { trace } }: App): string {
  if (trace.part?.kind === 'sketch') return plural(trace.calls, 'call');
  const left = trace.totals.foldedNs / Math.max(1, trace.totals.expressionNs);
  return `${bytes(trace.bytesIn)} \u2192 ${integer(trace.totals.rowsAfter)} rows; ${percent(left)} of the short calls\u2019 time stands in \u201cother\u201d`;
}

/* ---- What a search finds: functions, threads, and the rows that match. ---- */

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
