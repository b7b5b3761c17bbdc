// SPDX-License-Identifier: MIT
// Calls as pixels. However many calls a thread has, its levels are strips of colours with a column
// for each pixel; a strip is copied to a straight thread's rows, and bent by a table that says for
// each pixel of a ring which column it shows. Both cost what pixels cost, not what calls cost.

/** Colours are as in an ImageData of a little-endian machine: alpha, blue, green, red. */
export type Pixel = number;

const OPAQUE = 0xff000000;

/** "#rrggbb" as an opaque pixel. */
export function pixelOf(hex: string): Pixel {
  const n = parseInt(hex.slice(1), 16);
  return (OPAQUE | ((n & 255) << 16) | (n & 0xff00) | (n >> 16)) >>> 0;
}

/** "rgba(r, g, b, a)" or "#rrggbb" as a pixel and how much of it covers, from 0 to 1. */
export function inkOfCss(css: string): { pixel: Pixel; alpha: number } {
  const parts = /^rgba?\(([^)]*)\)$/
    .exec(css)?.[1]
    ?.split(/[\s,/]+/)
    .map(Number);
  if (!parts) return { pixel: pixelOf(css), alpha: 1 };
  const [r = 0, g = 0, b = 0, alpha = 1] = parts;
  return { pixel: (OPAQUE | (b << 16) | (g << 8) | r) >>> 0, alpha };
}

/** `share` of 256 of `over` on `under`; the result is opaque. */
export function blend(under: Pixel, over: Pixel, share: number): Pixel {
  const rest = 256 - share;
  const outer = (((under & 0xff00ff) * rest + (over & 0xff00ff) * share) >>> 8) & 0xff00ff;
  const green = (((under >>> 8) & 255) * rest + ((over >>> 8) & 255) * share) & 0xff00;
  return (OPAQUE | outer | green) >>> 0;
}

/* ---- strips ---- */

/** Columns of each level, one after the other; each level has one column more, the last again, so
 * that what lies between two columns is there at the end, too. The last level is the ground. */
export class Strips {
  readonly pixels: Uint32Array;
  /** By level: its first column. */
  readonly from: Uint32Array;

  constructor(readonly columns: readonly number[]) {
    this.from = new Uint32Array(columns.length);
    let n = 0;
    columns.forEach((many, level) => {
      this.from[level] = n;
      n += many + 1;
    });
    this.pixels = new Uint32Array(n);
  }

  fill(level: number, pixel: Pixel): void {
    const at = this.from[level]!;
    this.pixels.fill(pixel, at, at + this.columns[level]!);
  }

  /** Covers from column x0 to x1, in parts of columns, with `alpha` of a colour. */
  bar(level: number, x0: number, x1: number, pixel: Pixel, alpha = 1): void {
    const [a, b] = [Math.max(0, x0), Math.min(this.columns[level]!, x1)];
    if (b <= a) return;
    const { pixels } = this;
    const base = this.from[level]!;
    const [first, last] = [Math.floor(a), Math.ceil(b) - 1];
    if (first === last) {
      this.cover(base + first, pixel, (b - a) * alpha);
      return;
    }
    this.cover(base + first, pixel, (first + 1 - a) * alpha);
    if (alpha === 1) pixels.fill(pixel, base + first + 1, base + last);
    else for (let i = first + 1; i < last; i++) this.cover(base + i, pixel, alpha);
    this.cover(base + last, pixel, (b - last) * alpha);
  }

  private cover(at: number, pixel: Pixel, share: number): void {
    const parts = Math.round(share * 256);
    this.pixels[at] = parts >= 256 ? pixel : blend(this.pixels[at]!, pixel, parts);
  }

  /** Nothing more is drawn: the column behind each level is its last. */
  close(): void {
    this.columns.forEach((many, level) => {
      const behind = this.from[level]! + many;
      this.pixels[behind] = this.pixels[behind - 1]!;
    });
  }
}

/* ---- straight ---- */

/** Where rows of a level stand, in device px; the ground is below each, and between them. */
export interface Rows {
  x: number;
  y: number;
  /** By level: where it begins and ends, from `y`. */
  tops: readonly number[];
  bottoms: readonly number[];
  /** Where the last level with its gap ends. */
  height: number;
}

/** Copies strips to the rows of an image of `width` columns and `height` rows. */
export function copyRows(
  image: Uint32Array,
  width: number,
  height: number,
  strips: Strips,
  rows: Rows,
): void {
  const ground = strips.columns.length - 1;
  const put = (level: number, from: number, to: number): void => {
    const many = Math.min(strips.columns[level]!, width - rows.x);
    const at = strips.from[level]!;
    const line = strips.pixels.subarray(at, at + many);
    const last = Math.min(to, height - rows.y);
    for (let y = Math.max(from, -rows.y); y < last; y++)
      image.set(line, (rows.y + y) * width + rows.x);
  };
  let at = 0;
  rows.tops.forEach((top, level) => {
    put(ground, at, top);
    put(level, top, rows.bottoms[level]!);
    at = Math.max(at, rows.bottoms[level]!);
  });
  put(ground, at, rows.height);
}

/* ---- bent ---- */

/** A section of a ring, in device px; radii are of level edges. */
export interface Section {
  x: number;
  y: number;
  from: number;
  to: number;
  /** By level: radii between which its bars stand. */
  inner: readonly number[];
  outer: readonly number[];
  /** Radii of all of it. */
  least: number;
  most: number;
}

