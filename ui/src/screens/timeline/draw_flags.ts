// SPDX-License-Identifier: MIT
// Flags: a pennant in the axis band and a line through the rows.
import { AXIS } from '../../shared/draw/axis';
import type { Theme } from '../../shared/draw/theme';
import type { View } from '../../shared/lib/timemap';
import type { Flag } from './state_timeline';

interface FlagGround {
  /** null: its pennants are painted. */
  axis: CanvasRenderingContext2D | null;
  over: CanvasRenderingContext2D;
  theme: Theme;
  view: View;
  dpr: number;
  height: number;
}

const WIDE = 8;
const TALL = 7;
const MOST_NOTE = 160;

/** Flags in view; `editing` is the one whose note is being written. */
export function paintFlags(ground: FlagGround, flags: readonly Flag[], editing: Flag | null): void {
  const { over, axis, dpr, theme, height } = ground;
  const line = Math.max(1, Math.round(dpr));
  for (const flag of flags) {
    const at = Math.round(Math.round(ground.view.x(flag.t)) * dpr);
    const color = flag === editing ? theme.accent : theme.warn;
    over.fillStyle = color;
    for (let y = 0; y < height * dpr; y += 4 * line) over.fillRect(at, y, line, 2 * line);
    if (axis) paintPennant(axis, theme, dpr, flag, at, color);
  }
}

function paintPennant(
  axis: CanvasRenderingContext2D,
  theme: Theme,
  dpr: number,
  flag: Flag,
  at: number,
  color: string,
): void {
  const line = Math.max(1, Math.round(dpr));
  axis.fillStyle = color;
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
