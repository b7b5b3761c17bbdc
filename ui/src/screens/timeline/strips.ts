// SPDX-License-Identifier: MIT
// Paints the strip of a thread's states over its calls.
import type { Theme } from '../../shared/draw/canvas';
import { inkOn, mix } from '../../shared/lib/color';
import { duration } from '../../shared/lib/format';
import { MARK, packColor } from '../../shared/lib/raster';
import { LETTERS, LOOK, SHORT } from '../../shared/lib/states';
import type { Strip } from '../../shared/lib/states';
import type { Scene } from './paint';
import { barWords, eachPathBar, HOP_ROOM, hopsInView } from './path';
import type { Hop, PathLane, TimelinePath } from './path';
import { LANE, LANE_STATE } from './tracks';
import type { Lane } from './tracks';

const LETTER_WIDTH = 12;
const WORDS_WIDTH = 130;
const INSET = 4;
const HATCH_HEIGHT = 6;
const LETTER_HEIGHT = 10;

/** Packed colours by look. */
export interface StripStyle {
  fill: Uint32Array;
  hatch: Uint32Array;
  ink: Uint32Array;
}

/** How a look is marked besides its colour. */
const MARKS: Record<number, number> = {
  [LOOK.NONE]: MARK.NONE,
  [LOOK.RUN]: MARK.NONE,
  [LOOK.IDLE]: MARK.NONE,
  [LOOK.READY]: MARK.BACK_HATCH,
  [LOOK.LOST]: MARK.BACK_HATCH,
  [LOOK.RAN]: MARK.DOTS,
  [LOOK.STILL]: MARK.DOTS,
};

/** Pale fills are marked with ink. */
const PALE: ReadonlySet<number> = new Set([LOOK.READY, LOOK.RAN, LOOK.WAITED, LOOK.STILL]);

export function stripStyle({ states, isDark, ink, bad }: Theme): StripStyle {
  const hatch = states.map((fill, look) => {
    if (look === LOOK.LOST) return mix(bad, fill, 0.7);
    return PALE.has(look) ? mix(ink, fill, 0.42) : mix(isDark ? '#000000' : '#ffffff', fill, 0.45);
  });
  const pack = (list: string[]): Uint32Array => Uint32Array.from(list, packColor);
  return { fill: pack(states), hatch: pack(hatch), ink: pack(states.map(inkOn)) };
}

/** Item by item as long as they are in view; what is narrower than a pixel has one. */
export function paintStrip(scene: Scene, strip: Strip, top: number, height: number): void {
  const { raster, window, dpr, strips } = scene;
  const [y0, y1] = [Math.round(top * dpr), Math.round((top + height) * dpr)];
  if (y1 <= 0 || y0 >= raster.height) return;
  const isHatched = height >= HATCH_HEIGHT;
  raster.beginLine(Math.max(0, y0));
  eachInView(strip, scene, (look, x0, x1) => {
    raster.bar(x0, x1, strips.fill[look]!, strips.fill[look]!, 0);
    const kind = MARKS[look] ?? MARK.HATCH;
    if (!isHatched || kind === MARK.NONE || x1 - x0 < 3 * dpr) return;
    raster.stroke(x0, x1, kind, strips.hatch[look]!);
  });
  raster.endLine(y0, y1, 0, dpr, Math.round(window.t0 * window.scale) % Math.round(6 * dpr));
  if (height >= LETTER_HEIGHT) paintWords(scene, strip, y0, y1);
}

function eachInView(
  { start, end, look, n }: Strip,
  { window, raster }: Scene,
  put: (look: number, x0: number, x1: number, i: number) => void,
): void {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle]! < window.t0) low = middle + 1;
    else high = middle;
  }
  for (let i = low; i < n && start[i]! <= window.t1; i++) {
    if (look[i] === LOOK.NONE || look[i] === LOOK.IDLE) continue;
    const x0 = Math.max(0, Math.round((start[i]! - window.t0) * window.scale));
    const x1 = Math.round((end[i]! - window.t0) * window.scale);
    put(look[i]!, x0, Math.min(raster.width, Math.max(x0 + 1, x1)), i);
  }
}

