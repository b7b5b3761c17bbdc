// SPDX-License-Identifier: MIT
// What moves with the pointer: range, the hovered item's time in all threads, outlines. It has a
// canvas of its own, so that hovering never paints the rows again.
import { isSameItem } from '../../screens/overview/draw_paint';
import type { Hit } from '../../screens/overview/draw_paint';
import type { Span } from '../lib/model';
import type { View } from '../lib/timemap';
import type { Item } from '../state/app';
import type { Theme } from './theme';

export interface Overlay {
  ctx: CanvasRenderingContext2D;
  theme: Theme;
  view: View;
  dpr: number;
  height: number;
  range: Span | null;
  isPreview: boolean;
  hoverSpan: Span | null;
  itemSpan: Span | null;
  hover: Item | null;
  item: Item | null;
  found: readonly Hit[];
}

export function paintOverlay(overlay: Overlay): void {
  const { ctx } = overlay;
  ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  paintBands(overlay, overlay.range, overlay.isPreview, overlay.itemSpan);
  if (overlay.hoverSpan) band(overlay, overlay.hoverSpan, true, 0.08);
  outline(overlay, overlay.hover, 1);
  outline(overlay, overlay.item, 2);
}

type Ground = Pick<Overlay, 'ctx' | 'theme' | 'view' | 'dpr'>;

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

function band(
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

function outline({ ctx, theme, dpr, found }: Overlay, item: Item | null, width: number): void {
  const hit = item && found.find(candidate => isSameItem(candidate, item));
  if (!hit) return;
  const out = width * dpr;
  const [x0, y0] = [Math.round(hit.x0 * dpr) - out / 2, Math.round(hit.y0 * dpr) - out / 2];
  const [w, h] = [Math.round((hit.x1 - hit.x0) * dpr), Math.round((hit.y1 - hit.y0) * dpr)];
  ctx.strokeStyle = theme.ink;
  ctx.lineWidth = out;
  ctx.strokeRect(x0, y0, w + out, h + out);
}
