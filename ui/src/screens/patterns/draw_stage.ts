// SPDX-License-Identifier: MIT
// The stage of the Patterns screen.
import { paintAxis } from '../../shared/draw/axis';
import { BaseStage } from '../../shared/draw/base';
import type { Canvases } from '../../shared/draw/base';
import { paintBands } from '../../shared/draw/overlay';
import type { View } from '../../shared/lib/timemap';
import { focusSpan } from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { folded } from './state_idle';
import { paintFoldLabels, paintFolds } from './draw_folds';
import { paintDropBars, paintMembers, paintRibbons, runAt } from './draw_ribbons';
import type { Bar, Lane, RibbonScene } from './draw_ribbons';
import { findClusters, memoPatternRows, stateOf } from './state_patterns';
import type { PatternRow, RunAt } from './state_patterns';

export class PatternStage extends BaseStage<PatternRow> {
  private lanes: Lane[] = [];
  readonly rows: () => { rows: PatternRow[]; height: number };

  constructor(app: App, canvases: Canvases) {
    super(app, canvases);
    this.rows = memoPatternRows(app);
  }

  /** What is painted at a place of the canvas, in CSS px. */
  run(x: number, y: number): { at: RunAt; bar: Bar; lane: Lane } | null {
    return runAt(this.lanes, x, y);
  }

  painted(): readonly Lane[] {
    return this.lanes;
  }

  private scene(ctx: CanvasRenderingContext2D, view: View): RibbonScene {
    const { model, state } = this.app;
    const { hasMarks, isRare } = stateOf(this.app);
    const { dpr, height, scrollTop, lanes, text } = this;
    return {
      ctx,
      theme: this.theme!,
      patterns: this.patterns!,
      text,
      model,
      view,
      bright: findClusters(model, state.get().query)?.clusters ?? null,
      hasMarks,
      isRare,
      dpr,
      height,
      scrollTop,
      lanes,
    };
  }

  protected paintBase(ctx: CanvasRenderingContext2D, view: View): void {
    this.lanes = [];
    const { rows } = this.rows();
    paintRibbons(this.scene(ctx, view), rows);
    const last = rows[rows.length - 1];
    const used = last ? last.y + last.height - this.scrollTop : 0;
    const { dpr, height } = this;
    paintFolds({ ctx, theme: this.theme!, view, dpr }, folded(this.app), Math.min(height, used));
  }

  protected paintOver(view: View): void {
    const { app, dpr, canvases } = this;
    const { range, isPreview } = app.state.get();
    const now = stateOf(app);
    const ctx = canvases.overlay.getContext('2d')!;
    const theme = this.theme!;
    ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    const cluster = now.over >= 0 ? now.over : now.cluster;
    if (cluster >= 0 && app.model.behaviours) paintMembers(this.scene(ctx, view), cluster);
    const span = range ?? focusSpan(app);
    paintBands({ ctx, theme, view, dpr }, range, isPreview, focusSpan(app));
    this.outline(ctx, now.overRun, 1);
    this.outline(ctx, now.chosen?.run ?? null, 2);
    const axis = canvases.axis.getContext('2d', { alpha: false })!;
    paintAxis(axis, theme, view, dpr, span);
    paintFoldLabels({ ctx: axis, theme, view, dpr }, folded(app));
    if (now.hasMarks && app.model.behaviours)
      paintDropBars(axis, theme, view, dpr, app.model.behaviours.shapes.drops);
  }

  private outline(ctx: CanvasRenderingContext2D, at: RunAt | null, width: number): void {
    if (!at) return;
    for (const lane of this.lanes) {
      if (lane.thread !== at.thread || (lane.ribbon >= 0 && lane.ribbon !== at.ribbon)) continue;
      const bar = lane.bars.find(
        one => one.ribbon === at.ribbon && (one.run === at.run || one.runs.includes(at.run)),
      );
      if (!bar) continue;
      const out = width * this.dpr;
      const [x0, x1] = [Math.round(bar.x0 * this.dpr), Math.round(bar.x1 * this.dpr)];
      const [y0, y1] = [Math.round(lane.y0 * this.dpr), Math.round(lane.y1 * this.dpr)];
      ctx.strokeStyle = this.theme!.ink;
      ctx.lineWidth = out;
      ctx.strokeRect(x0 - out / 2, y0 - out / 2, x1 - x0 + out, y1 - y0 + out);
    }
  }
}
