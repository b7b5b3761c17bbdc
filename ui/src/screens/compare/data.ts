// SPDX-License-Identifier: MIT
// Executions with their metrics, and two groups of them that conditions choose. The server compares;
// counts and histograms follow a drag here, without asking.
import type { FrameKind } from '../../shared/lib/flame';
import { bytes, duration, integer } from '../../shared/lib/format';
import { pValue, ratio } from '../../shared/lib/numbers';
import type { CountScale } from '../../shared/lib/histogram';
import { isNamed, plainName, splitName } from '../../shared/lib/names';

export type MetricUnit = 'ns' | 'count' | 'bytes' | 'number';

export interface Metric {
  name: string;
  unit: MetricUnit;
  /** Of time on the critical path: the state, and what a wait is for; '' of other metrics. */
  state: string;
  reason: string;
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
  /** Of a blocked state, what it waits for: "lock, in flight", "in recv"; '' of others. */
  wait: string;
}

export interface Executions {
  /** Rows: a report has some that stand for all. */
  n: number;
  all: number;
  /** For how many each stands; null: for itself. */
  weights: Float64Array | null;
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
  /** Runs of a database of which not all executions were added. */
  partialRuns: number;
}

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
const DURATION = 0; // the first metric of every answer

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
    if (values) keepRange(values, condition, members, other);
  }
  const shift = bit - 1;
  const { weights } = executions;
  let n = 0;
  if (weights)
    for (let i = 0; i < members.length; i++) n += weights[i]! * ((members[i]! >> shift) & 1);
  else for (const member of members) n += (member >> shift) & 1;
  return n;
}

