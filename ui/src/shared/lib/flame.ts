// SPDX-License-Identifier: MIT
// A calling context tree as boxes: width is time, depth goes down (or up). What is too narrow to be
// drawn is merged with its neighbours and counted; nothing is left out without a number.
import { childrenByName, childrenOf, makeTree } from './tree';
import type { CallTree } from './tree';

/** node: a call path; merged: neighbours that are too narrow; rest: known only in sum. */
type BoxKind = 'node' | 'merged' | 'rest';

export interface Box {
  kind: BoxKind;
  /** The node; of merged ones that with most time; of a rest its parent. */
  node: number;
  level: number;
  x0: number;
  x1: number;
  /** Nodes that stand here, with all below the merged ones. */
  n: number;
  ns: number;
}

export interface Flame {
  boxes: Box[];
  levels: number;
  /** Nodes drawn as boxes of their own, nodes in merged boxes, and nodes too narrow even for that. */
  drawn: number;
  merged: number;
  mergedNs: number;
  hidden: number;
  hiddenNs: number;
}

interface FlameOptions {
  width: number;
  /** By name: stable, to compare by eye. By time: heaviest first. */
  order: 'name' | 'time';
  nameOf: (fn: number) => string;
}

const LEAST = 2; // px of a box of its own
const VISIBLE = 0.5; // px of anything

interface Place {
  node: number;
  x: number;
}

class Layouter {
  readonly flame: Flame = {
    boxes: [],
    levels: 0,
    drawn: 0,
    merged: 0,
    mergedNs: 0,
    hidden: 0,
    hiddenNs: 0,
  };
  private run: Box | null = null;
  private readonly scale: number;

  constructor(
    private readonly tree: CallTree,
    private readonly options: FlameOptions,
  ) {
    this.scale = tree.sum[0]! > 0 ? options.width / tree.sum[0]! : 0;
  }

  /** The boxes of what stands directly below a node; the wide ones are gone on with. */
  level({ node, x }: Place, stack: Place[]): void {
    const { tree, options } = this;
    const own =
      options.order === 'name'
        ? childrenByName(tree, node, options.nameOf)
        : childrenOf(tree, node);
    let at = x;
    for (const child of own) {
      const x1 = at + tree.sum[child]! * this.scale;
      if (x1 - at >= LEAST) {
        this.flush();
        this.put({ kind: 'node', node: child, x0: at, x1, n: 1, ns: tree.sum[child]!, level: 0 });
        this.flame.drawn++;
        stack.push({ node: child, x: at });
      } else this.widen(child, at, x1);
      at = x1;
    }
    this.flush();
    this.putRest(node, at);
  }

  private putRest(node: number, x0: number): void {
    const ns = this.tree.rest[node]!;
    const x1 = x0 + ns * this.scale;
    if (x1 - x0 >= VISIBLE)
      this.put({ kind: 'rest', node, x0, x1, n: 0, ns, level: this.tree.depth[node]! });
  }

  private put(box: Box): void {
    if (box.kind !== 'rest') box.level = this.tree.depth[box.node]! - 1;
    this.flame.levels = Math.max(this.flame.levels, box.level + 1);
    this.flame.boxes.push(box);
  }

  private widen(node: number, x0: number, x1: number): void {
    const { tree } = this;
    const n = tree.next[node]! - node;
    this.run ??= { kind: 'merged', node, level: 0, x0, x1: x0, n: 0, ns: 0 };
    if (tree.sum[node]! > tree.sum[this.run.node]!) this.run.node = node;
    this.run.x1 = x1;
    this.run.n += n;
    this.run.ns += tree.sum[node]!;
  }

  private flush(): void {
    const { run } = this;
    this.run = null;
    if (!run) return;
    if (run.x1 - run.x0 < VISIBLE) {
      this.flame.hidden += run.n;
      this.flame.hiddenNs += run.ns;
      return;
    }
    this.flame.merged += run.n;
    this.flame.mergedNs += run.ns;
    this.put(run);
  }
}

/** Boxes of a tree, outermost calls first; work and boxes are bounded by what the width can show. */
export function layoutFlame(tree: CallTree, options: FlameOptions): Flame {
  const layouter = new Layouter(tree, options);
  const stack: Place[] = [{ node: 0, x: 0 }];
  while (stack.length > 0) layouter.level(stack.pop()!, stack);
  layouter.flame.boxes.sort((a, b) => a.level - b.level || a.x0 - b.x0);
  return layouter.flame;
}

/** The box under a place; `level` counts from the outermost call. */
export function boxAt(flame: Flame, x: number, level: number): Box | null {
  let found: Box | null = null;
  for (const box of flame.boxes)
    if (box.level === level && box.x0 <= x && x < Math.max(box.x1, box.x0 + 1)) found = box;
  return found;
}

/* ---- Enhanced calling context trees: frames of functions, states, locks, and threads to which a path
 * went on. A node is known by its number, which is the `fn` of the tree that is laid out. ---- */

export type FrameKind = 'function' | 'state' | 'lock' | 'thread';

export interface EcctNode {
  /** -1: below the root, which is no node here. */
  parent: number;
  kind: FrameKind;
  name: string;
  /** Exclusive, ns. */
  self: number;
  /** Of a state: how it is drawn (lib/states), if that is known. */
  look?: number;
  /** Of a blocked state: what it waits for, in words. */
  wait?: string;
}

/** The tree of nodes (parents before their children): widths are `self` and all below. */
export function layTree(
  nodes: readonly EcctNode[],
  selfOf = (i: number): number => nodes[i]!.self,
): CallTree {
  const n = nodes.length;
  const self = Float64Array.from({ length: n }, (_, i) => Math.max(0, selfOf(i)));
  const sum = Float64Array.from(self);
  for (let i = n - 1; i >= 0; i--) {
    const { parent } = nodes[i]!;
    if (parent >= 0) sum[parent]! += sum[i]!;
  }
  return makeTree({
    parent: Int32Array.from(nodes, ({ parent }) => parent),
    fn: Uint32Array.from({ length: n }, (_, i) => i),
    count: new Float64Array(n),
    sum,
    self,
  });
}

/** Frames from the outermost to a node. */
export function framesTo(nodes: readonly EcctNode[], node: number): EcctNode[] {
  const frames: EcctNode[] = [];
  for (let i = node; i >= 0; i = nodes[i]!.parent) frames.unshift(nodes[i]!);
  return frames;
}

/** A tree that grows by paths of frames. */
export class EcctGrower {
  readonly nodes: EcctNode[] = [];
  private readonly known = new Map<string, number>();

  child(parent: number, kind: FrameKind, name: string, look?: number): number {
    const key = `${parent}\n${kind}\n${name}`;
    let node = this.known.get(key);
    if (node === undefined) {
      node = this.nodes.length;
      this.nodes.push({ parent, kind, name, self: 0, look });
      this.known.set(key, node);
    }
    return node;
  }
}
