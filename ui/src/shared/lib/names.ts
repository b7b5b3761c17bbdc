// SPDX-License-Identifier: MIT
// Function names: the common prefix, what groups them, and how to shorten one.
import { assignHues, GREY_HUE } from './color';
import type { Functions } from './model';

const ELLIPSIS = '\u2026';

/** Drops the arguments of a C++ name, and a trailing "const". */
export function dropArguments(name: string): string {
  if (!name.endsWith(')') && !name.endsWith('const')) return name;
  let depth = 0;
  for (let i = name.lastIndexOf(')'); i > 0; i--) {
    if (name[i] === ')') depth++;
    else if (name[i] === '(' && --depth === 0) return name.slice(0, i);
  }
  return name;
}

/** Drops template arguments, but leaves operators such as operator< alone. */
export function dropTemplates(name: string): string {
  if (!name.includes('<') || /operator\s*[<>]/.test(name)) return name;
  let depth = 0;
  let text = '';
  for (const c of name) {
    if (c === '<') depth++;
    else if (c === '>') depth = Math.max(0, depth - 1);
    else if (depth === 0) text += c;
  }
  return text || name;
}

function dropNamespaces(name: string): string[] {
  const parts = name.split('::');
  return parts.slice(1).map((_, i) => parts.slice(i + 1).join('::'));
}

function elideMiddle(name: string, fits: (text: string) => boolean): string {
  let low = 1;
  let high = name.length - 1;
  let best = '';
  while (low <= high) {
    const keep = (low + high) >> 1;
    const head = Math.round(keep * 0.4);
    const text = name.slice(0, head) + ELLIPSIS + name.slice(name.length - (keep - head));
    if (fits(text)) {
      best = text;
      low = keep + 1;
    } else high = keep - 1;
  }
  return best.length >= 4 ? best : '';
}

/** The longest form of a name that fits; empty if none of use does. */
export function elide(name: string, fits: (text: string) => boolean): string {
  if (fits(name)) return name;
  const bare = dropArguments(name);
  if (fits(bare)) return bare;
  const plain = dropTemplates(bare);
  if (fits(plain)) return plain;
  const shorter = dropNamespaces(plain);
  for (const text of shorter) if (fits(text)) return text;
  return elideMiddle(shorter[shorter.length - 1] ?? plain, fits);
}

