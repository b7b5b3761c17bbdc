// SPDX-License-Identifier: MIT
// A canvas of its own size that paints when something changed, once a frame; and several of them as
// the one picture of a screen.
import type { Picture } from '../state/screens';
import { TextMeter } from './text';
import { Patterns, readTheme } from './theme';
import type { Theme } from './theme';

/** What a painter paints with; sizes are CSS px, the context counts device px. */
export interface Pane {
  ctx: CanvasRenderingContext2D;
  theme: Theme;
  patterns: Patterns;
  text: TextMeter;
  dpr: number;
  width: number;
  height: number;
}

export class PanePainter implements Picture {
  private frame = 0;
  private waiting: (() => void)[] = [];
  private theme: Theme | null = null;
  private patterns: Patterns | null = null;
  private text: TextMeter | null = null;
  private dpr = 1;
  width = 0;
  height = 0;
  /** How long the last painting took, in ms. */
  lastPaint = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly draw: (pane: Pane) => void,
  ) {}

  resize(width: number, height: number): void {
    const dpr = window.devicePixelRatio || 1;
    if (width === this.width && height === this.height && dpr === this.dpr) return;
    Object.assign(this, { width, height, dpr, patterns: null, text: null });
    this.canvas.width = Math.round(width * dpr);
    this.canvas.height = Math.round(height * dpr);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.markBase();
  }

  retheme(): void {
    this.theme = this.patterns = null;
    this.markBase();
  }

  markBase(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  idle(): Promise<void> {
    if (this.frame === 0) return Promise.resolve();
    return new Promise(resolve => this.waiting.push(resolve));
  }

  end(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    for (const done of this.waiting.splice(0)) done();
  }

  private paint(): void {
    this.frame = 0;
    const ctx = this.canvas.getContext('2d', { alpha: false })!;
    this.theme ??= readTheme(document.documentElement);
    this.patterns ??= new Patterns(ctx, this.dpr);
    this.text ??= new TextMeter(ctx);
    const { theme, patterns, text, dpr, width, height } = this;
    const started = performance.now();
    ctx.fillStyle = theme.bg;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    if (width > 0 && height > 0) this.draw({ ctx, theme, patterns, text, dpr, width, height });
    this.lastPaint = performance.now() - started;
    for (const done of this.waiting.splice(0)) done();
  }
}

/** All the panes of a screen. */
export class Panes implements Picture {
  private readonly all = new Set<PanePainter>();

  add(painter: PanePainter): () => void {
    this.all.add(painter);
    return () => {
      this.all.delete(painter);
      painter.end();
    };
  }

  async idle(): Promise<void> {
    await Promise.all([...this.all].map(painter => painter.idle()));
  }

  markBase(): void {
    for (const painter of this.all) painter.markBase();
  }

  retheme(): void {
    for (const painter of this.all) painter.retheme();
  }
}
