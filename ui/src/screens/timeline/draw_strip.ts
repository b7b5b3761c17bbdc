// SPDX-License-Identifier: MIT
// Paints the strip of a thread's states over its calls.
import type { Theme } from '../../shared/draw/theme';
import { inkOn, mix } from '../../shared/lib/color';
import { duration } from '../../shared/lib/format';
import { MARK, packColor } from '../../shared/lib/raster';
import { LETTERS, LOOK, SHORT } from '../../shared/lib/states';
import type { Strip } from '../../shared/lib/states';
import type { Scene } from './draw_paint';

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
  ...{ [LOOK.NONE]: MARK.NONE, [LOOK.RUN]: MARK.NONE, [LOOK.IDLE]: MARK.NONE },
  ...{ [LOOK.READY]: MARK.BACK_HATCH, [LOOK.LOST]: MARK.BACK_HATCH },
  ...{ [LOOK.RAN]: MARK.DOTS, [LOOK.STILL]: MARK.DOTS },
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
