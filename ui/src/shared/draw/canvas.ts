// SPDX-License-Identifier: MIT
// What is common to all drawing: the theme, text, hatches, and a canvas that paints once a frame.
import { inkOn, luminance, mix, GREY_HUE } from '../lib/color';
import { elide } from '../lib/names';
import type { Picture } from '../state/screens';

/** Colours of differences and of the two groups that are compared. */
interface DiffColors {
  /** By step: much faster, faster, no evidence, slower, much slower. */
  steps: string[];
  a: string;
  b: string;
  /** Executions in neither group. */
  others: string;
}

export interface Theme {
  diff: DiffColors;
  isDark: boolean;
  bg: string;
  panel: string;
  line: string;
  line2: string;
  grid: string;
  ink: string;
  ink2: string;
  ink3: string;
  accent: string;
  bad: string;
  /** A lock that is held while others wait. */
  held: string;
  warn: string;
  edge: string;
  other: string;
  hatch: string;
  hatchDark: string;
  font: string;
  /** By look (lib/timelinestates); the first is not drawn. */
  states: string[];
  hues: string[]; // ten, grey, and those that were assigned
  inks: string[];
  tints: string[]; // 35 % toward the background: stood still
  merged: string[]; // 45 %: narrower than two pixels
}

/** By look (lib/timelinestates): what the kernel tells, what was lost, what is inferred. */
function statesOf(get: (name: string) => string): string[] {
  const told = ['bg', 's-run', 's-ready', 's-lock', 's-disk', 's-net', 's-timer', 's-wait'];
  const [bg, still] = [get('bg'), get('s-ready')];
  const inferred = [mix(get('s-run'), bg, 0.35), mix(get('s-wait'), bg, 0.35), still, bg];
  return [...told.map(get), mix(get('bad'), bg, 0.1), ...inferred];
}

export function readTheme(element: Element): Theme {
  const style = getComputedStyle(element);
  const get = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const bg = get('bg');
  const hues = Array.from({ length: 11 }, (_, i) => get(i === GREY_HUE ? 'grey' : `h${i + 1}`));
  for (let own = get('h12'); own !== ''; own = get(`h${hues.length + 1}`)) hues.push(own);
  const steps = ['diff-a', 'cmp-a2', 'cmp-0', 'cmp-b2', 'diff-b'].map(get);
  return {
    isDark: luminance(bg) < 0.2,
    bg,
    panel: get('panel'),
    line: get('line'),
    line2: get('line2'),
    grid: get('grid'),
    ink: get('ink'),
    ink2: get('ink2'),
    ink3: get('ink3'),
    accent: get('accent'),
    bad: get('bad'),
    held: get('d-o1'),
    warn: get('warn'),
    edge: get('edge'),
    other: get('other'),
    hatch: get('hatch'),
    hatchDark: get('hatch-d'),
    font: get('sans'),
    hues,
    diff: { steps, a: get('diff-a'), b: get('diff-b'), others: get('cmp-rest') },
    states: statesOf(get),
    inks: hues.map(inkOn),
    tints: hues.map(hue => mix(hue, bg, 0.35)),
    merged: hues.map(hue => mix(hue, bg, 0.55)),
  };
}

type PatternKind = 'wait' | 'back' | 'dots' | 'more';

/** One pattern for each kind, colour and pixel ratio; anchored to the content by `shift`. */
export class Patterns {
  private readonly made = new Map<string, CanvasPattern | null>();
  constructor(
    private readonly ctx: CanvasRenderingContext2D,
    private readonly dpr: number,
  ) {}

  get(kind: PatternKind, color: string, shiftX: number, shiftY: number): CanvasPattern | null {
    const key = `${kind} ${color}`;
    let pattern = this.made.get(key);
    if (pattern === undefined) {
      pattern = this.ctx.createPattern(tile(kind, color, this.dpr), 'repeat');
      this.made.set(key, pattern);
    }
    pattern?.setTransform(new DOMMatrix([1, 0, 0, 1, Math.round(shiftX), Math.round(shiftY)]));
    return pattern;
  }
}

function tile(kind: PatternKind, color: string, dpr: number): HTMLCanvasElement {
  const size = Math.round(6 * dpr);
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = size;
  const ctx = canvas.getContext('2d')!;
  ctx.fillStyle = ctx.strokeStyle = color;
  if (kind === 'more') {
    canvas.width = Math.round(3 * dpr);
    ctx.fillStyle = color;
    ctx.fillRect(0, 0, Math.max(1, Math.round(dpr)), size);
    return canvas;
  }
  if (kind === 'dots') {
    const dot = Math.max(1, Math.round(1.3 * dpr));
    for (const at of [1, 4]) ctx.fillRect(Math.round(at * dpr), Math.round(at * dpr), dot, dot);
    return canvas;
  }
  ctx.lineWidth = 1.1 * dpr;
  ctx.beginPath();
  for (const shift of [-size, 0, size]) {
    const [from, to] = kind === 'back' ? [-size, size * 2] : [size * 2, -size];
    ctx.moveTo(shift - size, from);
    ctx.lineTo(shift + size * 2, to);
  }
  ctx.stroke();
  return canvas;
}

