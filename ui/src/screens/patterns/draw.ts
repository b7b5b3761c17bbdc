// SPDX-License-Identifier: MIT
// The stage of the Patterns screen.
import {
  paintAxis,
  BaseStage,
  paintBands,
  paintGrid,
  paintTriangles,
  AXIS,
} from '../../shared/draw/base';
import type { Canvases, Ground } from '../../shared/draw/base';
import type { TextMeter, Patterns, Theme } from '../../shared/draw/canvas';
import { GREY_HUE } from '../../shared/lib/color';
import { duration, integer } from '../../shared/lib/format';
import { glyphs, sampleRare } from '../../shared/lib/lod';
import type { Glyph } from '../../shared/lib/lod';
import type { Span } from '../../shared/lib/model';
import { lowerBound } from '../../shared/lib/shapes';
import type { Drop, Piece, Ribbon, Spans } from '../../shared/lib/shapes';
import type { View } from '../../shared/lib/timemap';
import { focusSpan } from '../../shared/state/actions';
import type { App, Model } from '../../shared/state/app';
import { stripHeight } from '../../shared/state/rows';
import {
  folded,
  findClusters,
  memoPatternRows,
  stateOf,
  ribbonSpans,
  RIBBON,
  TALL_RIBBON,
} from './state';
import type { PatternRow, RunAt } from './state';

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

/* ---- Paints ribbons. What a pixel shows is the cluster that covers most of it; that there is more is
 * said by dots below. The height of a bar is the share of its time that the cluster fills. ---- */

/** What was painted of a ribbon (or of a strip of a group), in CSS px, by x. */
interface Lane {
  thread: number;
  ribbon: number; // -1: a strip, of whatever ribbon is outermost
  y0: number;
  y1: number;
  bars: Bar[];
}

interface Bar {
  x0: number;
  x1: number;
  y0: number; // of its fill
  ribbon: number;
  run: number;
  /** Runs in it, the last one included: members are sought among them. */
  runs: number[];
  cluster: number;
  hue: number;
}

interface RibbonScene {
  ctx: CanvasRenderingContext2D;
  theme: Theme;
  patterns: Patterns;
  text: TextMeter;
  model: Model;
  view: View;
  /** By cluster: 1 is bright; null: all are. */
  bright: Uint8Array | null;
  hasMarks: boolean;
  /** Where runs share a pixel, rare behaviours are favoured, and rare calls have marks. */
  isRare: boolean;
  dpr: number;
  height: number;
  scrollTop: number;
  lanes: Lane[];
}

const TOP = 3;
const LARGEST = 12; // drops that have a band; all have a bar in the axis band

function paintRibbons(scene: RibbonScene, rows: readonly PatternRow[]): void {
  const { ctx, dpr, theme } = scene;
  ctx.fillStyle = theme.bg;
  ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  const last = rows[rows.length - 1];
  const used = last ? last.y + last.height - scene.scrollTop : 0;
  paintGrid(ctx, theme, scene.view, dpr, Math.min(scene.height, used));
  for (const row of rows) {
    const top = row.y - scene.scrollTop;
    if (top + row.height < 0 || top > scene.height) continue;
    ctx.fillStyle = theme.line;
    ctx.fillRect(0, Math.round((top + row.height) * dpr) - 1, ctx.canvas.width, 1);
    const from = scene.lanes.length;
    if (row.group) strips(scene, row, top + 4);
    else if (row.own) block(scene, row, top + TOP);
    const lanes = scene.lanes.slice(from);
    if (scene.hasMarks) paintDrops(scene, lanes);
    paintLanes(scene, lanes, row.isTall);
    if (scene.isRare) paintRare(scene, lanes);
    if (scene.hasMarks) paintSpikes(scene, lanes);
  }
}

/* ---- which bars ---- */

