// SPDX-License-Identifier: MIT
// States of threads, as the kernel tells them or as their silence lets infer: what each looks like,
// and its words.
import { duration, plural } from './format';
import type { Thread } from './model';

/** How a state is drawn (VISUAL: "Thread states"); 0: not at all. */
export const LOOK = {
  NONE: 0,
  RUN: 1,
  READY: 2,
  LOCK: 3,
  DISK: 4,
  NETWORK: 5,
  TIMER: 6,
  UNKNOWN: 7,
  LOST: 8,
  RAN: 9,
  WAITED: 10,
  STILL: 11,
  IDLE: 12,
} as const;
/** By look; '' where position and colour must do. */
export const LETTERS = ['', '', '', 'L', 'D', 'N', 'T', '?', '', '', '', '', ''] as const;
/** In the strip itself. */
export const SHORT = [
  '',
  'running',
  'ready',
  'lock',
  'disk',
  'network',
  'timer',
  'blocked',
  'lost',
  'ran (inferred)',
  'waited (inferred)',
  'stalled (inferred)',
  '',
] as const;
const WORDS = [
  'unknown',
  'running',
  'ready, not running',
  'waits for a lock',
  'waits for a disk',
  'waits for the network',
  'waits for a timer',
  'blocked',
  'unknown: its switch was lost',
  'ran',
  'waited',
  'stalled',
  'no call open',
] as const;

/** States of a thread in time order, end to end; `of` several joined, the longest is told. */
export interface Strip {
  /** What was asked for, and how fine. */
  from: number;
  to: number;
  pixel: number;
  n: number;
  start: Float64Array;
  end: Float64Array;
  count: Uint32Array;
  /** By item: ns on a processor. */
  running: Float64Array;
  look: Uint8Array;
  /** By item: an index into `notes`. */
  note: Uint32Array;
  /** System calls and kinds of interrupts; functions, if it is inferred. */
  notes: readonly string[];
  /** Who says so. */
  by: string;
}

const OF_REASON: Record<string, number> = {
  timer: LOOK.TIMER,
  network: LOOK.NETWORK,
  block_device: LOOK.DISK,
};

/** What a state of the server looks like. */
export function lookOf(state: string, reason: string, name: string): number {
  if (state === 'preempted') return LOOK.READY;
  if (state === 'blocked' && reason === 'thread' && name === 'futex') return LOOK.LOCK;
  if (state === 'blocked') return OF_REASON[reason] ?? LOOK.UNKNOWN;
  return state === 'unknown' ? LOOK.LOST : LOOK.RUN;
}

/** By kind of pause (lib/model). */
const OF_PAUSE = [LOOK.WAITED, LOOK.STILL, LOOK.IDLE] as const;

/** What the silence of a thread lets infer (docs/analyses/activity.md): the pauses that the regimes
 * have, and between them the thread ran. */
export function inferredStrip(
  { pauses, pausesAll, first, last }: Thread,
  thresholdNs: number,
  nameOf: (fn: number) => string,
): Strip {
  const rows: { start: number; end: number; look: number; fn: number }[] = [];
  let at = first;
  for (let p = 0; p < pauses.n; p++) {
    const [start, end] = [pauses.start[p]!, pauses.end[p]!];
    if (start > at) rows.push({ start: at, end: start, look: LOOK.RAN, fn: -1 });
    const look = OF_PAUSE[pauses.kind[p]!]!;
    rows.push({ start, end, look, fn: look === LOOK.IDLE ? -1 : pauses.fn[p]! });
    at = Math.max(at, end);
  }
  if (last > at) rows.push({ start: at, end: last, look: LOOK.RAN, fn: -1 });
  const fns = [...new Set(rows.map(({ fn }) => fn))];
  const placeOf = new Map(fns.map((fn, i) => [fn, i]));
  const rest = pausesAll > pauses.n ? `, the ${pauses.n} longest of ${pausesAll}` : '';
  return {
    from: first,
    to: last,
    pixel: 0,
    n: rows.length,
    start: Float64Array.from(rows, row => row.start),
    end: Float64Array.from(rows, row => row.end),
    count: new Uint32Array(rows.length).fill(1),
    running: new Float64Array(rows.length),
    look: Uint8Array.from(rows, row => row.look),
    note: Uint32Array.from(rows, row => placeOf.get(row.fn)!),
    notes: fns.map(fn => (fn < 0 ? '' : nameOf(fn))),
    by: `inferred from silences of ${duration(thresholdNs)} or more${rest}`,
  };
}

/** The item that holds at `t`, or -1. */
export function stateAt({ start, end, n }: Strip, t: number): number {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle]! <= t) low = middle + 1;
    else high = middle;
  }
  return low < n && start[low]! <= t ? low : -1;
}

/** "waits for a disk, in read, 3.20 ms". */
export function stateWords(strip: Strip, i: number): string {
  const note = strip.notes[strip.note[i]!] ?? '';
  const word = WORDS[strip.look[i]!]! + (note === '' ? '' : `, in ${note}`);
  const length = duration(strip.end[i]! - strip.start[i]!);
  const many = strip.count[i]! > 1;
  return many
    ? `${plural(strip.count[i]!, 'short state')}, ${length}; the longest: ${word}`
    : `${word}, ${length}`;
}
