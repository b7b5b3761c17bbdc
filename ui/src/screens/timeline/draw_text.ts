// SPDX-License-Identifier: MIT
// Texts as masks: each is drawn once, and laid into frames as often as it is needed. A frame makes
// only as many as there is time for; the others come with the next.
import { TextMeter } from '../../shared/draw/text';
import { compact, duration } from '../../shared/lib/format';
import { maskOf } from '../../shared/lib/raster';
import type { Mask } from '../../shared/lib/raster';

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
