// SPDX-License-Identifier: MIT
// What a critical path is asked of: a thread and a time; and how the address names several of them.
import { readSpan, writeSpan } from './fragment';
import type { Span } from './model';

/** At most so many paths are stacked. */
export const MOST_PICKS = 8;

export interface Pick {
  /** A dense id. */
  thread: number;
  span: Span;
  /** What it is: "remap_view", "range", "insert #237". */
  label: string;
}

const LABEL_BYTES = 80;

/** "t24522.2854.9-2931.9~insert;t3.0-1": tids, ms, and labels without ; and ~. */
export function writePicks(picks: readonly Pick[], tidOf: (thread: number) => number): string {
  return picks
    .map(({ thread, span, label }) => {
      const name = label.replace(/[;~]/g, ' ').slice(0, LABEL_BYTES);
      return `t${tidOf(thread)}.${writeSpan(span)}${name ? `~${name}` : ''}`;
    })
    .join(';');
}

/** Odd parts, and threads that the trace does not have, are left out. */
export function readPicks(text: string, threadOf: (tid: number) => number): Pick[] {
  return text
    .split(';')
    .flatMap(part => {
      const match = /^t(\d{1,15})\.([\d.]+-[\d.]+)(?:~(.*))?$/.exec(part);
      const span = readSpan(match?.[2]);
      const thread = match && span ? threadOf(Number(match[1])) : -1;
      return thread < 0
        ? []
        : [{ thread, span: span!, label: (match![3] ?? '').slice(0, LABEL_BYTES) }];
    })
    .slice(0, MOST_PICKS);
}

export function samePick(a: Pick, b: Pick): boolean {
  return a.thread === b.thread && a.span.t0 === b.span.t0 && a.span.t1 === b.span.t1;
}
