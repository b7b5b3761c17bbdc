// SPDX-License-Identifier: MIT
// Lanes of locks under the calls of a thread (VISUAL: "lock lane"): when it had one, had it while others
// waited, and waited for it.
import { duration, plural } from '../../shared/lib/format';
import { objectName } from '../../shared/lib/waits';
import type { WaitObject } from '../../shared/lib/waits';

/** Px of a lane, with the line below it. */
export const LANE = 9;
/** Lanes of a thread: those that it waited for longest. */
export const MOST_LANES = 3;

export const LANE_STATE = { HELD: 0, HELD_WAITED: 1, WAITS: 2 } as const;
const WORDS = ['held', 'held while others wait', 'waits'] as const;

/** One lock on one thread; pieces in order of time. Short ones are joined: `count` of them. */
export interface Lane {
  thread: number;
  object: WaitObject;
  n: number;
  start: Float64Array;
  end: Float64Array;
  count: Uint32Array;
  state: Uint8Array;
  /** ns by state, in the part asked for. */
  ns: readonly [number, number, number];
}

/** By thread: the locks whose lanes it has, most waiting first; of locks that nobody waited for, none. */
export function laneOrder(lanes: readonly Lane[], most = MOST_LANES): Map<number, string[]> {
  const order = new Map<number, string[]>();
  const contended = lanes.filter(({ ns }) => ns[LANE_STATE.HELD_WAITED] + ns[LANE_STATE.WAITS] > 0);
  const blocked = ({ ns }: Lane): number => ns[LANE_STATE.HELD_WAITED] + ns[LANE_STATE.WAITS];
  for (const lane of [...contended].sort((a, b) => blocked(b) - blocked(a))) {
    const own = order.get(lane.thread) ?? [];
    if (own.length < most) order.set(lane.thread, [...own, lane.object.id]);
  }
  return order;
}

/** The piece at `t`, or the nearest within `near` ns, or -1. */
export function pieceAt({ start, end, n }: Lane, t: number, near: number): number {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle]! < t - near) low = middle + 1;
    else high = middle;
  }
  return low < n && start[low]! <= t + near ? low : -1;
}

export function pieceWords(lane: Lane, i: number): string {
  const length = duration(lane.end[i]! - lane.start[i]!);
  const word = WORDS[lane.state[i]!] ?? '';
  const many = lane.count[i]! > 1 ? `${plural(lane.count[i]!, 'short piece')}, mostly ` : '';
  return `${objectName(lane.object)}: ${many}${word}, ${length}`;
}
