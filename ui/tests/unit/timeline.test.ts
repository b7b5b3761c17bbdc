// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import {
  allBelow,
  binBehind,
  columnsOf,
  quantile,
  rankOf,
} from '../../src/screens/timeline/details';
import type { Bins } from '../../src/shared/lib/histogram';
import { addLoad, addRunning } from '../../src/screens/timeline/load';
import { glyphAt, LevelGlyphs } from '../../src/screens/timeline/paint';
import type { Window } from '../../src/screens/timeline/paint';
import { FEW_LEVELS, firstTrackAt, layoutTracks, LEVEL } from '../../src/screens/timeline/tracks';
import type { TrackOptions, TrackThread } from '../../src/screens/timeline/tracks';
import { SetIndex, stepSet } from '../../src/screens/timeline/walk';
import { decodeColumns } from '../../src/shared/api/columns';
import {
  columnNs,
  Cover,
  levelOf,
  TILE_COLUMNS,
  tileKey,
  tileNs,
  tilesOf,
  TileStore,
  tilesFrom,
} from '../../src/shared/api/tiles';
import type { Tile } from '../../src/shared/api/tiles';
import { blend, MARK, maskOf, packColor, Raster, zigzagAt } from '../../src/shared/lib/raster';
import { encodeLod, makeTrace } from '../browser/timelineserver.mjs';

function random(seed: number): () => number {
  let s = seed;
  return () => (s = (s * 16807) % 2147483647) / 2147483647;
}

function emptyTile(thread: number, level: number, index: number, bytes = 100): Tile {
  return {
    thread,
    level,
    index,
    n: 0,
    start: new Float64Array(),
    end: new Float64Array(),
    covered: new Float64Array(),
    longest: new Float64Array(),
    count: new Uint32Array(),
    fn: new Uint32Array(),
    longestFn: new Uint32Array(),
    isCluster: new Uint8Array(),
    depthFrom: new Uint32Array(1),
    bytes,
    usedAt: 0,
  };
}

const trace = makeTrace(3, 11, 2e6);

/** Tiles of a thread, as the server answers for them. */
function load(store: TileStore, thread: number, level: number, first: number, last: number): void {
  for (let index = first; index <= last; index++) {
    const from = index * tileNs(level);
    const to = Math.min(from + tileNs(level), trace.duration + 1);
    const width = Math.ceil((to - from) / columnNs(level));
    const bytes = Uint8Array.from(encodeLod(trace, { threads: [thread], from, to, width }));
    for (const tile of tilesFrom(decodeColumns(bytes.buffer), level, index)) store.put(tile);
  }
}

function windowOf(t0: number, t1: number, width: number, level: number): Window {
  return { t0, t1, scale: width / (t1 - t0), least: 2, cellNs: 32 * columnNs(level) };
}

