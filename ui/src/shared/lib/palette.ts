// SPDX-License-Identifier: MIT
// Which function family gets which hue.
//
// The most prominent families choose first. What one chooses is settled by its name alone: every
// (family, hue) pair has a score, and a family takes its best-scored hue that is still free. So two
// families never share a hue, and a family keeps its hue from trace to trace unless a more prominent
// one wants the same. Functions that wait prefer blue, the first hue.

export const HUES = {
  light: [
    ...['#4c67bb', '#de853f', '#38938a', '#b6566f', '#e4d17a'],
    ...['#53397c', '#7db584', '#7a4c34', '#98d9fa', '#b18ac8'],
  ],
  dark: [
    ...['#5a70be', '#de8a4d', '#39998d', '#b8585f', '#e6d379'],
    ...['#5b3e8b', '#89b88d', '#664635', '#96dbfc', '#c49fbc'],
  ],
};
export const GREY = { light: '#aab2bd', dark: '#5b6470' };
export const GREY_HUE = 10;

function score(key: string, hue: number): number {
  let h = 0x811c9dc5 ^ Math.imul(hue + 1, 0x9e3779b1);
  for (let i = 0; i < key.length; i++) h = Math.imul(h ^ key.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The hues in the order in which a family of this name wants them. */
export function preference(key: string, waits: boolean): number[] {
  const order = Array.from({ length: 10 }, (_, hue) => hue);
  order.sort((a, b) => score(key, b) - score(key, a) || a - b);
  return waits ? [0, ...order.filter(hue => hue !== 0)] : order;
}

/** Hue index by family, given most prominent first; those beyond ten are grey. */
export function assignHues(families: readonly { key: string; waits: boolean }[]): number[] {
  const isTaken = new Array<boolean>(10).fill(false);
  return families.map((entry, i) => {
    if (i >= 10) return GREY_HUE;
    const hue = preference(entry.key, entry.waits).find(h => !isTaken[h])!;
    isTaken[hue] = true;
    return hue;
  });
}
