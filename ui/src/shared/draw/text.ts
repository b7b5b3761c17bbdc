// SPDX-License-Identifier: MIT
// Text on canvas: widths are cached, and names are shortened by rule before they are drawn.
import { elide } from '../lib/names';

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
