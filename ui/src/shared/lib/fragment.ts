// SPDX-License-Identifier: MIT
// The state of the screen in the address: versioned, readable, without trace data. Times are
// milliseconds with every digit that counts.
import type { Span } from './model';

/** The screens, by the digit that is their key and their name in the address. */
export const DIGITS = {
  findings: 0,
  overview: 1,
  timeline: 2,
  patterns: 3,
  interplay: 4,
  path: 5,
  compare: 6,
  functions: 7,
  lists: 8,
  health: 9,
} as const;
export type Screen = keyof typeof DIGITS;

function screenOf(digit: string | undefined): Screen | null {
  const keys = Object.keys(DIGITS) as Screen[];
  return keys.find(key => String(DIGITS[key]) === digit) ?? null;
}

export interface Place {
  window: Span | null;
  crumbs: Span[];
  range: Span | null;
  query: string;
  isFiltered: boolean;
  isRegime: boolean;
  sort: string;
  hidden: number[]; // tids
  open: number[]; // tids shown tall
  unpacked: string[]; // keys of packs that are expanded
  item: { tid: number; row: number } | null;
  family: string;
  screen: Screen;
  /** Cards that are pinned (lib/pins.ts). */
  pins: string[];
  /** Searches of before, the latest first. */
  past: string[];
  /** What screens say of their own, by keys that are none of the above's. */
  parts: Record<string, string>;
}

/** At most so many cards are pinned, and so many searches kept. */
export const MOST_PINS = 8;
export const MOST_PAST = 8;

const OWN_KEYS = new Set('v s w c r set only t sort hide open more item fam cards past'.split(' '));

function ms(t: number): string {
  const ns = Math.round(t);
  const whole = Math.floor(ns / 1e6);
  const rest = String(ns - whole * 1e6)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return rest ? `${whole}.${rest}` : String(whole);
}

export function writeSpan({ t0, t1 }: Span): string {
  return `${ms(t0)}-${ms(t1)}`;
}

export function readSpan(text: string | undefined): Span | null {
  const match = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? '');
  if (!match) return null;
  const [t0, t1] = [Math.round(Number(match[1]) * 1e6), Math.round(Number(match[2]) * 1e6)];
  return t1 > t0 ? { t0, t1 } : null;
}

const writeTids = (list: number[]): string => list.map(t => `t${t}`).join(',');

function readTids(text: string | undefined): number[] {
  const parts = (text ?? '').split(',').filter(part => /^t\d+$/.test(part));
  return parts.map(part => Number(part.slice(1)));
}

function encode(value: string): string {
  return encodeURIComponent(value).replace(/%(2C|3A|2F)/g, code => decodeURIComponent(code));
}

export function writeFragment(place: Place): string {
  const { window, range, item } = place;
  const parts: [string, string][] = [
    ['v', '1'],
    ['s', String(DIGITS[place.screen])],
    ['w', window ? writeSpan(window) : ''],
    ['c', place.crumbs.map(writeSpan).join(',')],
    ['r', range ? writeSpan(range) : ''],
    ['set', place.query],
    ['only', place.isFiltered ? '1' : ''],
    ['t', place.isRegime ? 'regime' : ''],
    ['sort', place.sort],
    ['hide', writeTids(place.hidden)],
    ['open', writeTids(place.open)],
    ['more', place.unpacked.join(',')],
    ['item', item ? `t${item.tid}.${item.row}` : ''],
    ['fam', place.family],
    ['cards', place.pins.join(',')],
    ['past', place.past.join('\n')],
    ...Object.entries(place.parts),
  ];
  const said = parts.filter(([, value]) => value !== '');
  return '#' + said.map(([key, value]) => `${key}=${encode(value)}`).join('&');
}

function readParts(fragment: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const part of fragment.replace(/^#/, '').split('&')) {
    const at = part.indexOf('=');
    if (at <= 0) continue;
    try {
      values.set(part.slice(0, at), decodeURIComponent(part.slice(at + 1)));
    } catch {
      continue; // a broken escape: this part says nothing
    }
  }
  return values;
}

/** What a fragment says; null if it is of another version or none. Odd parts are left out. */
export function readFragment(fragment: string): Place | null {
  const values = readParts(fragment);
  if (values.get('v') !== '1') return null;
  const get = (key: string): string => values.get(key) ?? '';
  const item = /^t(\d+)\.(\d+)$/.exec(get('item'));
  const crumbs = get('c').split(',').map(readSpan);
  return {
    window: readSpan(get('w')),
    crumbs: crumbs.filter((crumb): crumb is Span => crumb !== null),
    range: readSpan(get('r')),
    query: get('set'),
    isFiltered: get('only') === '1',
    isRegime: get('t') === 'regime',
    sort: get('sort'),
    hidden: readTids(get('hide')),
    open: readTids(get('open')),
    unpacked: get('more').split(',').filter(Boolean),
    item: item ? { tid: Number(item[1]), row: Number(item[2]) } : null,
    family: get('fam'),
    screen: screenOf(get('s')) ?? 'overview',
    parts: Object.fromEntries([...values].filter(([key]) => !OWN_KEYS.has(key))),
    pins: get('cards').split(',').filter(Boolean).slice(0, MOST_PINS),
    past: get('past').split('\n').filter(Boolean).slice(0, MOST_PAST),
  };
}

/* ---- A pinned card: what it is of, and where that was seen, short enough for an address. ---- */

export interface Pin {
  screen: Screen;
  window: Span;
  /** A behaviour by its id, and one occurrence of it; or a row of a thread (state/app.ts). */
  what:
    | { kind: 'behaviour'; id: number; at: { tid: number; span: Span } | null }
    | { kind: 'row'; row: string };
}

/** "3~0-12.5~c17", "3~0-12.5~c17~t7.1-2", "1~0-12.5~t7.0.3.1200-4500". */
export function writePin({ screen, window, what }: Pin): string {
  const head = `${DIGITS[screen]}~${writeSpan(window)}~`;
  if (what.kind === 'row') return head + what.row;
  const at = what.at ? `~t${what.at.tid}.${writeSpan(what.at.span)}` : '';
  return `${head}c${what.id}${at}`;
}

export function readPin(text: string): Pin | null {
  const [digit, span, what, at, ...more] = text.split('~');
  const window = readSpan(span);
  const screen = screenOf(digit);
  if (!screen || !window || what === undefined || more.length > 0) return null;
  const base = { screen, window };
  const id = /^c(\d{1,9})$/.exec(what)?.[1];
  if (id === undefined)
    return /^t\d/.test(what) && at === undefined
      ? { ...base, what: { kind: 'row', row: what } }
      : null;
  const match = /^t(\d+)\.(.*)$/.exec(at ?? '');
  const own = readSpan(match?.[2]);
  if (at !== undefined && !own) return null;
  const occurrence = match && own ? { tid: Number(match[1]), span: own } : null;
  return { ...base, what: { kind: 'behaviour', id: Number(id), at: occurrence } };
}

/** Whether two are cards of the same thing, wherever it was seen. */
export function isSamePin(a: Pin, b: Pin): boolean {
  const window = { t0: 0, t1: 1 };
  return writePin({ ...a, window }) === writePin({ ...b, window });
}
