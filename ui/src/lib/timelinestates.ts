// SPDX-License-Identifier: MIT
// States of threads as the kernel tells them: what each looks like, and its words.
import { duration, plural } from './format';

/** How a state is drawn (VISUAL: "Thread states"); 0: not at all. */
export const LOOK = {
  ...{ NONE: 0, RUN: 1, READY: 2, LOCK: 3, DISK: 4, NETWORK: 5, TIMER: 6, UNKNOWN: 7 },
} as const;
export const LOOKS = 8;
/** By look; '' where position and colour must do. */
export const LETTERS = ['', '', '', 'L', 'D', 'N', 'T', '?'] as const;
/** In the strip itself. */
export const SHORT = [
  ...['', 'running', 'ready', 'lock', 'disk', 'network', 'timer', 'blocked'],
] as const;
const WORDS = [
  ...['unknown', 'running', 'ready, not running', 'waits for a lock', 'waits for a disk'],
  ...['waits for the network', 'waits for a timer', 'blocked'],
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
  look: Uint8Array;
  /** By item: an index into `notes`. */
  note: Uint32Array;
  /** System calls and kinds of interrupts. */
  notes: readonly string[];
}

const OF_REASON: Record<string, number> = {
  ...{ timer: LOOK.TIMER, network: LOOK.NETWORK, block_device: LOOK.DISK },
};

/** What a state of the server looks like. */
export function lookOf(state: string, reason: string, name: string): number {
  if (state === 'preempted') return LOOK.READY;
  if (state === 'blocked' && reason === 'thread' && name === 'futex') return LOOK.LOCK;
  if (state === 'blocked') return OF_REASON[reason] ?? LOOK.UNKNOWN;
  return state === 'unknown' ? LOOK.NONE : LOOK.RUN;
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
