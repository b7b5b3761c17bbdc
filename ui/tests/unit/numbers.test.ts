// SPDX-License-Identifier: MIT
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as numbers from '../../src/shared/lib/numbers';

const KINDS: Record<string, (value: number) => string> = {
  ...{ ns: numbers.nanoseconds, bytes: numbers.bytes, count: numbers.count, rough: numbers.rough },
  ...{ share: numbers.share, ratio: numbers.ratio, p: numbers.pValue },
};

it('prints numbers as the command line does', () => {
  const path = new URL('../../../tests/data/numbers.tsv', import.meta.url).pathname;
  const lines = readFileSync(path, 'utf8').split('\n');
  const wrong = lines
    .filter(line => line && !line.startsWith('#'))
    .map(line => line.split('\t') as [string, string, string])
    .map(([kind, value, text]) => [kind, value, text, KINDS[kind]!(Number(value))] as const)
    .filter(([, , text, found]) => found.replace(/\u00a0/g, ' ') !== text);
  expect(lines.length).toBeGreaterThan(3000);
  expect(wrong).toEqual([]);
});
