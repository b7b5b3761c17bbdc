// SPDX-License-Identifier: MIT
// The answers inside a report: found by what was asked, refused where there is none.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { countBins, makeBins } from '../../src/screens/compare/draw';
import { choose } from '../../src/screens/compare/data';
import { Inside } from '../../src/shared/api/inside';
import { Refused } from '../../src/shared/api/source';
import { threadsById, type ServedThread } from '../../src/shared/state/served';
import { makeExecutions } from '../fixtures/executions';

const packed = (value: unknown): string =>
  gzipSync(Buffer.from(JSON.stringify(value))).toString('base64');

const inside = new Inside([
  ['diagnose', packed({ is: 'diagnose' })],
  ['path?thread=3&from=10&to=20', packed({ is: 'path' })],
  ['compare?type=a%20%26%20b&begin=call%3Af', packed({ is: 'compare' })],
]);
const rule = { type: 'a & b', begin: 'call:f', end: '', match: '', within: '' };

describe('the answers inside a report', () => {
  it('are found by what was asked', async () => {
    expect(inside.isWhole).toBe(false);
    expect(await inside.json('diagnose')).toEqual({ is: 'diagnose' });
    const path = { thread: 3, from: 10, to: 20, limit: 7 };
    expect(inside.has('path', path)).toBe(true);
    expect(await inside.json('path', path)).toEqual({ is: 'path' });
    const groups = { ...rule, a: 'duration<=1ns', b: 'duration>=2ns' };
    expect(await inside.json('compare', groups)).toEqual({ is: 'compare' });
    expect(inside.list('path')).toEqual([{ thread: '3', from: '10', to: '20' }]);
  });

  it('are refused where there is none', async () => {
    const others: [string, Record<string, string | number>][] = [
      ['names', {}],
      ['path', { thread: 3, from: 10, to: 21 }],
      ['path', { span: 'x', thread: 3, from: 10, to: 20 }],
      ['compare', { ...rule, csv: 1 }],
      ['compare', { ...rule, end: 'call:g' }],
    ];
    for (const [name, params] of others) {
      expect(inside.has(name, params)).toBe(false);
      await expect(inside.json(name, params)).rejects.toBeInstanceOf(Refused);
    }
  });

  it('that are damaged fail alone', async () => {
    const damaged = new Inside([
      ['threads', '????'],
      ['traces', packed({ is: 'traces' })],
    ]);
    await expect(damaged.json('threads')).rejects.toBeInstanceOf(Error);
    expect(await damaged.json('traces')).toEqual({ is: 'traces' });
  });
});

describe('threads of a report', () => {
  it('stand at their ids, although some are not there', () => {
    const one = { tid: 7, label: 'T7' } as ServedThread;
    const threads = threadsById([
      { ...one, id: 1 },
      { ...one, id: 3, tid: 9 },
    ]);
    expect(threads.map(({ id, tid }) => [id, tid])).toEqual([
      [0, -1],
      [1, 7],
      [2, -1],
      [3, 9],
    ]);
    expect(threadsById([])).toEqual([]);
  });
});

describe('executions that stand for others', () => {
  it('count as many as they stand for', () => {
    const some = makeExecutions(40);
    const weights = Float64Array.from({ length: 40 }, (_, i) => i % 4);
    const executions = { ...some, all: 60, weights };
    const members = new Uint8Array(40);
    expect(choose(executions, [], 'a', () => null, members)).toBe(60);
    const values = some.metrics[0]!.values;
    const bins = makeBins(values, 8, true, weights);
    const sum = (counts: Uint32Array): number => counts.reduce((all, one) => all + one, 0);
    expect(sum(bins.all)).toBe(60);
    expect(sum(countBins(bins, members, 1, weights))).toBe(60);
    expect(sum(countBins(bins, members, 2, weights))).toBe(0);
  });
});
