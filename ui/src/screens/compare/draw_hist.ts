// SPDX-License-Identifier: MIT
// Paints the histogram of a metric: all executions grey, those of a group in its colour, and what is
// brushed.
import type { Pane } from '../../shared/draw/pane';
import { mix } from '../../shared/lib/color';
import { compact } from '../../shared/lib/format';
import { fittingScale, heightOf, heightTicks } from '../../shared/lib/histogram';
import type { CountScale } from '../../shared/lib/histogram';
import { BinAxis, binRange } from './lib_bins';
import type { MetricBins } from './lib_bins';
import type { MetricUnit } from './lib_compare';
import { valueWords } from './lib_d';

export const HIST_SIDE = 42; // px for the counts
export const HIST_AXIS = 18; // px for the values
const TOP = 4;
const LABEL = 12; // px of a line of words
const TICK_GAP = 62;
const WORD_GAP = 8; // between the words of two ticks

export interface CompareHistScene {
  bins: MetricBins;
  own: Uint32Array;
  side: 'a' | 'b';
  unit: MetricUnit;
  scale: CountScale | 'fit';
  /** Values brushed, of the group's condition or of a drag. */
  brush: { min: number; max: number } | null;
  isPreview: boolean;
}

export function scaleOf({ bins, scale }: Pick<CompareHistScene, 'bins' | 'scale'>): CountScale {
  return scale === 'fit' ? fittingScale([...bins.all]) : scale;
}

export interface Tick {
  value: number;
  x: number;
}

/** Multiples of a step of 1, 2 or 5. */
function linearValues(low: number, high: number, room: number): number[] {
  const least = (high - low) / room;
  const power = 10 ** Math.floor(Math.log10(least));
  const steps = [10, 5, 2, 1, 0.5, 0.2].map(m => m * power);
  let values: number[] = [];
  // the smallest that there is room for, but two values tell a scale
  for (const step of steps) {
    if (step < least && values.length > 1) break;
    values = [];
    for (let i = Math.ceil(low / step); i * step <= high; i++) values.push(i * step);
  }
  return values;
}

/** Powers of ten, with 3, or 2 and 5 of them, as far as there is room. */
function logValues(low: number, high: number, room: number): number[] {
  let values: number[] = [];
  for (const leads of [[1], [1, 3], [1, 2, 5]]) {
    const finer: number[] = [];
    for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10)
      for (const lead of leads)
        if (lead * power >= low && lead * power <= high) finer.push(lead * power);
    if (finer.length > room && values.length > 1) break;
    values = finer;
  }
  return values;
}

/** Round values. A logarithmic axis within a decade may have none but linear ones. */
export function valueTicks(bins: MetricBins, axis: BinAxis, width: number): Tick[] {
  const { low, high, isLog } = bins;
  const room = Math.max(2, width / TICK_GAP);
  const powers = isLog ? logValues(low, high, room) : [];
  const values = powers.length > 1 ? powers : linearValues(low, high, room);
  return values.map(value => ({ value, x: axis.x(value) * width }));
}

/** "1.5 ms" of "1.50 ms", "10 ms" of "10.0 ms". */
export const shortWords = (words: string): string =>
  words.replace(/(\.\d*?)0+(?=\D|$)/, '$1').replace(/\.(?=\D|$)/, '');

class HistPainter {
  private readonly axis: BinAxis;
  private readonly width: number;
  private readonly bottom: number;
  private readonly scale: CountScale;
  private readonly most: number;

  constructor(
    private readonly pane: Pane,
    private readonly scene: CompareHistScene,
  ) {
    this.axis = new BinAxis(scene.bins);
    this.width = pane.width - HIST_SIDE - 4;
    this.bottom = pane.height - HIST_AXIS;
    this.scale = scaleOf(scene);
    this.most = scene.bins.all.reduce((most, one) => Math.max(most, one), 1);
  }

  paint(): void {
    this.counts();
    this.brush();
    const { theme } = this.pane;
    const colors = theme.diff;
    this.bars(this.scene.bins.all, colors.others);
    this.bars(this.scene.own, colors[this.scene.side]);
    this.values();
    this.edges(colors[this.scene.side]);
  }

  private x(share: number): number {
    return HIST_SIDE + share * this.width;
  }

  private fill(color: string, x0: number, x1: number, y0: number, y1: number): void {
    const { ctx, dpr } = this.pane;
    const [left, right] = [Math.round(x0 * dpr), Math.round(x1 * dpr)];
    const [top, bottom] = [Math.round(y0 * dpr), Math.round(y1 * dpr)];
    ctx.fillStyle = color;
    ctx.fillRect(left, top, Math.max(1, right - left), Math.max(1, bottom - top));
  }

  private words(text: string, x: number, y: number, align: CanvasTextAlign): void {
    const { ctx, theme, dpr } = this.pane;
    ctx.font = `400 ${10 * dpr}px ${theme.font}`;
    ctx.fillStyle = theme.ink2;
    ctx.textAlign = align;
    ctx.textBaseline = 'middle';
    ctx.fillText(text, Math.round(x * dpr), Math.round(y * dpr));
  }

