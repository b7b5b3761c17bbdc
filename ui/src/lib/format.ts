// SPDX-License-Identifier: MIT
// Numbers for people: three significant digits and a unit, or every nanosecond.

import { bytes, count, nanoseconds, NBSP, ratio, rough, share as percent } from './numbers';

export { bytes, NBSP, percent, rough as compact };

const MINUS = '\u2212';
const UNITS: [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, '\u00b5s'],
  [1, 'ns'],
];

/** 85.2 ms, 357 ns, 30.0 min; of means less than 10 ns with a decimal. */
export function duration(ns: number): string {
  if (ns < 0) return MINUS + duration(-ns);
  return ns < 10 && ns % 1 ? `${ns.toFixed(1)}${NBSP}ns` : nanoseconds(Math.round(ns));
}

/** Every nanosecond, in the unit a person would use: 12.879 328 ms. */
export function exact(ns: number): string {
  if (ns < 0) return MINUS + exact(-ns);
  const [scale, unit] = UNITS.find(([s]) => ns >= s) ?? [1, 'ns'];
  const places = Math.round(Math.log10(scale));
  const whole = Math.floor(ns / scale);
  if (places === 0) return `${whole}${NBSP}${unit}`;
  const rest = String(Math.round(ns - whole * scale)).padStart(places, '0');
  return `${integer(whole)}.${rest.replace(/(\d{3})(?=\d)/g, `$1${NBSP}`)}${NBSP}${unit}`;
}

/** 488,830 */
export function integer(value: number): string {
  const text = count(Math.round(Math.abs(value)));
  return value < 0 ? MINUS + text : text;
}

/** A share with its sign: what goes the other way is less than nothing of a sum. */
export function signedPercent(share: number): string {
  return share < 0 ? `${MINUS}${percent(-share)}` : percent(share);
}

/** 4,400 x, 1.50 x */
export function times(value: number): string {
  return `${ratio(value)}${NBSP}\u00d7`;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${integer(n)} ${n === 1 ? one : many}`;
}

/** A span in one unit: 46.4-50.9 ms. */
export function span(t0: number, t1: number): string {
  const [scale, unit] = UNITS.find(([s]) => t1 >= s) ?? [1, 'ns'];
  const width = Math.max(1, t1 - t0) / scale;
  const most = Math.round(Math.log10(scale));
  const places = Math.min(most, Math.max(0, 3 - Math.floor(Math.log10(width) + 1)));
  const [from, to] = [t0 / scale, t1 / scale].map(t => +t.toFixed(Math.max(places, 1)));
  return `${from}\u2013${to}${NBSP}${unit}`;
}
