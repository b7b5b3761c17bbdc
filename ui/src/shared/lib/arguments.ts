// SPDX-License-Identifier: MIT
// Arguments of a call as names and values: some sources tell them as one JSON text.
import { parsePlain } from './plain';

export interface Argument {
  name: string;
  value: string;
}

const MOST = 40; // of one call

function parsed(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return text;
  try {
    return parsePlain(text);
  } catch {
    return text; // cut, or no JSON after all
  }
}

/** "data.url" of {data: {url: ...}}; a list of plain values stays one value. */
function flatten(name: string, value: unknown): Argument[] {
  if (typeof value !== 'object' || value === null) return [{ name, value: String(value) }];
  const isPlain = (one: unknown): boolean => typeof one !== 'object' || one === null;
  if (Array.isArray(value) && value.every(isPlain))
    return [{ name, value: value.map(String).join(', ') }];
  const own = Object.entries(value).flatMap(([key, one]) =>
    flatten(name === '' ? key : `${name}.${key}`, one),
  );
  return own.length > 0 ? own : [{ name, value: 'none' }];
}

/** Numbers first, then texts; those without a name are counted. */
export function argumentsOf(numbers: readonly unknown[], texts: readonly string[]): Argument[] {
  const all: unknown[] = [...numbers, ...texts.map(parsed)];
  const rows = all.flatMap((value, i) => {
    const isNamed = typeof value === 'object' && value !== null && !Array.isArray(value);
    return flatten(isNamed ? '' : `Argument ${i + 1}`, value);
  });
  const named = rows.map(({ name, value }) => ({ name: name || 'Arguments', value }));
  if (named.length <= MOST) return named;
  return [...named.slice(0, MOST), { name: 'More', value: `${named.length - MOST} left out` }];
}
