// SPDX-License-Identifier: MIT
// Where the rows of a thread stand, before any time scale: heights in CSS px, and for what is
// folded inside an expression its share of the expression's width.
import { KIND, PAUSE } from './model';
import type { Rows, Thread, Trace } from './model';

export const MARK = 27; // height of a compact thread's mark
const STRIPE = 3; // 2 and a gap of 1
const MAX_STRIPES = 4;
const LEVEL = 13; // 12 and a gap of 1, in a tall thread
const MAX_LEVELS = 32;

export interface Layout {
  height: number;
  y0: Float32Array;
  y1: Float32Array;
  /** NODE, OTHER: begin and end as shares of the expression's width. */
  v0: Float64Array;
  v1: Float64Array;
  /** NODE, OTHER: the expression; else -1. */
  box: Int32Array;
  /** CALL: holds calls or expressions, so only its stripe is its own. */
  hasKids: Uint8Array;
  /** CALL: the only child that carries >= 90 % of it, or -1. */
  chain: Int32Array;
  /** Rows from the first chain ancestor's, for labels: number of chain ancestors. */
  chainDepth: Uint8Array;
  deepest: number;
}

function empty(n: number, height: number): Layout {
  return {
    height,
    y0: new Float32Array(n),
    y1: new Float32Array(n),
    v0: new Float64Array(n),
    v1: new Float64Array(n),
    box: new Int32Array(n).fill(-1),
    hasKids: new Uint8Array(n),
    chain: new Int32Array(n).fill(-1),
    chainDepth: new Uint8Array(n),
    deepest: 0,
  };
}

function findChains(rows: Rows, layout: Layout): void {
  for (let i = 0; i < rows.n; i++) {
    const parent = rows.parent[i]!;
    if (parent < 0 || rows.kind[parent] !== KIND.CALL) continue;
    if (rows.kind[i] === KIND.CALL || rows.kind[i] === KIND.EXPRESSION) layout.hasKids[parent] = 1;
    if (rows.kind[i] !== KIND.CALL) continue;
    const share = (rows.end[i]! - rows.start[i]!) / (rows.end[parent]! - rows.start[parent]!);
    if (share >= 0.9) {
      layout.chain[parent] = i;
      layout.chainDepth[i] = layout.chainDepth[parent]! + 1;
    }
  }
}

/** Shares of an expression's width, in order of first occurrence. */
function placeNodes(rows: Rows, layout: Layout): void {
  const used = new Float64Array(rows.n); // of each row, by its children so far
  for (let i = 0; i < rows.n; i++) {
    if (rows.kind[i] !== KIND.NODE && rows.kind[i] !== KIND.OTHER) continue;
    const parent = rows.parent[i]!;
    if (parent < 0) continue;
    const box = rows.kind[parent] === KIND.EXPRESSION ? parent : layout.box[parent]!;
    if (box < 0) continue;
    layout.box[i] = box;
    const span = Math.max(1, rows.end[box]! - rows.start[box]!);
    const from = (parent === box ? 0 : layout.v0[parent]!) + used[parent]!;
    const limit = parent === box ? 1 : layout.v1[parent]!;
    layout.v0[i] = Math.min(limit, from);
    layout.v1[i] = Math.min(limit, from + rows.sum[i]! / span);
    used[parent]! += rows.sum[i]! / span;
  }
}

function depthInBox(rows: Rows, i: number, box: number): number {
  let depth = 0;
  for (let p = rows.parent[i]!; p !== box && p >= 0; p = rows.parent[p]!) depth++;
  return depth;
}

export function compactLayout(thread: Thread): Layout {
  const { rows } = thread;
  const layout = empty(rows.n, MARK);
  findChains(rows, layout);
  placeNodes(rows, layout);
  const top = new Float32Array(rows.n); // where the children of a call begin
  for (let i = 0; i < rows.n; i++) {
    const parent = rows.parent[i]!;
    const y = parent < 0 ? 0 : top[parent]!;
    if (layout.box[i]! >= 0) {
      const box = layout.box[i]!;
      const inner = MARK - layout.y0[box]! - 2;
      const level = Math.min(5, Math.max(3, inner / 5));
      const depth = depthInBox(rows, i, box);
      layout.y0[i] = layout.y0[box]! + 1 + depth * level;
      layout.y1[i] = Math.min(layout.y0[i]! + level, MARK - 1);
      layout.deepest = Math.max(layout.deepest, depth);
      continue;
    }
    layout.y0[i] = y;
    layout.y1[i] = MARK;
    const isStripe = layout.hasKids[i] === 1 && y < STRIPE * MAX_STRIPES;
    top[i] = y + (isStripe ? STRIPE : 0);
  }
  return layout;
}

