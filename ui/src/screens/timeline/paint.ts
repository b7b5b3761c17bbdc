// SPDX-License-Identifier: MIT
// Paints the tracks of the timeline into a raster.
import { Cover } from '../../shared/api/tiles';
import type { TileStore, Segment, Tile } from '../../shared/api/tiles';
import type { Theme } from '../../shared/draw/canvas';
import { mix } from '../../shared/lib/color';
import type { Families } from '../../shared/lib/names';
import { MARK, packColor } from '../../shared/lib/raster';
import type { Mask, Raster } from '../../shared/lib/raster';
import type { LabelMasks } from './draw';
import type { StripStyle } from './strips';
import { callsTop } from './tracks';
import type { Track } from './tracks';
import type { SetIndex } from './walk';

/** Packed colours by hue; `dim`: those of calls that are not in the set. */
interface Palette {
  fill: Uint32Array;
  edge: Uint32Array;
  merged: Uint32Array;
  zigzag: Uint32Array;
  hatch: Uint32Array;
  ink: Uint32Array;
}

export interface Style {
  plain: Palette;
  dim: Palette;
  bg: number;
  grid: number;
  line: number;
  panel: number;
  cut: number;
  text: number;
}

function paletteOf(theme: Theme, hues: string[], share: number): Palette {
  const { bg, isDark } = theme;
  const fills = hues.map(hue => mix(hue, bg, share));
  const edges = fills.map(fill => mix(isDark ? '#000000' : '#0f141a', fill, isDark ? 0.55 : 0.28));
  const pack = (list: string[]): Uint32Array => Uint32Array.from(list, packColor);
  return {
    fill: pack(fills),
    edge: pack(edges),
    merged: pack(hues.map(hue => mix(hue, bg, 0.55 * share))),
    zigzag: pack(hues.map(hue => mix(theme.ink, mix(hue, bg, 0.55 * share), 0.5 * share))),
    hatch: pack(fills.map(fill => mix(isDark ? '#000000' : '#ffffff', fill, isDark ? 0.45 : 0.55))),
    ink: pack(theme.inks.map((ink, i) => (share < 1 ? mix(theme.ink3, fills[i]!, 0.9) : ink))),
  };
}

export function styleOf(theme: Theme): Style {
  return {
    plain: paletteOf(theme, theme.hues, 1),
    dim: paletteOf(theme, theme.hues, 0.25),
    bg: packColor(theme.bg),
    grid: packColor(theme.grid),
    line: packColor(theme.line),
    panel: packColor(theme.panel),
    cut: packColor(theme.ink2),
    text: packColor(theme.ink),
  };
}

/** A frame of the timeline. */
export interface Scene {
  raster: Raster;
  style: Style;
  masks: LabelMasks;
  store: TileStore;
  level: number;
  window: Window;
  dpr: number;
  families: Families;
  isWait: readonly number[];
  set: SetIndex | null;
  /** Calls of these depths that begin with their thread were open before it, by thread. */
  cutCalls: (thread: number) => number;
  firstNs: (thread: number) => number;
  /** Colours of states. */
  strips: StripStyle;
  /** End of the trace: calls that reach it are cut. */
  endNs: number;
}

const INSET = 4;
const LEAST_LABEL = 26;
const LEAST_COUNT = 34;

export class TrackPainter {
  private readonly cover = new Cover();
  private readonly glyphs = new LevelGlyphs();

  /** The glyphs of one depth, as they are painted. Valid until the next call. */
  glyphsOf(scene: Scene, thread: number, depth: number): LevelGlyphs {
    const { store, level, window } = scene;
    this.cover.fill(store, thread, level, window.t0, window.t1);
    this.glyphs.fill(this.cover.segments, this.cover.n, depth, window);
    return this.glyphs;
  }

  /** Paints a track whose upper border is at `top` CSS px of the raster. */
  paint(scene: Scene, track: Track, top: number): void {
    const { store, level, window, dpr, raster } = scene;
    this.cover.fill(store, track.thread, level, window.t0, window.t1);
    const step = track.levelHeight;
    for (let depth = 0; depth < track.levels; depth++) {
      const y = top + callsTop(track) + depth * step;
      const tall = step > 4 ? step - 1 : step;
      const [y0, y1] = [Math.round(y * dpr), Math.round((y + tall) * dpr)];
      if (y1 <= 0 || y0 >= raster.height) continue;
      this.glyphs.fill(this.cover.segments, this.cover.n, depth, window);
      this.paintLine(scene, track.thread, depth, y0, y1);
    }
  }

