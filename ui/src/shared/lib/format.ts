// SPDX-License-Identifier: MIT
// Numbers for people: three significant digits and a unit, or every nanosecond.

export const NBSP = '\u00a0';
const MINUS = '\u2212';
const UNITS: [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, '\u00b5s'],
  [1, 'ns'],
];

function digits(value: number, significant: number): string {
  if (value === 0) return '0';
  const whole = Math.floor(Math.log10(value)) + 1;
  return value.toFixed(Math.max(0, significant - whole));
}

/** 85.2 ms, 357 ns, 1.04 s. */
export function duration(ns: number): string {
  if (ns < 0) return MINUS + duration(-ns);
  if (ns < 999.5) return `${ns < 10 && ns % 1 ? ns.toFixed(1) : Math.round(ns)}${NBSP}ns`;
  const [scale, unit] = UNITS.find(([s]) => ns >= s * 0.9995)!;
  const value = Math.max(1, ns / scale);
  return `${value >= 1000 ? integer(value) : digits(value, 3)}${NBSP}${unit}`;
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
  const text = String(Math.round(Math.abs(value))).replace(/\B(?=(\d{3})+$)/g, ',');
  return value < 0 ? MINUS + text : text;
}

export function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 0.1) return `<${NBSP}0.1${NBSP}%`;
  const text = value >= 99.95 ? '100' : value >= 10 ? value.toFixed(1) : digits(value, 2);
  return `${text}${NBSP}%`;
}

/** The same with its sign: what goes the other way is less than nothing of a sum. */
export function signedPercent(share: number): string {
  if (share < 0 && share > -0.001) return `>${NBSP}${MINUS}0.1${NBSP}%`;
  return share < 0 ? `${MINUS}${percent(-share)}` : percent(share);
}

/** 4,400 x, 1.5 x */
export function times(value: number): string {
  return `${value >= 100 ? integer(value) : digits(value, 2)}${NBSP}\u00d7`;
}

export function bytes(value: number): string {
  for (const [scale, unit] of [
    [1e9, 'GB'],
    [1e6, 'MB'],
    [1e3, 'kB'],
  ] as const)
    if (value >= scale) return `${digits(value / scale, 3)}${NBSP}${unit}`;
  return `${value}${NBSP}B`;
}

/** 488,830, but 14.6 M where there is no room for all digits. */
export function compact(value: number): string {
  if (value < 1e5) return integer(value);
  const [scale, unit] = value >= 999500 ? [1e6, 'M'] : [1e3, 'k'];
  return `${digits(value / scale, 3)}${NBSP}${unit}`;
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
