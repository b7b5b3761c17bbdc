// SPDX-License-Identifier: MIT
// What a served page knows besides the regimes: the server, the trace's threads and names, and the
// set of calls that screens hand to each other.
import { num, objects, text } from '../api/columns';
import type { Json } from '../api/columns';
import type { Source } from '../api/source';
import { Atom } from '../lib/atom';
import { plural } from '../lib/format';
import type { Functions, Settings, Thread, Trace } from '../lib/model';
import { buildFamilies } from '../lib/names';
import type { Families, Named } from '../lib/names';
import { setWindow } from './actions';
import type { App } from './app';

export interface ServedThread {
  /** Index in the trace; what questions name. */
  id: number;
  tid: number;
  pid: number;
  name: string;
  label: string;
  calls: number;
  /** Other events than calls. */
  events: number;
  /** What the source says it lost of it. */
  lost: number;
  /** Calls that were open when it began: they have the depths below this. */
  cutCalls: number;
  first: number;
  last: number;
  maxDepth: number;
}

/** By function id of the trace; `self` in ns of the whole trace. */
interface Names extends Named {
  module: string[];
}

/** Many calls: a brush of a histogram, hits of a search. Sorted by start. */
export interface CallSet {
  title: string;
  /** Function ids; empty: any. */
  functions: number[];
  minNs: number;
  maxNs: number;
  /** minNs and maxNs are of self times. */
  isSelf?: boolean;
  /** All that match; the columns may hold only the longest of them. */
  total: number;
  n: number;
  thread: Uint32Array;
  start: Float64Array;
  end: Float64Array;
  depth: Uint16Array;
  fn: Uint32Array;
}

/** One call, by what names it for ever: where it is. */
export interface CallAt {
  thread: number;
  depth: number;
  start: number;
  end: number;
  fn: number;
}

export interface ServedState {
  set: CallSet | null;
  /** The set is all that is shown, not only highlighted. */
  isSetOnly: boolean;
  /** The call that the timeline has selected. */
  call: CallAt | null;
  /** The function that Functions has selected, or -1. */
  fn: number;
}

interface ServedTrace {
  id: number;
  name: string;
}

export interface Served {
  source: Source;
  /** All that the server has, this one among them. */
  traces: ServedTrace[];
  /** False: it has databases alone. */
  hasTrace: boolean;
  trace: {
    name: string;
    duration: number;
    calls: number;
    format: string;
    /** The kernel tells of states of threads. */
    hasStates: boolean;
  };
  threads: ServedThread[];
  names: Names;
  /** Of all functions of the trace, by its ids: hues and short names for every screen. */
  families: Families;
  state: Atom<ServedState>;
}

function decodeThread(json: Json): ServedThread {
  const [tid, name] = [num(json, 'tid'), text(json, 'name')];
  return {
    id: num(json, 'id'),
    tid,
    pid: num(json, 'pid'),
    calls: num(json, 'calls'),
    events: num(json, 'events'),
    lost: typeof json['lost'] === 'number' ? json['lost'] : 0,
    name: name === `T${tid}` || name === String(tid) ? '' : name,
    label: `T${tid}`,
    first: num(json, 'first_ns'),
    last: num(json, 'last_ns'),
    maxDepth: num(json, 'max_depth'),
    cutCalls: num(json, 'cut_calls'),
  };
}

/** In place of a thread that a report goes without; its tid is that of none. */
const omitted = (id: number): ServedThread => ({
  id,
  tid: -1,
  pid: -1,
  calls: 0,
  events: 0,
  lost: 0,
  name: '',
  label: 'a thread',
  first: 0,
  last: 0,
  maxDepth: 0,
  cutCalls: 0,
});

/** Each at its id: a report has only some of very many threads. */
export function threadsById(given: ServedThread[]): ServedThread[] {
  const n = given.reduce((most, { id }) => Math.max(most, id + 1), 0);
  const all = Array.from({ length: n }, (_, id) => omitted(id));
  for (const one of given) all[one.id] = one;
  return all;
}

function decodeNames(rows: Json[]): Names {
  return {
    n: rows.length,
    name: rows.map(row => text(row, 'name')),
    module: rows.map(row => text(row, 'module')),
    openNs: rows.map(() => 0),
    self: rows.map(row => num(row, 'self_ns')),
    count: rows.map(row => num(row, 'count')),
    isWait: rows.map(row => (row['is_wait'] === true || row['is_wait'] === 1 ? 1 : 0)),
  };
}

/** What every screen needs, in three quick questions; databases alone have no threads to ask for.
 * `known`: the names, if they need not be asked for. */
export async function loadServed(source: Source, known: Names | null = null): Promise<Served> {
  const traces = await source.json('traces', { trace: undefined });
  const own =
    [...objects(traces, 'traces'), ...objects(traces, 'databases')].find(
      one => num(one, 'id') === source.trace,
    ) ?? {};
  const hasTrace = objects(traces, 'traces').length > 0;
  const [threads, names] = hasTrace
    ? await Promise.all([source.json('threads'), known ? {} : source.json('names')])
    : [{}, {}];
  const functions = known ?? decodeNames(objects(names, 'functions'));
  return {
    source,
    traces: objects(traces, 'traces').map(one => ({ id: num(one, 'id'), name: text(one, 'name') })),
    hasTrace,
    trace: {
      name: text(own, 'name'),
      duration: num(own, 'duration_ns'),
      calls: num(own, 'calls'),
      format: text(own, 'format'),
      hasStates: own['has_states'] === true,
    },
    threads: threadsById(objects(threads, 'threads').map(decodeThread)),
    names: functions,
    families: buildFamilies(functions),
    state: new Atom<ServedState>({ set: null, isSetOnly: false, call: null, fn: -1 }),
  };
}

