// SPDX-License-Identifier: MIT
// Paints a histogram of durations: bars, the axis below them, lines of statistics, the brush.
import { duration } from '../lib/format';
import { heightOf, heightTicks, timeTicks } from '../lib/histogram';
import type { Bar, CountScale, LogAxis } from '../lib/histogram';
import { short, rough } from '../lib/numbers';
import type { Pane } from './canvas';

const AXIS_HEIGHT = 18;
const LINES_HEIGHT = 26; // for the names of the lines, in two rows
export const SIDE = 44; // for the numbers at the left

/** A statistic as a line across. */
export interface StatLine {
  name: string;
  ns: number;
}

interface HistogramScene {
  axis: LogAxis;
  bars: readonly Bar[];
  /** Of one thread, over those of all; may be empty. */
  over: readonly Bar[];
  isTime: boolean;
  scale: CountScale;
  lines: readonly StatLine[];
  brush: { min: number; max: number } | null;
  isPreview: boolean;
  /** The duration of the selected call. */
  own: number | null;
  hue: number;
}

class HistogramPainter {
  private readonly bottom: number;
  private readonly top = LINES_HEIGHT;
  private readonly most: number;

  constructor(
    private readonly pane: Pane,
    private readonly scene: HistogramScene,
  ) {
    this.bottom = pane.height - AXIS_HEIGHT;
    this.most = scene.bars.reduce((most, bar) => Math.max(most, this.valueOf(bar)), 0);
  }

  paint(): void {
    this.paintHeights();
    this.paintBrush();
    this.paintBars(this.scene.bars, false);
    this.paintBars(this.scene.over, true);
    this.paintAxis();
    this.paintLines();
    this.paintOwn();
  }

  private valueOf(bar: Bar): number {
    return this.scene.isTime ? bar.sum : bar.count;
  }

  private fill(color: string, x: number, y: number, w: number, h: number): void {
    const { ctx, dpr } = this.pane;
    const [x0, y0] = [Math.round(x * dpr), Math.round(y * dpr)];
    ctx.fillStyle = color;
    const right = Math.max(x0 + 1, Math.round((x + w) * dpr));
    ctx.fillRect(x0, y0, right - x0, Math.max(1, Math.round((y + h) * dpr) - y0));
  }

  private words(words: string, x: number, y: number, align: CanvasTextAlign, weight = 400): void {
    const { ctx, theme, dpr } = this.pane;
    ctx.font = `${weight} ${10 * dpr}px ${theme.font}`;
    ctx.textAlign = align;
    ctx.textBaseline = 'middle';
    ctx.fillText(words, Math.round(x * dpr), Math.round(y * dpr));
  }

  private paintHeights(): void {
    const { theme, ctx, width } = this.pane;
    const { scale, isTime } = this.scene;
    const room = this.bottom - this.top;
    for (const value of heightTicks(this.most, scale, 22 / Math.max(22, room))) {
      const y = this.bottom - heightOf(value, this.most, scale) * room;
      this.fill(theme.grid, SIDE, y, width - SIDE, 1);
      ctx.fillStyle = theme.ink3;
      this.words(isTime ? duration(value) : short(rough(value)), SIDE - 5, y, 'right');
    }
  }

  private paintBars(bars: readonly Bar[], isOver: boolean): void {
    const { theme, width } = this.pane;
    const { axis, scale, hue, brush } = this.scene;
    const room = this.bottom - this.top;
    for (const bar of bars) {
      const x0 = Math.max(SIDE, SIDE + axis.x(bar.from));
      const x1 = Math.min(width, SIDE + axis.x(bar.to));
      const height = Math.max(2, heightOf(this.valueOf(bar), this.most, scale) * room);
      const isIn = !brush || (bar.from >= brush.min && bar.to - 1 <= brush.max);
      const own = isOver ? theme.ink2 : theme.hues[hue]!;
      const gap = x1 - x0 > 3 ? 1 : 0;
      const inset = isOver ? (x1 - x0) / 3 : 0;
      this.pane.ctx.globalAlpha = isIn ? 1 : 0.4;
      this.fill(own, x0 + inset, this.bottom - height, x1 - x0 - gap - 2 * inset, height);
    }
    this.pane.ctx.globalAlpha = 1;
  }

  private paintAxis(): void {
    const { theme, ctx, width } = this.pane;
    this.fill(theme.line2, SIDE, this.bottom, width - SIDE, 1);
    for (const { ns, label, isFull } of timeTicks(this.scene.axis, 56)) {
      const x = SIDE + this.scene.axis.x(ns);
      this.fill(theme.ink3, x, this.bottom, 1, isFull ? 5 : 3);
      ctx.fillStyle = theme.ink2;
      const align = x < SIDE + 14 ? 'left' : x > width - 20 ? 'right' : 'center';
      this.words(label, x, this.bottom + 11, align, isFull ? 600 : 400);
    }
  }

  /** Names in two rows: where both are taken, the line stands without one. */
  private paintLines(): void {
    const { theme, ctx, text, dpr, width } = this.pane;
    const free = [SIDE, SIDE];
    const sorted = [...this.scene.lines].filter(({ ns }) => ns >= 0).sort((a, b) => a.ns - b.ns);
    const font = `400 ${10 * dpr}px ${theme.font}`;
    for (const { name, ns } of sorted) {
      const x = SIDE + this.scene.axis.x(ns);
      const length = text.width(font, name) / dpr + 6;
      const left = Math.min(x - 2, width - length);
      const row = free.findIndex(end => left >= end);
      if (row >= 0) free[row] = left + length;
      const top = row < 0 ? this.top : 3 + row * 12;
      for (let y = top + 8; y < this.bottom; y += 4) this.fill(theme.ink3, x, y, 1, 2);
      ctx.fillStyle = theme.ink2;
      if (row >= 0) this.words(name, left + 2, top + 3, 'left');
    }
  }

  private paintBrush(): void {
    const { theme, ctx, width } = this.pane;
    const { brush, axis, isPreview } = this.scene;
    if (!brush) return;
    const x0 = Math.max(SIDE, SIDE + axis.x(brush.min));
    const x1 = Number.isFinite(brush.max) ? Math.min(width, SIDE + axis.x(brush.max)) : width;
    ctx.globalAlpha = theme.isDark ? 0.2 : 0.13;
    this.fill(theme.accent, x0, this.top, x1 - x0, this.bottom - this.top);
    ctx.globalAlpha = 1;
    for (const x of [x0, Math.max(x0, x1 - 1)])
      for (let y = this.top; y < this.bottom; y += isPreview ? 6 : this.bottom)
        this.fill(theme.accent, x, y, 1, isPreview ? 3 : this.bottom - y);
  }

  private paintOwn(): void {
    const { theme, ctx, dpr } = this.pane;
    const { own, axis } = this.scene;
    if (own === null) return;
    const x = SIDE + axis.x(own);
    this.fill(theme.ink, x - 0.5, this.top + 12, 1.5, this.bottom - this.top - 12);
    ctx.fillStyle = theme.ink;
    ctx.beginPath();
    ctx.moveTo((x - 4) * dpr, (this.top + 8) * dpr);
    ctx.lineTo((x + 4) * dpr, (this.top + 8) * dpr);
    ctx.lineTo(x * dpr, (this.top + 15) * dpr);
    ctx.fill();
    this.words('this', x, this.top + 2, 'center', 600);
  }
}

export function paintHistogram(pane: Pane, scene: HistogramScene): void {
  new HistogramPainter(pane, scene).paint();
}
