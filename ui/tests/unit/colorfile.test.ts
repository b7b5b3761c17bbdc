// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import {
  checkColors,
  FIRST_OWN,
  ownHues,
  parseColors,
  seenOn,
  writeColors,
} from '../../src/shared/lib/color';

const named = (name: string): string | null => ({ navy: '#000080' })[name] ?? null;
const read = (text: string): ReturnType<typeof parseColors> => parseColors(text, named);

describe('a colour file', () => {
  it('has a line a function: name, colour, alpha', () => {
    const { colors, problems } = read(
      '__wt_cond_wait_signal #E15759 0.8\r\n\n# a remark\nstd::map<int, int>::find #abc 1\nmain navy 0.25\nf #010203\n',
    );
    expect(problems).toEqual([]);
    expect([...colors]).toEqual([
      ['__wt_cond_wait_signal', { hex: '#e15759', alpha: 0.8 }],
      ['std::map<int, int>::find', { hex: '#aabbcc', alpha: 1 }],
      ['main', { hex: '#000080', alpha: 0.25 }],
      ['f', { hex: '#010203', alpha: 1 }],
    ]);
  });
  it('is read again as it was written', () => {
    const { colors } = read('a #112233 0.5\nb c #ffffff 0\nd #000000 1e-3\n');
    expect([...read(writeColors(colors)).colors]).toEqual([...colors]);
  });
  it('says what it could not read, and reads the rest', () => {
    const { colors, problems } = read('a nocolor 1\nb\nc #12345 1\nd #123456 7\ne #123456 1\n');
    expect([...colors.keys()]).toEqual(['e']);
    expect(problems.length).toBe(4);
    expect(problems[0]).toBe('line 1 nocolor is no colour');
    expect(problems[3]).toMatch(/alpha of 7/);
  });
  it('is bounded, whatever it holds', () => {
    const many = Array.from({ length: 30000 }, (_, i) => `f${i} #123456 1`).join('\n');
    const { colors, problems } = read(many);
    expect(colors.size).toBe(20000);
    expect(problems).toEqual(['10000 more lines were omitted']);
    let seed = 1;
    for (let k = 0; k < 2000; k++) {
      let text = '';
      for (let i = 0; i < 40; i++) {
        seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
        text += 'ab #0f 1.\n\r\t-e\u0000\u2028'[(seed >>> 16) % 17] ?? '';
      }
      for (const { hex, alpha } of read(text).colors.values()) {
        expect(hex).toMatch(/^#[0-9a-f]{6}$/);
        expect(alpha >= 0 && alpha <= 1).toBe(true);
      }
    }
  });
});

describe('own hues', () => {
  it('are one a colour, behind those of the palette', () => {
    const { colors } = read('a #112233 1\nb #112233 1\nc #445566 1\nx #ffffff 1\n');
    const { list, hue } = ownHues(colors, ['c', 'b', 'a', 'other']);
    expect(list.length).toBe(2);
    expect(hue.get('c')).toBe(FIRST_OWN);
    expect(hue.get('a')).toBe(FIRST_OWN + 1);
    expect(hue.get('b')).toBe(hue.get('a'));
    expect(hue.has('other') || hue.has('x')).toBe(false);
  });
  it('are mixed with the background by their alpha', () => {
    expect(seenOn({ hex: '#000000', alpha: 0.5 }, 'light')).toBe('#808080');
    expect(seenOn({ hex: '#ffffff', alpha: 0 }, 'dark')).toBe('#14171b');
  });
});

describe('warnings', () => {
  const check = (text: string, automatic = new Map<number, string>()): string =>
    checkColors(read(text).colors, ['a', 'b', 'c'], automatic).join(' ');
  it('name colours that cannot be told apart, by any eye', () => {
    expect(check('a #1f5fa8 1\nb #b85500 1\n')).toBe('');
    expect(check('a #c04040 1\nb #c04444 1\n')).toMatch(/a and b are hard to distinguish/);
    expect(check('a #c83232 1\nb #6b6b00 1\n')).toMatch(/for eyes without (red|green) cones/);
  });
  it('name what can hardly be seen, what is not there, and hues of others', () => {
    expect(check('a #ffffff 1\n')).toMatch(/seen on the light background/);
    expect(check('zzz #123456 1\n')).toMatch(/1 of 1 functions do not occur/);
    expect(check('a #4c67bb 1\n', new Map([[0, 'waiting']]))).toMatch(/a and waiting/);
  });
});
