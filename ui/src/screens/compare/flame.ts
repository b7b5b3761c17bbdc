// SPDX-License-Identifier: MIT
// The tree of a comparison: width is the mean of B, or that of A where B has nothing to show. Frames of
// the kernel that no symbol names say nothing one by one: those below one frame are one box.
import { inkOn } from '../../shared/lib/color';
import { layTree, layoutFlame } from '../../shared/lib/flame';
import type { EcctNode } from '../../shared/lib/flame';
import { duration } from '../../shared/lib/format';
import { isNamed } from '../../shared/lib/names';
import type { CallTree } from '../../shared/lib/tree';
import { isUnsure, signed, stepOf, durationOf } from './data';
import type { Executions, Compared, Statistic } from './data';

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

const UNKNOWN_FRAME = { name: '?', kind: 'function', wait: '' } as const;

function ecctNodes({ parent, frame, frames }: Executions): EcctNode[] {
  return Array.from({ length: Math.max(0, parent.length - 1) }, (_, i) => {
    const { name, kind, wait } = frames[frame[i + 1]!] ?? UNKNOWN_FRAME;
    return { parent: parent[i + 1]! - 1, kind, name, self: 0, wait };
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

/* ---- The differential flame graph as a picture of its own, in the colours of the light theme. ---- */

const STEPS = ['#1f5fa8', '#86b3e0', '#f1f3f5', '#f2b27a', '#b85500'] as const;
const WIDTH = 1600;
const LEVEL = 19;
const TOP = 44;
const PX_PER_LETTER = 6.2;

const escape = (text: string): string =>
  text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`).replace(/[^\t\n\r -\u{10ffff}]/gu, '?');

interface SvgOptions {
  statistic: Statistic;
  focus: number;
  title: string;
  /** Whose mean the widths are. */
  by: 'a' | 'b';
}

export function flameSvg(executions: Executions, compared: Compared, options: SvgOptions): string {
  const diff = diffTree(executions, compared, options.focus, options.by);
  const { nodes, tree, placeOf } = diff;
  const flame = layoutFlame(tree, { width: WIDTH - 40, order: 'time', nameOf: String });
  const whole = durationOf(compared)?.difference ?? 0;
  const height = TOP + flame.levels * LEVEL + 24;
  const boxes = flame.boxes.map(box => {
    const [x, w] = [20 + box.x0, Math.max(0.5, box.x1 - box.x0 - 1)];
    const y = TOP + box.level * LEVEL;
    const place = box.kind === 'node' ? (placeOf[nodeAt(diff, box.node)] ?? -1) : -1;
    const step = place < 0 ? 2 : stepOf(compared.nodes, place, options.statistic, whole);
    const name = box.kind === 'node' ? nodes[tree.fn[box.node]!]!.name : `\u00d7${box.n}`;
    const own = box.kind === 'node' ? diff.difference[tree.fn[box.node]!]! : 0;
    const words = `${name}  ${duration(box.ns)}${own === 0 ? '' : `  ${signed(own)}`}`;
    const label = words.slice(0, Math.floor((w - 8) / PX_PER_LETTER));
    const unsure = place >= 0 && isUnsure(compared, place);
    const rect = (fill: string): string =>
      `<rect x="${x.toFixed(1)}" y="${y}" width="${w.toFixed(1)}" height="18" fill="${fill}" stroke="#0f141a" stroke-opacity=".28"/>`;
    const text =
      label.length < 3
        ? ''
        : `<text x="${(x + 4).toFixed(1)}" y="${y + 13}" fill="${inkOn(STEPS[step])}">${escape(label)}</text>`;
    return `<g><title>${escape(words)}</title>${rect(STEPS[step])}${unsure ? rect('url(#unsure)') : ''}${text}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="11">`,
    '<defs><pattern id="unsure" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M-1 7L7 -1M2 7L7 2M-1 2L2 -1" stroke="#15181c" stroke-opacity=".42" stroke-width="1.1"/></pattern></defs>',
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="20" y="26" font-size="15" font-weight="600" fill="#15181c">${escape(options.title)}</text>`,
    ...boxes,
    `<text x="20" y="${height - 8}" fill="#616a76">Width: mean of ${options.by.toUpperCase()}. Colour: exclusive difference B \u2212 A, blue faster, orange slower. Hatched: not significant.</text>`,
    '</svg>',
  ].join('\n');
}
