// SPDX-License-Identifier: MIT
// The plate as a picture: icicles on one canvas, curves on the next, what the pointer is on on the
// last, so that hovering paints neither calls nor curves again.
import { TextMeter, readTheme } from '../../shared/draw/canvas';
import type { Theme } from '../../shared/draw/canvas';
import type { Span } from '../../shared/lib/model';
import type { Picture } from '../../shared/state/screens';
import type { ServedThread } from '../../shared/state/served';
import { curvesOf, isBundle, longestFirst } from './data';
import type { Curve } from './data';
import { SITE_FN } from './load';
import type { ThreadData } from './load';
import {
  addBar,
  curveEnds,
  eachItem,
  Markers,
  paintCurve,
  plateStyle,
  barGap,
  firstItem,
  hatch,
  lengthAt,
  paintLabel,
  PALE_LEVELS,
} from './paint';
import type { PlateScene, PlateStyle, Label } from './paint';
import {
  defaultSplit,
  layoutLadder,
  layoutPlate,
  MOST_LEVEL_PX,
  outerRadius,
  bendOf,
  columnsOfSection,
  copyBent,
  copyRows,
  inkOfCss,
  pixelOf,
  Strips,
} from './plate';
import type { Frame, Plate, RingFrame, StraightFrame, Bend, Pixel, Section } from './plate';
import { hitOf } from './state';
import type { Interplay, PlateHit } from './state';

/** Curves in a picture: more are counted. */
const MOST_CURVES = 600;
const LADDER_LABEL = 220;
const GRIP_PX = 6;

interface PlateCanvases {
  base: HTMLCanvasElement;
  curves: HTMLCanvasElement;
  over: HTMLCanvasElement;
}

interface DrawnCurve {
  curve: Curve;
  path: Path2D;
}

export class PlateStage implements Picture {
  private frame = 0;
  private isBaseDirty = true;
  private areCurvesDirty = true;
  private waiting: (() => void)[] = [];
  private theme: Theme | null = null;
  private style: PlateStyle | null = null;
  private text: TextMeter;
  private dpr = 1;
  private drawn: DrawnCurve[] = [];
  private readonly image = new PlateImage();
  width = 100;
  height = 100;
  /** How long the last painting took, in ms: threads, and curves. */
  lastPaint = 0;
  lastCurves = 0;

  constructor(
    private readonly screen: Interplay,
    private readonly canvases: PlateCanvases,
  ) {
    this.text = new TextMeter(canvases.base.getContext('2d')!);
  }

  resize(width: number, height: number): void {
    this.dpr = window.devicePixelRatio || 1;
    this.width = Math.max(100, width);
    this.height = Math.max(100, height);
    for (const canvas of Object.values(this.canvases) as HTMLCanvasElement[]) {
      canvas.width = Math.round(this.width * this.dpr);
      canvas.height = Math.round(this.height * this.dpr);
      canvas.style.width = `${this.width}px`;
      canvas.style.height = `${this.height}px`;
    }
    this.text = new TextMeter(this.canvases.base.getContext('2d')!);
    this.markBase();
  }

  retheme(): void {
    this.theme = this.style = null;
    this.markBase();
  }

  markBase(): void {
    this.isBaseDirty = true;
    this.markCurves();
  }

  markCurves(): void {
    this.areCurvesDirty = true;
    this.markOverlay();
  }

  markOverlay(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.screen.loader.stop();
    for (const done of this.waiting.splice(0)) done();
  }

  /** Painted, and nothing of it is missing. */
  async idle(): Promise<void> {
    for (;;) {
      if (this.frame !== 0) await new Promise<void>(resolve => this.waiting.push(resolve));
      if (this.screen.loader.isIdle && this.frame === 0) return;
      await this.screen.loader.idle();
      await new Promise(resolve => requestAnimationFrame(resolve));
    }
  }

  private options(): Parameters<typeof layoutPlate>[0] {
    const { focus, contexts, focused, inner } = this.screen.state.get();
    const { width, height, screen } = this;
    const split = this.splitOf(focus);
    screen.drawnSplit = split / height;
    return {
      width,
      height,
      split,
      focus,
      contexts,
      focused,
      inner: this.innerRadius(contexts, inner, split),
      view: thread => screen.view(thread),
      fold: thread => screen.fold(thread),
      deep: thread => this.deep(thread),
    };
  }

