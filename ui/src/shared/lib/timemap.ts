// SPDX-License-Identifier: MIT
// Time to place: one strictly monotone map for all threads. Linear time is a straight line; regime
// time stretches where rows of any thread begin or end and shrinks where none does.
import { NBSP } from './format';
import { KIND } from './model';
import type { Span, Thread } from './model';
import { significant } from './numbers';

export interface TimeMap {
  /** 0..1 for 0..duration, strictly increasing. */
  at(t: number): number;
  /** The inverse. */
  time(u: number): number;
  isLinear: boolean;
}

export function linearMap(duration: number): TimeMap {
  const d = Math.max(1, duration);
  return { at: t => t / d, time: u => u * d, isLinear: true };
}

const BINS = 1024;
const LINEAR_SHARE = 0.25;

function borderDensity(threads: readonly Thread[], duration: number): Float64Array {
  const density = new Float64Array(BINS);
  const binOf = (t: number): number => Math.min(BINS - 1, Math.floor((t / duration) * BINS));
  for (const { rows } of threads)
    for (let i = 0; i < rows.n; i++) {
      if (rows.kind[i] !== KIND.CALL && rows.kind[i] !== KIND.EXPRESSION) continue;
      density[binOf(rows.start[i]!)]! += 1;
      density[binOf(rows.end[i]!)]! += 1;
    }
  return density;
}

/** Where each bin begins, 0..1. The square root keeps one crowded moment from taking all. */
function binEdges(threads: readonly Thread[], duration: number): Float64Array {
  const weight = borderDensity(threads, duration).map(Math.sqrt);
  const total = weight.reduce((a, b) => a + b, 0) || 1;
  const edges = new Float64Array(BINS + 1);
  for (let i = 0; i < BINS; i++)
    edges[i + 1] = edges[i]! + LINEAR_SHARE / BINS + ((1 - LINEAR_SHARE) * weight[i]!) / total;
  return edges.map(edge => edge / edges[BINS]!);
}

export function regimeMap(threads: readonly Thread[], duration: number): TimeMap {
  const d = Math.max(1, duration);
  const edges = binEdges(threads, d);
  return {
    isLinear: false,
    at(t) {
      const p = Math.min(Math.max((t / d) * BINS, 0), BINS);
      const i = Math.min(BINS - 1, Math.floor(p));
      return edges[i]! + (edges[i + 1]! - edges[i]!) * (p - i);
    },
    time(u) {
      let low = 0;
      let high = BINS;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (edges[middle]! <= u) low = middle;
        else high = middle;
      }
      const part = (u - edges[low]!) / (edges[low + 1]! - edges[low]!);
      return ((low + Math.min(1, Math.max(0, part))) / BINS) * d;
    },
  };
}

/** The most that all folds together take. */
const FOLDS_SHARE = 0.3;

/** Linear but for some stretches (ascending, apart), each of which takes `share` of the whole, or
 * less if they are many. */
export function foldMap(duration: number, folds: readonly Span[], share: number): TimeMap {
  const d = Math.max(1, duration);
  const busy = d - folds.reduce((sum, { t0, t1 }) => sum + t1 - t0, 0);
  if (folds.length === 0 || busy <= 0) return linearMap(duration);
  const own = Math.min(share, FOLDS_SHARE / folds.length);
  const scale = (1 - own * folds.length) / busy;
  const [times, places] = [[0], [0]];
  for (const { t0, t1 } of folds) {
    const [lastTime, lastPlace] = [times[times.length - 1]!, places[places.length - 1]!];
    const place = lastPlace + (t0 - lastTime) * scale;
    times.push(t0, t1);
    places.push(place, place + own);
  }
  times.push(d);
  places.push(1);
  return {
    isLinear: false,
    at: t => between(times, places, t),
    time: u => between(places, times, u),
  };
}

/** What stands in `to` where `value` stands in `from`: ascending, as many; lines between them. */
function between(from: readonly number[], to: readonly number[], value: number): number {
  let [low, high] = [0, from.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (from[middle]! <= value) low = middle;
    else high = middle;
  }
  const length = from[high]! - from[low]!;
  const part = length > 0 ? (value - from[low]!) / length : 0;
  return to[low]! + (to[high]! - to[low]!) * Math.min(1, Math.max(0, part));
}

