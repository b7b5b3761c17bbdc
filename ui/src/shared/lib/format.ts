// SPDX-License-Identifier: MIT
// Numbers for people: three significant digits and a unit, or every nanosecond; foreign text made
// plain.

import { bytes, count, fixed, nanoseconds, NBSP, ratio, rough, share as percent } from './numbers';

export { bytes, NBSP, percent, rough as compact };

const MINUS = '\u2212';
const UNITS: [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, '\u00b5s'],
  [1, 'ns'],
];

/** 85.2 ms, 357 ns, 30.0 min; of means less than 10 ns with a decimal. */
export function duration(ns: number): string {
  if (ns < 0) return MINUS + duration(-ns);
  return ns < 10 && ns % 1 ? `${fixed(ns, 1)}${NBSP}ns` : nanoseconds(Math.round(ns));
}

/** Every nanosecond, in the unit a person would use: 12.879 328 ms. */
export function exact(ns: number): string {
  if (ns < 0) return MINUS + exact(-ns);
  const [scale, unit] = UNITS.find(([s]) => ns >= s) ?? [1, 'ns'];
  const places = Math.round(Math.log10(scale));
  const whole = Math.floor(ns / scale);
  if (places === 0) return `${whole}${NBSP}${unit}`;
  const rest = String(Math.round(ns - whole * scale)).padStart(places, '0');
  return `${integer(whole)}.${rest.replace(/(\d{3})(?=\d)/g, `$1${NBSP}`)}${NBSP}${unit}`;
}

/** 488,830 */
export function integer(value: number): string {
  const text = count(Math.round(Math.abs(value)));
  return value < 0 ? MINUS + text : text;
}

/** A share with its sign: what goes the other way is less than nothing of a sum. */
export function signedPercent(share: number): string {
  return share < 0 ? `${MINUS}${percent(-share)}` : percent(share);
}

/** 4,400 x, 1.50 x */
export function times(value: number): string {
  return `${ratio(value)}${NBSP}\u00d7`;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${integer(n)} ${n === 1 ? one : many}`;
}

/** A span in one unit: 46.4-50.9 ms. */
export function span(t0: number, t1: number): string {
  const [scale, unit] = UNITS.find(([s]) => t1 >= s) ?? [1, 'ns'];
  const width = Math.max(1, t1 - t0) / scale;
  const most = Math.round(Math.log10(scale));
  const places = Math.min(most, Math.max(0, 3 - Math.floor(Math.log10(width) + 1)));
  const [from, to] = [t0 / scale, t1 / scale].map(t => +fixed(t, Math.max(places, 1)));
  return `${from}\u2013${to}${NBSP}${unit}`;
}

/* ---- Foreign text made plain, as src/base/plain.h does: names hold any characters, some of which hide
 * text or change the order in which a line reads. They become escapes. Names that are written from
 * the right are isolated, so that they do not reorder the text around them. ---- */

// Controls (lines and tabs do no harm here), direction, line breaks, what is invisible.
const HIDDEN =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
const FROM_RIGHT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const ISOLATE = '\u2068';
const END = '\u2069';

function escape(sign: string): string {
  const code = sign.codePointAt(0)!;
  const hex = (n: number): string => code.toString(16).padStart(n, '0');
  return code < 0x100 ? `\\x${hex(2)}` : code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}

export function plain(text: string): string {
  const shown = text.replace(HIDDEN, escape);
  return FROM_RIGHT.test(shown) ? ISOLATE + shown + END : shown;
}

/** Without isolation: for questions to the server, and for files. */
export function bare(text: string): string {
  return text.replace(/[\u2068\u2069]/g, '');
}

/** JSON whose texts are plain, keys of objects included. */
export function parsePlain(json: string): unknown {
  const isPlain = json.search(HIDDEN) < 0 && !FROM_RIGHT.test(json) && !json.includes('\\u');
  return isPlain ? JSON.parse(json) : JSON.parse(json, plainValue);
}

function plainValue(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return plain(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  const isPlain = entries.every(([key]) => plain(key) === key);
  return isPlain ? value : Object.fromEntries(entries.map(([key, one]) => [plain(key), one]));
}

/* ---- Sentences of the server, in which names stand between back-ticks. ---- */

interface Prose {
  text: string;
  isCode: boolean;
}

/** Parts of a sentence, without the back-ticks; one that nothing closes stays as it is. */
export function proseOf(sentence: string): Prose[] {
  return sentence
    .split(/(`[^`]*`)/)
    .map(part => {
      const isCode = part.length > 1 && part.startsWith('`') && part.endsWith('`');
      return { text: isCode ? part.slice(1, -1) : part, isCode };
    })
    .filter(({ text }) => text !== '');
}

/** Without the back-ticks. */
export const plainOf = (sentence: string): string =>
  proseOf(sentence)
    .map(({ text }) => text)
    .join('');

/* ---- notes on data quality, and words of a shell ---- */

/** Text that a shell takes as one word. */
export function quoted(word: string): string {
  return /^[\w./+=:@%-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

/** Notes in few words, behind their count. */
const SHORT: Record<string, string> = {
  truncated: 'cut off',
  unwritten: 'not written',
  bad_record: 'unreadable',
  unknown_record: 'unknown records',
  formless: 'events without format',
  lost_records: 'lost records',
  lost_switches: 'missing switches',
  not_recorded: 'processes not fully recorded',
  excluded: 'processes excluded',
  depth_limit: 'calls too deep',
  duplicate_buffer: 'events twice',
  clock_set: 'ns of doubt between clocks',
  exit_without_entry: 'exits without entry',
  exit_ignored: 'exits ignored',
  missing_exit: 'missing exits',
  open_at_end: 'calls open at the end',
  time_backward: 'steps back in time',
  unnamed_function: 'unnamed functions',
  foreign_map: 'names of another build',
  not_kept: 'events not kept',
};

/** "326 exits without entry" */
export function shortNote(kind: string, count: number): string {
  if (isBytes(kind)) return `${bytes(count)} ${SHORT[kind] ?? 'lost'}`;
  const words = SHORT[kind] ?? kind.replace(/_/g, ' ');
  return `${integer(count)} ${count === 1 ? words.replace(/^(\w+)s\b/, '$1') : words}`;
}

export const isBytes = (kind: string): boolean =>
  kind === 'truncated' || kind === 'unwritten' || kind === 'bad_record';

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
