// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import { findClusters } from '../../src/screens/patterns/state';
import { decodeTrace } from '../../src/shared/api/page';
import { isChained, makeBehaviours, tell } from '../../src/shared/lib/behaviours';
import { GREY_HUE } from '../../src/shared/lib/color';
import { columnTime, outermost, runSpan, treeLines } from '../../src/shared/lib/shapes';
import type { Shapes } from '../../src/shared/lib/shapes';
import { Model } from '../../src/shared/state/app';
import { makeData } from '../fixtures/make.mjs';

type Loose = Record<string, never>;
const load = (n: number): Shapes => decodeTrace(makeData(n)).shapes!;
const shapes = load(12);

function random(seed: number): () => number {
  let s = seed >>> 0;
  return () => {
    s = (Math.imul(s ^ (s >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((s ^ (s >>> 13)) >>> 0) / 2 ** 32;
  };
}

describe('decoding shapes', () => {
  it('restores runs, children and occurrences', () => {
    expect(shapes.clusters.length).toBe(60);
    for (const thread of shapes.threads)
      for (const ribbon of thread!.ribbons)
        for (let run = 0; run < ribbon.n; run++) {
          const end = ribbon.first[run]! + ribbon.width[run]!;
          expect(end).toBeLessThanOrEqual(shapes.columns);
          if (run + 1 < ribbon.n) expect(ribbon.first[run + 1]!).toBeGreaterThanOrEqual(end);
          if (Number.isNaN(ribbon.start[run]!)) continue;
          expect(ribbon.start[run]!).toBeGreaterThanOrEqual(columnTime(shapes, ribbon.first[run]!));
          expect(ribbon.end[run]!).toBeLessThanOrEqual(columnTime(shapes, end));
        }
    const { kidsFrom, kid, n } = shapes.shapes;
    for (let s = 0; s < n; s++)
      for (let e = kidsFrom[s]!; e < kidsFrom[s + 1]!; e++) expect(kid[e]!).toBeLessThan(s);
  });
  it('restores histograms, which hold every occurrence', () => {
    const some = shapes.clusters.filter(({ bins }) => bins !== null);
    expect(some.length).toBe(40);
    for (const { bins, count, sum, deviation, ofFunction } of some) {
      expect(bins!.total).toBe(count);
      expect(bins!.totalNs).toBe(sum);
      for (let i = 1; i < bins!.n; i++)
        expect(bins!.from[i]!).toBeGreaterThanOrEqual(bins!.to[i - 1]!);
      expect(deviation).toBeGreaterThan(0);
      expect(ofFunction).toMatchObject({ count: 2 * count, sum: 2 * sum });
      expect(ofFunction.deviation).toBeGreaterThan(0);
    }
  });
  it('is null for a page without', () => {
    const data = makeData(2) as { shapes?: unknown };
    delete data.shapes;
    expect(decodeTrace(data as Loose).shapes).toBeNull();
  });
  it('refuses damage with a sentence, or reads on: never anything else', () => {
    const rand = random(7);
    let refused = 0;
    const whole = makeData(2);
    for (let i = 0; i < 150; i++) {
      const data = structuredClone(whole) as { shapes: Loose };
      let at: Record<string, unknown> = data.shapes;
      for (;;) {
        const keys = Object.keys(at);
        const key = keys[Math.floor(rand() * keys.length)]!;
        const value = at[key];
        if (typeof value === 'object' && value !== null && rand() < 0.93) {
          if (Object.keys(value).length === 0) break;
          at = value as Record<string, unknown>;
          continue;
        }
        at[key] = [-5, 1e9, 0.5, null, 'x', [], {}, NaN][Math.floor(rand() * 8)];
        break;
      }
      try {
        decodeTrace(data);
      } catch (error) {
        refused++;
        expect((error as Error).message).toMatch(/data is damaged/);
      }
    }
    expect(refused).toBeGreaterThan(15);
  });
});

describe('ribbons', () => {
  it('give an exact span only to what is one occurrence', () => {
    let exact = 0;
    for (const { ribbons } of shapes.threads.map(t => t!))
      for (const ribbon of ribbons)
        for (let run = 0; run < ribbon.n; run++) {
          const span = runSpan(shapes, ribbon, run);
          expect(span.t1).toBeGreaterThanOrEqual(span.t0);
          if (!span.isExact) continue;
          exact++;
          expect(ribbon.count[run]!).toBeLessThanOrEqual(1);
        }
    expect(exact).toBeGreaterThan(10);
  });
  it('have an outermost line without overlap that misses nothing', () => {
    for (const thread of shapes.threads.map(t => t!)) {
      const line = outermost(shapes, thread);
      line.forEach((piece, i) => {
        expect(piece.t1).toBeGreaterThan(piece.t0);
        if (i > 0) expect(piece.t0).toBeGreaterThanOrEqual(line[i - 1]!.t1);
      });
      for (let column = 0; column < shapes.columns; column += 7) {
        const t = columnTime(shapes, column) + 10;
        let deepest = -1;
        thread.ribbons.forEach((ribbon, r) => {
          for (let run = 0; run < ribbon.n; run++) {
            const { t0, t1 } = runSpan(shapes, ribbon, run);
            if (t0 <= t && t < t1) deepest = r;
          }
        });
        expect(line.find(p => p.t0 <= t && t < p.t1)?.ribbon ?? -1).toBe(deepest);
      }
    }
  });
});

describe('trees of shapes', () => {
  it('stay within their limit and say what they leave out', () => {
    for (let s = 0; s < shapes.shapes.n; s++) {
      const lines = treeLines(shapes.shapes, s, 20);
      expect(lines.length).toBeLessThanOrEqual(20 + 12);
      expect(lines[0]!.shape).toBe(s);
      for (const line of lines) if (line.shape < 0) expect(line.more).toBeGreaterThan(0);
    }
  });
});

describe('search of behaviours', () => {
  const model = new Model(decodeTrace(makeData(12)));
  const { list, shapes: own } = model.behaviours!;
  const found = (text: string): Set<number> => new Set(findClusters(model, text)!.list);
  /** Literally: some shape of it has such a callee, or one that has. */
  const calls = (shape: number, name: string): boolean =>
    [...own.shapes.kid.subarray(own.shapes.kidsFrom[shape], own.shapes.kidsFrom[shape + 1])].some(
      kid => model.fullName(own.shapes.fn[kid]!) === name || calls(kid, name),
    );
  it('finds what calls a function, directly or not', () => {
    for (const name of ['cond_wait', 'mem_alloc', 'page_read']) {
      const some = list.filter(({ cluster }) => cluster.shapes.some(s => calls(s, name)));
      expect(found(`calls:/^${name}$/`)).toEqual(new Set(some.map(b => b.cluster.index)));
      const none = list.filter(
        ({ cluster }) => cluster.shapes.length > 0 && !cluster.shapes.some(s => calls(s, name)),
      );
      expect(found(`-calls:/^${name}$/`)).toEqual(new Set(none.map(b => b.cluster.index)));
    }
  });
  it('finds by how often', () => {
    const many = list.filter(({ cluster: { count } }) => count >= 1500 && count < 3000);
    expect(found('count:1500 -count:3000')).toEqual(new Set(many.map(b => b.cluster.index)));
    expect(many.length).toBeGreaterThan(0);
  });
});

describe('behaviours', () => {
  const trace = decodeTrace(makeData(12));
  const behaviours = makeBehaviours(trace, shapes, trace.functions.name);
  it('share a hue only where one passes its time on to the other', () => {
    const heads = behaviours.list.filter(b => b.isHead && b.hue !== GREY_HUE);
    expect(heads.length).toBe(10);
    expect(new Set(heads.map(b => b.hue)).size).toBe(10);
    for (const own of behaviours.list.filter(b => !b.isHead))
      expect(heads.some(h => h.hue === own.hue && isChained(h.cluster, own.cluster))).toBe(true);
  });
  it('begin with a sentence of any trace', () => {
    for (const n of [0, 1, 3, 20]) {
      const some = decodeTrace(makeData(n));
      const told = tell(some, makeBehaviours(some, some.shapes!, some.functions.name));
      expect(told.headline.length).toBeGreaterThan(10);
      expect(told.lead.length).toBeGreaterThan(10);
    }
  });
});