function block(scene: RibbonScene, row: PatternRow, top: number): void {
  const step = row.isTall ? TALL_RIBBON : RIBBON;
  row.own!.ribbons.forEach((ribbon, r) => {
    const y0 = top + r * step;
    const y1 = y0 + step - 1;
    if (y1 < 0 || y0 > scene.height) return;
    const spans = ribbonSpans(scene.model, ribbon);
    const bars = ribbonBars(scene, ribbon, spans, r, y0, y1);
    scene.lanes.push({ thread: row.thread!.index, ribbon: r, y0, y1, bars });
  });
}

/** The height of a bar's fill: at least 2 px, or it could not be seen. */
function fillHeight(full: number, share: number): number {
  return Math.min(full, Math.max(2, Math.ceil(full * share)));
}

function ribbonBars(
  scene: RibbonScene,
  ribbon: Ribbon,
  { t0, t1, covered }: Spans,
  r: number,
  y0: number,
  y1: number,
): Bar[] {
  const { view, model } = scene;
  const list: number[] = [];
  for (let i = lowerBound(t1, view.t0); i < ribbon.n && t0[i]! <= view.t1; i++) list.push(i);
  const x0 = (i: number): number => Math.max(-20, view.x(t0[i]!));
  const x1 = (i: number): number => Math.min(view.width + 20, view.x(t1[i]!));
  return glyphs(list, x0, x1, i => covered[i]!).map(glyph => {
    const runs = list.slice(glyph.at - glyph.n + 1, glyph.at + 1);
    const run =
      scene.isRare && runs.length > 1
        ? sampleRare(
            runs,
            i => ribbon.cluster[i]!,
            i => covered[i]!,
            runs[0]! * 64 + r,
          )
        : glyph.item;
    const cluster = ribbon.cluster[run]!;
    const share = glyph.n > 1 ? 1 : covered[run]! / Math.max(1, t1[run]! - t0[run]!);
    return {
      x0: glyph.x0,
      x1: glyph.x1,
      y0: y1 - fillHeight(y1 - y0, share),
      ribbon: r,
      run,
      runs,
      cluster,
      hue: model.behaviours!.list[cluster]!.hue,
    };
  });
}

function strips(scene: RibbonScene, row: PatternRow, top: number): void {
  const { threads } = row.group!;
  const step = stripHeight(threads.length);
  threads.forEach((thread, i) => {
    const line = scene.model.behaviours!.lines[thread.index];
    const y0 = top + i * step;
    const y1 = step > 1 ? y0 + step - 1 : y0 + step;
    if (!line || y1 < 0 || y0 > scene.height) return;
    const bars = stripBars(scene, thread.index, line, y0);
    scene.lanes.push({ thread: thread.index, ribbon: -1, y0, y1, bars });
  });
}

function stripBars(scene: RibbonScene, thread: number, line: Piece[], y0: number): Bar[] {
  const { view, model } = scene;
  const { ribbons } = model.behaviours!.shapes.threads[thread]!;
  const list: number[] = [];
  line.forEach((piece, i) => {
    if (piece.t1 >= view.t0 && piece.t0 <= view.t1) list.push(i);
  });
  const x0 = (i: number): number => Math.max(-20, view.x(line[i]!.t0));
  const x1 = (i: number): number => Math.min(view.width + 20, view.x(line[i]!.t1));
  const weight = (i: number): number =>
    ribbonSpans(model, ribbons[line[i]!.ribbon]!).covered[line[i]!.run]!;
  const clusterOf = (i: number): number => ribbons[line[i]!.ribbon]!.cluster[line[i]!.run]!;
  return glyphs(list, x0, x1, weight).map((glyph: Glyph) => {
    const pieces = list.slice(glyph.at - glyph.n + 1, glyph.at + 1);
    const piece =
      scene.isRare && pieces.length > 1
        ? sampleRare(pieces, clusterOf, weight, pieces[0]! * 64 + 63)
        : glyph.item;
    const { ribbon, run } = line[piece]!;
    const cluster = ribbons[ribbon]!.cluster[run]!;
    return {
      x0: glyph.x0,
      x1: glyph.x1,
      y0,
      ribbon,
      run,
      runs: [run],
      cluster,
      hue: model.behaviours!.list[cluster]!.hue,
    };
  });
}

