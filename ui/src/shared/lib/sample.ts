// SPDX-License-Identifier: MIT
// Which of several behaviours a pixel shows, if rare ones are to be seen, too: each with a chance in
// proportion to the fourth root of its time. What decides is a hash of where it is, so the same
// place always shows the same.

/** 0 <= value < 1, settled by `seed`. */
export function hashed(seed: number): number {
  let h = Math.imul(seed | 0, 0x9e3779b1) ^ 0x811c9dc5;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}

/** One of `items`: of the group that is drawn, the heaviest (of equals the first). */
export function sampleRare(
  items: readonly number[],
  group: (item: number) => number,
  weight: (item: number) => number,
  seed: number,
): number {
  const sums = new Map<number, number>();
  for (const item of items) sums.set(group(item), (sums.get(group(item)) ?? 0) + weight(item));
  const order = [...sums].sort((a, b) => a[0] - b[0]);
  const chances = order.map(([, sum]) => Math.max(sum, 1e-9) ** 0.25);
  let left = hashed(seed) * chances.reduce((a, b) => a + b, 0);
  let at = 0;
  while (at + 1 < order.length && left >= chances[at]!) left -= chances[at++]!;
  const own = items.filter(item => group(item) === order[at]![0]);
  return own.reduce((best, item) => (weight(item) > weight(best) ? item : best));
}
