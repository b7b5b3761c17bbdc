// SPDX-License-Identifier: MIT
// The calls of a set by where they are drawn: of each thread and depth, in order of time.

/** Columns of a set, as far as it matters where its calls are. */
export interface Calls {
  n: number;
  total: number;
  functions: readonly number[];
  minNs: number;
  maxNs: number;
  /** minNs and maxNs are of self times, which nobody knows of calls that are not here. */
  isSelf?: boolean;
  thread: Uint32Array;
  depth: Uint16Array;
  start: Float64Array;
  end: Float64Array;
  fn: Uint32Array;
}

export class SetIndex {
  private readonly lists = new Map<number, Int32Array>();
  private readonly functions: ReadonlySet<number>;
  private readonly isWhole: boolean;

  constructor(readonly calls: Calls) {
    const { n, thread, depth, start } = calls;
    this.functions = new Set(calls.functions);
    this.isWhole = calls.total <= n;
    const order = Int32Array.from({ length: n }, (_, i) => i);
    const keyOf = (i: number): number => thread[i]! * 65536 + depth[i]!;
    order.sort((a, b) => keyOf(a) - keyOf(b) || start[a]! - start[b]!);
    for (let a = 0; a < n; ) {
      let b = a + 1;
      while (b < n && keyOf(order[b]!) === keyOf(order[a]!)) b++;
      this.lists.set(keyOf(order[a]!), order.subarray(a, b));
      a = b;
    }
  }

  /** Indices of the calls of a depth of a thread, in order of start. */
  of(thread: number, depth: number): Int32Array | null {
    return this.lists.get(thread * 65536 + depth) ?? null;
  }

  /** Place in `list` of the first call that ends behind `t`. */
  firstBehind(list: Int32Array, t: number): number {
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.calls.end[list[middle]!]! <= t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Is the call that begins at `start` in a list of this index? */
  holds(list: Int32Array, start: number): boolean {
    let [low, high] = [0, list.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const own = this.calls.start[list[middle]!]!;
      if (own === start) return true;
      if (own < start) low = middle + 1;
      else high = middle - 1;
    }
    return false;
  }

  /** Of a set that is not here in full: does its description hold for a call? */
  describes(fn: number, ns: number): boolean {
    if (this.isWhole || this.calls.isSelf) return false;
    const { minNs, maxNs } = this.calls;
    return ns >= minNs && ns <= maxNs && (this.functions.size === 0 || this.functions.has(fn));
  }
}

/** The next call of the set behind (or before) `t`, in order of start; -1: there is none. */
export function stepSet(calls: Calls, now: number, direction: 1 | -1): number {
  const { n, start } = calls;
  if (n === 0) return -1;
  let best = -1;
  for (let i = 0; i < n; i++) {
    const isBehind = direction > 0 ? start[i]! > now : start[i]! < now;
    if (!isBehind) continue;
    if (best < 0 || (direction > 0 ? start[i]! < start[best]! : start[i]! > start[best]!)) best = i;
  }
  return best;
}