  private deep(thread: number): number {
    return (this.screen.served.threads[thread]?.maxDepth ?? 0) + 1;
  }

  /** As chosen; else as the levels of the focus need it. */
  private splitOf(focus: number): number {
    const { split } = this.screen.state.get();
    const levels = this.deep(focus) - this.screen.fold(focus);
    return split > 0 ? Math.round(this.height * split) : defaultSplit(this.height, levels);
  }

  /** As chosen; else so that the deepest context thread has room for high levels. */
  private innerRadius(contexts: readonly number[], chosen: number, split: number): number {
    const outer = outerRadius(this.width, this.height, split);
    if (chosen > 0) return Math.round(outer * chosen);
    const deep = Math.max(1, ...contexts.map(one => this.deep(one)));
    const own = outer - deep * MOST_LEVEL_PX;
    return Math.round(Math.min(outer * 0.82, Math.max(outer * 0.5, own)));
  }

  plate(): Plate {
    return layoutPlate(this.options());
  }

  /** The focus first. */
  frames(): (StraightFrame | RingFrame)[] {
    const { mode, focus } = this.screen.state.get();
    if (focus < 0) return [];
    if (mode === 'ladder') return layoutLadder(this.options(), LADDER_LABEL);
    const { focus: straight, rings } = this.plate();
    return [straight, ...rings];
  }

  private want(frames: readonly Frame[]): void {
    this.screen.loader.want(
      frames.map(frame => ({
        thread: frame.thread,
        view: frame.view,
        columns: Math.max(16, Math.ceil(columnsOf(frame) * this.dpr)),
      })),
    );
  }

  private paint(): void {
    this.frame = 0;
    this.theme ??= readTheme(document.documentElement);
    this.style ??= plateStyle(this.theme);
    const frames = this.frames();
    const { isBaseDirty, areCurvesDirty } = this;
    this.isBaseDirty = this.areCurvesDirty = false;
    const started = performance.now();
    this.image.drawn = 0;
    if (isBaseDirty) this.paintBase(frames);
    const middle = performance.now();
    if (areCurvesDirty) this.paintCurves(frames);
    if (isBaseDirty) this.lastPaint = middle - started;
    if (areCurvesDirty) this.lastCurves = performance.now() - middle;
    this.paintOver(frames);
    if (isBaseDirty) this.want(frames);
    for (const done of this.waiting.splice(0)) done();
  }

  private scene(ctx: CanvasRenderingContext2D): PlateScene {
    const { served } = this.screen;
    return {
      ctx,
      style: this.style!,
      text: this.text,
      font: this.theme!.font,
      nameOf: (thread, fn) => this.nameOf(thread, fn),
      isWait: served.names.isWait,
    };
  }

  /** Short names; bars that stand for waits have that of the function that waits. */
  nameOf(thread: number, fn: number): string {
    const { families } = this.screen.served;
    if (fn < SITE_FN) return families.short[fn] ?? 'unknown function';
    const site = this.screen.siteOf(thread, fn - SITE_FN);
    return site ? site.call || site.name : 'waits';
  }

  private clear(canvas: HTMLCanvasElement, ground: string | null): CanvasRenderingContext2D {
    const ctx = canvas.getContext('2d')!;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    if (ground) {
      ctx.fillStyle = ground;
      ctx.fillRect(0, 0, canvas.width, canvas.height);
    } else ctx.clearRect(0, 0, canvas.width, canvas.height);
    ctx.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
    return ctx;
  }

  private paintBase(frames: readonly Frame[]): void {
    const theme = this.theme!;
    const ctx = this.clear(this.canvases.base, null);
    const { served, loader, state } = this.screen;
    const threads = frames.map(frame => ({
      frame,
      life: served.threads[frame.thread],
      data: loader.of(frame.thread),
    }));
    this.image.paint(this.scene(ctx), theme, threads, this.dpr);
    if (frames[0]?.isRing === false && state.get().mode === 'plate') {
      ctx.fillStyle = theme.line;
      ctx.fillRect(0, this.plate().split - 2, this.width, 1);
    }
  }

  /* ---- curves ---- */

