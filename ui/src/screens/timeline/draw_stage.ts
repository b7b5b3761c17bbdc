// SPDX-License-Identifier: MIT
// The stage of the timeline: which tracks are in view, what of them is painted, and what lies under
// the pointer.
import { paintAxis, ticksOf } from '../../shared/draw/axis';
import { BaseStage } from '../../shared/draw/base';
import type { Canvases } from '../../shared/draw/base';
import { paintBands } from '../../shared/draw/overlay';
import type { Thread } from '../../shared/lib/model';
import { segmentSentence } from '../../shared/lib/path';
import { Raster } from '../../shared/lib/raster';
import { inferredStrip, stateAt, stateWords } from '../../shared/lib/states';
import type { Strip } from '../../shared/lib/states';
import { columnNs, levelOf } from '../../shared/lib/tiles';
import { View } from '../../shared/lib/timemap';
import type { App } from '../../shared/state/app';
import type { CallAt, CallSet } from '../../shared/state/served';
import { paintFlags } from './draw_flags';
import { laneStyle, paintLanes } from './draw_lanes';
import type { LaneStyle } from './draw_lanes';
import { styleOf, TrackPainter } from './draw_paint';
import type { Scene, Style } from './draw_paint';
import { paintHops, paintPathLane, pathStyle } from './draw_path';
import type { PathBox, PathPlace, PathStyle } from './draw_path';
import { paintStrip, stripStyle } from './draw_strip';
import type { StripStyle } from './draw_strip';
import { LabelMasks } from './draw_text';
import { glyphAt } from './lib_glyphs';
import type { Glyphs, Window } from './lib_glyphs';
import { LANE, pieceAt, pieceWords } from './lib_lanes';
import { laneSegmentAt } from './lib_path';
import { SetIndex } from './lib_set';
import { callsTop, firstTrackAt, TRACK_FOOT } from './lib_tracks';
import type { Track, Tracks } from './lib_tracks';
import { LaneLoader } from './state_lanes';
import { StateLoader } from './state_states';
import { TileLoader } from './state_tiles';
import { callSpan, timelineOf } from './state_timeline';
import type { StateHit, Timeline, TimelineHit } from './state_timeline';

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
export interface Placed {
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
      ...{ t0: view.t0, t1: view.t1, scale: (this.width * this.dpr) / (view.t1 - view.t0) },
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
      ...{ raster: this.raster, style: this.style, masks: this.masks, families },
      ...{ store: this.loader.store, level: this.levelNow(view), window: this.windowOf(view) },
      ...{ dpr: this.dpr, isWait: names.isWait, set: this.setIndex(), endNs: trace.duration },
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
      ...{ thread: track.thread, start: own.start, end: own.end, segment },
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
    const by = 'as the trace tells of its locks';
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
      ...{ level: this.levelNow(view), t0: view.t0, t1: view.t1 },
      ...{ threads: ids(placed), near: ids(this.placed(MARGIN)) },
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
      ...{ thread: call.thread, depth: call.depth, start: call.start, end: call.end, fn: call.fn },
      ...{ count: 1, covered: ns, longest: ns, x0, x1: Math.max(x0 + 1, x1) },
      ...{ y0, y1: y0 + Math.max(1, own.track.levelHeight - 1) },
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
      ...{ thread: track.thread, depth, start: glyphs.from[i]!, end: glyphs.to[i]! },
      ...{ fn: glyphs.fn[i]!, count: glyphs.count[i]!, covered: glyphs.covered[i]! },
      ...{ longest: glyphs.longest[i]!, x0: glyphs.x0[i]! / this.dpr },
      ...{ x1: glyphs.x1[i]! / this.dpr, y0, y1: y0 + Math.max(1, track.levelHeight - 1) },
    };
  }
}
