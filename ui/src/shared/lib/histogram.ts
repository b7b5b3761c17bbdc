// SPDX-License-Identifier: MIT
// Durations of calls as bars over a logarithmic axis: bins are joined until they are wide enough to
// be seen, never split; so every bar's count is exact.
import { short } from './numbers';
import { duration } from './format';

/** Ascending, without empty ones; a bin holds from <= duration < to. */
export interface Bins {
  n: number;
  from: Float64Array;
  to: Float64Array;
  count: Float64Array;
  sum: Float64Array;
  /** Of all calls. */
  total: number;
  totalNs: number;
  min: number;
  max: number;
}

export interface Bar {
  from: number;
  to: number;
  count: number;
  sum: number;
}

/** Logarithmic, base 2; 0 ns stands where 0.5 ns would. */
const logOf = (ns: number): number => Math.log2(Math.max(0.5, ns));

/** From ns to px and back. */
export class LogAxis {
  private readonly low: number;
  private readonly scale: number;
  constructor(
    from: number,
    to: number,
    readonly width: number,
  ) {
    this.low = logOf(from);
    this.scale = width / Math.max(1, logOf(to) - this.low);
  }

  x(ns: number): number {
    return (logOf(ns) - this.low) * this.scale;
  }

  ns(x: number): number {
    return 2 ** (this.low + x / this.scale);
  }
}

/** The axis for some bins, with a little room at both ends. */
export function axisOf(bins: Bins, width: number): LogAxis {
  if (bins.n === 0) return new LogAxis(1, 1e9, width);
  const [low, high] = [logOf(bins.from[0]!), logOf(bins.to[bins.n - 1]!)];
  const room = Math.max(0.25, (high - low) * 0.03);
  return new LogAxis(2 ** (low - room), 2 ** (high + room), width);
}

/** Bars at least `least` px wide, of bins that stand in the same part of their power of two. */
export function barsOf(bins: Bins, axis: LogAxis, least: number): Bar[] {
  const octave = axis.x(2048) - axis.x(1024);
  let parts = 16;
  while (parts > 1 && octave / parts < least) parts /= 2;
  const bars: Bar[] = [];
  let last = NaN;
  for (let i = 0; i < bins.n; i++) {
    const power = Math.floor(logOf(bins.from[i]!) + 1e-9);
    const base = 2 ** power;
    const part = Math.floor((bins.from[i]! / base - 1) * parts + 1e-9);
    const group = power * parts + part;
    const to = Math.max(bins.to[i]!, base * (1 + (part + 1) / parts));
    const [count, sum] = [bins.count[i]!, bins.sum[i]!];
    const bar = bars[bars.length - 1];
    if (bar && group === last) Object.assign(bar, { count: bar.count + count, sum: bar.sum + sum });
    else bars.push({ from: Math.min(bins.from[i]!, base * (1 + part / parts)), to, count, sum });
    const now = bars[bars.length - 1]!;
    now.to = Math.max(now.to, to);
    last = group;
  }
  return bars;
}

/** How counts become heights. */
export type CountScale = 'linear' | 'root' | 'log';

export function heightOf(value: number, most: number, scale: CountScale): number {
  if (value <= 0 || most <= 0) return 0;
  if (scale === 'root') return Math.sqrt(value / most);
  return scale === 'log' ? Math.log1p(value) / Math.log1p(most) : value / most;
}

/** Square roots where the highest bar would flatten the lowest one. */
export function fittingScale(values: readonly number[]): CountScale {
  const some = values.filter(value => value > 0);
  if (some.length < 2) return 'linear';
  return Math.max(...some) > 50 * Math.min(...some) ? 'root' : 'linear';
}

/** Values for the axis of heights: at most `most`, round, apart enough to be read. */
export function heightTicks(highest: number, scale: CountScale, least: number): number[] {
  const ticks: number[] = [];
  let last = 1 + least;
  for (let power = 10 ** Math.floor(Math.log10(Math.max(1, highest))); power >= 1; power /= 10)
    for (const lead of [5, 2, 1]) {
      const value = lead * power;
      const height = heightOf(value, highest, scale);
      if (value > highest || last - height < least || height < least) continue;
      ticks.push(value);
      last = height;
    }
  return ticks;
}

interface TimeTick {
  ns: number;
  label: string;
  isFull: boolean;
}

/** Powers of ten, and 2 and 5 of them where there is room. */
export function timeTicks(axis: LogAxis, least: number): TimeTick[] {
  const decade = axis.x(1e4) - axis.x(1e3);
  const leads = decade > 3.4 * least ? [1, 2, 5] : decade > 2.2 * least ? [1, 3] : [1];
  const every = Math.max(1, Math.ceil(least / decade));
  const ticks: TimeTick[] = [];
  for (let power = 0; power <= 15; power += every)
    for (const lead of leads) {
      const ns = lead * 10 ** power;
      const x = axis.x(ns);
      if (x >= 0 && x <= axis.width)
        ticks.push({ ns, label: short(duration(ns)), isFull: lead === 1 && power % 3 === 0 });
    }
  return ticks;
}

export function meanOf({ total, totalNs }: Bins): number {
  return total > 0 ? totalNs / total : 0;
}

/** The border of the bin that holds the quantile, or the longest call: what it is at most. NaN
 * without calls. */
export function quantileOf(bins: Bins, share: number): number {
  const rank = Math.max(1, Math.ceil(bins.total * share));
  let seen = 0;
  for (let i = 0; i < bins.n; i++) {
    seen += bins.count[i]!;
    if (seen >= rank) return Math.max(bins.from[i]!, Math.min(bins.max, bins.to[i]! - 1));
  }
  return NaN;
}

/** Calls and their time from `min` to `max`, as far as whole bins tell. */
export function within(bins: Bins, min: number, max: number): { count: number; sum: number } {
  let [count, sum] = [0, 0];
  for (let i = 0; i < bins.n; i++)
    if (bins.from[i]! >= min && bins.to[i]! - 1 <= max) {
      count += bins.count[i]!;
      sum += bins.sum[i]!;
    }
  return { count, sum };
}

/** How many calls were longer: where one call stands among all. As far as whole bins tell. */
export function longerThan(bins: Bins, ns: number): number {
  let count = 0;
  for (let i = 0; i < bins.n; i++) if (bins.from[i]! > ns) count += bins.count[i]!;
  return count;
}

/** Where a bin of the page begins, in ns: four of each power of two; 0 to 3 have their own. */
export function binBegin(bin: number): number {
  if (bin < 4) return bin;
  const power = Math.floor(bin / 4) + 1;
  return (4 + (bin % 4)) * 2 ** (power - 2);
}

/** Bins from their numbers and counts. Sums of times are not known of each. */
export function binsOf(
  numbers: readonly number[],
  counts: readonly number[],
  all: { sum: number; min: number; max: number },
): Bins {
  return {
    n: numbers.length,
    from: Float64Array.from(numbers, binBegin),
    to: Float64Array.from(numbers, bin => binBegin(bin + 1)),
    count: Float64Array.from(counts),
    sum: new Float64Array(numbers.length),
    total: counts.reduce((sum, count) => sum + count, 0),
    totalNs: all.sum,
    min: all.min,
    max: all.max,
  };
}
