// SPDX-License-Identifier: MIT
// The rows of the chart: which threads, in which order, packed or alone, and how high.
import { findPacks } from '../lib/alike';
import type { Pack } from '../lib/alike';
import { MARK } from '../lib/layout';
import { PAUSE } from '../lib/model';
import type { Thread } from '../lib/model';
import type { App, Model, SortKey, State } from './app';
import { findHits } from './hits';
import { plural } from '../lib/format';
import { bytes } from '../lib/format';
import { integer } from '../lib/format';
import { percent } from '../lib/format';

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

export function shownThreads(model: Model, state: State): Thread[] {
  const hits = state.isFiltered ? findHits(model, state.query) : null;
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
