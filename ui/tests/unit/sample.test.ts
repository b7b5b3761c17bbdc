// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import { hashed, sampleRare } from '../../src/shared/lib/lod';

describe('sampling that favours what is rare', () => {
  const group = [0, 0, 1, 2];
  const weight = [8000, 2000, 16, 0];
  const pick = (seed: number): number =>
    sampleRare(
      [0, 1, 2, 3],
      i => group[i]!,
      i => weight[i]!,
      seed,
    );
  it('is settled by the place', () => {
    for (let seed = 0; seed < 200; seed++) expect(pick(seed)).toBe(pick(seed));
    expect(hashed(7)).not.toBe(hashed(8));
  });
  it('draws with the fourth root of the time, of a group the heaviest', () => {
    const n = 20000;
    const counts = [0, 0, 0, 0];
    for (let seed = 0; seed < n; seed++) counts[pick(seed)]!++;
    const roots = [10000 ** 0.25, 16 ** 0.25, 1e-9 ** 0.25];
    const all = roots.reduce((a, b) => a + b, 0);
    expect(counts[1]).toBe(0);
    expect(Math.abs(counts[0]! / n - roots[0]! / all)).toBeLessThan(0.02);
    expect(Math.abs(counts[2]! / n - roots[1]! / all)).toBeLessThan(0.02);
    expect(counts[3]).toBeGreaterThanOrEqual(0);
  });
  it('leaves one item as it is', () => {
    expect(
      sampleRare(
        [3],
        () => 5,
        () => 0,
        1,
      ),
    ).toBe(3);
  });
});
