// SPDX-License-Identifier: MIT
// What the server found when it compared two groups, and the words for it.
import { contextOf } from './compare';
import type { Executions, Frame, MetricUnit } from './compare';
import { bytes, duration, integer, percent } from './format';
import { pValue } from './numbers';
import { isNamed, plainName, splitName } from './names';

/** Columns by node that has a value in A or B, or below it. Differences are B - A, ns. */
export interface ComparedNodes {
  n: number;
  node: Uint32Array;
  nA: Uint32Array;
  nB: Uint32Array;
  isSure: Uint8Array;
  meanA: Float64Array;
  meanB: Float64Array;
  totalA: Float64Array;
  totalB: Float64Array;
  difference: Float64Array;
  low: Float64Array;
  high: Float64Array;
  t: Float64Array;
  p: Float64Array;
  pAdjusted: Float64Array;
  effect: Float64Array;
}

export interface ComparedMetric {
  metric: number;
  meanA: number;
  meanB: number;
  p50A: number;
  p50B: number;
  p99A: number;
  p99B: number;
  difference: number;
  low: number;
  high: number;
  p: number;
  effect: number;
}

export interface ComparedCause {
  /** -1: none stands out. */
  node: number;
  n: number;
  difference: number;
  duration: number;
  /** An execution. */
  example: number;
  context: number;
}

export interface Compared {
  nA: number;
  nB: number;
  neither: number;
  both: number;
  nodes: ComparedNodes;
  /** Places in `nodes`. */
  ranked: Uint32Array;
  metrics: ComparedMetric[];
  causes: ComparedCause[];
  /** Of the executions of B, in their order. */
  causeOf: Uint32Array;
  members: Uint8Array;
  /** In the server's words; '' if it has none. */
  verdict: string;
  /** Runs were compared as blocks, not their executions. */
  isByRuns: boolean;
}

/** What colours the difference of a node. */
export type Statistic = 'p' | 'effect' | 'difference';
export const STATISTICS: readonly [Statistic, string][] = [
  ['p', 'Welch t, adjusted p'],
  ['effect', 'effect size'],
  ['difference', 'exclusive difference'],
];

/** Much faster, faster, no evidence, slower, much slower. */
export type DiffStep = 0 | 1 | 2 | 3 | 4;
export const NO_EVIDENCE: DiffStep = 2;

/** How a node differs; a node without time of its own does not. */
export function stepOf(nodes: ComparedNodes, i: number, by: Statistic, whole: number): DiffStep {
  const difference = nodes.difference[i]!;
  if (difference === 0) return NO_EVIDENCE;
  const strong = {
    p: nodes.pAdjusted[i]! < 0.001,
    effect: Math.abs(nodes.effect[i]!) >= 0.8,
    difference: Math.abs(difference) >= Math.abs(whole) * 0.2,
  }[by];
  const pale = {
    p: nodes.pAdjusted[i]! < 0.05,
    effect: Math.abs(nodes.effect[i]!) >= 0.2,
    difference: Math.abs(difference) >= Math.abs(whole) * 0.02,
  }[by];
  if (!pale) return NO_EVIDENCE;
  return difference > 0 ? (strong ? 4 : 3) : strong ? 0 : 1;
}

const LEAST = 10;

/** Too little is known: p is high, a group is small, or the interval holds 0. */
export function isUnsure(compared: Compared, i: number): boolean {
  const { nodes, nA, nB } = compared;
  if (nodes.meanA[i] === 0 && nodes.meanB[i] === 0) return false;
  return nodes.isSure[i] === 0 || nA < LEAST || nB < LEAST;
}

export function pWords(p: number): string {
  if (!Number.isFinite(p)) return '\u2013';
  return pValue(p).replace(/^p (= )?/, '');
}

/** A value in the unit of its metric. */
export function valueWords(value: number, unit: MetricUnit): string {
  if (!Number.isFinite(value)) return '\u2013';
  if (unit === 'ns') return duration(value);
  if (unit === 'bytes') return value < 0 ? `\u2212${bytes(-value)}` : bytes(Math.round(value));
  if (Number.isInteger(value)) return integer(value);
  return value.toPrecision(3).replace('-', '\u2212');
}

/** "+45.2 ms" */
export function signed(ns: number): string {
  return ns > 0 ? `+${duration(ns)}` : duration(ns);
}

/** Function, state and thread that a context ends in. */
export interface Where {
  place: string;
  state: string;
  thread: string;
  lock: string;
}

export function whereOf(frames: readonly Frame[]): Where {
  const last = (kind: Frame['kind']): string =>
    frames.filter(one => one.kind === kind).at(-1)?.name ?? '';
  const at = frames.map(({ kind }) => kind).lastIndexOf('thread');
  const own = frames.slice(at + 1);
  const functions = own.filter(({ kind }) => kind === 'function').map(({ name }) => name);
  const place = functions.filter(isNamed).at(-1) ?? functions.at(-1) ?? '';
  return { place, state: last('state'), thread: last('thread'), lock: last('lock') };
}

