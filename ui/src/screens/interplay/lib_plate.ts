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

export const LEVEL_PX = 14;
/** Where few levels have much room. */
export const MOST_LEVEL_PX = 26;
/** A level that is folded away. */
export const FOLDED_PX = 3;
/** Between neighbours on the half circle. */
export const SECTION_GAP_PX = 10;
/** Height of the labels of the ring's threads, which stand around it. */
export const LABEL_PX = 20;
const LABEL_GAP_PX = 4;
/** Between the levels of the focus and the ring: the focus's label. */
const FOCUS_LABEL_PX = 34;
const MOST_SPLIT = 0.36;
export const LEAST_INNER_PX = 60;
/** A context thread that is focused has so many times the section of the others. */
export const FOCUS_WEIGHT = 4;

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
export interface Spot {
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
export const LEAST_SPLIT_PX = 60;

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
    ...{ center, inner, outer, split },
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
          {
            ...{ center, inner, outer, from: parts[i]!.from, to: parts[i]!.to },
          },
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
