// SPDX-License-Identifier: MIT
// A critical path as an enhanced calling context tree: below each thread where it was, then what it
// did; a wait that the path followed continues in the thread that was waited for.
import { EcctGrower } from '../../shared/lib/ecct';
import type { EcctNode } from '../../shared/lib/ecct';
import { causeOf, framesOf } from '../../shared/lib/path';
import type { Path, PathSegment } from '../../shared/lib/path';

/** For each segment the threads from the one asked for to its own, one for each depth. */
function chainsOf(segments: readonly PathSegment[], first: number): number[][] {
  const chains: number[][] = new Array<number[]>(segments.length);
  let after: number[] = []; // by depth: the next thread there, before the path comes back above it
  for (let i = segments.length - 1; i >= 0; i--) {
    const { depth, thread } = segments[i]!;
    after = after.slice(0, depth);
    after[depth] = thread;
    chains[i] = Array.from({ length: depth + 1 }, (_, d) => after[d] ?? -1);
  }
  let before: number[] = [first];
  return chains.map((chain, i) => {
    const { depth, thread } = segments[i]!;
    const full = chain.map((known, d) => (known >= 0 ? known : (before[d] ?? first)));
    full[depth] = thread;
    before = full;
    return full;
  });
}

/** Where a segment was: its stack of samples, or its function, or its span. */
function placesOf({ stack, function: name, span }: PathSegment): string[] {
  const frames = framesOf(stack);
  if (frames.length > 0) return frames;
  const place = name !== '' ? name : span;
  return place === '' ? [] : [place];
}

/** Sums to the length of the path, if all its segments are there. */
export function pathTree(path: Path, nameOf: (thread: number) => string): EcctNode[] {
  const grower = new EcctGrower();
  const chains = chainsOf(path.segments, path.thread);
  path.segments.forEach((segment, i) => {
    let node = -1;
    for (const thread of chains[i]!) node = grower.child(node, 'thread', nameOf(thread));
    for (const place of placesOf(segment)) node = grower.child(node, 'function', place);
    const { words } = causeOf(segment.state, segment.reason);
    const state = segment.name === '' ? words : `${words}: ${segment.name}`;
    node = grower.child(node, 'state', state);
    grower.nodes[node]!.self += segment.end - segment.start;
  });
  return grower.nodes;
}
