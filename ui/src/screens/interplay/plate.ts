// SPDX-License-Identifier: MIT
// Where things stand on the plate (SyncTrace, section IV B): one thread straight on top, the others
// bent on a half circle below it, all curves between them through its centre. Every place has an
// inverse, so that what is under the pointer is what is drawn there.
//
//     ------------------------------   the focus: time to the right, levels downwards
//          \      | | |       /
//       \   \     C: centre  /   /     a ring: time along the angle, levels outwards
//         \    `-._____.-'    /
import type { Span } from '../../shared/lib/model';

const LEVEL_PX = 14;
/** Where few levels have much room. */
export const MOST_LEVEL_PX = 26;
/** A level that is folded away. */
const FOLDED_PX = 3;
/** Between neighbours on the half circle. */
const SECTION_GAP_PX = 10;
/** Height of the labels of the ring's threads, which stand around it. */
export const LABEL_PX = 20;
const LABEL_GAP_PX = 4;
/** Between the levels of the focus and the ring: the focus's label. */
const FOCUS_LABEL_PX = 34;
const MOST_SPLIT = 0.36;
const LEAST_INNER_PX = 60;
/** A context thread that is focused has so many times the section of the others. */
const FOCUS_WEIGHT = 4;

export interface Point {
  x: number;
  y: number;
}

/** Heights of levels: the first `fold` are shrunk, one after the other (figure 6). */
export class Levels {
  constructor(
    readonly fold: number,
    readonly height = LEVEL_PX,
  ) {}

  /** Where level `level` begins, in px from level 0; fractions are within the level. */
  at(level: number): number {
    const folded = Math.min(level, this.fold);
    return folded * FOLDED_PX + (level - folded) * this.height;
  }

  /** Its inverse: the whole level at so many px; negative above the first. */
  of(px: number): number {
    const folded = this.fold * FOLDED_PX;
    if (px < folded) return Math.floor(px / FOLDED_PX);
    return this.fold + Math.floor((px - folded) / this.height);
  }

  /** Levels that are as high as `px` lets them be. */
  static within(levels: number, px: number, fold: number): Levels {
    const open = Math.max(1, levels - fold);
    const room = Math.floor((px - fold * FOLDED_PX) / open);
    return new Levels(fold, Math.min(MOST_LEVEL_PX, Math.max(LEVEL_PX, room)));
  }

  /** The least fold with which `levels` fit into `px`. */
  static fit(levels: number, px: number, height = LEVEL_PX): number {
    const missing = levels * height - px;
    return missing <= 0 ? 0 : Math.min(levels, Math.ceil(missing / (height - FOLDED_PX)));
  }
}

/** A place in time on a thread: `level` is whole, or between two. */
interface Spot {
  t: number;
  level: number;
}

/** How one thread is drawn. */
export type Frame = StraightFrame | RingFrame;

interface Framed {
  thread: number;
  isRing: boolean;
  view: Span;
  levels: Levels;
  /** Levels that have room. */
  shown: number;
  /** How long its time is at level 0, in px: how fine its data must be. */
  length: number;
  place(t: number, level: number): Point;
  /** What is at a point; null: outside of this frame. */
  spot(x: number, y: number): Spot | null;
  /** The point of a level from which curves leave, and where they are drawn to. */
  anchor(t: number, level: number): Point;
  pull: Point;
}

export class StraightFrame implements Framed {
  readonly isRing = false as const;
  readonly shown: number;
  readonly length: number;
  readonly pull: Point;

  constructor(
    readonly thread: number,
    readonly view: Span,
    readonly levels: Levels,
    deep: number,
    readonly box: { x: number; y: number; width: number; height: number },
    pull?: Point,
  ) {
    this.length = box.width;
    this.shown = Math.min(deep, Math.max(0, levels.of(box.height)));
    this.pull = pull ?? { x: box.x + box.width / 2, y: box.y + box.height * 2 };
  }

  x(t: number): number {
    const { t0, t1 } = this.view;
    return this.box.x + ((t - t0) / (t1 - t0)) * this.box.width;
  }

  place(t: number, level: number): Point {
    return { x: this.x(t), y: this.box.y + this.levels.at(level) };
  }

  spot(x: number, y: number): Spot | null {
    const { x: left, y: top, width, height } = this.box;
    if (x < left || x >= left + width || y < top || y >= top + height) return null;
    const { t0, t1 } = this.view;
    const t = t0 + ((x - left) / width) * (t1 - t0);
    return { t, level: this.levels.of(y - top) };
  }