/* ---- paint ---- */

function isMore(scene: RibbonScene, lane: Lane, bar: Bar): boolean {
  if (lane.ribbon < 0) return false;
  if (bar.runs.length > 1) return true;
  const own = scene.model.behaviours!.shapes.threads[lane.thread]!.ribbons[lane.ribbon]!;
  return own.others[bar.run]! > 0;
}

/** Fills of all lanes, colour by colour: bright ones and as many dimmed. */
function paintLanes(scene: RibbonScene, lanes: readonly Lane[], isTall: boolean): void {
  const { ctx, dpr, theme, bright } = scene;
  const hues = theme.hues.length;
  const batches: number[][] = Array.from({ length: 2 * hues }, () => []);
  const edges: number[] = [];
  const more: number[] = [];
  for (const lane of lanes)
    for (const bar of lane.bars) {
      const [a, b] = [Math.round(bar.x0 * dpr), Math.round(bar.x1 * dpr)];
      const [c, d] = [Math.round(bar.y0 * dpr), Math.round(lane.y1 * dpr)];
      const isBright = !bright || bar.runs.some(run => isMember(scene, lane, bar, run, bright));
      const batch = batches[bar.hue + (isBright ? 0 : hues)]!;
      batch.push(a, c, Math.max(1, b - a), Math.max(1, d - c));
      if (b - a >= 4 * dpr && d - c >= 2 * dpr) edges.push(a, c, b - a, d - c);
      if (isMore(scene, lane, bar))
        more.push(a, d, Math.max(1, b - a), Math.max(1, Math.round(dpr)));
    }
  batches.forEach((list, i) => {
    ctx.globalAlpha = i < hues ? 1 : 0.25;
    ctx.fillStyle = theme.hues[i % hues]!;
    for (let k = 0; k < list.length; k += 4)
      ctx.fillRect(list[k]!, list[k + 1]!, list[k + 2]!, list[k + 3]!);
  });
  ctx.globalAlpha = 1;
  paintEdges(scene, edges);
  const dots = scene.patterns.get('more', theme.line2, 0, 0);
  if (dots) {
    ctx.fillStyle = dots;
    for (let k = 0; k < more.length; k += 4)
      ctx.fillRect(more[k]!, more[k + 1]!, more[k + 2]!, more[k + 3]!);
  }
  if (isTall) for (const lane of lanes) labelLane(scene, lane);
}

/** Inner edges left and right: neighbours of one hue stay apart. */
function paintEdges({ ctx, theme, dpr }: RibbonScene, edges: readonly number[]): void {
  const line = Math.max(1, Math.round(dpr));
  ctx.fillStyle = theme.edge;
  for (let k = 0; k < edges.length; k += 4) {
    ctx.fillRect(edges[k]!, edges[k + 1]!, line, edges[k + 3]!);
    ctx.fillRect(edges[k]! + edges[k + 2]! - line, edges[k + 1]!, line, edges[k + 3]!);
  }
}

function isMember(
  scene: RibbonScene,
  lane: Lane,
  bar: Bar,
  run: number,
  wanted: Uint8Array,
): boolean {
  const { ribbons } = scene.model.behaviours!.shapes.threads[lane.thread]!;
  return wanted[ribbons[bar.ribbon]!.cluster[run]!] === 1;
}

