// SPDX-License-Identifier: MIT
// A trace as the page knows it: columns of plain numbers. Times are ns since the trace's start;
// float64 holds them exactly up to 104 days.
import type { Shapes } from './shapes';

export const KIND = { CALL: 0, EXPRESSION: 1, NODE: 2, OTHER: 3, GAP: 4, SLIVER: 5 } as const;
export const FLAG = { CUT_START: 1, CUT_END: 2, REPAIRED: 4, OUTLIER: 8 } as const;
export const PAUSE = { WAIT: 0, STILL: 1, IDLE: 2 } as const;

/** RegTime rows of one thread in pre-order; `next` is the first row behind a row's subtree. */
export interface Rows {
  n: number;
  kind: Uint8Array;
  level: Uint16Array;
  parent: Int32Array;
  next: Int32Array;
  fn: Int32Array;
  flags: Uint8Array;
  start: Float64Array;
  end: Float64Array;
  count: Float64Array;
  sum: Float64Array;
  self: Float64Array;
  min: Float64Array;
  max: Float64Array;
  folded: Uint32Array;
}

export interface Pauses {
  n: number;
  kind: Uint8Array;
  fn: Int32Array;
  start: Float64Array;
  end: Float64Array;
}

export interface Thread {
  index: number;
  /** The same thread in the whole trace, if these are the rows of a part of it. */
  whole: Thread | null;
  tid: number;
  pid: number;
  name: string;
  label: string;
  calls: number;
  cutCalls: number;
  first: number;
  last: number;
  start: number;
  end: number;
  d: number;
  g: number;
  f: number;
  factor: number;
  rowsAfter: number;
  recordsBefore: number;
  recordsAfter: number;
  notable: number;
  expressions: number;
  nodes: number;
  others: number;
  gaps: number;
  sliverCalls: number;
  sliverNs: number;
  foldedNodes: number;
  foldedCalls: number;
  foldedNs: number;
  expressionNs: number;
  waitNs: number;
  stillNs: number;
  idleNs: number;
  runningNs: number;
  pausesAll: number;
  rows: Rows;
  pauses: Pauses;
}

export interface Functions {
  n: number;
  /** By which a server knows them; the page's own index in a report. */
  id: number[];
  name: string[];
  module: string[];
  group: number[];
  count: number[];
  inclusive: number[];
  self: number[];
  min: number[];
  mean: number[];
  max: number[];
  p50: number[];
  p90: number[];
  p99: number[];
  p999: number[];
  threads: number[];
  openCount: number[];
  openNs: number[];
  cutCount: number[];
  cutNs: number[];
  isWait: number[];
}

export interface Outlier {
  kind: 'call' | 'gap';
  thread: number;
  fn: number;
  depth: number;
  start: number;
  end: number;
  self: number;
  median: number;
  times: number;
  share: number;
  flags: number;
  own: boolean;
  long: boolean;
  deepest: boolean;
  context: number[];
}

export interface Note {
  kind: string;
  class: 'lost' | 'repaired' | 'info';
  count: number;
  text: string;
  detail: string;
  tid: number | null;
}

export interface Settings {
  preset: string;
  durationFraction: number;
  gapFraction: number;
  spanFraction: number;
  durationNs: number;
  gapNs: number;
  spanNs: number;
  glyphs: number;
  outlierFactor: number;
  outlierMin: number;
  pauseThreshold: number;
}

export interface Trace {
  /** What the rows are of: only a first picture, a part of the trace, or (null) all of it. */
  part: { kind: 'sketch' | 'window'; span: Span } | null;
  generator: string;
  name: string;
  format: string;
  details: string;
  duration: number;
  calls: number;
  cutCalls: number;
  bytesIn: number;
  bytesOut: number;
  notes: Note[];
  settings: Settings;
  functions: Functions;
  threads: Thread[];
  outliers: Outlier[];
  outliersFound: number;
  /** null: the page was written without. */
  shapes: Shapes | null;
  totals: {
    /** Of the part that the rows are of. */
    calls: number;
    rowsAfter: number;
    recordsBefore: number;
    recordsAfter: number;
    foldedNs: number;
    expressionNs: number;
    raised: number;
  };
}

/** A half-open span of time. */
export interface Span {
  t0: number;
  t1: number;
}

export function overlap(a0: number, a1: number, b0: number, b1: number): number {
  return Math.max(0, Math.min(a1, b1) - Math.max(a0, b0));
}
