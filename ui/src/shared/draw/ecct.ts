// SPDX-License-Identifier: MIT
// Paints trees of frames (lib/ecct): boxes whose look the screen chooses; a thread to which the path
// goes on has a thick left edge.
import { inkOn } from '../lib/color';
import type { Box, Flame } from '../lib/flame';
import { integer } from '../lib/format';
import type { CallTree } from '../lib/tree';
import { hatchIn, outline } from './canvas';
import type { Hatch, Pane, Rect } from './canvas';

export const ECCT_LEVEL = 19; // px: 18 of a box and one between
const BOX = 18;
const LABEL_LEAST = 26;
const INSET = 4;
const HAND_OVER = 3;

/** How a box looks. */
export interface FrameLook {
  fill: string;
  hatch: Hatch;
  /** Share of the box, at its right, that fill and hatch are of: its own time; the rest is `ground`. */
  share: number;
  ground: string;
  isThread: boolean;
  isBold: boolean;
}

interface EcctScene {
  tree: CallTree;
  flame: Flame;
  scrollTop: number;
  /** By node of the tree. */
  lookOf: (node: number) => FrameLook;
  /** From the one that says most to the shortest: the first that fits is drawn. */
  labelsOf: (node: number) => readonly string[];
  /** null: nothing is searched. */
  isHit: ((node: number) => boolean) | null;
  selected: number;
  hovered: number;
}

class EcctPainter {
  constructor(
    private readonly pane: Pane,
    private readonly scene: EcctScene,
  ) {}

  paint(): void {
    const { flame } = this.scene;
    for (const box of flame.boxes) {
      const rect = this.rectOf(box);
      if (rect.y + rect.h < 0 || rect.y > this.pane.height * this.pane.dpr) continue;
      this.paintBox(box, rect);
    }
    for (const box of flame.boxes) {
      if (box.kind !== 'node') continue;
      if (box.node === this.scene.selected) outline(this.pane, this.rectOf(box), 2, true);
      else if (box.node === this.scene.hovered) outline(this.pane, this.rectOf(box), 1, true);
    }
  }

  private rectOf({ x0, x1, level }: Box): Rect {
    const { dpr } = this.pane;
    const y = level * ECCT_LEVEL - this.scene.scrollTop + 1;
    const [left, right] = [Math.round(x0 * dpr), Math.round(x1 * dpr)];
    const w = right - left;
    return {
      x: left,
      y: Math.round(y * dpr),
      w: Math.max(1, w - (w > 3 ? 1 : 0)),
      h: Math.round(BOX * dpr),
    };
  }

  private paintBox(box: Box, rect: Rect): void {
    const { ctx, theme, dpr } = this.pane;
    const { isHit } = this.scene;
    ctx.globalAlpha = isHit && (box.kind !== 'node' || !isHit(box.node)) ? 0.25 : 1;
    if (box.kind === 'node') this.paintNode(box.node, rect);
    else this.paintMany(box, rect);
    ctx.globalAlpha = 1;
    if (rect.w < 4 * dpr) return;
    ctx.strokeStyle = theme.edge;
    ctx.lineWidth = dpr;
    ctx.strokeRect(rect.x + dpr / 2, rect.y + dpr / 2, rect.w - dpr, rect.h - dpr);
  }

  private paintNode(node: number, rect: Rect): void {
    const { pane, scene } = this;
    const { ctx, theme, dpr } = pane;
    const { fill, hatch, share, ground, isThread, isBold } = scene.lookOf(node);
    const below = share < 1 ? Math.floor(rect.w * (1 - share)) : 0; // px that are of what is below
    ctx.fillStyle = ground;
    ctx.fillRect(rect.x, rect.y, below, rect.h);
    const own = { ...rect, x: rect.x + below, w: rect.w - below };
    ctx.fillStyle = fill;
    ctx.fillRect(own.x, own.y, own.w, own.h);
    const isHatched = hatch !== 'none' && own.w >= 4 * dpr;
    if (isHatched) hatchIn(pane, hatch, own, -scene.scrollTop * dpr);
    if (isThread) {
      ctx.fillStyle = theme.ink2;
      ctx.fillRect(rect.x, rect.y, Math.min(rect.w, HAND_OVER * dpr), rect.h);
    }
    const words = scene.labelsOf(node);
    const inset = isThread ? HAND_OVER : 0;
    if (below === 0) return this.label(words, rect, fill, isHatched, isBold, inset);
    // not over two fills: on the ground, unless its own part has room for more of it
    const onGround = { ...rect, w: below };
    const isOwn = this.bestOf(words, own, isBold, 0) < this.bestOf(words, onGround, isBold, inset);
    if (isOwn) this.label(words, own, fill, isHatched, isBold, 0);
    else this.label(words, onGround, ground, false, isBold, inset);
  }

  private fontOf(isBold: boolean): string {
    const { theme, dpr } = this.pane;
    return `${isBold ? 600 : 400} ${Math.round(11 * dpr)}px ${theme.font}`;
  }

  /** The first of the labels that fits; none: the fewer, the more room there is. */
  private bestOf(words: readonly string[], rect: Rect, isBold: boolean, inset: number): number {
    const { text, dpr } = this.pane;
    const room = rect.w - (2 * INSET + inset) * dpr;
    const font = this.fontOf(isBold);
    const fits = words.findIndex(one => text.width(font, one) <= room);
    return fits >= 0 ? fits : words.length + 1 / Math.max(1, rect.w);
  }

  /** Nodes that are too narrow one by one, and what is known only in sum. */
  private paintMany(box: Box, rect: Rect): void {
    const { ctx, theme } = this.pane;
    ctx.fillStyle = theme.other;
    ctx.fillRect(rect.x, rect.y, rect.w, rect.h);
    this.label([`\u00d7${integer(box.n)}`], rect, theme.other, false, false, 0);
  }

  private label(
    words: readonly string[],
    rect: Rect,
    fill: string,
    isPlated: boolean,
    isBold: boolean,
    inset: number,
  ): void {
    const { ctx, text, dpr } = this.pane;
    if (rect.w < LABEL_LEAST * dpr || words.length === 0) return;
    const font = this.fontOf(isBold);
    const room = rect.w - (2 * INSET + inset) * dpr;
    const fits = words.find(one => text.width(font, one) <= room);
    const shown = fits ?? text.fit(font, words.at(-1)!, room);
    if (shown === '') return;
    const x = rect.x + (INSET + inset) * dpr;
    if (isPlated) {
      ctx.fillStyle = fill;
      ctx.fillRect(x - 2 * dpr, rect.y + dpr, text.width(font, shown) + 5 * dpr, rect.h - 2 * dpr);
    }
    ctx.font = font;
    ctx.fillStyle = inkOn(fill);
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    ctx.fillText(shown, x, Math.round(rect.y + rect.h / 2));
  }
}

export function paintEcct(pane: Pane, scene: EcctScene): void {
  new EcctPainter(pane, scene).paint();
}
