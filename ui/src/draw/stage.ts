// SPDX-License-Identifier: MIT
// The stage of the Overview: threads as rows of calls, expressions and gaps.
import type { View } from '../lib/timemap';
import type { App } from '../state/app';
import { itemSpan } from '../state/actions';
import { findHits } from '../state/hits';
import { memoRows } from '../state/rows';
import type { ChartRow } from '../state/rows';
import { paintAxis } from './axis';
import { BaseStage } from './base';
import type { Canvases } from './base';
import { paintOverlay } from './overlay';
import { hitAt, paintRows } from './paint';
import type { Hit } from './paint';

export class Stage extends BaseStage<ChartRow> {
  private found: Hit[] = [];
  readonly rows: () => { rows: ChartRow[]; height: number };

  constructor(app: App, canvases: Canvases) {
    super(app, canvases);
    this.rows = memoRows(app);
  }

  hit(x: number, y: number): Hit | null {
    return hitAt(this.found, x, y);
  }

  hits(): readonly Hit[] {
    return this.found;
  }

  protected paintBase(ctx: CanvasRenderingContext2D, view: View): void {
    const { model, state } = this.app;
    this.found = [];
    const now = state.get();
    const scene = {
      ...{ ctx, theme: this.theme!, patterns: this.patterns!, text: this.text, model, state: now },
      ...{ view, hits: findHits(model, now.query), dpr: this.dpr, height: this.height },
      ...{ scrollTop: this.scrollTop, found: this.found },
    };
    paintRows(scene, this.rows().rows);
  }

  protected paintOver(view: View): void {
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
