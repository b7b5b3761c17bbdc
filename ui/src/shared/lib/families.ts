// SPDX-License-Identifier: MIT
// Functions by family, most prominent (self time) first, with their hues.
import type { Functions } from './model';
import { commonPrefix, family, stripPrefix } from './names';
import { assignHues, GREY_HUE } from './palette';

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