  anchor(t: number, level: number): Point {
    return this.place(t, level + 1);
  }
}

/** Angles count from 0 (left) over a right angle (down) to pi (right). */
export class RingFrame implements Framed {
  readonly isRing = true as const;
  readonly shown: number;
  readonly length: number;
  readonly pull: Point;

  constructor(
    readonly thread: number,
    readonly view: Span,
    readonly levels: Levels,
    deep: number,
    readonly ring: {
      center: Point;
      /** Radius of level 0, and where there is no more room. */
      inner: number;
      outer: number;
      /** Of its section. */
      from: number;
      to: number;
    },
  ) {
    this.length = (ring.to - ring.from) * ring.inner;
    this.shown = Math.min(deep, Math.max(0, levels.of(ring.outer - ring.inner)));
    this.pull = ring.center;
  }

  angle(t: number): number {
    const { from, to } = this.ring;
    const { t0, t1 } = this.view;
    return from + ((t - t0) / (t1 - t0)) * (to - from);
  }

  radius(level: number): number {
    return this.ring.inner + this.levels.at(level);
  }

  place(t: number, level: number): Point {
    return polar(this.ring.center, this.angle(t), this.radius(level));
  }

  spot(x: number, y: number): Spot | null {
    const { center, inner, outer, from, to } = this.ring;
    const { angle, radius } = unpolar(center, x, y);
    if (radius < inner || radius >= outer || angle < from || angle >= to) return null;
    const { t0, t1 } = this.view;
    const t = t0 + ((angle - from) / (to - from)) * (t1 - t0);
    return { t, level: this.levels.of(radius - inner) };
  }

  anchor(t: number, level: number): Point {
    return this.place(t, level);
  }
}

export function polar(center: Point, angle: number, radius: number): Point {
  return { x: center.x - radius * Math.cos(angle), y: center.y + radius * Math.sin(angle) };
}

/** Of the upper half too: angles there are beyond pi, or below 0. */
export function unpolar(center: Point, x: number, y: number): { angle: number; radius: number } {
  const [dx, dy] = [x - center.x, y - center.y];
  const angle = Math.atan2(dy, -dx);
  return { angle: angle < -Math.PI / 2 ? angle + 2 * Math.PI : angle, radius: Math.hypot(dx, dy) };
}

/** Sections of the half circle: equal ones, but for that of the focused thread. */
export function sections(
  n: number,
  focused: number,
  inner: number,
): { from: number; to: number }[] {
  const gap = Math.min(SECTION_GAP_PX / inner, Math.PI / (4 * Math.max(1, n)));
  const weights = Array.from({ length: n }, (_, i) => (i === focused ? FOCUS_WEIGHT : 1));
  const sum = weights.reduce((a, b) => a + b, 0);
  const room = Math.PI - gap * (n + 1);
  let at = gap;
  return weights.map(weight => {
    const from = at;
    const to = from + (room * weight) / sum;
    at = to + gap;
    return { from, to };
  });
}

export interface PlateOptions {
  width: number;
  height: number;
  /** Height of the focus's part. */
  split: number;
  /** Radius of level 0; kept within what is possible. */
  inner: number;
  focus: number;
  contexts: readonly number[];
  /** The context thread that is focused, or -1. */
  focused: number;
  view: (thread: number) => Span;
  fold: (thread: number) => number;
  /** Levels that a thread has. */
  deep: (thread: number) => number;
}

export interface Plate {
  focus: StraightFrame;
  rings: RingFrame[];
  center: Point;
  inner: number;
  outer: number;
  split: number;
}

const MARGIN_PX = 8;
const LEAST_SPLIT_PX = 60;

/** The radius that the half circle may have: its labels have room around it. */
export function outerRadius(width: number, height: number, split: number): number {
  const below = height - split - 2 - LABEL_PX - LABEL_GAP_PX;
  return Math.max(LEAST_INNER_PX + 20, Math.min(width / 2 - 48, below) - MARGIN_PX);
}

/** Where nobody chose one: no more than the focus's levels need, so that the ring has the rest. */
export function defaultSplit(height: number, levels: number): number {
  const tall = Math.min(MOST_LEVEL_PX, Math.max(LEVEL_PX, Math.floor(height / 24)));
  const needed = Math.max(LEAST_SPLIT_PX, levels * tall + FOCUS_LABEL_PX);
  return Math.round(Math.min(height * MOST_SPLIT, needed));
}

