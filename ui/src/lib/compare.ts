// SPDX-License-Identifier: MIT
// Executions with their metrics, and two groups of them that conditions choose. The server compares;
// counts and histograms follow a drag here, without asking.
import type { FrameKind } from './ecct';

export type MetricUnit = 'ns' | 'count' | 'bytes' | 'number';

export interface Metric {
  name: string;
  unit: MetricUnit;
  /** By execution; NaN (it has none) counts as 0. */
  values: Float64Array;
}

export interface Source {
  path: string;
  host: string;
  tag: string;
  /** Of the traces served, or -1. */
  trace: number;
}

export interface Frame {
  name: string;
  module: string;
  kind: FrameKind;
}

export interface Executions {
  n: number;
  id: Float64Array;
  source: Uint32Array;
  tid: Float64Array;
  /** Indices into `threads`. */
  thread: Uint32Array;
  start: Float64Array;
  end: Float64Array;
  flags: Uint8Array;
  threads: string[];
  sources: Source[];
  /** "duration" and "start" first. */
  metrics: Metric[];
  frames: Frame[];
  /** The generic tree: node 0 is the root, parents before children. */
  parent: Int32Array;
  frame: Int32Array;
  confidence: Uint8Array;
  /** Rows of the database that could not be read. */
  damaged: number;
}

/** Of weft_execution_flag. */
export const EXECUTION_FLAGS = ['cut at the start', 'unfinished', 'nested', 'lossy'] as const;

/** Both ends inclusive. */
export type Condition =
  | { kind: 'metric'; name: string; min: number; max: number }
  | { kind: 'context'; node: number; min: number; max: number }
  | { kind: 'tag'; text: string }
  | { kind: 'thread'; text: string };

export type Ranged = Exclude<Condition, { kind: 'tag' } | { kind: 'thread' }>;

export type Group = readonly Condition[];
export type Side = 'a' | 'b';
export const SIDES: readonly Side[] = ['a', 'b'];
export const BIT = { a: 1, b: 2 } as const;

/** Values of a metric or of a context, by execution. */
export type ValuesOf = (condition: Ranged) => Float64Array | null;

/** Sets the bit of the side in those that fulfil all conditions, and clears it in the others. A
 * condition whose values are not known yet is left out. */
export function choose(
  executions: Executions,
  group: Group,
  side: Side,
  valuesOf: ValuesOf,
  members: Uint8Array,
): number {
  const bit = BIT[side];
  const other = 3 - bit;
  for (let i = 0; i < members.length; i++) members[i] = members[i]! | bit;
  for (const condition of group) {
    if (condition.kind === 'tag' || condition.kind === 'thread') {
      keepText(executions, condition, members, other);
      continue;
    }
    const values = valuesOf(condition);
    if (!values) continue;
    const { min, max } = condition;
    for (let i = 0; i < members.length; i++) {
      const value = values[i]!;
      const own = Number.isNaN(value) ? 0 : value;
      if (own < min || own > max) members[i]! &= other;
    }
  }
  let n = 0;
  for (const member of members) n += (member & bit) === 0 ? 0 : 1;
  return n;
}

function keepText(
  { source, sources, thread, threads }: Executions,
  { kind, text }: { kind: 'tag' | 'thread'; text: string },
  members: Uint8Array,
  other: number,
): void {
  const fits =
    kind === 'tag' ? sources.map(({ tag }) => tag === text) : threads.map(name => name === text);
  const of = kind === 'tag' ? source : thread;
  for (let i = 0; i < members.length; i++) if (fits[of[i]!] !== true) members[i]! &= other;
}

/** Names of frames from the root to a node. */
export function contextOf({ parent, frame, frames }: Executions, node: number): Frame[] {
  const path: Frame[] = [];
  for (let i = node; i > 0; i = parent[i]!) path.unshift(frames[frame[i]!]!);
  return path;
}

const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
const number = (value: number): string => {
  const text = String(value);
  return /^-?\d+(\.\d+)?$/.test(text) ? text : value.toFixed(9);
};

/** A group as the server reads it (docs/filters.md). */
export function filterText(executions: Executions, group: Group): string {
  const range = (what: string, unit: string, min: number, max: number): string[] => [
    ...(min > -Infinity ? [`${what}>=${number(min)}${unit}`] : []),
    ...(max < Infinity ? [`${what}<=${number(max)}${unit}`] : []),
  ];
  return group
    .flatMap(one => {
      if (one.kind === 'tag' || one.kind === 'thread') return [`${one.kind}=${quoted(one.text)}`];
      if (one.kind === 'context') {
        const path = contextOf(executions, one.node).map(({ name }) => name);
        return range(`context(${quoted(path.join(';'))})`, 'ns', one.min, one.max);
      }
      const unit = executions.metrics.find(({ name }) => name === one.name)?.unit;
      return range(`metric(${quoted(one.name)})`, unit === 'ns' ? 'ns' : '', one.min, one.max);
    })
    .join(' and ');
}

