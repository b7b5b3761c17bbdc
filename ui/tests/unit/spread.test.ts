// SPDX-License-Identifier: MIT
import { expect, it } from 'vitest';
import { perThread, rateText } from '../../src/screens/patterns/spread';
import { decodeTrace } from '../../src/shared/api/page';
import { binBegin, binsOf } from '../../src/shared/lib/histogram';
import { makeData } from '../fixtures/make.mjs';

/** The bin of a value, as the program numbers it (src/render/page_clusters.c). */
function binOf(ns: number): number {
  if (ns < 4) return ns;
  let power = 0;
  while (2 ** (power + 1) <= ns) power++;
  return (power - 1) * 4 + (Math.floor(ns / 2 ** (power - 2)) % 4);
}

it('bins begin where the program says', () => {
  for (let ns = 0; ns < 70000; ns++) {
    const bin = binOf(ns);
    expect(binBegin(bin) <= ns && ns < binBegin(bin + 1)).toBe(true);
  }
  for (let bin = 0; bin < 220; bin++) expect(binOf(binBegin(bin))).toBe(bin);
});

it('bins carry their counts', () => {
  const bins = binsOf([4, 5, 9], [10, 1, 4], { sum: 99, min: 4, max: 11 });
  expect([...bins.from]).toEqual([4, 5, 10]);
  expect([...bins.to]).toEqual([5, 6, 12]);
  expect(bins.total).toBe(15);
  expect(bins.totalNs).toBe(99);
});

it('each thread says how often and how long, most time first', () => {
  const shapes = decodeTrace(makeData(12)).shapes!;
  for (const { index, count, sum, threads } of shapes.clusters) {
    const rows = perThread(shapes, index);
    expect(rows.length).toBe(threads);
    expect(rows.reduce((all, row) => all + row.count, 0)).toBe(count);
    expect(rows.reduce((all, row) => all + row.sum, 0)).toBe(sum);
    rows.forEach((row, i) => {
      expect(row.rate).toBeCloseTo(row.count / ((shapes.to - shapes.from) / 1e9));
      if (i > 0) expect(row.sum).toBeLessThanOrEqual(rows[i - 1]!.sum);
    });
  }
});

it('rates are short', () => {
  const texts = [0, 0.0523, 3.25, 431.7, 9999, 12345, 2.5e6].map(rateText);
  expect(texts).toEqual([
    '0/s',
    '0.052/s',
    '3.25/s',
    '432/s',
    '9,999/s',
    '12.3\u00a0k/s',
    '2.5\u00a0M/s',
  ]);
});
