// SPDX-License-Identifier: MIT
// The time axis: ticks, labels, and the bar of the range.
import type { Span } from '../lib/model';
import { axisTicks } from '../lib/scale';
import type { Axis } from '../lib/scale';
import type { View } from '../lib/timemap';
import type { Theme } from './theme';

export const AXIS = 26;

export function ticksOf(view: View): Axis {
  return axisTicks(view.t0, view.t1, view.width, t => view.x(t), view.map.isLinear);
}

export function paintAxis(
  ctx: CanvasRenderingContext2D,
  theme: Theme,
  view: View,
  dpr: number,
  span: Span | null,
  hasPrefix = true,
): void {
  const { ticks, prefix } = ticksOf(view);
  const line = Math.max(1, Math.round(dpr));
  ctx.fillStyle = theme.panel;
  ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  ctx.textBaseline = 'middle';
  for (const { x, label, isFull } of ticks) {
    const at = Math.round(x * dpr);
    ctx.fillStyle = theme.ink3;
    ctx.fillRect(at, Math.round((AXIS - (isFull ? 8 : 4)) * dpr), line, AXIS * dpr);
    ctx.font = `${isFull ? 600 : 400} ${10 * dpr}px ${theme.font}`;
    ctx.fillStyle = theme.ink2;
    ctx.textAlign = x < 16 ? 'left' : x > view.width - 16 ? 'right' : 'center';
    ctx.fillText(label, at, Math.round(10 * dpr));
  }
  if (prefix && hasPrefix) {
    ctx.textAlign = 'left';
    ctx.fillStyle = theme.ink3;
    const width = ctx.measureText(prefix).width;
    if (!ticks[0] || ticks[0].x * dpr > width + 30 * dpr)
      ctx.fillText(prefix, 0, Math.round(10 * dpr));
  }
  if (!span) return;
  const x0 = Math.round(view.x(span.t0) * dpr);
  const x1 = Math.round(view.x(span.t1) * dpr);
  ctx.fillStyle = theme.accent;
  ctx.fillRect(x0, (AXIS - 7) * dpr, Math.max(line, x1 - x0 + line), 7 * dpr);
}

/** Vertical lines behind nothing: drawn first, under the rows' marks. */
export function paintGrid(
  ctx: CanvasRenderingContext2D,
  theme: Theme,
  view: View,
  dpr: number,
  height: number,
): void {
  ctx.fillStyle = theme.grid;
  for (const { x } of ticksOf(view).ticks)
    ctx.fillRect(Math.round(x * dpr), 0, Math.max(1, Math.round(dpr)), Math.round(height * dpr));
}
