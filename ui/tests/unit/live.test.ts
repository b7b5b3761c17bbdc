// SPDX-License-Identifier: MIT
// What a served page makes of its server's answers.
import { describe, expect, it } from 'vitest';
import { decodeExact, rank, sortRanked, summarizeExact } from '../../src/screens/overview/state';
import { decodeTrace, decodeRegimes } from '../../src/shared/api/page';
import { sketchRows } from '../../src/shared/lib/lod';
import type { LodItems } from '../../src/shared/lib/lod';
import { askParams, NO_ASK, readAsk, readTime, writeAsk } from '../../src/shared/lib/search';
import { findRow, makeApp, Model, replaceModel, rowAt } from '../../src/shared/state/app';
import { makeData } from '../fixtures/make.mjs';

type Item = [start: number, end: number, depth: number, fn: number, count?: number];

function items(list: Item[]): LodItems {
  const get = (i: number): number[] => list.map(item => item[i] ?? 1);
  return {
    start: Float64Array.from(get(0)),
    end: Float64Array.from(get(1)),
    count: Uint32Array.from(get(4)),
    depth: Uint16Array.from(get(2)),
    fn: Uint32Array.from(get(3)),
    longestFn: Uint32Array.from(get(3)),
    covered: Float64Array.from(list, item => item[1] - item[0]),
    longest: Float64Array.from(list, item => item[1] - item[0]),
    isCluster: Uint8Array.from(list, item => ((item[4] ?? 1) > 1 ? 1 : 0)),
  };
}

describe('a first picture', () => {
  it('nests what is given depth by depth', () => {
    const rows = sketchRows(
      items([
        ...([
          [0, 100, 0, 1],
          [200, 300, 0, 2],
          [10, 50, 1, 3],
          [60, 90, 1, 4, 7],
          [210, 300, 1, 5],
          [20, 30, 2, 6],
        ] as Item[]),
      ]),
      0,
      6,
    );
    expect([...rows.fn]).toEqual([1, 3, 6, 4, 2, 5]);
    expect([...rows.parent]).toEqual([-1, 0, 1, 0, -1, 4]);
    expect([...rows.next]).toEqual([4, 3, 3, 4, 6, 6]);
    expect([...rows.count]).toEqual([1, 1, 1, 7, 1, 1]);
  });
  it('keeps a call whose caller is not in the picture', () => {
    const rows = sketchRows(items([[5, 9, 3, 0]]), 0, 1);
    expect([rows.n, rows.parent[0], rows.level[0]]).toEqual([1, -1, 3]);
  });
});

describe('thresholds', () => {
  it('are the same again from the address', () => {
    const ask = { ...NO_ASK, preset: 'fine' as const, d: 1500, glyphs: 0, k: 12.5 };
    expect(writeAsk(ask)).toBe('preset:fine,glyphs:0,d:1500,k:12.5');
    expect(readAsk(writeAsk(ask))).toEqual(ask);
    expect(readAsk('')).toEqual(NO_ASK);
    expect(readAsk('preset:x,d:-3,glyphs:a,,k')).toEqual(NO_ASK);
  });
  it('ask only for what differs', () => {
    const asked = Object.entries(askParams({ ...NO_ASK, g: 7, glyphs: 0 }));
    expect(asked.filter(([, value]) => value !== undefined)).toEqual([
      ['gap_ns', 7],
      ['glyphs', 0],
    ]);
  });
  it('are times with their units', () => {
    expect(['', ' 1.5 ms', '20us', '5', 'x'].map(readTime)).toEqual([0, 1.5e6, 2e4, null, null]);
  });
});

