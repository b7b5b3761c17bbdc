// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import { layoutStrip, partAt } from '../../src/screens/path/draw';
import { pathTree } from '../../src/screens/path/picture';
import { decodePath } from '../../src/shared/api/columns';
import { layTree } from '../../src/shared/lib/flame';
import {
  causeOf,
  causesOf,
  framesOf,
  pathSentence,
  placeSums,
  segmentAt,
  threadsInOrder,
  readPicks,
  writePicks,
} from '../../src/shared/lib/path';
import type { Path } from '../../src/shared/lib/path';

const segment = (start: number, end: number, thread: number, depth: number, more = {}): object => ({
  start_ns: start,
  end_ns: end,
  thread_id: thread,
  depth,
  state: 'running',
  ...more,
});

/** Thread 0 asks 1, which waits for a lock of 2; then something that nobody explains. */
const json = {
  thread_id: 0,
  from_ns: 100,
  to_ns: 200,
  has_kernel: true,
  unexplained_ns: 10,
  segments_total: 6,
  segments: [
    segment(100, 110, 0, 0, { function: 'ask', fn: 3 }),
    segment(110, 120, 1, 1, { stack: 'main;serve;asm_sysvec;tick' }),
    segment(120, 160, 2, 2, { state: 'preempted', other_thread_id: 5 }),
    segment(160, 180, 1, 1, { state: 'blocked', reason: 'block_device', name: 'read' }),
    segment(180, 190, 0, 0, { state: 'blocked', reason: 'idle_cpu' }),
    segment(190, 200, 0, 0),
  ],
  arrows: [
    { from_ns: 160, to_ns: 160, from_thread_id: 2, to_thread_id: 1, edge: 'release', lock_id: 0 },
  ],
  locks: [{ edge: 'release', lock: 'page lock', count: 1, sum_ns: 40, longest_ns: 40 }],
  reasons: [
    { state: 'preempted', reason: null, sum_ns: 40, segments: 1 },
    { state: 'running', reason: null, sum_ns: 30, segments: 3 },
    { state: 'blocked', reason: 'block_device', sum_ns: 20, segments: 1 },
    { state: 'blocked', reason: 'idle_cpu', sum_ns: 7, segments: 1 },
    { state: 'unknown', reason: null, sum_ns: 3, segments: 1 },
  ],
  threads: [
    { thread_id: 2, sum_ns: 40, preempted_ns: 40 },
    { thread_id: 0, sum_ns: 30, running_ns: 20, blocked_ns: 10 },
    { thread_id: 1, sum_ns: 30, running_ns: 10, blocked_ns: 20 },
  ],
};
const path: Path = decodePath(json);
const nameOf = (thread: number): string => `T${thread}`;

describe('a path', () => {
  it('names causes, and what nothing tells', () => {
    expect(causesOf(path).map(({ cause, sum }) => [cause.key, sum])).toEqual([
      ['preempted', 40],
      ['running', 30],
      ['block_device', 20],
      ['unexplained', 10],
    ]);
    expect(causeOf('blocked', 'something new').isUnexplained).toBe(true);
    expect(causeOf('no such state', '').isUnexplained).toBe(true);
  });

  it('is told in a sentence', () => {
    expect(pathSentence(path, 'It', nameOf).replace(/\u00a0/g, ' ')).toBe(
      'It took 100 ns: 40 ns preempted in T2 (40.0 %), 20 ns running in T0 (20.0 %), ' +
        '10 ns (10.0 %) unexplained.',
    );
  });

  it('knows its threads, locks and the segment at a time', () => {
    expect(threadsInOrder(path)).toEqual([0, 1, 2]);
    expect(path.arrows[0]!.lock).toBe('page lock');
    expect([99, 100, 119, 120, 199, 500].map(t => segmentAt(path, t))).toEqual([0, 0, 1, 2, 5, 5]);
  });

  it('takes frames of the program, without the kernel', () => {
    expect(framesOf('main;serve;asm_sysvec;tick')).toEqual(['main', 'serve']);
    expect(framesOf('asm_sysvec;tick')).toEqual(['asm_sysvec', 'tick']);
    expect(framesOf('')).toEqual([]);
    expect(framesOf('main;wait;[kernel]+0xffff81;[kernel]+0xffff82')).toEqual(['main', 'wait']);
    expect(placeSums(path)).toEqual([
      { name: 'ask', id: -1, running: 10, waiting: 0 },
      { name: 'serve', id: -1, running: 10, waiting: 0 },
    ]);
  });

  it('has all of its time in its tree, each wait below who waited', () => {
    const nodes = pathTree(path, nameOf);
    const tree = layTree(nodes);
    expect(tree.sum[0]).toBe(100);
    const names = (i: number): string[] =>
      i < 0 ? [] : [...names(nodes[i]!.parent), nodes[i]!.name];
    const own = nodes.flatMap((node, i) =>
      node.self > 0 ? [`${names(i).join('>')} ${node.self}`] : [],
    );
    expect(own).toEqual([
      'T0>ask>running 10',
      'T0>T1>main>serve>running 10',
      'T0>T1>T2>runnable (preempted) 40',
      'T0>T1>waits for a disk: read 20',
      'T0>unexplained 10',
      'T0>running 10',
    ]);
  });

  it('begins deep: the threads above are those that it comes back to', () => {
    const deep = { ...path, segments: path.segments.slice(2) };
    expect(
      pathTree(deep, nameOf)
        .slice(0, 3)
        .map(({ name }) => name),
    ).toEqual(['T0', 'T1', 'T2']);
  });
});

it('stacked paths have a line for each thread', () => {
  const layout = layoutStrip([path, null, path]);
  expect(layout.parts.map(({ lines }) => lines.length)).toEqual([3, 0, 3]);
  expect(partAt(layout, layout.parts[2]!.top)!.index).toBe(2);
  expect(partAt(layout, layout.height)).toBe(null);
});

describe('picks in the address', () => {
  const tids = [100, 101, 102];
  const threadOf = (tid: number): number => tids.indexOf(tid);
  const picks = [
    { thread: 1, span: { t0: 1_500_000, t1: 2_500_001 }, label: 'insert ~;#1' },
    { thread: 2, span: { t0: 0, t1: 1 }, label: '' },
  ];
  it('come back', () => {
    const text = writePicks(picks, thread => tids[thread]!);
    expect(text).toBe('t101.1.5-2.500001~insert   #1;t102.0-0.000001');
    expect(readPicks(text, threadOf)).toEqual([{ ...picks[0], label: 'insert   #1' }, picks[1]]);
  });
  it('are left out if they are odd', () => {
    expect(readPicks('t9.1-2;t100.2-1;t100.x;;t100.1-2~a', threadOf)).toEqual([
      { thread: 0, span: { t0: 1e6, t1: 2e6 }, label: 'a' },
    ]);
    expect(readPicks(new Array(20).fill('t100.1-2').join(';'), threadOf)).toHaveLength(8);
  });
});