  private colorOf(curve: Curve, data: ThreadData): string {
    const style = this.style!;
    const { isByObject, hover, selected } = this.screen.state.get();
    if (!isByObject) return style.hues[this.screen.hue(curve.thread)]!;
    const object = data.waits.objects[curve.object];
    const over = this.hoveredObject(hover ?? selected);
    if (over !== null) return object?.id === over ? style.hues[3]! : style.grey;
    if (!object || object.waiters < 2) return style.grey;
    return style.hues[this.screen.objectHue(object.id)]!;
  }

  /** The object of the wait that is pointed at; null: it is none. */
  private hoveredObject(hit: PlateHit | null): string | null {
    if (!hit || hit.item < 0) return null;
    const waits = this.screen.loader.of(hit.thread)?.waits;
    return waits?.objects[waits.object[hit.item]!]?.id ?? null;
  }

  private hueOf(curve: Curve): string {
    return this.colorOf(curve, this.screen.loader.of(curve.thread)!);
  }

  private paintCurves(frames: readonly Frame[]): void {
    const ctx = this.clear(this.canvases.curves, null);
    const { hover } = this.screen.state.get();
    const byThread = new Map(frames.map(frame => [frame.thread, frame]));
    const all: Curve[] = [];
    for (const frame of frames) {
      const data = this.screen.loader.of(frame.thread);
      if (!data) continue;
      const pixel = (frame.view.t1 - frame.view.t0) / Math.max(1, columnsOf(frame));
      all.push(...curvesOf(data.waits, frame.thread, frame.view, pixel, to => byThread.has(to)));
    }
    const shown = all.filter(curve => !isBundle(curve) || curve.thread === hover?.thread);
    const { drawn, left } = longestFirst(shown, MOST_CURVES);
    drawn.sort((a, b) => Number(isBundle(b)) - Number(isBundle(a))); // bundles lie below
    const markers = new Markers(false);
    for (const curve of drawn)
      if (!isBundle(curve)) markers.add(byThread.get(curve.to)!, curve, this.hueOf(curve));
    markers.fill(ctx);
    this.drawn = drawn.map(curve => {
      const [from, to] = [byThread.get(curve.thread)!, byThread.get(curve.to)!];
      return { curve, path: paintCurve(ctx, { from, to }, curve, this.hueOf(curve), false) };
    });
    this.screen.tellCurves({ drawn: drawn.length, bundled: all.length - shown.length, left });
  }

  /* ---- overlay ---- */

  private outline(ctx: CanvasRenderingContext2D, frame: Frame, hit: PlateHit, width: number): void {
    const path = new Path2D();
    addBar(path, frame, hit.start, hit.end, hit.depth);
    ctx.strokeStyle = this.theme!.ink;
    ctx.lineWidth = width;
    ctx.stroke(path);
  }

  private paintOver(frames: readonly Frame[]): void {
    const ctx = this.clear(this.canvases.over, null);
    const { hover, selected } = this.screen.state.get();
    const { range } = this.screen.app.state.get();
    for (const frame of frames) {
      if (range) {
        const band = new Path2D();
        for (let level = 0; level < frame.shown; level++)
          addBar(band, frame, range.t0, range.t1, level, 0, 1.01);
        ctx.globalAlpha = this.theme!.isDark ? 0.2 : 0.13;
        ctx.fillStyle = this.theme!.accent;
        ctx.fill(band);
        ctx.globalAlpha = 1;
      }
      for (const [hit, width] of [
        [hover, 1],
        [selected, 2],
      ] as const)
        if (hit?.thread === frame.thread) this.outline(ctx, frame, hit, width);
    }
    for (const hit of [selected, hover]) if (hit && hit.item >= 0) this.paintOwn(ctx, frames, hit);
  }

  /** The correspondence of a wait, strong, whether it is a bundle or not. */
  private paintOwn(ctx: CanvasRenderingContext2D, frames: readonly Frame[], hit: PlateHit): void {
    const curve = this.curveOfHit(hit);
    const from = frames.find(({ thread }) => thread === hit.thread);
    const to = frames.find(({ thread }) => thread === curve?.to);
    if (!curve || !from || !to || from === to) return;
    const color = this.hueOf(curve);
    const marker = new Markers(true);
    marker.add(to, curve, color);
    marker.fill(ctx);
    paintCurve(ctx, { from, to }, curve, color, true);
  }

