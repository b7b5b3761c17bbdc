// SPDX-License-Identifier: MIT
import { expect, it } from 'vitest';
import { argumentsOf } from '../../src/screens/timeline/details';
import { bare, parsePlain, plain } from '../../src/shared/lib/format';

it('shows what hides text or turns it around', () => {
  expect(plain('main')).toBe('main');
  expect(plain('a\u202eb\u200b')).toBe('a\\u202eb\\u200b');
  expect(plain('\u001b[31m\u009b\u007f')).toBe('\\x1b[31m\\x9b\\x7f');
  expect(plain('\u{e0041}')).toBe('\\U000e0041');
  expect(plain('na\u00efve \u6f22\u5b57 \u{1f600}')).toBe('na\u00efve \u6f22\u5b57 \u{1f600}');
});

it('isolates names that are written from the right', () => {
  const name = '\u05e9\u05dc\u05d5\u05dd';
  expect(plain(name)).toBe(`\u2068${name}\u2069`);
  expect(bare(plain(name))).toBe(name);
  expect(plain(`\u2069${name}`)).toBe(`\u2068\\u2069${name}\u2069`);
});

it('makes all texts of JSON plain, those that are escaped too', () => {
  expect(parsePlain('{"a":["x",1,null],"b":{"c":"y"}}')).toEqual({
    a: ['x', 1, null],
    b: { c: 'y' },
  });
  expect(parsePlain('{"a\\u202e":["x\u202e",{"c":"\\u200f"}]}')).toEqual({
    'a\\u202e': ['x\\u202e', { c: '\\u200f' }],
  });
});

it('does so of arguments that are JSON within JSON', () => {
  const [first] = argumentsOf([], ['{"a":"\\u202e"}']);
  expect(first).toEqual({ name: 'a', value: '\\u202e' });
});