  private paintLine(scene: Scene, thread: number, depth: number, y0: number, y1: number): void {
    const { raster, dpr, set, window } = scene;
    const { blocks, calls } = this.glyphs;
    const members = set?.of(thread, depth) ?? null;
    if (blocks.n + calls.n === 0 && !members) return;
    const edge = y1 - y0 >= 6 * dpr ? Math.max(1, Math.round(dpr)) : 0;
    raster.beginLine();
    paintBlocks(scene, blocks, edge);
    paintCalls(scene, calls, members, edge);
    if (members) paintMembers(scene, set!, members, edge);
    const shift = Math.round(window.t0 * window.scale) % Math.round(6 * dpr);
    raster.endLine(y0, y1, edge, dpr, shift);
    if (y1 - y0 < 10 * dpr) return;
    this.paintCuts(scene, thread, depth, y0, y1);
    paintCounts(scene, blocks, calls, y0);
    paintNames(scene, calls, members, y0, y1);
  }

  private paintCuts(scene: Scene, thread: number, depth: number, y0: number, y1: number): void {
    const { calls } = this.glyphs;
    const { raster, dpr, style } = scene;
    if (calls.n === 0) return;
    if (depth < scene.cutCalls(thread) && calls.from[0]! <= scene.firstNs(thread))
      raster.dashes(calls.x0[0]!, y0, y1, dpr, style.cut);
    const last = calls.n - 1;
    if (calls.to[last]! >= scene.endNs)
      raster.dashes(calls.x1[last]! - Math.max(1, Math.round(dpr)), y0, y1, dpr, style.cut);
  }
}

function paintBlocks(
  { raster, style, families, set, dpr }: Scene,
  blocks: Glyphs,
  edge: number,
): void {
  const palette = set ? style.dim : style.plain;
  for (let i = 0; i < blocks.n; i++) {
    const hue = families.hue[blocks.fn[i]!] ?? 10;
    const [x0, x1] = [blocks.x0[i]!, blocks.x1[i]!];
    const isOne = blocks.count[i] === 1;
    raster.bar(x0, x1, isOne ? palette.fill[hue]! : palette.merged[hue]!, palette.edge[hue]!, 0);
    if (!isOne && x1 - x0 >= 4 * dpr && edge > 0)
      raster.stroke(x0, x1, MARK.ZIGZAG, palette.zigzag[hue]!);
  }
}

/** Colours of a call: pale, if it is not in the set. */
function paletteFor(
  { set, style }: Scene,
  members: Int32Array | null,
  calls: Glyphs,
  i: number,
): Palette {
  if (!set || set.describes(calls.fn[i]!, calls.longest[i]!)) return style.plain;
  return members && set.holds(members, calls.from[i]!) ? style.plain : style.dim;
}

function paintCalls(scene: Scene, calls: Glyphs, members: Int32Array | null, edge: number): void {
  const { raster, families, isWait, dpr } = scene;
  for (let i = 0; i < calls.n; i++) {
    const fn = calls.fn[i]!;
    const hue = families.hue[fn] ?? 10;
    const palette = paletteFor(scene, members, calls, i);
    const [x0, x1] = [calls.x0[i]!, calls.x1[i]!];
    raster.bar(x0, x1, palette.fill[hue]!, palette.edge[hue]!, edge);
    if (isWait[fn] === 1 && x1 - x0 >= 8 * dpr && edge > 0)
      raster.stroke(x0 + edge, x1 - edge, MARK.HATCH, palette.hatch[hue]!);
  }
}

/** Calls of the set are seen however narrow they are. */
function paintMembers(scene: Scene, set: SetIndex, list: Int32Array, edge: number): void {
  const { raster, style, families, window, dpr } = scene;
  const { start, end, fn } = set.calls;
  const least = Math.round(2 * dpr);
  let done = -Infinity;
  for (let k = set.firstBehind(list, window.t0); k < list.length; k++) {
    const i = list[k]!;
    if (start[i]! >= window.t1) break;
    const x0 = Math.round((start[i]! - window.t0) * window.scale);
    const x1 = Math.max(x0 + least, Math.round((end[i]! - window.t0) * window.scale));
    if (x1 <= done) continue;
    const hue = families.hue[fn[i]!] ?? 10;
    raster.bar(Math.max(x0, done), x1, style.plain.fill[hue]!, style.plain.edge[hue]!, edge);
    done = x1;
  }
}

