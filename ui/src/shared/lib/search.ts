// SPDX-License-Identifier: MIT
// What the search box understands: words, /regex/, fn: tid: min: max: kind:, of behaviours calls:
// count:, and - before any. Words and fn: look in function names without regard to case; several
// terms must all hold.

type NameTest = (name: string) => boolean;
type ThreadTest = (tid: number, name: string) => boolean;
type RowKind = 'call' | 'expression' | 'gap';

export interface Query {
  text: string;
  isEmpty: boolean;
  /** Why it could not be understood; empty if it was. */
  error: string;
  asksFunction: boolean;
  min: number;
  max: number;
  kind: RowKind | null;
  names: NameTest[];
  threads: ThreadTest[];
  /** Of behaviours: they call such a function, directly or not (`is`), or never. */
  calls: { test: NameTest; is: boolean }[];
  /** Of behaviours: occurrences, at least and less than. */
  least: number;
  below: number;
}

const UNIT: Record<string, number> = { ns: 1, us: 1e3, '\u00b5s': 1e3, ms: 1e6, s: 1e9, min: 6e10 };

export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ns|us|\u00b5s|ms|s|min)?$/.exec(text);
  if (!match) return null;
  if (!match[2]) return Number(match[1]) === 0 ? 0 : null;
  return Math.round(Number(match[1]) * UNIT[match[2]]!);
}

function tokens(text: string): string[] {
  return text.match(/-?(?:\w+:)?\/(?:[^/\\]|\\.)*\/?|-?(?:\w+:)?"[^"]*"?|\S+/g) ?? [];
}

function nameTest(pattern: string): NameTest {
  const regex = /^\/((?:[^/\\]|\\.)+)\/?$/.exec(pattern);
  if (regex) {
    const compiled = new RegExp(regex[1]!, 'i');
    return name => compiled.test(name);
  }
  const wanted = pattern.replace(/^"|"$/g, '').toLowerCase();
  return name => name.toLowerCase().includes(wanted);
}

function tidTest(list: string): ThreadTest {
  const parts = list.split(',').filter(Boolean);
  return (tid, name) =>
    parts.some(part => {
      const range = /^(\d+)-(\d+)$/.exec(part);
      if (range) return tid >= Number(range[1]) && tid <= Number(range[2]);
      const own = /^t?(\d+)$/i.exec(part);
      return own ? tid === Number(own[1]) : name.toLowerCase().includes(part.toLowerCase());
    });
}

function readName(query: Query, value: string, negated: boolean): void {
  query.asksFunction = true;
  try {
    const test = nameTest(value);
    query.names.push(negated ? name => !test(name) : test);
  } catch {
    query.error = `${value} is not a regular expression`;
  }
}

function readLimit(query: Query, key: string, value: string, negated: boolean): void {
  const limit = parseDuration(value);
  if (limit === null) query.error = `${key}: expected a time with its unit, as in ${key}:5ms`;
  else if ((key === 'min') !== negated) query.min = Math.max(query.min, limit);
  else query.max = Math.min(query.max, limit);
}

function readCalls(query: Query, value: string, is: boolean): void {
  try {
    query.calls.push({ test: nameTest(value), is });
  } catch {
    query.error = `${value} is not a regular expression`;
  }
}

function readCount(query: Query, value: string, negated: boolean): void {
  if (!/^\d{1,15}$/.test(value)) query.error = 'count: expected a number, as in count:20';
  else if (negated) query.below = Math.min(query.below, Number(value));
  else query.least = Math.max(query.least, Number(value));
}

function readTerm(query: Query, key: string, value: string, negated: boolean): void {
  if (key === 'fn') return readName(query, value, negated);
  if (key === 'calls') return readCalls(query, value, !negated);
  if (key === 'count') return readCount(query, value, negated);
  if (key === 'min' || key === 'max') return readLimit(query, key, value, negated);
  if (key === 'tid') {
    const test = tidTest(value);
    query.threads.push(negated ? (tid, name) => !test(tid, name) : test);
    return;
  }
  query.kind = (['call', 'expression', 'gap'] as const).find(k => k.startsWith(value)) ?? null;
  if (!query.kind) query.error = 'kind: is call, expression or gap';
}

export function parseQuery(text: string): Query {
  const query: Query = {
    text,
    isEmpty: text.trim() === '',
    error: '',
    asksFunction: false,
    min: 0,
    max: Infinity,
    kind: null,
    names: [],
    threads: [],
    calls: [],
    least: 0,
    below: Infinity,
  };
  for (const token of tokens(text)) {
    const negated = token.startsWith('-') && token.length > 1;
    const match = /^(?:(fn|tid|min|max|kind|calls|count):)?([^]*)$/.exec(
      negated ? token.slice(1) : token,
    )!;
    if (match[2]) readTerm(query, match[1] ?? 'fn', match[2], negated);
  }
  return query;
}

export function matchesName(query: Query, name: string): boolean {
  return query.names.every(test => test(name));
}

export function matchesThread(query: Query, tid: number, name: string): boolean {
  return query.threads.every(test => test(tid, name));
}

/* ---- What a person can ask of RegTime, and how the address and the server's questions say it. Zero and
 * '' leave it to the preset. ---- */

export interface Ask {
  preset: '' | 'fine';
  /** ns: a call longer than this, and a gap, keeps a row; a run is cut at this length. */
  d: number;
  g: number;
  f: number;
  /** Rows a thread at most; -1: as the program has it, 0: no limit. */
  glyphs: number;
  /** An outlier is this many times its function's median, and at least so long (ns). */
  k: number;
  least: number;
}

export const NO_ASK: Ask = { preset: '', d: 0, g: 0, f: 0, glyphs: -1, k: 0, least: 0 };

const TIMES = ['d', 'g', 'f', 'least'] as const;

/** "preset:fine,d:1000000,k:50": only what differs. */
export function writeAsk(ask: Ask): string {
  const parts = [ask.preset && `preset:${ask.preset}`, ask.glyphs >= 0 && `glyphs:${ask.glyphs}`];
  for (const key of [...TIMES, 'k'] as const) parts.push(ask[key] > 0 && `${key}:${ask[key]}`);
  return parts.filter(Boolean).join(',');
}

export function readAsk(text: string): Ask {
  const ask = { ...NO_ASK };
  for (const part of text.split(',')) {
    const [key, value = ''] = part.split(':');
    if (key === 'preset' && value === 'fine') ask.preset = 'fine';
    if (!/^\d+(\.\d+)?$/.test(value)) continue;
    if (key === 'glyphs') ask.glyphs = Math.min(100000, Math.floor(Number(value)));
    if (key === 'k') ask.k = Number(value);
    const time = TIMES.find(one => one === key);
    if (time) ask[time] = Math.floor(Number(value));
  }
  return ask;
}

/** The question's parameters (docs/http-api.md, regtime). */
export function askParams(ask: Ask): Record<string, string | number | undefined> {
  const some = (value: number): number | undefined => (value > 0 ? value : undefined);
  return {
    preset: ask.preset || undefined,
    duration_ns: some(ask.d),
    gap_ns: some(ask.g),
    span_ns: some(ask.f),
    glyphs: ask.glyphs >= 0 ? ask.glyphs : undefined,
    outlier_factor: some(Math.round(ask.k)),
    outlier_min_ns: some(ask.least),
  };
}

/** A field's text as a time in ns: 0 if it is empty, null if it is none. */
export function readTime(text: string): number | null {
  return text.trim() === '' ? 0 : parseDuration(text.trim().replace(/\s+/g, ''));
}