/** Every call and node on its own depth. */
export function tallLayout(thread: Thread): Layout {
  const { rows } = thread;
  const layout = empty(rows.n, 0);
  findChains(rows, layout);
  placeNodes(rows, layout);
  let deepest = 0;
  for (let i = 0; i < rows.n; i++) {
    const box = layout.box[i]!;
    const at = box >= 0 ? rows.level[box]! + depthInBox(rows, i, box) : rows.level[i]!;
    const level = Math.min(MAX_LEVELS, at);
    deepest = Math.max(deepest, level);
    layout.y0[i] = level * LEVEL;
    layout.y1[i] = level * LEVEL + LEVEL - 1;
    for (let p = i; box >= 0 && p >= box; p = rows.parent[p]!) {
      if (layout.y1[p]! < layout.y1[i]! && p === box) layout.y1[p] = layout.y1[i]!;
      if (p === box) break;
    }
  }
  layout.deepest = deepest;
  layout.height = Math.max(MARK, (deepest + 1) * LEVEL + 2);
  return layout;
}

/** A silence drawn on the call it lies in. */
export interface Still {
  row: number;
  kind: number;
  start: number;
  end: number;
}

/** The innermost notable call open at `t`, or -1. */
export function callAt(rows: Rows, t: number): number {
  let found = -1;
  let i = 0;
  while (i < rows.n) {
    const isInside = rows.kind[i] === KIND.CALL && rows.start[i]! <= t && t < rows.end[i]!;
    if (isInside) found = i;
    i = rows.kind[i] === KIND.CALL && isInside ? i + 1 : rows.next[i]!;
  }
  return found;
}

/** Pauses by the notable call that holds them; those inside expressions have no place in time. */
export function placePauses(thread: Thread): Still[] {
  const { rows, pauses } = thread;
  const placed: Still[] = [];
  for (let p = 0; p < pauses.n; p++) {
    if (pauses.kind[p] === PAUSE.IDLE) continue;
    const start = pauses.start[p]!;
    const row = callAt(rows, start);
    if (row < 0 || rows.fn[row] !== pauses.fn[p]) continue;
    placed.push({ row, kind: pauses.kind[p]!, start, end: pauses.end[p]! });
  }
  return placed;
}

/** A thread as one flat line: what is innermost at each time. `row` -1: no call. */
export interface Flat {
  row: number;
  fn: number;
  start: number;
  end: number;
}

function dominantFunction(rows: Rows, box: number): number {
  let best = -1;
  let most = -1;
  for (let i = box + 1; i < rows.next[box]!; i++)
    if (rows.kind[i] === KIND.NODE && rows.self[i]! > most) {
      most = rows.self[i]!;
      best = rows.fn[i]!;
    }
  return best;
}

export function flatten(thread: Thread): Flat[] {
  const { rows } = thread;
  const flat: Flat[] = [];
  const put = (row: number, fn: number, start: number, end: number): void => {
    if (end > start) flat.push({ row, fn, start, end });
  };
  const visit = (i: number): void => {
    if (rows.kind[i] === KIND.EXPRESSION)
      return put(i, dominantFunction(rows, i), rows.start[i]!, rows.end[i]!);
    if (rows.kind[i] !== KIND.CALL) return;
    let at = rows.start[i]!;
    for (let c = i + 1; c < rows.next[i]!; c = rows.next[c]!) {
      if (rows.kind[c] !== KIND.CALL && rows.kind[c] !== KIND.EXPRESSION) continue;
      put(i, rows.fn[i]!, at, rows.start[c]!);
      visit(c);
      at = rows.end[c]!;
    }
    put(i, rows.fn[i]!, at, rows.end[i]!);
  };
  for (let i = 0; i < rows.n; i = rows.next[i]!) visit(i);
  return flat;
}

/* ---- Threads that behave alike, packed into one row. Two threads are alike when the same function lies
 * at the bottom of their stacks and they wait, stand still and run in the same order in the same
 * functions. ---- */

const LONG_PAUSE = 0.05; // of the thread's life
const BRIEF = 0.04; // a life shorter than this share of the trace
export const LEAST_ALIKE = 4;
export const ALWAYS_APART = 16; // with this many threads or fewer nothing is packed

export interface Pack {
  key: string;
  threads: Thread[];
  title: string;
  remark: string;
}

interface Phase {
  kind: 'wait' | 'still' | 'idle' | 'run';
  fn: number;
}

/** From the first call to the end of the last, those cut at the trace's edges included. */
function lifeOf({ first, last, start, end }: Thread): { from: number; to: number } {
  return { from: Math.min(first, start), to: Math.max(last, end) };
}

