// SPDX-License-Identifier: MIT
// Walking the calls of the Interplay without a pointer: what it would find under itself, from one call
// to the next.
import type { Tile } from '../../shared/lib/tiles';
import { waitAt } from './lib_interplay';
import type { Interplay, PlateHit } from './state_interplay';
import type { ThreadData } from './state_load';

/** Bar `i` of a thread, which lies at `depth`, as what is pointed at; `t` is the time of that. */
export function hitOf(
  data: ThreadData,
  thread: number,
  depth: number,
  i: number,
  t: number,
): PlateHit {
  const { start, end, count, longestFn, isCluster } = data.calls;
  const [a, b] = [start[i]!, end[i]!];
  const { wait, io } = data.shares?.in(a, b) ?? { wait: 0, io: 0 };
  const within = Math.min(Math.max(t, a), Math.max(a, b - 1));
  const isAggregate = data.isBare || isCluster[i] === 1;
  return {
    ...{ thread, depth, start: a, end: b, fn: longestFn[i]!, count: count[i]!, t: within },
    ...{ wait, io, item: waitAt(data.waits, within, data.isBare ? 0 : depth, isAggregate) },
  };
}

/** The first bar of a level that ends behind `t`, or the one behind the level's last. */
function firstBehind({ end, depthFrom }: Tile, depth: number, t: number): number {
  let [low, high] = [depthFrom[depth]!, depthFrom[depth + 1]!];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle]! <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

export type Step = 'next' | 'before' | 'caller' | 'callee';

const NOTHING: Record<Step, string> = {
  next: 'There is no later call of this depth in view.',
  before: 'There is no earlier call of this depth in view.',
  caller: 'Nothing called it.',
  callee: 'It called nothing that is drawn.',
};

/** The bar that a step leads to: its depth and place; -1: there is none. */
function stepFrom({ calls }: ThreadData, at: PlateHit, step: Step): [depth: number, i: number] {
  const depth = at.depth + (step === 'callee' ? 1 : step === 'caller' ? -1 : 0);
  if (depth < 0 || depth + 1 >= calls.depthFrom.length) return [depth, -1];
  const [first, behind] = [calls.depthFrom[depth]!, calls.depthFrom[depth + 1]!];
  const by = { next: 1, before: -1, caller: 0, callee: 0 }[step];
  const i = firstBehind(calls, depth, at.start) + by;
  const isThere = i >= first && i < behind;
  const isWithin = isThere && calls.start[i]! < Math.max(at.end, at.start + 1);
  return [depth, isThere && (by !== 0 || isWithin) ? i : -1];
}

/** Selects the call before or behind the selected one, its caller, or the first that it called. With
 * nothing selected: the first of the current thread in view. */
export function stepCall(screen: Interplay, step: Step): void {
  const { selected, current, focus } = screen.state.get();
  const thread = selected?.thread ?? (current >= 0 ? current : focus);
  const data = screen.loader.of(thread);
  if (!data || data.calls.n === 0) return screen.say(`${screen.label(thread)} has no call here.`);
  const { t0, t1 } = screen.view(thread);
  const begin = firstBehind(data.calls, 0, t0);
  const [depth, i] = selected
    ? stepFrom(data, selected, step)
    : [0, begin < data.calls.depthFrom[1]! ? begin : -1];
  if (i < 0) return screen.say(NOTHING[step]);
  const hit = hitOf(data, thread, depth, i, data.calls.start[i]!);
  const length = t1 - t0;
  if (hit.end < t0 || hit.start > t1)
    screen.setView(thread, { t0: hit.start - length / 4, t1: hit.start + (length * 3) / 4 });
  screen.select(hit);
}

/** The current thread and its neighbour on the plate change their places. */
export function moveThread(screen: Interplay, by: 1 | -1): void {
  const { focus, contexts, current } = screen.state.get();
  const all = [focus, ...contexts];
  const at = all.indexOf(current);
  if (at < 0 || all.length < 2) return;
  const to = (at + by + all.length) % all.length;
  const next = [...all];
  [next[at], next[to]] = [next[to]!, next[at]!];
  screen.set({ focus: next[0]!, contexts: next.slice(1), focused: -1 });
  const where = to === 0 ? 'in the main view' : `${to} of ${contexts.length} around it`;
  screen.say(`${screen.title(current)} is ${where}.`);
}
