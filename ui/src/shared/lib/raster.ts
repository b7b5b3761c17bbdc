// SPDX-License-Identifier: MIT
// Paints rows of bars into a buffer of pixels. A level of a thread is one line of pixels that is
// painted once and copied down, so the cost of a frame hangs on its width and not on how many bars
// there are; marks (zig-zag, hatch) and text are laid over it.

/** '#rrggbb' as a pixel of ImageData in a little-endian Uint32Array. */
export function packColor(hex: string): number {
  const n = parseInt(hex.slice(1), 16);
  return (0xff000000 | ((n & 255) << 16) | (n & 0xff00) | (n >> 16)) >>> 0;
}

/** `share` of 256 of `b` over `a`; two channels at a time. */
export function blend(a: number, b: number, share: number): number {
  const rest = 256 - share;
  const ends = (Math.imul(a & 0xff00ff, rest) + Math.imul(b & 0xff00ff, share)) >>> 8;
  const middle = (Math.imul(a & 0xff00, rest) + Math.imul(b & 0xff00, share)) >>> 8;
  return (0xff000000 | (ends & 0xff00ff) | (middle & 0xff00)) >>> 0;
}

export const MARK = { NONE: 0, ZIGZAG: 1, HATCH: 2, BACK_HATCH: 3, DOTS: 4 } as const;

/** A text: of the pixels that it covers, where they are in their row and how much, 0 to 256. */
export interface Mask {
  width: number;
  height: number;
  /** Pixels of row y are those from rowFrom[y] to rowFrom[y + 1]. */
  rowFrom: Uint32Array;
  x: Uint16Array;
  share: Uint16Array;
}

/** The mask of `alpha`, 0 to 255 for each of width x height pixels. */
export function maskOf(width: number, height: number, alpha: ArrayLike<number>): Mask {
  const rowFrom = new Uint32Array(height + 1);
  const [xs, shares]: [number[], number[]] = [[], []];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const own = alpha[y * width + x]!;
      if (own === 0) continue;
      xs.push(x);
      shares.push(own + (own >> 7));
    }
    rowFrom[y + 1] = xs.length;
  }
  return { width, height, rowFrom, x: Uint16Array.from(xs), share: Uint16Array.from(shares) };
}

/** A zig-zag of period 6 and height 4, by device px: how far below its top it is at `x`. */
export function zigzagAt(x: number, dpr: number): number {
  const period = Math.round(6 * dpr);
  const at = ((x % period) + period) % period;
  return Math.round(at < period / 2 ? at : period - at);
}

