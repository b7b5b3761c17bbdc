// SPDX-License-Identifier: MIT
// Idle stretches that are folded: a band with a zig-zag across all rows, and how long it is in the
// axis.
import { AXIS } from '../../shared/draw/axis';
import type { Theme } from '../../shared/draw/theme';
import { duration } from '../../shared/lib/format';
import type { Span } from '../../shared/lib/model';
import type { View } from '../../shared/lib/timemap';

interface Ground {
  ctx: CanvasRenderingContext2D;
  theme: Theme;
  view: View;
  dpr: number;
}

const TOOTH = 4; // px, half a period down
const SWING = 2.5; // px to either side

/** Device px of a fold, or null if it is out of view. */
function edges({ ctx, view, dpr }: Ground, { t0, t1 }: Span): [number, number] | null {
  if (t1 <= view.t0 || t0 >= view.t1) return null;
  const a = Math.round(Math.max(-20, view.x(t0)) * dpr);
  const b = Math.round(Math.min(view.width + 20, view.x(t1)) * dpr);
  return a < ctx.canvas.width && b > 0 ? [a, b] : null;
}

export function paintFolds(ground: Ground, folds: readonly Span[], height: number): void {
  const { ctx, theme, dpr } = ground;
  const line = Math.max(1, Math.round(dpr));
  const bottom = Math.round(height * dpr);
  for (const fold of folds) {
    const at = edges(ground, fold);
    if (!at) continue;
    const [a, b] = at;
    ctx.fillStyle = theme.panel;
    ctx.fillRect(a, 0, b - a, bottom);
    ctx.fillStyle = theme.line2;
    for (const x of [a, b - line]) ctx.fillRect(x, 0, line, bottom);
    zigzag(ground, (a + b) / 2, bottom);
  }
}

function zigzag({ ctx, theme, dpr }: Ground, x: number, bottom: number): void {
  ctx.beginPath();
  for (let y = 0, side = 1; y <= bottom + TOOTH * dpr; y += TOOTH * dpr, side = -side)
    ctx.lineTo(x + side * SWING * dpr, y);
  ctx.strokeStyle = theme.ink3;
  ctx.lineWidth = dpr;
  ctx.lineJoin = 'miter';
  ctx.stroke();
}

/** Over the ticks: a label where two do not touch. */
export function paintFoldLabels(ground: Ground, folds: readonly Span[]): void {
  const { ctx, theme, dpr } = ground;
  ctx.font = `400 ${10 * dpr}px ${theme.font}`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  let last = -Infinity;
  for (const fold of folds) {
    const at = edges(ground, fold);
    if (!at) continue;
    const words = `${duration(fold.t1 - fold.t0)} idle`;
    const width = ctx.measureText(words).width + 8 * dpr;
    const middle = Math.min(ctx.canvas.width - width / 2, Math.max(width / 2, (at[0] + at[1]) / 2));
    if (middle - width / 2 > last) {
      ctx.fillStyle = theme.panel;
      ctx.fillRect(middle - width / 2, 0, width, (AXIS - 8) * dpr);
      ctx.fillStyle = theme.ink3;
      ctx.fillText(words, middle, Math.round(10 * dpr));
      last = middle + width / 2;
    }
    ctx.fillStyle = theme.line2;
    ctx.fillRect(at[0], (AXIS - 8) * dpr, at[1] - at[0], 8 * dpr);
  }
}
