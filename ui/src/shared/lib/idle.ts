// SPDX-License-Identifier: MIT
// Stretches of time in which nothing happens anywhere.
import type { Span } from './model';

/** What none of the spans covers of [0, duration), as far as it is at least `least` long; ascending.
 * Spans come in lists, each ascending by start. */
export function idleStretches(
  lists: readonly { t0: ArrayLike<number>; t1: ArrayLike<number> }[],
  duration: number,
  least: number,
): Span[] {
  const all: Span[] = [];
  for (const { t0, t1 } of lists)
    for (let i = 0; i < t0.length; i++) all.push({ t0: t0[i]!, t1: t1[i]! });
  all.sort((a, b) => a.t0 - b.t0);
  const idle: Span[] = [];
  let end = 0;
  for (const { t0, t1 } of [...all, { t0: duration, t1: duration }]) {
    if (t0 > end && t0 - end >= least) idle.push({ t0: end, t1: t0 });
    end = Math.max(end, t1);
  }
  return idle;
}
