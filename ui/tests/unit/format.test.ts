// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import {
  bytes,
  compact,
  duration,
  exact,
  integer,
  percent,
  span,
} from '../../src/shared/lib/format';

const plain = (text: string): string => text.replace(/\u00a0/g, ' ');

describe('numbers', () => {
  it('gives three digits and a unit', () => {
    const wanted: [number, string][] = [
      [0, '0 ns'],
      [357, '357 ns'],
      [999, '999 ns'],
      [1000, '1.00 \u00b5s'],
      [85_200_000, '85.2 ms'],
      [999_400, '999 \u00b5s'],
      [999_600, '1.00 ms'],
      [1_040_000_000, '1.04 s'],
      [504e9, '504 s'],
      [8_006e9, '8,006 s'],
    ];
    for (const [ns, text] of wanted) expect(plain(duration(ns))).toBe(text);
  });
  it('gives every nanosecond', () => {
    expect(plain(exact(12_879_328))).toBe('12.879 328 ms');
    expect(plain(exact(7))).toBe('7 ns');
    expect(plain(exact(1_000_000_001))).toBe('1.000 000 001 s');
  });
  it('groups thousands and uses a real minus', () => {
    expect(integer(488830)).toBe('488,830');
    expect(integer(-1234)).toBe('\u22121,234');
    expect(plain(compact(14_644_152))).toBe('14.6 M');
  });
  it('names shares, sizes and spans', () => {
    expect(plain(percent(0.814))).toBe('81.4 %');
    expect(plain(percent(0.0000001))).toBe('< 0.1 %');
    expect(plain(bytes(7_838_360))).toBe('7.84 MB');
    expect(plain(span(46_400_000, 50_900_000))).toBe('46.4\u201350.9 ms');
    expect(plain(span(0, 8_006_773_189))).toBe('0\u20138.01 s');
  });
});