describe('tiles', () => {
  it('have columns of one to two pixels', () => {
    for (let ns = 0.001; ns < 1e12; ns *= 1.37) {
      const column = columnNs(levelOf(ns));
      expect(column).toBeGreaterThanOrEqual(Math.max(1, ns) * 0.999999);
      if (ns > 1) expect(column).toBeLessThan(2 * ns * 1.000001);
    }
    expect(levelOf(4)).toBe(2);
  });

  it('cover a window', () => {
    expect(tilesOf(0, 0, 1024)).toEqual({ first: 0, last: 0 });
    expect(tilesOf(0, 0, 1025)).toEqual({ first: 0, last: 1 });
    expect(tilesOf(3, 8192, 8193)).toEqual({ first: 1, last: 1 });
    expect(tileKey(3, 5)).not.toBe(tileKey(5, 3));
  });

  it('are kept within a number of bytes, those drawn last for longest', () => {
    const store = new TileStore(1000);
    for (let i = 0; i < 9; i++) {
      store.tick();
      store.put(emptyTile(0, 0, i));
    }
    store.tick();
    store.get(0, 0, 0);
    store.put(emptyTile(0, 0, 9));
    store.put(emptyTile(0, 0, 10));
    expect(store.bytes).toBeLessThanOrEqual(1000);
    expect(store.has(0, 0, 0)).toBe(true);
    expect(store.has(0, 0, 1)).toBe(false);
    expect(store.has(0, 0, 10)).toBe(true);
    store.put(emptyTile(0, 0, 10, 50));
    expect(store.bytes).toBeLessThanOrEqual(950);
  });

  it('of other zooms stand in for those that are missing', () => {
    const store = new TileStore(1e6);
    const cover = new Cover();
    const seen = (): [number, number, number][] =>
      cover.segments.slice(0, cover.n).map(({ tile, from, to }) => [tile.level, from, to]);
    store.put(emptyTile(0, 4, 0));
    cover.fill(store, 0, 1, 0, 3 * tileNs(1));
    expect(seen()).toEqual([[4, 0, 3 * tileNs(1)]]);
    expect(cover.missing).toBe(3);
    store.put(emptyTile(0, 1, 1));
    store.put(emptyTile(0, 0, 4));
    store.put(emptyTile(0, 0, 5));
    cover.fill(store, 0, 1, 100, 3 * tileNs(1));
    expect(seen()).toEqual([
      [4, 100, tileNs(1)],
      [1, tileNs(1), 2 * tileNs(1)],
      [0, 4 * tileNs(0), 5 * tileNs(0)],
      [0, 5 * tileNs(0), 6 * tileNs(0)],
    ]);
    cover.fill(store, 1, 1, 0, 10);
    expect(cover.n).toBe(0);
  });

  it('are read from an answer, depth by depth', () => {
    const store = new TileStore(1e9);
    const index = Math.floor(trace.threads[1]!.calls[0]!.start / tileNs(6));
    load(store, 1, 6, index, index);
    const tile = store.get(1, 6, index)!;
    expect(tile.n).toBeGreaterThan(2);
    expect(tile.depthFrom[tile.depthFrom.length - 1]).toBe(tile.n);
    const own = trace.threads[1]!.calls.filter(call => call.start < (index + 1) * tileNs(6));
    expect(tile.count.reduce((sum, n) => sum + n, 0)).toBe(own.length);
    const roots = own.filter(call => call.depth === 0).length;
    let counted = 0;
    for (let i = 0; i < tile.depthFrom[1]!; i++) counted += tile.count[i]!;
    expect(counted).toBe(roots);
  });
});

describe('glyphs', () => {
  it('lose no call, and show the longest of every place', () => {
    const rand = random(5);
    const cover = new Cover();
    const glyphs = new LevelGlyphs();
    for (let round = 0; round < 60; round++) {
      const width = 200 + Math.floor(rand() * 1200);
      const length = Math.max(400, trace.duration * rand() ** 3);
      const t0 = Math.floor(rand() * (trace.duration - length));
      const t1 = Math.floor(t0 + length);
      const level = levelOf((t1 - t0) / width);
      const { first, last } = tilesOf(level, t0, t1);
      const store = new TileStore(1e9);
      const thread = round % 3;
      load(store, thread, level, first, last);
      cover.fill(store, thread, level, t0, t1);
      const window = windowOf(t0, t1, width, level);
      for (let depth = 0; depth < 4; depth++) {
        glyphs.fill(cover.segments, cover.n, depth, window);
        const own = trace.threads[thread]!.calls.filter(
          call => call.depth === depth && call.end > t0 && call.start < t1,
        );
        const { calls, blocks } = glyphs;
        const px = (t: number): number => Math.round((t - t0) * window.scale);
        const drawn = new Set(Array.from({ length: calls.n }, (_, i) => calls.from[i]!));
        const lost = own.filter(call => {
          const isWide = px(call.end) - px(call.start) >= 2;
          if (isWide && call.end - call.start > columnNs(level)) return !drawn.has(call.start);
          const middle = Math.min(width - 1, Math.max(0, px(call.start)));
          return !drawn.has(call.start) && glyphAt(blocks, middle, 1) < 0;
        });
        expect(lost).toEqual([]);
        const order = [blocks, calls].flatMap(({ n, x0, x1 }) =>
          Array.from({ length: Math.max(0, n - 1) }, (_, i) => x0[i + 1]! - x1[i]!),
        );
        expect(order.filter(gap => gap < 0)).toEqual([]);
      }
    }
  });

  it('of whole tiles count every call once', () => {
    const store = new TileStore(1e9);
    const level = 6;
    const n = Math.ceil(trace.duration / tileNs(level));
    load(store, 0, level, 0, n - 1);
    const cover = new Cover();
    cover.fill(store, 0, level, 0, trace.duration + 1);
    const glyphs = new LevelGlyphs();
    const window = windowOf(0, trace.duration + 1, trace.duration / columnNs(level), level);
    let counted = 0;
    for (let depth = 0; depth < 10; depth++) {
      glyphs.fill(cover.segments, cover.n, depth, window);
      counted += glyphs.calls.n;
      for (let i = 0; i < glyphs.blocks.n; i++) counted += glyphs.blocks.count[i]!;
    }
    const all = trace.threads[0]!.calls.length;
    expect(counted).toBeGreaterThanOrEqual(all * 0.999);
    expect(counted).toBeLessThanOrEqual(all * 1.001 + n * 10);
  });

  it('are found by place', () => {
    const glyphs = new LevelGlyphs().calls;
    glyphs.add(10, 20, 0, 0, 1);
    glyphs.add(24, 26, 0, 0, 2);
    expect(glyphAt(glyphs, 10, 0)).toBe(0);
    expect(glyphAt(glyphs, 20, 0)).toBe(-1);
    expect(glyphAt(glyphs, 20, 1)).toBe(0);
    expect(glyphAt(glyphs, 23, 1)).toBe(1);
    expect(glyphAt(glyphs, 30, 1)).toBe(-1);
  });
});

