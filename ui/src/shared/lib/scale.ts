// SPDX-License-Identifier: MIT
// Axis ticks at 1, 2, 5 x 10^k, for any monotone map of time to pixels.
import { NBSP } from './format';

export interface Tick {
  t: number;
  x: number;
  label: string;
  isFull: boolean;
}

export function tickStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map(m => m * power).find(step => step >= least * 0.999999)!;
}

function unitOf(range: number): [number, string] {
  if (range >= 1e9) return [1e9, 's'];
  if (range >= 1e6) return [1e6, 'ms'];
  if (range >= 1e3) return [1e3, '\u00b5s'];
  return [1, 'ns'];
}

function trim(value: number): string {
  return String(+value.toPrecision(12));
}

export interface Axis {
  ticks: Tick[];
  /** The shared start that labels leave out when zoomed in; empty if none. */
  prefix: string;
}

/** Ticks of a window under a monotone map, at least `gap` px apart. */
export function axisTicks(
  t0: number,
  t1: number,
  width: number,
  toX: (t: number) => number,
  isLinear: boolean,
  gap = 70,
): Axis {
  const range = Math.max(1, t1 - t0);
  const coarse = tickStep((range * gap) / Math.max(gap, width));
  const [scale, unit] = unitOf(t1 > 3 * range ? range : t1);
  const full = 10 ** (Math.floor(Math.log10(coarse) + 1e-9) + 1);
  const base = isLinear && t0 > 20 * range ? Math.floor(t0 / full) * full : 0;
  const ticks: Tick[] = [];
  const add = (t: number): void => {
    const x = toX(t);
    if (x < -0.5 || x > width + 0.5) return;
    if (ticks.some(tick => Math.abs(tick.x - x) < gap * 0.8)) return;
    const isFull = Math.abs(t / full - Math.round(t / full)) < 1e-6;
    ticks.push({ t, x, label: trim((t - base) / scale), isFull });
  };
  for (let step = coarse, round = 0; round < (isLinear ? 1 : 9); step = finer(step), round++) {
    const n = (t1 - t0) / step;
    if (n > 20000 || step < 1) break;
    for (let i = Math.ceil(t0 / step); i * step <= t1; i++) add(i * step);
  }
  ticks.sort((a, b) => a.x - b.x);
  if (ticks[0]) ticks[0].label += `${NBSP}${unit}`;
  return { ticks, prefix: base > 0 ? `+${trim(base / scale)}${NBSP}${unit}` : '' };
}

function finer(step: number): number {
  const lead = Math.round(step / 10 ** Math.floor(Math.log10(step) + 1e-9));
  return lead === 5 ? (step * 2) / 5 : step / 2;
}
