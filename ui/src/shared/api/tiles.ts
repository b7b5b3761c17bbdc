// SPDX-License-Identifier: MIT
// Levels of detail as tiles: a grid fixed in time, of which each zoom is twice as coarse as the one
// before, so that one answer of the server serves every view of its zoom.
//
//     level 1 |  0          |  1          |     2 ns a column, TILE_COLUMNS columns a tile
//     level 0 |  0   |  1   |  2   |  3   |     1 ns a column
//
// The store keeps what was asked for within a number of bytes; what was not drawn for longest goes
// first. A place whose tile is not there yet is covered by the best that is: finer, else coarser.
import type { LodItemsColumns, LodThreadsColumns } from '../../gen/tables';
import { tableOf } from './columns';
import type { Columns } from './columns';

export const TILE_COLUMNS = 1024;
export const TOP_LEVEL = 44; // 1024 columns of 2^44 ns are 200 days

/** Calls of one thread in one tile: by depth, then in order of start. */
export interface Tile {
  thread: number;
  level: number;
  index: number;
  n: number;
  start: Float64Array;
  end: Float64Array;
  /** Of all calls of an item together, and of the longest. */
  covered: Float64Array;
  longest: Float64Array;
  count: Uint32Array;
  fn: Uint32Array;
  longestFn: Uint32Array;
  isCluster: Uint8Array;
  /** Items of depth d are those from depthFrom[d] to depthFrom[d + 1]. */
  depthFrom: Uint32Array;
  bytes: number;
  usedAt: number;
}

/** A part of time that a tile is to fill. */
export interface Segment {
  tile: Tile;
  from: number;
  to: number;
}

export function columnNs(level: number): number {
  return 2 ** level;
}

export function tileNs(level: number): number {
  return TILE_COLUMNS * columnNs(level);
}

/** The finest level of which a column is no narrower than a pixel. */
export function levelOf(nsPerPixel: number): number {
  return Math.min(TOP_LEVEL, Math.max(0, Math.ceil(Math.log2(Math.max(1e-9, nsPerPixel)) - 1e-9)));
}

/** Tiles of a level that [t0, t1) touches. */
export function tilesOf(level: number, t0: number, t1: number): { first: number; last: number } {
  const span = tileNs(level);
  return {
    first: Math.max(0, Math.floor(t0 / span)),
    last: Math.max(0, Math.ceil(t1 / span) - 1),
  };
}

/** Levels are below 64 and indices below 2^47: exact in a float64. */
export function tileKey(level: number, index: number): number {
  return index * 64 + level;
}

export class TileStore {
  private readonly threads = new Map<number, Map<number, Tile>>();
  private clock = 0;
  bytes = 0;

  constructor(private readonly limit: number) {}

  has(thread: number, level: number, index: number): boolean {
    return this.threads.get(thread)?.has(tileKey(level, index)) === true;
  }

  get(thread: number, level: number, index: number): Tile | undefined {
    const tile = this.threads.get(thread)?.get(tileKey(level, index));
    if (tile) tile.usedAt = this.clock;
    return tile;
  }

  put(tile: Tile): void {
    const own = this.threads.get(tile.thread) ?? new Map<number, Tile>();
    this.threads.set(tile.thread, own);
    const key = tileKey(tile.level, tile.index);
    this.bytes += tile.bytes - (own.get(key)?.bytes ?? 0);
    own.set(key, tile);
    tile.usedAt = this.clock;
    if (this.bytes > this.limit) this.evict();
  }

  /** A new frame begins: what is not drawn from now on has grown older. */
  tick(): void {
    this.clock++;
  }

  private evict(): void {
    const all: Tile[] = [];
    for (const own of this.threads.values()) all.push(...own.values());
    all.sort((a, b) => a.usedAt - b.usedAt || b.bytes - a.bytes);
    for (const tile of all) {
      if (this.bytes <= this.limit * 0.8 || tile.usedAt === this.clock) break;
      this.threads.get(tile.thread)!.delete(tileKey(tile.level, tile.index));
      this.bytes -= tile.bytes;
    }
  }
}