/** The part of a map that a window of time shows on `width` pixels. */
export class View {
  private readonly u0: number;
  private readonly scale: number;
  constructor(
    readonly map: TimeMap,
    readonly t0: number,
    readonly t1: number,
    readonly width: number,
  ) {
    this.u0 = map.at(t0);
    this.scale = width / Math.max(1e-15, map.at(t1) - this.u0);
  }

  x(t: number): number {
    return (this.map.at(t) - this.u0) * this.scale;
  }

  t(x: number): number {
    return this.map.time(this.u0 + x / this.scale);
  }
}

/* ---- Axis ticks at 1, 2, 5 x 10^k, for any monotone map of time to pixels. ---- */

interface Tick {
  t: number;
  x: number;
  label: string;
  isFull: boolean;
}

export function tickStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map(m => m * power).find(step => step >= least * 0.999999)!;
}

function unitOf(range: number): [number, string] {
  if (range >= 1e9) return [1e9, 's'];
  if (range >= 1e6) return [1e6, 'ms'];
  if (range >= 1e3) return [1e3, '\u00b5s'];
  return [1, 'ns'];
}

export interface Axis {
  ticks: Tick[];
  /** The shared start that labels leave out when zoomed in; empty if none. */
  prefix: string;
}

/** Ticks of a window under a monotone map, at least `gap` px apart. */
export function axisTicks(
  t0: number,
  t1: number,
  width: number,
  toX: (t: number) => number,
  isLinear: boolean,
  gap = 70,
): Axis {
  const range = Math.max(1, t1 - t0);
  const coarse = tickStep((range * gap) / Math.max(gap, width));
  const [scale, unit] = unitOf(t1 > 3 * range ? range : t1);
  const full = 10 ** (Math.floor(Math.log10(coarse) + 1e-9) + 1);
  const base = isLinear && t0 > 20 * range ? Math.floor(t0 / full) * full : 0;
  const ticks: Tick[] = [];
  const add = (t: number): void => {
    const x = toX(t);
    if (x < -0.5 || x > width + 0.5) return;
    if (ticks.some(tick => Math.abs(tick.x - x) < gap * 0.8)) return;
    const isFull = Math.abs(t / full - Math.round(t / full)) < 1e-6;
    ticks.push({ t, x, label: significant((t - base) / scale, 12), isFull });
  };
  for (let step = coarse, round = 0; round < (isLinear ? 1 : 9); step = finer(step), round++) {
    const n = (t1 - t0) / step;
    if (n > 20000 || step < 1) break;
    for (let i = Math.ceil(t0 / step); i * step <= t1; i++) add(i * step);
  }
  ticks.sort((a, b) => a.x - b.x);
  if (ticks[0]) ticks[0].label += `${NBSP}${unit}`;
  return { ticks, prefix: base > 0 ? `+${significant(base / scale, 12)}${NBSP}${unit}` : '' };
}

function finer(step: number): number {
  const lead = Math.round(step / 10 ** Math.floor(Math.log10(step) + 1e-9));
  return lead === 5 ? (step * 2) / 5 : step / 2;
}

/* ---- Stretches of time in which nothing happens anywhere. ---- */

/** What none of the spans covers of [0, duration), as far as it is at least `least` long; ascending.
 * Spans come in lists, each ascending by start. */
export function idleStretches(
  lists: readonly { t0: ArrayLike<number>; t1: ArrayLike<number> }[],
  duration: number,
  least: number,
): Span[] {
  const all: Span[] = [];
  for (const { t0, t1 } of lists)
    for (let i = 0; i < t0.length; i++) all.push({ t0: t0[i]!, t1: t1[i]! });
  all.sort((a, b) => a.t0 - b.t0);
  const idle: Span[] = [];
  let end = 0;
  for (const { t0, t1 } of [...all, { t0: duration, t1: duration }]) {
    if (t0 > end && t0 - end >= least) idle.push({ t0: end, t1: t0 });
    end = Math.max(end, t1);
  }
  return idle;
}
