// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import {
  barWords,
  eachPathBar,
  hopsInView,
  laneSegmentAt,
  stepSegment,
  timelinePath,
  followPath,
} from '../../src/screens/timeline/path';
import type { Hop, PathLane, TimelinePath } from '../../src/screens/timeline/path';
import { setTimeline, timelineOf } from '../../src/screens/timeline/state';
import { decodePath } from '../../src/shared/api/columns';
import { Atom } from '../../src/shared/lib/atom';
import type { Path, PathSegment } from '../../src/shared/lib/path';
import { makeApp } from '../../src/shared/state/app';
import { pathsOf } from '../../src/shared/state/paths';
import type { Asked } from '../../src/shared/state/paths';
import { bareTrace } from '../../src/shared/state/served';
import type { Served } from '../../src/shared/state/served';

const SEGMENT = {
  depth: 0,
  reason: '',
  name: '',
  function: '',
  stack: '',
  other_thread: '',
  span: '',
  other_function: '',
  other_ns: 0,
};

/** [thread, start, end, state, reason?]. */
type Row = [number, number, number, string, string?];

function pathOf(rows: Row[]): Path {
  const segments = rows.map(([thread_id, start_ns, end_ns, state, reason = '']) => ({
    ...SEGMENT,
    thread_id,
    start_ns,
    end_ns,
    state,
    reason,
  }));
  return decodePath({
    thread_id: 0,
    from_ns: rows[0]![1],
    to_ns: rows.at(-1)![2],
    has_kernel: true,
    unexplained_ns: 0,
    uncertain_ns: 0,
    cycles: 0,
    too_deep: 0,
    segments_total: rows.length,
    segments,
    arrows: [],
    reasons: [],
    locks: [],
    threads: [],
    functions: [],
    spans: [],
  });
}

const PATH = pathOf([
  [0, 0, 100, 'running'],
  [0, 100, 160, 'running'],
  [2, 160, 400, 'running_kernel'],
  [2, 400, 450, 'blocked', 'block_device'],
  [0, 450, 460, 'preempted'],
  [0, 460, 500, 'running'],
]);

describe('the path that is chosen', () => {
  const served = {
    threads: [{ name: 'ui', label: 'T1' }],
    trace: { name: 'one', duration: 500, calls: 9 },
    names: { n: 0, name: [] },
    families: [],
    state: new Atom({ set: null, isSetOnly: false, call: null, fn: -1 }),
  } as unknown as Served;
  const asked = (label: string): Asked => ({
    pick: { thread: 0, span: { t0: 0, t1: 500 }, label },
    path: PATH,
    isWaiting: false,
    error: '',
  });
  it('is called on the Timeline as it is called now', () => {
    const app = makeApp(bareTrace(served, 'weft'), [], served);
    const end = followPath(app);
    const drawn = (): TimelinePath | null => timelineOf(app).state.get().path;
    setTimeline(app, { hasPath: true });
    pathsOf(app).set({ asked: [asked('range')] });
    const first = drawn();
    expect(first?.title).toBe('range of ui T1');
    pathsOf(app).set({ asked: [asked('insert')] });
    expect(drawn()?.title).toBe('insert of ui T1');
    expect(drawn()?.lanes).toBe(first?.lanes); // not made again
    end();
  });
});

describe('a path on the Timeline', () => {
  it('has each stretch on its thread, and all of the time once', () => {
    const { lanes } = timelinePath(PATH, 'it');
    expect([...lanes.keys()]).toEqual([0, 2]);
    expect([...lanes.get(0)!.start]).toEqual([0, 450, 460]);
    expect([...lanes.get(0)!.end]).toEqual([160, 460, 500]);
    expect([...lanes.get(0)!.count]).toEqual([2, 1, 1]);
    const sum = ({ n, start, end }: PathLane): number =>
      Array.from({ length: n }, (_, i) => end[i]! - start[i]!).reduce((a, b) => a + b, 0);
    expect([...lanes.values()].reduce((all, lane) => all + sum(lane), 0)).toBe(500);
  });

  it('leads to another thread where it changes it', () => {
    const { hops } = timelinePath(PATH, 'it');
    expect(hops.map(({ t, from, to, segment }) => [t, from, to, segment])).toEqual([
      [160, 0, 2, 2],
      [450, 2, 0, 4],
    ]);
    expect(hops[0]!.weight).toBe(60);
  });

  it('finds the segment at a time, also within a stretch of several', () => {
    const path = timelinePath(PATH, 'it');
    expect(laneSegmentAt(path, 0, 30, 0)).toBe(0);
    expect(laneSegmentAt(path, 0, 130, 0)).toBe(1);
    expect(laneSegmentAt(path, 0, 200, 0)).toBe(-1);
    expect(laneSegmentAt(path, 0, 163, 5)).toBe(1);
    expect(laneSegmentAt(path, 0, 448, 5)).toBe(4);
    expect(laneSegmentAt(path, 1, 200, 1e9)).toBe(-1);
    expect(laneSegmentAt(path, 2, 420, 0)).toBe(3);
  });

  it('says why a thread waited, in words', () => {
    const { path, lanes } = timelinePath(PATH, 'it');
    expect(barWords(path, lanes.get(2)!, 1)).toBe('D waits for a disk\u200250\u00a0ns');
    expect(barWords(path, lanes.get(0)!, 0)).toBe('running\u2002160\u00a0ns');
  });

  it('steps to where the thread changes, and stays at the ends', () => {
    expect(stepSegment(PATH, -1, 1, true)).toBe(0);
    expect(stepSegment(PATH, -1, -1, true)).toBe(5);
    expect(stepSegment(PATH, 0, 1, true)).toBe(2);
    expect(stepSegment(PATH, 0, 1, false)).toBe(1);
    expect(stepSegment(PATH, 2, -1, true)).toBe(1);
    expect(stepSegment(PATH, 5, 1, true)).toBe(5);
    expect(stepSegment(PATH, 99, 1, true)).toBe(0);
  });

  it('of one that the trace tells nothing of has no lane', () => {
    const none = { ...PATH, segments: [] as PathSegment[] };
    const { lanes, hops } = timelinePath(none, 'it');
    expect([lanes.size, hops.length]).toEqual([0, 0]);
    expect(stepSegment(none, -1, 1, true)).toBe(0);
  });
});

