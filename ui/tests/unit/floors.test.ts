// SPDX-License-Identifier: MIT
// A screen imports shared/ and its own folder; shared/ imports no screen, and of its own folders those
// below: lib, api, state, draw, views.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

const FLOORS = ['lib', 'api', 'state', 'draw', 'views'];
const src = new URL('../../src/', import.meta.url).pathname;

function sources(folder: string): string[] {
  return readdirSync(folder).flatMap(name => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return sources(path);
    return /\.tsx?$/.test(name) ? [path] : [];
  });
}

/** Files of a folder with what they import, as paths below src/. */
function importsOf(folder: string): [file: string, imported: string][] {
  return sources(src + folder).flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import) '(\.[^']+)'/g)].map(
      ([, to]) =>
        [relative(src, file), relative(src, join(dirname(file), to!))] as [string, string],
    ),
  );
}

it('imports of shared/ point down', () => {
  const all = importsOf('shared');
  expect(all.length).toBeGreaterThan(20);
  for (const [file, to] of all) {
    expect(to, `${file} imports ${to}`).toMatch(/^(shared|gen)\//);
    const [own, other] = [file, to].map(path => FLOORS.indexOf(path.split('/')[1]!));
    if (to.startsWith('shared/')) expect(other, `${file} imports ${to}`).toBeLessThanOrEqual(own!);
  }
});

it('a screen imports no other screen', () => {
  const all = importsOf('screens');
  expect(all.length).toBeGreaterThan(20);
  const own = (path: string): string => path.split('/').slice(0, 2).join('/');
  const wrong = all.filter(([file, to]) => to.startsWith('screens/') && own(to) !== own(file));
  expect(wrong).toEqual([]);
});

it('lib has no DOM', () => {
  for (const file of sources(`${src}shared/lib`)) {
    const text = readFileSync(file, 'utf8').replace(/\/\/.*|\/\*[^]*?\*\//g, '');
    expect(text, file).not.toMatch(/\b(document|HTMLElement|localStorage|requestAnimationFrame)\b/);
  }
});
