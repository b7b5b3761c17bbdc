// SPDX-License-Identifier: MIT
// Threads that behave alike, packed into one row. Two threads are alike when the same function lies
// at the bottom of their stacks and they wait, stand still and run in the same order in the same
// functions.
import { KIND } from './model';
import type { Thread, Trace } from './model';

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
export function role(thread: Thread): number {
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
    if (phase.kind === 'still') return 'stand still';
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
      ...{ key, threads, title: `${n} threads` },
      remark: trace.part ? 'without a call in this part' : 'without a call',
    };
  const bottom = role(threads[0]!);
  const name = bottom >= 0 ? short[bottom]! : '';
  const isRun = list.length > 6 || list.every(phase => phase.kind === 'run');
  const { t0, t1 } = trace.part?.span ?? { t0: 0, t1: trace.duration };
  const waits = threads.reduce((sum, t) => sum + t.waitNs, 0) / (n * (t1 - t0));
  const run = waits > 0.5 ? 'waits and turns' : 'runs';
  const remark = isRun ? `${name ? `${name}: ` : ''}${run}` : describe(list, short);
  return { key, threads, title: `${n} threads alike`, remark };
}
