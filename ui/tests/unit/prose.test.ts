// SPDX-License-Identifier: MIT
import { expect, it } from 'vitest';
import { argumentsOf } from '../../src/screens/timeline/details';
import { plainOf, proseOf } from '../../src/shared/lib/format';

it('names in sentences stand between back-ticks', () => {
  expect(proseOf('in `a > b`, for `<i>`.')).toEqual([
    { text: 'in ', isCode: false },
    { text: 'a > b', isCode: true },
    { text: ', for ', isCode: false },
    { text: '<i>', isCode: true },
    { text: '.', isCode: false },
  ]);
  expect(plainOf('one ` alone')).toBe('one ` alone');
  expect(plainOf('`x` and `y')).toBe('x and `y');
  expect(proseOf('')).toEqual([]);
});

it('arguments are names and values, however deep', () => {
  expect(argumentsOf([7, 9], ['plain'])).toEqual([
    { name: 'Argument 1', value: '7' },
    { name: 'Argument 2', value: '9' },
    { name: 'Argument 3', value: 'plain' },
  ]);
  expect(argumentsOf([], ['{"data":{"url":"/x","ids":[1,2]},"empty":{},"n":null}'])).toEqual([
    { name: 'data.url', value: '/x' },
    { name: 'data.ids', value: '1, 2' },
    { name: 'empty', value: 'none' },
    { name: 'n', value: 'null' },
  ]);
  expect(argumentsOf([], ['{"cut":'])).toEqual([{ name: 'Argument 1', value: '{"cut":' }]);
  expect(argumentsOf([], ['[{"a":1}]'])).toEqual([{ name: 'Argument 1.0.a', value: '1' }]);
  const many = JSON.stringify(Object.fromEntries([...Array(60).keys()].map(i => [`k${i}`, i])));
  expect(argumentsOf([], [many])).toHaveLength(41);
  expect(argumentsOf([], [many]).at(-1)).toEqual({ name: 'More', value: '20 omitted' });
});