describe('raster', () => {
  const [black, white, red] = ['#000000', '#ffffff', '#ff0000'].map(packColor) as [
    number,
    number,
    number,
  ];

  it('packs and blends colours', () => {
    expect(packColor('#123456')).toBe(0xff563412);
    expect(blend(black, white, 256)).toBe(white);
    expect(blend(black, white, 0)).toBe(black);
    expect(blend(black, white, 128)).toBe(packColor('#7f7f7f'));
  });

  it('paints a bar with its edge, within its borders', () => {
    const raster = new Raster(20, 10);
    raster.ground(white, black, [0], 1);
    raster.beginLine();
    raster.bar(5, 12, red, black, 1);
    raster.bar(-3, 2, red, black, 0);
    raster.endLine(2, 8, 1, 1, 0);
    const at = (x: number, y: number): number => raster.pixels[y * 20 + x]!;
    expect([at(4, 4), at(5, 4), at(6, 4), at(11, 4), at(12, 4)]).toEqual([
      white,
      black,
      red,
      black,
      white,
    ]);
    expect([at(6, 1), at(6, 2), at(6, 3), at(6, 7), at(6, 8)]).toEqual([
      white,
      black,
      red,
      black,
      white,
    ]);
    expect(at(1, 4)).toBe(red);
    expect(at(0, 9)).toBe(black);
  });

  it('draws marks only where they were set', () => {
    const raster = new Raster(40, 12);
    raster.ground(white, white, [], 1);
    raster.beginLine();
    raster.bar(0, 40, white, white, 0);
    raster.stroke(10, 30, MARK.ZIGZAG, black);
    raster.bar(15, 20, red, red, 0);
    raster.endLine(0, 12, 0, 1, 0);
    for (let x = 0; x < 40; x++) {
      const own = Array.from({ length: 12 }, (_, y) => raster.pixels[y * 40 + x]!);
      const marked = (x >= 10 && x < 15) || (x >= 20 && x < 30);
      expect(own.filter(pixel => pixel === black).length, `x ${x}`).toBe(marked ? 1 : 0);
    }
    expect([0, 1, 2, 3, 4, 5, 6].map(x => zigzagAt(x, 1))).toEqual([0, 1, 2, 3, 2, 1, 0]);
  });

  it('lays text over it, not behind its limit', () => {
    const raster = new Raster(10, 3);
    raster.ground(white, white, [], 1);
    const mask = maskOf(4, 1, [255, 0, 255, 255]);
    raster.text(mask, 2, 1, black, 5);
    raster.text(mask, -3, 2, black, 10);
    const row = (y: number): number[] =>
      Array.from({ length: 10 }, (_, x) => (raster.pixels[y * 10 + x] === black ? 1 : 0));
    expect(row(1)).toEqual([0, 0, 1, 0, 1, 0, 0, 0, 0, 0]);
    expect(row(2)).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  });
});

