// SPDX-License-Identifier: MIT
// The tree of a comparison: width is the mean of B, or that of A where B has nothing to show. Frames of
// the kernel that no symbol names say nothing one by one: those below one frame are one box.
import { layTree } from '../../shared/lib/ecct';
import type { EcctNode } from '../../shared/lib/ecct';
import { isNamed } from '../../shared/lib/names';
import type { CallTree } from '../../shared/lib/tree';
import type { Executions } from './lib_compare';
import type { Compared } from './lib_d';

export interface DiffTree {
  /** Without the root: node i + 1 of the executions. Those that are folded hang on what they are in. */
  nodes: EcctNode[];
  tree: CallTree;
  /** By node of the executions: its place in the answer; -1: it is in neither group. */
  placeOf: Int32Array;
  /** By node without the root: which box it is in. */
  boxOf: Int32Array;
  /** By box: the node of the executions that stands for it; of several, what differs most. */
  standsFor: Int32Array;
  /** By box: how many nodes with time it is, and their exclusive difference. */
  folded: Uint32Array;
  difference: Float64Array;
}

/** Which box each node is in: the first of the nameless ones below one frame; else its own. */
function foldNameless(nodes: readonly EcctNode[]): Int32Array {
  const boxOf = new Int32Array(nodes.length);
  const firstBelow = new Map<number, number>();
  nodes.forEach(({ parent, kind, name }, i) => {
    boxOf[i] = i;
    if (kind !== 'function' || isNamed(name)) return;
    const above = parent < 0 ? -1 : boxOf[parent]!;
    const isInside =
      above >= 0 && nodes[above]!.kind === 'function' && !isNamed(nodes[above]!.name);
    const first = isInside ? above : firstBelow.get(parent);
    if (first === undefined) firstBelow.set(parent, i);
    else boxOf[i] = first;
  });
  return boxOf;
}

const foldedName = (n: number): string => `[kernel] (${n} unnamed)`;

/** Names of a path, nameless ones that follow each other as one: "[kernel]". */
export function foldedNames(path: readonly { name: string; kind: string }[]): string[] {
  const names: string[] = [];
  let run = 0;
  for (const { name, kind } of path) {
    const isNameless = kind === 'function' && !isNamed(name);
    run = isNameless ? run + 1 : 0;
    if (run > 1) names[names.length - 1] = '[kernel]';
    else names.push(name);
  }
  return names;
}

export function ecctNodes({ parent, frame, frames }: Executions): EcctNode[] {
  return Array.from({ length: Math.max(0, parent.length - 1) }, (_, i) => {
    const { name, kind } = frames[frame[i + 1]!] ?? { name: '?', kind: 'function' as const };
    return { parent: parent[i + 1]! - 1, kind, name, self: 0 };
  });
}

/** Nodes at or below the box of `focus`; all without a focus. */
function kept(nodes: readonly EcctNode[], boxOf: Int32Array, focus: number): Uint8Array {
  const isKept = new Uint8Array(nodes.length).fill(focus < 0 ? 1 : 0);
  for (let i = 0; i < nodes.length && focus >= 0; i++) {
    const { parent } = nodes[i]!;
    if (boxOf[i] === boxOf[focus] || (parent >= 0 && isKept[parent] === 1)) isKept[i] = 1;
  }
  return isKept;
}

/** The boxes: what is in one, and what stands for it. */
function boxes(
  nodes: readonly EcctNode[],
  { nodes: { difference } }: Compared,
  placeOf: Int32Array,
): Omit<DiffTree, 'tree' | 'placeOf'> {
  const boxOf = foldNameless(nodes);
  const standsFor = Int32Array.from(nodes, (_, i) => i + 1);
  const folded = new Uint32Array(nodes.length);
  const sums = new Float64Array(nodes.length);
  const most = new Float64Array(nodes.length).fill(-1);
  for (let i = 0; i < nodes.length; i++) {
    const [box, place] = [boxOf[i]!, placeOf[i + 1]!];
    if (place < 0) continue;
    folded[box]!++;
    sums[box]! += difference[place]!;
    if (Math.abs(difference[place]!) <= most[box]!) continue;
    [most[box], standsFor[box]] = [Math.abs(difference[place]!), i + 1];
  }
  const drawn = nodes.map((node, i): EcctNode => {
    const parent = node.parent < 0 ? -1 : boxOf[node.parent]!;
    return { ...node, parent, name: folded[i]! > 1 ? foldedName(folded[i]!) : node.name };
  });
  return { nodes: drawn, boxOf, standsFor, folded, difference: sums };
}

/** `focus`: a node of the executions; the tree below it takes the whole width. */
export function diffTree(
  executions: Executions,
  compared: Compared,
  focus: number,
  by: 'a' | 'b',
): DiffTree {
  const plain = ecctNodes(executions);
  const placeOf = new Int32Array(plain.length + 1).fill(-1);
  const { node, n, meanA, meanB } = compared.nodes;
  for (let i = 0; i < n; i++) placeOf[node[i]!] = i;
  const made = boxes(plain, compared, placeOf);
  const isKept = kept(plain, made.boxOf, focus - 1);
  const mean = by === 'b' ? meanB : meanA;
  const own = new Float64Array(plain.length);
  for (let i = 0; i < plain.length; i++) {
    const place = placeOf[i + 1]!;
    if (place >= 0 && isKept[i] === 1) own[made.boxOf[i]!]! += mean[place]!;
  }
  return { ...made, placeOf, tree: layTree(made.nodes, i => own[i]!) };
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
export function depthOf(executions: Executions): number {
  const nodes = ecctNodes(executions);
  const boxOf = foldNameless(nodes);
  const depth = new Uint32Array(nodes.length);
  let most = 0;
  nodes.forEach(({ parent }, i) => {
    depth[i] = parent < 0 ? 1 : depth[boxOf[parent]!]! + 1;
    most = Math.max(most, depth[i]);
  });
  return most;
}

/** The node, or the nearest above it, that has a width; -1: none. */
export function widestOf(executions: Executions, diff: DiffTree, node: number): number {
  let i = node;
  while (i > 0 && !(diff.tree.sum[treeNode(diff, i)]! > 0)) i = executions.parent[i]!;
  return i > 0 ? i : -1;
}

/** The node of the tree that shows a node of the executions; -1: none. */
export function treeNode({ tree, boxOf }: DiffTree, node: number): number {
  return node < 1 ? -1 : tree.fn.indexOf(boxOf[node - 1]!);
}

/** The node of the executions that a node of the tree stands for. */
export function nodeAt({ tree, standsFor }: DiffTree, at: number): number {
  return standsFor[tree.fn[at]!] ?? -1;
}