const nameOf = ({ place, state, lock }: Where): string =>
  [state, lock && `for ${lock}`, place && `in ${plainName(place)}`].filter(Boolean).join(' ');

/** What is read of a name where there is little room; an address keeps its program. */
export function lastOf(name: string): string {
  const [scope, last] = splitName(name);
  return last.startsWith('+0x') ? scope + last : last;
}

/** How intervals and p-values came about. */
export const methodOf = ({ isByRuns }: Compared): string =>
  isByRuns ? 'Welch, of runs' : 'Welch and bootstrap';

const signs = (words: string): string =>
  words.replace(/(^|[\s([])-(?=\d)/g, '$1\u2212').replace(/\bx (?=\d)/g, '\u00d7\u00a0');

/** A clause of the terminal, set as a sentence; names, between back-ticks, stay as they are. */
function sentence(clause: string): string {
  const parts = clause.split('`').map((part, i) => (i % 2 === 0 ? signs(part) : part));
  const text = parts.join('`').replace(/[^.]$/, '$&.');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Where a verdict leaves the matter, and says what was counted, and how far to trust it. */
const COUNTED = /[.;] (?=(?:executions were counted|runs were compared|a group of fewer than)\b)/i;

/** What was counted for the verdict, if the server says it: sentences of their own. */
export function countedOf({ verdict }: Compared): string {
  return verdict.split(COUNTED).slice(1).map(sentence).join(' ');
}

/** "Group A is empty"; '' if neither is. */
export function emptyWords({ nA, nB }: Compared): string {
  if (nA === 0 && nB === 0) return 'Both groups are empty';
  return nA === 0 ? 'Group A is empty' : nB === 0 ? 'Group B is empty' : '';
}

/** The answer in one sentence, should the server not say one itself. */
export function verdictOf(executions: Executions, compared: Compared, what: string): string {
  if (compared.verdict !== '') return sentence(compared.verdict.split(COUNTED)[0]!);
  const own = compared.metrics.find(({ metric }) => metric === 0);
  const empty = emptyWords(compared);
  if (empty !== '') return `${empty}: drag over a histogram to choose executions.`;
  if (!own) return 'Nothing is known of their durations.';
  if (!Number.isFinite(own.low) || !Number.isFinite(own.high))
    return `Too few executions for a verdict: B lasts ${duration(own.meanB)}, A ${duration(own.meanA)} on average.`;
  const interval = `[${duration(own.low)}, ${duration(own.high)}]`;
  const isSure = own.low > 0 || own.high < 0;
  if (!isSure)
    return `No difference in duration is certain: ${signed(own.difference)} ${interval} per ${what}.`;
  const word = own.difference > 0 ? 'slower' : 'faster';
  const head = `B is ${word} by ${duration(Math.abs(own.difference))} ${interval} per ${what}`;
  const first = compared.ranked[0];
  if (first === undefined || compared.nodes.isSure[first] === 0)
    return `${head}; no context stands out.`;
  const { difference, node } = compared.nodes;
  const where = whereOf(contextOf(executions, node[first]!));
  const share = percent(difference[first]! / own.difference);
  const thread = where.thread === '' ? '' : `, on ${where.thread}`;
  return `${head}; ${share} of that is ${nameOf(where)}${thread}.`;
}

export function causeWords(executions: Executions, cause: ComparedCause): string {
  if (cause.node < 0) return 'nothing stands out';
  const where = whereOf(contextOf(executions, cause.node));
  return nameOf({ ...where, place: lastOf(where.place) }) || 'its own time';
}

/* ---- export ---------------------------------------------------------------------------------- */

/** A text that a spreadsheet would take for a formula begins with an apostrophe. */
const cell = (value: string | number): string => {
  if (typeof value === 'number') return String(value);
  const isFormula = /^[\u2068]?[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(value);
  return `"${isFormula ? "'" : ''}${value.replace(/"/g, '""')}"`;
};

/** All nodes, ranked, with exact ns. */
export function rankedCsv(executions: Executions, compared: Compared): string {
  const heads = [
    ...['rank', 'context', 'mean_a_ns', 'mean_b_ns', 'difference_ns', 'low_ns', 'high_ns', 't'],
    ...['p', 'p_adjusted', 'effect', 'n_a', 'n_b', 'is_sure'],
  ];
  const { nodes, ranked } = compared;
  const rows = [...ranked].map((i, rank) => {
    const path = contextOf(executions, nodes.node[i]!).map(({ name }) => name);
    return [
      ...[rank + 1, path.join(';'), nodes.meanA[i]!, nodes.meanB[i]!, nodes.difference[i]!],
      ...[nodes.low[i]!, nodes.high[i]!, nodes.t[i]!, nodes.p[i]!, nodes.pAdjusted[i]!],
      ...[nodes.effect[i]!, nodes.nA[i]!, nodes.nB[i]!, nodes.isSure[i]!],
    ].map(cell);
  });
  return [heads, ...rows].map(row => row.join(',')).join('\n') + '\n';
}