function paintWords(scene: Scene, strip: Strip, y0: number, y1: number): void {
  const { raster, masks, dpr, strips } = scene;
  eachInView(strip, scene, (look, x0, x1, i) => {
    if (strip.count[i]! > 1 || x1 - x0 < LETTER_WIDTH * dpr) return;
    const ns = strip.end[i]! - strip.start[i]!;
    const isWide = x1 - x0 >= WORDS_WIDTH * dpr;
    if (!isWide && LETTERS[look] === '') return;
    const mask = masks.word(isWide ? `${SHORT[look]!}\u2002${duration(ns)}` : LETTERS[look]!);
    if (!mask || mask.width + 2 > x1 - x0) return;
    const x = isWide ? x0 + Math.round(INSET * dpr) : Math.round((x0 + x1 - mask.width) / 2);
    const pad = Math.round(2 * dpr);
    raster.rect(x - pad, y0, x + mask.width + pad, y1, strips.fill[look]!);
    raster.text(mask, x, y0 - Math.round(dpr), strips.ink[look]!, x1);
  });
}

/* ---- Paints the lanes of locks below the calls of a thread. ---- */

/** Packed colours by state; dim ones are of other locks than the one pointed at. */
export interface LaneStyle {
  fill: Uint32Array;
  dim: Uint32Array;
  hatch: Uint32Array;
  line: number;
}

export function laneStyle({ states, held, bg, line2, isDark }: Theme): LaneStyle {
  const fills = [states[1]!, held, states[3]!];
  const over = isDark ? '#000000' : '#ffffff';
  const pack = (list: string[]): Uint32Array => Uint32Array.from(list, packColor);
  return {
    fill: pack(fills),
    dim: pack(fills.map(fill => mix(fill, bg, 0.25))),
    hatch: pack(fills.map(fill => mix(over, fill, 0.45))),
    line: packColor(line2),
  };
}

/** `lanes` in their order from `top` on; null: nothing of it is in view. */
export function paintLanes(
  scene: Scene,
  style: LaneStyle,
  lanes: readonly (Lane | null)[],
  top: number,
  lock: string,
): void {
  const { raster, dpr } = scene;
  lanes.forEach((lane, i) => {
    const y0 = Math.round((top + i * LANE) * dpr);
    const y1 = Math.round((top + i * LANE + LANE - 1) * dpr);
    if (y1 <= 0 || y0 >= raster.height) return;
    raster.rect(0, y1, raster.width, y1 + Math.max(1, Math.round(dpr)), style.line);
    if (!lane) return;
    const isDim = lock !== '' && lane.object.id !== lock;
    paintLane(scene, style, lane, y0, y1, isDim);
  });
}

function paintLane(
  scene: Scene,
  style: LaneStyle,
  lane: Lane,
  y0: number,
  y1: number,
  isDim: boolean,
): void {
  const { raster, dpr, window } = scene;
  const fills = isDim ? style.dim : style.fill;
  raster.beginLine(Math.max(0, y0));
  eachPiece(scene, lane, (i, x0, x1) => {
    const state = lane.state[i]!;
    raster.bar(x0, x1, fills[state]!, fills[state]!, 0);
    const isHatched = state !== LANE_STATE.HELD && !isDim && x1 - x0 >= 3 * dpr;
    if (isHatched) raster.stroke(x0, x1, MARK.HATCH, style.hatch[state]!);
  });
  raster.endLine(y0, y1, 0, dpr, Math.round(window.t0 * window.scale) % Math.round(6 * dpr));
}

function eachPiece(
  { window, raster }: Scene,
  { start, end, n }: Lane,
  put: (i: number, x0: number, x1: number) => void,
): void {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle]! < window.t0) low = middle + 1;
    else high = middle;
  }
  for (let i = low; i < n && start[i]! <= window.t1; i++) {
    const x0 = Math.max(0, Math.round((start[i]! - window.t0) * window.scale));
    const x1 = Math.round((end[i]! - window.t0) * window.scale);
    put(i, x0, Math.min(raster.width, Math.max(x0 + 1, x1)));
  }
}

