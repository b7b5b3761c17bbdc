// SPDX-License-Identifier: MIT
// Paints calling context trees as boxes. Levels go down from the outermost call, or up from it.
import { outline } from './canvas';
import { boxAt } from '../lib/flame';
import type { Box, Flame } from '../lib/flame';
import { duration, integer } from '../lib/format';
import type { CallTree } from '../lib/tree';
import type { Pane, Rect } from './canvas';

export const LEVEL = 19; // px: 18 of a box and one between
const BOX = 18;
const LABEL_LEAST = 26;
const INSET = 4;

/** A tree and where it stands: level 0 begins at `top` (content px), others follow `way`. */
export interface FlamePart {
  tree: CallTree;
  flame: Flame;
  top: number;
  way: 1 | -1;
  /** The first level that is drawn. */
  from: number;
}

interface FlameScene {
  parts: readonly FlamePart[];
  scrollTop: number;
  nameOf: (fn: number) => string;
  hueOf: (fn: number) => number;
  isWait: (fn: number) => boolean;
  /** Search hits by function; null: nothing is searched. */
  isHit: ((fn: number) => boolean) | null;
  selected: { part: number; node: number } | null;
  hovered: { part: number; box: Box } | null;
  fn: number;
}

const topOf = (part: FlamePart, level: number): number => part.top + part.way * level * LEVEL;

export function hitFlame(
  parts: readonly FlamePart[],
  x: number,
  y: number,
): { part: number; box: Box } | null {
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    const level =
      part.way > 0 ? Math.floor((y - part.top) / LEVEL) : Math.ceil((part.top - y) / LEVEL);
    if (level < part.from) continue;
    const box = boxAt(part.flame, x, level);
    if (box) return { part: i, box };
  }
  return null;
}

class FlamePainter {
  constructor(
    private readonly pane: Pane,
    private readonly scene: FlameScene,
  ) {}

  paint(): void {
    const { scene, pane } = this;
    for (const part of scene.parts)
      for (const box of part.flame.boxes) {
        const rect = this.rectOf(part, box);
        if (box.level < part.from || rect.y + rect.h < 0 || rect.y > pane.height * pane.dpr)
          continue;
        this.paintBox(part, box, rect);
      }
    const { hovered, selected } = scene;
    if (hovered) outline(pane, this.rectOf(scene.parts[hovered.part]!, hovered.box), 1);
    const part = selected && scene.parts[selected.part];
    const box = part?.flame.boxes.find(
      ({ kind, node }) => kind === 'node' && node === selected!.node,
    );
    if (part && box) outline(pane, this.rectOf(part, box), 2);
  }

