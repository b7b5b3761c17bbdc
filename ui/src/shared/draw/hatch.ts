// SPDX-License-Identifier: MIT
// Second channels of a fill: hatches one way and the other, and dots.
import type { Pane } from './pane';

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
