// SPDX-License-Identifier: MIT
import { expect, it } from 'vitest';
import { byColumn, cellText } from '../../src/shared/lib/cells';

const plain = (text: string): string => text.replace(/\u00a0/g, ' ');

it('prints cells by their units', () => {
  expect(plain(cellText(1_040_000_000, 'ns'))).toBe('1.04 s');
  expect(plain(cellText(1_369_123_456, 'at'))).toBe('1.369123 s');
  expect(plain(cellText(0.0412, 'share'))).toBe('4.12 %');
  expect(cellText(78731234, 'count')).toBe('78,731,234');
  expect(cellText(4711, 'id')).toBe('4711');
  expect([cellText(null, 'ns'), cellText(false, 'bool'), cellText('a', 'text')]).toEqual([
    '-',
    '-',
    'a',
  ]);
});

it('sorts by a column', () => {
  const rows = [
    { n: 1, name: 'b' },
    { n: null, name: 'c' },
    { n: 7, name: 'a' },
  ];
  expect(byColumn(rows, 'n').map(({ n }) => n)).toEqual([7, 1, null]);
  expect(byColumn(rows, 'name').map(({ name }) => name)).toEqual(['a', 'b', 'c']);
});