/** What is drawn of a thread in [t0, t1), in order of time; the same objects are used again. */
export class Cover {
  readonly segments: Segment[] = [];
  n = 0;
  /** Tiles of the level asked for that were not there. */
  missing = 0;

  fill(store: TileStore, thread: number, level: number, t0: number, t1: number): void {
    this.n = 0;
    this.missing = 0;
    const { first, last } = tilesOf(level, t0, t1);
    for (let index = first; index <= last; index++) this.place(store, thread, level, index, t0, t1);
  }

  private place(
    store: TileStore,
    thread: number,
    level: number,
    index: number,
    t0: number,
    t1: number,
  ): void {
    const span = tileNs(level);
    const [from, to] = [Math.max(t0, index * span), Math.min(t1, (index + 1) * span)];
    const own = store.get(thread, level, index);
    if (own) return this.push(own, from, to);
    this.missing++;
    if (level > 0) {
      const [left, right] = [index * 2, index * 2 + 1];
      const a = store.get(thread, level - 1, left);
      const b = a && store.get(thread, level - 1, right);
      const middle = right * tileNs(level - 1);
      if (a && b) {
        if (from < middle) this.push(a, from, Math.min(to, middle));
        if (to > middle) this.push(b, Math.max(from, middle), to);
        return;
      }
    }
    for (let up = 1; level + up <= TOP_LEVEL; up++) {
      const tile = store.get(thread, level + up, Math.floor(index / 2 ** up));
      if (tile) return this.push(tile, from, to);
    }
  }

  private push(tile: Tile, from: number, to: number): void {
    const last = this.n > 0 ? this.segments[this.n - 1]! : null;
    if (last?.tile === tile && last.to === from) {
      last.to = to;
      return;
    }
    const at = this.segments[this.n];
    if (at) [at.tile, at.from, at.to] = [tile, from, to];
    else this.segments.push({ tile, from, to });
    this.n++;
  }
}

/* ---- tiles of an answer ---- */

/** The items of each thread of an answer, copied out of it. */
export function tilesFrom(answer: Columns, level: number, index: number): Tile[] {
  const thread = tableOf<LodThreadsColumns>(answer, 'threads');
  const item = tableOf<LodItemsColumns>(answer, 'items');
  const ids = thread('id');
  const first = thread('first_item');
  const many = thread('n_items');
  const start = item('start_ns');
  const end = item('end_ns');
  const covered = item('covered_ns');
  const longest = item('longest_ns');
  const count = item('count');
  const depth = item('depth');
  const fn = item('function');
  const longestFn = item('longest_function');
  const isCluster = item('is_cluster');
  return Array.from(ids, (id, i) => {
    const [a, b] = [first[i]!, first[i]! + many[i]!];
    return {
      thread: id,
      level,
      index,
      n: b - a,
      start: start.slice(a, b),
      end: end.slice(a, b),
      covered: covered.slice(a, b),
      longest: longest.slice(a, b),
      count: count.slice(a, b),
      fn: fn.slice(a, b),
      longestFn: longestFn.slice(a, b),
      isCluster: isCluster.slice(a, b),
      depthFrom: depthStarts(depth, a, b),
      bytes: 300 + (b - a) * 45,
      usedAt: 0,
    };
  });
}

function depthStarts(depth: Uint16Array, a: number, b: number): Uint32Array {
  const levels = b > a ? depth[b - 1]! + 1 : 0;
  const from = new Uint32Array(levels + 1);
  for (let i = a; i < b; i++) from[depth[i]! + 1] = i - a + 1;
  for (let d = 1; d <= levels; d++) from[d] = Math.max(from[d]!, from[d - 1]!);
  return from;
}
