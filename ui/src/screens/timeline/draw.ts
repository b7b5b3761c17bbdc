// SPDX-License-Identifier: MIT
// The stage of the timeline: which tracks are in view, what of them is painted, and what lies under
// the pointer.
import { columnNs, levelOf } from '../../shared/api/tiles';
import { paintAxis, ticksOf, BaseStage, paintBands, AXIS } from '../../shared/draw/base';
import type { Canvases } from '../../shared/draw/base';
import { TextMeter } from '../../shared/draw/canvas';
import type { Theme } from '../../shared/draw/canvas';
import { compact, duration } from '../../shared/lib/format';
import type { Thread } from '../../shared/lib/model';
import { segmentSentence } from '../../shared/lib/path';
import { Raster, maskOf } from '../../shared/lib/raster';
import type { Mask } from '../../shared/lib/raster';
import { inferredStrip, stateAt, stateWords } from '../../shared/lib/states';
import type { Strip } from '../../shared/lib/states';
import { View } from '../../shared/lib/timemap';
import type { App } from '../../shared/state/app';
import type { CallAt, CallSet } from '../../shared/state/served';
import { StateLoader, TileLoader } from './load';
import { styleOf, TrackPainter, glyphAt } from './paint';
import type { Scene, Style, Glyphs, Window } from './paint';
import { laneSegmentAt } from './path';
import { callSpan, timelineOf } from './state';
import type { StateHit, Timeline, TimelineHit, Flag } from './state';
import {
  laneStyle,
  paintLanes,
  paintHops,
  paintPathLane,
  pathStyle,
  paintStrip,
  stripStyle,
} from './strips';
import type { LaneStyle, PathBox, PathPlace, PathStyle, StripStyle } from './strips';
import {
  LANE,
  pieceAt,
  pieceWords,
  callsTop,
  firstTrackAt,
  TRACK_FOOT,
  LaneLoader,
} from './tracks';
import type { Track, Tracks } from './tracks';
import { SetIndex } from './walk';

const TEXT_MS = 4;
const MERGE_PX = 2;
const CELL_COLUMNS = 32;
const STRIP_TOP = 2;
const MARGIN = 300; // px above and below that are asked for ahead

/** Where the strip of a path is on a track, in CSS px. */
function pathBox({ path }: Track, top: number): PathBox {
  return { top: top + STRIP_TOP, height: path - 2 };
}

/** A track where it is on the canvas. */
interface Placed {
  track: Track;
  top: number;
}

export class TimelineStage extends BaseStage<Track> {
  readonly loader: TileLoader;
  readonly states: StateLoader;
  private readonly timeline: Timeline;
  private readonly painter = new TrackPainter();
  private raster: Raster | null = null;
  private image: ImageData | null = null;
  private style: Style | null = null;
  private strips: StripStyle | null = null;
  private masks: LabelMasks | null = null;
  private lanes: LaneLoader | null = null;
  private laneStyle: LaneStyle | null = null;
  private pathStyle: PathStyle | null = null;
  /** The lock under the pointer when the rows were painted, or ''. */
  private lock = '';
  private set: { of: CallSet; index: SetIndex } | null = null;
  /** What the axis was painted of; it and an overlay with nothing on it are left alone. */
  private axisOf: unknown[] = [];
  private isOverEmpty = false;
  private readonly inferred = new WeakMap<Thread, Strip>();

  constructor(app: App, canvases: Canvases) {
    super(app, canvases);
    this.timeline = timelineOf(app);
    const { source, trace } = this.timeline.served;
    this.loader = new TileLoader(source, trace.duration, () => this.markBase());
    const last = (thread: number): number => this.timeline.served.threads[thread]?.last ?? 0;
    this.states = new StateLoader(source, trace.duration, last, () => this.markBase());
  }

  rows(): { rows: Track[]; height: number } {
    const { tracks, height } = this.timeline.tracks();
    return { rows: tracks, height };
  }

  override view(): View {
    const { window } = this.app.state.get();
    return new View(this.app.model.linear, window.t0, window.t1, this.width);
  }

