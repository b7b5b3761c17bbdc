// SPDX-License-Identifier: MIT
// Where the paths of the strip stand: one below the other, each with a line for every thread that it
// is on.
import { hatchIn, outline } from '../../shared/draw/canvas';
import type { Hatch, Pane, Rect } from '../../shared/draw/canvas';
import { inkOn, mix } from '../../shared/lib/color';
import { duration } from '../../shared/lib/format';
import type { Span } from '../../shared/lib/model';
import { threadsInOrder, causeOf, placeOf } from '../../shared/lib/path';
import type { Path, PathSegment } from '../../shared/lib/path';
import { LOOK } from '../../shared/lib/states';
import { axisTicks } from '../../shared/lib/timemap';

export const LINE = 21; // px of a thread's line
const BAR = 16;
const HEAD = 22; // px of a path's title
const FOOT = 8;

interface StripLine {
  thread: number;
  /** Content px of its upper edge. */
  y: number;
}

export interface StripPart {
  /** Which path. */
  index: number;
  path: Path | null;
  top: number;
  /** Of its bars; its title is above. */
  lines: StripLine[];
  lineOf: ReadonlyMap<number, number>;
  height: number;
}

export interface StripLayout {
  parts: StripPart[];
  height: number;
}

export function layoutStrip(paths: readonly (Path | null)[]): StripLayout {
  let top = 0;
  const parts = paths.map((path, index): StripPart => {
    const threads = path ? threadsInOrder(path) : [];
    const lines = threads.map((thread, i) => ({ thread, y: top + HEAD + i * LINE }));
    const height = HEAD + Math.max(1, lines.length) * LINE + FOOT;
    const lineOf = new Map(threads.map((thread, i) => [thread, i]));
    const part = { index, path, top, lines, lineOf, height };
    top += height;
    return part;
  });
  return { parts, height: top };
}

export function partAt({ parts }: StripLayout, y: number): StripPart | null {
  return parts.find(({ top, height }) => y >= top && y < top + height) ?? null;
}

/* ---- Paints critical paths as strips: each thread that a path is on has a line; where it goes on in
 * another one an arrow leads there. All begin at the same place. ---- */

export const STRIP_AXIS = 24;
const LETTER_LEAST = 12;
const LABEL_LEAST = 40;
const HEAD_W = 3;
const HEAD_H = 6;

interface StripScene {
  layout: StripLayout;
  view: Span;
  scrollTop: number;
  now: number;
  segment: number;
  hovered: { index: number; segment: number } | null;
}

/** Which pattern a state has besides its colour. */
function hatchOf({ state, isUncertain }: PathSegment): Hatch {
  if (state === 'preempted') return 'back';
  if (state === 'blocked' || state === 'unknown') return 'fore';
  return isUncertain ? 'dots' : 'none';
}

class StripPainter {
  private readonly scale: number;

  constructor(
    private readonly pane: Pane,
    private readonly scene: StripScene,
  ) {
    const { t0, t1 } = scene.view;
    this.scale = (pane.width * pane.dpr) / Math.max(1, t1 - t0);
  }

  paint(): void {
    this.grid();
    for (const part of this.scene.layout.parts) {
      const y = part.top - this.scene.scrollTop;
      if (part.path && y < this.pane.height && y + part.height > 0) this.paintPart(part, part.path);
    }
    this.axis();
  }

  private x(path: Path, t: number): number {
    return Math.round((t - path.from - this.scene.view.t0) * this.scale);
  }

  private y(content: number): number {
    return Math.round((content - this.scene.scrollTop + STRIP_AXIS) * this.pane.dpr);
  }

  private ticks(): ReturnType<typeof axisTicks>['ticks'] {
    const { t0, t1 } = this.scene.view;
    const toX = (t: number): number => ((t - t0) / (t1 - t0)) * this.pane.width;
    return axisTicks(t0, t1, this.pane.width, toX, true, 90).ticks;
  }

  private grid(): void {
    const { ctx, theme, dpr } = this.pane;
    ctx.fillStyle = theme.grid;
    for (const { x } of this.ticks())
      ctx.fillRect(Math.round(x * dpr), 0, Math.max(1, Math.round(dpr)), ctx.canvas.height);
  }

