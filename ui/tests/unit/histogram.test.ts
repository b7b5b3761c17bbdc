// SPDX-License-Identifier: MIT
import { expect, it } from 'vitest';
import * as hist from '../../src/shared/lib/histogram';

/** Bins of 16 equal parts of every power of two, as the server makes them. */
function binsOf(values: readonly number[]): hist.Bins {
  const found = new Map<number, { from: number; to: number; count: number; sum: number }>();
  for (const value of values) {
    const power = Math.max(4, Math.floor(Math.log2(Math.max(1, value))));
    const width = 2 ** (power - 4);
    const from = Math.floor(value / width) * width;
    const bin = found.get(from) ?? { from, to: from + width, count: 0, sum: 0 };
    found.set(from, { ...bin, count: bin.count + 1, sum: bin.sum + value });
  }
  const list = [...found.values()].sort((a, b) => a.from - b.from);
  const column = (key: 'from' | 'to' | 'count' | 'sum'): Float64Array =>
    Float64Array.from(list, bin => bin[key]);
  return {
    n: list.length,
    from: column('from'),
    to: column('to'),
    count: column('count'),
    sum: column('sum'),
    min: Math.min(...values),
    max: Math.max(...values),
    total: values.length,
    totalNs: values.reduce((a, b) => a + b, 0),
  };
}

function values(seed: number): number[] {
  let s = seed;
  const next = (): number => (s = (Math.imul(s, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  return Array.from({ length: 1 + Math.floor(next() * 400) }, () =>
    Math.floor(2 ** (next() * 32 * next())),
  );
}

it('bars hold every call once, whatever their width', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const all = values(seed);
    const bins = binsOf(all);
    for (const width of [40, 200, 900]) {
      const axis = hist.axisOf(bins, width);
      const bars = hist.barsOf(bins, axis, 5);
      expect(bars.reduce((n, bar) => n + bar.count, 0)).toBe(all.length);
      expect(bars.reduce((n, bar) => n + bar.sum, 0)).toBe(bins.totalNs);
      bars.forEach((bar, i) => {
        const inside = all.filter(value => value >= bar.from && value < bar.to).length;
        expect(inside).toBe(bar.count);
        if (i > 0) expect(bar.from).toBeGreaterThanOrEqual(bars[i - 1]!.to);
        expect(axis.x(bar.from)).toBeGreaterThanOrEqual(-0.01);
        expect(axis.x(bar.to)).toBeLessThanOrEqual(width * 1.05);
      });
    }
  }
});

it('quantiles are right to the width of a bin', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const all = values(seed).sort((a, b) => a - b);
    const bins = binsOf(all);
    for (const share of [0.5, 0.9, 0.99, 1]) {
      const exact = all[Math.ceil(all.length * share) - 1]!;
      const told = hist.quantileOf(bins, share);
      expect(told).toBeGreaterThanOrEqual(exact);
      expect(told).toBeLessThanOrEqual(exact + Math.max(1, exact / 16));
    }
  }
  expect(hist.quantileOf(binsOf([]), 0.5)).toBeNaN();
  expect(hist.meanOf(binsOf([]))).toBe(0);
  expect(hist.meanOf(binsOf([1, 3]))).toBe(2);
});

it('the axis goes there and back', () => {
  const axis = new hist.LogAxis(100, 1e9, 500);
  for (const x of [0, 1, 77, 500]) expect(axis.x(axis.ns(x))).toBeCloseTo(x, 6);
  expect(axis.x(100)).toBeCloseTo(0);
  expect(axis.x(1e9)).toBeCloseTo(500);
  expect(hist.axisOf(binsOf([]), 100).x(1e9)).toBeCloseTo(100);
});

it('ticks are apart, and say their unit', () => {
  const axis = new hist.LogAxis(100, 2e9, 500);
  const ticks = hist.timeTicks(axis, 40);
  expect(ticks.map(tick => tick.label)).toContain('1\u00a0ms');
  for (let i = 1; i < ticks.length; i++)
    expect(axis.x(ticks[i]!.ns) - axis.x(ticks[i - 1]!.ns)).toBeGreaterThan(30);
  expect(hist.timeTicks(new hist.LogAxis(900, 2100, 500), 40).length).toBeGreaterThan(1);
});

it('heights follow their scale, and ticks stay apart', () => {
  for (const scale of ['linear', 'root', 'log'] as const) {
    expect(hist.heightOf(0, 10, scale)).toBe(0);
    expect(hist.heightOf(10, 10, scale)).toBe(1);
    expect(hist.heightOf(5, 10, scale)).toBeGreaterThanOrEqual(0.5);
    const ticks = hist.heightTicks(7300, scale, 0.15).map(tick => hist.heightOf(tick, 7300, scale));
    expect(ticks.length).toBeGreaterThan(1);
    for (let i = 1; i < ticks.length; i++)
      expect(ticks[i - 1]! - ticks[i]!).toBeGreaterThanOrEqual(0.15);
  }
  expect(hist.fittingScale([1, 2, 40])).toBe('linear');
  expect(hist.fittingScale([1, 2, 60])).toBe('root');
  expect(hist.fittingScale([])).toBe('linear');
});

it('a part of the calls is counted from whole bins', () => {
  const bins = binsOf([1, 5, 1000, 2000, 2000]);
  expect(hist.within(bins, 0, 10)).toEqual({ count: 2, sum: 6 });
  expect(hist.within(bins, 900, 1e9)).toEqual({ count: 3, sum: 5000 });
  expect(hist.longerThan(bins, 1500)).toBe(2);
});
