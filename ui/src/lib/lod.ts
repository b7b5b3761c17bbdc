// SPDX-License-Identifier: MIT
// What to draw when items are narrower than a person can see. Neighbours that fall into the same
// two pixels become one glyph of at least that width, in the colour of the longest, with a count.

export const MIN_WIDTH = 2;

export interface Glyph {
  x0: number;
  x1: number;
  /** The longest item: it gives colour, hover and click. */
  item: number;
  /** Items in it; 1 if it stands for itself. */
  n: number;
}

/**
 * `items` in order of x, not overlapping. Every item is in exactly one glyph, and no two glyphs
 * overlap: a wide item begins behind the two pixels of a narrow one before it.
 */
export function glyphs(
  items: ArrayLike<number>,
  x0: (item: number) => number,
  x1: (item: number) => number,
): Glyph[] {
  const out: Glyph[] = [];
  let last: Glyph | null = null;
  let longest = 0;
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!;
    const end = x1(item);
    const width = end - x0(item);
    const from = Math.max(x0(item), last?.x1 ?? -Infinity);
    if (last && longest < MIN_WIDTH && width < MIN_WIDTH && x0(item) < last.x1) {
      last.n++;
      last.x1 = Math.max(last.x1, end);
      if (width > longest) [longest, last.item] = [width, item];
      continue;
    }
    last = { x0: from, x1: Math.max(end, from + MIN_WIDTH), item, n: 1 };
    longest = width;
    out.push(last);
  }
  return out;
}