describe('tracks', () => {
  const threads: TrackThread[] = Array.from({ length: 3000 }, (_, id) => ({
    id,
    tid: 100 + id,
    pid: id % 3,
    name: `n${id}`,
    calls: (id * 7919) % 1000,
    events: id === 1000 ? 0 : 5,
    first: 3000 - id,
    maxDepth: id % 20,
  }));
  const base: TrackOptions = {
    threads,
    hidden: new Set<number>(),
    only: null,
    pins: [],
    sort: 'first',
    mode: 'few',
    modes: new Map(),
    closed: new Set<number>(),
    busy: null,
  };

  it('stand below each other, pinned ones first', () => {
    const all = layoutTracks({ ...base, pins: [7, 5] });
    expect(all.tracks.slice(0, 2).map(track => track.thread)).toEqual([7, 5]);
    expect(all.pinned).toBe(2);
    expect(all.tracks.length).toBe(3000);
    let y = 0;
    for (const track of all.tracks) {
      expect(track.y).toBe(y);
      expect(track.height).toBeGreaterThanOrEqual(track.levels * LEVEL);
      expect(track.levels).toBeLessThanOrEqual(FEW_LEVELS);
      y += track.height;
    }
    expect(all.height).toBe(y);
    const at = firstTrackAt(all, y / 2);
    expect(all.tracks[at]!.y).toBeLessThanOrEqual(y / 2);
    expect(all.tracks[at]!.y + all.tracks[at]!.height).toBeGreaterThan(y / 2);
    expect(firstTrackAt(all, y + 1)).toBe(3000);
  });

  it('are sorted, grouped, hidden and folded', () => {
    const ids = (options: Partial<TrackOptions>): number[] =>
      layoutTracks({ ...base, ...options }).tracks.map(track => track.thread);
    expect(ids({})[0]).toBe(2999);
    expect(ids({}).slice(-3)).toEqual([2000, 0, 1000]); // without calls, then without events
    const byCalls = ids({ sort: 'calls' }).map(id => threads[id]!.calls);
    expect(byCalls).toEqual([...byCalls].sort((a, b) => b - a));
    expect(ids({ sort: 'name' }).slice(0, 3)).toEqual([0, 1, 2]);
    const busy = new Float64Array(3000);
    busy[42] = 9;
    expect(ids({ sort: 'busy', busy })[0]).toBe(42);
    expect(ids({ hidden: new Set([2999]) })[0]).toBe(2998);
    expect(ids({ only: new Set([4, 8]) })).toEqual([8, 4]);
    const grouped = layoutTracks({ ...base, sort: 'process', closed: new Set([1]) });
    expect(grouped.tracks.filter(track => track.thread < 0).map(({ pid }) => pid)).toEqual([
      0, 1, 2,
    ]);
    expect(grouped.tracks.length).toBe(2003);
  });

  it('show all levels, or all of them small', () => {
    const [deep] = layoutTracks({ ...base, only: new Set([19]), mode: 'all' }).tracks;
    expect([deep!.levels, deep!.levelHeight]).toEqual([20, LEVEL]);
    const [small] = layoutTracks({ ...base, only: new Set([19]), mode: 'compact' }).tracks;
    expect(small!.levelHeight).toBe(1);
    expect(small!.levels * small!.levelHeight).toBeLessThan(small!.height);
  });
});

describe('histogram', () => {
  const bins: Bins = {
    n: 3,
    from: Float64Array.of(10, 100, 1000),
    to: Float64Array.of(20, 200, 2000),
    count: Float64Array.of(50, 40, 10),
    sum: Float64Array.of(750, 6000, 15000),
    total: 100,
    totalNs: 21750,
    min: 10,
    max: 1950,
  };

  it('says how long and how rare', () => {
    expect([0.5, 0.9, 0.99].map(share => quantile(bins, share))).toEqual([20, 200, 2000]);
    expect(rankOf(bins, 5)).toBe(0);
    expect(rankOf(bins, 150)).toBe(0.7);
    expect(rankOf(bins, 5000)).toBe(1);
    expect([0, 50, 150, 5000].map(ns => binBehind(bins, ns))).toEqual([0, 1, 2, -1]);
  });

  it('keeps every call in its columns', () => {
    const columns = columnsOf(bins, 40);
    expect(columns.reduce((sum, { count }) => sum + count, 0)).toBe(100);
    expect(columns.length).toBeLessThanOrEqual(40);
    expect(columns.map(({ count }) => count).filter(Boolean)).toEqual([50, 40, 10]);
    expect(columnsOf({ ...bins, n: 0 }, 40)).toEqual([]);
  });
});

