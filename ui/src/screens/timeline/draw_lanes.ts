// SPDX-License-Identifier: MIT
// Paints the lanes of locks below the calls of a thread.
import type { Theme } from '../../shared/draw/theme';
import { mix } from '../../shared/lib/color';
import { MARK, packColor } from '../../shared/lib/raster';
import type { Scene } from './draw_paint';
import { LANE, LANE_STATE } from './lib_lanes';
import type { Lane } from './lib_lanes';

/** Packed colours by state; dim ones are of other locks than the one pointed at. */
export interface LaneStyle {
  fill: Uint32Array;
  dim: Uint32Array;
  hatch: Uint32Array;
  line: number;
}

export function laneStyle({ states, held, bg, line2, isDark }: Theme): LaneStyle {
  const fills = [states[1]!, held, states[3]!];
  const over = isDark ? '#000000' : '#ffffff';
  const pack = (list: string[]): Uint32Array => Uint32Array.from(list, packColor);
  return {
    fill: pack(fills),
    dim: pack(fills.map(fill => mix(fill, bg, 0.25))),
    hatch: pack(fills.map(fill => mix(over, fill, 0.45))),
    line: packColor(line2),
  };
}

/** `lanes` in their order from `top` on; null: nothing of it is in view. */
export function paintLanes(
  scene: Scene,
  style: LaneStyle,
  lanes: readonly (Lane | null)[],
  top: number,
  lock: string,
): void {
  const { raster, dpr } = scene;
  lanes.forEach((lane, i) => {
    const y0 = Math.round((top + i * LANE) * dpr);
    const y1 = Math.round((top + i * LANE + LANE - 1) * dpr);
    if (y1 <= 0 || y0 >= raster.height) return;
    raster.rect(0, y1, raster.width, y1 + Math.max(1, Math.round(dpr)), style.line);
    if (!lane) return;
    const isDim = lock !== '' && lane.object.id !== lock;
    paintLane(scene, style, lane, y0, y1, isDim);
  });
}

function paintLane(
  scene: Scene,
  style: LaneStyle,
  lane: Lane,
  y0: number,
  y1: number,
  isDim: boolean,
): void {
  const { raster, dpr, window } = scene;
  const fills = isDim ? style.dim : style.fill;
  raster.beginLine(Math.max(0, y0));
  eachPiece(scene, lane, (i, x0, x1) => {
    const state = lane.state[i]!;
    raster.bar(x0, x1, fills[state]!, fills[state]!, 0);
    const isHatched = state !== LANE_STATE.HELD && !isDim && x1 - x0 >= 3 * dpr;
    if (isHatched) raster.stroke(x0, x1, MARK.HATCH, style.hatch[state]!);
  });
  raster.endLine(y0, y1, 0, dpr, Math.round(window.t0 * window.scale) % Math.round(6 * dpr));
}

function eachPiece(
  { window, raster }: Scene,
  { start, end, n }: Lane,
  put: (i: number, x0: number, x1: number) => void,
): void {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle]! < window.t0) low = middle + 1;
    else high = middle;
  }
  for (let i = low; i < n && start[i]! <= window.t1; i++) {
    const x0 = Math.max(0, Math.round((start[i]! - window.t0) * window.scale));
    const x1 = Math.round((end[i]! - window.t0) * window.scale);
    put(i, x0, Math.min(raster.width, Math.max(x0 + 1, x1)));
  }
}