/** Nothing but comparisons: a drag asks for it at each step. A NaN is within what 0 is within. */
function keepRange(
  values: Float64Array,
  { min, max }: Ranged,
  members: Uint8Array,
  other: number,
): void {
  const has0 = min <= 0 && max >= 0;
  for (let i = 0; i < members.length; i++) {
    const value = values[i]!;
    const isIn = has0 ? !(value < min || value > max) : value >= min && value <= max;
    if (!isIn) members[i] = members[i]! & other;
  }
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

function sameSubject(a: Condition, b: Condition): boolean {
  if (a.kind === 'metric' && b.kind === 'metric') return a.name === b.name;
  if (a.kind === 'context' && b.kind === 'context') return a.node === b.node;
  return a.kind === b.kind;
}

/** Another condition on the same metric, context, tag or thread is replaced. */
export function withCondition(group: Group, fresh: Condition): Group {
  return [...without(group, fresh), fresh];
}

/* ---- the groups to begin with ---------------------------------------------------------------- */

/** What the server says of the groups to begin with: builds, or where `weft diagnose` cuts. */
export type FirstCut =
  | { by: 'tags'; a: string; b: string }
  | { by: 'durations'; aMax: number; bMin: number }
  | { by: 'nothing' };

/** Where nothing is to be told apart: the faster half, and the slowest tenth. */
function withoutCut(durations: Float64Array): [fast: number, slow: number] {
  const sorted = Float64Array.from(durations, value => (Number.isNaN(value) ? 0 : value)).sort();
  const n = sorted.length;
  if (n < 4) return [sorted[0] ?? 0, sorted[n - 1] ?? 0];
  return [sorted[Math.floor(n / 2)]!, sorted[Math.ceil(n * 0.9) - 1]!];
}

/** The round value between, where there is one: no execution lies between either. */
function atCut(fast: number, slow: number): [fast: number, slow: number] {
  const cut = roundBetween(fast, slow);
  return cut > fast ? [cut, cut] : [fast, slow];
}

/** The roundest value between two; the lower one if there is none between. */
export function roundBetween(low: number, high: number): number {
  const middle = Math.sqrt(Math.max(1, low) * high);
  for (let digits = 1; digits <= 6; digits++) {
    const value = Number(middle.toPrecision(digits));
    if (value > low && value < high) return value;
  }
  return low;
}

/** The number of an execution in its source, as databases count them; of a trace its id. */
export function numberOf({ id }: Executions, i: number): number {
  return id[i]! % 2 ** 32;
}

export function firstGroups({ metrics }: Executions, cut: FirstCut): Record<Side, Group> {
  if (cut.by === 'tags')
    return { a: [{ kind: 'tag', text: cut.a }], b: [{ kind: 'tag', text: cut.b }] };
  const duration = metrics[0];
  if (!duration || duration.values.length === 0) return { a: [], b: [] };
  const [fast, slow] =
    cut.by === 'durations' ? atCut(cut.aMax, cut.bMin) : withoutCut(duration.values);
  const own = { kind: 'metric' as const, name: duration.name };
  return {
    a: [{ ...own, min: -Infinity, max: fast }],
    b: [{ ...own, min: slow, max: Infinity }],
  };
}

/** Whose cut it is, if the groups are still those to begin with, in either order; else ''. */
export function cutWords(
  executions: Executions,
  groups: Record<Side, Group>,
  cut: FirstCut,
): string {
  const first = firstGroups(executions, cut);
  const same = (x: Group, y: Group): boolean => JSON.stringify(x) === JSON.stringify(y);
  const isFirst = same(groups.a, first.a) && same(groups.b, first.b);
  const isSwapped = same(groups.a, first.b) && same(groups.b, first.a);
  if (!isFirst && !isSwapped) return '';
  if (cut.by === 'tags') return `${cut.a} was recorded first: it is ${isFirst ? 'A' : 'B'}.`;
  if (cut.by === 'durations') return 'Cut where weft diagnose cuts.';
  return 'Slow and fast ones are not separated: the slowest tenth is compared with the faster half.';
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
function nodeOf({ parent, frame, frames }: Executions, path: readonly string[]): number {
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

/** How the groups are shown, as the address has it. */
export interface View {
  /** Metrics, and contexts as "#NODE", with a chart of their own. */
  charts: readonly string[];
  /** Of charts: linear axes. */
  linear: ReadonlySet<string>;
  scale: CountScale | 'fit';
  statistic: Statistic;
  /** Whose mean the widths of the flame graph are. */
  by: Side;
  /** Nodes of the tree, -1: none. */
  node: number;
  focus: number;
  /** Executions ticked. */
  ticked: readonly number[];
  /** Only the executions of this cause are listed; -1: all. */
  cause: number;
  list: 'both' | 'a' | 'b' | 'all';
}

const DEEP = 40; // frames of a path that an address spells out

/** The frames of a path by ";"; of a very deep one its number in this tree, "~12". */
function writeNode(executions: Executions, node: number): string {
  if (node < 1) return '';
  const path = contextOf(executions, node);
  return path.length > DEEP
    ? `~${node}`
    : path.map(({ name }) => encodeURIComponent(name)).join(';');
}

function readNode(executions: Executions, text: string): number {
  if (text === '') return -1;
  const number = /^~(\d{1,9})$/.exec(text);
  const node = number
    ? Number(number[1])
    : nodeOf(executions, text.split(';').filter(Boolean).map(decode));
  return node > 0 && node < executions.parent.length ? node : -1;
}

function writeChart(executions: Executions, chart: string): string {
  if (!chart.startsWith('#')) return encodeURIComponent(chart);
  return `#${writeNode(executions, Number(chart.slice(1)))}`;
}

/** '' if the executions have no such metric or context. */
function readChart(executions: Executions, text: string): string {
  if (text.startsWith('#')) {
    const node = readNode(executions, text.slice(1));
    return node > 0 ? `#${node}` : '';
  }
  const name = decode(text);
  return executions.metrics.some(metric => metric.name === name) ? name : '';
}

/** What an address says of groups, charts, and what is selected. */
export const PLACE_KEYS =
  'A B charts clin ccount cstat cwidth cnode cfocus ctick ccause clist'.split(' ');

/** Keys and values; what is as at first is ''. */
export function writeView(executions: Executions, view: View): [string, string][] {
  const list = (charts: Iterable<string>): string =>
    [...charts].map(chart => writeChart(executions, chart)).join(',');
  return [
    ['charts', list(view.charts)],
    ['clin', list([...view.linear].sort())],
    ['ccount', view.scale === 'fit' ? '' : view.scale],
    ['cstat', view.statistic === 'p' ? '' : view.statistic],
    ['cwidth', view.by === 'b' ? '' : view.by],
    ['cnode', writeNode(executions, view.node)],
    ['cfocus', writeNode(executions, view.focus)],
    ['ctick', view.ticked.join(',')],
    ['ccause', view.cause >= 0 ? String(view.cause) : ''],
    ['clist', view.list === 'both' ? '' : view.list],
  ];
}

const oneOf = <const T extends string>(
  text: string,
  words: readonly T[],
  otherwise: NoInfer<T>,
): T => words.find(word => word === text) ?? otherwise;

/** What an address says of the view; charts are left as they are if it names none. */
export function readView(
  executions: Executions,
  get: (key: string) => string,
  mostCharts: number,
): Partial<View> {
  const list = (key: string): string[] =>
    get(key)
      .split(',')
      .map(text => readChart(executions, text))
      .filter(Boolean);
  const charts = list('charts').slice(0, mostCharts);
  const index = (text: string, n: number): number =>
    /^\d{1,9}$/.test(text) && Number(text) < n ? Number(text) : -1;
  return {
    ...(charts.length > 0 ? { charts, linear: new Set(list('clin')) } : {}),
    scale: oneOf(get('ccount'), ['fit', 'linear', 'root', 'log'], 'fit'),
    statistic: oneOf(get('cstat'), ['p', 'effect', 'difference'], 'p'),
    by: oneOf(get('cwidth'), ['a', 'b'], 'b'),
    node: readNode(executions, get('cnode')),
    focus: readNode(executions, get('cfocus')),
    ticked: get('ctick')
      .split(',')
      .map(text => index(text, executions.n))
      .filter(i => i >= 0)
      .slice(0, MOST_TICKED),
    cause: index(get('ccause'), executions.n),
    list: oneOf(get('clist'), ['both', 'a', 'b', 'all'], 'both'),
  };
}

/** At most so many executions are ticked, to be opened side by side. */
export const MOST_TICKED = 8;

/* ---- What the server found when it compared two groups, and the words for it. ---- */

/** Columns by node that has a value in A or B, or below it. Differences are B - A, ns. */
interface ComparedNodes {
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
  /** In the server's words: "B is 3.10 ms slower than A", and sentences on what was counted. */
  answer: string;
  grounds: string;
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
type DiffStep = 0 | 1 | 2 | 3 | 4;
const NO_EVIDENCE: DiffStep = 2;

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
  return value < 0 ? `\u2212${ratio(-value)}` : ratio(value);
}

/** "+45.2 ms" */
export function signed(ns: number): string {
  return ns > 0 ? `+${duration(ns)}` : duration(ns);
}

/** Function, state and thread that a context ends in. */
interface Where {
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

/** The answer, and what was counted for it: sentences of the server. */
export const answerOf = ({ answer }: Compared): string => sentence(answer);
export const groundsOf = ({ grounds }: Compared): string => (grounds ? sentence(grounds) : '');

/** "Group A is empty"; '' if neither is. */
export function emptyWords({ nA, nB }: Compared): string {
  if (nA === 0 && nB === 0) return 'Both groups are empty';
  return nA === 0 ? 'Group A is empty' : nB === 0 ? 'Group B is empty' : '';
}

/** How the durations differ, if both groups have some. */
export const durationOf = (compared: Compared | null): ComparedMetric | undefined =>
  compared?.metrics.find(({ metric }) => metric === DURATION);

export function causeWords(executions: Executions, cause: ComparedCause): string {
  if (cause.node < 0) return 'nothing stands out';
  const where = whereOf(contextOf(executions, cause.node));
  return nameOf({ ...where, place: lastOf(where.place) }) || 'its self time';
}