  private curveOfHit(hit: PlateHit): Curve | null {
    const waits = this.screen.loader.of(hit.thread)?.waits;
    const i = hit.item;
    if (!waits || i < 0 || i >= waits.n || waits.releaser[i]! < 0) return null;
    return {
      thread: hit.thread,
      item: i,
      start: waits.start[i]!,
      end: waits.end[i]!,
      depth: waits.depth[i]!,
      count: waits.count[i]!,
      object: waits.object[i]!,
      to: waits.releaser[i]!,
      first: waits.first[i]!,
      last: waits.last[i]!,
      toDepth: waits.releaseDepth[i]!,
      ns: waits.sum[i]!,
    };
  }

  /* ---- what is where ---- */

  frameAt(x: number, y: number): Frame | null {
    return this.frames().find(frame => frame.spot(x, y) !== null) ?? null;
  }

  /** The call under a place: the one that is drawn there. */
  hit(x: number, y: number): PlateHit | null {
    const frame = this.frameAt(x, y);
    const spot = frame?.spot(x, y);
    const data = frame && this.screen.loader.of(frame.thread);
    if (!frame || !spot || !data) return null;
    const pixel = (frame.view.t1 - frame.view.t0) / Math.max(1, columnsOf(frame));
    let best = -1;
    let miss = Infinity;
    eachItem(data, spot.level, spot.t - pixel, spot.t + pixel, i => {
      const { start, end } = data.calls;
      const away = Math.max(0, start[i]! - spot.t, spot.t - end[i]!);
      if (away < miss) [best, miss] = [i, away];
    });
    return best < 0 ? null : hitOf(data, frame.thread, spot.level, best, spot.t);
  }

  /** The curve under a place, in the room between the threads. */
  curveAt(x: number, y: number): Curve | null {
    const ctx = this.canvases.curves.getContext('2d')!;
    const [px, py] = [x * this.dpr, y * this.dpr];
    for (let i = this.drawn.length - 1; i >= 0; i--)
      if (ctx.isPointInPath(this.drawn[i]!.path, px, py)) return this.drawn[i]!.curve;
    return null;
  }

  /** Is this the line between the focus and the ring, or the ring's inner edge? */
  gripAt(x: number, y: number): 'split' | 'inner' | null {
    if (this.screen.state.get().mode !== 'plate' || this.screen.state.get().focus < 0) return null;
    const { split, center, inner } = this.plate();
    if (Math.abs(y - (split - 2)) <= GRIP_PX / 2 + 1) return 'split';
    const radius = Math.hypot(x - center.x, y - center.y);
    return y > center.y && radius < inner && radius > inner - GRIP_PX ? 'inner' : null;
  }

  /** For tests: where a time and level of a thread are drawn. */
  placeOf(thread: number, t: number, level: number): { x: number; y: number } | null {
    const frame = this.frames().find(one => one.thread === thread);
    return frame ? frame.place(t, level) : null;
  }

  ends(curve: Curve): ReturnType<typeof curveEnds> | null {
    const frames = this.frames();
    const from = frames.find(({ thread }) => thread === curve.thread);
    const to = frames.find(({ thread }) => thread === curve.to);
    return from && to ? curveEnds(from, to, curve) : null;
  }

  /** Calls that the last painting drew: those of threads that had changed. */
  get drawnCalls(): number {
    return this.image.drawn;
  }

  curves(): readonly Curve[] {
    return this.drawn.map(({ curve }) => curve);
  }
}

/** Px that the time of a frame has where it has most. */
function columnsOf(frame: Frame): number {
  if (!frame.isRing) return frame.length;
  const { from, to, outer, inner } = frame.ring;
  return (to - from) * (inner + outer) * 0.5;
}

/* ---- The threads of the plate as one image (lib/platestrip): what a thread shows is drawn again only
 * when its calls, its part in view or its place change; hatching and names lie above as paths. ---- */

const LEAST_LABEL_PX = 30;
const LEAST_LABEL_TALL_PX = 11;
const LEAST_HATCH_PX = 8;
const END_PX = 3;
/** A call so narrow, or a level so low, has no end of its own. */
const LEAST_END_PX = 4;
const LEAST_END_TALL_PX = 6;

/** What is known of a frame's thread. */
interface PlateThread {
  frame: Frame;
  life: ServedThread | undefined;
  data: ThreadData | undefined;
}