  override resize(width: number, height: number): void {
    super.resize(width, height);
    this.raster = null;
    this.masks = null;
    this.axisOf = [];
    this.isOverEmpty = false;
  }

  override retheme(): void {
    super.retheme();
    this.style = null;
    this.strips = null;
    this.laneStyle = null;
    this.pathStyle = null;
    this.masks = null;
  }

  /** The screen is gone: nothing more is asked for. */
  stop(): void {
    this.loader.stop();
    this.states.stop();
    this.lanes?.stop();
  }

  /** Painted, and nothing of it is missing. */
  override async idle(): Promise<void> {
    for (;;) {
      await super.idle();
      const lanes = this.lanes;
      const isIdle = this.loader.isIdle && this.states.isIdle && lanes?.isIdle !== false;
      if (isIdle && !this.masks?.isShort) return;
      await Promise.all([this.loader.idle(), this.states.idle(), lanes?.idle()]);
      await new Promise(resolve => requestAnimationFrame(resolve));
    }
  }

  /** Tracks in view, with `margin` px more: pinned ones, then the others. */
  placed(margin = 0): Placed[] {
    const all: Tracks = this.timeline.tracks();
    const out: Placed[] = [];
    for (let i = 0; i < all.pinned; i++) out.push({ track: all.tracks[i]!, top: all.tracks[i]!.y });
    const top = this.scrollTop + all.pinnedHeight;
    for (let i = firstTrackAt(all, top - margin); i < all.tracks.length; i++) {
      const track = all.tracks[i]!;
      if (track.y >= this.scrollTop + this.height + margin) break;
      out.push({ track, top: track.y - this.scrollTop });
    }
    return out;
  }

  /** Time per px decides how coarse tiles may be. */
  private levelNow(view: View): number {
    return levelOf((view.t1 - view.t0) / view.width);
  }

  private windowOf(view: View): Window {
    return {
      t0: view.t0,
      t1: view.t1,
      scale: (this.width * this.dpr) / (view.t1 - view.t0),
      least: Math.round(MERGE_PX * this.dpr),
      cellNs: CELL_COLUMNS * columnNs(this.levelNow(view)),
    };
  }

  private setIndex(): SetIndex | null {
    const { set } = this.timeline.served.state.get();
    if (!set) return null;
    if (this.set?.of !== set) this.set = { of: set, index: new SetIndex(set) };
    return this.set.index;
  }

  private scene(view: View): Scene {
    const { threads, families, names, trace } = this.timeline.served;
    this.style ??= styleOf(this.theme!);
    this.strips ??= stripStyle(this.theme!);
    this.masks ??= new LabelMasks(families.short, this.dpr, this.theme!.font);
    const { width, height } = this.canvases.base;
    if (!this.raster) {
      this.raster = new Raster(width, height);
      this.image = new ImageData(this.raster.bytes, width, height);
    }
    return {
      raster: this.raster,
      style: this.style,
      masks: this.masks,
      families,
      store: this.loader.store,
      level: this.levelNow(view),
      window: this.windowOf(view),
      dpr: this.dpr,
      isWait: names.isWait,
      set: this.setIndex(),
      endNs: trace.duration,
      strips: this.strips,
      cutCalls: thread => threads[thread]?.cutCalls ?? 0,
      firstNs: thread => threads[thread]?.first ?? 0,
    };
  }

  protected paintBase(ctx: CanvasRenderingContext2D, view: View): void {
    const scene = this.scene(view);
    const { raster } = scene;
    this.loader.store.tick();
    scene.masks.begin(TEXT_MS);
    const line = Math.max(1, Math.round(this.dpr));
    const xs = ticksOf(view).ticks.map(({ x }) => Math.round(x * this.dpr));
    raster.ground(scene.style.bg, scene.style.grid, xs, line);
    const placed = this.placed();
    for (const one of placed) if (!one.track.isPinned) this.paintTrack(scene, one, line);
    const { pinnedHeight } = this.timeline.tracks();
    if (pinnedHeight > 0) raster.clear(0, Math.round(pinnedHeight * this.dpr));
    for (const one of placed) if (one.track.isPinned) this.paintTrack(scene, one, line);
    this.paintArrows(scene);
    ctx.putImageData(this.image!, 0, 0);
    this.want(view, placed);
    if (scene.masks.isShort) this.markBase();
  }

