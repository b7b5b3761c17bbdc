// SPDX-License-Identifier: MIT
// The three canvases of a screen with a time axis: axis, rows, overlay. Paints once a frame, and
// only what is dirty; what is painted is the business of the screen's own stage.
import { View } from '../lib/timemap';
import type { App } from '../state/app';
import { timeMap } from '../state/screens';
import { AXIS } from './axis';
import { TextMeter } from './text';
import { Patterns, readTheme } from './theme';
import type { Theme } from './theme';

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
