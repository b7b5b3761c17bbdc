// SPDX-License-Identifier: MIT
// Paints threads of the plate, straight or bent, and the curves between them. Both kinds of frames
// are drawn by the same rules: only the shape of a bar differs.
import type { TextMeter, Theme } from '../../shared/draw/canvas';
import { contrast, mix } from '../../shared/lib/color';
import { duration } from '../../shared/lib/format';
import { isBundle, TONE_STEPS } from './data';
import type { Curve } from './data';
import type { ThreadData } from './load';
import { polar, pixelOf } from './plate';
import type { Frame, Point, RingFrame } from './plate';

type Ctx = CanvasRenderingContext2D;

/** Fills by kind and step; [0] of each is the neutral one. */
export interface PlateStyle {
  wait: string[];
  io: string[];
  /** Both by tone (lib/interplay): as text, and as pixels. */
  fills: string[];
  pixels: Uint32Array;
  /** The same for aggregates, by level: lighter with each. */
  pale: Uint32Array[];
  bg: string;
  edge: string;
  ink3: string;
  hatch: string;
  hues: string[];
  grey: string;
}

/** Calls in which nothing blocked. */
function neutralOf(theme: Pick<Theme, 'isDark' | 'other' | 'ink3'>): string {
  return mix(theme.ink3, theme.other, theme.isDark ? 0.1 : 0.22);
}

export function plateStyle(theme: Theme): PlateStyle {
  const neutral = neutralOf(theme);
  const [lock, disk] = [theme.states[3]!, theme.states[4]!];
  const ramp = (hue: string): string[] =>
    Array.from({ length: TONE_STEPS + 1 }, (_, i) =>
      i === 0 ? neutral : mix(hue, neutral, 0.25 + (0.75 * i) / TONE_STEPS),
    );
  const [wait, io] = [ramp(lock), ramp(disk)];
  const fills = [...wait, ...io.slice(1)];
  const pale = Array.from({ length: PALE_LEVELS }, (_, level) =>
    fills.map(fill => mix(fill, theme.bg, Math.max(0.3, 0.62 - LIGHTER * level))),
  );
  const pixels = (list: readonly string[]): Uint32Array => Uint32Array.from(list, pixelOf);
  return {
    wait,
    io,
    fills,
    pixels: pixels(fills),
    pale: pale.map(pixels),
    bg: theme.bg,
    edge: theme.edge,
    ink3: theme.ink3,
    hatch: theme.hatch,
    hues: theme.hues,
    grey: theme.hues[10]!,
  };
}

export interface PlateScene {
  ctx: Ctx;
  style: PlateStyle;
  text: TextMeter;
  font: string;
  nameOf: (thread: number, fn: number) => string;
  /** Functions that wait: hatched. */
  isWait: ArrayLike<number>;
}

/** Between levels that are high enough. */
export const barGap = (tall: number): number => (tall > 4 ? 1 : 0);
const LIGHTER = 0.06; // an aggregate is lighter with each level
export const PALE_LEVELS = 6;
const SMALL_PX = 6; // a piece of a ring shorter than this is drawn with straight lines

/* ---- shapes ---- */

/** A bar from t0 to t1 between two heights of a level (0 is its upper or inner edge, 1 the other). */
export function addBar(
  path: Path2D,
  frame: Frame,
  t0: number,
  t1: number,
  level: number,
  low = 0,
  high = 1,
): void {
  const view = frame.view;
  const [a, b] = [Math.max(t0, view.t0), Math.min(t1, view.t1)];
  if (b < a) return;
  const tall = frame.levels.at(level + 1) - frame.levels.at(level);
  const gap = high === 1 ? barGap(tall) : 0;
  const [from, to] = [
    frame.levels.at(level) + tall * low,
    frame.levels.at(level) + tall * high - gap,
  ];
  if (frame.isRing) addRing(path, frame, a, b, from, to);
  else {
    const x0 = frame.place(a, level).x;
    const x1 = Math.max(frame.place(b, level).x, x0 + 1);
    const y = frame.place(a, 0).y;
    path.rect(x0, y + from, x1 - x0, to - from);
  }
}

function addRing(
  path: Path2D,
  frame: RingFrame,
  t0: number,
  t1: number,
  from: number,
  to: number,
): void {
  const { center, inner } = frame.ring;
  const [r0, r1] = [inner + from, inner + to];
  const a0 = frame.angle(t0);
  const a1 = Math.min(frame.ring.to, Math.max(frame.angle(t1), a0 + 1 / r1));
  ringPiece(path, center, a0, a1, r0, r1);
}

