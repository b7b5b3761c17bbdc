// SPDX-License-Identifier: MIT
// Histograms of a metric: which bin each execution is in is found once; then a group is counted in
// one pass over them.

export interface MetricBins {
  isLog: boolean;
  /** Of the bins behind the one of 0 (isLog). */
  low: number;
  high: number;
  n: number;
  /** isLog: how many have nothing; they are in bin 0, and the others follow. */
  hasNone: boolean;
  /** By execution. */
  bin: Uint16Array;
  all: Uint32Array;
}

const log = (value: number): number => Math.log2(value);
const WIDEN = Math.SQRT2; // so that a single value stands in the middle

/** Bins of equal width, or of equal ratio for values above 0. */
export function makeBins(values: Float64Array, n: number, isLog: boolean): MetricBins {
  let [low, high, none] = [Infinity, -Infinity, 0];
  for (const value of values) {
    const own = Number.isNaN(value) ? 0 : value;
    if (isLog && own <= 0) none++;
    else {
      if (own < low) low = own;
      if (own > high) high = own;
    }
  }
  if (low > high) [low, high] = isLog ? [1, 2] : [0, 1];
  if (low === high) [low, high] = isLog ? [low / WIDEN, low * WIDEN] : [low - 0.5, low + 0.5];
  const hasNone = none > 0;
  const first = hasNone ? 1 : 0;
  const bin = new Uint16Array(values.length);
  const all = new Uint32Array(n + first);
  const scale = n / (isLog ? log(high) - log(low) : high - low);
  const base = isLog ? log(low) : low;
  for (let i = 0; i < values.length; i++) {
    const value = Number.isNaN(values[i]!) ? 0 : values[i]!;
    const at =
      isLog && value <= 0
        ? 0
        : first + Math.min(n - 1, Math.floor(((isLog ? log(value) : value) - base) * scale));
    bin[i] = at;
    all[at]!++;
  }
  return { isLog, low, high, n, hasNone, bin, all };
}

/** How many of a side are in each bin. */
export function countBins({ bin, all }: MetricBins, members: Uint8Array, bit: number): Uint32Array {
  const counts = new Uint32Array(all.length);
  const shift = bit - 1;
  // added, not asked for: who is in is as good as random, and a drag counts at each step
  for (let i = 0; i < bin.length; i++) counts[bin[i]!]! += (members[i]! >> shift) & 1;
  return counts;
}

/** From the value where a bin begins to that where it ends; the bin of those without is [0, 0]. */
export function binRange(bins: MetricBins, at: number): [number, number] {
  const { isLog, low, high, n, hasNone } = bins;
  const i = at - (hasNone ? 1 : 0);
  if (i < 0) return [0, 0];
  if (!isLog) return [low + ((high - low) * i) / n, low + ((high - low) * (i + 1)) / n];
  return [low * (high / low) ** (i / n), low * (high / low) ** ((i + 1) / n)];
}

/** From the least value to the greatest, where bins meet; -Infinity and Infinity are its ends. */
function edgesOf(bins: MetricBins): number[] {
  const inner = Array.from({ length: bins.all.length - 1 }, (_, i) => binRange(bins, i)[1]);
  return [-Infinity, ...inner, Infinity];
}

const nearest = (edges: readonly number[], value: number): number => {
  const at = edges.findIndex(edge => edge >= value);
  if (at <= 0 || edges[at] === value) return Math.max(0, at);
  return edges[at]! - value < value - edges[at - 1]! ? at : at - 1;
};

export type EdgeMove = 'low' | 'high' | 'both';

/** A range with an edge (or both) moved by so many bins, at least one bin wide; null: it is all. */
export function moveRange(
  bins: MetricBins,
  range: { min: number; max: number } | null,
  which: EdgeMove,
  by: number,
): { min: number; max: number } | null {
  const edges = edgesOf(bins);
  const last = edges.length - 1;
  const between = (value: number, low: number, high: number): number =>
    Math.max(low, Math.min(high, value));
  let low = nearest(edges, range?.min ?? -Infinity);
  let high = Math.max(low + 1, range && range.max < Infinity ? nearest(edges, range.max) : last);
  high = Math.min(high, last);
  if (which === 'both') {
    const step = between(by, -low, last - high);
    [low, high] = [low + step, high + step];
  } else if (which === 'low') low = between(low + by, 0, high - 1);
  else high = between(high + by, low + 1, last);
  if (low === 0 && high === last) return null;
  return { min: edges[low]!, max: edges[high]! };
}

/** Values and where they are, in shares of the axis; "none" has a place of its own at the left. */
export class BinAxis {
  private readonly first: number;
  private readonly total: number;
  constructor(private readonly bins: MetricBins) {
    this.first = bins.hasNone ? 2 : 0; // in widths of bins: one for "none", one of a gap
    this.total = bins.n + this.first;
  }

  /** Left and right of a bin. */
  place(at: number): [number, number] {
    const i = at - (this.bins.hasNone ? 1 : 0);
    if (i < 0) return [0, 1 / this.total];
    return [(this.first + i) / this.total, (this.first + i + 1) / this.total];
  }

  x(value: number): number {
    const { isLog, low, high, n, hasNone } = this.bins;
    if (isLog && value <= 0) return hasNone ? 0.5 / this.total : 0;
    const share = isLog
      ? (log(value) - log(low)) / (log(high) - log(low))
      : (value - low) / (high - low);
    return Math.max(0, Math.min(1, (this.first + share * n) / this.total));
  }

  /** Left of the first bin it is -Infinity or, with "none", 0; right of the last Infinity. */
  value(x: number): number {
    const { isLog, low, high, n, hasNone } = this.bins;
    const share = (x * this.total - this.first) / n;
    if (share <= 0 && hasNone) return x * this.total < 1 ? 0 : low;
    if (share <= 0) return -Infinity;
    if (share >= 1) return Infinity;
    return isLog ? low * (high / low) ** share : low + (high - low) * share;
  }
}
