// SPDX-License-Identifier: MIT
// Colour arithmetic: sRGB, luminance, CIEDE2000, and colour-vision simulation.

type Rgb = [number, number, number];

function parseHex(hex: string): Rgb {
  const n = parseInt(hex.slice(1), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

export function toHex(rgb: Rgb): string {
  return '#' + rgb.map(c => Math.round(c).toString(16).padStart(2, '0')).join('');
}

/** `share` of `a` over `b`. */
export function mix(a: string, b: string, share: number): string {
  const [x, y] = [parseHex(a), parseHex(b)];
  return toHex([0, 1, 2].map(i => x[i]! * share + y[i]! * (1 - share)) as Rgb);
}

function linear(channel: number): number {
  const c = channel / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

export function luminance(hex: string): number {
  const [r, g, b] = parseHex(hex).map(linear) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** The ink for text on a fill. */
export function inkOn(fill: string): string {
  return luminance(fill) <= 0.19 ? '#ffffff' : '#0d1013';
}

const MACHADO: Record<'protan' | 'deutan' | 'tritan', number[]> = {
  protan: [
    0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998,
  ],
  deutan: [
    0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881,
  ],
  tritan: [
    1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039,
  ],
};
export type Vision = 'normal' | keyof typeof MACHADO;

/** How `hex` looks to an eye of that kind, in linear RGB (Machado 2009, severity 1). */
function seen(hex: string, vision: Vision): Rgb {
  const rgb = parseHex(hex).map(linear) as Rgb;
  if (vision === 'normal') return rgb;
  const m = MACHADO[vision];
  return [0, 3, 6].map(i =>
    Math.min(1, Math.max(0, m[i]! * rgb[0] + m[i + 1]! * rgb[1] + m[i + 2]! * rgb[2])),
  ) as Rgb;
}

function lab([r, g, b]: Rgb): Rgb {
  const x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047;
  const y = 0.2126729 * r + 0.7151522 * g + 0.072175 * b;
  const z = (0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883;
  const [fx, fy, fz] = [x, y, z].map(t =>
    t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116,
  ) as Rgb;
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)];
}

const RAD = Math.PI / 180;

function hueOf(a: number, b: number): number {
  if (a === 0 && b === 0) return 0;
  const h = Math.atan2(b, a) / RAD;
  return h < 0 ? h + 360 : h;
}

/** CIEDE2000 between two Lab colours (Sharma, Wu, Dalal 2005). */
export function ciede2000(one: Rgb, two: Rgb): number {
  const c = (Math.hypot(one[1], one[2]) + Math.hypot(two[1], two[2])) / 2;
  const g = 0.5 * (1 - Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)));
  const [a1, a2] = [one[1] * (1 + g), two[1] * (1 + g)];
  const [c1, c2] = [Math.hypot(a1, one[2]), Math.hypot(a2, two[2])];
  const [h1, h2] = [hueOf(a1, one[2]), hueOf(a2, two[2])];
  const dL = two[0] - one[0];
  const dC = c2 - c1;
  let dh = c1 * c2 === 0 ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  if (dh < -180) dh += 360;
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin((dh * RAD) / 2);
  const L = (one[0] + two[0]) / 2;
  const C = (c1 + c2) / 2;
  let h = h1 + h2;
  if (c1 * c2 !== 0) {
    if (Math.abs(h1 - h2) > 180) h += h < 360 ? 360 : -360;
    h /= 2;
  }
  const t =
    1 -
    0.17 * Math.cos((h - 30) * RAD) +
    0.24 * Math.cos(2 * h * RAD) +
    0.32 * Math.cos((3 * h + 6) * RAD) -
    0.2 * Math.cos((4 * h - 63) * RAD);
  const sL = 1 + (0.015 * (L - 50) ** 2) / Math.sqrt(20 + (L - 50) ** 2);
  const sC = 1 + 0.045 * C;
  const sH = 1 + 0.015 * C * t;
  const turn = 60 * Math.exp(-(((h - 275) / 25) ** 2));
  const r = -Math.sin(turn * RAD) * 2 * Math.sqrt(C ** 7 / (C ** 7 + 25 ** 7));
  const [l, k, w] = [dL / sL, dC / sC, dH / sH];
  return Math.sqrt(l * l + k * k + w * w + r * k * w);
}

export function difference(a: string, b: string, vision: Vision): number {
  return ciede2000(lab(seen(a, vision)), lab(seen(b, vision)));
}

/* ---- Which function family gets which hue.
 * The most prominent families choose first. What one chooses is settled by its name alone: every
 * (family, hue) pair has a score, and a family takes its best-scored hue that is still free. So two
 * families never share a hue, and a family keeps its hue from trace to trace unless a more prominent
 * one wants the same. Functions that wait prefer blue, the first hue. ---- */

export const HUES = {
  light: [
    '#4c67bb',
    '#de853f',
    '#38938a',
    '#b6566f',
    '#e4d17a',
    '#53397c',
    '#7db584',
    '#7a4c34',
    '#98d9fa',
    '#b18ac8',
  ],
  dark: [
    '#5a70be',
    '#de8a4d',
    '#39998d',
    '#b8585f',
    '#e6d379',
    '#5b3e8b',
    '#89b88d',
    '#664635',
    '#96dbfc',
    '#c49fbc',
  ],
};
export const GREY = { light: '#aab2bd', dark: '#5b6470' };
export const GREY_HUE = 10;

function score(key: string, hue: number): number {
  let h = 0x811c9dc5 ^ Math.imul(hue + 1, 0x9e3779b1);
  for (let i = 0; i < key.length; i++) h = Math.imul(h ^ key.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The hues in the order in which a family of this name wants them. */
export function preference(key: string, waits: boolean): number[] {
  const order = Array.from({ length: 10 }, (_, hue) => hue);
  order.sort((a, b) => score(key, b) - score(key, a) || a - b);
  return waits ? [0, ...order.filter(hue => hue !== 0)] : order;
}

/** Hue index by family, given most prominent first; those beyond ten are grey. */
export function assignHues(families: readonly { key: string; waits: boolean }[]): number[] {
  const isTaken = new Array<boolean>(10).fill(false);
  return families.map((entry, i) => {
    if (i >= 10) return GREY_HUE;
    const hue = preference(entry.key, entry.waits).find(h => !isTaken[h])!;
    isTaken[hue] = true;
    return hue;
  });
}

/* ---- Colours that a person gives to functions: the file they come in, and what is to be said of them.
 * The file is NonSequitur's: a line a function, "name colour alpha", for example
 *     __wt_cond_wait_signal #e15759 0.8
 * Names may hold spaces; alpha may be missing (1). Empty lines and lines that begin with "#" and a
 * space are left out. ---- */

export interface OwnColor {
  hex: string; // #rrggbb
  alpha: number; // 0 to 1
}
export type OwnColors = ReadonlyMap<string, OwnColor>;

interface ColorFile {
  colors: Map<string, OwnColor>;
  /** What could not be read, a sentence each. */
  problems: string[];
}

/** Of a colour's name ("navy", "rgb(1,2,3)") as #rrggbb; null if there is none. */
type NameToHex = (name: string) => string | null;

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
  if (name === '') return 'expected a function, a colour and an alpha';
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
  if (n > wrong.length) wrong.push(`${n - wrong.length} more lines were omitted`);
  return { colors, problems: wrong };
}

/** The same file again. */
export function writeColors(colors: OwnColors): string {
  return [...colors].map(([name, { hex, alpha }]) => `${name} ${hex} ${alpha}\n`).join('');
}

/* ---- what a screen shows ---- */

export const FIRST_OWN = 11; // hues before it: ten and grey
const MOST_HUES = 240;

interface OwnHues {
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
  normal: '',
  protan: ' for eyes without red cones',
  deutan: ' for eyes without green cones',
  tritan: ' for eyes without blue cones',
};

function alikeWords(pairs: { names: [string, string]; vision: Vision; least: number }[]): string {
  const worst = pairs.reduce((a, b) => (b.least < a.least ? b : a));
  const rest = pairs.length > 1 ? `, and ${pairs.length - 1} more pairs` : '';
  return `${worst.names[0]} and ${worst.names[1]} are hard to distinguish${EYES[worst.vision]}${rest}.`;
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
      `${list.length} colours: only ${checked.length} were compared. More than ten are hard to distinguish.`,
    );
  return out;
}
