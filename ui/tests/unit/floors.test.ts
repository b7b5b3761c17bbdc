// SPDX-License-Identifier: MIT
// A file may import its own folder and those below: lib, api, state, draw, views.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const FLOORS = ['lib', 'api', 'state', 'draw', 'views'];
const src = new URL('../../src/', import.meta.url).pathname;

it('imports point down', () => {
  let n = 0;
  FLOORS.forEach((folder, floor) => {
    for (const name of readdirSync(src + folder)) {
      const text = readFileSync(`${src}${folder}/${name}`, 'utf8');
      for (const match of text.matchAll(/from '\.\.\/(\w+)\//g)) {
        expect(FLOORS.indexOf(match[1]!), `${folder}/${name} imports ${match[1]}`).toBeLessThan(
          floor,
        );
        n++;
      }
    }
  });
  expect(n).toBeGreaterThan(20);
});

it('lib has no DOM', () => {
  for (const name of readdirSync(`${src}lib`)) {
    const text = readFileSync(`${src}lib/${name}`, 'utf8').replace(/\/\/.*|\/\*[^]*?\*\//g, '');
    expect(text, name).not.toMatch(/\b(document|HTMLElement|localStorage|requestAnimationFrame)\b/);
  }
});
