// SPDX-License-Identifier: MIT
// The stage of the Overview: threads as rows of calls, expressions and gaps.
import { overviewOf } from './state';
import {
  paintAxis,
  BaseStage,
  paintGrid,
  paintTriangles,
  paintBands,
  band,
} from '../../shared/draw/base';
import type { Canvases } from '../../shared/draw/base';
import type { TextMeter, Patterns, Theme } from '../../shared/draw/canvas';
import { duration } from '../../shared/lib/format';
import type { Layout, Still } from '../../shared/lib/layout';
import { glyphs, MIN_WIDTH } from '../../shared/lib/lod';
import type { Glyph } from '../../shared/lib/lod';
import { FLAG, KIND } from '../../shared/lib/model';
import type { Rows, Thread, Span } from '../../shared/lib/model';
import type { View } from '../../shared/lib/timemap';
import { itemSpan } from '../../shared/state/actions';
import type { App, Model, Item, State } from '../../shared/state/app';
import { findHits, memoRows, MARK_TOP } from '../../shared/state/rows';
import type { ChartRow, Hits } from '../../shared/state/rows';
import type { CallSet } from '../../shared/state/served';
import { makeStrips, labelPack, paintPacks } from './packs';
import type { Strips } from './packs';

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
      ctx,
      theme: this.theme!,
      patterns: this.patterns!,
      text: this.text,
      model,
      state: now,
      view,
      hits: findHits(model, now.query),
      dpr: this.dpr,
      height: this.height,
      scrollTop: this.scrollTop,
      found: this.found,
      later: this.later,
      strips: () => (this.strips ??= makeStrips(this.theme!, ctx.canvas.width, ctx.canvas.height)),
    };
    paintRows(scene, this.rows().rows);
  }

  protected paintOver(view: View): void {
    const { app, dpr, canvases, height } = this;
    const now = app.state.get();
    const { hover } = overviewOf(app).state.get();
    const theme = this.theme!;
    const span = now.range ?? itemSpan(app, now.item);
    paintAxis(canvases.axis.getContext('2d', { alpha: false })!, theme, view, dpr, span);
    const set = app.served?.state.get().set;
    const isEmpty = !now.range && !now.item && !hover && !set;
    if (isEmpty && this.isOverEmpty) return;
    this.isOverEmpty = isEmpty;
    const ctx = canvases.overlay.getContext('2d')!;
    const found = hover || now.item ? this.hits() : [];
    paintOverlay({
      ctx,
      theme,
      view,
      dpr,
      height,
      found,
      range: now.range,
      isPreview: now.isPreview,
      hover,
      item: now.item,
      itemSpan: itemSpan(app, now.item),
      hoverSpan: itemSpan(app, hover),
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

/* ---- Paints the rows of the chart that are in view. Everything is in device pixels: both edges of a
 * bar are rounded, never its width. ---- */

/** Where an item was painted, in CSS px: for hover, click, keyboard and outlines. */
interface Hit {
  thread: number;
  row: number;
  x0: number;
  x1: number;
  y0: number;
  y1: number;
  /** Items merged into the glyph. */
  n: number;
}

export interface Scene {
  ctx: CanvasRenderingContext2D;
  theme: Theme;
  patterns: Patterns;
  text: TextMeter;
  model: Model;
  state: State;
  view: View;
  hits: Hits | null;
  dpr: number;
  height: number;
  scrollTop: number;
  found: Hit[];
  /** What adds to `found` when somebody asks for it. */
  later: (() => void)[];
  /** Pixels of the canvas, for packs; asked for if there are any in view. */
  strips: () => Strips;
}

const PACK_TOP = 4;

/** An outlier's triangle: its tip points down at `x`. */
interface Mark {
  x: number;
  y: number;
}

export interface Label {
  text: string;
  x: number;
  y: number;
  font: string;
  ink: string;
  plate: string | null;
  isDim: boolean;
  width: number;
  height: number;
}

interface Brush extends Scene {
  thread: Thread;
  layout: Layout;
  top: number; // CSS px of the mark's top on the canvas
  isTall: boolean;
  bright: Uint8Array | null; // by row: highlighted; null: all are
  labels: Label[];
  marks: Mark[];
  stills: Map<number, Still[]>;
}

function paintRows(scene: Scene, rows: readonly ChartRow[]): void {
  const { ctx, dpr, theme } = scene;
  const last = rows[rows.length - 1];
  const used = Math.min(scene.height, last ? last.y + last.height - scene.scrollTop : 0);
  const placed = rows
    .map(row => ({ row, top: row.y - scene.scrollTop }))
    .filter(({ row, top }) => top + row.height >= 0 && top <= scene.height);
  const packs = placed
    .filter(({ row }) => row.pack)
    .map(({ row, top }) => ({ row, top: top + PACK_TOP }));
  if (packs.length > 0) paintPacks(scene, packs, used);
  else {
    ctx.fillStyle = theme.bg;
    ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    paintGrid(ctx, theme, scene.view, dpr, used);
  }
  const labels: Label[] = [];
  const marks: Mark[] = [];
  for (const pack of packs) labelPack(scene, pack, labels);
  for (const { row, top } of placed) {
    ctx.fillStyle = theme.line;
    ctx.fillRect(0, Math.round((top + row.height) * dpr) - 1, ctx.canvas.width, 1);
    if (row.thread) paintThread(scene, row, top + MARK_TOP, labels, marks);
  }
  ctx.globalAlpha = 1;
  paintLabels(scene, labels);
  paintTriangles(scene, marks);
}

export function brightRows(scene: Scene, thread: Thread): Uint8Array | null {
  const { state, model, hits } = scene;
  if (hits) return hits.marks.get(thread.index) ?? new Uint8Array(thread.rows.n);
  if (state.family < 0) return null;
  const { rows } = thread;
  const { ofFunction } = model.families;
  return Uint8Array.from(rows.fn, fn => (fn >= 0 && ofFunction[fn] === state.family ? 1 : 0));
}

function paintThread(
  scene: Scene,
  row: ChartRow,
  top: number,
  labels: Label[],
  marks: Mark[],
): void {
  const thread = row.thread!;
  const stills = new Map<number, Still[]>();
  for (const still of scene.model.stillsOf(thread)) {
    const list = stills.get(still.row);
    if (list) list.push(still);
    else stills.set(still.row, [still]);
  }
  const brush: Brush = {
    ...scene,
    thread,
    layout: scene.model.layout(thread, row.isTall),
    top,
    isTall: row.isTall,
    bright: brightRows(scene, thread),
    labels,
    marks: [],
    stills,
  };
  paintChildren(brush, -1, 0, thread.rows.n);
  brush.marks.sort((a, b) => a.x - b.x);
  let last = -Infinity;
  for (const mark of brush.marks) {
    if (mark.x - last < 7 || mark.x < -8 || mark.x > scene.view.width + 8) continue;
    last = mark.x;
    marks.push(mark);
  }
}

/** Calls, expressions and gaps under one parent, merged where they are too narrow. */
function paintChildren(brush: Brush, parent: number, from: number, to: number): void {
  const { rows } = brush.thread;
  const { view } = brush;
  const list: number[] = [];
  const slivers: number[] = [];
  for (let i = from; i < to; i = rows.next[i]!) {
    if (rows.kind[i] === KIND.SLIVER) slivers.push(i);
    else if (rows.end[i]! >= view.t0 && rows.start[i]! <= view.t1) list.push(i);
  }
  const x0 = (i: number): number => Math.max(-20, view.x(rows.start[i]!));
  const x1 = (i: number): number => Math.min(view.width + 20, view.x(rows.end[i]!));
  const solid = list.filter(i => rows.kind[i] !== KIND.GAP);
  for (const i of list) if (rows.kind[i] === KIND.GAP) paintGap(brush, i, x0(i), x1(i), parent);
  for (const glyph of glyphs(solid, x0, x1)) {
    if (glyph.n > 1) paintMerged(brush, glyph);
    else if (isCluster(rows, glyph.item)) paintCluster(brush, glyph);
    else if (rows.kind[glyph.item] === KIND.CALL) paintCall(brush, glyph);
    else paintExpression(brush, glyph);
  }
  for (const i of slivers) paintSliver(brush, i);
}

function dim(brush: Brush, row: number): void {
  brush.ctx.globalAlpha = !brush.bright || brush.bright[row] === 1 ? 1 : 0.25;
}

function hueOf(brush: Brush, row: number): number {
  const fn = brush.thread.rows.fn[row]!;
  return fn < 0 ? 10 : brush.model.families.hue[fn]!;
}

/** Fills a rectangle given in CSS px; both edges rounded to device px. */
function rect(brush: Scene, x0: number, y0: number, x1: number, y1: number, fill: string): void {
  const { ctx, dpr } = brush;
  const [a, b] = [Math.round(x0 * dpr), Math.round(x1 * dpr)];
  const [c, d] = [Math.round(y0 * dpr), Math.round(y1 * dpr)];
  if (ctx.globalAlpha < 1) {
    const alpha = ctx.globalAlpha; // dimmed: what lies below must not shine through
    ctx.globalAlpha = 1;
    ctx.fillStyle = brush.theme.bg;
    ctx.fillRect(a, c, Math.max(1, b - a), Math.max(1, d - c));
    ctx.globalAlpha = alpha;
  }
  ctx.fillStyle = fill;
  ctx.fillRect(a, c, Math.max(1, b - a), Math.max(1, d - c));
}

/** A hairline just inside a rectangle: half a line in, so that it covers whole pixels. */
function frame(brush: Scene, x0: number, y0: number, x1: number, y1: number, ink: string): void {
  const { ctx, dpr } = brush;
  const line = Math.max(1, Math.round(dpr));
  const [a, b] = [Math.round(x0 * dpr) + line / 2, Math.round(x1 * dpr) - line / 2];
  const [c, d] = [Math.round(y0 * dpr) + line / 2, Math.round(y1 * dpr) - line / 2];
  ctx.strokeStyle = ink;
  ctx.lineWidth = line;
  ctx.lineJoin = 'miter';
  ctx.strokeRect(a, c, b - a, d - c);
}

function remember(brush: Brush, row: number, box: Glyph, y0: number, y1: number): void {
  const { thread, found } = brush;
  found.push({ thread: thread.index, row, x0: box.x0, x1: box.x1, y0, y1, n: box.n });
}

function paintCall(brush: Brush, glyph: Glyph): void {
  const { layout, theme, thread, top } = brush;
  const i = glyph.item;
  const hue = hueOf(brush, i);
  const y0 = top + layout.y0[i]!;
  const y1 = top + layout.y1[i]!;
  const fill = theme.hues[hue]!;
  const isStriped =
    !brush.isTall && layout.hasKids[i] === 1 && layout.y1[i]! - layout.y0[i]! > 15.5;
  dim(brush, i);
  remember(brush, i, glyph, y0, y1);
  if (isStriped) {
    rect(brush, glyph.x0, y0, glyph.x1, y0 + 2, fill);
    rect(brush, glyph.x0, y0 + 3, glyph.x1, y1, fill);
  } else {
    rect(brush, glyph.x0, y0, glyph.x1, y1, fill);
    if (glyph.x1 - glyph.x0 >= 4) frame(brush, glyph.x0, y0, glyph.x1, y1, theme.edge);
  }
  paintPauses(brush, glyph, hue, isStriped ? y0 + 3 : y0, y1);
  paintCuts(brush, glyph, y0, y1);
  if (thread.rows.flags[i]! & FLAG.OUTLIER && glyph.x1 - glyph.x0 > 0 && isDeepestMark(brush, i))
    brush.marks.push({ x: Math.max(0, glyph.x0) + 9, y: Math.max(top, y0 - 4) });
  if (brush.isTall || layout.hasKids[i] === 0) labelCall(brush, glyph, hue, y0, y1);
  if (glyph.x1 - glyph.x0 > MIN_WIDTH || layout.hasKids[i] === 1)
    paintChildren(brush, i, i + 1, thread.rows.next[i]!);
}

/** Of a chain of unusual calls only the last carries the mark. */
function isDeepestMark(brush: Brush, i: number): boolean {
  const { rows } = brush.thread;
  const next = brush.layout.chain[i]!;
  return next < 0 || (rows.flags[next]! & FLAG.OUTLIER) === 0;
}

function paintPauses(brush: Brush, glyph: Glyph, hue: number, y0: number, y1: number): void {
  const { model, theme, thread, view, ctx, dpr } = brush;
  const { rows } = thread;
  const fn = rows.fn[glyph.item]!;
  const isWait = fn >= 0 && model.trace.functions.isWait[fn] === 1;
  const shiftY = -brush.scrollTop * dpr;
  const fillWith = (pattern: CanvasPattern | null, x0: number, x1: number): void => {
    if (!pattern || y1 - y0 < 6) return;
    ctx.fillStyle = pattern;
    const [a, b] = [Math.round(x0 * dpr), Math.round(x1 * dpr)];
    ctx.fillRect(a, Math.round(y0 * dpr), b - a, Math.round(y1 * dpr) - Math.round(y0 * dpr));
  };
  const shiftX = view.x(0) * dpr;
  if (isWait) {
    const ink = theme.inks[hue] === '#ffffff' ? 'rgba(255,255,255,.42)' : 'rgba(0,0,0,.4)';
    fillWith(brush.patterns.get('wait', ink, shiftX, shiftY), glyph.x0, glyph.x1);
    if (glyph.x1 - glyph.x0 >= 4) frame(brush, glyph.x0, y0, glyph.x1, y1, theme.edge);
    return;
  }
  for (const still of brush.stills.get(glyph.item) ?? []) {
    const x0 = Math.max(glyph.x0, view.x(still.start));
    const x1 = Math.min(glyph.x1, view.x(still.end));
    if (x1 - x0 < 2) continue;
    rect(brush, x0, y0, x1, y1, theme.tints[hue]!);
    fillWith(brush.patterns.get('dots', theme.hues[hue]!, shiftX, shiftY), x0, x1);
    if (x1 - x0 >= 4) frame(brush, x0, y0, x1, y1, theme.hues[hue]!);
    if (brush.layout.hasKids[glyph.item] === 1 && !brush.isTall)
      labelStill(brush, still, x0, x1, y0, y1, hue);
  }
}

/** A silence inside a call that also holds other rows: the words stand on the silence alone. */
function labelStill(
  brush: Brush,
  still: Still,
  x0: number,
  x1: number,
  y0: number,
  y1: number,
  hue: number,
): void {
  const { dpr, theme, view } = brush;
  const from = Math.max(0, x0) + 4;
  const room = Math.min(view.width, x1) - 4 - from;
  if (room < 60 || y1 - y0 < 11) return;
  const font = `${(y1 - y0 >= 15 ? 11 : 10) * dpr}px ${theme.font}`;
  const tail = `stalled ${duration(still.end - still.start)}`;
  const name = brush.model.name(brush.thread.rows.fn[still.row]!);
  const tries = [`${chainName(brush, still.row)}\u2002${tail}`, `${name}\u2002${tail}`, tail];
  const text = tries.find(t => brush.text.width(font, t) / dpr <= room);
  if (text) pushLabel(brush, text, from, from + room + 4, y0, y1, theme.ink, theme.tints[hue]!);
}

function paintCuts(brush: Brush, glyph: Glyph, y0: number, y1: number): void {
  const flags = brush.thread.rows.flags[glyph.item]!;
  if (glyph.x1 - glyph.x0 < 4 || y1 - y0 < 6) return;
  const { ctx, dpr, theme } = brush;
  const dash = (x: number): void => {
    const step = Math.round(5 * dpr);
    const long = Math.round(3 * dpr);
    const width = Math.max(1, Math.round(dpr));
    ctx.fillStyle = theme.bg;
    ctx.fillRect(x, Math.round(y0 * dpr), width, Math.round((y1 - y0) * dpr));
    ctx.fillStyle = theme.ink2;
    for (let y = Math.round(y0 * dpr); y < y1 * dpr; y += step)
      ctx.fillRect(x, y, width, Math.min(long, Math.round(y1 * dpr) - y));
  };
  if (flags & FLAG.CUT_START) dash(Math.round(glyph.x0 * dpr));
  if (flags & FLAG.CUT_END) dash(Math.round(glyph.x1 * dpr) - Math.max(1, Math.round(dpr)));
}

function paintExpression(brush: Brush, glyph: Glyph): void {
  const { layout, theme, thread, top } = brush;
  const { rows } = thread;
  const i = glyph.item;
  const y0 = top + layout.y0[i]!;
  const y1 = top + layout.y1[i]!;
  const width = glyph.x1 - glyph.x0;
  remember(brush, i, glyph, y0, y1);
  dim(brush, i);
  if (width < 6) {
    const node = heaviestNode(brush, i);
    brush.ctx.globalAlpha = !brush.bright || anyBright(brush, i) ? 1 : 0.25;
    rect(brush, glyph.x0, y0, glyph.x1, y1, theme.hues[node < 0 ? 10 : hueOf(brush, node)]!);
    return;
  }
  rect(brush, glyph.x0, y0, glyph.x1, y1, theme.bg);
  paintNodes(brush, i, i, glyph.x0 + 1, width - 2);
  brush.ctx.globalAlpha = brush.bright && !anyBright(brush, i) ? 0.4 : 1;
  frame(brush, glyph.x0, y0, glyph.x1, y1, theme.ink3);
  for (let c = i + 1; c < rows.next[i]!; c++)
    if (rows.flags[c]! & FLAG.OUTLIER && !parentMarked(brush, c)) {
      const x = glyph.x0 + 1 + layout.v0[c]! * (width - 2);
      brush.marks.push({
        x: Math.min(glyph.x1 - 2, x + 4),
        y: brush.isTall ? top + layout.y0[c]! : y0,
      });
    }
}

function parentMarked(brush: Brush, i: number): boolean {
  const { rows } = brush.thread;
  const parent = rows.parent[i]!;
  return (
    parent >= 0 && rows.kind[parent] === KIND.NODE && (rows.flags[parent]! & FLAG.OUTLIER) !== 0
  );
}

function anyBright(brush: Brush, box: number): boolean {
  if (!brush.bright) return true;
  for (let i = box; i < brush.thread.rows.next[box]!; i++) if (brush.bright[i] === 1) return true;
  return false;
}

function heaviestNode(brush: Brush, box: number): number {
  const { rows } = brush.thread;
  let best = -1;
  for (let i = box + 1; i < rows.next[box]!; i++)
    if (rows.kind[i] === KIND.NODE && (best < 0 || rows.self[i]! > rows.self[best]!)) best = i;
  return best;
}

function paintNodes(brush: Brush, box: number, parent: number, x: number, width: number): void {
  const { layout, theme, thread, top } = brush;
  const { rows } = thread;
  const list: number[] = [];
  for (let c = parent + 1; c < rows.next[parent]!; c = rows.next[c]!) list.push(c);
  if (list.length === 0) return;
  const deepest = top + (brush.isTall ? layout.y1[box]! : layout.y1[box]! - 1);
  if (top + layout.y0[list[0]!]! >= deepest - 1) return;
  const x0 = (i: number): number => x + layout.v0[i]! * width;
  const x1 = (i: number): number => x + layout.v1[i]! * width;
  const wide = list.filter(i => x1(i) - x0(i) >= 0.6);
  for (const glyph of glyphs(wide, x0, x1)) {
    const i = glyph.item;
    const y0 = top + layout.y0[i]!;
    const y1 = Math.min(deepest, top + layout.y1[i]!);
    const right = Math.min(glyph.x1, x + width);
    dim(brush, i);
    const isOther = rows.kind[i] === KIND.OTHER;
    rect(brush, glyph.x0, y0, right, y1, isOther ? theme.other : theme.hues[hueOf(brush, i)]!);
    if (right - glyph.x0 >= 4 && y1 - y0 >= 4)
      frame(brush, glyph.x0, y0, right, y1, isOther ? theme.line2 : theme.edge);
    remember(brush, i, { ...glyph, x1: right }, y0, y1);
    if (brush.isTall) labelNode(brush, glyph, y0, y1, isOther);
    if (glyph.n === 1) paintNodes(brush, box, i, x, width);
  }
}

/** Several items in one glyph: the longest gives the colour, a zig-zag says "merged". */
function paintMerged(brush: Brush, glyph: Glyph): void {
  const { layout, theme, thread, top, ctx, dpr } = brush;
  const i = glyph.item;
  const isBox = thread.rows.kind[i] === KIND.EXPRESSION;
  const node = isBox ? heaviestNode(brush, i) : lastOfChain(brush, i);
  const y0 = top + layout.y0[i]!;
  const y1 = top + layout.y1[i]!;
  brush.ctx.globalAlpha = !brush.bright || anyBright(brush, i) ? 1 : 0.25;
  const hue = node < 0 ? 10 : hueOf(brush, node);
  const isNarrow = glyph.x1 - glyph.x0 < 6;
  rect(brush, glyph.x0, y0, glyph.x1, y1, isNarrow ? theme.hues[hue]! : theme.merged[hue]!);
  remember(brush, i, glyph, y0, y1);
  if (isNarrow) return;
  ctx.strokeStyle = theme.ink2;
  ctx.lineWidth = dpr;
  ctx.beginPath();
  const middle = (y0 + y1) / 2;
  for (let x = glyph.x0, up = true; x <= glyph.x1; x += 3, up = !up)
    ctx.lineTo(x * dpr, (middle + (up ? -2 : 2)) * dpr);
  ctx.stroke();
}

/** Many calls of which a first picture knows only the longest. */
function isCluster(rows: Rows, i: number): boolean {
  return rows.kind[i] === KIND.CALL && rows.count[i]! > 1;
}

function paintCluster(brush: Brush, glyph: Glyph): void {
  paintMerged(brush, glyph);
  const i = glyph.item;
  if (glyph.x1 - glyph.x0 > MIN_WIDTH) paintChildren(brush, i, i + 1, brush.thread.rows.next[i]!);
}

function lastOfChain(brush: Brush, call: number): number {
  let i = call;
  while (brush.layout.chain[i]! >= 0) i = brush.layout.chain[i]!;
  return i;
}

function paintGap(brush: Brush, i: number, x0: number, x1: number, parent: number): void {
  const { layout, theme, top } = brush;
  const y0 = top + layout.y0[i]!;
  const y1 = top + layout.y1[i]!;
  const width = x1 - x0;
  remember(brush, i, { x0, x1: Math.max(x1, x0 + MIN_WIDTH), item: i, at: 0, n: 1 }, y0, y1);
  if (width < MIN_WIDTH * 2 || coveredByStill(brush, i, parent)) return;
  dim(brush, i);
  const middle = (y0 + y1) / 2;
  const hue = parent < 0 ? -1 : hueOf(brush, parent);
  const ink = hue < 0 || brush.isTall ? theme.ink3 : theme.inks[hue]!;
  rect(brush, x0, middle, x1, middle + 1 / brush.dpr, ink);
  rect(brush, x0, middle - 2, x0 + 1, middle + 3, ink);
  rect(brush, x1 - 1, middle - 2, x1, middle + 3, ink);
  if (width < 60 || parent >= 0) return;
  const from = Math.max(0, x0) + 6;
  const text = `no call ${duration(brush.thread.rows.end[i]! - brush.thread.rows.start[i]!)}`;
  pushLabel(brush, text, from, Math.min(brush.view.width, x1) - 6, y0, y1, theme.ink2, theme.bg);
}

function coveredByStill(brush: Brush, i: number, parent: number): boolean {
  if (parent < 0) return false;
  const { rows } = brush.thread;
  const length = rows.end[i]! - rows.start[i]!;
  return (brush.stills.get(parent) ?? []).some(
    s => Math.min(s.end, rows.end[i]!) - Math.max(s.start, rows.start[i]!) > 0.5 * length,
  );
}

function paintSliver(brush: Brush, i: number): void {
  const { rows } = brush.thread;
  const { layout, theme, view, top } = brush;
  const x = view.x(rows.start[i]!);
  if (x < 0 || x > view.width) return;
  dim(brush, i);
  const y1 = top + (brush.isTall ? layout.y1[i]! : layout.y1[i]!) + 1;
  rect(brush, x, y1, x + 1, y1 + 3, theme.ink3);
  remember(brush, i, { x0: x - 2, x1: x + 3, item: i, at: 0, n: 1 }, y1, y1 + 4);
}

/* ---- labels ---- */

function pushLabel(
  brush: Brush,
  text: string,
  x0: number,
  x1: number,
  y0: number,
  y1: number,
  ink: string,
  plate: string | null,
): void {
  const size = y1 - y0 >= 15 ? 11 : 10;
  const font = `${size * brush.dpr}px ${brush.theme.font}`;
  const width = brush.text.width(font, text) / brush.dpr;
  if (width > x1 - x0) return;
  const height = Math.min(y1 - y0, 16);
  const y = y1 - y0 > 16 ? y1 - height : y0;
  const isDim = brush.ctx.globalAlpha < 1;
  const color = isDim ? brush.theme.ink3 : ink;
  brush.labels.push({
    text,
    x: x0,
    y,
    font,
    ink: color,
    plate: isDim ? null : plate,
    isDim,
    width,
    height,
  });
}

/** `first > ... > last` of a chain that ends here. */
function chainName(brush: Brush, i: number): string {
  const { rows } = brush.thread;
  const name = (row: number): string => brush.model.name(rows.fn[row]!);
  const length = brush.isTall ? 0 : brush.layout.chainDepth[i]!;
  if (length === 0) return name(i);
  let first = i;
  while (rows.parent[first]! >= 0 && brush.layout.chain[rows.parent[first]!] === first)
    first = rows.parent[first]!;
  return `${name(first)} \u203a ${length > 1 ? '\u2026 \u203a ' : ''}${name(i)}`;
}

function labelCall(brush: Brush, glyph: Glyph, hue: number, y0: number, y1: number): void {
  const { theme, thread, view, dpr, model } = brush;
  const { rows } = thread;
  const i = glyph.item;
  const x0 = Math.max(0, glyph.x0) + 4;
  const x1 = Math.min(view.width, glyph.x1) - 4;
  const room = x1 - x0;
  if (room < 26 || y1 - y0 < 11) return;
  const size = y1 - y0 >= 15 ? 11 : 10;
  const font = `${size * dpr}px ${theme.font}`;
  const fits = (text: string): boolean => brush.text.width(font, text) / dpr <= room;
  const fn = rows.fn[i]!;
  const isWait = fn >= 0 && model.trace.functions.isWait[fn] === 1;
  const still = (brush.stills.get(i) ?? []).find(
    s => s.end - s.start > 0.5 * (rows.end[i]! - rows.start[i]!),
  );
  const time = duration(
    (still ?? { start: rows.start[i]!, end: rows.end[i]! }).end - (still?.start ?? rows.start[i]!),
  );
  const tail = still && !isWait ? `stalled ${time}` : time;
  const gap = '\u2002';
  const long = chainName(brush, i);
  const short = model.name(fn);
  const tries = [`${long}${gap}${tail}`, `${short}${gap}${tail}`];
  if (isWait) tries.push(`wait ${time}`, time);
  else tries.push(short);
  const text = tries.find(fits) ?? (isWait ? '' : brush.text.fit(font, short, room * dpr));
  if (!text) return;
  const isTint = still !== undefined && !isWait;
  const fill = isTint ? theme.tints[hue]! : theme.hues[hue]!;
  const ink = isTint ? theme.ink : theme.inks[hue]!;
  pushLabel(brush, text, x0, x1 + 4, y0, y1, ink, isWait || isTint ? fill : null);
}

function labelNode(brush: Brush, glyph: Glyph, y0: number, y1: number, isOther: boolean): void {
  const { theme, thread, view, dpr, model } = brush;
  const { rows } = thread;
  const i = glyph.item;
  const x0 = Math.max(0, glyph.x0) + 4;
  const x1 = Math.min(view.width, glyph.x1) - 4;
  if (x1 - x0 < 26) return;
  const font = `${10 * dpr}px ${theme.font}`;
  const name = isOther ? `other (${rows.folded[i]})` : model.name(rows.fn[i]!);
  const long = `${name}\u2002${duration(rows.sum[i]!)}`;
  const fits = brush.text.width(font, long) / dpr <= x1 - x0;
  const text = fits ? long : brush.text.fit(font, name, (x1 - x0) * dpr);
  const ink = isOther ? theme.ink2 : theme.inks[hueOf(brush, i)]!;
  if (text) pushLabel(brush, text, x0, x1 + 4, y0, y1, ink, null);
}

function paintLabels(scene: Scene, labels: Label[]): void {
  const { ctx, dpr } = scene;
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'left';
  for (const { text, x, y, font, ink, plate, width, height } of labels) {
    if (plate) {
      const inset = height > 12 ? 1 : 0.5;
      rect(scene, x - 2, y + inset, x + width + 3, y + height - inset, plate);
    }
    ctx.font = font;
    ctx.fillStyle = ink;
    ctx.fillText(text, Math.round(x * dpr), Math.round((y + height / 2 + 0.5) * dpr));
  }
}

/** What lies under a point of the canvas: the innermost item painted there. */
function hitAt(found: readonly Hit[], x: number, y: number): Hit | null {
  for (let i = found.length - 1; i >= 0; i--) {
    const hit = found[i]!;
    if (y >= hit.y0 && y < hit.y1 && x >= hit.x0 && x <= hit.x1) return hit;
  }
  return null;
}

function isSameItem(a: Item | null, b: Item | null): boolean {
  return a !== null && b !== null && a.thread === b.thread && a.row === b.row;
}

interface Overlay {
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

function paintOverlay(overlay: Overlay): void {
  const { ctx } = overlay;
  ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  paintBands(overlay, overlay.range, overlay.isPreview, overlay.itemSpan);
  if (overlay.hoverSpan) band(overlay, overlay.hoverSpan, true, 0.08);
  outline(overlay, overlay.hover, 1);
  outline(overlay, overlay.item, 2);
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
