// SPDX-License-Identifier: MIT
// The tree of a comparison: width is the mean of B, or that of A where B has nothing to show.
import type { Compared } from './compared';
import type { Executions } from './compare';
import { layTree } from './ecct';
import type { EcctNode } from './ecct';
import type { CallTree } from './tree';

export interface DiffTree {
  /** Without the root: node i + 1 of the executions. */
  nodes: EcctNode[];
  tree: CallTree;
  /** By node of the executions: its place in the answer; -1: it is in neither group. */
  placeOf: Int32Array;
}

export function ecctNodes({ parent, frame, frames }: Executions): EcctNode[] {
  return Array.from({ length: Math.max(0, parent.length - 1) }, (_, i) => {
    const { name, kind } = frames[frame[i + 1]!] ?? { name: '?', kind: 'function' as const };
    return { parent: parent[i + 1]! - 1, kind, name, self: 0 };
  });
}

/** Nodes at or below `focus`, or above it; all without a focus. */
function kept(nodes: readonly EcctNode[], focus: number): Uint8Array {
  const isKept = new Uint8Array(nodes.length).fill(focus < 0 ? 1 : 0);
  for (let i = 0; i < nodes.length && focus >= 0; i++) {
    const { parent } = nodes[i]!;
    if (i === focus || (parent >= 0 && isKept[parent] === 1)) isKept[i] = 1;
  }
  return isKept;
}

/** `focus`: a node of the executions; the tree below it takes the whole width. */
export function diffTree(
  executions: Executions,
  compared: Compared,
  focus: number,
  by: 'a' | 'b',
): DiffTree {
  const nodes = ecctNodes(executions);
  const placeOf = new Int32Array(nodes.length + 1).fill(-1);
  const { node, n, meanA, meanB } = compared.nodes;
  for (let i = 0; i < n; i++) placeOf[node[i]!] = i;
  const isKept = kept(nodes, focus - 1);
  const mean = by === 'b' ? meanB : meanA;
  const tree = layTree(nodes, i => {
    const place = placeOf[i + 1]!;
    return place < 0 || isKept[i] === 0 ? 0 : mean[place]!;
  });
  return { nodes, tree, placeOf };
}

/** Contexts in which A spends time and B none: of no width where the width is the mean of B. */
export function onlyInA({ nodes }: Compared): { count: number; ns: number } {
  let [count, ns] = [0, 0];
  for (let i = 0; i < nodes.n; i++)
    if (nodes.meanA[i]! > 0 && !(nodes.meanB[i]! > 0)) {
      count++;
      ns += nodes.meanA[i]!;
    }
  return { count, ns };
}

/** The node of the tree that shows a node of the executions; -1: none. */
export function treeNode({ tree }: DiffTree, node: number): number {
  return node < 1 ? -1 : tree.fn.indexOf(node - 1);
}