/** A thread as it was drawn last. */
interface Layer {
  place: string;
  strips: Strips;
  bend: Bend | null;
  data: ThreadData | undefined;
  view: Span;
  style: PlateStyle;
  waits: Path2D;
  labels: Label[];
}

/** Where a frame stands: its table of pixels holds as long as this does. */
function placeOf(frame: Frame, dpr: number): string {
  const { shown, levels } = frame;
  const own = [dpr, shown, levels.fold, levels.height];
  if (!frame.isRing) {
    const { x, y, width, height } = frame.box;
    return ['row', ...own, x, y, width, height].join(' ');
  }
  const { center, inner, outer, from, to } = frame.ring;
  return ['ring', ...own, center.x, center.y, inner, outer, from, to].join(' ');
}

/** Edges of levels, in device px from level 0. */
function edgesOf({ shown, levels }: Frame, dpr: number): { from: number[]; to: number[] } {
  const from = Array.from({ length: shown }, (_, level) => levels.at(level) * dpr);
  const to = from.map((_, level) => {
    const [top, next] = [levels.at(level), levels.at(level + 1)];
    return (next - barGap(next - top)) * dpr;
  });
  return { from, to };
}

function sectionOf(frame: RingFrame, dpr: number): Section {
  const { center, inner, from, to } = frame.ring;
  const edges = edgesOf(frame, dpr);
  const radius = (px: number): number => inner * dpr + px;
  return {
    x: center.x * dpr,
    y: center.y * dpr,
    from,
    to,
    inner: edges.from.map(radius),
    outer: edges.to.map(radius),
    least: inner * dpr,
    most: radius(frame.levels.at(frame.shown) * dpr),
  };
}

class PlateImage {
  private image: ImageData | null = null;
  private pixels = new Uint32Array();
  private layers = new Map<number, Layer>();
  private theme: Theme | null = null;
  /** Calls that were drawn for the last picture: none, where threads are as they were. */
  drawn = 0;

  /** Paints all threads to the canvas, which has `dpr` pixels a px. */
  paint(scene: PlateScene, theme: Theme, threads: readonly PlateThread[], dpr: number): void {
    const { ctx } = scene;
    this.drawn = 0;
    this.prepare(ctx.canvas, theme, threads, dpr);
    for (const thread of threads) this.paintThread(scene, theme, thread, dpr);
    ctx.putImageData(this.image!, 0, 0);
    for (const { frame } of threads) {
      const { waits, labels } = this.layers.get(frame.thread)!;
      hatch(scene, waits);
      for (const label of labels) paintLabel(scene, frame, label);
    }
  }