function labelLane(scene: RibbonScene, lane: Lane): void {
  const { ctx, dpr, theme, view, text, model } = scene;
  const ribbon = model.behaviours!.shapes.threads[lane.thread]!.ribbons[lane.ribbon]!;
  const spans = ribbonSpans(model, ribbon);
  const font = `${10 * dpr}px ${theme.font}`;
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'left';
  for (const bar of lane.bars) {
    const x0 = Math.max(0, bar.x0) + 4;
    const room = Math.min(view.width, bar.x1) - 4 - x0;
    if (room < 26 || bar.runs.length > 1) continue;
    const { title } = model.behaviours!.list[bar.cluster]!;
    const n = ribbon.count[bar.run]!;
    const time = spans.isExact[bar.run]
      ? duration(ribbon.end[bar.run]! - ribbon.start[bar.run]!)
      : `\u00d7${integer(n)}`;
    const others = ribbon.others[bar.run]! > 0 ? `\u2002+${ribbon.others[bar.run]}` : '';
    const tries = [`${title}\u2002${time}${others}`, `${title}\u2002${time}`, title];
    const fits = (t: string): boolean => text.width(font, t) / dpr <= room;
    const label = tries.find(fits) ?? text.fit(font, title, room * dpr);
    if (!label) continue;
    const isFull = bar.y0 <= lane.y0 + 2;
    ctx.font = font;
    ctx.fillStyle = isFull ? theme.inks[bar.hue]! : theme.ink2;
    const y = isFull ? (lane.y0 + lane.y1) / 2 : (lane.y0 + Math.max(bar.y0, lane.y0 + 10)) / 2;
    if (!isFull) plate(scene, label, font, x0, lane);
    ctx.fillText(label, Math.round(x0 * dpr), Math.round((y + 0.5) * dpr));
  }
}

/** A label must not stand on two fills. */
function plate(scene: RibbonScene, label: string, font: string, x0: number, lane: Lane): void {
  const { ctx, dpr, theme, text } = scene;
  const ink = ctx.fillStyle;
  ctx.fillStyle = theme.bg;
  const width = text.width(font, label) + 4 * dpr;
  const [c, d] = [Math.round(lane.y0 * dpr), Math.round((lane.y1 - 2) * dpr)];
  ctx.fillRect(Math.round((x0 - 2) * dpr), c, Math.round(width), d - c);
  ctx.fillStyle = ink;
}

/* ---- spikes and drops ---- */

function laneOf(scene: RibbonScene, lanes: readonly Lane[], cluster: number): Lane | null {
  const strip = lanes.find(lane => lane.ribbon < 0);
  if (strip) return strip;
  for (const lane of lanes) {
    const own = scene.model.behaviours!.shapes.threads[lane.thread]!.ribbons[lane.ribbon]!;
    if (own.cluster.includes(cluster)) return lane;
  }
  return null;
}

function paintSpikes(scene: RibbonScene, lanes: readonly Lane[]): void {
  const { view, model, bright } = scene;
  const marks: { x: number; y: number }[] = [];
  for (const spike of model.behaviours!.shapes.spikes) {
    if (bright && bright[spike.cluster] !== 1) continue;
    const own = lanes.filter(lane => lane.thread === spike.thread);
    if (own.length === 0 || spike.end < view.t0 || spike.start > view.t1) continue;
    const lane = laneOf(scene, own, spike.cluster);
    const width = view.x(spike.end) - view.x(spike.start);
    const x = Math.max(0, view.x(spike.start)) + Math.min(9, Math.max(0, width / 2));
    if (lane && !marks.some(mark => mark.y === lane.y0 - 3 && Math.abs(mark.x - x) < 7))
      marks.push({ x, y: lane.y0 - 3 });
  }
  paintTriangles(scene, marks);
}