export function layoutPlate(options: PlateOptions): Plate {
  const { width, height, contexts, focused, view, fold, deep } = options;
  const split = Math.min(
    Math.max(LEAST_SPLIT_PX, options.split),
    Math.max(LEAST_SPLIT_PX, height - 120),
  );
  const outer = outerRadius(width, height, split);
  const inner = Math.min(Math.max(LEAST_INNER_PX, options.inner), outer - 20);
  const center = { x: width / 2, y: split + 2 };
  const box = { x: 0, y: 0, width, height: split - 4 };
  const parts = sections(contexts.length, contexts.indexOf(focused), inner);
  return {
    center,
    inner,
    outer,
    split,
    focus: new StraightFrame(
      options.focus,
      view(options.focus),
      Levels.within(deep(options.focus), box.height - 30, fold(options.focus)),
      deep(options.focus),
      box,
      center,
    ),
    rings: contexts.map(
      (thread, i) =>
        new RingFrame(
          thread,
          view(thread),
          Levels.within(deep(thread), outer - inner, fold(thread)),
          deep(thread),
          { center, inner, outer, from: parts[i]!.from, to: parts[i]!.to },
        ),
    ),
  };
}

/** The same threads as straight rows below each other; the focus has the most room. */
export function layoutLadder(options: PlateOptions, label: number): StraightFrame[] {
  const { width, height, focus, contexts, focused, view, fold, deep } = options;
  const all = [focus, ...contexts];
  const weights = all.map(thread => (thread === focus || thread === focused ? 2 : 1));
  const sum = weights.reduce((a, b) => a + b, 0);
  const gap = 14;
  const room = Math.max(all.length * 20, height - gap * all.length);
  let y = 0;
  return all.map((thread, i) => {
    const tall = Math.floor((room * weights[i]!) / sum);
    const box = { x: label, y, width: Math.max(50, width - label), height: tall };
    y += tall + gap;
    const pull = { x: box.x + box.width / 2, y: box.y + box.height + gap / 2 };
    return new StraightFrame(
      thread,
      view(thread),
      Levels.within(deep(thread), tall, fold(thread)),
      deep(thread),
      box,
      pull,
    );
  });
}

interface Box {
  x: number;
  y: number;
  width: number;
}

const touches = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width + LABEL_GAP_PX &&
  b.x < a.x + a.width + LABEL_GAP_PX &&
  Math.abs(a.y - b.y) < LABEL_PX + 2;

/** Where labels of the ring's threads stand: around it, next to their sections; from below upwards,
 * each moved aside until it touches none before it. The left upper corners, in the order of `frames`. */
export function labelSpots(frames: readonly RingFrame[], widths: readonly number[]): Point[] {
  const outer = Math.max(...frames.map(frame => frame.radius(frame.shown)));
  const spots = frames.map(({ ring: { center, from, to } }, i) => {
    const angle = (from + to) / 2;
    const corner = 5 * Math.abs(Math.sin(2 * angle)); // that is next to the ring there
    const at = polar(center, angle, outer + LABEL_GAP_PX + corner);
    const width = widths[i]!;
    const left = (width * (1 + Math.cos(angle))) / 2;
    const above = (LABEL_PX * (1 - Math.sin(angle))) / 2;
    const y = Math.max(center.y + 2, at.y - above);
    return { i, x: at.x - left, y, width, side: Math.sign(at.x - center.x) || 1, low: at.y };
  });
  const done: Box[] = [];
  for (const spot of [...spots].sort((a, b) => b.low - a.low || a.i - b.i)) {
    for (let over = done.find(one => touches(one, spot)); over; )
      over = moveAside(spot, over, done);
    done.push(spot);
  }
  return spots.map(({ x, y }) => ({ x, y }));
}

function moveAside(spot: Box & { side: number }, over: Box, done: readonly Box[]): Box | undefined {
  spot.x = spot.side < 0 ? over.x - spot.width - LABEL_GAP_PX : over.x + over.width + LABEL_GAP_PX;
  return done.find(one => touches(one, spot));
}

/* ---- Calls as pixels. However many calls a thread has, its levels are strips of colours with a column
 * for each pixel; a strip is copied to a straight thread's rows, and bent by a table that says for
 * each pixel of a ring which column it shows. Both cost what pixels cost, not what calls cost. ---- */

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
interface Rows {
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
    place: new Uint32Array(room),
    column: new Uint32Array(room),
    cover: new Uint16Array(room),
    level: new Uint16Array(room),
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
    place: made.place.slice(0, n),
    column: made.column.slice(0, n),
    cover: made.cover.slice(0, n),
    level: made.level.slice(0, n),
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
