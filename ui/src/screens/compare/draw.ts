// SPDX-License-Identifier: MIT
// Histograms of a metric: which bin each execution is in is found once; then a group is counted in
// one pass over them.
import type { Pane } from '../../shared/draw/canvas';
import { mix } from '../../shared/lib/color';
import { compact } from '../../shared/lib/format';
import { fittingScale, heightOf, heightTicks } from '../../shared/lib/histogram';
import type { CountScale } from '../../shared/lib/histogram';
import { short } from '../../shared/lib/numbers';
import { valueWords } from './data';
import type { MetricUnit } from './data';

export interface MetricBins {
  isLog: boolean;
  /** Of the bins behind the one of 0 (isLog). */
  low: number;
  high: number;
  n: number;
  /** isLog: how many have nothing; they are in bin 0, and the others follow. */
  hasNone: boolean;
  /** By execution. */
  bin: Uint16Array;
  all: Uint32Array;
}

const log = (value: number): number => Math.log2(value);
const WIDEN = Math.SQRT2; // so that a single value stands in the middle

/** Bins of equal width, or of equal ratio for values above 0. */
export function makeBins(
  values: Float64Array,
  n: number,
  isLog: boolean,
  weights: Float64Array | null = null,
): MetricBins {
  let [low, high, none] = [Infinity, -Infinity, 0];
  for (const value of values) {
    const own = Number.isNaN(value) ? 0 : value;
    if (isLog && own <= 0) none++;
    else {
      if (own < low) low = own;
      if (own > high) high = own;
    }
  }
  if (low > high) [low, high] = isLog ? [1, 2] : [0, 1];
  if (low === high) [low, high] = isLog ? [low / WIDEN, low * WIDEN] : [low - 0.5, low + 0.5];
  const hasNone = none > 0;
  const first = hasNone ? 1 : 0;
  const bin = new Uint16Array(values.length);
  const all = new Uint32Array(n + first);
  const scale = n / (isLog ? log(high) - log(low) : high - low);
  const base = isLog ? log(low) : low;
  for (let i = 0; i < values.length; i++) {
    const value = Number.isNaN(values[i]!) ? 0 : values[i]!;
    const at =
      isLog && value <= 0
        ? 0
        : first + Math.min(n - 1, Math.floor(((isLog ? log(value) : value) - base) * scale));
    bin[i] = at;
    all[at]! += weights ? weights[i]! : 1;
  }
  return { isLog, low, high, n, hasNone, bin, all };
}

/** How many of a side are in each bin. */
export function countBins(
  { bin, all }: MetricBins,
  members: Uint8Array,
  bit: number,
  weights: Float64Array | null = null,
): Uint32Array {
  const counts = new Uint32Array(all.length);
  const shift = bit - 1;
  if (weights)
    for (let i = 0; i < bin.length; i++)
      counts[bin[i]!]! += weights[i]! * ((members[i]! >> shift) & 1);
  // added, not asked for: who is in is as good as random, and a drag counts at each step
  else for (let i = 0; i < bin.length; i++) counts[bin[i]!]! += (members[i]! >> shift) & 1;
  return counts;
}

/** From the value where a bin begins to that where it ends; the bin of those without is [0, 0]. */
export function binRange(bins: MetricBins, at: number): [number, number] {
  const { isLog, low, high, n, hasNone } = bins;
  const i = at - (hasNone ? 1 : 0);
  if (i < 0) return [0, 0];
  if (!isLog) return [low + ((high - low) * i) / n, low + ((high - low) * (i + 1)) / n];
  return [low * (high / low) ** (i / n), low * (high / low) ** ((i + 1) / n)];
}

/** From the least value to the greatest, where bins meet; -Infinity and Infinity are its ends. */
function edgesOf(bins: MetricBins): number[] {
  const inner = Array.from({ length: bins.all.length - 1 }, (_, i) => binRange(bins, i)[1]);
  return [-Infinity, ...inner, Infinity];
}