/** For each pixel of a section its place in an image, what of a strip it shows, and how much. */
export interface Bend {
  place: Uint32Array;
  /** Column times BETWEEN, and how far it is from its middle to that of the next. */
  column: Uint32Array;
  /** Of 256; the rest is what lies around. */
  cover: Uint16Array;
  /** Likewise, of the level's colour; the rest is the ground's. */
  level: Uint16Array;
  ground: Uint32Array;
}

const BETWEEN = 32;

/** How much of a pixel around `at` lies in [from, to], of 1. */
const inside = (at: number, from: number, to: number): number =>
  Math.max(0, Math.min(at + 0.5, to) - Math.max(at - 0.5, from));

/** Columns a px where a strip is bent: what is between two of them stays sharp. */
const FINE = 2;

/** Columns that a strip of each level needs, by the length of its middle; the ground as the last. */
export function columnsOfSection({ from, to, inner, outer, most }: Section): number[] {
  const length = (radius: number): number => Math.max(1, Math.ceil((to - from) * radius * FINE));
  return [...inner.map((radius, i) => length((radius + outer[i]!) / 2)), length(most)];
}

/** O(pixels of the box around the section). */
export function bendOf(
  section: Section,
  strips: Pick<Strips, 'columns' | 'from'>,
  width: number,
  height: number,
): Bend {
  const { x, y, from, to, inner, outer, least, most } = section;
  const box = boxOf(section, width, height);
  const room = Math.max(0, box.x1 - box.x0) * Math.max(0, box.y1 - box.y0);
  const made: Bend = {
    ...{ place: new Uint32Array(room), column: new Uint32Array(room) },
    ...{ cover: new Uint16Array(room), level: new Uint16Array(room) },
    ground: new Uint32Array(room),
  };
  const ground = strips.columns.length - 1;
  const placeOf = (level: number, share: number): number => {
    const many = strips.columns[level]!;
    const middle = Math.min(Math.max(share * many - 0.5, 0), many - 1);
    return Math.floor((strips.from[level]! + middle) * BETWEEN);
  };
  let n = 0;
  for (let py = box.y0; py < box.y1; py++) {
    const dy = py + 0.5 - y;
    for (let px = box.x0; px < box.x1; px++) {
      const dx = px + 0.5 - x;
      const radius = Math.sqrt(dx * dx + dy * dy);
      if (radius < least - 0.5 || radius > most + 0.5) continue;
      const turn = Math.atan2(dy, -dx);
      const angle = turn < -Math.PI / 2 ? turn + 2 * Math.PI : turn;
      const along = inside(angle * radius, from * radius, to * radius);
      const seen = Math.min(1, along) * Math.min(1, inside(radius, least, most));
      if (seen <= 0) continue;
      const level = levelAt(section, radius);
      const share = Math.min(1, Math.max(0, (angle - from) / (to - from)));
      made.place[n] = py * width + px;
      made.cover[n] = Math.round(seen * 256);
      made.level[n] = Math.round(256 * inside(radius, inner[level]!, outer[level]!));
      made.column[n] = placeOf(level, share);
      made.ground[n] =
        strips.from[ground]! +
        Math.min(strips.columns[ground]! - 1, Math.floor(share * strips.columns[ground]!));
      n++;
    }
  }
  return {
    ...{ place: made.place.slice(0, n), column: made.column.slice(0, n) },
    ...{ cover: made.cover.slice(0, n), level: made.level.slice(0, n) },
    ground: made.ground.slice(0, n),
  };
}

/** The level of which a pixel around `radius` shows most. */
function levelAt({ inner, outer }: Section, radius: number): number {
  let [low, high] = [0, inner.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((inner[middle]! + outer[middle - 1]!) / 2 <= radius) low = middle;
    else high = middle;
  }
  return low;
}

/** Copies strips to a section; what a pixel does not show is `around`. */
export function copyBent(image: Uint32Array, strips: Strips, bend: Bend, around: Pixel): void {
  const { place, column, cover, level, ground } = bend;
  const { pixels } = strips;
  for (let i = 0; i < place.length; i++) {
    const at = column[i]!;
    const k = at >>> 5;
    const part = at & 31;
    let pixel = pixels[k]!;
    const next = pixels[k + 1]!;
    if (part !== 0 && next !== pixel) pixel = blend(pixel, next, part * 8);
    if (level[i]! < 256) pixel = blend(pixels[ground[i]!]!, pixel, level[i]!);
    image[place[i]!] = cover[i]! < 256 ? blend(around, pixel, cover[i]!) : pixel;
  }
}

/** The pixels that a section may touch. */
function boxOf(
  { x, y, from, to, least, most }: Section,
  width: number,
  height: number,
): { x0: number; y0: number; x1: number; y1: number } {
  const xs: number[] = [];
  const ys: number[] = [];
  const angles = [from, to];
  for (const turn of [0, Math.PI / 2, Math.PI]) if (turn > from && turn < to) angles.push(turn);
  for (const angle of angles)
    for (const radius of [least, most]) {
      xs.push(x - radius * Math.cos(angle));
      ys.push(y + radius * Math.sin(angle));
    }
  return {
    x0: Math.max(0, Math.floor(Math.min(...xs)) - 1),
    x1: Math.min(width, Math.ceil(Math.max(...xs)) + 1),
    y0: Math.max(0, Math.floor(Math.min(...ys)) - 1),
    y1: Math.min(height, Math.ceil(Math.max(...ys)) + 1),
  };
}