/** Diamonds where a rare shape has its slowest call: they are there however narrow it is. */
function paintRare(scene: RibbonScene, lanes: readonly Lane[]): void {
  const { ctx, dpr, theme, view, model, bright } = scene;
  const marks: { x: number; y: number }[] = [];
  for (const rare of model.behaviours!.shapes.rare) {
    if (bright && (rare.cluster < 0 || bright[rare.cluster] !== 1)) continue;
    if (rare.end < view.t0 || rare.start > view.t1) continue;
    const own = lanes.filter(lane => lane.thread === rare.thread);
    const lane = own.length > 0 && (laneOf(scene, own, rare.cluster) ?? own[0]!);
    const x = Math.min(view.width, Math.max(0, view.x((rare.start + rare.end) / 2)));
    if (lane && !marks.some(mark => mark.y === lane.y1 && Math.abs(mark.x - x) < 6))
      marks.push({ x, y: lane.y1 });
  }
  ctx.beginPath();
  for (const { x, y } of marks) {
    ctx.moveTo((x - 3.5) * dpr, (y - 1) * dpr);
    ctx.lineTo(x * dpr, (y - 4.5) * dpr);
    ctx.lineTo((x + 3.5) * dpr, (y - 1) * dpr);
    ctx.lineTo(x * dpr, (y + 2.5) * dpr);
    ctx.closePath();
  }
  ctx.lineJoin = 'miter';
  ctx.fillStyle = theme.bg;
  ctx.fill();
  ctx.lineWidth = dpr;
  ctx.strokeStyle = theme.ink;
  ctx.stroke();
}

/** A band in the ribbon in which a behaviour became rare. */
function paintDrops(scene: RibbonScene, lanes: readonly Lane[]): void {
  const { ctx, dpr, theme, view, model, bright } = scene;
  const byThread = new Map<number, Lane[]>();
  for (const lane of lanes)
    if (lane.ribbon >= 0) byThread.set(lane.thread, [...(byThread.get(lane.thread) ?? []), lane]);
  for (const drop of model.behaviours!.shapes.drops.slice(0, LARGEST)) {
    if (bright && bright[drop.cluster] !== 1) continue;
    if (drop.to < view.t0 || drop.from > view.t1) continue;
    for (const own of byThread.values()) {
      const { first, last } = model.trace.threads[own[0]!.thread]!;
      const lane = laneOf(scene, own, drop.cluster);
      if (!lane || drop.to < first || drop.from > last) continue;
      const a = Math.round(Math.max(-2, view.x(drop.from)) * dpr);
      const b = Math.round(Math.min(view.width + 2, view.x(drop.to)) * dpr);
      const [c, d] = [Math.round(lane.y0 * dpr), Math.round(lane.y1 * dpr)];
      ctx.fillStyle = theme.warn;
      ctx.globalAlpha = theme.isDark ? 0.3 : 0.2;
      ctx.fillRect(a, c, Math.max(1, b - a), d - c);
      ctx.globalAlpha = 1;
      for (const x of [a, b - 1]) ctx.fillRect(x, c, Math.max(1, Math.round(dpr)), d - c);
    }
  }
}

/** Bars in the axis band: where any behaviour became rare. */
function paintDropBars(
  ctx: CanvasRenderingContext2D,
  theme: Theme,
  view: View,
  dpr: number,
  drops: readonly Drop[],
): void {
  ctx.fillStyle = theme.warn;
  for (const { from, to } of drops) {
    const [a, b] = [Math.round(view.x(from) * dpr), Math.round(view.x(to) * dpr)];
    if (b < 0 || a > ctx.canvas.width) continue;
    ctx.fillRect(a, 0, Math.max(2, b - a), Math.round(2 * dpr));
  }
}

/* ---- overlay ---- */

/** Veils everything but one cluster's bars. */
function paintMembers(scene: RibbonScene, cluster: number): void {
  const { ctx, dpr, theme, lanes } = scene;
  const wanted = new Uint8Array(scene.model.behaviours!.list.length);
  wanted[cluster] = 1;
  ctx.globalAlpha = 0.75;
  ctx.fillStyle = theme.bg;
  ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  ctx.globalAlpha = 1;
  const { hue } = scene.model.behaviours!.list[cluster]!;
  ctx.fillStyle = hue === GREY_HUE ? theme.ink3 : theme.hues[hue]!;
  for (const lane of lanes)
    for (const bar of lane.bars) {
      if (!bar.runs.some(run => isMember(scene, lane, bar, run, wanted))) continue;
      const [a, b] = [Math.round(bar.x0 * dpr), Math.round(bar.x1 * dpr)];
      const y0 = bar.cluster === cluster ? bar.y0 : lane.y1 - 2;
      const [c, d] = [Math.round(y0 * dpr), Math.round(lane.y1 * dpr)];
      ctx.fillRect(a, c, Math.max(1, b - a), Math.max(1, d - c));
    }
}