function ringPiece(
  path: Path2D,
  center: Point,
  a0: number,
  a1: number,
  r0: number,
  r1: number,
): void {
  if ((a1 - a0) * r1 < SMALL_PX) {
    const corners = [
      polar(center, a0, r0),
      polar(center, a0, r1),
      polar(center, a1, r1),
      polar(center, a1, r0),
    ];
    corners.forEach(({ x, y }, i) => (i === 0 ? path.moveTo(x, y) : path.lineTo(x, y)));
  } else {
    const { x, y } = polar(center, a0, r0);
    path.moveTo(x, y);
    path.arc(center.x, center.y, r1, Math.PI - a0, Math.PI - a1, true);
    path.arc(center.x, center.y, r0, Math.PI - a1, Math.PI - a0, false);
  }
  path.closePath();
}

/* ---- threads ---- */

/** Px that a time takes at a level. */
export function lengthAt(frame: Frame, ns: number, level: number): number {
  const { t0, t1 } = frame.view;
  const room = frame.isRing
    ? (frame.ring.to - frame.ring.from) * frame.radius(level)
    : frame.length;
  return (ns / Math.max(1, t1 - t0)) * room;
}

/** The first call of a level that ends at `t0` or later. */
export function firstItem({ calls }: ThreadData, level: number, t0: number): number {
  const { end, depthFrom } = calls;
  let [low, high] = [depthFrom[level]!, depthFrom[level + 1]!];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle]! < t0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Items of a level that are in view. */
export function eachItem(
  data: ThreadData,
  level: number,
  t0: number,
  t1: number,
  see: (i: number) => void,
): void {
  const { start, depthFrom } = data.calls;
  if (level + 1 >= depthFrom.length) return;
  const last = depthFrom[level + 1]!;
  for (let i = firstItem(data, level, t0); i < last && start[i]! < t1; i++) see(i);
}

/** The name of a call that has room for it. */
export interface Label {
  fn: number;
  ns: number;
  t0: number;
  t1: number;
  level: number;
  fill: string;
}

let hatchTile: { color: string; tile: HTMLCanvasElement } | null = null;

function hatchOf(ctx: Ctx, color: string): CanvasPattern | null {
  if (hatchTile?.color !== color) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 6;
    const own = tile.getContext('2d')!;
    own.strokeStyle = color;
    own.lineWidth = 1.1;
    own.beginPath();
    for (const shift of [-6, 0, 6]) {
      own.moveTo(shift - 6, 12);
      own.lineTo(shift + 12, -6);
    }
    own.stroke();
    hatchTile = { color, tile };
  }
  return ctx.createPattern(hatchTile.tile, 'repeat');
}

export function hatch({ ctx, style }: PlateScene, path: Path2D): void {
  const pattern = hatchOf(ctx, style.hatch);
  if (!pattern) return;
  ctx.fillStyle = pattern;
  ctx.fill(path);
}

const LEAST_CONTRAST = 6; // small bent letters lose some of it

/** Black or white on a fill, and the paler or darker ground that gives it contrast where the fill
 * does not. */
export function lookOf(fill: string): { ink: string; ground: string; isPlain: boolean } {
  const [white, black] = ['#ffffff', '#000000'];
  const isLight = contrast(white, fill) >= contrast(black, fill);
  const ink = isLight ? white : black;
  const isPlain = contrast(ink, fill) >= LEAST_CONTRAST;
  let ground = fill;
  for (let share = 0.9; contrast(ink, ground) < LEAST_CONTRAST; share -= 0.1)
    ground = mix(fill, isLight ? black : white, share);
  return { ink, ground, isPlain };
}

export function paintLabel(scene: PlateScene, frame: Frame, label: Label): void {
  const { ctx, text, font, nameOf } = scene;
  const view = frame.view;
  const [a, b] = [Math.max(label.t0, view.t0), Math.min(label.t1, view.t1)];
  const tall = frame.levels.at(label.level + 1) - frame.levels.at(label.level);
  if (tall < 11) return;
  const room = lengthAt(frame, b - a, label.level) - 8;
  const size = tall >= 14 ? 11 : 10;
  const own = `400 ${size}px ${font}`;
  const name = nameOf(frame.thread, label.fn);
  const time = duration(label.ns);
  const full = `${name}\u2002${time}`;
  const said = text.width(own, full) <= room ? full : text.fit(own, name, room);
  if (!said || (said !== full && said !== name && name.startsWith('('))) return; // no name: not a part of it
  const { ink, ground, isPlain } = lookOf(label.fill);
  const plate = scene.isWait[label.fn] === 1 || !isPlain;
  ctx.font = own;
  ctx.textBaseline = 'middle';
  const width = text.width(own, said);
  if (frame.isRing)
    return paintRingLabel(scene, frame, { ...label, said, width, a, b, plate, ink, ground });
  const { x } = frame.place(a, label.level);
  const y = Math.round(frame.place(a, label.level).y + tall / 2);
  if (plate) {
    ctx.fillStyle = ground;
    ctx.fillRect(x + 2, y - tall / 2 + 1, width + 5, tall - 3);
  }
  ctx.textAlign = 'left';
  ctx.fillStyle = ink;
  ctx.fillText(said, x + 4, y);
}

