// SPDX-License-Identifier: MIT
// Waits of threads, the releases that ended them, and what is derived from both: shares of calls,
// colours, bundles, who is worth showing.
import type { Span } from './model';

export const FLAG = {
  ...{ NEVER_ENDED: 1, NO_RELEASE: 2, TIMED_OUT: 4, ANY: 8, ALL: 16, GUESSED: 32, CUT_START: 64 },
} as const;

/** Waits and input/output of one thread, in order of time, not overlapping. What is shorter than a
 * pixel is joined with its neighbours: `count` of them. */
export interface Waits {
  from: number;
  to: number;
  pixel: number;
  n: number;
  start: Float64Array;
  end: Float64Array;
  /** ns within it that the thread waited, and that it did input or output. */
  wait: Float64Array;
  io: Float64Array;
  longest: Float64Array;
  count: Uint32Array;
  depth: Uint16Array;
  /** Functions; -1: not known. */
  fn: Int32Array;
  /** Objects; -1: not known, or several. */
  object: Int32Array;
  flags: Uint8Array;
  /** Curves of item i are those from curveFrom[i] to curveFrom[i + 1]: one a releasing thread. */
  curveFrom: Uint32Array;
  toThread: Uint32Array;
  toFirst: Float64Array;
  toLast: Float64Array;
  toCount: Uint32Array;
  toDepth: Uint16Array;
  toFn: Int32Array;
}

/** A wait, or several, by where it is. */
export interface WaitAt {
  thread: number;
  start: number;
  end: number;
}

/* ---- shares ---- */

/** How much of any part of a thread's time is waiting or input/output, in O(log n). */
export class Shares {
  private readonly waitSum: Float64Array;
  private readonly ioSum: Float64Array;

  constructor(private readonly of: Waits) {
    this.waitSum = sums(of.wait);
    this.ioSum = sums(of.io);
  }

  /** ns of both in [t0, t1). */
  in(t0: number, t1: number): { wait: number; io: number } {
    return { wait: this.until(this.of.wait, this.waitSum, t1) - this.until(this.of.wait, this.waitSum, t0),
             io: this.until(this.of.io, this.ioSum, t1) - this.until(this.of.io, this.ioSum, t0) };
  }

  private until(ns: Float64Array, sum: Float64Array, t: number): number {
    const { start, end, n } = this.of;
    const i = firstEndingAfter(this.of, t);
    if (i === n || start[i]! >= t) return sum[i]!;
    return sum[i]! + (ns[i]! * (t - start[i]!)) / Math.max(1, end[i]! - start[i]!);
  }
}

function sums(ns: Float64Array): Float64Array {
  const out = new Float64Array(ns.length + 1);
  for (let i = 0; i < ns.length; i++) out[i + 1] = out[i]! + ns[i]!;
  return out;
}

/** The first item that ends after `t`; n if none does. */
export function firstEndingAfter({ end, n }: Waits, t: number): number {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle]! <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The item at `t`, or -1. */
export function waitAt(waits: Waits, t: number): number {
  const i = firstEndingAfter(waits, t);
  return i < waits.n && waits.start[i]! <= t ? i : -1;
}

/** How a call is coloured (section IV B 3): by the larger of waiting and input/output, as strongly as
 * its share of the call. 0: neither happened in it. */
export interface Tone {
  kind: 'none' | 'wait' | 'io';
  share: number;
}

export const TONE_STEPS = 6;

export function toneOf(shares: Shares | null, t0: number, t1: number): Tone {
  if (!shares) return { kind: 'none', share: 0 };
  const { wait, io } = shares.in(t0, t1);
  if (wait <= 0 && io <= 0) return { kind: 'none', share: 0 };
  const most = Math.max(wait, io);
  return { kind: io > wait ? 'io' : 'wait', share: Math.min(1, most / Math.max(1, t1 - t0)) };
}

/** Steps from 1 to TONE_STEPS: a share that is not nothing is seen. */
export function toneStep(share: number): number {
  return Math.max(1, Math.min(TONE_STEPS, Math.ceil(share * TONE_STEPS)));
}

/* ---- threads ---- */

/** Hue by thread: neighbours of `order` never have the same, and a thread keeps its own as long as
 * that holds. */
export function threadHues(order: readonly number[], hues: number): Map<number, number> {
  const out = new Map<number, number>();
  let before = -1;
  for (const thread of order) {
    let hue = thread % hues;
    const isLast = out.size === order.length - 1;
    const first = out.get(order[0]!);
    while (hue === before || (isLast && order.length > 2 && hue === first && hues > 2))
      hue = (hue + 1) % hues;
    out.set(thread, hue);
    before = hue;
  }
  return out;
}

/** Who made whom wait. */
export interface Pair {
  waiter: number;
  /** -1: not known. */
  releaser: number;
  count: number;
  ns: number;
}

export const MOST_CONTEXTS = 8;

/** Threads to show around `focus`: those that it waited for and that waited for it, most blocked time
 * first; then those of most blocked time of their own. */
