// SPDX-License-Identifier: MIT
// Colours for canvas: read from the style sheet once per theme change, patterns made once each.
import { inkOn, luminance, mix } from '../lib/color';
import { GREY_HUE } from '../lib/palette';

/** Colours of differences and of the two groups that are compared. */
export interface DiffColors {
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
