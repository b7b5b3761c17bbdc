// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import { Atom } from '../../src/shared/lib/atom';
import { readFragment, writeFragment } from '../../src/shared/lib/fragment';
import type { Place } from '../../src/shared/lib/fragment';
import { glyphs, MIN_WIDTH } from '../../src/shared/lib/lod';
import { matchesName, matchesThread, parseDuration, parseQuery } from '../../src/shared/lib/search';
import { axisTicks, tickStep } from '../../src/shared/lib/timemap';

function random(seed: number): () => number {
  let s = seed;
  return () => (s = (s * 16807) % 2147483647) / 2147483647;
}

describe('glyphs', () => {
  it('are never narrower than two pixels, keep order, lose no item, show the longest', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const rand = random(seed);
      const items: { x0: number; x1: number }[] = [];
      for (let x = 0; x < 300 && items.length < 400; ) {
        const width = rand() < 0.8 ? rand() * 1.5 : rand() * 30;
        items.push({ x0: x, x1: x + width });
        x += width + (rand() < 0.5 ? 0 : rand() * 4);
      }
      const all = glyphs(
        items.map((_, i) => i),
        i => items[i]!.x0,
        i => items[i]!.x1,
      );
      expect(all.reduce((sum, glyph) => sum + glyph.n, 0)).toBe(items.length);
      let first = 0;
      all.forEach((glyph, g) => {
        expect(glyph.x1 - glyph.x0).toBeGreaterThanOrEqual(MIN_WIDTH - 1e-9);
        if (g > 0) expect(glyph.x0).toBeGreaterThanOrEqual(all[g - 1]!.x1 - 1e-9);
        const own = items.slice(first, first + glyph.n);
        const shown = items[glyph.item]!;
        const longest = Math.max(...own.map(item => item.x1 - item.x0));
        expect(shown.x1 - shown.x0).toBe(longest);
        first += glyph.n;
      });
    }
  });
  it('leaves wide neighbours of narrow items alone', () => {
    const items = [
      [0, 0.5],
      [0.5, 100],
      [100, 100.2],
      [100.2, 100.3],
    ] as const;
    const all = glyphs(
      [0, 1, 2, 3],
      i => items[i]![0],
      i => items[i]![1],
    );
    expect(all.map(glyph => [glyph.item, glyph.n])).toEqual([
      [0, 1],
      [1, 1],
      [2, 2],
    ]);
  });
});

describe('ticks', () => {
  it('step by 1, 2, 5', () => {
    expect([1, 1.2, 3, 6, 70, 150].map(tickStep)).toEqual([1, 2, 5, 10, 100, 200]);
  });
  it('stand 70 to 175 px apart and carry the unit once', () => {
    for (const range of [997, 99.5e6, 8e9, 61e9]) {
      const { ticks } = axisTicks(0, range, 708, t => (t / range) * 708, true);
      expect(ticks.length).toBeGreaterThanOrEqual(4);
      for (let i = 1; i < ticks.length; i++) {
        const apart = ticks[i]!.x - ticks[i - 1]!.x;
        expect(apart).toBeGreaterThanOrEqual(69.9);
        expect(apart).toBeLessThanOrEqual(176);
      }
      expect(ticks[0]!.label).toMatch(/^0\u00a0(ns|\u00b5s|ms|s)$/);
    }
  });
  it('name the shared prefix when zoomed in', () => {
    const { prefix } = axisTicks(5e9, 5e9 + 1e6, 700, t => ((t - 5e9) / 1e6) * 700, true);
    expect(prefix).toMatch(/^\+/);
  });
});

describe('search', () => {
  it('knows words, expressions, and their negation', () => {
    const query = parseQuery('Page -inmem /^__wt/');
    expect(matchesName(query, '__wt_page_in')).toBe(true);
    expect(matchesName(query, '__wti_page_inmem')).toBe(false);
    expect(matchesName(query, 'page')).toBe(false);
  });
  it('knows threads and limits', () => {
    const query = parseQuery('fn:evict tid:12,20-30 min:5ms max:1.5s');
    expect([12, 25, 31].map(tid => matchesThread(query, tid, ''))).toEqual([true, true, false]);
    expect([query.min, query.max]).toEqual([5e6, 1.5e9]);
    expect(matchesThread(parseQuery('tid:flush'), 1, 'Flusher')).toBe(true);
    expect(matchesThread(parseQuery('-tid:7'), 7, '')).toBe(false);
    expect(parseQuery('kind:gap min:1ms').kind).toBe('gap');
    const often = parseQuery('count:20 -count:300 -calls:/lock/');
    expect([often.least, often.below, often.calls[0]!.is]).toEqual([20, 300, false]);
    expect(often.calls[0]!.test('spin_lock')).toBe(true);
    expect(parseQuery('count:x').error).toContain('count:');
    expect(parseQuery('calls:/(/').error).toContain('regular expression');
  });
  it('says what it does not understand', () => {
    expect(parseQuery('/(/').error).toContain('regular expression');
    expect(parseQuery('min:5').error).toContain('unit');
    expect(parseQuery('kind:x').error).toContain('kind:');
    expect(parseQuery('   ').isEmpty).toBe(true);
    expect(parseDuration('2min')).toBe(12e10);
    expect(parseDuration('x')).toBeNull();
  });
});

describe('address', () => {
  const place: Place = {
    window: { t0: 46_400_001, t1: 50_900_000 },
    crumbs: [{ t0: 0, t1: 9e7 }],
    range: { t0: 1, t1: 2 },
    query: 'fn:/a&b=c/ "x y" #%',
    isFiltered: true,
    isRegime: true,
    sort: 'calls',
    hidden: [4, 7],
    open: [9],
    unpacked: ['brief', 'w3.-1'],
    item: { tid: 12, row: 34 },
    screen: 'patterns',
    pins: ['3~0-12.5~c17~t7.1-2', '1~3-4.000001~t7.0.3.1200-4500'],
    past: ['fn:lock min:1ms', '/a|b&c=d/ -"x, y"'],
    family: 'a::b',
    parts: { pin: 't7,t9', fn: 'a::b' },
  };
  it('comes back as it was', () => {
    expect(readFragment(writeFragment(place))).toEqual(place);
  });
  it('is readable', () => {
    expect(writeFragment(place)).toContain('w=46.400001-50.9&');
  });
  it('leaves out what it cannot read', () => {
    expect(readFragment('#v=2&w=1-2')).toBeNull();
    expect(readFragment('')).toBeNull();
    const odd = readFragment('#v=1&w=9-3&r=x&item=t1&hide=a,t5&set=%E0%A4%A')!;
    expect([odd.window, odd.range, odd.item, odd.hidden, odd.query]).toEqual([
      null,
      null,
      null,
      [5],
      '',
    ]);
  });
});

it('an atom tells its listeners once for each change', () => {
  const atom = new Atom(1);
  const seen: number[] = [];
  const off = atom.subscribe(value => seen.push(value));
  atom.set(1);
  atom.set(2);
  off();
  atom.update(n => n + 1);
  expect([seen, atom.get()]).toEqual([[2], 3]);
});