  private rectOf(part: FlamePart, box: Box): Rect {
    const { dpr } = this.pane;
    const y = topOf(part, box.level) - this.scene.scrollTop;
    const [x0, x1] = [Math.round(box.x0 * dpr), Math.round(box.x1 * dpr)];
    return {
      x: x0,
      y: Math.round(y * dpr),
      w: Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 1 : 0)),
      h: Math.round(BOX * dpr),
    };
  }

  private paintBox(part: FlamePart, box: Box, rect: Rect): void {
    const { ctx, theme } = this.pane;
    const { scene } = this;
    const fn = part.tree.fn[box.node]!;
    const isFaint = scene.isHit !== null && (box.kind !== 'node' || !scene.isHit(fn));
    ctx.globalAlpha = isFaint ? 0.25 : 1;
    if (box.kind === 'rest') this.paintRest(box, rect);
    else if (box.kind === 'merged') this.paintMerged(box, fn, rect);
    else this.paintNode(box, fn, rect);
    ctx.globalAlpha = 1;
    if (box.kind !== 'node' || fn !== scene.fn || rect.w < 3) return;
    ctx.strokeStyle = theme.ink;
    ctx.lineWidth = this.pane.dpr;
    ctx.strokeRect(rect.x + 0.5, rect.y + 0.5, rect.w - 1, rect.h - 1);
  }

  private paintNode(box: Box, fn: number, rect: Rect): void {
    const { ctx, theme, patterns, dpr } = this.pane;
    const hue = this.scene.hueOf(fn);
    const { x, y, w, h } = rect;
    ctx.fillStyle = theme.hues[hue]!;
    ctx.fillRect(x, y, w, h);
    const isHatched = this.scene.isWait(fn) && w >= 6;
    if (isHatched) {
      ctx.fillStyle =
        patterns.get('wait', theme.hatch, 0, -this.scene.scrollTop * dpr) ?? theme.hatch;
      ctx.fillRect(x, y, w, h);
    }
    if (w >= 4 * dpr) this.edge(rect, theme.edge);
    this.label(
      box,
      this.scene.nameOf(fn),
      rect,
      theme.inks[hue]!,
      isHatched ? theme.hues[hue]! : '',
    );
  }

  private edge({ x, y, w, h }: Rect, color: string): void {
    const { ctx, dpr } = this.pane;
    ctx.strokeStyle = color;
    ctx.lineWidth = dpr;
    ctx.strokeRect(x + dpr / 2, y + dpr / 2, w - dpr, h - dpr);
  }

  private paintMerged(box: Box, fn: number, rect: Rect): void {
    const { ctx, theme, dpr } = this.pane;
    const { x, y, w, h } = rect;
    ctx.fillStyle = theme.merged[this.scene.hueOf(fn)]!;
    ctx.fillRect(x, y, w, h);
    if (w < 6 * dpr) return;
    ctx.beginPath();
    const [middle, step] = [y + h / 2, 3 * dpr];
    ctx.moveTo(x, middle + 2 * dpr);
    for (let at = x + step, up = true; at <= x + w; at += step, up = !up)
      ctx.lineTo(at, middle + (up ? -2 : 2) * dpr);
    ctx.strokeStyle = theme.ink2;
    ctx.lineWidth = dpr;
    ctx.stroke();
    if (w < 34 * dpr) return;
    const words = `\u00d7${integer(box.n)}`;
    const font = `500 ${10 * dpr}px ${theme.font}`;
    const width = this.pane.text.width(font, words);
    if (width + 10 * dpr > w) return;
    ctx.fillStyle = theme.merged[this.scene.hueOf(fn)]!;
    ctx.fillRect(x + 3 * dpr, y + dpr, width + 5 * dpr, h - 2 * dpr);
    ctx.font = font;
    ctx.fillStyle = theme.ink;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    ctx.fillText(words, x + 5 * dpr, Math.round(middle));
  }

  private paintRest(box: Box, rect: Rect): void {
    const { ctx, theme } = this.pane;
    ctx.fillStyle = theme.other;
    ctx.fillRect(rect.x, rect.y, rect.w, rect.h);
    this.edge(rect, theme.line2);
    this.label(box, 'folded', rect, theme.ink2, '');
  }

  /** "name  duration", "name", the shortened name: the first that fits. */
  private label(box: Box, name: string, rect: Rect, ink: string, plate: string): void {
    const { ctx, theme, text, dpr } = this.pane;
    if (rect.w < LABEL_LEAST * dpr) return;
    const size = Math.round(11 * dpr);
    const font = `400 ${size}px ${theme.font}`;
    const room = rect.w - 2 * INSET * dpr;
    const long = `${name}  ${duration(box.ns)}`;
    const words = text.width(font, long) <= room ? long : text.fit(font, name, room);
    if (words === '') return;
    const x = rect.x + INSET * dpr;
    if (plate !== '') {
      ctx.fillStyle = plate;
      ctx.fillRect(x - 2 * dpr, rect.y + dpr, text.width(font, words) + 5 * dpr, rect.h - 2 * dpr);
    }
    ctx.font = font;
    ctx.fillStyle = ink;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    ctx.fillText(words, x, Math.round(rect.y + rect.h / 2));
  }
}

export function paintFlame(pane: Pane, scene: FlameScene): void {
  new FlamePainter(pane, scene).paint();
}