/** A report's names, by the function ids of its answers; those that do not occur have none. */
function namesOf({ n, id, name, module, self, count, isWait }: Functions): Names {
  const all = id.reduce((most, one) => Math.max(most, one + 1), 0);
  const names: Names = decodeNames(new Array<Json>(all).fill({}));
  for (let i = 0; i < n; i++) {
    const at = id[i]!;
    names.name[at] = name[i]!;
    names.module[at] = module[i]!;
    names.self[at] = self[i]!;
    names.count[at] = count[i]!;
    names.isWait[at] = isWait[i]!;
  }
  return names;
}

/** The answers inside a report, as screens of a served page ask for them; null: it has none. */
export async function loadInside(source: Source, trace: Trace): Promise<Served | null> {
  return source.has('diagnose') ? loadServed(source, namesOf(trace.functions)) : null;
}

export function setServed(served: Served, change: Partial<ServedState>): void {
  served.state.update(now => ({ ...now, ...change }));
}

const NO_SETTINGS: Settings = {
  preset: '',
  durationFraction: 0,
  gapFraction: 0,
  spanFraction: 0,
  durationNs: 0,
  gapNs: 0,
  spanNs: 0,
  glyphs: 0,
  outlierFactor: 0,
  outlierMin: 0,
  pauseThreshold: 0,
};

function bareThread(thread: ServedThread, index: number): Thread {
  const rows = {
    n: 0,
    kind: new Uint8Array(),
    level: new Uint16Array(),
    parent: new Int32Array(),
    next: new Int32Array(),
    fn: new Int32Array(),
    flags: new Uint8Array(),
    start: new Float64Array(),
    end: new Float64Array(),
    count: new Float64Array(),
    sum: new Float64Array(),
    self: new Float64Array(),
    min: new Float64Array(),
    max: new Float64Array(),
    folded: new Uint32Array(),
  };
  const pauses = {
    n: 0,
    kind: new Uint8Array(),
    fn: new Int32Array(),
    start: new Float64Array(),
    end: new Float64Array(),
  };
  return {
    whole: null,
    index,
    tid: thread.tid,
    pid: thread.pid,
    name: thread.name,
    label: thread.label,
    calls: thread.calls,
    cutCalls: 0,
    first: thread.first,
    last: thread.last,
    start: thread.first,
    end: thread.last,
    d: 0,
    g: 0,
    f: 0,
    factor: 1,
    rowsAfter: 0,
    recordsBefore: 0,
    recordsAfter: 0,
    notable: 0,
    expressions: 0,
    nodes: 0,
    others: 0,
    gaps: 0,
    sliverCalls: 0,
    sliverNs: 0,
    foldedNodes: 0,
    foldedCalls: 0,
    foldedNs: 0,
    expressionNs: 0,
    waitNs: 0,
    stillNs: 0,
    idleNs: 0,
    runningNs: 0,
    pausesAll: 0,
    rows,
    pauses,
  };
}

/** All functions by their ids; of their times only the sums are known. */
function bareFunctions({ n, name, module, count, self, isWait }: Names): Functions {
  const none = new Array<number>(n).fill(0);
  return {
    n,
    id: name.map((_, i) => i),
    name,
    module,
    group: none,
    count,
    inclusive: self,
    self,
    min: none,
    mean: none,
    max: none,
    p50: none,
    p90: none,
    p99: none,
    p999: none,
    threads: none,
    openCount: none,
    openNs: none,
    cutCount: none,
    cutNs: none,
    isWait,
  };
}

/** The trace before its regimes are known: threads without rows. */
export function bareTrace(served: Served, generator: string): Trace {
  const { trace } = served;
  return {
    part: { kind: 'sketch', span: { t0: 0, t1: Math.max(1, trace.duration) } },
    generator,
    name: trace.name,
    format: trace.format,
    details: '',
    duration: trace.duration,
    calls: trace.calls,
    cutCalls: 0,
    bytesIn: 0,
    bytesOut: 0,
    notes: [],
    settings: NO_SETTINGS,
    functions: bareFunctions(served.names),
    threads: served.threads.map(bareThread),
    outliers: [],
    outliersFound: 0,
    shapes: null,
    totals: {
      calls: trace.calls,
      rowsAfter: 0,
      recordsBefore: 0,
      recordsAfter: 0,
      foldedNs: 0,
      expressionNs: 0,
      raised: 0,
    },
  };
}

/* ---- From a call in a list to where it is on a time axis. ---- */

export function callAt(set: CallSet, i: number): CallAt {
  return {
    thread: set.thread[i]!,
    depth: set.depth[i]!,
    start: set.start[i]!,
    end: set.end[i]!,
    fn: set.fn[i]!,
  };
}

export function isSameCall(a: CallAt | null, b: CallAt | null): boolean {
  if (!a || !b) return a === b;
  return a.thread === b.thread && a.depth === b.depth && a.start === b.start;
}

/** Selects a call and shows it, with some room around it, on the timeline (or the Overview). The
 * window before becomes a crumb. */
export function goToCall(app: App, served: Served, call: CallAt): void {
  setServed(served, { call });
  const { window, crumbs } = app.state.get();
  const room = Math.max((call.end - call.start) * 0.5, 50);
  const screen = app.screens.find(({ key }) => key === 'timeline') ?? app.screens[0]!;
  const name = served.names.name[call.fn] ?? 'a call';
  app.state.update(now => ({
    ...now,
    crumbs: [...crumbs, window],
    screen: screen.key,
    range: null,
    isPreview: false,
    said: `${name} in ${served.threads[call.thread]?.label ?? 'a thread'}; ${plural(crumbs.length + 1, 'step')} to go back.`,
  }));
  setWindow(app, call.start - room, call.end + room);
}