describe('an exact interval', () => {
  const context = (depth: number, name: string, sum_ns: number, self_ns: number, count = 1) => ({
    depth,
    function: name,
    fn: 'abw'.indexOf(name),
    sum_ns,
    self_ns,
    count,
  });
  const json = {
    from_ns: 100,
    to_ns: 200,
    threads: [
      {
        thread: 0,
        called_ns: 100,
        no_call_ns: 0,
        outside_ns: 0,
        calls: 9,
        top_function: 'b',
        top_self_ns: 60,
        cct: [context(0, 'a', 100, 40), context(1, 'b', 60, 60, 8)],
      },
      {
        thread: 1,
        called_ns: 100,
        no_call_ns: 0,
        outside_ns: 0,
        calls: 2,
        top_function: 'w',
        top_self_ns: 100,
        cct: [context(0, 'a', 100, 0), context(1, 'w', 100, 100)],
      },
      { thread: 2, called_ns: 0, no_call_ns: 30, outside_ns: 70, calls: 0, cct: [] },
    ],
  };
  const { span, threads } = decodeExact(json, ['a', 'b', 'w']);
  const all = threads.map(thread => rank(thread, span, [0, 0, 1]));
  it('says what each thread did', () => {
    expect(all.map(one => one.state)).toEqual(['runs', 'waits', 'no call']);
    expect(all[0]!.throughout?.fn).toBe(0);
    expect(all[1]!.throughout?.fn).toBe(2);
    expect(all[0]!.self).toEqual([
      { fn: 1, ns: 60 },
      { fn: 0, ns: 40 },
    ]);
    expect(summarizeExact(all)).toBe('Of 3 threads 1 ran, 1 waited throughout, 1 had no call.');
  });
  it('ranks by what is asked', () => {
    const order = (by: Parameters<typeof sortRanked>[1], fn?: number): number[] =>
      sortRanked(all, by, fn).map(one => one.of.thread);
    expect(order('calls')).toEqual([0, 1, 2]);
    expect(order('top')).toEqual([1, 0, 2]);
    expect(order('none')).toEqual([2, 0, 1]);
    expect(order('calls', 2)).toEqual([1, 0, 2]);
  });
  it('refuses functions that are none', () => {
    const bad = { threads: [{ thread: 0, cct: [context(0, 'zz', 1, 1)] }] };
    expect(() => decodeExact(bad, ['a', 'b', 'w'])).toThrow('unknown function');
  });
});

describe('other rows of the same trace', () => {
  const json = makeData(5);
  const whole = decodeTrace(json);
  const app = makeApp(whole, []);
  it('keep the selected item if they have it, else its time', () => {
    const item = { thread: 1, row: 2 };
    app.state.update(now => ({ ...now, item, range: null }));
    const at = rowAt(app.model, item)!;
    replaceModel(app, new Model(decodeTrace(json)));
    expect(app.state.get().item).toEqual(findRow(app.model, at));
    const threads = whole.threads.slice(0, 4).map(thread => ({
      ...thread,
      rows: sketchRows(items([]), 0, 0),
    }));
    replaceModel(app, new Model({ ...whole, threads }));
    expect(app.state.get().item).toBeNull();
    expect(app.state.get().range).toEqual({ t0: at.start, t1: at.end });
  });
  it('have a call although they are cut at the borders of a window', () => {
    const thread = whole.threads[0]!;
    const row = [...thread.rows.kind].findIndex(
      (kind, i) => kind === 0 && thread.rows.end[i]! - thread.rows.start[i]! > 1000,
    );
    const item = { thread: 0, row };
    const model = new Model(whole);
    const at = rowAt(model, item)!;
    expect(findRow(model, { ...at, start: at.start + 10, end: at.end - 10 })).toEqual(item);
    expect(findRow(model, { ...at, level: 60000 })).toBeNull();
  });
  it('stand in the places of the server\u2019s threads', () => {
    const all = json['threads'] as { n_rows: number }[];
    const from = all[0]!.n_rows + all[1]!.n_rows;
    const rows = Object.entries(json['rows'] as Record<string, number[]>);
    const part = {
      ...json,
      threads: all.slice(2),
      rows: Object.fromEntries(rows.map(([key, values]) => [key, values.slice(from)])),
    };
    const span = { t0: 5, t1: 900 };
    const trace = decodeRegimes(part, whole, whole, span);
    expect(trace.threads.map(thread => thread.tid)).toEqual(whole.threads.map(({ tid }) => tid));
    expect(trace.threads.map((thread, i) => thread.index === i)).not.toContain(false);
    expect(trace.threads[3]!.whole).toBe(whole.threads[3]);
    expect(trace.part).toEqual({ kind: 'window', span });
    expect(trace.outliers.every(({ thread }) => thread >= 2)).toBe(true);
  });
});
