// SPDX-License-Identifier: MIT
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  ciede2000,
  contrast,
  difference,
  inkOn,
  assignHues,
  GREY,
  GREY_HUE,
  HUES,
  preference,
} from '../../src/shared/lib/color';
import type { Vision } from '../../src/shared/lib/color';

const VISIONS: Vision[] = ['normal', 'protan', 'deutan', 'tritan'];
const css = readFileSync(new URL('../../src/style.css', import.meta.url), 'utf8');

function tokens(theme: 'light' | 'dark'): Map<string, string> {
  const from = theme === 'light' ? css.indexOf(':root {') : css.indexOf(":root[data-theme='dark']");
  const block = css.slice(from, css.indexOf('}', from));
  return new Map([...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6});/g)].map(m => [m[1]!, m[2]!]));
}

describe.each(['light', 'dark'] as const)('%s theme', theme => {
  const t = tokens(theme);
  it('keeps ten hues and grey apart for every eye (CIEDE2000 >= 12)', () => {
    const all = [...HUES[theme], GREY[theme]];
    for (const vision of VISIONS)
      for (let i = 0; i < all.length; i++)
        for (let k = 0; k < i; k++)
          expect(
            difference(all[i]!, all[k]!, vision),
            `${all[i]} ${all[k]} ${vision}`,
          ).toBeGreaterThanOrEqual(12);
  });
  it('keeps states apart for every eye (CIEDE2000 >= 10.5)', () => {
    const names = ['run', 'ready', 'lock', 'disk', 'net', 'timer', 'wait'];
    const all = names.map(name => t.get(`s-${name}`)!);
    for (const vision of VISIONS)
      for (let i = 0; i < all.length; i++)
        for (let k = 0; k < i; k++)
          expect(
            difference(all[i]!, all[k]!, vision),
            `${names[i]} ${names[k]} ${vision}`,
          ).toBeGreaterThanOrEqual(10.5);
  });
  it('has the same hues in the style sheet', () => {
    HUES[theme].forEach((hue, i) => expect(t.get(`h${i + 1}`)).toBe(hue));
    expect(t.get('grey')).toBe(GREY[theme]);
  });
  it('has text contrast of 4.5 on every ground', () => {
    for (const ground of ['bg', 'panel', 'raise', 'accent-bg'])
      for (const ink of ['ink', 'ink2', 'ink3'])
        expect(contrast(t.get(ink)!, t.get(ground)!), `${ink} on ${ground}`).toBeGreaterThanOrEqual(
          4.5,
        );
    for (const ground of ['bg', 'panel', 'accent-bg'])
      expect(
        contrast(t.get('accent')!, t.get(ground)!),
        `accent on ${ground}`,
      ).toBeGreaterThanOrEqual(4.5);
    expect(contrast(t.get('warn')!, t.get('warn-bg')!)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(t.get('bad')!, t.get('bad-bg')!)).toBeGreaterThanOrEqual(4.5);
    for (const ground of ['bg', 'panel', 'raise'])
      for (const sign of ['bad', 'warn'])
        expect(
          contrast(t.get(sign)!, t.get(ground)!),
          `${sign} on ${ground}`,
        ).toBeGreaterThanOrEqual(4.5);
    for (const hue of HUES[theme])
      expect(contrast(inkOn(hue), hue), hue).toBeGreaterThanOrEqual(4.5);
  });
});

it('forced and followed dark theme are the same', () => {
  const parts = css
    .split(/:root\[data-theme='dark'\]|:root:not\(\[data-theme='light'\]\)/)
    .slice(1);
  const values = parts.map(part => part.slice(0, part.indexOf('}')).match(/--[\w-]+: [^;]+/g));
  expect(values).toHaveLength(2);
  expect(values[1]).toEqual(values[0]);
});

it('computes CIEDE2000 as published (Sharma 2005)', () => {
  expect(ciede2000([50, 2.6772, -79.7751], [50, 0, -82.7485])).toBeCloseTo(2.0425, 4);
  expect(ciede2000([50, 2.5, 0], [58, 24, 15])).toBeCloseTo(19.4535, 4);
  expect(ciede2000([2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514])).toBeCloseTo(0.9082, 4);
});

it.each(['light', 'dark'] as const)('%s: a set, a loss and the edge of a row differ', theme => {
  const t = tokens(theme);
  for (const vision of VISIONS) {
    const pairs = [
      ['accent', 'bad'],
      ['accent', 'bg'],
      ['bad', 'bg'],
      ['accent', 'line'],
    ] as const;
    for (const [a, b] of pairs)
      expect(
        difference(t.get(a)!, t.get(b)!, vision),
        `${a} ${b} ${vision}`,
      ).toBeGreaterThanOrEqual(10.5);
  }
});

describe('hues', () => {
  const list = (keys: string[]) => keys.map(key => ({ key, waits: false }));
  it('never gives one hue to two families, and grey beyond ten', () => {
    const hues = assignHues(list(Array.from({ length: 14 }, (_, i) => `family${i}`)));
    expect(new Set(hues.slice(0, 10)).size).toBe(10);
    expect(hues.slice(10)).toEqual([GREY_HUE, GREY_HUE, GREY_HUE, GREY_HUE]);
  });
  it('gives a family its first wish in every trace where it is most prominent', () => {
    expect(assignHues(list(['evict', 'page']))[0]).toBe(preference('evict', false)[0]);
    expect(assignHues(list(['evict', 'rec', 'txn']))[0]).toBe(preference('evict', false)[0]);
    expect(preference('cond_wait', true)[0]).toBe(0);
  });
});