  private axis(): void {
    const { ctx, theme, dpr, width } = this.pane;
    ctx.fillStyle = theme.panel;
    ctx.fillRect(0, 0, ctx.canvas.width, STRIP_AXIS * dpr);
    ctx.fillStyle = theme.line;
    ctx.fillRect(
      0,
      Math.round((STRIP_AXIS - 1) * dpr),
      ctx.canvas.width,
      Math.max(1, Math.round(dpr)),
    );
    ctx.textBaseline = 'middle';
    for (const { x, label, isFull } of this.ticks()) {
      ctx.fillStyle = theme.ink3;
      const tall = (isFull ? 8 : 4) * dpr;
      ctx.fillRect(
        Math.round(x * dpr),
        STRIP_AXIS * dpr - tall,
        Math.max(1, Math.round(dpr)),
        tall,
      );
      ctx.fillStyle = theme.ink2;
      ctx.font = `${isFull ? 600 : 400} ${10 * dpr}px ${theme.font}`;
      ctx.textAlign = x < 20 ? 'left' : x > width - 20 ? 'right' : 'center';
      const inset = x < 20 ? 4 : x > width - 20 ? -4 : 0; // off the edge
      ctx.fillText(label, Math.round((x + inset) * dpr), Math.round(9 * dpr));
    }
  }

  private paintPart(part: StripPart, path: Path): void {
    const { ctx, theme, dpr } = this.pane;
    const [top, bottom] = [this.y(part.top), this.y(part.top + part.height)];
    if (part.index === this.scene.now) {
      ctx.fillStyle = mix(theme.accent, theme.bg, theme.isDark ? 0.1 : 0.05);
      ctx.fillRect(0, top, ctx.canvas.width, bottom - top);
    }
    const end = this.x(path, path.to);
    ctx.fillStyle = theme.line2;
    for (const { y } of part.lines)
      ctx.fillRect(
        Math.max(0, this.x(path, path.from)),
        this.y(y + BAR / 2 + 2),
        Math.max(0, end),
        1,
      );
    ctx.fillStyle = theme.line;
    ctx.fillRect(
      0,
      bottom - Math.max(1, Math.round(dpr)),
      ctx.canvas.width,
      Math.max(1, Math.round(dpr)),
    );
    this.bars(part, path);
    this.handOvers(part, path);
    this.marked(part, path);
  }

  private rect(path: Path, { start, end }: PathSegment, line: StripLine): Rect {
    const { dpr } = this.pane;
    const [x0, x1] = [this.x(path, start), this.x(path, end)];
    const y = this.y(line.y + 2);
    return { x: x0, y, w: Math.max(Math.round(dpr), x1 - x0), h: Math.round(BAR * dpr) };
  }

  /** Shorter ones over longer ones would hide them: the longest come last. */
  private bars(part: StripPart, path: Path): void {
    const { ctx } = this.pane;
    const inView = path.segments.flatMap((segment, i) => {
      const line = part.lines[part.lineOf.get(segment.thread)!]!;
      const rect = this.rect(path, segment, line);
      return rect.x > ctx.canvas.width || rect.x + rect.w < 0 ? [] : [{ segment, i, rect }];
    });
    inView.sort((a, b) => a.rect.w - b.rect.w || a.i - b.i);
    for (const { segment, rect } of inView) this.bar(segment, rect);
    for (const { segment, rect } of inView) this.words(segment, rect);
  }

  private fillOf(segment: PathSegment): string {
    const { theme } = this.pane;
    const { look } = causeOf(segment.state, segment.reason);
    const fill = theme.states[look] ?? theme.states[LOOK.UNKNOWN]!;
    return hatchOf(segment) === 'dots' ? mix(fill, theme.bg, 0.55) : fill;
  }

  private bar(segment: PathSegment, rect: Rect): void {
    const { ctx, theme, dpr } = this.pane;
    ctx.fillStyle = this.fillOf(segment);
    ctx.fillRect(rect.x, rect.y, rect.w, rect.h);
    if (rect.w >= 3 * dpr) hatchIn(this.pane, hatchOf(segment), rect, -this.scene.scrollTop * dpr);
    if (rect.w < 4 * dpr) return;
    ctx.strokeStyle = theme.edge;
    ctx.lineWidth = dpr;
    ctx.strokeRect(rect.x + dpr / 2, rect.y + dpr / 2, rect.w - dpr, rect.h - dpr);
  }