  /** States of a thread: as the kernel tells them, else what the regimes of the whole trace let
   * infer, when they are there. */
  private stripOf(thread: number): Strip | undefined {
    if (this.timeline.served.trace.hasStates) return this.states.of(thread);
    const { model } = this.app;
    const shown = model.trace.threads[thread];
    const own = model.trace.part?.kind === 'window' ? shown?.whole : shown;
    if (!own || model.trace.part?.kind === 'sketch' || own.calls === 0) return undefined;
    let strip = this.inferred.get(own);
    if (!strip) {
      const { settings, functions } = model.trace;
      const nameOf = (fn: number): string => functions.name[fn] ?? '';
      strip = inferredStrip(own, settings.pauseThreshold, nameOf);
      this.inferred.set(own, strip);
    }
    return strip;
  }

  private paintTrack(scene: Scene, { track, top }: Placed, line: number): void {
    const { raster, style, dpr } = scene;
    const bottom = Math.round((top + track.height) * dpr);
    if (track.thread < 0) raster.rect(0, Math.round(top * dpr), raster.width, bottom, style.panel);
    else {
      this.painter.paint(scene, track, top);
      this.paintSilence(scene, track.thread, Math.round(top * dpr), bottom);
      const strip = track.strip > 0 ? this.stripOf(track.thread) : undefined;
      if (strip) paintStrip(scene, strip, top + STRIP_TOP + track.path, track.strip - 2);
      this.paintLanes(scene, track, top);
      this.paintPath(scene, track, top);
    }
    raster.rect(0, bottom - line, raster.width, bottom, style.line);
  }

  private paintPath(scene: Scene, track: Track, top: number): void {
    const { path } = this.timeline.state.get();
    const lane = track.path > 0 ? path?.lanes.get(track.thread) : undefined;
    if (!path || !lane) return;
    this.pathStyle ??= pathStyle(this.theme!);
    paintPathLane(scene, this.pathStyle, path, lane, pathBox(track, top));
  }

  /** Between tracks that are in view or scrolled out of it. */
  private paintArrows(scene: Scene): void {
    const { path } = this.timeline.state.get();
    if (!path || path.hops.length === 0) return;
    const { tracks, pinnedHeight } = this.timeline.tracks();
    const places = new Map<number, PathPlace>();
    for (const track of tracks) {
      if (track.path === 0) continue;
      const box = pathBox(track, track.isPinned ? track.y : track.y - this.scrollTop);
      const isSeen = track.isPinned || box.top >= pinnedHeight;
      places.set(
        track.thread,
        isSeen ? { ...box, isSeen } : { top: pinnedHeight, height: 0, isSeen },
      );
    }
    this.pathStyle ??= pathStyle(this.theme!);
    paintHops(scene, this.pathStyle, path, thread => places.get(thread) ?? null);
  }

  /** The stretch of the path under a place of the area. */
  private segmentAt(x: number, y: number, { track, top }: Placed): StateHit | null {
    const { path } = this.timeline.state.get();
    const box = pathBox(track, top);
    if (!path || track.path === 0 || y < box.top || y >= box.top + box.height) return null;
    const view = this.view();
    const near = ((view.t1 - view.t0) / view.width) * 2;
    const segment = laneSegmentAt(path, track.thread, view.t(x), near);
    if (segment < 0) return null;
    const own = path.path.segments[segment]!;
    const nameOf = (id: number): string => this.timeline.served.threads[id]?.label ?? 'a thread';
    return {
      thread: track.thread,
      start: own.start,
      end: own.end,
      segment,
      words: segmentSentence(own, path.path, nameOf),
      by: `critical path of ${path.title}`,
    };
  }