/** The same without the condition on this metric or context. */
export function without(group: Group, gone: Condition): Group {
  return group.filter(one => !sameSubject(one, gone));
}

export function sameSubject(a: Condition, b: Condition): boolean {
  if (a.kind === 'metric' && b.kind === 'metric') return a.name === b.name;
  if (a.kind === 'context' && b.kind === 'context') return a.node === b.node;
  return a.kind === b.kind;
}

/** Another condition on the same metric, context, tag or thread is replaced. */
export function withCondition(group: Group, fresh: Condition): Group {
  return [...without(group, fresh), fresh];
}

/* ---- the groups to begin with ---------------------------------------------------------------- */

const LEAST = 10; // executions of a group, if there are so many
const GAP = 1.3;

/** Where the slow ones begin: the widest gap of ratios in the upper half, with at least ten (or one
 * in a hundred) beyond it; without a gap, the slowest tenth against the faster half. */
export function slowTail(durations: Float64Array): { fast: number; slow: number } {
  const sorted = Float64Array.from(durations, value => (Number.isNaN(value) ? 0 : value)).sort();
  const n = sorted.length;
  if (n < 4) return { fast: sorted[0] ?? 0, slow: sorted[n - 1] ?? 0 };
  const least = Math.min(Math.floor(n / 4), Math.max(LEAST, Math.floor(n / 100)));
  let [at, widest] = [-1, GAP];
  for (let i = Math.floor(n / 2); i < n - least; i++) {
    const ratio = sorted[i + 1]! / Math.max(1, sorted[i]!);
    if (ratio > widest) [at, widest] = [i, ratio];
  }
  if (at >= 0) return { fast: sorted[at]!, slow: sorted[at + 1]! };
  return { fast: sorted[Math.floor(n / 2)]!, slow: sorted[Math.ceil(n * 0.9) - 1]! };
}

/** The number of an execution in its source, as databases count them; of a trace its id. */
export function numberOf({ id }: Executions, i: number): number {
  return id[i]! % 2 ** 32;
}

/** Two tags, if there are several; else the fast ones against the slow tail. */
export function firstGroups({ sources, metrics }: Executions): Record<Side, Group> {
  const tags = [...new Set(sources.map(({ tag }) => tag))].filter(tag => tag !== '');
  if (tags.length >= 2)
    return { a: [{ kind: 'tag', text: tags[0]! }], b: [{ kind: 'tag', text: tags[1]! }] };
  const duration = metrics[0];
  if (!duration || duration.values.length === 0) return { a: [], b: [] };
  const { fast, slow } = slowTail(duration.values);
  const own = { kind: 'metric' as const, name: duration.name };
  return {
    a: [{ ...own, min: -Infinity, max: fast }],
    b: [{ ...own, min: slow, max: Infinity }],
  };
}

/* ---- the address ----------------------------------------------------------------------------- */

const edge = (value: number): string => (Number.isFinite(value) ? String(value) : '');
const readEdge = (text: string, otherwise: number): number =>
  /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : otherwise;

/** "m~duration~~2000000;c~a,b~1000~;tag~base" */
export function writeGroup(executions: Executions, group: Group): string {
  const safe = (text: string): string => encodeURIComponent(text).replace(/~/g, '%7E');
  return group
    .map(one => {
      if (one.kind === 'tag' || one.kind === 'thread') return `${one.kind}~${safe(one.text)}`;
      const path = one.kind === 'context' ? contextOf(executions, one.node) : [];
      const what =
        one.kind === 'metric' ? safe(one.name) : path.map(({ name }) => safe(name)).join(',');
      return `${one.kind === 'metric' ? 'm' : 'c'}~${what}~${edge(one.min)}~${edge(one.max)}`;
    })
    .join(';');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The node at the end of a path of names; -1: there is none. */
export function nodeOf({ parent, frame, frames }: Executions, path: readonly string[]): number {
  let node = 0;
  for (const name of path) {
    let next = -1;
    for (let i = node + 1; i < parent.length && next < 0; i++)
      if (parent[i] === node && frames[frame[i]!]!.name === name) next = i;
    if (next < 0) return -1;
    node = next;
  }
  return node;
}

/** What the executions do not have is left out. */
export function readGroup(executions: Executions, text: string): Group {
  return text.split(';').flatMap((part): Condition[] => {
    const [kind, what = '', low = '', high = ''] = part.split('~');
    const range = { min: readEdge(low, -Infinity), max: readEdge(high, Infinity) };
    if (kind === 'tag' || kind === 'thread') return [{ kind, text: decode(what) }];
    if (kind === 'm') {
      const name = decode(what);
      const isKnown = executions.metrics.some(metric => metric.name === name);
      return isKnown ? [{ kind: 'metric', name, ...range }] : [];
    }
    if (kind !== 'c') return [];
    const node = nodeOf(executions, what.split(',').map(decode));
    return node > 0 ? [{ kind: 'context', node, ...range }] : [];
  });
}