  /** Where a thread stands elsewhere than before, all of the image is drawn anew. */
  private prepare(
    { width, height }: HTMLCanvasElement,
    theme: Theme,
    threads: readonly PlateThread[],
    dpr: number,
  ): void {
    const isSame =
      this.image?.width === width &&
      this.image.height === height &&
      this.theme === theme &&
      this.layers.size === threads.length &&
      threads.every(({ frame }) => this.layers.get(frame.thread)?.place === placeOf(frame, dpr));
    if (isSame) return;
    const kept = this.image?.width === width && this.image.height === height ? this.layers : null;
    if (!kept) {
      this.image = new ImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.theme = theme;
    this.pixels.fill(pixelOf(theme.bg));
    this.layers = new Map();
    for (const { frame } of threads) {
      const layer = kept?.get(frame.thread);
      if (layer?.place === placeOf(frame, dpr))
        this.layers.set(frame.thread, { ...layer, view: NO_VIEW });
    }
  }

  private paintThread(scene: PlateScene, theme: Theme, thread: PlateThread, dpr: number): void {
    const { frame, data } = thread;
    const { t0, t1 } = frame.view;
    const old = this.layers.get(frame.thread);
    const isSame =
      old &&
      old.data === data &&
      old.view.t0 === t0 &&
      old.view.t1 === t1 &&
      old.style === scene.style;
    if (isSame) return;
    const layer = old ?? this.layerOf(frame, dpr, scene.style);
    Object.assign(layer, { data, view: frame.view, style: scene.style });
    layer.waits = new Path2D();
    layer.labels = [];
    paintGround(layer.strips, thread, theme);
    if (data) this.drawn += paintCalls(scene, theme, frame, data, layer);
    layer.strips.close();
    this.copy(frame, layer, dpr, pixelOf(theme.bg));
    this.layers.set(frame.thread, layer);
  }

  private layerOf(frame: Frame, dpr: number, style: PlateStyle): Layer {
    const section = frame.isRing ? sectionOf(frame, dpr) : null;
    const wide = Math.max(1, Math.round(frame.length * dpr));
    const columns = section
      ? columnsOfSection(section)
      : new Array<number>(frame.shown + 1).fill(wide);
    const strips = new Strips(columns);
    const { width, height } = this.image!;
    return {
      place: placeOf(frame, dpr),
      strips,
      style,
      data: undefined,
      view: NO_VIEW,
      bend: section && bendOf(section, strips, width, height),
      waits: new Path2D(),
      labels: [],
    };
  }

  private copy(frame: Frame, { strips, bend }: Layer, dpr: number, around: Pixel): void {
    const { width, height } = this.image!;
    if (bend) return copyBent(this.pixels, strips, bend, around);
    const { box, levels, shown } = frame as StraightFrame;
    const { from, to } = edgesOf(frame, dpr);
    copyRows(this.pixels, width, height, strips, {
      x: Math.round(box.x * dpr),
      y: Math.round(box.y * dpr),
      tops: from.map(Math.round),
      bottoms: to.map(Math.round),
      height: Math.round(levels.at(shown) * dpr),
    });
  }
}

const NO_VIEW: Span = { t0: NaN, t1: NaN };

/** From its first event to its last something is known of a thread. */
function paintGround(strips: Strips, { frame, life }: PlateThread, theme: Theme): void {
  const { t0, t1 } = frame.view;
  const [panel, known] = [pixelOf(theme.panel), pixelOf(theme.bg)];
  strips.columns.forEach((many, level) => {
    strips.fill(level, panel);
    const column = (t: number): number => ((t - t0) / (t1 - t0)) * many;
    if (life && life.last >= t0 && life.first <= t1)
      strips.bar(
        level,
        column(life.first),
        Math.max(column(life.last), column(life.first) + 1),
        known,
      );
  });
}

/** The calls of a thread: how many were drawn. A bar is at least a px wide, and hides those within. */
function paintCalls(
  scene: PlateScene,
  theme: Theme,
  frame: Frame,
  data: ThreadData,
  layer: Layer,
): number {
  const { style, isWait } = scene;
  const { t0, t1 } = frame.view;
  const { start, end, isCluster, longestFn, longest, depthFrom } = data.calls;
  const edge = inkOfCss(theme.edge);
  let drawn = 0;
  for (let level = 0; level < frame.shown && level + 1 < depthFrom.length; level++) {
    const tall = frame.levels.at(level + 1) - frame.levels.at(level);
    const scale = layer.strips.columns[level]! / (t1 - t0);
    const px = lengthAt(frame, 1, level);
    const least = scale / px;
    const pale = style.pale[Math.min(level, PALE_LEVELS - 1)]!;
    let painted = -least;
    const last = depthFrom[level + 1]!;
    for (let i = firstItem(data, level, t0); i < last && start[i]! < t1; i++) {
      const [a, b] = [start[i]!, end[i]!];
      const [from, to] = [Math.max(0, (a - t0) * scale), (b - t0) * scale];
      if (to <= painted) continue;
      painted = Math.max((a - t0) * scale + least, to);
      drawn++;
      const tone = data.tones[i]!;
      const isMany = isCluster[i] === 1;
      layer.strips.bar(
        level,
        from,
        Math.max(to, from + least),
        (isMany ? pale : style.pixels)[tone]!,
      );
      const room = (Math.min(b, t1) - Math.max(a, t0)) * px;
      if (isMany || room < LEAST_END_PX || tall < LEAST_END_TALL_PX) continue;
      if (b <= t1)
        layer.strips.bar(level, to - (room >= 14 ? END_PX : 1) * least, to, edge.pixel, edge.alpha);
      const fn = longestFn[i]!;
      if (isWait[fn] === 1 && room >= LEAST_HATCH_PX) addBar(layer.waits, frame, a, b, level);
      if (room >= LEAST_LABEL_PX && tall >= LEAST_LABEL_TALL_PX)
        layer.labels.push({ fn, ns: longest[i]!, t0: a, t1: b, level, fill: style.fills[tone]! });
    }
  }
  return drawn;
}
