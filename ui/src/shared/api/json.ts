// SPDX-License-Identifier: MIT
// Reading values of JSON that nobody has vouched for.

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
