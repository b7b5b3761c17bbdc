// SPDX-License-Identifier: MIT
// What the server answers: JSON whose values are checked when read, and binary tables.
import type { Bins } from '../lib/histogram';
import { parsePlain } from '../lib/format';
import type { WaitObject } from '../lib/names';
import type { Path, PathArrow, PathSegment, PathSum, PathThread } from '../lib/path';

export type Json = Record<string, unknown>;

export function num(json: Json, key: string): number {
  const value = json[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

export function text(json: Json, key: string): string {
  const value = json[key];
  return typeof value === 'string' ? value : '';
}

export function object(json: Json, key: string): Json {
  const value = json[key];
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

export function list<T>(json: Json, key: string): T[] {
  const value = json[key];
  return Array.isArray(value) ? (value as T[]) : [];
}

export function damaged(what: string): Error {
  return new Error(`the page\u2019s data is damaged: ${what}`);
}

export function column(json: Json, key: string, n: number): number[] {
  const values = list<number>(json, key);
  if (values.length !== n) throw damaged(`column ${key} has ${values.length} of ${n} values`);
  if (!values.every(value => Number.isFinite(value))) throw damaged(`column ${key} has no number`);
  return values;
}

/** A list of objects; anything else in it is left out. */
export function objects(json: Json, key: string): Json[] {
  const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
  return list<Json>(json, key).filter(isObject);
}

export function undelta(steps: number[]): Float64Array {
  let t = 0;
  return Float64Array.from(steps, step => (t += step));
}

/* ---- Binary tables of the server (docs/http-api.md): a JSON header, then columns that are used in place. ---- */

const MAGIC = 0x43544657; // "WFTC"
const HEAD_BYTES = 8;

export type Column = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

interface ColumnType {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer, at: number, length: number): Column;
}

const TYPES = new Map<string, ColumnType>([
  ['u8', Uint8Array],
  ['u16', Uint16Array],
  ['u32', Uint32Array],
  ['i32', Int32Array],
  ['f64', Float64Array],
]);

export interface Table {
  rows: number;
  columns: Map<string, Column>;
}

export interface Columns {
  meta: Json;
  tables: Map<string, Table>;
}

interface TableHead {
  name: string;
  rows: number;
  columns: { name: string; type: string }[];
}

const damagedAnswer = (what: string): Error =>
  new Error(`the server\u2019s answer is damaged: ${what}`);

function readHeader(buffer: ArrayBuffer): { meta: Json; at: number } {
  if (buffer.byteLength < HEAD_BYTES) throw damagedAnswer('it is cut');
  const head = new DataView(buffer);
  if (head.getUint32(0, true) !== MAGIC) throw damagedAnswer('it holds no columns');
  const at = HEAD_BYTES + head.getUint32(4, true);
  if (at % 8 !== 0 || at > buffer.byteLength) throw damagedAnswer('its header is cut');
  const text = new TextDecoder().decode(new Uint8Array(buffer, HEAD_BYTES, at - HEAD_BYTES));
  return { meta: parsePlain(text) as Json, at };
}

export function decodeColumns(buffer: ArrayBuffer): Columns {
  const { meta, at: start } = readHeader(buffer);
  const tables = new Map<string, Table>();
  let at = start;
  for (const { name, rows, columns } of meta['tables'] as TableHead[]) {
    const table: Table = { rows, columns: new Map() };
    for (const column of columns) {
      const type = TYPES.get(column.type);
      if (!type) throw damagedAnswer(`no type is called ${column.type}`);
      const bytes = rows * type.BYTES_PER_ELEMENT;
      if (at + bytes > buffer.byteLength) throw damagedAnswer(`column ${column.name} is cut`);
      table.columns.set(column.name, new type(buffer, at, rows));
      at += Math.ceil(bytes / 8) * 8;
    }
    tables.set(name, table);
  }
  return { meta, tables };
}

/** A column that must be there; the type is the caller's claim. */
export function take<T extends Column>(columns: Columns, table: string, name: string): T {
  const column = columns.tables.get(table)?.columns.get(name);
  if (!column) throw damagedAnswer(`${table} lacks ${name}`);
  return column as T;
}

/* ---- what threads wait for ---- */

export function decodeObjects(meta: Json): WaitObject[] {
  return objects(meta, 'objects').map(row => ({
    id: text(row, 'id'),
    name: text(row, 'name'),
    kind: text(row, 'kind'),
    waiters: num(row, 'n_waiters'),
    releasers: num(row, 'n_releasers'),
    waits: num(row, 'waits'),
    ns: num(row, 'wait_ns'),
    free: num(row, 'uncontended'),
    isNeverReleased: row['is_never_released'] === true,
    isReused: row['is_reused'] === true,
  }));
}

/* ---- Answers of `path` (docs/http-api.md). ---- */

const idOf = (json: Json, key: string): number =>
  typeof json[key] === 'number' ? num(json, key) : -1;

function decodeSegment(json: Json): PathSegment {
  const is = (key: string): boolean => json[key] === true;
  const notFollowed = is('cycle') ? 'cycle' : is('too_deep') ? 'too deep' : '';
  return {
    start: num(json, 'start_ns'),
    end: num(json, 'end_ns'),
    thread: num(json, 'thread_id'),
    depth: num(json, 'depth'),
    state: text(json, 'state'),
    reason: text(json, 'reason'),
    name: text(json, 'name'),
    fn: idOf(json, 'fn'),
    function: text(json, 'function'),
    stack: text(json, 'stack'),
    other: idOf(json, 'other_thread_id'),
    otherName: text(json, 'other_thread'),
    otherFunction: text(json, 'other_function'),
    otherNs: num(json, 'other_ns'),
    span: text(json, 'span'),
    isInFlight: is('in_flight'),
    isUncertain: is('uncertain'),
    notFollowed: is('unfinished') ? 'unfinished' : notFollowed,
  };
}

function decodeArrow(locks: readonly Json[]): (json: Json) => PathArrow {
  return json => ({
    from: num(json, 'from_ns'),
    to: num(json, 'to_ns'),
    fromThread: num(json, 'from_thread_id'),
    toThread: num(json, 'to_thread_id'),
    edge: text(json, 'edge'),
    isUncertain: json['uncertain'] === true,
    wait: num(json, 'wait_ns'),
    lock: text(locks[idOf(json, 'lock_id')] ?? {}, 'lock'),
  });
}

function decodeThread(json: Json): PathThread {
  return {
    thread: num(json, 'thread_id'),
    sum: num(json, 'sum_ns'),
    by: {
      running: num(json, 'running_ns'),
      interrupted: num(json, 'interrupted_ns'),
      preempted: num(json, 'preempted_ns'),
      blocked: num(json, 'blocked_ns'),
      unknown: num(json, 'unknown_ns'),
    },
  };
}

const decodeSum =
  (name: string) =>
  (json: Json): PathSum => ({
    name: text(json, name),
    id: idOf(json, 'fn'),
    running: num(json, 'running_ns'),
    waiting: num(json, 'waiting_ns'),
  });

export function decodePath(json: Json): Path {
  const locks = objects(json, 'locks');
  const segments = objects(json, 'segments').map(decodeSegment);
  return {
    thread: num(json, 'thread_id'),
    from: num(json, 'from_ns'),
    to: num(json, 'to_ns'),
    hasKernel: json['has_kernel'] === true,
    unexplained: num(json, 'unexplained_ns'),
    uncertain: num(json, 'uncertain_ns'),
    cycles: num(json, 'cycles'),
    tooDeep: num(json, 'too_deep'),
    total: num(json, 'segments_total'),
    segments,
    arrows: objects(json, 'arrows').map(decodeArrow(locks)),
    reasons: objects(json, 'reasons').map(one => ({
      state: text(one, 'state'),
      reason: text(one, 'reason'),
      sum: num(one, 'sum_ns'),
      segments: num(one, 'segments'),
    })),
    locks: locks.map(one => ({
      edge: text(one, 'edge'),
      name: text(one, 'lock'),
      count: num(one, 'count'),
      sum: num(one, 'sum_ns'),
      longest: num(one, 'longest_ns'),
    })),
    threads: objects(json, 'threads').map(decodeThread),
    functions: objects(json, 'functions').map(decodeSum('function')),
    spans: objects(json, 'spans').map(decodeSum('span')),
  };
}

/** The columns of a table under the names and types that the server describes (gen/tables.ts). */
export function tableOf<T extends object>(columns: Columns, table: string) {
  return <K extends keyof T & string>(name: K): T[K] =>
    take<Column>(columns, table, name) as unknown as T[K];
}

/** The answer to `histogram`. */
export function decodeBins(json: Json): Bins {
  const bins = objects(json, 'bins').filter(bin => num(bin, 'count') > 0);
  const pick = (key: string): Float64Array => Float64Array.from(bins, bin => num(bin, key));
  return {
    n: bins.length,
    from: pick('from_ns'),
    to: pick('to_ns'),
    count: pick('count'),
    sum: pick('sum_ns'),
    total: num(json, 'count'),
    totalNs: num(json, 'sum_ns'),
    min: num(json, 'min_ns'),
    max: num(json, 'max_ns'),
  };
}
