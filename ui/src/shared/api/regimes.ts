// SPDX-License-Identifier: MIT
// The document of `regtime` (docs/http-api.md) as a trace whose threads stand where the server counts
// them, whatever part of the trace it is of.
import type { Outlier, Span, Thread, Trace } from '../lib/model';
import type { Json } from './json';
import { decodeTrace } from './page';

type Key = string;
const keyOf = ({ tid, pid }: { tid: number; pid: number }): Key => `${pid}.${tid}`;

/** Index among `all` of each thread of the document: by place if they are the same list, else by
 * process and thread; -1: unknown. */
function placesOf(threads: readonly Thread[], all: readonly Thread[]): number[] {
  const isSame =
    threads.length === all.length && threads.every((t, i) => keyOf(t) === keyOf(all[i]!));
  if (isSame) return threads.map((_, i) => i);
  const byKey = new Map(all.map((thread, i) => [keyOf(thread), i]));
  return threads.map(thread => byKey.get(keyOf(thread)) ?? -1);
}

function placeOutliers(outliers: readonly Outlier[], places: readonly number[]): Outlier[] {
  return outliers
    .map(outlier => ({ ...outlier, thread: places[outlier.thread] ?? -1 }))
    .filter(({ thread }) => thread >= 0);
}

/**
 * `bare`: the trace with all its threads, without rows; `whole`: the regimes of all of it, if they
 * are known; `span`: the part that the document is of, null for all.
 */
export function decodeRegimes(
  json: Json,
  bare: Trace,
  whole: Trace | null,
  span: Span | null,
): Trace {
  const trace = decodeTrace({ ...json, shapes: null });
  const places = placesOf(trace.threads, bare.threads);
  const threads = bare.threads.map((thread, i) => ({
    ...thread,
    whole: whole?.threads[i] ?? null,
  }));
  trace.threads.forEach((thread, i) => {
    const at = places[i]!;
    if (at >= 0) threads[at] = { ...thread, index: at, whole: whole?.threads[at] ?? null };
  });
  return {
    ...trace,
    ...{ name: bare.name, duration: bare.duration, threads },
    outliers: placeOutliers(trace.outliers, places),
    part: span && { kind: 'window', span },
  };
}
