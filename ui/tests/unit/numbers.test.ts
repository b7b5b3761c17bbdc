// SPDX-License-Identifier: MIT
import { readdirSync, readFileSync } from 'node:fs';
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

/** Numbers that are not read by people: filters, addresses, values to be found, coordinates of SVG. */
const OTHER_NUMBERS = [
  'screens/compare/data.ts',
  'screens/compare/flame.ts',
  'screens/interplay/view.tsx',
];

it('numbers are made text in one place', () => {
  const src = new URL('../../src/', import.meta.url).pathname;
  const files = (readdirSync(src, { recursive: true }) as string[]).filter(name =>
    /\.tsx?$/.test(name),
  );
  const own = files.filter(name =>
    /\.(toFixed|toPrecision|toExponential|toLocaleString)\(/.test(readFileSync(src + name, 'utf8')),
  );
  expect(own.sort()).toEqual([...OTHER_NUMBERS, 'shared/lib/numbers.ts'].sort());
});
