// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import { commonPrefix, dropArguments, dropTemplates, elide, family } from '../../src/lib/names';

const within = (n: number) => (text: string) => text.length <= n;

describe('names', () => {
  it('elides in C++ order: arguments, templates, namespaces, middle', () => {
    const name = 'store::map<int, std::less<int>>::find_or_insert(int const&, bool) const';
    expect(dropArguments(name)).toBe('store::map<int, std::less<int>>::find_or_insert');
    expect(dropTemplates(dropArguments(name))).toBe('store::map::find_or_insert');
    expect(elide(name, within(30))).toBe('store::map::find_or_insert');
    expect(elide(name, within(20))).toBe('map::find_or_insert');
    expect(elide(name, within(15))).toBe('find_or_insert');
    const short = elide(name, within(10));
    expect(short).toHaveLength(10);
    expect(short).toContain('\u2026');
    expect(elide(name, within(2))).toBe('');
  });
  it('leaves operators alone', () => {
    expect(dropTemplates('a::operator<')).toBe('a::operator<');
    expect(elide('x(', within(1))).toBe('');
  });
  it('finds the prefix of at least 80 %', () => {
    const names = ['__wt_a', '__wt_b', '__rec_c', '__cur_d', 'main'];
    expect(commonPrefix(names)).toBe('__');
    expect(commonPrefix(['a_b', 'a_c'])).toBe('');
  });
  it('puts a function into the same family in every trace', () => {
    expect(family('__wt_evict_page')).toBe('evict');
    expect(family('__wti_page_inmem')).toBe('page');
    expect(family('__rec_row_leaf')).toBe('rec');
    expect(family('rocksdb::DBImpl::Write(int)')).toBe('DBImpl');
    expect(family('main')).toBe('main');
    expect(family('')).toBe('');
  });
});