/* ---- Paints a critical path on the Timeline: a strip above the states of each thread that it is on, and
 * arrows to where it goes on. ---- */

const PATH_LETTER_WIDTH = 12;
const PATH_WORDS_WIDTH = 90;
const PATH_INSET = 4;
const TEXT_HEIGHT = 10;
const HEAD_W = 3; // half of an arrow's head
const HEAD_H = 6;

/** Packed colours by look. */
export interface PathStyle {
  fill: Uint32Array;
  pale: Uint32Array;
  hatch: Uint32Array;
  ink: Uint32Array;
  paleInk: Uint32Array;
  edge: number;
  rail: number;
  arrow: number;
  halo: number;
}

export function pathStyle({ states, bg, ink, ink2, line2, isDark }: Theme): PathStyle {
  const pale = states.map(fill => mix(fill, bg, 0.55));
  const over = isDark ? '#000000' : '#ffffff';
  const hatch = states.map((fill, look) =>
    look === LOOK.READY ? mix(ink, fill, 0.42) : mix(over, fill, 0.45),
  );
  const pack = (list: string[]): Uint32Array => Uint32Array.from(list, packColor);
  return {
    fill: pack(states),
    pale: pack(pale),
    hatch: pack(hatch),
    ink: pack(states.map(inkOn)),
    paleInk: pack(pale.map(inkOn)),
    edge: packColor(ink2),
    rail: packColor(line2),
    arrow: packColor(ink2),
    halo: packColor(bg),
  };
}

/** Where the bars of a strip are, in CSS px. */
export interface PathBox {
  top: number;
  height: number;
}

/** How a stretch is marked besides its colour. */
function markOf(lane: PathLane, i: number): number {
  const look = lane.look[i]!;
  if (look === LOOK.READY) return MARK.BACK_HATCH;
  if (look !== LOOK.RUN) return MARK.HATCH;
  return lane.isInferred[i] === 1 ? MARK.DOTS : MARK.NONE;
}

const isPale = (lane: PathLane, i: number): boolean => markOf(lane, i) === MARK.DOTS;

/** The strip of a thread; where the path is on others, a line says that it goes on. */
export function paintPathLane(
  scene: Scene,
  style: PathStyle,
  { path }: TimelinePath,
  lane: PathLane,
  { top, height }: PathBox,
): void {
  const { raster, dpr } = scene;
  const [y0, y1] = [Math.round(top * dpr), Math.round((top + height) * dpr)];
  if (y1 <= 0 || y0 >= raster.height) return;
  paintBars(scene, style, lane, y0, y1);
  paintRail(scene, style, path, lane, Math.round((y0 + y1) / 2));
  if (height >= TEXT_HEIGHT) paintPathWords(scene, style, path, lane, y0, y1);
}

function paintBars(scene: Scene, style: PathStyle, lane: PathLane, y0: number, y1: number): void {
  const { raster, window, dpr } = scene;
  const edge = y1 - y0 >= 6 * dpr ? Math.max(1, Math.round(dpr)) : 0;
  raster.beginLine(Math.max(0, y0));
  eachPathBar(lane, window, (i, x0, x1) => {
    const [look, mark] = [lane.look[i]!, markOf(lane, i)];
    const fill = mark === MARK.DOTS ? style.pale[look]! : style.fill[look]!;
    raster.bar(x0, x1, fill, style.edge, edge);
    if (edge === 0 || mark === MARK.NONE || x1 - x0 < 4 * edge) return;
    const color = mark === MARK.DOTS ? style.fill[look]! : style.hatch[look]!;
    raster.stroke(x0 + edge, x1 - edge, mark, color);
  });
  raster.endLine(y0, y1, edge, dpr, Math.round(window.t0 * window.scale) % Math.round(6 * dpr));
}

