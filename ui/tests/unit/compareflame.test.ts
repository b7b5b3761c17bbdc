// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import type { Executions, Frame, Compared } from '../../src/screens/compare/data';
import { depthOf, diffTree, foldedNames, nodeAt, treeNode } from '../../src/screens/compare/flame';
import { makeCompared, makeExecutions } from '../fixtures/executions';

const KERNEL = '[kernel]+0x';

/** [name, parent, mean of A, mean of B]: nodes below the root, parents before their children. */
type Row = [string, number, number, number];

function made(rows: Row[]): { executions: Executions; compared: Compared } {
  const frames = rows.map(
    ([name]): Frame => ({
      name,
      module: '',
      kind: name.startsWith('!') ? 'state' : 'function',
      wait: '',
    }),
  );
  const n = rows.length;
  const zeros = (): Float64Array => new Float64Array(n);
  const executions = {
    ...makeExecutions(4),
    frames,
    parent: Int32Array.from([-1, ...rows.map(([, parent]) => parent + 1)]),
    frame: Int32Array.from([-1, ...rows.keys()]),
  };
  const [meanA, meanB] = [2, 3].map(k => Float64Array.from(rows, row => row[k] as number));
  const nodes = {
    ...makeCompared().nodes,
    n,
    node: Uint32Array.from(rows.keys(), i => i + 1),
    meanA: meanA!,
    meanB: meanB!,
    difference: Float64Array.from(rows, row => row[3] - row[2]),
    totalA: zeros(),
    totalB: zeros(),
    pAdjusted: zeros(),
    isSure: new Uint8Array(n).fill(1),
  };
  return { executions, compared: { ...makeCompared(), nodes } };
}

const ROWS: Row[] = [
  ['read', -1, 1, 1], // 0
  [`${KERNEL}1`, 0, 0, 0],
  [`${KERNEL}2`, 1, 0, 5],
  [`${KERNEL}3`, 1, 2, 40],
  ['!blocked', 3, 0, 100], // 4
  [`${KERNEL}4`, 0, 3, 3], // beside the first: in the same box
  ['write', -1, 0, 7], // 6
  [`${KERNEL}1`, 6, 1, 1],
];

const names = ({ executions, compared }: ReturnType<typeof made>, focus = -1): string[] => {
  const diff = diffTree(executions, compared, focus, 'b');
  return [...diff.tree.fn]
    .filter((fn, at) => fn >= 0 && diff.tree.sum[at]! > 0)
    .map(fn => diff.nodes[fn]!.name);
};

describe('frames of the kernel without a name', () => {
  it('are one box below a frame, with all that is in them', () => {
    const all = made(ROWS);
    const diff = diffTree(all.executions, all.compared, -1, 'b');
    expect(names(all).sort()).toEqual(
      ['read', '[kernel] (4 unnamed)', '!blocked', 'write', `${KERNEL}1`].sort(),
    );
    const box = treeNode(diff, 3);
    expect(diff.tree.sum[box]).toBe(148);
    expect(diff.tree.self[box]).toBe(48);
    expect(diff.difference[diff.tree.fn[box]!]).toBe(43);
    expect([2, 3, 4, 6].map(node => treeNode(diff, node))).toEqual([box, box, box, box]);
    expect(depthOf(all.executions)).toBe(3);
  });

  it('are stood for by the one that differs most', () => {
    const { executions, compared } = made(ROWS);
    const diff = diffTree(executions, compared, -1, 'b');
    expect(nodeAt(diff, treeNode(diff, 2))).toBe(4);
    expect(nodeAt(diff, treeNode(diff, 5))).toBe(5);
  });

  it('are in focus together', () => {
    expect(names(made(ROWS), 4).sort()).toEqual(
      ['!blocked', '[kernel] (4 unnamed)', 'read'].sort(),
    );
    const { executions, compared } = made(ROWS);
    expect(diffTree(executions, compared, 4, 'b').tree.sum[0]).toBe(148);
  });

  it('are one in a path of names', () => {
    const path = ['main', `${KERNEL}1`, `${KERNEL}2`, 'do_idle', `${KERNEL}3`, 'x'];
    expect(foldedNames(path.map(name => ({ name, kind: 'function' })))).toEqual([
      'main',
      '[kernel]',
      'do_idle',
      `${KERNEL}3`,
      'x',
    ]);
  });
});

function random(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) / 2 ** 32;
}

describe('folding', () => {
  it('keeps all time and all differences, and no two nameless boxes stand together', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const next = random(seed * 104729);
      const rows = Array.from({ length: 1 + Math.floor(next() * 40) }, (_, i): Row => {
        const isNameless = next() < 0.6;
        const name = isNameless ? `${KERNEL}${Math.floor(next() * 9)}` : `f${i}`;
        const own = (): number => (next() < 0.5 ? 0 : Math.floor(next() * 1000));
        return [name, Math.floor(next() * (i + 1)) - 1, own(), own()];
      });
      const { executions, compared } = made(rows);
      const diff = diffTree(executions, compared, -1, 'b');
      const sum = (list: Iterable<number>): number => [...list].reduce((a, b) => a + b, 0);
      expect(diff.tree.sum[0], `seed ${seed}`).toBe(sum(rows.map(row => row[3])));
      expect(sum(diff.difference)).toBe(sum(rows.map(row => row[3] - row[2])));
      expect(sum(diff.folded)).toBe(rows.length);
      const isNameless = (fn: number): boolean =>
        fn >= 0 && diff.nodes[fn]!.name.startsWith('[kernel]');
      const seen = new Set<number>();
      for (let at = 1; at < diff.tree.n; at++) {
        if (!isNameless(diff.tree.fn[at]!) || diff.boxOf[diff.tree.fn[at]!] !== diff.tree.fn[at])
          continue;
        const up = diff.tree.parent[at]!;
        expect(isNameless(diff.tree.fn[up]!)).toBe(false);
        expect(seen.has(up)).toBe(false);
        seen.add(up);
      }
      rows.forEach(([name], i) => {
        const box = treeNode(diff, i + 1);
        expect(isNameless(diff.tree.fn[box]!)).toBe(name.startsWith(KERNEL));
      });
    }
  });
});
