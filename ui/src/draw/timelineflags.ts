// SPDX-License-Identifier: MIT
// Flags: a pennant in the axis band and a line through the rows.
import { AXIS } from './axis';
import type { View } from '../lib/timemap';
import type { Flag } from '../state/timeline';
import type { Theme } from './theme';

interface FlagGround {
  axis: CanvasRenderingContext2D;
  over: CanvasRenderingContext2D;
  theme: Theme;
  view: View;
  dpr: number;
  height: number;
}

const WIDE = 8;
const TALL = 7;
const MOST_NOTE = 160;

export function paintFlags(ground: FlagGround, flags: readonly Flag[], editing: number): void {
  const { view } = ground;
  flags.forEach((flag, i) => {
    const x = view.x(flag.t);
    if (x >= -1 && x <= view.width + 1) paintFlag(ground, flag, Math.round(x), i === editing);
  });
}

function paintFlag(
  { axis, over, theme, dpr, height }: FlagGround,
  flag: Flag,
  x: number,
  isEditing: boolean,
): void {
  const line = Math.max(1, Math.round(dpr));
  const at = Math.round(x * dpr);
  const color = isEditing ? theme.accent : theme.warn;
  over.fillStyle = axis.fillStyle = color;
  for (let y = 0; y < height * dpr; y += 4 * line) over.fillRect(at, y, line, 2 * line);
  const top = (AXIS - TALL - 1) * dpr;
  axis.fillRect(at, top, line, (TALL + 1) * dpr);
  axis.beginPath();
  axis.moveTo(at, top);
  axis.lineTo(at + WIDE * dpr, top + (TALL / 2) * dpr);
  axis.lineTo(at, top + TALL * dpr);
  axis.fill();
  if (!flag.note) return;
  axis.font = `${10 * dpr}px ${theme.font}`;
  axis.textAlign = 'left';
  axis.textBaseline = 'middle';
  let text = flag.note;
  while (text.length > 3 && axis.measureText(text).width > MOST_NOTE * dpr)
    text = `${text.slice(0, Math.floor(text.length * 0.8))}\u2026`;
  const wide = axis.measureText(text).width;
  axis.fillStyle = theme.panel;
  axis.fillRect(at + (WIDE + 1) * dpr, top - 2 * dpr, wide + 4 * dpr, (TALL + 3) * dpr);
  axis.fillStyle = color;
  axis.fillText(text, at + (WIDE + 3) * dpr, top + (TALL / 2) * dpr);
}
