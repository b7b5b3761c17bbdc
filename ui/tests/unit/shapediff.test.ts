// SPDX-License-Identifier: MIT
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  compareShapes,
  distanceText,
  nearShapes,
  NULL,
  repeatsDiffer,
  ShapeMetric,
  signOf,
} from '../../src/screens/patterns/shapediff';
import type { ShapeTable } from '../../src/shared/lib/shapes';

interface Fixture {
  functions: number[];
  kids: [id: number, min: number, max: number][][];
  diffs: { a: number; b: number; halves: number; pairs: (number | null)[][] }[];
}

const fixture = JSON.parse(
  readFileSync(new URL('../fixtures/diffs.json', import.meta.url), 'utf8'),
) as Fixture;

function tableOf(functions: number[], kids: [number, number, number][][]): ShapeTable {
  const kidsFrom = new Int32Array(functions.length + 1);
  kids.forEach((list, i) => (kidsFrom[i + 1] = kidsFrom[i]! + list.length));
  const edges = kids.flat();
  const zero = functions.map(() => 0);
  return {
    n: functions.length,
    id: Int32Array.from(functions, (_, i) => i),
    kidsFrom,
    fn: Int32Array.from(functions),
    cluster: Int32Array.from(zero, () => -1),
    count: Float64Array.from(zero, () => 1),
    kid: Int32Array.from(edges, e => e[0]),
    least: Float64Array.from(edges, e => e[1]),
    most: Float64Array.from(edges, e => e[2]),
    sum: Float64Array.from(edges, e => e[1]),
    more: Int32Array.from(zero),
  };
}

const table = tableOf(fixture.functions, fixture.kids);
const metric = new ShapeMetric(table);

/** The definition, word by word (paper, Definition 5.5), without memory. */
function plain(a: number, b: number): number {
  const of = (s: number): number[] => [...metric.kids(s)];
  if (a === NULL && b === NULL) return 0;
  const functions = metric.ofFunctions(a, b);
  const least = (x: number, others: number[]): number =>
    Math.min(...[...others, NULL].map(y => plain(x, y)));
  const most = (list: number[], others: number[]): number =>
    Math.max(0, ...list.map(x => least(x, others)));
  return functions + Math.max(most(of(a), of(b)), most(of(b), of(a)));
}

describe('the diff of two shapes', () => {
  it('is what weft shapes --diff says, pair by pair', () => {
    expect(fixture.diffs.length).toBe(60);
    for (const { a, b, halves, pairs } of fixture.diffs) {
      const found = compareShapes(table, metric, a, b, 1e6)!;
      expect(found.distance, `${a} ${b}`).toBe(halves);
      const said = found.matches.map(m => [
        m.level,
        m.distance,
        m.isCritical ? 1 : 0,
        m.a === NULL ? null : m.a,
        m.b === NULL ? null : m.b,
      ]);
      expect(said, `${a} ${b}`).toEqual(pairs);
    }
  });
  it('is the definition', () => {
    const small = [...Array(table.n).keys()].filter(s => metric.depth[s]! <= 3).slice(0, 60);
    for (const a of small)
      for (const b of small) expect(metric.distance(a, b), `${a} ${b}`).toBe(plain(a, b));
  });
  it('is a metric', () => {
    const some = [...Array(table.n).keys()].filter((_, i) => i % 4 === 0);
    for (const a of some)
      for (const b of some) {
        const ab = metric.distance(a, b)!;
        expect(ab === 0).toBe(a === b);
        expect(metric.distance(b, a)).toBe(ab);
        expect(Math.abs(metric.depth[a]! - metric.depth[b]!)).toBeLessThanOrEqual(ab);
        const most = some.filter(c => metric.distance(a, c)! > ab + metric.distance(b, c)!);
        expect(most).toEqual([]);
      }
  });
  it('pairs every callee of either side, and has a critical path', () => {
    for (const { a, b } of fixture.diffs) {
      const { matches, distance } = compareShapes(table, metric, a, b, 1e6)!;
      expect(matches.some(m => m.isCritical)).toBe(distance > 0);
      for (const side of ['a', 'b'] as const) {
        const kids = [...metric.kids(side === 'a' ? a : b)];
        const drawn = new Set(matches.filter(m => m.level === 1).map(m => m[side]));
        if (a !== b) for (const kid of kids) expect(drawn.has(kid)).toBe(true);
      }
    }
  });
  it('says what a pair is', () => {
    const signs = new Set<string>();
    let repeats = 0;
    for (const { a, b } of fixture.diffs)
      for (const match of compareShapes(table, metric, a, b, 1e6)!.matches) {
        signs.add(signOf(table, match));
        if (repeatsDiffer(table, match)) repeats++;
      }
    expect([...signs].sort()).toEqual(['function', 'inside', 'onlyA', 'onlyB', 'same']);
    expect(repeats).toBeGreaterThan(0);
    expect([0, 1, 2, 3, 8].map(distanceText)).toEqual(['0', '\u00bd', '1', '1\u00bd', '4']);
  });
  it('stops at its limit, and says so', () => {
    const { a, b } = fixture.diffs.find(d => d.pairs.length > 9)!;
    const cut = compareShapes(table, metric, a, b, 5)!;
    expect(cut.isCut).toBe(true);
    expect(cut.matches.length).toBe(5);
  });
});

describe('near shapes', () => {
  it('are all within the bound, nearest first', () => {
    for (let s = 0; s < table.n; s += 5) {
      const near = nearShapes(table, metric, s, 3);
      const all = [...Array(table.n).keys()].filter(
        o => o !== s && table.fn[o] === table.fn[s] && metric.distance(s, o)! <= 3,
      );
      expect(near.map(n => n.shape).sort((x, y) => x - y)).toEqual(all);
      near.forEach((n, i) => i && expect(n.distance).toBeGreaterThanOrEqual(near[i - 1]!.distance));
    }
  });
});

describe('shapes without bounds', () => {
  it('deep ones are compared without a deep stack', () => {
    const n = 20000;
    const chains = tableOf(
      Array.from({ length: 2 * n }, (_, i) => (i === 1 ? 1 : 0)),
      Array.from({ length: 2 * n }, (_, i) => (i < 2 ? [] : [[i - 2, 1, 1]])),
    );
    expect(new ShapeMetric(chains).distance(2 * n - 2, 2 * n - 1)).toBe(1);
  });
  it('too wide ones are given up', () => {
    const [leaves, wide] = [4000, 4];
    const two = (at: number): [number, number, number][] => [
      [at % leaves, 1, 1],
      [(at * 7 + 1) % leaves, 1, 1],
    ];
    const functions = Array.from({ length: leaves * 2 + 2 }, (_, i) =>
      i < leaves ? i : i < leaves * 2 ? wide : -1,
    );
    const kids: [number, number, number][][] = functions.map((_, i) =>
      i < leaves
        ? []
        : i < leaves * 2
          ? two(i).sort((x, y) => x[0] - y[0])
          : Array.from({ length: leaves / 2 }, (_, k) => [leaves + 2 * k + (i % 2), 1, 1]),
    );
    const big = new ShapeMetric(tableOf(functions, kids));
    expect(big.distance(leaves * 2, leaves * 2 + 1)).toBeNull();
  });
});
