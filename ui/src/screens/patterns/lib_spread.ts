// SPDX-License-Identifier: MIT
// How the durations of a behaviour are distributed, and what each thread has of it.
import { NBSP } from '../../shared/lib/format';
import type { Shapes } from '../../shared/lib/shapes';

export interface OfThread {
  thread: number;
  count: number;
  sum: number;
  /** Occurrences a second of the time that is looked at. */
  rate: number;
}

/** What threads have of a behaviour, as far as the page knows it; most time first. */
export function perThread(shapes: Shapes, cluster: number): OfThread[] {
  const seconds = (shapes.to - shapes.from) / 1e9;
  const rows: OfThread[] = [];
  for (const own of shapes.threads) {
    const found = own?.presences.find(presence => presence.cluster === cluster);
    if (!own || !found) continue;
    const { count, sum } = found;
    rows.push({ thread: own.thread, count, sum, rate: seconds > 0 ? count / seconds : 0 });
  }
  return rows.sort((a, b) => b.sum - a.sum || a.thread - b.thread);
}

export function rateText(rate: number): string {
  const [value, unit] =
    rate >= 1e6 ? [rate / 1e6, 'M'] : rate >= 1e4 ? [rate / 1e3, 'k'] : [rate, ''];
  const digits = value >= 100 ? Math.round(value) : +value.toPrecision(3);
  return `${digits}${unit && NBSP}${unit}/s`;
}
