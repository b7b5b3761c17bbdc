// SPDX-License-Identifier: MIT
// Colours that a person gives to functions: the file they come in, and what is to be said of them.
//
// The file is NonSequitur's: a line a function, "name colour alpha", for example
//
//     __wt_cond_wait_signal #e15759 0.8
//
// Names may hold spaces; alpha may be missing (1). Empty lines and lines that begin with "#" and a
// space are left out.
import { contrast, difference, mix } from './color';
import type { Vision } from './color';
import { HUES } from './palette';

export interface OwnColor {
  hex: string; // #rrggbb
  alpha: number; // 0 to 1
}
export type OwnColors = ReadonlyMap<string, OwnColor>;

export interface ColorFile {
  colors: Map<string, OwnColor>;
  /** What could not be read, a sentence each. */
  problems: string[];
}

/** Of a colour's name ("navy", "rgb(1,2,3)") as #rrggbb; null if there is none. */
export type NameToHex = (name: string) => string | null;

const MOST_COLORS = 20000;
const MOST_PROBLEMS = 5;

function readColor(text: string, nameToHex: NameToHex): string | null {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(text);
  if (short)
    return `#${short
      .slice(1)
      .map(digit => digit + digit)
      .join('')}`.toLowerCase();
  if (/^#[0-9a-f]{6}$/i.test(text)) return text.toLowerCase();
  return text.startsWith('#') ? null : nameToHex(text);
}

function readLine(line: string, nameToHex: NameToHex): [string, OwnColor] | string {
  const words = line.split(/\s+/);
  const last = words[words.length - 1]!;
  const hasAlpha = words.length > 2 && /^(\d+\.?\d*|\.\d+)(e-?\d+)?$/i.test(last);
  const alpha = hasAlpha ? Number(last) : 1;
  const color = words[words.length - (hasAlpha ? 2 : 1)]!;
  const name = words.slice(0, hasAlpha ? -2 : -1).join(' ');
  if (name === '') return 'wants a function, a colour and an alpha';
  const hex = readColor(color, nameToHex);
  if (!hex) return `${color.slice(0, 40)} is no colour`;
  if (alpha > 1) return `an alpha of ${last.slice(0, 20)} is not between 0 and 1`;
  return [name, { hex, alpha }];
}

export function parseColors(text: string, nameToHex: NameToHex): ColorFile {
  const colors = new Map<string, OwnColor>();
  const wrong: string[] = [];
  let n = 0;
  for (const [i, raw] of text.split(/\r\n|\r|\n/).entries()) {
    const line = raw.trim();
    if (line === '' || line === '#' || line.startsWith('# ')) continue;
    const read = readLine(line, nameToHex);
    if (typeof read === 'string') {
      n++;
      if (wrong.length < MOST_PROBLEMS) wrong.push(`line ${i + 1} ${read}`);
    } else if (colors.size < MOST_COLORS || colors.has(read[0])) colors.set(...read);
    else n++;
  }
  if (n > wrong.length) wrong.push(`${n - wrong.length} more lines were left out`);
  return { colors, problems: wrong };
}

/** The same file again. */
export function writeColors(colors: OwnColors): string {
  return [...colors].map(([name, { hex, alpha }]) => `${name} ${hex} ${alpha}\n`).join('');
}

/* ---- what a screen shows ---- */

export const FIRST_OWN = 11; // hues before it: ten and grey
const MOST_HUES = 240;

export interface OwnHues {
  /** Colours from hue FIRST_OWN on. */
  list: OwnColor[];
  /** By function name. */
  hue: Map<string, number>;
}

/** One hue a colour that functions of the trace have; beyond 240 they are left out. */
export function ownHues(colors: OwnColors, names: readonly string[]): OwnHues {
  const list: OwnColor[] = [];
  const hue = new Map<string, number>();
  const known = new Map<string, number>();
  for (const name of names) {
    const own = colors.get(name);
    if (!own) continue;
    const key = `${own.hex} ${own.alpha}`;
    let at = known.get(key);
    if (at === undefined && list.length < MOST_HUES) {
      known.set(key, (at = FIRST_OWN + list.length));
      list.push(own);
    }
    if (at !== undefined) hue.set(name, at);
  }
  return { list, hue };
}

const BACKGROUNDS = { light: '#ffffff', dark: '#14171b' };

/** As it is seen on a theme's background. */
export function seenOn({ hex, alpha }: OwnColor, theme: 'light' | 'dark'): string {
  return mix(hex, BACKGROUNDS[theme], alpha);
}

/* ---- warnings ---- */

const LEAST_APART = 12; // CIEDE2000, as the palette keeps it
const LEAST_SEEN = 1.25; // contrast with the background
const MOST_CHECKED = 40; // colours; pairs grow with the square
const VISIONS: Vision[] = ['normal', 'protan', 'deutan', 'tritan'];

function apart(a: string, b: string): { least: number; vision: Vision } {
  let [least, vision] = [Infinity, 'normal' as Vision];
  for (const one of VISIONS) {
    const value = difference(a, b, one);
    if (value < least) [least, vision] = [value, one];
  }
  return { least, vision };
}

const EYES = {
  ...{ normal: '', protan: ' for eyes without red cones' },
  ...{ deutan: ' for eyes without green cones', tritan: ' for eyes without blue cones' },
};

function alikeWords(pairs: { names: [string, string]; vision: Vision; least: number }[]): string {
  const worst = pairs.reduce((a, b) => (b.least < a.least ? b : a));
  const rest = pairs.length > 1 ? `, and ${pairs.length - 1} more pairs` : '';
  return `${worst.names[0]} and ${worst.names[1]} can hardly be told apart${EYES[worst.vision]}${rest}.`;
}

/**
 * What is to be said of assigned colours. They are used all the same. `names`: the functions of the
 * trace, most prominent first. `automatic`: hues of the palette that stay in use beside them.
 */
export function checkColors(
  colors: OwnColors,
  names: readonly string[],
  automatic: ReadonlyMap<number, string>,
): string[] {
  const { list, hue } = ownHues(colors, names);
  const firstOf = new Map([...hue].reverse().map(([name, at]) => [at, name]));
  const out: string[] = [];
  const unknown = [...colors.keys()].filter(name => !hue.has(name)).length;
  if (unknown > 0) out.push(`${unknown} of ${colors.size} functions do not occur in this trace.`);
  const checked = list.slice(0, MOST_CHECKED);
  for (const theme of ['light', 'dark'] as const) {
    const fills = checked.map(
      (own, i) => [seenOn(own, theme), firstOf.get(FIRST_OWN + i)!] as const,
    );
    const pale = fills.filter(([fill]) => contrast(fill, BACKGROUNDS[theme]) < LEAST_SEEN);
    if (pale.length > 0)
      out.push(
        `${pale[0]![1]}${pale.length > 1 ? ` and ${pale.length - 1} more` : ''} can hardly be seen on the ${theme} background.`,
      );
    const others = [...automatic].map(([at, title]) => [HUES[theme][at]!, title] as const);
    const pairs: Parameters<typeof alikeWords>[0] = [];
    fills.forEach(([fill, name], i) => {
      for (const [other, title] of [...fills.slice(i + 1), ...others]) {
        const { least, vision } = apart(fill, other);
        if (least < LEAST_APART) pairs.push({ names: [name, title], vision, least });
      }
    });
    if (pairs.length > 0) out.push(`${theme === 'light' ? 'Light' : 'Dark'}: ${alikeWords(pairs)}`);
  }
  if (list.length > checked.length)
    out.push(
      `${list.length} colours: only ${checked.length} were compared. More than ten are hard to tell apart.`,
    );
  return out;
}
