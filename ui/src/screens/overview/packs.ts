// SPDX-License-Identifier: MIT
// Paints threads that do alike as strips of a few pixels. They are many bars in little room, so they
// are laid into pixels and put on the canvas as one picture.
import { ticksOf } from '../../shared/draw/base';
import type { Theme } from '../../shared/draw/canvas';
import { mix } from '../../shared/lib/color';
import { duration } from '../../shared/lib/format';
import type { Flat } from '../../shared/lib/layout';
import { glyphs } from '../../shared/lib/lod';
import type { Glyph } from '../../shared/lib/lod';
import { KIND } from '../../shared/lib/model';
import type { Thread } from '../../shared/lib/model';
import { packColor, Raster } from '../../shared/lib/raster';
import { stripHeight } from '../../shared/state/rows';
import type { ChartRow } from '../../shared/state/rows';
import { brightRows } from './draw';
import type { Label, Scene } from './draw';

/** The pixels of a canvas, and the fills of strips: all hues, then the same dimmed. */
export interface Strips {
  raster: Raster;
  image: ImageData;
  fills: Uint32Array;
  bg: number;
  grid: number;
}

export function makeStrips({ hues, bg, grid }: Theme, width: number, height: number): Strips {
  const raster = new Raster(width, height);
  return {
    raster,
    image: new ImageData(raster.bytes, width, height),
    fills: Uint32Array.from([...hues, ...hues.map(hue => mix(hue, bg, 0.25))], packColor),
    bg: packColor(bg),
    grid: packColor(grid),
  };
}

/** A pack where it is on the canvas, in CSS px. */
interface PlacedPack {
  row: ChartRow;
  top: number;
}

/** The ground of the whole canvas down to `used` px, and all packs on it. */
export function paintPacks(scene: Scene, packs: readonly PlacedPack[], used: number): void {
  const { ctx, view, dpr } = scene;
  const strips = scene.strips();
  const { raster, bg } = strips;
  const lines = ticksOf(view).ticks.map(({ x }) => Math.round(x * dpr));
  raster.ground(bg, strips.grid, lines, Math.max(1, Math.round(dpr)));
  raster.rect(0, Math.round(used * dpr), raster.width, raster.height, bg);
  for (const { row, top } of packs)
    eachStrip(row, top, (thread, y0, y1) => paintStrip(scene, strips, thread, y0, y1));
  ctx.putImageData(strips.image, 0, 0);
  scene.later.push(() => {
    for (const { row, top } of packs)
      eachStrip(row, top, (thread, y0, y1) => rememberStrip(scene, thread, y0, y1));
  });
}

function eachStrip(
  { pack }: ChartRow,
  top: number,
  put: (thread: Thread, y0: number, y1: number) => void,
): void {
  const step = stripHeight(pack!.threads.length);
  pack!.threads.forEach((thread, i) => {
    const y = top + i * step;
    put(thread, y, step > 1 ? y + step - 1 : y + step);
  });
}

/** The first part of a line that ends at or behind `t`. */
function firstEndingAt(flat: readonly Flat[], t: number): number {
  let [low, high] = [0, flat.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (flat[middle]!.end < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

function stripGlyphs({ view }: Scene, flat: readonly Flat[]): Glyph[] {
  const shown: number[] = [];
  for (let i = firstEndingAt(flat, view.t0); i < flat.length && flat[i]!.start <= view.t1; i++)
    shown.push(i);
  const x0 = (i: number): number => Math.max(-4, view.x(flat[i]!.start));
  const x1 = (i: number): number => Math.min(view.width + 4, view.x(flat[i]!.end));
  return glyphs(shown, x0, x1);
}

function paintStrip(scene: Scene, strips: Strips, thread: Thread, y0: number, y1: number): void {
  const { model, dpr } = scene;
  const { raster, fills } = strips;
  const bright = brightRows(scene, thread);
  const flat = model.flatOf(thread);
  const [c, d] = [Math.round(y0 * dpr), Math.round(y1 * dpr)];
  for (const glyph of stripGlyphs(scene, flat)) {
    const { fn, row } = flat[glyph.item]!;
    const isBright = !bright || bright[row] === 1 || holdsBright(thread, bright, row);
    const a = Math.round(glyph.x0 * dpr);
    const b = Math.max(a + 1, Math.round(glyph.x1 * dpr));
    const hue = fn < 0 ? 10 : model.families.hue[fn]!;
    const fill = fills[hue + (isBright ? 0 : fills.length / 2)]!;
    raster.rect(a, c, b, Math.max(c + 1, d), fill);
  }
}

function rememberStrip(scene: Scene, thread: Thread, y0: number, y1: number): void {
  const flat = scene.model.flatOf(thread);
  for (const { item, x0, x1, n } of stripGlyphs(scene, flat))
    scene.found.push({ thread: thread.index, row: flat[item]!.row, x0, x1, y0, y1, n });
}

function holdsBright({ rows }: Thread, bright: Uint8Array, row: number): boolean {
  if (rows.kind[row] !== KIND.EXPRESSION) return false;
  for (let i = row; i < rows.next[row]!; i++) if (bright[i] === 1) return true;
  return false;
}

/** A word on a pack of thin lines that nearly all show one wait. */
export function labelPack(scene: Scene, { row, top }: PlacedPack, labels: Label[]): void {
  const { model, theme, view, ctx, dpr } = scene;
  const { threads } = row.pack!;
  if (threads.length <= 16) return;
  const height = stripHeight(threads.length) * threads.length;
  const longest: Flat[] = [];
  for (const thread of threads) {
    const own = model.longestOf(thread);
    if (!own || own.fn < 0 || own.fn !== (longest[0] ?? own).fn) return;
    longest.push(own);
  }
  const first = longest[0]!;
  const lengths = longest.map(part => part.end - part.start);
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
  if (least < 0.25 * (view.t1 - view.t0)) return;
  const hue = model.families.hue[first.fn]!;
  const x0 = Math.max(0, ...longest.map(part => view.x(part.start)));
  const x1 = Math.min(view.width, ...longest.map(part => view.x(part.end)));
  if (model.trace.functions.isWait[first.fn] === 1 && x1 > x0) {
    const ink = theme.inks[hue] === '#ffffff' ? 'rgba(255,255,255,.42)' : 'rgba(0,0,0,.4)';
    const pattern = scene.patterns.get('wait', ink, view.x(0) * dpr, -scene.scrollTop * dpr);
    if (pattern) {
      ctx.fillStyle = pattern;
      const y = Math.round(top * dpr);
      ctx.fillRect(Math.round(x0 * dpr), y, Math.round((x1 - x0) * dpr), Math.round(height * dpr));
    }
  }
  const text = `${model.name(first.fn)}\u2002${duration(least)} to ${duration(most)}`;
  const font = `${11 * dpr}px ${theme.font}`;
  const width = scene.text.width(font, text) / dpr;
  if (width > x1 - x0 - 8) return;
  const y = top + (height - 16) / 2;
  const fill = theme.hues[hue]!;
  labels.push({
    text,
    x: x0 + 6,
    y,
    font,
    ink: theme.inks[hue]!,
    plate: fill,
    isDim: false,
    width,
    height: 16,
  });
}
