// SPDX-License-Identifier: MIT
// How long one call is among all of its function: bins of a logarithmic histogram.

export interface Bins {
  n: number;
  from: Float64Array;
  to: Float64Array;
  count: Float64Array;
  sums: Float64Array;
  total: number;
  sum: number;
  /** Exact. */
  longest: number;
}

/** The duration below which `share` of the calls are: the upper border of its bin. */
export function quantile(bins: Bins, share: number): number {
  let left = share * bins.total;
  for (let i = 0; i < bins.n; i++) {
    left -= bins.count[i]!;
    if (left <= 1e-9) return bins.to[i]!;
  }
  return bins.n > 0 ? bins.to[bins.n - 1]! : 0;
}

/** Share of the calls that are shorter than `ns`, 0 to 1; calls of its bin count by half. */
export function rankOf(bins: Bins, ns: number): number {
  let below = 0;
  for (let i = 0; i < bins.n; i++) {
    if (bins.to[i]! <= ns) below += bins.count[i]!;
    else {
      if (bins.from[i]! <= ns) below += bins.count[i]! / 2;
      break;
    }
  }
  return bins.total > 0 ? below / bins.total : 0;
}

/** The first bin with calls that are longer than `ns`; -1: there is none. */
export function binBehind(bins: Bins, ns: number): number {
  for (let i = 0; i < bins.n; i++) if (bins.count[i]! > 0 && bins.from[i]! > ns) return i;
  return -1;
}

export interface Column {
  from: number;
  to: number;
  count: number;
}

/** At most `most` columns of equal width on a logarithmic axis, from the first to the last bin. */
export function columnsOf(bins: Bins, most: number): Column[] {
  if (bins.n === 0) return [];
  const low = Math.log(Math.max(1, bins.from[0]!));
  const high = Math.log(Math.max(2, bins.to[bins.n - 1]!));
  const n = Math.max(1, Math.min(most, Math.ceil((high - low) / 0.12)));
  const step = (high - low) / n;
  const columns = Array.from({ length: n }, (_, i) => ({
    ...{ from: Math.exp(low + i * step), to: Math.exp(low + (i + 1) * step), count: 0 },
  }));
  for (let i = 0; i < bins.n; i++) {
    const middle = (Math.log(Math.max(1, bins.from[i]!)) + Math.log(Math.max(1, bins.to[i]!))) / 2;
    const at = Math.min(n - 1, Math.max(0, Math.floor((middle - low) / Math.max(1e-9, step))));
    columns[at]!.count += bins.count[i]!;
  }
  return columns;
}