  /** The selected segment of the path has an outline. */
  private outlineSegment(ctx: CanvasRenderingContext2D, view: View): void {
    const { path, segment } = this.timeline.state.get();
    const own = path?.path.segments[segment];
    const placed = own && this.placed().find(({ track }) => track.thread === own.thread);
    if (!own || !placed || placed.track.path === 0) return;
    const box = pathBox(placed.track, placed.top);
    const [x0, x1] = [view.x(own.start), view.x(own.end)];
    this.outline(ctx, { x0, x1: Math.max(x0 + 1, x1), y0: box.top, y1: box.top + box.height }, 2);
  }

  /** Where the lanes of a track begin. */
  private laneTop(track: Track, top: number): number {
    return top + track.height - TRACK_FOOT - track.lanes * LANE + 1;
  }

  /** Lanes are asked for as soon as it is known whose locks have them. */
  private laneLoader(): LaneLoader | null {
    const { laneOrder, hasLanes } = this.timeline.state.get();
    if (!laneOrder || !hasLanes) return null;
    const { source, trace } = this.timeline.served;
    this.lanes ??= new LaneLoader(source, trace.duration, laneOrder, () => this.markBase());
    return this.lanes;
  }

  private paintLanes(scene: Scene, track: Track, top: number): void {
    const loader = track.lanes > 0 ? this.laneLoader() : null;
    if (!loader) return;
    this.laneStyle ??= laneStyle(this.theme!);
    const at = this.laneTop(track, top);
    paintLanes(scene, this.laneStyle, loader.of(track.thread), at, this.lock);
  }

  /** The piece of a lane under a place of the area. */
  private laneAt(x: number, y: number, { track, top }: Placed): StateHit | null {
    const place = Math.floor((y - this.laneTop(track, top)) / LANE);
    const lane = place >= 0 ? this.laneLoader()?.of(track.thread)[place] : null;
    if (!lane) return null;
    const view = this.view();
    const i = pieceAt(lane, view.t(x), (view.t1 - view.t0) / view.width);
    if (i < 0) return null;
    const [start, end] = [lane.start[i]!, lane.end[i]!];
    const by = 'as the trace records its locks';
    return {
      thread: track.thread,
      start,
      end,
      words: pieceWords(lane, i),
      by,
      lock: lane.object.id,
    };
  }

  /** Before its first event and after its last, nothing is known of a thread: that is no idleness. */
  private paintSilence(scene: Scene, thread: number, top: number, bottom: number): void {
    const { raster, style, window, dpr } = scene;
    const { first, last } = this.timeline.served.threads[thread]!;
    const [x0, x1] = [first, last].map(t => Math.round((t - window.t0) * window.scale));
    raster.rect(0, top, x0!, bottom, style.panel);
    const behind = x1! + Math.round(2 * dpr); // a call of no length there has its width
    raster.rect(behind, top, raster.width, bottom, style.panel);
  }

  private want(view: View, placed: Placed[]): void {
    const ids = (list: Placed[]): number[] =>
      list.flatMap(({ track }) => (track.thread < 0 ? [] : [track.thread]));
    this.loader.want({
      level: this.levelNow(view),
      t0: view.t0,
      t1: view.t1,
      threads: ids(placed),
      near: ids(this.placed(MARGIN)),
    });
    if (this.timeline.served.trace.hasStates)
      this.states.want(view.t0, view.t1, view.width, ids(placed));
    this.laneLoader()?.want(view.t0, view.t1, view.width, ids(placed));
  }

  /** The lock under the pointer is highlighted on every thread: the others are pale. */
  private followLock(): void {
    const lock = this.timeline.state.get().over?.lock ?? '';
    if (lock === this.lock) return;
    this.lock = lock;
    this.markBase();
  }

