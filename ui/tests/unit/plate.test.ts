// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import { lookOf } from '../../src/screens/interplay/paint';
import {
  defaultSplit,
  LABEL_PX,
  labelSpots,
  layoutLadder,
  layoutPlate,
  Levels,
  polar,
  RingFrame,
  sections,
  StraightFrame,
  unpolar,
} from '../../src/screens/interplay/plate';
import type { Frame, Plate, PlateOptions } from '../../src/screens/interplay/plate';
import { contrast, toHex } from '../../src/shared/lib/color';

/** The same numbers in every run. */
function random(seed: number): () => number {
  let s = seed >>> 0;
  return () => {
    s = (Math.imul(s ^ (s >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((s ^ (s >>> 13)) >>> 0) / 2 ** 32;
  };
}

function randomOptions(rand: () => number): PlateOptions {
  const n = Math.floor(rand() * 9);
  const contexts = Array.from({ length: n }, (_, i) => i + 1);
  const views = Array.from({ length: n + 1 }, () => {
    const t0 = Math.floor(rand() * 1e9);
    return { t0, t1: t0 + 10 + Math.floor(rand() ** 4 * 1e9) };
  });
  const folds = views.map(() => Math.floor(rand() * 6));
  const deep = views.map(() => 1 + Math.floor(rand() * 30));
  return {
    width: 400 + rand() * 1500,
    height: 300 + rand() * 900,
    split: 60 + rand() * 400,
    inner: rand() * 500,
    focus: 0,
    contexts,
    focused: rand() < 0.5 ? 1 : -1,
    view: thread => views[thread]!,
    fold: thread => folds[thread]!,
    deep: thread => deep[thread]!,
  };
}

/** A place in a frame, in the middle of a level: never on a border that rounding could cross. */
function randomSpot(frame: Frame, rand: () => number): { t: number; level: number } {
  const { t0, t1 } = frame.view;
  return { t: t0 + (0.001 + rand() * 0.998) * (t1 - t0), level: Math.floor(rand() * frame.shown) };
}

describe('plate', () => {
  it('has the exact inverse of every place (3,000 random layouts)', () => {
    const rand = random(11);
    for (let round = 0; round < 3000; round++) {
      const plate = layoutPlate(randomOptions(rand));
      for (const frame of [plate.focus, ...plate.rings]) {
        if (frame.shown < 1) continue;
        const { t, level } = randomSpot(frame, rand);
        const { x, y } = frame.place(t, level + 0.5);
        const spot = frame.spot(x, y);
        expect(spot, `round ${round}`).not.toBeNull();
        expect(Math.abs(spot!.t - t)).toBeLessThan((frame.view.t1 - frame.view.t0) * 1e-6);
        expect(spot!.level).toBe(level);
      }
    }
  });
  it('gives no place to two threads (1,000 random layouts)', () => {
    const rand = random(5);
    for (let round = 0; round < 1000; round++) {
      const options = randomOptions(rand);
      const plate = layoutPlate(options);
      const frames: Frame[] = [plate.focus, ...plate.rings];
      const [x, y] = [rand() * options.width, rand() * options.height];
      expect(frames.filter(frame => frame.spot(x, y)).length).toBeLessThanOrEqual(1);
    }
  });
  it('says nothing of what is outside', () => {
    const levels = new Levels(0);
    const ring = { center: { x: 500, y: 10 }, inner: 100, outer: 200, from: 0.5, to: 1 };
    const frame = new RingFrame(3, { t0: 0, t1: 100 }, levels, 4, ring);
    const at = (angle: number, radius: number): { x: number; y: number } =>
      polar(ring.center, angle, radius);
    for (const { x, y } of [at(0.49, 150), at(1.01, 150), at(0.7, 99), at(0.7, 201), at(-0.7, 150)])
      expect(frame.spot(x, y)).toBeNull();
    const inside = at(0.75, 107);
    expect(frame.spot(inside.x, inside.y)).toMatchObject({ level: 0 });
    expect(frame.spot(inside.x, inside.y)!.t).toBeCloseTo(50, 6);
  });
  it('counts angles from the left over the bottom to the right', () => {
    const center = { x: 10, y: 20 };
    expect(polar(center, 0, 5)).toEqual({ x: 5, y: 20 });
    expect(polar(center, Math.PI / 2, 5).y).toBeCloseTo(25, 9);
    expect(polar(center, Math.PI, 5).x).toBeCloseTo(15, 9);
    expect(unpolar(center, 10, 25)).toEqual({ angle: Math.PI / 2, radius: 5 });
  });
  it('gives deeper levels more room for the same time', () => {
    const ring = { center: { x: 0, y: 0 }, inner: 100, outer: 300, from: 0.5, to: 1 };
    const frame = new RingFrame(0, { t0: 0, t1: 100 }, new Levels(0), 9, ring);
    const width = (level: number): number => {
      const [a, b] = [frame.place(10, level), frame.place(20, level)];
      return Math.hypot(a.x - b.x, a.y - b.y);
    };
    for (let level = 1; level < 9; level++) expect(width(level)).toBeGreaterThan(width(level - 1));
  });
});

describe('sections', () => {
  it('fill the half circle, equally but for the focused one', () => {
    for (let n = 1; n <= 8; n++) {
      const parts = sections(n, -1, 200);
      expect(parts[0]!.from).toBeGreaterThan(0);
      expect(parts[n - 1]!.to).toBeLessThan(Math.PI);
      for (let i = 1; i < n; i++) {
        expect(parts[i]!.from).toBeGreaterThan(parts[i - 1]!.to);
        const [a, b] = [parts[i]!, parts[0]!];
        expect(a.to - a.from).toBeCloseTo(b.to - b.from, 9);
      }
    }
    const [small, big] = sections(4, 1, 200);
    expect((big!.to - big!.from) / (small!.to - small!.from)).toBeCloseTo(4, 6);
  });
});

describe('levels', () => {
  it('fold from the top, one by one, and back', () => {
    for (let fold = 0; fold < 8; fold++) {
      const levels = new Levels(fold);
      for (let level = 0; level < 20; level++) {
        const tall = levels.at(level + 1) - levels.at(level);
        expect(tall).toBe(level < fold ? 3 : 14);
        expect(levels.of(levels.at(level))).toBe(level);
        expect(levels.of(levels.at(level + 1) - 0.01)).toBe(level);
      }
    }
  });
  it('says how much must fold', () => {
    for (let deep = 1; deep < 60; deep++) {
      const fold = Levels.fit(deep, 300);
      const isPossible = deep * 3 <= 300;
      if (isPossible && fold < deep) expect(new Levels(fold).at(deep)).toBeLessThanOrEqual(300);
      if (fold > 0) expect(new Levels(fold - 1).at(deep)).toBeGreaterThan(300);
    }
  });
  it('are higher where few have much room', () => {
    expect(Levels.within(3, 300, 0).height).toBe(26);
    expect(Levels.within(100, 300, 0).height).toBe(14);
  });
});

it('a ladder has the same threads below each other', () => {
  const rand = random(3);
  for (let round = 0; round < 300; round++) {
    const options = randomOptions(rand);
    const rows = layoutLadder(options, 150);
    expect(rows.map(({ thread }) => thread)).toEqual([0, ...options.contexts]);
    rows.forEach((row: StraightFrame, i) => {
      const above = rows[i - 1];
      if (above) expect(row.box.y).toBeGreaterThanOrEqual(above.box.y + above.box.height);
      if (row.shown < 1) return;
      const { t, level } = randomSpot(row, rand);
      const { x, y } = row.place(t, level + 0.5);
      expect(row.spot(x, y)!.level).toBe(level);
    });
  }
});

describe('labels', () => {
  const plateOf = (width: number, height: number, n: number, focused: number): Plate =>
    layoutPlate({
      width,
      height,
      split: defaultSplit(height, 4),
      inner: 0.5 * height,
      focus: 0,
      contexts: Array.from({ length: n }, (_, i) => i + 1),
      focused,
      view: () => ({ t0: 0, t1: 100 }),
      fold: () => 0,
      deep: () => 4,
    });
  it('touch neither each other nor the ring', () => {
    for (const [width, height] of [
      [1200, 330],
      [1200, 240],
      [1800, 700],
      [600, 900],
    ] as const)
      for (let n = 1; n <= 8; n++)
        for (let focused = 0; focused <= n; focused++) {
          const { rings, center } = plateOf(width, height, n, focused);
          const outer = Math.max(...rings.map(ring => ring.radius(ring.shown)));
          const widths = rings.map((_, i) => 44 + ((i * 17) % 50));
          const spots = labelSpots(rings, widths);
          spots.forEach((a, i) => {
            expect(a.y + LABEL_PX).toBeLessThanOrEqual(center.y + outer + LABEL_PX + 6);
            const x = Math.max(a.x, Math.min(center.x, a.x + widths[i]!));
            const y = Math.max(a.y, Math.min(center.y, a.y + LABEL_PX));
            expect(Math.hypot(x - center.x, y - center.y)).toBeGreaterThan(outer - 4);
            spots.slice(0, i).forEach((b, k) => {
              const apart =
                a.x + widths[i]! <= b.x ||
                b.x + widths[k]! <= a.x ||
                Math.abs(a.y - b.y) >= LABEL_PX;
              expect(apart, `${width} ${n} ${focused}: ${i} ${k}`).toBe(true);
            });
          });
        }
  });
  it('leave the ring what the levels of the main view do not need', () => {
    expect(defaultSplit(330, 4)).toBe(90);
    expect(defaultSplit(330, 40)).toBe(119);
    expect(defaultSplit(700, 1)).toBe(60);
  });
  it('have contrast on every fill', () => {
    for (let grey = 0; grey < 256; grey++) {
      const { ink, ground } = lookOf(toHex([grey, grey, grey]));
      expect(contrast(ink, ground)).toBeGreaterThanOrEqual(6);
    }
  });
});
