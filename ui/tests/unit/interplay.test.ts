// SPDX-License-Identifier: MIT
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  curvesOf,
  isBundle,
  longestFirst,
  pickContexts,
  pickFocus,
  reachOf,
  Shares,
  threadHues,
  toneOf,
  toneStep,
  TONE_STEPS,
  waitAt,
  waitsIn,
} from '../../src/screens/interplay/data';
import type { Waits } from '../../src/screens/interplay/data';
import { plateStyle } from '../../src/screens/interplay/paint';
import { laneOrder, pieceAt } from '../../src/screens/timeline/tracks';
import type { Lane } from '../../src/screens/timeline/tracks';
import type { Theme } from '../../src/shared/draw/canvas';
import { difference } from '../../src/shared/lib/color';
import type { Vision } from '../../src/shared/lib/color';

function random(seed: number): () => number {
  let s = seed >>> 0;
  return () => {
    s = (Math.imul(s ^ (s >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((s ^ (s >>> 13)) >>> 0) / 2 ** 32;
  };
}

interface One {
  start: number;
  end: number;
  to: number;
  at: number;
  depth: number;
}

function waitsOf(list: readonly One[]): Waits {
  const floats = (of: (one: One) => number): Float64Array => Float64Array.from(list, of);
  const end = floats(one => one.end);
  const zeros = new Uint8Array(list.length);
  return {
    n: list.length,
    start: floats(one => one.start),
    end,
    first: floats(one => one.at),
    last: floats(one => one.at),
    count: new Uint32Array(list.length).fill(1),
    sum: floats(one => one.end - one.start),
    longest: floats(one => one.end - one.start),
    releaser: Int32Array.from(list, one => one.to),
    object: new Int32Array(list.length),
    site: new Int32Array(list.length),
    releaseSite: new Int32Array(list.length),
    reach: reachOf(end),
    depth: Uint16Array.from(list, one => one.depth),
    releaseDepth: new Uint16Array(list.length),
    confidence: zeros,
    flags: zeros,
    unknown: zeros,
    objects: [],
    sites: [],
    reasons: [],
    confidences: [],
  };
}

function randomWaits(rand: () => number, n: number): One[] {
  const list = Array.from({ length: n }, () => {
    const start = Math.floor(rand() * 10000);
    const end = start + Math.floor(rand() ** 4 * 3000);
    const at = start + Math.floor(rand() * (end - start + 1));
    return { start, end, to: Math.floor(rand() * 5) - 1, at, depth: Math.floor(rand() * 4) };
  });
  return list.sort((a, b) => a.start - b.start);
}

describe('waits', () => {
  it('finds those that touch a part (500 random lists)', () => {
    const rand = random(1);
    for (let round = 0; round < 500; round++) {
      const list = randomWaits(rand, Math.floor(rand() * 60));
      const waits = waitsOf(list);
      const t0 = Math.floor(rand() * 10000);
      const t1 = t0 + Math.floor(rand() * 3000);
      const { first, behind } = waitsIn(waits, t0, t1);
      list.forEach(({ start, end }, i) => {
        if (start < t1 && end > t0) expect(i >= first && i < behind, `round ${round}`).toBe(true);
      });
    }
  });
  it('finds the innermost at a time and depth (500 random lists)', () => {
    const rand = random(2);
    for (let round = 0; round < 500; round++) {
      const list = randomWaits(rand, 40);
      const t = Math.floor(rand() * 12000);
      const depth = Math.floor(rand() * 4);
      const fits = list.flatMap((one, i) =>
        one.start <= t &&
        (one.end > t || one.end === one.start) &&
        one.depth === depth &&
        one.start < t + 1
          ? [i]
          : [],
      );
      const found = waitAt(waitsOf(list), t, depth, false);
      const points = fits.filter(i => list[i]!.end > t || list[i]!.start === t);
      if (found >= 0) expect(fits).toContain(found);
      else expect(points.filter(i => list[i]!.end > t)).toEqual([]);
    }
  });
});

describe('curves', () => {
  it('keep every wait, its time, and the earliest and latest release (500 random lists)', () => {
    const rand = random(3);
    for (let round = 0; round < 500; round++) {
      const list = randomWaits(rand, Math.floor(rand() * 200));
      const view = { t0: Math.floor(rand() * 4000), t1: 6000 + Math.floor(rand() * 6000) };
      const isShown = (to: number): boolean => to !== 2;
      const curves = curvesOf(waitsOf(list), 0, view, 1 + rand() * 30, isShown);
      const kept = list.filter(
        ({ start, end, to }) => end >= view.t0 && start < view.t1 && to > 0 && to !== 2,
      );
      for (const to of [1, 3]) {
        const own = curves.filter(curve => curve.to === to);
        const all = kept.filter(one => one.to === to);
        expect(own.reduce((sum, { count }) => sum + count, 0)).toBe(all.length);
        const ns = all.reduce((sum, { start, end }) => sum + end - start, 0);
        expect(own.reduce((sum, curve) => sum + curve.ns, 0)).toBe(ns);
        if (all.length > 0) {
          const least = Math.min(...all.map(({ at }) => at));
          const most = Math.max(...all.map(({ at }) => at));
          expect(Math.min(...own.map(({ first }) => first))).toBe(least);
          expect(Math.max(...own.map(({ last }) => last))).toBe(most);
        }
      }
    }
  });
  it('bundle what is too narrow to be told apart, and nothing else', () => {
    const pixel = 10;
    const list = [
      { start: 0, end: 5, to: 1, at: 4, depth: 1 },
      { start: 6, end: 12, to: 1, at: 11, depth: 1 },
      { start: 8, end: 13, to: 2, at: 12, depth: 1 },
      { start: 100, end: 400, to: 1, at: 390, depth: 1 },
      { start: 500, end: 505, to: 1, at: 503, depth: 1 },
    ];
    const curves = curvesOf(waitsOf(list), 0, { t0: 0, t1: 1000 }, pixel, () => true);
    expect(curves.map(curve => [curve.to, curve.count, isBundle(curve)])).toEqual([
      [1, 2, true],
      [2, 1, false],
      [1, 1, false],
      [1, 1, false],
    ]);
    expect(curves[0]).toMatchObject({ start: 0, end: 12, first: 4, last: 11, ns: 11 });
  });
  it('show no wait for a thread that is not shown, nor for itself', () => {
    const list = [
      { start: 0, end: 50, to: 7, at: 4, depth: 1 },
      { start: 60, end: 90, to: 0, at: 80, depth: 1 },
      { start: 95, end: 99, to: -1, at: 0, depth: 1 },
    ];
    expect(curvesOf(waitsOf(list), 0, { t0: 0, t1: 100 }, 1, to => to < 5)).toEqual([]);
  });
  it('draw those of most time when there are too many, and say how many are left', () => {
    const list = Array.from({ length: 30 }, (_, i) => ({
      start: i * 100,
      end: i * 100 + 10 + i,
      to: 1,
      at: i * 100 + 5,
      depth: 0,
    }));
    const all = curvesOf(waitsOf(list), 0, { t0: 0, t1: 5000 }, 1, () => true);
    const { drawn, left } = longestFirst(all, 10);
    expect([drawn.length, left]).toEqual([10, 20]);
    expect(Math.min(...drawn.map(({ ns }) => ns))).toBe(30);
  });
});

describe('shares', () => {
  it('sum columns as looking at each would (300 random parts)', () => {
    const rand = random(4);
    const width = 50;
    const columns = Array.from({ length: width }, (_, column) => ({
      column,
      wait: rand() < 0.4 ? rand() * 10 : 0,
      io: rand() < 0.2 ? rand() * 10 : 0,
    }));
    const shares = Shares.of(1000, 1500, width, {
      column: Uint32Array.from(columns, one => one.column),
      wait: Float64Array.from(columns, one => one.wait),
      io: Float64Array.from(columns, one => one.io),
    });
    for (let round = 0; round < 300; round++) {
      const [a, b] = [900 + rand() * 700, 900 + rand() * 700].sort((x, y) => x - y) as [
        number,
        number,
      ];
      const slow = { wait: 0, io: 0 };
      columns.forEach(({ column, wait, io }) => {
        const [from, to] = [1000 + column * 10, 1010 + column * 10];
        const part = Math.max(0, Math.min(b, to) - Math.max(a, from)) / 10;
        slow.wait += wait * part;
        slow.io += io * part;
      });
      expect(shares.in(a, b).wait).toBeCloseTo(slow.wait, 6);
      expect(shares.in(a, b).io).toBeCloseTo(slow.io, 6);
    }
  });
  it('colour by the larger, as strongly as its share', () => {
    const shares = Shares.of(0, 100, 10, {
      column: Uint32Array.from([0, 5]),
      wait: Float64Array.from([10, 2]),
      io: Float64Array.from([0, 6]),
    });
    expect(toneOf(shares, 0, 10)).toEqual({ kind: 'wait', share: 1 });
    expect(toneOf(shares, 50, 60)).toEqual({ kind: 'io', share: 0.6 });
    expect(toneOf(shares, 20, 40)).toEqual({ kind: 'none', share: 0 });
    expect(toneOf(null, 0, 10).kind).toBe('none');
    expect(toneStep(0.001)).toBe(1);
    expect(toneStep(1)).toBe(TONE_STEPS);
  });
});

describe('threads', () => {
  it('never give neighbours one colour', () => {
    const rand = random(6);
    for (let round = 0; round < 500; round++) {
      const n = 1 + Math.floor(rand() * 9);
      const all = new Set<number>();
      while (all.size < n) all.add(Math.floor(rand() * 60));
      const order = [...all];
      const hues = threadHues(order, 10);
      for (let i = 1; i < n; i++) expect(hues.get(order[i]!)).not.toBe(hues.get(order[i - 1]!));
      if (n > 2) expect(hues.get(order[0]!)).not.toBe(hues.get(order[n - 1]!));
    }
  });
  it('are chosen by the time that they and the focus waited for each other', () => {
    const pairs = [
      { waiter: 1, releaser: 0, count: 1, ns: 50 },
      { waiter: 2, releaser: 0, count: 1, ns: 90 },
      { waiter: 0, releaser: 3, count: 1, ns: 60 },
      { waiter: 4, releaser: 5, count: 1, ns: 1000 },
    ];
    const blocked = new Map([
      [0, 60],
      [1, 50],
      [2, 90],
      [4, 1000],
      [6, 0],
    ]);
    expect(pickContexts(0, pairs, blocked)).toEqual([2, 3, 1, 4, 6]);
    expect(pickContexts(0, pairs, blocked, 2)).toEqual([2, 3]);
    expect(pickFocus(pairs, blocked)).toBe(5);
    expect(pickFocus([], blocked)).toBe(4);
    expect(pickFocus([], new Map())).toBe(-1);
  });
});

const css = readFileSync(new URL('../../src/style.css', import.meta.url), 'utf8');
const VISIONS: Vision[] = ['normal', 'protan', 'deutan', 'tritan'];

describe.each(['light', 'dark'] as const)('%s theme', theme => {
  const from = theme === 'light' ? css.indexOf(':root {') : css.indexOf(":root[data-theme='dark']");
  const block = css.slice(from, css.indexOf('}', from));
  const t = new Map([...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6});/g)].map(m => [m[1]!, m[2]!]));
  it('keeps waiting, input/output and neither apart for every eye', () => {
    const states = ['bg', 's-run', 's-ready', 's-lock', 's-disk'].map(name => t.get(name)!);
    const made = {
      isDark: theme === 'dark',
      states,
      other: t.get('other')!,
      ink3: t.get('ink3')!,
      bg: t.get('bg')!,
    };
    const style = plateStyle({ ...made, hues: [], edge: '', hatch: '' } as unknown as Theme);
    for (const vision of VISIONS)
      for (let step = 3; step <= TONE_STEPS; step++) {
        const all = [style.wait[0]!, style.wait[step]!, style.io[step]!];
        for (let i = 0; i < 3; i++)
          for (let k = 0; k < i; k++)
            expect(difference(all[i]!, all[k]!, vision), `step ${step} ${vision}`).toBeGreaterThan(
              step === TONE_STEPS ? 10.5 : 4,
            );
      }
  });
  it('keeps the three states of a lane apart for every eye (CIEDE2000 >= 10.5)', () => {
    const all = ['s-run', 'd-o1', 's-lock'].map(name => t.get(name)!);
    for (const vision of VISIONS)
      for (let i = 0; i < 3; i++)
        for (let k = 0; k < i; k++)
          expect(difference(all[i]!, all[k]!, vision), vision).toBeGreaterThanOrEqual(10.5);
  });
});