const nearest = (edges: readonly number[], value: number): number => {
  const at = edges.findIndex(edge => edge >= value);
  if (at <= 0 || edges[at] === value) return Math.max(0, at);
  return edges[at]! - value < value - edges[at - 1]! ? at : at - 1;
};

export type EdgeMove = 'low' | 'high' | 'both';

/** A range with an edge (or both) moved by so many bins, at least one bin wide; null: it is all. */
export function moveRange(
  bins: MetricBins,
  range: { min: number; max: number } | null,
  which: EdgeMove,
  by: number,
): { min: number; max: number } | null {
  const edges = edgesOf(bins);
  const last = edges.length - 1;
  const between = (value: number, low: number, high: number): number =>
    Math.max(low, Math.min(high, value));
  let low = nearest(edges, range?.min ?? -Infinity);
  let high = Math.max(low + 1, range && range.max < Infinity ? nearest(edges, range.max) : last);
  high = Math.min(high, last);
  if (which === 'both') {
    const step = between(by, -low, last - high);
    [low, high] = [low + step, high + step];
  } else if (which === 'low') low = between(low + by, 0, high - 1);
  else high = between(high + by, low + 1, last);
  if (low === 0 && high === last) return null;
  return { min: edges[low]!, max: edges[high]! };
}

/** Values and where they are, in shares of the axis; "none" has a place of its own at the left. */
export class BinAxis {
  private readonly first: number;
  private readonly total: number;
  constructor(private readonly bins: MetricBins) {
    this.first = bins.hasNone ? 2 : 0; // in widths of bins: one for "none", one of a gap
    this.total = bins.n + this.first;
  }

  /** Left and right of a bin. */
  place(at: number): [number, number] {
    const i = at - (this.bins.hasNone ? 1 : 0);
    if (i < 0) return [0, 1 / this.total];
    return [(this.first + i) / this.total, (this.first + i + 1) / this.total];
  }

  x(value: number): number {
    const { isLog, low, high, n, hasNone } = this.bins;
    if (isLog && value <= 0) return hasNone ? 0.5 / this.total : 0;
    const share = isLog
      ? (log(value) - log(low)) / (log(high) - log(low))
      : (value - low) / (high - low);
    return Math.max(0, Math.min(1, (this.first + share * n) / this.total));
  }

  /** Left of the first bin it is -Infinity or, with "none", 0; right of the last Infinity. */
  value(x: number): number {
    const { isLog, low, high, n, hasNone } = this.bins;
    const share = (x * this.total - this.first) / n;
    if (share <= 0 && hasNone) return x * this.total < 1 ? 0 : low;
    if (share <= 0) return -Infinity;
    if (share >= 1) return Infinity;
    return isLog ? low * (high / low) ** share : low + (high - low) * share;
  }
}

/* ---- Paints the histogram of a metric: all executions grey, those of a group in its colour, and what is
 * brushed. ---- */

const HIST_SIDE = 42; // px for the counts
const HIST_AXIS = 18; // px for the values
const TOP = 4;
const LABEL = 12; // px of a line of words
const TICK_GAP = 62;
const WORD_GAP = 8; // between the words of two ticks

interface CompareHistScene {
  bins: MetricBins;
  own: Uint32Array;
  side: 'a' | 'b';
  unit: MetricUnit;
  scale: CountScale | 'fit';
  /** Values brushed, of the group's condition or of a drag. */
  brush: { min: number; max: number } | null;
  /** It cannot be dragged. */
  isFixed: boolean;
  isPreview: boolean;
}

export function scaleOf({ bins, scale }: Pick<CompareHistScene, 'bins' | 'scale'>): CountScale {
  return scale === 'fit' ? fittingScale([...bins.all]) : scale;
}

interface Tick {
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
      const words = short(valueWords(value, this.scene.unit));
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
      if (this.scene.isPreview || this.scene.isFixed) continue;
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
