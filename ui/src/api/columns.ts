// SPDX-License-Identifier: MIT
// Binary tables of the server (docs/http-api.md): a JSON header, then columns that are used in place.
import { parsePlain } from '../lib/plain';
import type { Json } from './json';

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

const damaged = (what: string): Error => new Error(`the server\u2019s answer is damaged: ${what}`);

function readHeader(buffer: ArrayBuffer): { meta: Json; at: number } {
  if (buffer.byteLength < HEAD_BYTES) throw damaged('it is cut');
  const head = new DataView(buffer);
  if (head.getUint32(0, true) !== MAGIC) throw damaged('it holds no columns');
  const at = HEAD_BYTES + head.getUint32(4, true);
  if (at % 8 !== 0 || at > buffer.byteLength) throw damaged('its header is cut');
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
      if (!type) throw damaged(`no type is called ${column.type}`);
      const bytes = rows * type.BYTES_PER_ELEMENT;
      if (at + bytes > buffer.byteLength) throw damaged(`column ${column.name} is cut`);
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
  if (!column) throw damaged(`${table} lacks ${name}`);
  return column as T;
}

/** The columns of a table under the names and types that the server describes (gen/tables.ts). */
export function tableOf<T extends object>(columns: Columns, table: string) {
  return <K extends keyof T & string>(name: K): T[K] =>
    take<Column>(columns, table, name) as unknown as T[K];
}