describe('lanes', () => {
  const lane = (thread: number, id: string, ns: [number, number, number]): Lane => ({
    thread,
    n: 2,
    start: Float64Array.from([10, 50]),
    end: Float64Array.from([20, 90]),
    count: Uint32Array.from([1, 1]),
    state: Uint8Array.from([0, 2]),
    ns,
    object: {
      id,
      name: id,
      kind: 'mutex',
      waiters: 1,
      releasers: 1,
      waits: 1,
      ns: 1,
      free: 0,
      isNeverReleased: false,
      isReused: false,
    },
  });
  it('are of locks that somebody waited for, most waiting first', () => {
    const lanes = [lane(1, 'a', [90, 0, 0]), lane(1, 'b', [0, 5, 1]), lane(1, 'c', [0, 0, 30])];
    expect(laneOrder(lanes)).toEqual(new Map([[1, ['c', 'b']]]));
    expect(laneOrder(lanes, 1)).toEqual(new Map([[1, ['c']]]));
  });
  it('are found by time', () => {
    const one = lane(1, 'a', [1, 1, 1]);
    expect([5, 15, 30, 60, 95].map(at => pieceAt(one, at, 0))).toEqual([-1, 0, -1, 1, -1]);
    expect(pieceAt(one, 48, 3)).toBe(1);
  });
});