  private counts(): void {
    const { theme, width } = this.pane;
    const room = this.bottom - TOP;
    for (const value of heightTicks(this.most, this.scale, 20 / Math.max(20, room))) {
      const y = this.bottom - heightOf(value, this.most, this.scale) * room;
      this.fill(theme.grid, HIST_SIDE, width, y, y + 1);
      this.words(compact(value), HIST_SIDE - 5, Math.max(LABEL / 2, y), 'right');
    }
  }

  private bars(counts: Uint32Array, color: string): void {
    const room = this.bottom - TOP;
    counts.forEach((count, i) => {
      if (count === 0) return;
      const [left, right] = this.axis.place(i);
      const height = Math.max(2, heightOf(count, this.most, this.scale) * room);
      const [x0, x1] = [this.x(left), this.x(right)];
      this.fill(color, x0, Math.max(x0 + 1, x1 - 1), this.bottom - height, this.bottom);
    });
  }

  private values(): void {
    const { theme, width, text, dpr } = this.pane;
    this.fill(theme.line2, HIST_SIDE, width, this.bottom, this.bottom + 1);
    let last = -Infinity;
    let said = '';
    if (this.scene.bins.hasNone) {
      const [left, right] = this.axis.place(0);
      this.words(
        'none',
        Math.max(HIST_SIDE + 10, this.x((left + right) / 2)),
        this.bottom + 10,
        'center',
      );
      last = HIST_SIDE + 24;
    }
    for (const { value, x } of valueTicks(this.scene.bins, this.axis, this.width)) {
      const at = HIST_SIDE + x;
      this.fill(theme.ink3, at, at + 1, this.bottom, this.bottom + 4);
      const words = shortWords(valueWords(value, this.scene.unit));
      const half = text.width(`400 ${10 * dpr}px ${theme.font}`, words) / dpr / 2;
      const middle = Math.min(width - half - 1, at);
      if (middle - half < last + WORD_GAP || at > width - 4 || words === said) continue;
      this.words(words, middle, this.bottom + 10, 'center');
      [last, said] = [middle + half, words];
    }
  }

  /** Left and right of what is brushed, px. */
  private brushed(): [number, number] | null {
    const { brush, bins } = this.scene;
    if (!brush) return null;
    const [left] = this.axis.place(0);
    const x0 = brush.min > -Infinity ? this.axis.x(brush.min) : left;
    const x1 = brush.max < Infinity ? this.axis.x(brush.max) : 1;
    const none = bins.hasNone ? this.axis.place(0) : null;
    return [
      this.x(none && brush.min <= 0 ? none[0] : x0),
      this.x(none && brush.max <= 0 ? none[1] : Math.max(x0, x1)),
    ];
  }

  private brush(): void {
    const own = this.brushed();
    if (!own) return;
    const { theme } = this.pane;
    const color = theme.diff[this.scene.side];
    const share = theme.isDark ? 0.2 : 0.13;
    this.fill(mix(color, theme.bg, share), own[0], own[1], TOP - 4, this.bottom);
  }

  private edges(color: string): void {
    const own = this.brushed();
    if (!own) return;
    const middle = (TOP + this.bottom) / 2;
    for (const x of own) {
      this.fill(color, x, x + 1, TOP - 4, this.bottom);
      if (this.scene.isPreview) continue;
      this.fill(color, x - 2, x + 3, middle - 9, middle + 9);
      this.fill(this.pane.theme.bg, x, x + 1, middle - 5, middle + 5);
    }
  }
}

export function paintCompareHist(pane: Pane, scene: CompareHistScene): void {
  if (pane.width > HIST_SIDE + 20 && pane.height > HIST_AXIS + 10)
    new HistPainter(pane, scene).paint();
}

/** The value at a place, snapped to the edge of a bin (`isFree`: not). */
export function valueAt(bins: MetricBins, width: number, x: number, isFree: boolean): number {
  const axis = new BinAxis(bins);
  const room = Math.max(1, width - HIST_SIDE - 4);
  const share = Math.max(-0.01, Math.min(1.01, (x - HIST_SIDE) / room));
  const value = axis.value(share);
  if (isFree || !Number.isFinite(value)) return value;
  let [best, near] = [value, 6 / room];
  for (let i = 0; i < bins.all.length; i++)
    for (const edge of binRange(bins, i)) {
      const far = Math.abs(axis.x(edge) - share);
      if (far < near) [best, near] = [edge, far];
    }
  return best;
}

/** Where a value is, px; an open end is that of the axis. */
export function xOf(bins: MetricBins, width: number, value: number): number {
  const room = Math.max(1, width - HIST_SIDE - 4);
  if (value === -Infinity) return HIST_SIDE;
  return HIST_SIDE + (value === Infinity ? 1 : new BinAxis(bins).x(value)) * room;
}
