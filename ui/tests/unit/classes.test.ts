// SPDX-License-Identifier: MIT
// Style sheets share one page, so a class means one thing: it is defined by one sheet, and what the
// sheet of a component defines is used by that component alone.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const src = new URL('../../src/', import.meta.url).pathname;

/** Sheets of screens, and the files that wear their classes. */
const OWNERS: Record<string, RegExp> = {
  'screens/compare/compare.css': /^screens\/compare\//,
  'screens/functions/functions.css': /^screens\/(functions|health|lists)\//,
  'screens/path/path.css': /^screens\/path\//,
  'screens/timeline/timeline.css': /^screens\/timeline\//,
};
const SHARED = ['style.css', 'served.css'];

/** Classes with a rule of their own: a selector that is nothing else, but for states and tags. */
function defines(sheet: string): Set<string> {
  const text = readFileSync(src + sheet, 'utf8').replace(/\/\*[^]*?\*\//g, '');
  const found = new Set<string>();
  for (const [, selectors] of text.matchAll(/([^{}]+)\{/g))
    for (const one of selectors!.split(',')) {
      const own = /^[a-z]*\.([\w-]+)(?::[\w-]+|\[[^\]]*\])*$/.exec(one.trim());
      if (own) found.add(own[1]!);
    }
  return found;
}

function views(folder: string): string[] {
  return readdirSync(src + folder).flatMap(name => {
    const path = `${folder}${name}`;
    if (statSync(src + path).isDirectory()) return views(`${path}/`);
    return name.endsWith('.tsx') ? [path] : [];
  });
}

/** Words of the class attributes of a view, and of the texts that make them up. */
function wears(file: string): Set<string> {
  const text = readFileSync(src + file, 'utf8');
  const found = new Set<string>();
  for (const [, plain, made] of text.matchAll(/\bclass=(?:"([^"]*)"|\{([^}]*)\})/g)) {
    const texts = plain ?? [...made!.matchAll(/['"`]([^'"`]*)['"`]/g)].map(m => m[1]).join(' ');
    for (const word of texts.split(/[^\w-]+/)) if (word) found.add(word);
  }
  return found;
}

describe('classes', () => {
  const sheets = [...SHARED, ...Object.keys(OWNERS)];
  const defined = new Map(sheets.map(sheet => [sheet, defines(sheet)]));

  it('are defined by one sheet', () => {
    const by = new Map<string, string[]>();
    for (const [sheet, classes] of defined)
      for (const name of classes) by.set(name, [...(by.get(name) ?? []), sheet]);
    expect([...by].filter(([, where]) => where.length > 1)).toEqual([]);
    expect(by.size).toBeGreaterThan(100);
  });

  it('of a component are worn by that component', () => {
    const strangers: string[] = [];
    for (const file of views(''))
      for (const [sheet, owner] of Object.entries(OWNERS))
        for (const name of wears(file))
          if (!owner.test(file) && defined.get(sheet)!.has(name))
            strangers.push(`${file} wears .${name} of ${sheet}`);
    expect(strangers).toEqual([]);
  });
});
