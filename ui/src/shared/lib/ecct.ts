// SPDX-License-Identifier: MIT
// Enhanced calling context trees: frames of functions, states, locks, and threads to which a path
// went on. A node is known by its number, which is the `fn` of the tree that is laid out.
import { makeTree } from './tree';
import type { CallTree } from './tree';

export type FrameKind = 'function' | 'state' | 'lock' | 'thread';

export interface EcctNode {
  /** -1: below the root, which is no node here. */
  parent: number;
  kind: FrameKind;
  name: string;
  /** Exclusive, ns. */
  self: number;
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
    ...{ count: new Float64Array(n), sum, self },
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

  child(parent: number, kind: FrameKind, name: string): number {
    const key = `${parent}\n${kind}\n${name}`;
    let node = this.known.get(key);
    if (node === undefined) {
      node = this.nodes.length;
      this.nodes.push({ parent, kind, name, self: 0 });
      this.known.set(key, node);
    }
    return node;
  }
}