/* By pixel: the longest of the stretches in it; found by asking each pixel of each stretch. */
function oracle(lane: PathLane, t0: number, t1: number, width: number): number[] {
  const scale = width / (t1 - t0);
  return Array.from({ length: width }, (_, px) => {
    let [best, longest] = [-1, -1];
    for (let i = 0; i < lane.n; i++) {
      const x0 = Math.round((lane.start[i]! - t0) * scale);
      const x1 = Math.max(x0 + 1, Math.round((lane.end[i]! - t0) * scale));
      const isSeen = lane.end[i]! >= t0 && lane.start[i]! <= t1;
      const length = lane.end[i]! - lane.start[i]!;
      if (isSeen && px >= x0 && px < x1 && length > longest) [best, longest] = [i, length];
    }
    return best;
  });
}

function random(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) / 2 ** 32;
}

describe('bars of a lane', () => {
  it('show in each pixel the longest that it has, however dense', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const next = random(seed * 7919);
      const rows: Row[] = [];
      for (let t = 0, i = 0; i < 300; i++) {
        const length = 1 + Math.floor(next() ** 4 * 400);
        rows.push([i % 2, t, t + length, i % 3 === 0 ? 'running' : 'preempted']);
        t += length;
      }
      const lane = timelinePath(pathOf(rows), '').lanes.get(0)!;
      const end = rows.at(-1)![2];
      const [t0, width] = [Math.floor(next() * end * 0.5), 60 + Math.floor(next() * 500)];
      const t1 = t0 + 1 + Math.floor(next() * (end - t0));
      const painted = new Array<number>(width).fill(-1);
      eachPathBar(lane, { t0, t1, scale: width / (t1 - t0) }, (i, x0, x1) => {
        for (let x = Math.max(0, x0); x < Math.min(width, x1); x++) painted[x] = i;
      });
      const lengths = (list: number[]): number[] =>
        list.map(i => (i < 0 ? -1 : lane.end[i]! - lane.start[i]!));
      expect(lengths(painted), `seed ${seed}`).toEqual(lengths(oracle(lane, t0, t1, width)));
    }
  });
});

describe('arrows', () => {
  const hops: Hop[] = Array.from({ length: 1000 }, (_, i) => ({
    t: i * 3,
    from: i % 3,
    to: (i + 1) % 3,
    weight: (i * 37) % 101,
    segment: i,
  }));

  it('are one in each place of the axis at most, that of the longest', () => {
    const shown = hopsInView(hops, { t0: 0, t1: 3000, scale: 0.5 }, 8, () => true);
    const cells = shown.map(({ t }) => Math.floor((t * 0.5) / 8));
    expect(new Set(cells).size).toBe(cells.length);
    for (const { t, weight } of shown) {
      const own = hops.filter(one => Math.floor(one.t / 16) === Math.floor(t / 16));
      expect(weight).toBe(Math.max(...own.map(one => one.weight)));
    }
  });

  it('stay the same when the window moves', () => {
    const all = hopsInView(hops, { t0: 0, t1: 3000, scale: 0.5 }, 8, () => true);
    const moved = hopsInView(hops, { t0: 805, t1: 2500, scale: 0.5 }, 8, () => true);
    const inside = all.filter(({ t }) => t >= 816 && t < 2480);
    expect(moved.filter(({ t }) => t >= 816 && t < 2480)).toEqual(inside);
  });

  it('need both of their threads', () => {
    const shown = hopsInView(hops, { t0: 0, t1: 3000, scale: 9 }, 8, ({ from }) => from === 1);
    expect(shown.length).toBeGreaterThan(100);
    expect(shown.every(({ from }) => from === 1)).toBe(true);
  });
});