interface RingLabel extends Label {
  said: string;
  width: number;
  a: number;
  b: number;
  plate: boolean;
  ink: string;
  ground: string;
}

/** In pieces along the ring, so short that they look bent. */
function paintRingLabel({ ctx, text }: PlateScene, frame: RingFrame, label: RingLabel): void {
  const { level, said, width, a, b, plate, ink, ground } = label;
  const tall = frame.levels.at(level + 1) - frame.levels.at(level);
  const radius = frame.radius(level) + tall / 2;
  const middle = (frame.angle(a) + frame.angle(b)) / 2;
  if (plate) {
    const half = (width / 2 + 3) / radius;
    const under = new Path2D();
    ringPiece(
      under,
      frame.ring.center,
      middle - half,
      middle + half,
      radius - tall / 2 + 1,
      radius + tall / 2 - 2,
    );
    ctx.fillStyle = ground;
    ctx.fill(under);
  }
  ctx.textAlign = 'center';
  ctx.fillStyle = ink;
  let at = middle - width / 2 / radius;
  for (const piece of piecesOf(said, Math.sqrt(BEND_PX * 8 * radius) / (width / said.length))) {
    const own = text.width(ctx.font, piece) / radius;
    const { x, y } = polar(frame.ring.center, at + own / 2, radius);
    ctx.save();
    ctx.translate(x, y);
    ctx.rotate(Math.PI / 2 - at - own / 2);
    ctx.fillText(piece, 0, 0);
    ctx.restore();
    at += own;
  }
}

/** A straight piece of a label may be so far from the ring. */
const BEND_PX = 0.3;

/** Whole characters, at most `most` a piece. */
function piecesOf(said: string, most: number): string[] {
  const letters = Array.from(said);
  const step = Math.max(1, Math.floor(most));
  return Array.from({ length: Math.ceil(letters.length / step) }, (_, i) =>
    letters.slice(i * step, (i + 1) * step).join(''),
  );
}

/* ---- curves ---- */

interface CurveEnds {
  /** Wait start and wait end, as far as they are in view. */
  a: Point;
  b: Point;
  /** Earliest and latest release. */
  r0: Point;
  r1: Point;
  /** The release is in view. */
  isSeen: boolean;
}

function clampTo(frame: Frame, t: number): number {
  return Math.min(Math.max(t, frame.view.t0), frame.view.t1);
}

/** Rows of a ladder turn the edges to each other that face: 0 the upper, 1 the lower; -1 on a plate. */
function sidesOf(from: Frame, to: Frame): { from: number; to: number } {
  if (from.isRing || to.isRing) return { from: -1, to: -1 };
  return from.box.y < to.box.y ? { from: 1, to: 0 } : { from: 0, to: 1 };
}

export function curveEnds(from: Frame, to: Frame, curve: Curve): CurveEnds {
  const level = Math.min(curve.depth, Math.max(0, from.shown - 1));
  const toLevel = Math.min(curve.toDepth, Math.max(0, to.shown - 1));
  const [first, last] = [clampTo(to, curve.first), clampTo(to, curve.last)];
  const side = sidesOf(from, to);
  const anchor = (frame: Frame, t: number, at: number, edge: number): Point =>
    edge < 0 ? frame.anchor(t, at) : frame.place(t, at + edge);
  return {
    a: anchor(from, clampTo(from, curve.start), level, side.from),
    b: anchor(from, clampTo(from, curve.end), level, side.from),
    r0: anchor(to, first, toLevel, side.to),
    r1: anchor(to, last, toLevel, side.to),
    isSeen: curve.last >= to.view.t0 && curve.first <= to.view.t1,
  };
}

const PULL = 0.72;

