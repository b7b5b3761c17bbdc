// SPDX-License-Identifier: MIT
// What to draw of one depth of a thread: calls that are wide enough one by one, the others merged
// into blocks that keep their number and their longest. Places are device px; the lists are columns
// that are filled again for every depth, so that a frame makes no garbage.
import type { Segment, Tile } from '../../shared/lib/tiles';

/** A window of time on device px. */
export interface Window {
  t0: number;
  t1: number;
  /** Device px per ns. */
  scale: number;
  /** Calls narrower than this many px are merged. */
  least: number;
  /** Blocks begin anew at multiples of it, so that they do not swim when the window moves. */
  cellNs: number;
}

const ROOM = 512;

/** Marks of one kind, in order of x. */
export class Glyphs {
  n = 0;
  x0 = new Int32Array(ROOM);
  x1 = new Int32Array(ROOM);
  from = new Float64Array(ROOM);
  to = new Float64Array(ROOM);
  /** Calls in it. */
  count = new Float64Array(ROOM);
  covered = new Float64Array(ROOM);
  longest = new Float64Array(ROOM);
  /** Function of the call or of the longest. */
  fn = new Uint32Array(ROOM);

  add(x0: number, x1: number, from: number, to: number, fn: number): number {
    if (this.n === this.x0.length) this.grow();
    const at = this.n++;
    this.x0[at] = x0;
    this.x1[at] = x1;
    this.from[at] = from;
    this.to[at] = to;
    this.fn[at] = fn;
    return at;
  }

  private grow(): void {
    const n = this.x0.length * 2;
    const wider = <T extends Int32Array | Uint32Array | Float64Array>(old: T, next: T): T => {
      next.set(old);
      return next;
    };
    this.x0 = wider(this.x0, new Int32Array(n));
    this.x1 = wider(this.x1, new Int32Array(n));
    this.from = wider(this.from, new Float64Array(n));
    this.to = wider(this.to, new Float64Array(n));
    this.count = wider(this.count, new Float64Array(n));
    this.covered = wider(this.covered, new Float64Array(n));
    this.longest = wider(this.longest, new Float64Array(n));
    this.fn = wider(this.fn, new Uint32Array(n));
  }
}

/** First item of [low, high) that may reach behind `from`. */
function firstAt(
  start: Float64Array,
  end: Float64Array,
  from: number,
  a: number,
  b: number,
): number {
  let [low, high] = [a, b];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[middle]! < from) low = middle + 1;
    else high = middle;
  }
  let first = low;
  for (let i = low - 1; i >= a && i >= low - 8; i--) if (end[i]! > from) first = i;
  return first;
}

/** The glyphs of one depth: `blocks` (merged, or one narrow call) and `calls` (drawn over them). */
export class LevelGlyphs {
  readonly blocks = new Glyphs();
  readonly calls = new Glyphs();
  private cell = -1;
  /** What is before it was drawn from the segments before. */
  private callsTo = 0;
  private blocksTo = 0;

  fill(segments: readonly Segment[], nSegments: number, depth: number, window: Window): void {
    this.blocks.n = this.calls.n = 0;
    this.cell = -1;
    this.callsTo = this.blocksTo = -Infinity;
    for (let s = 0; s < nSegments; s++) this.addSegment(segments[s]!, depth, window);
  }

  private addSegment({ tile, from, to }: Segment, depth: number, window: Window): void {
    if (depth + 1 >= tile.depthFrom.length) return;
    const { start, end, isCluster } = tile;
    const last = tile.depthFrom[depth + 1]!;
    const seam = this.blocksTo;
    let i = firstAt(start, end, from, tile.depthFrom[depth]!, last);
    for (; i < last && start[i]! < to; i++) {
      const [a, b] = [start[i]!, end[i]!];
      if (b < from) continue;
      if (isCluster[i] === 1) {
        if (b > seam || a >= seam) this.merge(tile, i, Math.max(a, from), Math.min(b, to), window);
      } else if (a >= this.callsTo) {
        this.callsTo = b;
        this.addCall(tile, i, window);
      }
    }
    this.blocksTo = to;
  }

  private addCall(tile: Tile, i: number, window: Window): void {
    const [from, to] = [tile.start[i]!, tile.end[i]!];
    const x0 = Math.round((from - window.t0) * window.scale);
    const x1 = Math.round((to - window.t0) * window.scale);
    if (x1 - x0 < window.least) return this.merge(tile, i, from, to, window);
    const { calls } = this;
    const at = calls.add(x0, x1, from, to, tile.fn[i]!);
    calls.count[at] = 1;
    calls.covered[at] = calls.longest[at] = to - from;
  }

  /** Adds short calls to the block at hand, or begins another. The longest gives the colour. */
  private merge(tile: Tile, i: number, from: number, to: number, window: Window): void {
    const { blocks } = this;
    const x0 = Math.round((from - window.t0) * window.scale);
    const x1 = Math.max(x0 + 1, Math.round((to - window.t0) * window.scale));
    const cell = Math.floor(from / window.cellNs);
    let at = blocks.n - 1;
    if (at < 0 || cell !== this.cell || x0 > blocks.x1[at]! + 1) {
      this.cell = cell;
      const left = at >= 0 ? Math.max(x0, blocks.x1[at]!) : x0;
      at = blocks.add(left, Math.max(x1, left + 1), from, to, tile.longestFn[i]!);
      blocks.count[at] = blocks.covered[at] = 0;
      blocks.longest[at] = tile.longest[i]!;
    }
    blocks.x1[at] = Math.max(blocks.x1[at]!, x1);
    blocks.to[at] = Math.max(blocks.to[at]!, to);
    blocks.count[at]! += tile.count[i]!;
    blocks.covered[at]! += tile.covered[i]!;
    if (tile.longest[i]! <= blocks.longest[at]!) return;
    blocks.longest[at] = tile.longest[i]!;
    blocks.fn[at] = tile.longestFn[i]!;
  }
}

/** The last of `glyphs` with `x` in it, a pixel aside if need be; -1 if there is none. */
export function glyphAt(glyphs: Glyphs, x: number, slack: number): number {
  let best = -1;
  let off = slack + 1;
  for (let i = 0; i < glyphs.n; i++) {
    const [a, b] = [glyphs.x0[i]!, glyphs.x1[i]!];
    if (a - slack > x) break;
    const away = x < a ? a - x : x >= b ? x - b + 1 : 0;
    if (away < off || (away === 0 && off === 0)) [best, off] = [i, away];
  }
  return off <= slack ? best : -1;
}