function paintCounts(scene: Scene, blocks: Glyphs, calls: Glyphs, y: number): void {
  const { raster, style, masks, families, set, dpr } = scene;
  const palette = set ? style.dim : style.plain;
  let next = 0;
  for (let i = 0; i < blocks.n; i++) {
    const x0 = Math.max(0, blocks.x0[i]!);
    const x1 = Math.min(raster.width, blocks.x1[i]!);
    if (blocks.count[i]! < 2 || x1 - x0 < LEAST_COUNT * dpr) continue;
    while (next < calls.n && calls.x1[next]! <= x0) next++;
    if (next < calls.n && calls.x0[next]! < x1) continue;
    const mask = masks.count(blocks.count[i]!);
    if (!mask || mask.width + 6 * dpr > x1 - x0) continue;
    const hue = families.hue[blocks.fn[i]!] ?? 10;
    const x = Math.round((x0 + x1 - mask.width) / 2);
    const pad = Math.round(2 * dpr);
    const fill = palette.merged[hue]!;
    raster.rect(x - pad, y + Math.round(dpr), x + mask.width + pad, y + Math.round(11 * dpr), fill);
    raster.text(mask, x, y, style.text, x1);
  }
}

function paintNames(
  scene: Scene,
  calls: Glyphs,
  members: Int32Array | null,
  y0: number,
  y1: number,
): void {
  const { raster, dpr } = scene;
  const least = LEAST_LABEL * dpr;
  const inset = Math.round(INSET * dpr);
  for (let i = 0; i < calls.n; i++) {
    const x0 = Math.max(0, calls.x0[i]!);
    const x1 = Math.min(raster.width, calls.x1[i]!);
    if (x1 - x0 < least) continue;
    const name = scene.masks.name(calls.fn[i]!, x1 - x0 - 2 * inset);
    if (!name) continue;
    const palette = paletteFor(scene, members, calls, i);
    const hue = scene.families.hue[calls.fn[i]!] ?? 10;
    const [fill, ink] = [palette.fill[hue]!, palette.ink[hue]!];
    const call = { fn: calls.fn[i]!, ns: calls.longest[i]!, fill, ink };
    paintName(scene, call, name, { x: x0 + inset, limit: x1 - inset, y0, y1 });
  }
}

interface Labelled {
  fn: number;
  ns: number;
  fill: number;
  ink: number;
}

interface Place {
  x: number;
  limit: number;
  y0: number;
  y1: number;
}

/** The name, with its duration if both fit; on a plain plate if the bar is hatched. */
function paintName(scene: Scene, call: Labelled, name: Mask, place: Place): void {
  const { raster, masks, isWait, dpr } = scene;
  const { x, limit, y0, y1 } = place;
  const gap = Math.round(6 * dpr);
  const room = limit - x - name.width - gap;
  const isWhole = masks.name(call.fn, Infinity) === name;
  const time = isWhole && room > 24 * dpr ? masks.time(call.ns) : null;
  const hasTime = time !== null && time.width <= room;
  if (isWait[call.fn] === 1) {
    const width = name.width + (hasTime ? gap + time.width : 0);
    const [pad, rim] = [Math.round(2 * dpr), Math.round(dpr)];
    raster.rect(x - pad, y0 + rim, x + width + pad, y1 - rim, call.fill);
  }
  raster.text(name, x, y0, call.ink, limit);
  if (hasTime) raster.text(time, x + name.width + gap, y0, call.ink, limit);
}

/* ---- What to draw of one depth of a thread: calls that are wide enough one by one, the others merged
 * into blocks that keep their number and their longest. Places are device px; the lists are columns
 * that are filled again for every depth, so that a frame makes no garbage. ---- */

/** A window of time on device px. */
export interface Window {
  t0: number;
  t1: number;
  /** Device px per ns. */
  scale: number;
  /** Calls narrower than this many px are merged. */
  least: number;
  /** Blocks begin anew at multiples of it, so that they do not swim when the window moves. */
  cellNs: number;
}

const ROOM = 512;

/** Marks of one kind, in order of x. */
export class Glyphs {
  n = 0;
  x0 = new Int32Array(ROOM);
  x1 = new Int32Array(ROOM);
  from = new Float64Array(ROOM);
  to = new Float64Array(ROOM);
  /** Calls in it. */
  count = new Float64Array(ROOM);
  covered = new Float64Array(ROOM);
  longest = new Float64Array(ROOM);
  /** Function of the call or of the longest. */
  fn = new Uint32Array(ROOM);

  add(x0: number, x1: number, from: number, to: number, fn: number): number {
    if (this.n === this.x0.length) this.grow();
    const at = this.n++;
    this.x0[at] = x0;
    this.x1[at] = x1;
    this.from[at] = from;
    this.to[at] = to;
    this.fn[at] = fn;
    return at;
  }

  private grow(): void {
    const n = this.x0.length * 2;
    const wider = <T extends Int32Array | Uint32Array | Float64Array>(old: T, next: T): T => {
      next.set(old);
      return next;
    };
    this.x0 = wider(this.x0, new Int32Array(n));
    this.x1 = wider(this.x1, new Int32Array(n));
    this.from = wider(this.from, new Float64Array(n));
    this.to = wider(this.to, new Float64Array(n));
    this.count = wider(this.count, new Float64Array(n));
    this.covered = wider(this.covered, new Float64Array(n));
    this.longest = wider(this.longest, new Float64Array(n));
    this.fn = wider(this.fn, new Uint32Array(n));
  }
}

