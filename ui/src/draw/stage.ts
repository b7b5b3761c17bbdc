// SPDX-License-Identifier: MIT
// The chart's three canvases: axis, rows, overlay. Paints once a frame, and only what is dirty.
import { View } from '../lib/timemap';
import type { App } from '../state/app';
import { itemSpan } from '../state/actions';
import { findHits } from '../state/hits';
import { memoRows } from '../state/rows';
import type { ChartRow } from '../state/rows';
import { AXIS, paintAxis } from './axis';
import { paintOverlay } from './overlay';
import { hitAt, paintRows } from './paint';
import type { Hit } from './paint';
import { Patterns, readTheme } from './theme';
import type { Theme } from './theme';
import { TextMeter } from './text';

export interface Canvases {
  axis: HTMLCanvasElement;
  base: HTMLCanvasElement;
  overlay: HTMLCanvasElement;
}

export class Stage {
  private found: Hit[] = [];
  private frame = 0;
  private isBaseDirty = true;
  private theme: Theme | null = null;
  private patterns: Patterns | null = null;
  private text: TextMeter;
  private dpr = 1;
  private waiting: (() => void)[] = [];
  width = 100;
  height = 100;
  scrollTop = 0;
  /** How long the last painting of the rows took, in ms. */
  lastPaint = 0;
  readonly rows: () => { rows: ChartRow[]; height: number };

  constructor(
    private readonly app: App,
    private readonly canvases: Canvases,
  ) {
    this.rows = memoRows(app);
    this.text = new TextMeter(canvases.base.getContext('2d')!);
  }

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
    const { window, isRegime } = this.app.state.get();
    return new View(this.app.model.map(isRegime), window.t0, window.t1, this.width);
  }

  hit(x: number, y: number): Hit | null {
    return hitAt(this.found, x, y);
  }

  hits(): readonly Hit[] {
    return this.found;
  }

  paint(): void {
    this.frame = 0;
    this.theme ??= readTheme(document.documentElement);
    const ctx = this.canvases.base.getContext('2d', { alpha: false })!;
    this.patterns ??= new Patterns(ctx, this.dpr);
    const view = this.view();
    if (this.isBaseDirty) this.paintBase(ctx, view);
    this.isBaseDirty = false;
    this.paintOver(view);
    for (const done of this.waiting.splice(0)) done();
  }

  private paintBase(ctx: CanvasRenderingContext2D, view: View): void {
    const { model, state } = this.app;
    const started = performance.now();
    this.found = [];
    const now = state.get();
    const scene = {
      ...{ ctx, theme: this.theme!, patterns: this.patterns!, text: this.text, model, state: now },
      ...{ view, hits: findHits(model, now.query), dpr: this.dpr, height: this.height },
      ...{ scrollTop: this.scrollTop, found: this.found },
    };
    paintRows(scene, this.rows().rows);
    this.lastPaint = performance.now() - started;
  }

  private paintOver(view: View): void {
    const { app, dpr, canvases, found, height } = this;
    const now = app.state.get();
    const theme = this.theme!;
    const span = now.range ?? itemSpan(app, now.item);
    paintOverlay({
      ...{ ctx: canvases.overlay.getContext('2d')!, theme, view, dpr, height, found },
      ...{ range: now.range, isPreview: now.isPreview, hover: now.hover, item: now.item },
      itemSpan: itemSpan(app, now.item),
      hoverSpan: itemSpan(app, now.hover),
    });
    paintAxis(canvases.axis.getContext('2d', { alpha: false })!, theme, view, dpr, span);
  }
}
