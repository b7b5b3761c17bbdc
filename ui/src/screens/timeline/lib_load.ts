// SPDX-License-Identifier: MIT
// How many threads run at a time. As the kernel tells it: the time that threads were on a processor
// in a column, by its width. Else inferred from calls alone: a thread runs in a column if the deepest
// call there is no wait, and if something began or ended not long before.
import type { Strip } from '../../shared/lib/states';
import type { Tile } from '../../shared/lib/tiles';

/** A call without a callee for so many columns is taken to stand still. */
const STILL_COLUMNS = 6;

/** Adds 1 to every column of [0, duration) in which a thread runs. */
export function addLoad(
  load: Float64Array,
  tile: Tile,
  durationNs: number,
  isWait: readonly number[],
  deepest: Int32Array,
): void {
  const n = load.length;
  const columnNs = durationNs / n;
  deepest.fill(-1);
  // by depth, then by time: what comes later is deeper
  for (let i = 0; i < tile.n; i++) {
    const a = Math.max(0, Math.floor(tile.start[i]! / columnNs));
    const b = Math.min(n - 1, Math.floor((tile.end[i]! - 1) / columnNs));
    for (let c = a; c <= b; c++) deepest[c] = i;
  }
  for (let c = 0; c < n; c++) {
    const i = deepest[c]!;
    if (i < 0 || isWait[tile.fn[i]!] === 1) continue;
    const isShort =
      tile.isCluster[i] === 1 || tile.end[i]! - tile.start[i]! < STILL_COLUMNS * columnNs;
    if (isShort) load[c]! += 1;
  }
}

/** Adds what a thread ran in every column of [0, duration), as a share of the column. */
export function addRunning(load: Float64Array, strip: Strip, durationNs: number): void {
  const columnNs = durationNs / load.length;
  for (let i = 0; i < strip.n; i++) {
    const [start, end] = [strip.start[i]!, strip.end[i]!];
    const share = strip.running[i]! / Math.max(1, end - start); // items that join are a column long
    if (share === 0) continue;
    const from = Math.max(0, Math.floor(start / columnNs));
    const last = Math.min(load.length - 1, Math.ceil(end / columnNs) - 1);
    for (let c = from; c <= last; c++) {
      const inside = Math.min(end, (c + 1) * columnNs) - Math.max(start, c * columnNs);
      load[c]! += (share * inside) / columnNs;
    }
  }
}
