// SPDX-License-Identifier: MIT
// The data that the page carries (docs/page-data.md): found, unpacked, checked, made columns.
import type { LodItemsColumns, LodThreadsColumns } from '../../gen/tables';
import { parsePlain } from '../lib/format';
import { sketchRows } from '../lib/lod';
import type { LodItems } from '../lib/lod';
import { KIND } from '../lib/model';
import type { Functions, Outlier, Pauses, Rows, Settings, Thread, Trace, Span } from '../lib/model';
import { column, damaged, list, num, object, objects, tableOf, text, undelta } from './columns';
import type { Json, Columns } from './columns';
import { decodeShapes } from './shapes';

const VERSION = 3;

export async function loadPage(): Promise<Trace> {
  const holder = document.getElementById('weft-data');
  if (!holder) throw new Error('this page holds no trace: it is the empty frame of a report');
  const text = new TextDecoder().decode(await unpack(holder.textContent ?? ''));
  return decodeTrace(parsePlain(text) as Json);
}

/** What a page has packed: gzip, as base64. */
export async function unpack(base64: string): Promise<ArrayBuffer> {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  if (typeof DecompressionStream === 'undefined')
    throw new Error('this browser is too old to unpack the page (it lacks DecompressionStream)');
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

function subtreeEnds(parent: Int32Array): Int32Array {
  const next = Int32Array.from(parent, (_, i) => i + 1);
  for (let i = parent.length - 1; i >= 0; i--) {
    const p = parent[i]!;
    if (p >= 0 && next[i]! > next[p]!) next[p] = next[i]!;
  }
  return next;
}

/** What the children of each row take of its time; the reverse of what the writer subtracts. */
function sumBelow(kind: number[], parent: Int32Array, sum: Float64Array): Float64Array {
  const below = new Float64Array(kind.length);
  for (let i = kind.length - 1; i >= 0; i--)
    if (parent[i]! >= 0 && kind[i] !== KIND.GAP)
      below[parent[i]!]! += kind[i] === KIND.EXPRESSION ? below[i]! : sum[i]!;
  return below;
}

const ROW_COLUMNS = ['k', 'l', 'p', 'f', 'x', 's', 't', 'n', 'u', 'w', 'a', 'b', 'o'] as const;
type RowColumns = Record<(typeof ROW_COLUMNS)[number], number[]>;

/** The rows of all threads, one behind the other. */
function rowColumns(json: Json): RowColumns {
  const n = list(json, 'k').length;
  const get = (key: string): number[] => column(json, key, n);
  return Object.fromEntries(ROW_COLUMNS.map(key => [key, get(key)])) as RowColumns;
}

function decodeRows(all: RowColumns, from: number, n: number): Rows {
  const get = (key: keyof RowColumns): number[] => all[key].slice(from, from + n);
  const kinds = get('k');
  const up = get('p');
  const parent = Int32Array.from(up, (p, i) => (p > 0 && p <= i ? i - p : -1));
  const start = undelta(get('s'));
  const length = get('t');
  const extra = get('u');
  const count = get('n');
  const sum = Float64Array.from(length, (t, i) => t + extra[i]!);
  const below = sumBelow(kinds, parent, sum);
  const rest = get('w');
  const mean = sum.map((ns, i) => Math.floor(ns / Math.max(1, count[i]!)));
  const [least, most] = [get('a'), get('b')];
  return {
    n,
    kind: Uint8Array.from(kinds),
    level: Uint16Array.from(get('l')),
    parent,
    next: subtreeEnds(parent),
    fn: Int32Array.from(get('f')),
    flags: Uint8Array.from(get('x')),
    start,
    end: start.map((s, i) => s + length[i]!),
    count: Float64Array.from(count),
    sum,
    self: below.map((ns, i) => (kinds[i] === KIND.EXPRESSION ? ns : sum[i]! - ns) - rest[i]!),
    min: mean.map((ns, i) => ns - least[i]!),
    max: mean.map((ns, i) => ns + most[i]!),
    folded: Uint32Array.from(get('o')),
  };
}

function decodePauses(json: Json): Pauses {
  const kinds = list<number>(json, 'k');
  const start = undelta(column(json, 's', kinds.length));
  const length = column(json, 't', kinds.length);
  return {
    n: kinds.length,
    kind: Uint8Array.from(kinds),
    fn: Int32Array.from(column(json, 'f', kinds.length)),
    start,
    end: start.map((s, i) => s + length[i]!),
  };
}

/** A name that only repeats the id says nothing. */
function ownName(json: Json, tid: number): string {
  const name = text(json, 'name');
  return name === `T${tid}` || name === String(tid) ? '' : name;
}

function decodeThread(json: Json, index: number, rows: Rows): Thread {
  const tid = num(json, 'tid');
  return {
    index,
    tid,
    pid: num(json, 'pid'),
    name: ownName(json, tid),
    label: `T${tid}`,
    whole: null,
    calls: num(json, 'calls'),
    cutCalls: num(json, 'cut_calls'),
    first: num(json, 'first_ns'),
    last: num(json, 'last_ns'),
    start: num(json, 'start_ns'),
    end: num(json, 'end_ns'),
    d: num(json, 'd_ns'),
    g: num(json, 'g_ns'),
    f: num(json, 'f_ns'),
    factor: num(json, 'factor'),
    rowsAfter: num(json, 'rows_after'),
    recordsBefore: num(json, 'records_before'),
    recordsAfter: num(json, 'records_after'),
    notable: num(json, 'n_notable'),
    expressions: num(json, 'n_expressions'),
    nodes: num(json, 'n_nodes'),
    others: num(json, 'n_others'),
    gaps: num(json, 'n_gaps'),
    sliverCalls: num(json, 'sliver_calls'),
    sliverNs: num(json, 'sliver_ns'),
    foldedNodes: num(json, 'folded_nodes'),
    foldedCalls: num(json, 'folded_calls'),
    foldedNs: num(json, 'folded_ns'),
    expressionNs: num(json, 'expression_ns'),
    waitNs: num(json, 'wait_ns'),
    stillNs: num(json, 'still_ns'),
    idleNs: num(json, 'idle_ns'),
    runningNs: num(json, 'running_ns'),
    pausesAll: num(json, 'n_pauses'),
    rows,
    pauses: decodePauses(object(json, 'pauses')),
  };
}

function decodeThreads(json: Json): Thread[] {
  const all = rowColumns(object(json, 'rows'));
  let at = 0;
  const threads = objects(json, 'threads').map((entry, i) => {
    const n = num(entry, 'n_rows');
    const from = at;
    if (!Number.isInteger(n) || n < 0 || (at += n) > all.k.length) throw damaged('a count of rows');
    return decodeThread(entry, i, decodeRows(all, from, n));
  });
  if (at !== all.k.length) throw damaged('rows of no thread');
  return threads;
}

function decodeFunctions(json: Json): Functions {
  const name = list<string>(json, 'name');
  const n = name.length;
  const get = (key: string): number[] => column(json, key, n);
  return {
    id: json['id'] ? get('id') : name.map((_, i) => i),
    n,
    name,
    module: list<string>(json, 'module'),
    group: get('group'),
    count: get('count'),
    inclusive: get('inclusive_ns'),
    self: get('self_ns'),
    min: get('min_ns'),
    mean: get('mean_ns'),
    max: get('max_ns'),
    p50: get('p50_ns'),
    p90: get('p90_ns'),
    p99: get('p99_ns'),
    p999: get('p999_ns'),
    threads: get('threads'),
    openCount: get('open_count'),
    openNs: get('open_ns'),
    cutCount: get('cut_count'),
    cutNs: get('cut_ns'),
    isWait: get('is_wait'),
  };
}

function decodeOutlier(json: Json): Outlier {
  const start = num(json, 's');
  return {
    kind: num(json, 'kind') === 1 ? 'gap' : 'call',
    thread: num(json, 'thread'),
    fn: num(json, 'f'),
    depth: num(json, 'depth'),
    start,
    end: start + num(json, 't'),
    self: num(json, 'self'),
    median: num(json, 'median'),
    times: num(json, 'times'),
    share: num(json, 'share'),
    flags: num(json, 'flags'),
    own: num(json, 'own') === 1,
    long: num(json, 'long') === 1,
    deepest: num(json, 'deepest') === 1,
    context: list<number>(json, 'context'),
  };
}

function decodeSettings(json: Json): Settings {
  return {
    preset: text(json, 'preset'),
    durationFraction: num(json, 'duration_fraction'),
    gapFraction: num(json, 'gap_fraction'),
    spanFraction: num(json, 'span_fraction'),
    durationNs: num(json, 'duration_ns'),
    gapNs: num(json, 'gap_ns'),
    spanNs: num(json, 'span_ns'),
    glyphs: num(json, 'glyphs'),
    outlierFactor: num(json, 'outlier_factor'),
    outlierMin: num(json, 'outlier_min_ns'),
    pauseThreshold: num(json, 'pause_threshold_ns'),
  };
}

/** Turns the JSON into columns; throws a sentence if it is of another version or damaged. */
export function decodeTrace(json: Json): Trace {
  if (json['v'] !== VERSION)
    throw new Error(
      `this page shows data of version ${VERSION}, and was given ${String(json['v'])}`,
    );
  const trace = object(json, 'trace');
  const outliers = object(json, 'outliers');
  const totals = object(json, 'totals');
  const threads = decodeThreads(json);
  const functions = decodeFunctions(object(json, 'functions'));
  for (const { rows } of threads)
    for (let i = 0; i < rows.n; i++)
      if (rows.fn[i]! >= functions.n || rows.kind[i]! > KIND.SLIVER)
        throw damaged('a row names an unknown function');
  return {
    part: null,
    generator: text(json, 'generator'),
    name: text(trace, 'name'),
    format: text(trace, 'format'),
    details: text(trace, 'details'),
    duration: num(trace, 'duration_ns'),
    calls: num(trace, 'calls'),
    cutCalls: num(trace, 'cut_calls'),
    bytesIn: num(trace, 'bytes_in'),
    bytesOut: num(trace, 'bytes_out'),
    notes: list(json, 'notes'),
    settings: decodeSettings(object(json, 'settings')),
    functions,
    threads,
    outliers: objects(outliers, 'rows').map(decodeOutlier),
    outliersFound: num(outliers, 'found'),
    shapes: decodeShapes(json['shapes'], functions.n, threads.length),
    totals: {
      calls: num(totals, 'calls_before') || num(trace, 'calls'),
      rowsAfter: num(totals, 'rows_after'),
      recordsBefore: num(totals, 'records_before'),
      recordsAfter: num(totals, 'records_after'),
      foldedNs: num(totals, 'folded_ns'),
      expressionNs: num(totals, 'expression_ns'),
      raised: num(totals, 'raised'),
    },
  };
}

/* ---- Answers of `lod` (docs/http-api.md) as the rows of a first picture. ---- */

function itemsOf(answer: Columns): LodItems {
  const item = tableOf<LodItemsColumns>(answer, 'items');
  return {
    start: item('start_ns'),
    end: item('end_ns'),
    count: item('count'),
    covered: item('covered_ns'),
    longest: item('longest_ns'),
    depth: item('depth'),
    fn: item('function'),
    longestFn: item('longest_function'),
    isCluster: item('is_cluster'),
  };
}

/** Rows by thread id. `nFunctions`: every function id is less. */
export function decodeSketch(answer: Columns, nFunctions: number): Map<number, Rows> {
  const items = itemsOf(answer);
  const thread = tableOf<LodThreadsColumns>(answer, 'threads');
  const id = thread('id');
  const first = thread('first_item');
  const n = thread('n_items');
  const byThread = new Map<number, Rows>();
  id.forEach((one, i) => {
    if (first[i]! + n[i]! > items.start.length) throw new Error('the server sent too few items');
    const rows = sketchRows(items, first[i]!, first[i]! + n[i]!);
    if (rows.fn.some(fn => fn >= nFunctions)) throw new Error('an item names an unknown function');
    byThread.set(one, rows);
  });
  return byThread;
}

/* ---- The document of `regtime` (docs/http-api.md) as a trace whose threads stand where the server counts
 * them, whatever part of the trace it is of. ---- */

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
    name: bare.name,
    duration: bare.duration,
    threads,
    outliers: placeOutliers(trace.outliers, places),
    part: span && { kind: 'window', span },
  };
}