describe('sets', () => {
  const calls = {
    n: 4,
    total: 4,
    functions: [1],
    minNs: 5,
    maxNs: 50,
    thread: Uint32Array.of(1, 0, 1, 1),
    depth: Uint16Array.of(2, 0, 2, 1),
    start: Float64Array.of(30, 0, 10, 15),
    end: Float64Array.of(40, 5, 20, 18),
    fn: Uint32Array.of(1, 1, 1, 1),
  };

  it('are found by thread, depth and time', () => {
    const index = new SetIndex(calls);
    const list = index.of(1, 2)!;
    expect([...list]).toEqual([2, 0]);
    expect([0, 19, 20, 39, 40].map(t => index.firstBehind(list, t))).toEqual([0, 0, 1, 1, 2]);
    expect(index.of(5, 0)).toBeNull();
    expect(index.describes(1, 10)).toBe(false);
    expect(new SetIndex({ ...calls, total: 9 }).describes(1, 10)).toBe(true);
    expect(new SetIndex({ ...calls, total: 9 }).describes(2, 10)).toBe(false);
    expect(new SetIndex({ ...calls, total: 9 }).describes(1, 51)).toBe(false);
  });

  it('are stepped through in order of time', () => {
    const order: number[] = [];
    for (let t = -1, i = stepSet(calls, t, 1); i >= 0; i = stepSet(calls, t, 1)) {
      order.push(i);
      t = calls.start[i]!;
    }
    expect(order).toEqual([1, 2, 3, 0]);
    expect(stepSet(calls, 30, -1)).toBe(3);
    expect(stepSet(calls, 0, -1)).toBe(-1);
  });
});

describe('load', () => {
  it('counts threads that run: no waits, no long silence', () => {
    const tile: Tile = {
      ...emptyTile(0, 0, 0),
      n: 3,
      start: Float64Array.of(0, 800, 20),
      end: Float64Array.of(700, 830, 60),
      fn: Uint32Array.of(0, 0, 1),
      isCluster: new Uint8Array(3),
    };
    const [load, deepest] = [new Float64Array(100), new Int32Array(100)];
    addLoad(load, tile, 1000, [0, 1], deepest);
    expect(load[1]).toBe(0);
    expect(load[4]).toBe(0);
    expect([load[79], load[80], load[82], load[83]]).toEqual([0, 1, 1, 0]);
  });

  it('counts what the kernel saw running: a share of every column', () => {
    const rows = [
      [0, 250, 250],
      [250, 260, 5], // several states in one
      [260, 400, 0],
      [400, 1000, 600],
    ];
    const [start, end, running] = [0, 1, 2].map(k => Float64Array.from(rows, row => row[k]!));
    const strip = {
      from: 0,
      to: 1000,
      pixel: 10,
      n: rows.length,
      notes: [''],
      by: '',
      start: start!,
      end: end!,
      running: running!,
      count: Uint32Array.of(1, 2, 1, 1),
      look: new Uint8Array(4),
      note: new Uint32Array(4),
    };
    const load = new Float64Array(10);
    addRunning(load, strip, 1000);
    expect([...load]).toEqual([1, 1, 0.55, 0, 1, 1, 1, 1, 1, 1]);
    addRunning(load, strip, 1000);
    expect(load[4]).toBe(2);
  });
});

it('a tile has as many columns as an answer may', () => {
  expect(TILE_COLUMNS).toBeLessThanOrEqual(65536);
});

describe('what a call called', () => {
  // main > call > a > b, a; and a sibling of no duration that begins with the call
  const tree = {
    n: 6,
    depth: [0, 1, 1, 2, 3, 2],
    fn: [0, 5, 5, 7, 8, 7],
    count: [1, 1, 1, 2, 3, 1],
    sum: [100, 0, 100, 60, 20, 10],
    self: [0, 0, 30, 40, 20, 10],
  };

  it('is told by function, at any depth', () => {
    expect(allBelow(tree, 1, 5)).toEqual([
      { fn: 7, count: 3, sum: 70, self: 50 },
      { fn: 8, count: 3, sum: 20, self: 20 },
    ]);
    expect(allBelow(tree, 3, 8)).toEqual([]);
    expect(allBelow(tree, 1, 9)).toEqual([]);
  });
});