  /** "lock  2.81 ms", the letter, nothing. */
  private words(segment: PathSegment, rect: Rect): void {
    const { ctx, theme, text, dpr } = this.pane;
    const left = Math.max(0, rect.x);
    const room = Math.min(ctx.canvas.width, rect.x + rect.w) - left;
    if (room < LETTER_LEAST * dpr) return;
    const cause = causeOf(segment.state, segment.reason);
    const font = `400 ${11 * dpr}px ${theme.font}`;
    const place = placeOf(segment) || segment.name || cause.words;
    const long = `${cause.letter ? `${cause.letter} ` : ''}${place}  ${duration(segment.end - segment.start)}`;
    let words = cause.letter;
    if (room >= LABEL_LEAST * dpr)
      words =
        [long, place].find(one => text.width(font, one) <= room - 8 * dpr) ??
        text.fit(font, place, room - 8 * dpr);
    if (words === '') return;
    const width = text.width(font, words);
    const x = room < LABEL_LEAST * dpr ? left + (room - width) / 2 : left + 4 * dpr;
    const fill = this.fillOf(segment);
    if (hatchOf(segment) !== 'none') {
      ctx.fillStyle = fill;
      ctx.fillRect(x - 2 * dpr, rect.y + dpr, width + 5 * dpr, rect.h - 2 * dpr);
    }
    ctx.font = font;
    ctx.fillStyle = inkOn(fill);
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    ctx.fillText(words, Math.round(x), Math.round(rect.y + rect.h / 2));
  }

  /** From the line of a segment to that of the next; of many in one pixel, the longest. */
  private handOvers(part: StripPart, path: Path): void {
    const { segments } = path;
    const drawn = new Map<number, [number, number]>();
    for (let i = 1; i < segments.length; i++) {
      const [before, now] = [segments[i - 1]!, segments[i]!];
      if (before.thread === now.thread) continue;
      const x = this.x(path, now.start);
      const [from, to] = [part.lineOf.get(before.thread)!, part.lineOf.get(now.thread)!];
      const known = drawn.get(x);
      if (!known || Math.abs(known[1] - known[0]) < Math.abs(to - from)) drawn.set(x, [from, to]);
    }
    let last = -Infinity;
    for (const [x, [from, to]] of [...drawn].sort((a, b) => a[0] - b[0])) {
      if (x < 0 || x > this.pane.ctx.canvas.width) continue;
      const hasRoom = x - last >= 2 * HEAD_W * this.pane.dpr;
      this.arrow(x, part.lines[from]!, part.lines[to]!, hasRoom);
      if (hasRoom) last = x;
    }
  }

  private arrow(x: number, from: StripLine, to: StripLine, hasHead: boolean): void {
    const { ctx, theme, dpr } = this.pane;
    const isDown = to.y > from.y;
    const y0 = this.y(isDown ? from.y + 2 + BAR : from.y + 2);
    const y1 = this.y(isDown ? to.y + 2 : to.y + 2 + BAR);
    ctx.fillStyle = hasHead ? theme.ink2 : theme.line2; // many are pale: they do not hide the bars
    const line = Math.max(1, Math.round(dpr));
    ctx.fillRect(x, Math.min(y0, y1), line, Math.abs(y1 - y0));
    if (!hasHead || Math.abs(y1 - y0) < 4 * dpr) return;
    const back = (isDown ? -1 : 1) * Math.min(HEAD_H * dpr, Math.abs(y1 - y0));
    ctx.beginPath();
    ctx.moveTo(x + line / 2, y1);
    ctx.lineTo(x + line / 2 - HEAD_W * dpr, y1 + back);
    ctx.lineTo(x + line / 2 + HEAD_W * dpr, y1 + back);
    ctx.fill();
  }

  private marked(part: StripPart, path: Path): void {
    const { hovered, now, segment } = this.scene;
    if (hovered?.index === part.index) this.outline(part, path, hovered.segment, 1);
    if (now === part.index) this.outline(part, path, segment, 2);
  }

  private outline(part: StripPart, path: Path, index: number, width: number): void {
    const segment = path.segments[index];
    if (!segment) return;
    const line = part.lines[part.lineOf.get(segment.thread)!]!;
    outline(this.pane, this.rect(path, segment, line), width);
  }
}

export function paintPaths(pane: Pane, scene: StripScene): void {
  new StripPainter(pane, scene).paint();
}