export function pickContexts(
  focus: number,
  pairs: readonly Pair[],
  blocked: ReadonlyMap<number, number>,
  most = MOST_CONTEXTS,
): number[] {
  const near = new Map<number, number>();
  for (const { waiter, releaser, ns } of pairs) {
    const other = waiter === focus ? releaser : releaser === focus ? waiter : -1;
    if (other >= 0 && other !== focus) near.set(other, (near.get(other) ?? 0) + ns);
  }
  const byNs = (all: ReadonlyMap<number, number>): number[] =>
    [...all].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([thread]) => thread);
  const rest = byNs(blocked).filter(thread => thread !== focus && !near.has(thread));
  return [...byNs(near), ...rest].slice(0, most);
}

/** The thread to begin with: the one that others waited for longest; without releases, the one that
 * waited longest. */
export function pickFocus(pairs: readonly Pair[], blocked: ReadonlyMap<number, number>): number {
  const sum = new Map<number, number>();
  for (const { waiter, releaser, ns } of pairs)
    if (releaser >= 0 && releaser !== waiter) sum.set(releaser, (sum.get(releaser) ?? 0) + ns);
  const best = [...(sum.size > 0 ? sum : blocked)].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return best[0]?.[0] ?? -1;
}

/* ---- curves ---- */

export interface Curve {
  thread: number;
  item: number;
  start: number;
  end: number;
  depth: number;
  count: number;
  object: number;
  /** Who released, when at the earliest and latest, and how often. */
  to: number;
  first: number;
  last: number;
  toCount: number;
  toDepth: number;
  ns: number;
}

/** A curve of several waits (a bundle) is drawn only of the thread under the pointer. */
export const isBundle = (curve: Curve): boolean => curve.count > 1;

/** Curves of a thread's waits in view, to threads that are shown. */
export function curvesOf(
  waits: Waits,
  thread: number,
  view: Span,
  isShown: (thread: number) => boolean,
): Curve[] {
  const out: Curve[] = [];
  for (let i = firstEndingAfter(waits, view.t0); i < waits.n && waits.start[i]! < view.t1; i++)
    for (let c = waits.curveFrom[i]!; c < waits.curveFrom[i + 1]!; c++) {
      const to = waits.toThread[c]!;
      if (to === thread || !isShown(to)) continue;
      out.push({
        ...{ thread, item: i, start: waits.start[i]!, end: waits.end[i]! },
        ...{ depth: waits.depth[i]!, count: waits.count[i]!, object: waits.object[i]! },
        ...{ to, first: waits.toFirst[c]!, last: waits.toLast[c]! },
        ...{ toCount: waits.toCount[c]!, toDepth: waits.toDepth[c]!, ns: waits.wait[i]! },
      });
    }
  return out;
}

/** Neighbouring curves that begin in the same `least` px and go to one thread are one bundle, from
 * the earliest release to the latest (equation 8). `curves` are of one thread, in order of start. */
export function bundle(curves: readonly Curve[], pixelNs: number, least = 3): Curve[] {
  const out: Curve[] = [];
  const open = new Map<number, Curve>();
  for (const curve of curves) {
    const isShort = (curve.end - curve.start) / pixelNs < least;
    const last = open.get(curve.to);
    if (isShort && last && (curve.start - last.end) / pixelNs < 1) {
      last.end = Math.max(last.end, curve.end);
      last.count += curve.count;
      last.toCount += curve.toCount;
      last.first = Math.min(last.first, curve.first);
      last.last = Math.max(last.last, curve.last);
      last.ns += curve.ns;
      last.depth = Math.min(last.depth, curve.depth);
      if (last.object !== curve.object) last.object = -1;
      continue;
    }
    const made = { ...curve };
    if (isShort) open.set(curve.to, made);
    else open.delete(curve.to);
    out.push(made);
  }
  return out;
}

/** The most time comes first; what is beyond `most` is counted, not drawn. */
export function longestFirst(curves: Curve[], most: number): { drawn: Curve[]; left: number } {
  if (curves.length <= most) return { drawn: curves, left: 0 };
  const sorted = [...curves].sort((a, b) => b.ns - a.ns || a.start - b.start || a.thread - b.thread);
  return { drawn: sorted.slice(0, most), left: curves.length - most };
}

/* ---- objects ---- */

export interface WaitObject {
  id: number;
  name: string;
  kind: string;
  /** Threads that ever waited for it. */
  waiters: number;
  waits: number;
  ns: number;
  /** Acquisitions that did not wait; -1: not known. */
  free: number;
}

/** In object mode: what a wait's object is to the one under the pointer. */
export function objectRelation(object: number, hovered: number): 'same' | 'other' {
  return object >= 0 && object === hovered ? 'same' : 'other';
}

export function objectName(object: WaitObject | undefined): string {
  if (!object) return 'object not told';
  return object.name ? `${object.kind} ${object.name}` : object.kind;
}
