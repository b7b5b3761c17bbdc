// SPDX-License-Identifier: MIT
// The threads of the plate as one image (lib/platestrip): what a thread shows is drawn again only
// when its calls, its part in view or its place change; hatching and names lie above as paths.
import type { Theme } from '../../shared/draw/theme';
import type { Span } from '../../shared/lib/model';
import type { ServedThread } from '../../shared/state/served';
import {
  addBar,
  barGap,
  firstItem,
  hatch,
  lengthAt,
  paintLabel,
  PALE_LEVELS,
} from './draw_platepaint';
import type { Label, PlateScene, PlateStyle } from './draw_platepaint';
import type { Frame, RingFrame, StraightFrame } from './lib_plate';
import {
  bendOf,
  columnsOfSection,
  copyBent,
  copyRows,
  inkOfCss,
  pixelOf,
  Strips,
} from './lib_platestrip';
import type { Bend, Pixel, Section } from './lib_platestrip';
import type { ThreadData } from './state_load';

const LEAST_LABEL_PX = 30;
const LEAST_LABEL_TALL_PX = 11;
const LEAST_HATCH_PX = 8;
const END_PX = 3;
/** A call so narrow, or a level so low, has no end of its own. */
const LEAST_END_PX = 4;
const LEAST_END_TALL_PX = 6;

/** What is known of a frame's thread. */
export interface PlateThread {
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
    ...{ x: center.x * dpr, y: center.y * dpr, from, to },
    ...{ inner: edges.from.map(radius), outer: edges.to.map(radius) },
    ...{ least: inner * dpr, most: radius(frame.levels.at(frame.shown) * dpr) },
  };
}

export class PlateImage {
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
      ...{ place: placeOf(frame, dpr), strips, style, data: undefined, view: NO_VIEW },
      ...{ bend: section && bendOf(section, strips, width, height) },
      ...{ waits: new Path2D(), labels: [] },
    };
  }

  private copy(frame: Frame, { strips, bend }: Layer, dpr: number, around: Pixel): void {
    const { width, height } = this.image!;
    if (bend) return copyBent(this.pixels, strips, bend, around);
    const { box, levels, shown } = frame as StraightFrame;
    const { from, to } = edgesOf(frame, dpr);
    copyRows(this.pixels, width, height, strips, {
      ...{ x: Math.round(box.x * dpr), y: Math.round(box.y * dpr) },
      ...{ tops: from.map(Math.round), bottoms: to.map(Math.round) },
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