/** First item of [low, high) that may reach behind `from`. */
function firstAt(
  start: Float64Array,
  end: Float64Array,
  from: number,
  a: number,
  b: number,
): number {
  let [low, high] = [a, b];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[middle]! < from) low = middle + 1;
    else high = middle;
  }
  let first = low;
  for (let i = low - 1; i >= a && i >= low - 8; i--) if (end[i]! > from) first = i;
  return first;
}

/** The glyphs of one depth: `blocks` (merged, or one narrow call) and `calls` (drawn over them). */
export class LevelGlyphs {
  readonly blocks = new Glyphs();
  readonly calls = new Glyphs();
  private cell = -1;
  /** What is before it was drawn from the segments before. */
  private callsTo = 0;
  private blocksTo = 0;

  fill(segments: readonly Segment[], nSegments: number, depth: number, window: Window): void {
    this.blocks.n = this.calls.n = 0;
    this.cell = -1;
    this.callsTo = this.blocksTo = -Infinity;
    for (let s = 0; s < nSegments; s++) this.addSegment(segments[s]!, depth, window);
  }

  private addSegment({ tile, from, to }: Segment, depth: number, window: Window): void {
    if (depth + 1 >= tile.depthFrom.length) return;
    const { start, end, isCluster } = tile;
    const last = tile.depthFrom[depth + 1]!;
    const seam = this.blocksTo;
    let i = firstAt(start, end, from, tile.depthFrom[depth]!, last);
    for (; i < last && start[i]! < to; i++) {
      const [a, b] = [start[i]!, end[i]!];
      if (b < from) continue;
      if (isCluster[i] === 1) {
        if (b > seam || a >= seam) this.merge(tile, i, Math.max(a, from), Math.min(b, to), window);
      } else if (a >= this.callsTo) {
        this.callsTo = b;
        this.addCall(tile, i, window);
      }
    }
    this.blocksTo = to;
  }

  private addCall(tile: Tile, i: number, window: Window): void {
    const [from, to] = [tile.start[i]!, tile.end[i]!];
    const x0 = Math.round((from - window.t0) * window.scale);
    const x1 = Math.round((to - window.t0) * window.scale);
    if (x1 - x0 < window.least) return this.merge(tile, i, from, to, window);
    const { calls } = this;
    const at = calls.add(x0, x1, from, to, tile.fn[i]!);
    calls.count[at] = 1;
    calls.covered[at] = calls.longest[at] = to - from;
  }

  /** Adds short calls to the block at hand, or begins another. The longest gives the colour. */
  private merge(tile: Tile, i: number, from: number, to: number, window: Window): void {
    const { blocks } = this;
    const x0 = Math.round((from - window.t0) * window.scale);
    const x1 = Math.max(x0 + 1, Math.round((to - window.t0) * window.scale));
    const cell = Math.floor(from / window.cellNs);
    let at = blocks.n - 1;
    if (at < 0 || cell !== this.cell || x0 > blocks.x1[at]! + 1) {
      this.cell = cell;
      const left = at >= 0 ? Math.max(x0, blocks.x1[at]!) : x0;
      at = blocks.add(left, Math.max(x1, left + 1), from, to, tile.longestFn[i]!);
      blocks.count[at] = blocks.covered[at] = 0;
      blocks.longest[at] = tile.longest[i]!;
    }
    blocks.x1[at] = Math.max(blocks.x1[at]!, x1);
    blocks.to[at] = Math.max(blocks.to[at]!, to);
    blocks.count[at]! += tile.count[i]!;
    blocks.covered[at]! += tile.covered[i]!;
    if (tile.longest[i]! <= blocks.longest[at]!) return;
    blocks.longest[at] = tile.longest[i]!;
    blocks.fn[at] = tile.longestFn[i]!;
  }
}

/** The last of `glyphs` with `x` in it, a pixel aside if need be; -1 if there is none. */
export function glyphAt(glyphs: Glyphs, x: number, slack: number): number {
  let best = -1;
  let off = slack + 1;
  for (let i = 0; i < glyphs.n; i++) {
    const [a, b] = [glyphs.x0[i]!, glyphs.x1[i]!];
    if (a - slack > x) break;
    const away = x < a ? a - x : x >= b ? x - b + 1 : 0;
    if (away < off || (away === 0 && off === 0)) [best, off] = [i, away];
  }
  return off <= slack ? best : -1;
}