  protected paintOver(view: View): void {
    this.followLock();
    const { app, dpr, canvases, height } = this;
    const { call } = this.timeline.served.state.get();
    const { hover, flags, editing } = this.timeline.state.get();
    const { range, isPreview, window } = app.state.get();
    const theme = this.theme!;
    const parts = [window, range, call, flags, editing, theme, this.width, this.dpr];
    const hasAxis = parts.some((part, i) => part !== this.axisOf[i]);
    this.axisOf = parts;
    const axis = canvases.axis.getContext('2d', { alpha: false })!;
    if (hasAxis) paintAxis(axis, theme, view, dpr, range ?? callSpan(call), false);
    const seen = flags.filter(({ t }) => t >= view.t0 && t <= view.t1);
    const box = call && this.boxOf(call, view);
    const { path, segment } = this.timeline.state.get();
    const hasSegment = path !== null && segment >= 0;
    const isEmpty = !range && !hover && !box && !hasSegment && seen.length === 0;
    if (isEmpty && this.isOverEmpty) return;
    this.isOverEmpty = isEmpty;
    const ctx = canvases.overlay.getContext('2d')!;
    ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    paintBands({ ctx, theme, view, dpr }, range, isPreview, null);
    if (hover) this.outline(ctx, hover, 1);
    if (box) this.outline(ctx, box, 2);
    if (hasSegment) this.outlineSegment(ctx, view);
    const now = flags[editing] ?? null;
    paintFlags({ axis: hasAxis ? axis : null, over: ctx, theme, view, dpr, height }, seen, now);
  }

  private outline(
    ctx: CanvasRenderingContext2D,
    box: { x0: number; x1: number; y0: number; y1: number },
    width: number,
  ): void {
    const { dpr } = this;
    const out = width * dpr;
    const x0 = Math.max(-4, Math.round(box.x0 * dpr)) - out / 2;
    const x1 = Math.min(ctx.canvas.width + 4, Math.round(box.x1 * dpr)) + out / 2;
    const [y0, y1] = [Math.round(box.y0 * dpr) - out / 2, Math.round(box.y1 * dpr) + out / 2];
    ctx.strokeStyle = this.theme!.ink;
    ctx.lineWidth = out;
    ctx.strokeRect(x0, y0, Math.max(out, x1 - x0), y1 - y0);
  }

  /** Where a call is drawn, if its track and depth are in view. */
  boxOf(call: CallAt, view = this.view()): TimelineHit | null {
    const own = this.placed().find(
      ({ track }) => track.thread === call.thread && call.depth < track.levels,
    );
    if (!own) return null;
    const y0 = own.top + callsTop(own.track) + call.depth * own.track.levelHeight;
    const [x0, x1] = [view.x(call.start), view.x(call.end)];
    const ns = call.end - call.start;
    return {
      thread: call.thread,
      depth: call.depth,
      start: call.start,
      end: call.end,
      fn: call.fn,
      count: 1,
      covered: ns,
      longest: ns,
      x0,
      x1: Math.max(x0 + 1, x1),
      y0,
      y1: y0 + Math.max(1, own.track.levelHeight - 1),
    };
  }

  /** The track under a place of the area. */
  trackAt(y: number): Placed | null {
    const placed = this.placed();
    const inside = ({ track, top }: Placed): boolean => y >= top && y < top + track.height;
    return (
      placed.find(one => one.track.isPinned && inside(one)) ??
      placed.find(one => !one.track.isPinned && inside(one)) ??
      null
    );
  }

  /** The state under a place of the area: where it is and what, in words. */
  stateAt(x: number, y: number): StateHit | null {
    const placed = this.trackAt(y);
    const own = placed && this.segmentAt(x, y, placed);
    if (own) return own;
    const lane = placed && placed.track.lanes > 0 ? this.laneAt(x, y, placed) : null;
    if (lane) return lane;
    const strip = placed && placed.track.strip > 0 ? this.stripOf(placed.track.thread) : null;
    const stripTop = (placed?.top ?? 0) + (placed?.track.path ?? 0);
    if (!placed || !strip || y - stripTop >= STRIP_TOP + placed.track.strip) return null;
    const i = stateAt(strip, this.view().t(x));
    if (i < 0) return null;
    const { thread } = placed.track;
    const [start, end] = [strip.start[i]!, strip.end[i]!];
    return { thread, start, end, words: stateWords(strip, i), by: strip.by };
  }

