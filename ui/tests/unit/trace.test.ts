// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import { whatItDid } from '../../src/screens/overview/panel';
import { groupOutliers, makeStory, sweep } from '../../src/screens/overview/story';
import { decodeTrace } from '../../src/shared/api/page';
import {
  findPacks,
  callAt,
  compactLayout,
  flatten,
  MARK,
  tallLayout,
} from '../../src/shared/lib/layout';
import { KIND } from '../../src/shared/lib/model';
import type { Trace } from '../../src/shared/lib/model';
import { buildFamilies } from '../../src/shared/lib/names';
import { linearMap, regimeMap, View } from '../../src/shared/lib/timemap';
import { goToOutlier, rowOfOutlier, sentence } from '../../src/shared/state/actions';
import { applyPlace, makeApp, placeOf } from '../../src/shared/state/app';
import { findHits, buildRows } from '../../src/shared/state/rows';
import type { ScreenSpec } from '../../src/shared/state/screens';
import { makeData } from '../fixtures/make.mjs';

const SCREENS = [{ key: 'overview' }, { key: 'patterns' }] as ScreenSpec[];

const load = (n: number, seed = 1): Trace => decodeTrace(makeData(n, seed));
const trace = load(40);

describe('decoding', () => {
  it('restores starts, parents and sums', () => {
    for (const { rows } of trace.threads)
      for (let i = 0; i < rows.n; i++) {
        const parent = rows.parent[i]!;
        expect(parent).toBeLessThan(i);
        if (parent < 0) continue;
        expect(rows.start[i]!).toBeGreaterThanOrEqual(rows.start[parent]!);
        expect(rows.end[i]!).toBeLessThanOrEqual(rows.end[parent]!);
        expect(rows.next[i]!).toBeLessThanOrEqual(rows.next[parent]!);
      }
  });
  it('refuses other versions and damaged columns with a sentence', () => {
    expect(() => decodeTrace({ v: 99 })).toThrow(/version/);
    const made = (): { rows: { s: number[]; f: number[] }; threads: { n_rows: number }[] } =>
      makeData(1) as ReturnType<typeof made>;
    const data = made();
    data.rows.s.pop();
    expect(() => decodeTrace(data as never)).toThrow(/damaged/);
    const other = made();
    other.rows.f[0] = 999;
    expect(() => decodeTrace(other as never)).toThrow(/damaged/);
    for (const n of [-1, 0.5, 1e6, 0]) {
      const wrong = made();
      wrong.threads[0]!.n_rows = n;
      expect(() => decodeTrace(wrong as never), `${n} rows`).toThrow(/damaged/);
    }
  });
});

describe('layout', () => {
  it('stays inside the row and keeps children inside their parents', () => {
    for (const thread of trace.threads) {
      const layout = compactLayout(thread);
      for (let i = 0; i < thread.rows.n; i++) {
        expect(layout.y0[i]!).toBeGreaterThanOrEqual(0);
        expect(layout.y1[i]!).toBeLessThanOrEqual(MARK);
        const { kind, parent } = thread.rows;
        if (kind[i] !== KIND.NODE && kind[i] !== KIND.OTHER) continue;
        expect(layout.v1[i]!).toBeLessThanOrEqual(1 + 1e-9);
        const p = parent[i]!;
        if (kind[p] !== KIND.NODE) continue;
        expect(layout.v0[i]!).toBeGreaterThanOrEqual(layout.v0[p]! - 1e-9);
        expect(layout.v1[i]!).toBeLessThanOrEqual(layout.v1[p]! + 1e-9);
      }
      const tall = tallLayout(thread);
      expect(Math.max(...tall.y1)).toBeLessThanOrEqual(tall.height);
    }
  });
  it('flattens without overlap', () => {
    for (const thread of trace.threads) {
      const flat = flatten(thread);
      for (let i = 1; i < flat.length; i++)
        expect(flat[i]!.start).toBeGreaterThanOrEqual(flat[i - 1]!.end);
    }
  });
});

describe('maps of time', () => {
  it('are strictly monotone and have an inverse', () => {
    for (const map of [linearMap(trace.duration), regimeMap(trace.threads, trace.duration)]) {
      let last = -1;
      for (let t = 0; t <= trace.duration; t += trace.duration / 997) {
        const u = map.at(t);
        expect(u).toBeGreaterThan(last);
        last = u;
        expect(Math.abs(map.time(u) - t)).toBeLessThan(1);
      }
      const view = new View(map, 1e6, 9e7, 700);
      expect(view.x(1e6)).toBeCloseTo(0, 6);
      expect(view.x(9e7)).toBeCloseTo(700, 6);
      expect(view.t(view.x(5e7))).toBeCloseTo(5e7, 0);
    }
  });
});