/** From where the path begins to where it ends, between the bars. */
function paintRail(
  { raster, window, dpr }: Scene,
  style: PathStyle,
  { from, to }: TimelinePath['path'],
  lane: PathLane,
  y: number,
): void {
  const thin = Math.max(1, Math.round(dpr));
  const x = (t: number): number => Math.round((t - window.t0) * window.scale);
  let at = x(from);
  eachPathBar(lane, window, (_, x0, x1) => {
    raster.rect(at, y, x0, y + thin, style.rail);
    at = x1;
  });
  raster.rect(at, y, x(to), y + thin, style.rail);
}

/** "remap_view  45.2 ms", the letter of a wait, nothing. */
function paintPathWords(
  scene: Scene,
  style: PathStyle,
  path: TimelinePath['path'],
  lane: PathLane,
  y0: number,
  y1: number,
): void {
  const { raster, window, masks, dpr } = scene;
  eachPathBar(lane, window, (i, from, to) => {
    const [x0, x1] = [Math.max(0, from), Math.min(raster.width, to)];
    if (x1 - x0 < PATH_LETTER_WIDTH * dpr) return;
    const look = lane.look[i]!;
    const letter = LETTERS[look] ?? '';
    const long = x1 - x0 >= PATH_WORDS_WIDTH * dpr ? masks.word(barWords(path, lane, i)) : null;
    const hasRoom = long !== null && long.width + 2 * PATH_INSET * dpr <= x1 - x0;
    const mask = hasRoom ? long : masks.word(letter);
    if (!mask || mask.width + 4 * dpr > x1 - x0) return;
    const x = hasRoom ? x0 + Math.round(PATH_INSET * dpr) : Math.round((x0 + x1 - mask.width) / 2);
    const [pad, rim] = [Math.round(2 * dpr), Math.max(1, Math.round(dpr))];
    const fill = isPale(lane, i) ? style.pale[look]! : style.fill[look]!;
    const ink = isPale(lane, i) ? style.paleInk[look]! : style.ink[look]!;
    raster.rect(x - pad, y0 + rim, x + mask.width + pad, y1 - rim, fill);
    raster.text(mask, x, y0, ink, x1 - rim);
  });
}

/** Where the strip of a thread is; if it is scrolled out of view, the edge behind which it is. */
export interface PathPlace extends PathBox {
  isSeen: boolean;
}

/** null: the thread is not shown. */
type PlaceOfLane = (thread: number) => PathPlace | null;

/** From the strip of one thread to that of another, over what is between. */
export function paintHops(
  scene: Scene,
  style: PathStyle,
  { hops }: TimelinePath,
  placeOf: PlaceOfLane,
): void {
  const { window, dpr } = scene;
  const isShown = ({ from, to }: Hop): boolean => placeOf(from) !== null && placeOf(to) !== null;
  for (const hop of hopsInView(hops, window, HOP_ROOM * dpr, isShown))
    paintHop(scene, style, hop, placeOf(hop.from)!, placeOf(hop.to)!);
}

function paintHop(scene: Scene, style: PathStyle, hop: Hop, from: PathPlace, to: PathPlace): void {
  const { raster, window, dpr } = scene;
  const isDown = to.top > from.top;
  const y0 = Math.round((isDown ? from.top + from.height : from.top) * dpr);
  const y1 = Math.round((isDown ? to.top : to.top + to.height) * dpr);
  const line = Math.max(1, Math.round(dpr));
  const x = Math.round((hop.t - window.t0) * window.scale);
  const [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
  raster.rect(x - line, top, x, bottom, style.halo);
  raster.rect(x + line, top, x + 2 * line, bottom, style.halo);
  raster.rect(x, top, x + line, bottom, style.arrow);
  if (!to.isSeen) return;
  const tall = Math.round(Math.min(HEAD_H * dpr, bottom - top));
  for (let k = 0; k < tall; k++) {
    const half = Math.round(((k + 1) * HEAD_W * dpr) / Math.max(1, tall));
    const y = isDown ? y1 - 1 - k : y1 + k;
    raster.rect(x - half, y, x + line + half, y + 1, style.arrow);
  }
}