  /** What lies under a place of the area. */
  hit(x: number, y: number): TimelineHit | null {
    const placed = this.trackAt(y);
    if (!placed || placed.track.thread < 0 || !this.theme) return null;
    const { track, top } = placed;
    const depth = Math.floor((y - top - callsTop(track)) / track.levelHeight);
    if (depth < 0 || depth >= track.levels) return null;
    const scene = this.scene(this.view());
    const { calls, blocks } = this.painter.glyphsOf(scene, track.thread, depth);
    const at = Math.floor(x * this.dpr);
    const call = glyphAt(calls, at, 0);
    if (call >= 0) return this.hitOf(calls, call, placed, depth);
    const block = glyphAt(blocks, at, Math.round(this.dpr));
    return block >= 0 ? this.hitOf(blocks, block, placed, depth) : null;
  }

  private hitOf(glyphs: Glyphs, i: number, { track, top }: Placed, depth: number): TimelineHit {
    const y0 = top + callsTop(track) + depth * track.levelHeight;
    return {
      thread: track.thread,
      depth,
      start: glyphs.from[i]!,
      end: glyphs.to[i]!,
      fn: glyphs.fn[i]!,
      count: glyphs.count[i]!,
      covered: glyphs.covered[i]!,
      longest: glyphs.longest[i]!,
      x0: glyphs.x0[i]! / this.dpr,
      x1: glyphs.x1[i]! / this.dpr,
      y0,
      y1: y0 + Math.max(1, track.levelHeight - 1),
    };
  }
}

/* ---- Texts as masks: each is drawn once, and laid into frames as often as it is needed. A frame makes
 * only as many as there is time for; the others come with the next. ---- */

const BUCKET = 8; // px: rooms are told apart by it
const MOST = 30000;
const BASE_LINE = 9;
const ROW = 12;

export class LabelMasks {
  private readonly canvas = document.createElement('canvas');
  private readonly ctx: CanvasRenderingContext2D;
  private readonly meter: TextMeter;
  private readonly font: string;
  private readonly texts = new Map<string, Mask>();
  private readonly names: (Mask | null | undefined)[][] = [];
  private readonly times = new Map<number, Mask>();
  private readonly counts = new Map<number, Mask>();
  private readonly words = new Map<string, Mask>();
  private left = 0;
  /** Texts were left out of the frame at hand. */
  isShort = false;

  constructor(
    private readonly short: readonly string[],
    private readonly dpr: number,
    family: string,
  ) {
    this.canvas.width = 1024;
    this.canvas.height = Math.ceil(ROW * dpr);
    this.ctx = this.canvas.getContext('2d', { willReadFrequently: true })!;
    this.font = `400 ${10 * dpr}px ${family}`;
    this.meter = new TextMeter(this.ctx);
  }

  /** A new frame begins, with `ms` for new texts. */
  begin(ms: number): void {
    this.left = ms;
    this.isShort = false;
    const { texts, times, counts, words } = this;
    if (texts.size + times.size + counts.size + words.size < MOST) return;
    this.texts.clear();
    this.times.clear();
    this.counts.clear();
    this.words.clear();
    this.names.length = 0;
  }

  /** The longest form of a function's name within `room` device px; null: none, or not now. */
  name(fn: number, room: number): Mask | null {
    const bucket = Math.min(128, Math.floor(room / (BUCKET * this.dpr)));
    const own = (this.names[fn] ??= []);
    let mask = own[bucket];
    if (mask !== undefined) return mask;
    if (this.isLate()) return null;
    const started = performance.now();
    const text = this.meter.fit(this.font, this.short[fn] ?? '?', bucket * BUCKET * this.dpr);
    mask = text === '' ? null : this.make(text);
    own[bucket] = mask;
    this.left -= performance.now() - started;
    return mask;
  }

  time(ns: number): Mask | null {
    return this.number(this.times, ns, duration);
  }

