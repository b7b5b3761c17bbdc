// SPDX-License-Identifier: MIT
import { decodeBins } from '../../src/shared/api/columns';
import { expect, it } from 'vitest';
import {
  filterFunctions,
  FUNCTION_KEYS,
  functionsText,
  sortFunctions,
  decodeFunctions,
  setTitle,
} from '../../src/screens/functions/state';
import type { FunctionRow } from '../../src/screens/functions/state';
import { parseQuery } from '../../src/shared/lib/search';
import { rowsInView } from '../../src/shared/views/parts';

const row = (id: number, name: string, change: Partial<FunctionRow> = {}): FunctionRow => ({
  id,
  name,
  module: '',
  count: id,
  inclusive: 1,
  self: 1,
  min: 1,
  mean: 2,
  p50: 2,
  p99: 3,
  p90: 3,
  p999: 4,
  max: 5,
  threads: 1,
  openCount: 0,
  openNs: 0,
  cutCount: 0,
  ...change,
});

it('sorts by every column, equal rows by name, unknown last', () => {
  const rows = [row(1, 'b'), row(3, 'a'), row(2, 'c', { max: NaN }), row(4, 'd', { max: 50 })];
  const names = (key: (typeof FUNCTION_KEYS)[number], isUp: boolean): string =>
    sortFunctions(rows, key, isUp)
      .map(({ name }) => name)
      .join('');
  expect(names('count', false)).toBe('dacb');
  expect(names('count', true)).toBe('bcad');
  expect(names('max', false)).toBe('dabc');
  expect(names('max', true)).toBe('abdc');
  expect(names('name', true)).toBe('abcd');
  expect(names('name', false)).toBe('dcba');
  for (const key of FUNCTION_KEYS) expect(sortFunctions(rows, key, false)).toHaveLength(4);
  expect(rows.map(({ id }) => id)).toEqual([1, 3, 2, 4]);
});

it('filters by name and by the length of calls', () => {
  const rows = [row(1, 'evict_page'), row(2, 'evict_walk', { max: 5e6 }), row(3, 'log')];
  const found = (text: string): number[] =>
    filterFunctions(rows, parseQuery(text)).map(({ id }) => id);
  expect(found('fn:evict -walk')).toEqual([1]);
  expect(found('min:1ms')).toEqual([2]);
  expect(found('/^log$/')).toEqual([3]);
  expect(found('max:0ns')).toEqual([]);
});

it('copies whole nanoseconds', () => {
  const lines = functionsText([row(7, 'f', { mean: 2.4, max: NaN })]).split('\n');
  expect(lines[0]!.split('\t')).toHaveLength(11);
  expect(lines[1]).toBe('f\t7\t1\t1\t1\t2\t2\t3\t4\t\t1');
});

it('needs few rows of a long table', () => {
  expect(rowsInView(0, 440, 22, 50000)).toEqual([0, 30]);
  expect(rowsInView(22 * 1000, 440, 22, 50000)).toEqual([990, 1030]);
  expect(rowsInView(1e9, 440, 22, 100)[1]).toBe(100);
  expect(rowsInView(0, 440, 22, 0)).toEqual([0, 0]);
});

it('reads what the server tells', () => {
  const [one] = decodeFunctions({
    functions: [{ fn: 4, id: 99, name: 'f', count: 2, self_ns: 7, max_ns: null, p50_ns: 3 }],
  });
  expect(one).toMatchObject({ id: 4, name: 'f', count: 2, self: 7, p50: 3 });
  expect(one!.max).toBeNaN();
  const bins = decodeBins({
    bins: [
      { from_ns: 1, to_ns: 2, count: 3, sum_ns: 3 },
      { from_ns: 2, to_ns: 4, count: 0, sum_ns: 0 },
    ],
    count: 3,
    sum_ns: 3,
  });
  expect([bins.n, bins.total]).toEqual([1, 3]);
});

it('names a set by its limits', () => {
  expect(setTitle('f', null)).toBe('calls of f');
  expect(setTitle('f', { min: 1e7, max: Infinity })).toMatch(/\u2265 10\.0.ms$/);
  expect(setTitle('f', { min: 0, max: 1e3 })).toMatch(/\u2264 1\.00.\u00b5s$/);
  expect(setTitle('f', { min: 5, max: 1e3 }, true)).toMatch(/^calls of f, self 5.ns to 1\.00/);
  expect(setTitle('f', { min: 5, max: 1e3 })).toMatch(/, 5.ns to 1\.00.\u00b5s$/);
});