/* ---- Text on canvas: widths are cached, and names are shortened by rule before they are drawn. ---- */

export class TextMeter {
  private readonly widths = new Map<string, number>();
  private readonly fits = new Map<string, string>();
  constructor(private readonly ctx: CanvasRenderingContext2D) {}

  width(font: string, text: string): number {
    const key = `${font}|${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      this.ctx.font = font;
      width = this.ctx.measureText(text).width;
      if (this.widths.size > 20000) this.widths.clear();
      this.widths.set(key, width);
    }
    return width;
  }

  /** The longest form of a name within `room`; empty if none fits. */
  fit(font: string, name: string, room: number): string {
    const bucket = Math.floor(room / 8);
    const key = `${font}|${bucket}|${name}`;
    let text = this.fits.get(key);
    if (text === undefined) {
      text = elide(name, candidate => this.width(font, candidate) <= bucket * 8);
      if (this.fits.size > 20000) this.fits.clear();
      this.fits.set(key, text);
    }
    return text;
  }
}

/* ---- Second channels of a fill: hatches one way and the other, and dots. ---- */

/** fore: waits; back: ready, or lost; dots: inferred; unsure: too little is known. */
export type Hatch = 'none' | 'fore' | 'back' | 'dots' | 'unsure';

const KINDS = { fore: 'wait', back: 'back', dots: 'dots', unsure: 'wait' } as const;

/** Marks a rectangle (device px); anchored to the content by `shift`. */
export function hatchIn(
  { ctx, theme, patterns }: Pane,
  hatch: Hatch,
  rect: { x: number; y: number; w: number; h: number },
  shift: number,
): void {
  if (hatch === 'none') return;
  const color = hatch === 'fore' ? theme.hatch : theme.hatchDark; // the others are on pale fills
  ctx.fillStyle = patterns.get(KINDS[hatch], color, 0, shift) ?? color;
  ctx.fillRect(rect.x, rect.y, rect.w, rect.h);
}

/* ---- A canvas of its own size that paints when something changed, once a frame; and several of them as
 * the one picture of a screen. ---- */

/** What a painter paints with; sizes are CSS px, the context counts device px. */
export interface Pane {
  ctx: CanvasRenderingContext2D;
  theme: Theme;
  patterns: Patterns;
  text: TextMeter;
  dpr: number;
  width: number;
  height: number;
}

export class PanePainter implements Picture {
  private frame = 0;
  private waiting: (() => void)[] = [];
  private theme: Theme | null = null;
  private patterns: Patterns | null = null;
  private text: TextMeter | null = null;
  private dpr = 1;
  width = 0;
  height = 0;
  /** How long the last painting took, in ms. */
  lastPaint = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly draw: (pane: Pane) => void,
  ) {}

  resize(width: number, height: number): void {
    const dpr = window.devicePixelRatio || 1;
    if (width === this.width && height === this.height && dpr === this.dpr) return;
    Object.assign(this, { width, height, dpr, patterns: null, text: null });
    this.canvas.width = Math.round(width * dpr);
    this.canvas.height = Math.round(height * dpr);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.markBase();
  }

  retheme(): void {
    this.theme = this.patterns = null;
    this.markBase();
  }

  markBase(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  idle(): Promise<void> {
    if (this.frame === 0) return Promise.resolve();
    return new Promise(resolve => this.waiting.push(resolve));
  }

  end(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    for (const done of this.waiting.splice(0)) done();
  }

  private paint(): void {
    this.frame = 0;
    const ctx = this.canvas.getContext('2d', { alpha: false })!;
    this.theme ??= readTheme(document.documentElement);
    this.patterns ??= new Patterns(ctx, this.dpr);
    this.text ??= new TextMeter(ctx);
    const { theme, patterns, text, dpr, width, height } = this;
    const started = performance.now();
    ctx.fillStyle = theme.bg;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    if (width > 0 && height > 0) this.draw({ ctx, theme, patterns, text, dpr, width, height });
    this.lastPaint = performance.now() - started;
    for (const done of this.waiting.splice(0)) done();
  }
}

/** All the panes of a screen. */
export class Panes implements Picture {
  private readonly all = new Set<PanePainter>();

  add(painter: PanePainter): () => void {
    this.all.add(painter);
    return () => {
      this.all.delete(painter);
      painter.end();
    };
  }

  async idle(): Promise<void> {
    await Promise.all([...this.all].map(painter => painter.idle()));
  }

  markBase(): void {
    for (const painter of this.all) painter.markBase();
  }

  retheme(): void {
    for (const painter of this.all) painter.retheme();
  }
}

/** Device px. */
export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** A line around a box: outside of it, or within. */
export function outline(
  { ctx, theme, dpr }: Pane,
  { x, y, w, h }: Rect,
  width: number,
  isWithin = false,
): void {
  const line = width * dpr;
  const out = isWithin ? -line : line;
  ctx.strokeStyle = theme.ink;
  ctx.lineWidth = line;
  ctx.strokeRect(x - out / 2, y - out / 2, Math.max(1, w + out), Math.max(1, h + out));
}