  count(n: number): Mask | null {
    return this.number(this.counts, n, value => `\u00d7${compact(value)}`);
  }

  /** A text as it is. */
  word(text: string): Mask | null {
    if (text === '') return null;
    return this.number(this.words, text, same => same);
  }

  private number<T>(known: Map<T, Mask>, value: T, write: (of: T) => string): Mask | null {
    let mask = known.get(value);
    if (!mask) {
      if (this.isLate()) return null;
      const started = performance.now();
      known.set(value, (mask = this.make(write(value))));
      this.left -= performance.now() - started;
    }
    return mask;
  }

  private isLate(): boolean {
    if (this.left > 0) return false;
    this.isShort = true;
    return true;
  }

  private make(text: string): Mask {
    const known = this.texts.get(text);
    if (known) return known;
    const { ctx, canvas } = this;
    const width = Math.min(canvas.width, Math.ceil(this.meter.width(this.font, text)) + 1);
    const height = canvas.height;
    ctx.clearRect(0, 0, width, height);
    ctx.font = this.font;
    ctx.fillStyle = '#000';
    ctx.textBaseline = 'alphabetic';
    ctx.fillText(text, 0, Math.round(BASE_LINE * this.dpr));
    const { data } = ctx.getImageData(0, 0, width, height);
    const alpha = new Uint8Array(width * height);
    for (let i = 0; i < alpha.length; i++) alpha[i] = data[i * 4 + 3]!;
    const mask = maskOf(width, height, alpha);
    this.texts.set(text, mask);
    return mask;
  }
}

/* ---- Flags: a pennant in the axis band and a line through the rows. ---- */

interface FlagGround {
  /** null: its pennants are painted. */
  axis: CanvasRenderingContext2D | null;
  over: CanvasRenderingContext2D;
  theme: Theme;
  view: View;
  dpr: number;
  height: number;
}

const WIDE = 8;
const TALL = 7;
const MOST_NOTE = 160;

/** Flags in view; `editing` is the one whose note is being written. */
function paintFlags(ground: FlagGround, flags: readonly Flag[], editing: Flag | null): void {
  const { over, axis, dpr, theme, height } = ground;
  const line = Math.max(1, Math.round(dpr));
  for (const flag of flags) {
    const at = Math.round(Math.round(ground.view.x(flag.t)) * dpr);
    const color = flag === editing ? theme.accent : theme.warn;
    over.fillStyle = color;
    for (let y = 0; y < height * dpr; y += 4 * line) over.fillRect(at, y, line, 2 * line);
    if (axis) paintPennant(axis, theme, dpr, flag, at, color);
  }
}

function paintPennant(
  axis: CanvasRenderingContext2D,
  theme: Theme,
  dpr: number,
  flag: Flag,
  at: number,
  color: string,
): void {
  const line = Math.max(1, Math.round(dpr));
  axis.fillStyle = color;
  const top = (AXIS - TALL - 1) * dpr;
  axis.fillRect(at, top, line, (TALL + 1) * dpr);
  axis.beginPath();
  axis.moveTo(at, top);
  axis.lineTo(at + WIDE * dpr, top + (TALL / 2) * dpr);
  axis.lineTo(at, top + TALL * dpr);
  axis.fill();
  if (!flag.note) return;
  axis.font = `${10 * dpr}px ${theme.font}`;
  axis.textAlign = 'left';
  axis.textBaseline = 'middle';
  let text = flag.note;
  while (text.length > 3 && axis.measureText(text).width > MOST_NOTE * dpr)
    text = `${text.slice(0, Math.floor(text.length * 0.8))}\u2026`;
  const wide = axis.measureText(text).width;
  axis.fillStyle = theme.panel;
  axis.fillRect(at + (WIDE + 1) * dpr, top - 2 * dpr, wide + 4 * dpr, (TALL + 3) * dpr);
  axis.fillStyle = color;
  axis.fillText(text, at + (WIDE + 3) * dpr, top + (TALL / 2) * dpr);
}