const towards = (from: Point, to: Point, share: number): Point => ({
  x: from.x + (to.x - from.x) * share,
  y: from.y + (to.y - from.y) * share,
});

/** Straight frames send their curves down first, then to the centre. */
function pullOf(frame: Frame, at: Point): Point {
  if (frame.isRing) return towards(at, frame.pull, PULL);
  return { x: at.x + (frame.pull.x - at.x) * 0.25, y: at.y + (frame.pull.y - at.y) * 1.1 };
}

/** The curve as a shape: from the wait's start over the release back to its end. Of a bundle, from
 * the earliest release to the latest, hollow towards the centre. */
function curvePath(from: Frame, to: Frame, curve: Curve, ends: CurveEnds): Path2D {
  const { a, b, r0, r1 } = ends;
  const path = new Path2D();
  path.moveTo(a.x, a.y);
  const isLadder = !from.isRing && !to.isRing;
  const half = (p: Point, q: Point): Point => ({ x: p.x, y: (p.y + q.y) / 2 });
  const [pa, pb, p0, p1] = isLadder
    ? [half(a, r0), half(b, r1), half(r0, a), half(r1, b)]
    : [pullOf(from, a), pullOf(from, b), pullOf(to, r0), pullOf(to, r1)];
  path.bezierCurveTo(pa.x, pa.y, p0.x, p0.y, r0.x, r0.y);
  if (isBundle(curve)) {
    const middle = towards(towards(r0, r1, 0.5), to.pull, 0.12);
    path.quadraticCurveTo(middle.x, middle.y, r1.x, r1.y);
  }
  path.bezierCurveTo(p1.x, p1.y, pb.x, pb.y, b.x, b.y);
  path.closePath();
  return path;
}

/** Of a level, what is left free above the markers of waits that nobody points at: names stay readable. */
const MARKER_LOW = 0.68;
const SHADES_PX = [9, 6, 3];

/** Waits on the threads that ended them: what happened there meanwhile. Their starts are shaded. All
 * of a colour are painted at once. */
export class Markers {
  private readonly byColor = new Map<string, { bars: Path2D; shades: Path2D[] }>();

  constructor(private readonly strong: boolean) {}

  add(to: Frame, curve: Curve, color: string): void {
    const level = Math.min(curve.toDepth, Math.max(0, to.shown - 1));
    const low = this.strong ? 0 : MARKER_LOW;
    const { t0, t1 } = to.view;
    if (curve.end < t0 || curve.start > t1) return;
    let own = this.byColor.get(color);
    if (!own) {
      own = { bars: new Path2D(), shades: SHADES_PX.map(() => new Path2D()) };
      this.byColor.set(color, own);
    }
    const { bars, shades } = own;
    addBar(bars, to, curve.start, curve.end, level, low);
    if (curve.start < t0) return;
    const px = (t1 - t0) / Math.max(1, lengthAt(to, t1 - t0, level));
    const most = (curve.end - curve.start) / px;
    SHADES_PX.forEach((width, i) =>
      addBar(shades[i]!, to, curve.start, curve.start + Math.min(width, most) * px, level, low),
    );
  }

  fill(ctx: Ctx): void {
    for (const [color, { bars, shades }] of this.byColor) {
      ctx.fillStyle = color;
      ctx.globalAlpha = this.strong ? 0.55 : 0.3;
      ctx.fill(bars);
      ctx.globalAlpha = this.strong ? 0.5 : 0.3;
      for (const shade of shades) ctx.fill(shade);
    }
    ctx.globalAlpha = 1;
  }
}

export function paintCurve(
  ctx: Ctx,
  frames: { from: Frame; to: Frame },
  curve: Curve,
  color: string,
  strong: boolean,
): Path2D {
  const { from, to } = frames;
  const ends = curveEnds(from, to, curve);
  const path = curvePath(from, to, curve, ends);
  const isOne = !isBundle(curve);
  const base = ends.isSeen ? 1 : 0.45;
  ctx.fillStyle = ctx.strokeStyle = color;
  const pale = from.isRing || to.isRing ? 0.2 : 0.07;
  ctx.globalAlpha = base * (strong ? 0.5 : isOne ? pale : 0.42);
  ctx.fill(path);
  if (isOne) {
    ctx.globalAlpha = base * (strong ? 1 : 0.6);
    ctx.lineWidth = strong ? 1.5 : 1;
    ctx.stroke(path);
  }
  if (isOne && ends.isSeen) {
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.arc(ends.r0.x, ends.r0.y, strong ? 4 : 2.6, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.globalAlpha = 1;
  return path;
}
