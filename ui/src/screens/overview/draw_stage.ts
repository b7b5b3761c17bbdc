// SPDX-License-Identifier: MIT
// The stage of the Overview: threads as rows of calls, expressions and gaps.
import { paintAxis } from '../../shared/draw/axis';
import { BaseStage } from '../../shared/draw/base';
import type { Canvases } from '../../shared/draw/base';

import type { View } from '../../shared/lib/timemap';
import { itemSpan } from '../../shared/state/actions';
import type { App, Model } from '../../shared/state/app';
import { findHits } from '../../shared/state/hits';
import { memoRows } from '../../shared/state/rows';
import type { ChartRow } from '../../shared/state/rows';
import type { CallSet } from '../../shared/state/served';
import { makeStrips } from './draw_packs';
import type { Strips } from './draw_packs';
import { hitAt, paintRows } from './draw_paint';
import type { Hit } from './draw_paint';
import { paintOverlay } from './draw_paint';

const SET_MARK = 3; // px: height of the mark of a call of the set

export class Stage extends BaseStage<ChartRow> {
  private found: Hit[] = [];
  private later: (() => void)[] = [];
  private painted: Model | null = null;
  private strips: Strips | null = null;
  /** An overlay with nothing on it is left alone. */
  private isOverEmpty = false;
  readonly rows: () => { rows: ChartRow[]; height: number };

  constructor(app: App, canvases: Canvases) {
    super(app, canvases);
    this.rows = memoRows(app);
  }

  override resize(width: number, height: number): void {
    super.resize(width, height);
    this.strips = null;
    this.isOverEmpty = false;
  }

  override retheme(): void {
    super.retheme();
    this.strips = null;
  }

  hit(x: number, y: number): Hit | null {
    return hitAt(this.hits(), x, y);
  }

  /** What is painted; nothing while it is still the picture of other rows. */
  hits(): readonly Hit[] {
    if (this.painted !== this.app.model) return [];
    for (const add of this.later.splice(0)) add();
    return this.found;
  }

  protected paintBase(ctx: CanvasRenderingContext2D, view: View): void {
    const { model, state } = this.app;
    this.found = [];
    this.later = [];
    this.painted = model;
    const now = state.get();
    const scene = {
      ...{ ctx, theme: this.theme!, patterns: this.patterns!, text: this.text, model, state: now },
      ...{ view, hits: findHits(model, now.query), dpr: this.dpr, height: this.height },
      ...{ scrollTop: this.scrollTop, found: this.found, later: this.later },
      strips: () => (this.strips ??= makeStrips(this.theme!, ctx.canvas.width, ctx.canvas.height)),
    };
    paintRows(scene, this.rows().rows);
  }

  protected paintOver(view: View): void {
    const { app, dpr, canvases, height } = this;
    const now = app.state.get();
    const theme = this.theme!;
    const span = now.range ?? itemSpan(app, now.item);
    paintAxis(canvases.axis.getContext('2d', { alpha: false })!, theme, view, dpr, span);
    const set = app.served?.state.get().set;
    const isEmpty = !now.range && !now.item && !now.hover && !set;
    if (isEmpty && this.isOverEmpty) return;
    this.isOverEmpty = isEmpty;
    const ctx = canvases.overlay.getContext('2d')!;
    const found = now.hover || now.item ? this.hits() : [];
    paintOverlay({
      ...{ ctx, theme, view, dpr, height, found },
      ...{ range: now.range, isPreview: now.isPreview, hover: now.hover, item: now.item },
      itemSpan: itemSpan(app, now.item),
      hoverSpan: itemSpan(app, now.hover),
    });
    if (set) this.paintSet(ctx, set, view);
  }

  /** Every call of the set, folded or not, as a mark below its thread: never narrower than 2 px. */
  private paintSet(ctx: CanvasRenderingContext2D, set: CallSet, view: View): void {
    const { dpr, scrollTop, height } = this;
    const bottoms = new Map<number, number>();
    for (const row of this.rows().rows) {
      const y = row.y + row.height - scrollTop;
      if (y < 0 || y - row.height > height) continue;
      for (const thread of row.pack?.threads ?? [row.thread!]) bottoms.set(thread.index, y);
    }
    ctx.fillStyle = this.theme!.accent;
    for (let i = 0; i < set.n; i++) {
      const y = bottoms.get(set.thread[i]!);
      if (y === undefined || set.end[i]! < view.t0 || set.start[i]! > view.t1) continue;
      const x0 = Math.round(Math.max(0, view.x(set.start[i]!)) * dpr);
      const x1 = Math.round(Math.min(view.width, view.x(set.end[i]!)) * dpr);
      const tall = Math.max(2, Math.round(SET_MARK * dpr));
      ctx.fillRect(x0, Math.round(y * dpr) - tall, Math.max(2, x1 - x0), tall);
    }
  }
}
