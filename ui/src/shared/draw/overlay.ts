// SPDX-License-Identifier: MIT
// What moves with the pointer: range, the hovered item's time in all threads, outlines. It has a
// canvas of its own, so that hovering never paints the rows again.
import type { Span } from '../lib/model';
import type { View } from '../lib/timemap';
import type { Theme } from './theme';

export interface Ground {
  ctx: CanvasRenderingContext2D;
  theme: Theme;
  view: View;
  dpr: number;
}

/** The range, or else the time of the selected item. */
export function paintBands(
  ground: Ground,
  range: Span | null,
  isPreview: boolean,
  itemSpan: Span | null,
): void {
  const alpha = ground.theme.isDark ? 0.2 : 0.13;
  if (range) band(ground, range, isPreview, alpha);
  else if (itemSpan) band(ground, itemSpan, false, alpha);
}

export function band(
  { ctx, theme, view, dpr }: Ground,
  span: Span,
  isDashed: boolean,
  alpha: number,
): void {
  const x0 = Math.round(Math.max(-2, view.x(span.t0)) * dpr);
  const x1 = Math.round(Math.min(view.width + 2, view.x(span.t1)) * dpr);
  const line = Math.max(1, Math.round(dpr));
  if (x1 < 0 || x0 > ctx.canvas.width) return;
  ctx.fillStyle = theme.accent;
  ctx.globalAlpha = alpha;
  ctx.fillRect(x0, 0, Math.max(line, x1 - x0), ctx.canvas.height);
  ctx.globalAlpha = 1;
  for (const x of [x0, x1]) {
    if (!isDashed) ctx.fillRect(x, 0, line, ctx.canvas.height);
    else for (let y = 0; y < ctx.canvas.height; y += 6 * line) ctx.fillRect(x, y, line, 3 * line);
  }
}

export function paintTriangles(
  { ctx, dpr, theme }: Pick<Ground, 'ctx' | 'dpr' | 'theme'>,
  marks: readonly { x: number; y: number }[],
): void {
  if (marks.length === 0) return;
  ctx.beginPath();
  for (const { x, y } of marks) {
    ctx.moveTo((x - 3.5) * dpr, y * dpr);
    ctx.lineTo((x + 3.5) * dpr, y * dpr);
    ctx.lineTo(x * dpr, (y + 6.2) * dpr);
    ctx.closePath();
  }
  ctx.lineJoin = 'round';
  ctx.lineWidth = 3 * dpr;
  ctx.strokeStyle = theme.bg;
  ctx.stroke();
  ctx.fillStyle = theme.bad;
  ctx.fill();
}
