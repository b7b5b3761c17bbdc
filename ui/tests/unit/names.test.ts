// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import {
  commonPrefix,
  dropArguments,
  dropTemplates,
  elide,
  family,
  plainName,
  splitName,
} from '../../src/shared/lib/names';

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
  it('says C++ names plainly, and splits off what is read of them', () => {
    const name = 'rpc::handler<std::map<int, A>, B>::run(int, std::function<int (C)> const&) const';
    expect(plainName(name)).toBe('rpc::handler::run');
    expect(splitName(name)).toEqual(['rpc::handler::', 'run']);
    const lambda =
      'auto a::b<X>::run(int)::{lambda(auto:1 const&)#1}::operator()<Y>(Y const&) const';
    expect(splitName(lambda)[1]).toMatch(/^run.*\{lambda#1\}$/);
    expect(plainName('spin')).toBe('spin');
    expect(plainName('a<b>::burn (inlined)')).toBe('a::burn (inlined)');
    expect(plainName('[kernel] (31 unnamed)')).toBe('[kernel] (31 unnamed)');
    expect(splitName('app+0x14c6')).toEqual(['app', '+0x14c6']);
    expect(splitName('')).toEqual(['', '']);
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