function phases(thread: Thread): Phase[] {
  const { pauses } = thread;
  const { from, to } = lifeOf(thread);
  const life = Math.max(1, to - from);
  const out: Phase[] = [];
  let at = thread.first; // what lies before is cut: nothing is known of it
  const run = (until: number): void => {
    if (until - at > 0.01 * life) out.push({ kind: 'run', fn: -1 });
  };
  for (let p = 0; p < pauses.n; p++) {
    if (pauses.end[p]! - pauses.start[p]! < LONG_PAUSE * life) continue;
    run(pauses.start[p]!);
    const kind = (['wait', 'still', 'idle'] as const)[pauses.kind[p]!]!;
    const last = out[out.length - 1];
    if (last?.kind !== kind || last.fn !== pauses.fn[p])
      out.push({ kind, fn: kind === 'idle' ? -1 : pauses.fn[p]! });
    at = pauses.end[p]!;
  }
  run(to);
  return out;
}

/** The function at the bottom of the stack that covers most of the thread. */
function role(thread: Thread): number {
  const { rows } = thread;
  const sums = new Map<number, number>();
  for (let i = 0; i < rows.n; i = rows.next[i]!) {
    const isBox = rows.kind[i] === KIND.EXPRESSION;
    for (let c = isBox ? i + 1 : i; c < rows.next[i]!; c = isBox ? rows.next[c]! : rows.n)
      if (rows.fn[c]! >= 0) sums.set(rows.fn[c]!, (sums.get(rows.fn[c]!) ?? 0) + rows.sum[c]!);
  }
  let best = -1;
  for (const [fn, sum] of sums) if (best < 0 || sum > sums.get(best)!) best = fn;
  return best;
}

function describe(list: Phase[], short: string[]): string {
  const words = list.slice(0, 3).map(phase => {
    const name = phase.fn >= 0 ? short[phase.fn]! : '';
    if (phase.kind === 'wait') return list.length === 1 ? `one wait, ${name}` : 'wait';
    if (phase.kind === 'still') return 'stall';
    return phase.kind === 'idle' ? 'no call' : 'run';
  });
  return words.join(', then ') + (list.length > 3 ? ', \u2026' : '');
}

function isBrief(thread: Thread, trace: Trace): boolean {
  const { from, to } = lifeOf(thread);
  return to - from < BRIEF * trace.duration;
}

/** Threads that show next to nothing: without a call, or of a brief life. */
function emptyKey(thread: Thread, trace: Trace): string {
  if (thread.rows.n === 0 && (trace.part || thread.calls === 0)) return 'none';
  return !trace.part && isBrief(thread, trace) ? 'brief' : '';
}

/** Packs of the given threads, and those that stand alone. */
export function findPacks(
  trace: Trace,
  threads: readonly Thread[],
  short: string[],
): { packs: Pack[]; single: Thread[] } {
  if (threads.length <= ALWAYS_APART) return { packs: [], single: [...threads] };
  const groups = new Map<string, { list: Phase[]; threads: Thread[] }>();
  for (const thread of threads) {
    const list = phases(thread);
    const running = list.length > 6 || list.every(phase => phase.kind === 'run');
    const body = list.length > 6 ? 'many' : list.map(p => `${p.kind[0]}${p.fn}`).join('');
    const bottom = running ? role(thread) : -1;
    const key = emptyKey(thread, trace) || `${body}.${bottom}`;
    const group = groups.get(key) ?? { list, threads: [] };
    group.threads.push(thread);
    groups.set(key, group);
  }
  const packs: Pack[] = [];
  const single: Thread[] = [];
  for (const [key, group] of groups)
    if (group.threads.length < LEAST_ALIKE) single.push(...group.threads);
    else packs.push(makePack(key, group, short, trace));
  return { packs, single };
}

function makePack(
  key: string,
  { list, threads }: { list: Phase[]; threads: Thread[] },
  short: string[],
  trace: Trace,
): Pack {
  const n = threads.length;
  if (key === 'brief') {
    const life = Math.round(BRIEF * 100);
    const remark = `each < ${life} % of the trace`;
    return { key, threads, title: `${n} other threads`, remark };
  }
  if (key === 'none')
    return {
      key,
      threads,
      title: `${n} threads`,
      remark: trace.part ? 'without a call in this part' : 'without a call',
    };
  const bottom = role(threads[0]!);
  const name = bottom >= 0 ? short[bottom]! : '';
  const isRun = list.length > 6 || list.every(phase => phase.kind === 'run');
  const { t0, t1 } = trace.part?.span ?? { t0: 0, t1: trace.duration };
  const waits = threads.reduce((sum, t) => sum + t.waitNs, 0) / (n * (t1 - t0));
  const run = waits > 0.5 ? 'waits and turns' : 'runs';
  const remark = isRun ? `${name ? `${name}: ` : ''}${run}` : describe(list, short);
  return { key, threads, title: `${n} similar threads`, remark };
}