/** What lies under a point: the run, and where it is painted. */
function runAt(
  lanes: readonly Lane[],
  x: number,
  y: number,
): { at: RunAt; bar: Bar; lane: Lane } | null {
  const lane = lanes.find(one => y >= one.y0 - 0.5 && y < one.y1 + 0.5);
  if (!lane) return null;
  let [low, high] = [0, lane.bars.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.bars[middle]!.x1 < x) low = middle + 1;
    else high = middle;
  }
  const bar = lane.bars[low];
  if (!bar || bar.x0 > x) return null;
  return { at: { thread: lane.thread, ribbon: bar.ribbon, run: bar.run }, bar, lane };
}

/* ---- Idle stretches that are folded: a band with a zig-zag across all rows, and how long it is in the
 * axis. ---- */

const TOOTH = 4; // px, half a period down
const SWING = 2.5; // px to either side

/** Device px of a fold, or null if it is out of view. */
function edges({ ctx, view, dpr }: Ground, { t0, t1 }: Span): [number, number] | null {
  if (t1 <= view.t0 || t0 >= view.t1) return null;
  const a = Math.round(Math.max(-20, view.x(t0)) * dpr);
  const b = Math.round(Math.min(view.width + 20, view.x(t1)) * dpr);
  return a < ctx.canvas.width && b > 0 ? [a, b] : null;
}

function paintFolds(ground: Ground, folds: readonly Span[], height: number): void {
  const { ctx, theme, dpr } = ground;
  const line = Math.max(1, Math.round(dpr));
  const bottom = Math.round(height * dpr);
  for (const fold of folds) {
    const at = edges(ground, fold);
    if (!at) continue;
    const [a, b] = at;
    ctx.fillStyle = theme.panel;
    ctx.fillRect(a, 0, b - a, bottom);
    ctx.fillStyle = theme.line2;
    for (const x of [a, b - line]) ctx.fillRect(x, 0, line, bottom);
    zigzag(ground, (a + b) / 2, bottom);
  }
}

function zigzag({ ctx, theme, dpr }: Ground, x: number, bottom: number): void {
  ctx.beginPath();
  for (let y = 0, side = 1; y <= bottom + TOOTH * dpr; y += TOOTH * dpr, side = -side)
    ctx.lineTo(x + side * SWING * dpr, y);
  ctx.strokeStyle = theme.ink3;
  ctx.lineWidth = dpr;
  ctx.lineJoin = 'miter';
  ctx.stroke();
}

/** Over the ticks: a label where two do not touch. */
function paintFoldLabels(ground: Ground, folds: readonly Span[]): void {
  const { ctx, theme, dpr } = ground;
  ctx.font = `400 ${10 * dpr}px ${theme.font}`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  let last = -Infinity;
  for (const fold of folds) {
    const at = edges(ground, fold);
    if (!at) continue;
    const words = `${duration(fold.t1 - fold.t0)} idle`;
    const width = ctx.measureText(words).width + 8 * dpr;
    const middle = Math.min(ctx.canvas.width - width / 2, Math.max(width / 2, (at[0] + at[1]) / 2));
    if (middle - width / 2 > last) {
      ctx.fillStyle = theme.panel;
      ctx.fillRect(middle - width / 2, 0, width, (AXIS - 8) * dpr);
      ctx.fillStyle = theme.ink3;
      ctx.fillText(words, middle, Math.round(10 * dpr));
      last = middle + width / 2;
    }
    ctx.fillStyle = theme.line2;
    ctx.fillRect(at[0], (AXIS - 8) * dpr, at[1] - at[0], 8 * dpr);
  }
}