export class Raster {
  readonly pixels: Uint32Array;
  readonly bytes: Uint8ClampedArray;
  /** The line at hand: what is copied down, its upper and lower edge, and its marks. */
  private readonly plain: Uint32Array;
  private readonly body: Uint32Array;
  private readonly rim: Uint32Array;
  private readonly mark: Uint8Array;
  private readonly markColor: Uint32Array;
  private readonly hasMark = new Uint8Array(5);

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    const buffer = new ArrayBuffer(Math.max(1, width * height) * 4);
    this.pixels = new Uint32Array(buffer);
    this.bytes = new Uint8ClampedArray(buffer);
    this.plain = new Uint32Array(width);
    this.body = new Uint32Array(width);
    this.rim = new Uint32Array(width);
    this.mark = new Uint8Array(width);
    this.markColor = new Uint32Array(width);
  }

  /** Fills everything with a ground that has vertical lines. */
  ground(color: number, line: number, xs: readonly number[], thick: number): void {
    this.line(color, line, xs, thick);
    this.clear(0, this.height);
  }

  /** Says what the ground is. */
  line(color: number, line: number, xs: readonly number[], thick: number): void {
    this.plain.fill(color);
    for (const x of xs) this.plain.fill(line, Math.max(0, x), Math.min(this.width, x + thick));
  }

  /** Leaves only the ground of [y0, y1). */
  clear(y0: number, y1: number): void {
    for (let y = Math.max(0, y0); y < Math.min(this.height, y1); y++)
      this.pixels.set(this.plain, y * this.width);
  }

  rect(x0: number, y0: number, x1: number, y1: number, color: number): void {
    const [a, b] = [Math.max(0, x0), Math.min(this.width, x1)];
    if (b <= a) return;
    for (let y = Math.max(0, y0); y < Math.min(this.height, y1); y++)
      this.pixels.fill(color, y * this.width + a, y * this.width + b);
  }

  /** Begins a line on the ground, or on what is painted in row `y`. */
  beginLine(y = -1): void {
    const under = y < 0 ? this.plain : this.pixels.subarray(y * this.width, (y + 1) * this.width);
    this.body.set(under);
    this.rim.set(under);
    if (this.hasMark.some(has => has === 1)) this.mark.fill(MARK.NONE);
    this.hasMark.fill(0);
  }

  /** A bar of the line; `edge` lies inside of it if it is wide enough. */
  bar(x0: number, x1: number, fill: number, edge: number, edgeWidth: number): void {
    const [a, b] = [Math.max(0, x0), Math.min(this.width, x1)];
    if (b <= a) return;
    const { body, rim } = this;
    const hasEdge = edgeWidth > 0 && x1 - x0 >= 4 * edgeWidth;
    if (b - a < 12)
      for (let x = a; x < b; x++) {
        body[x] = fill;
        rim[x] = hasEdge ? edge : fill;
        this.mark[x] = MARK.NONE;
      }
    else {
      body.fill(fill, a, b);
      rim.fill(hasEdge ? edge : fill, a, b);
      this.mark.fill(MARK.NONE, a, b);
    }
    if (!hasEdge) return;
    for (let x = Math.max(a, x0); x < Math.min(b, x0 + edgeWidth); x++) body[x] = edge;
    for (let x = Math.max(a, x1 - edgeWidth); x < Math.min(b, x1); x++) body[x] = edge;
  }

  /** Marks a part of the line. */
  stroke(x0: number, x1: number, kind: number, color: number): void {
    const [a, b] = [Math.max(0, x0), Math.min(this.width, x1)];
    if (b <= a) return;
    this.hasMark[kind] = 1;
    this.mark.fill(kind, a, b);
    this.markColor.fill(color, a, b);
  }

  /** A border of dashes on one side of a bar: its call is cut there. */
  dashes(x: number, y0: number, y1: number, dpr: number, color: number): void {
    const [on, period] = [Math.round(3 * dpr), Math.round(5 * dpr)];
    const wide = Math.max(1, Math.round(dpr));
    for (let y = y0; y < y1; y++)
      if ((y - y0) % period < on) this.rect(x, y, x + wide, y + 1, color);
  }

  /** Copies the line down to [y0, y1). `shift` anchors the marks to the content. */
  endLine(y0: number, y1: number, edgeWidth: number, dpr: number, shift: number): void {
    const { pixels, width } = this;
    const [top, bottom] = [Math.max(0, y0), Math.min(this.height, y1)];
    for (let y = top; y < bottom; y++) {
      const isRim = edgeWidth > 0 && (y < y0 + edgeWidth || y >= y1 - edgeWidth);
      pixels.set(isRim ? this.rim : this.body, y * width);
    }
    if (y1 - y0 >= 6 * dpr) this.drawMarks(y0, y1, edgeWidth, dpr, shift);
  }

  private drawMarks(y0: number, y1: number, edge: number, dpr: number, shift: number): void {
    const middle = Math.round((y0 + y1 - 4 * dpr) / 2);
    if (this.hasMark[MARK.ZIGZAG]) this.drawZigzag(middle, dpr, shift);
    const [top, bottom] = [Math.max(0, y0 + edge), Math.min(this.height, y1 - edge)];
    if (this.hasMark[MARK.HATCH]) this.drawHatch(top, bottom, y0 - shift, dpr, MARK.HATCH);
    if (this.hasMark[MARK.BACK_HATCH])
      this.drawHatch(top, bottom, -y0 - shift, dpr, MARK.BACK_HATCH);
    if (this.hasMark[MARK.DOTS]) this.drawDots(top, bottom, y0, shift, dpr);
  }

  /** Two dots in a tile of 6 x 6. */
  private drawDots(top: number, bottom: number, y0: number, shift: number, dpr: number): void {
    const { mark, markColor, pixels, width } = this;
    const [period, dot] = [Math.round(6 * dpr), Math.max(1, Math.round(1.3 * dpr))];
    for (const at of [Math.round(dpr), Math.round(4 * dpr)]) {
      const first = (((at - shift) % period) + period) % period;
      for (let y = top; y < bottom; y++) {
        if ((((y - y0 - at) % period) + period) % period >= dot) continue;
        for (let from = first - period; from < width; from += period)
          for (let x = Math.max(0, from); x < from + dot && x < width; x++)
            if (mark[x] === MARK.DOTS) pixels[y * width + x] = markColor[x]!;
      }
    }
  }

  private drawZigzag(top: number, dpr: number, shift: number): void {
    const { mark, markColor, pixels, width, height } = this;
    const wide = Math.max(1, Math.round(dpr));
    const period = Math.round(6 * dpr);
    const steps = Array.from({ length: period }, (_, i) => zigzagAt(i, dpr));
    let phase = ((shift % period) + period) % period;
    for (let x = 0; x < width; x++) {
      if (mark[x] === MARK.ZIGZAG) {
        const y = top + steps[phase]!;
        for (let k = y; k < y + wide; k++)
          if (k >= 0 && k < height) pixels[k * width + x] = markColor[x]!;
      }
      if (++phase === period) phase = 0;
    }
  }

  /** Lines of 45 degrees, or of 135, through [top, bottom); one goes through (0, `origin`). */
  private drawHatch(top: number, bottom: number, origin: number, dpr: number, kind: number): void {
    const { mark, markColor, pixels, width } = this;
    const wide = Math.max(1, Math.round(dpr));
    const period = Math.round(6 * dpr);
    for (let y = top; y < bottom; y++) {
      const at = kind === MARK.HATCH ? origin - y : origin + y;
      const first = ((at % period) + period) % period;
      for (let from = first - period; from < width; from += period)
        for (let x = Math.max(0, from); x < from + wide && x < width; x++)
          if (mark[x] === kind) pixels[y * width + x] = markColor[x]!;
    }
  }

  /** Lays `color` through a mask whose upper left corner is at (x, y), left of `limit`. */
  text(mask: Mask, x: number, y: number, color: number, limit: number): void {
    const { pixels, width, height } = this;
    const end = Math.min(limit, width) - x;
    for (let row = Math.max(0, -y); row < mask.height && y + row < height; row++) {
      const to = (y + row) * width + x;
      for (let i = mask.rowFrom[row]!; i < mask.rowFrom[row + 1]!; i++) {
        const column = mask.x[i]!;
        if (column >= end) break;
        if (column + x < 0) continue;
        const at = to + column;
        pixels[at] = mask.share[i] === 256 ? color : blend(pixels[at]!, color, mask.share[i]!);
      }
    }
  }
}