describe('intervals', () => {
  it('account for all time: known + unresolved + no call = interval', () => {
    const spans = [
      [0, trace.duration],
      [1e7, 2e7],
      [5e7, 5e7 + 1000],
      [1.1e8, 1.2e8],
    ] as const;
    for (const thread of trace.threads)
      for (const [t0, t1] of spans) {
        const did = whatItDid(thread, { t0, t1 });
        const known = did.self.reduce((sum, { ns }) => sum + ns, 0);
        expect(known + did.unresolved + did.outside).toBeCloseTo(t1 - t0, -4);
        expect(did.callsLeast).toBeLessThanOrEqual(did.callsMost);
      }
  });
  it('are exact where a call covers all, and name what was open', () => {
    const outlier = trace.outliers[0]!;
    const thread = trace.threads[outlier.thread]!;
    const [t0, t1] = [outlier.start + 1000, outlier.end - 1000];
    const did = whatItDid(thread, { t0, t1 });
    expect(thread.rows.fn[did.throughout]).toBe(outlier.fn);
    expect(did.self[0]).toEqual({ fn: outlier.fn, ns: t1 - t0 });
    expect(callAt(thread.rows, t0)).toBe(did.throughout);
  });
  it('do not invent: a run cut by the border gives bounds', () => {
    const thread = trace.threads.find(t => t.expressions > 0)!;
    const box = thread.rows.kind.indexOf(KIND.EXPRESSION);
    const t0 = thread.rows.start[box]! + 1000;
    const did = whatItDid(thread, { t0, t1: t0 + 1000 });
    expect(did.isExact).toBe(false);
    expect(did.callsMost).toBeGreaterThan(did.callsLeast);
    expect(did.unresolved).toBe(1000);
  });
});

describe('story', () => {
  it('sweeps: most at once, and the time with one alone', () => {
    const at = sweep([
      { t0: 0, t1: 10 },
      { t0: 5, t1: 15 },
    ]);
    expect(at).toEqual({ most: 2, at: 5, area: 20, shareAtMostOne: 10 / 15 });
  });
  it('has a headline for every size of trace', () => {
    for (const n of [0, 1, 2, 5, 40]) {
      const some = load(n);
      const story = makeStory(some, buildFamilies(some.functions));
      expect(story.headline.length).toBeGreaterThan(10);
      const shares = story.table.reduce((sum, row) => sum + row.share, 0);
      if (n > 0) expect(shares).toBeCloseTo(1, 6);
    }
  });
  it('groups the deepest outliers', () => {
    const groups = groupOutliers(trace);
    expect(groups.length).toBeGreaterThan(0);
    for (const group of groups) for (const one of group.list) expect(one.fn).toBe(group.fn);
  });
});

describe('threads alike', () => {
  it('packs every thread once, and small traces not at all', () => {
    const { short } = buildFamilies(trace.functions);
    const { packs, single } = findPacks(trace, trace.threads, short);
    const all = [...packs.flatMap(pack => pack.threads), ...single]
      .map(t => t.index)
      .sort((a, b) => a - b);
    expect(all).toEqual(trace.threads.map(t => t.index));
    expect(packs.length).toBeGreaterThan(0);
    const few = load(5);
    expect(findPacks(few, few.threads, short).packs).toEqual([]);
  });
  it('lays rows one below the other', () => {
    const app = makeApp(trace, SCREENS);
    const { rows, height } = buildRows(app.model, app.state.get());
    rows.forEach((row, i) => i > 0 && expect(row.y).toBe(rows[i - 1]!.y + rows[i - 1]!.height));
    const last = rows[rows.length - 1]!;
    expect(height).toBe(last.y + last.height);
  });
});

describe('state', () => {
  it('goes through the address and back', () => {
    const app = makeApp(trace, SCREENS);
    goToOutlier(app, trace.outliers[0]!);
    app.state.update(now => ({ ...now, hidden: new Set([3, 5]), query: 'page', family: 1 }));
    const place = placeOf(app);
    const other = makeApp(trace, SCREENS);
    applyPlace(other, place);
    expect(placeOf(other)).toEqual(place);
  });
  it('finds the row of every outlier, and a sentence for every row', () => {
    const app = makeApp(trace, SCREENS);
    for (const outlier of trace.outliers) {
      const { thread, row } = rowOfOutlier(app, outlier);
      const { rows } = trace.threads[thread]!;
      expect([rows.fn[row], rows.start[row]]).toEqual([outlier.fn, outlier.start]);
    }
    for (let row = 0; row < trace.threads[0]!.rows.n; row++)
      expect(sentence(app, { thread: 0, row })).toMatch(/^.+, .+\.$/);
  });
  it('searches by name, duration and thread', () => {
    const app = makeApp(trace, SCREENS);
    const hits = findHits(app.model, 'cond_wait min:1ms')!;
    expect(hits.items.length).toBeGreaterThan(0);
    for (const { thread, row } of hits.items)
      expect(trace.functions.name[trace.threads[thread]!.rows.fn[row]!]).toBe('cond_wait');
    expect([...findHits(app.model, 'tid:103')!.threads]).toEqual([3]);
    expect(findHits(app.model, 'no_such_function')!.items).toEqual([]);
    expect(findHits(app.model, ' ')).toBeNull();
  });
});
