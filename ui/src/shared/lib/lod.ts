// SPDX-License-Identifier: MIT
// What to draw when items are narrower than a person can see. Neighbours that fall into the same
// two pixels become one glyph of at least that width, in the colour of the longest, with a count.

export const MIN_WIDTH = 2;

export interface Glyph {
  x0: number;
  x1: number;
  /** The longest item: it gives colour, hover and click. */
  item: number;
  /** The last of its items, by place in the list; the first is `at - n + 1`. */
  at: number;
  /** Items in it; 1 if it stands for itself. */
  n: number;
}

/**
 * `items` in order of x, not overlapping. Every item is in exactly one glyph, and no two glyphs
 * overlap: a wide item begins behind the two pixels of a narrow one before it. `weight` says what
 * "longest" is, if not the width.
 */
export function glyphs(
  items: ArrayLike<number>,
  x0: (item: number) => number,
  x1: (item: number) => number,
  weight?: (item: number) => number,
): Glyph[] {
  const out: Glyph[] = [];
  let last: Glyph | null = null;
  let longest = 0;
  let heaviest = 0;
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!;
    const end = x1(item);
    const width = end - x0(item);
    const own = weight ? weight(item) : width;
    const from = Math.max(x0(item), last?.x1 ?? -Infinity);
    if (last && longest < MIN_WIDTH && width < MIN_WIDTH && x0(item) < last.x1) {
      last.n++;
      last.x1 = Math.max(last.x1, end);
      last.at = i;
      longest = Math.max(longest, width);
      if (own > heaviest) [heaviest, last.item] = [own, item];
      continue;
    }
    last = { x0: from, x1: Math.max(end, from + MIN_WIDTH), item, at: i, n: 1 };
    longest = width;
    heaviest = own;
    out.push(last);
  }
  return out;
}
