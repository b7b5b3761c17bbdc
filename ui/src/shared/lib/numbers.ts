// SPDX-License-Identifier: MIT
// Numbers for people, as the command line has them (src/render/human.c): three significant digits and
// a unit. tests/data/numbers.tsv holds both to the same text.

export const NBSP = '\u00a0';

type Steps = readonly (readonly [scale: number, unit: string])[];

const NS: Steps = [
  [1e3, '\u00b5s'],
  [1e6, 'ms'],
  [1e9, 's'],
];
const BYTES: Steps = [
  [1e3, 'kB'],
  [1e6, 'MB'],
  [1e9, 'GB'],
  [1e12, 'TB'],
];
const ROUGH: Steps = [
  [1e3, 'k'],
  [1e6, 'M'],
  [1e9, 'G'],
  [1e12, 'T'],
];

/** As toFixed, but halves go to the even digit, as printf has it. */
export function fixed(value: number, places: number): string {
  const text = value.toFixed(places);
  const twice = value * 2 * 10 ** places;
  if (twice % 2 !== 1) return text;
  // What looks like a half may only be near one: a double has at most 100 decimals here.
  const rest = value.toFixed(100).slice(-(100 - places));
  const below = (twice - 1) / 2;
  return /^50*$/.test(rest) && below % 2 === 0 ? (below / 10 ** places).toFixed(places) : text;
}

/** Three significant digits, at most three decimals: 1.04, 85.2, 357. */
export function three(value: number, unit = ''): string {
  const places = value < 0.9995 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fixed(value, places) + (unit ? NBSP + unit : '');
}

/** So many significant digits, as printf's %g has them: 2700, 0.37. */
export function significant(value: number, digits: number): string {
  return String(+value.toPrecision(digits));
}

/** "1.5 ms" of "1.50 ms", "10 ms" of "10.0 ms": of round values. */
export function short(words: string): string {
  return words.replace(/(\.\d*?)0+(?=\D|$)/, '$1').replace(/\.(?=\D|$)/, '');
}

/** In the largest unit that the value does not fall short of once it is rounded. */
function inSteps(value: number, steps: Steps): string {
  let i = 0;
  while (i + 1 < steps.length && value >= steps[i + 1]![0] * 0.9995) i++;
  const [scale, unit] = steps[i]!;
  return three(value / scale, unit);
}

/** 488,830: of a whole number that is not negative. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** 357 ns, 85.2 ms, 17.3 min: of a whole number that is not negative. */
export function nanoseconds(ns: number): string {
  if (ns < 1000) return `${ns}${NBSP}ns`;
  if (ns >= 7200e9) return three(ns / 3.6e12, 'h');
  return ns >= 999.5e9 ? three(ns / 6e10, 'min') : inSteps(ns, NS);
}

/** 1.234567 s: a time of the trace, cut to microseconds. */
export function seconds(ns: number): string {
  return `${fixed(Math.floor(ns / 1000) / 1e6, 6)}${NBSP}s`;
}

/** 631 MB */
export function bytes(value: number): string {
  return value < 1000 ? `${value}${NBSP}B` : inSteps(value, BYTES);
}

/** 78.7 M; exact below 10,000. */
export function rough(value: number): string {
  return value < 10000 ? count(value) : inSteps(value, ROUGH);
}

/** 4.12 % of 0.0412. */
export function share(value: number): string {
  const percent = value * 100;
  if (percent > 0 && percent < 0.001) return `<0.001${NBSP}%`;
  return percent > 0 && percent < 100 ? three(percent, '%') : `${fixed(percent, 0)}${NBSP}%`;
}

/** 12.3, 1,204 */
export function ratio(value: number): string {
  return value >= 999.5 ? count(Math.floor(value + 0.5)) : three(value);
}

/** p = 0.012, p < 0.001 */
export function pValue(p: number): string {
  return p < 0.001 ? 'p < 0.001' : `p = ${fixed(p, 3)}`;
}
