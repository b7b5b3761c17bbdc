// SPDX-License-Identifier: MIT
// The time axis: ticks, labels, and the bar of the range.
import type { Span } from '../lib/model';
import { axisTicks, View } from '../lib/timemap';
import type { Axis } from '../lib/timemap';
import type { App } from '../state/app';
import { timeMap } from '../state/screens';
import { TextMeter, Patterns, readTheme } from './canvas';
import type { Theme } from './canvas';

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

/* ---- What moves with the pointer: range, the hovered item's time in all threads, outlines. It has a
 * canvas of its own, so that hovering never paints the rows again. ---- */

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

/* ---- The three canvases of a screen with a time axis: axis, rows, overlay. Paints once a frame, and
 * only what is dirty; what is painted is the business of the screen's own stage. ---- */

export interface Canvases {
  axis: HTMLCanvasElement;
  base: HTMLCanvasElement;
  overlay: HTMLCanvasElement;
}

/** A row of the chart: its place in CSS px from the top of the content. */
export interface FrameRow {
  key: string;
  y: number;
  height: number;
}

export abstract class BaseStage<Row extends FrameRow = FrameRow> {
  private frame = 0;
  private isBaseDirty = true;
  private waiting: (() => void)[] = [];
  protected theme: Theme | null = null;
  protected patterns: Patterns | null = null;
  protected text: TextMeter;
  protected dpr = 1;
  width = 100;
  height = 100;
  scrollTop = 0;
  /** How long the last painting of the rows took, in ms. */
  lastPaint = 0;

  constructor(
    protected readonly app: App,
    protected readonly canvases: Canvases,
  ) {
    this.text = new TextMeter(canvases.base.getContext('2d')!);
  }

  abstract rows(): { rows: Row[]; height: number };
  protected abstract paintBase(ctx: CanvasRenderingContext2D, view: View): void;
  protected abstract paintOver(view: View): void;

  resize(width: number, height: number): void {
    this.dpr = window.devicePixelRatio || 1;
    this.width = Math.max(50, width);
    this.height = Math.max(1, height);
    const { axis, base, overlay } = this.canvases;
    for (const [canvas, tall] of [
      [axis, AXIS],
      [base, this.height],
      [overlay, this.height],
    ] as const) {
      canvas.width = Math.round(this.width * this.dpr);
      canvas.height = Math.round(tall * this.dpr);
      canvas.style.width = `${this.width}px`;
      canvas.style.height = `${tall}px`;
    }
    this.patterns = null;
    this.text = new TextMeter(base.getContext('2d')!);
    this.markBase();
  }

  retheme(): void {
    this.theme = null;
    this.patterns = null;
    this.markBase();
  }

  scroll(top: number): void {
    this.scrollTop = top;
    this.markBase();
  }

  markBase(): void {
    this.isBaseDirty = true;
    this.markOverlay();
  }

  markOverlay(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  /** Resolves when nothing is left to paint. */
  idle(): Promise<void> {
    if (this.frame === 0) return Promise.resolve();
    return new Promise(resolve => this.waiting.push(resolve));
  }

  view(): View {
    const { window } = this.app.state.get();
    return new View(timeMap(this.app), window.t0, window.t1, this.width);
  }

  paint(): void {
    this.frame = 0;
    this.theme ??= readTheme(document.documentElement);
    const ctx = this.canvases.base.getContext('2d', { alpha: false })!;
    this.patterns ??= new Patterns(ctx, this.dpr);
    const view = this.view();
    if (this.isBaseDirty) {
      this.isBaseDirty = false; // painting may find that it has to go on
      const started = performance.now();
      this.paintBase(ctx, view);
      this.lastPaint = performance.now() - started;
    }
    this.paintOver(view);
    for (const done of this.waiting.splice(0)) done();
  }
}
