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

/** Contexts in which only the side that gives no widths spends time: of no width. */
export function withoutWidth({ nodes }: Compared, by: 'a' | 'b'): { count: number; ns: number } {
  const [own, other] = by === 'b' ? [nodes.meanB, nodes.meanA] : [nodes.meanA, nodes.meanB];
  let [count, ns] = [0, 0];
  for (let i = 0; i < nodes.n; i++)
    if (other[i]! > 0 && !(own[i]! > 0)) {
      count++;
      ns += other[i]!;
    }
  return { count, ns };
}

/** Levels of the tree of all executions. */
export function depthOf({ parent }: Executions): number {
  const depth = new Uint32Array(parent.length);
  let most = 0;
  for (let i = 1; i < parent.length; i++) {
    depth[i] = depth[parent[i]!]! + 1;
    most = Math.max(most, depth[i]!);
  }
  return most;
}

/** The node, or the nearest above it, that has a width; -1: none. */
export function widestOf(executions: Executions, diff: DiffTree, node: number): number {
  let i = node;
  while (i > 0 && !(diff.tree.sum[treeNode(diff, i)]! > 0)) i = executions.parent[i]!;
  return i > 0 ? i : -1;
}

/** The node of the tree that shows a node of the executions; -1: none. */
export function treeNode({ tree }: DiffTree, node: number): number {
  return node < 1 ? -1 : tree.fn.indexOf(node - 1);
}