/** A C++ name as people say it: without its return type, its arguments and those of templates. */
export function plainName(name: string): string {
  if (!/[<(]/.test(name)) return name;
  const remark = /^(.+?)( \([\w ]+\))$/.exec(name); // "(inlined)"
  if (remark && !remark[1]!.endsWith(')')) return plainName(remark[1]!) + remark[2]!;
  const whole = name.replace(/\{lambda\([^{}]*\)(#\d+)\}(::operator\(\))?/g, '{lambda$1}');
  const plain = dropTemplates(dropArguments(whole));
  return plain.replace(/^(?:auto|[\w:*&]+) (?=[\w~{][\w:~{}#()]*$)/, '') || name;
}

/** What a name is in, with the last "::" or the name of the program before an address, and what is
 * to be read of it when there is little room. */
export function splitName(name: string): [scope: string, last: string] {
  const address = /^(.+)(\+0x[0-9a-f]+)$/.exec(name);
  if (address) return [address[1]!, address[2]!];
  const plain = plainName(name);
  const parts = plain.split('::');
  // a lambda is called like what it is in
  let from = parts.length - 1;
  while (from > 0 && /^(?:operator\(\)|\{lambda.*|\(anonymous.*)/.test(parts[from]!)) from--;
  const last = parts.slice(from).join('::');
  return [plain.slice(0, plain.length - last.length), last];
}

/** A prefix that at least 80 % of the names share and that ends at a word's end; else empty. */
export function commonPrefix(names: readonly string[]): string {
  if (names.length < 5) return '';
  const counts = new Map<string, number>();
  for (const name of names)
    for (const match of name.slice(0, 40).matchAll(/_+|::/g)) {
      const prefix = name.slice(0, match.index + match[0].length);
      if (prefix.length < name.length) counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  let best = '';
  for (const [prefix, n] of counts)
    if (n >= 0.8 * names.length && prefix.length > best.length) best = prefix;
  return best;
}

export function stripPrefix(name: string, prefix: string): string {
  const hasIt = prefix !== '' && name.startsWith(prefix) && name.length > prefix.length;
  return hasIt ? name.slice(prefix.length) : name;
}

/**
 * The word that says what part of a program a function belongs to: the class or the innermost
 * namespace of a C++ name, else the first word that is not a project's short prefix (`__wt_`,
 * `sqlite3_`). It depends on the name alone, so that it is the same in every trace.
 */
export function family(name: string): string {
  const plain = dropTemplates(dropArguments(name)).replace(/^.*\s(?=[\w:~]+$)/, '');
  const scopes = plain.split('::').filter(Boolean);
  if (scopes.length > 1) return scopes[scopes.length - 2]!;
  const words = plain.split(/_+/).filter(Boolean);
  const isProject = words.length > 1 && /^(?:[a-z]{2,3}|\w*\d\w*)$/.test(words[0]!);
  if (isProject && words[0] !== 'rec' && words[0] !== 'log' && words[0] !== 'txn') words.shift();
  return words[0] ?? plain;
}

/** An address in the kernel of which no symbol is known says nothing. */
export const isNamed = (name: string): boolean => !name.startsWith('[kernel]+0x');

/* ---- Functions by family, most prominent (self time) first, with their hues. ---- */

export interface Family {
  key: string;
  title: string;
  functions: number[];
  self: number;
  count: number;
  waits: boolean;
  hue: number;
  /** The hue that the palette gave it, whatever colour a person gave. */
  palette: number;
}

export interface Families {
  list: Family[]; // most prominent first
  ofFunction: Int32Array; // index into list
  hue: Uint8Array; // by function
  palette: Uint8Array; // the same before a person gave colours
  prefix: string; // hidden in labels
  short: string[]; // names without it
}

/** What families are made of: of all functions or of those of a table. */
export type Named = Pick<Functions, 'n' | 'name' | 'isWait' | 'self' | 'openNs' | 'count'>;

function gather(functions: Named): Map<string, Family> {
  const byKey = new Map<string, Family>();
  for (let f = 0; f < functions.n; f++) {
    const name = functions.name[f]!;
    const waits = functions.isWait[f] === 1;
    const key = waits ? name : family(name);
    let entry = byKey.get(key);
    if (!entry) {
      entry = {
        key,
        title: key,
        functions: [],
        self: 0,
        count: 0,
        waits,
        hue: GREY_HUE,
        palette: GREY_HUE,
      };
      byKey.set(key, entry);
    }
    entry.functions.push(f);
    entry.self += functions.self[f]! + functions.openNs[f]! * 1e-9;
    entry.count += functions.count[f]!;
  }
  return byKey;
}

/** `extraSelf` (by function) adds time that no closed call holds: calls open at the end. */
export function buildFamilies(functions: Named, extraSelf?: Float64Array): Families {
  const prefix = commonPrefix(functions.name);
  const short = functions.name.map(name => stripPrefix(name, prefix));
  const list = [...gather(functions).values()];
  if (extraSelf)
    for (const entry of list) for (const f of entry.functions) entry.self += extraSelf[f]!;
  list.sort((a, b) => b.self - a.self || (a.key < b.key ? -1 : 1));
  const hues = assignHues(list);
  const ofFunction = new Int32Array(functions.n);
  const hue = new Uint8Array(functions.n);
  list.forEach((entry, i) => {
    entry.palette = entry.hue = hues[i]!;
    if (entry.functions.length === 1) entry.title = short[entry.functions[0]!]!;
    for (const f of entry.functions) {
      ofFunction[f] = i;
      hue[f] = entry.hue;
    }
  });
  return { list, ofFunction, hue, palette: hue.slice(), prefix, short };
}

/** The families of a table of some functions, with the order and hues that `all` gives them. */
export function someFamilies(functions: Functions, all: Families): Families {
  const own = new Map<number, Family>();
  for (let f = 0; f < functions.n; f++) {
    const at = all.ofFunction[functions.id[f]!]!;
    let entry = own.get(at);
    if (!entry) own.set(at, (entry = { ...all.list[at]!, functions: [] }));
    entry.functions.push(f);
  }
  const order = [...own.keys()].sort((a, b) => a - b);
  const list = order.map(at => own.get(at)!);
  const ofFunction = new Int32Array(functions.n);
  list.forEach((entry, i) => entry.functions.forEach(f => (ofFunction[f] = i)));
  return {
    list,
    ofFunction,
    hue: Uint8Array.from(ofFunction, at => list[at]!.hue),
    palette: Uint8Array.from(ofFunction, at => list[at]!.palette),
    prefix: all.prefix,
    short: functions.id.map(id => all.short[id]!),
  };
}

/* ---- names of locks and other objects ---- */

export interface WaitObject {
  /** The same in all answers. */
  id: string;
  name: string;
  kind: string;
  /** Threads that ever waited for it, and that ever released it. */
  waiters: number;
  releasers: number;
  waits: number;
  ns: number;
  /** Acquisitions that did not wait. */
  free: number;
  isNeverReleased: boolean;
  isReused: boolean;
}

/* ---- objects ---- */

const LOCKS = /^(mutex|rwlock|spin|condition|semaphore|barrier|once|join)/;

/** An address or a variable's name alone does not say what is there. */
export function objectName(object: Pick<WaitObject, 'name' | 'kind'> | undefined): string {
  if (!object) return 'object not recorded';
  const { name, kind } = object;
  const isBare = name.startsWith('0x') || (LOCKS.test(kind) && !name.includes(kind));
  return isBare ? `${kind} ${name}` : name;
}
