// SPDX-License-Identifier: MIT
// Where the paths of the strip stand: one below the other, each with a line for every thread that it
// is on.
import { threadsInOrder } from '../../shared/lib/path';
import type { Path } from '../../shared/lib/path';

export const LINE = 21; // px of a thread's line
export const BAR = 16;
const HEAD = 22; // px of a path's title
const FOOT = 8;

export interface StripLine {
  thread: number;
  /** Content px of its upper edge. */
  y: number;
}

export interface StripPart {
  /** Which path. */
  index: number;
  path: Path | null;
  top: number;
  /** Of its bars; its title is above. */
  lines: StripLine[];
  lineOf: ReadonlyMap<number, number>;
  height: number;
}

export interface StripLayout {
  parts: StripPart[];
  height: number;
}

export function layoutStrip(paths: readonly (Path | null)[]): StripLayout {
  let top = 0;
  const parts = paths.map((path, index): StripPart => {
    const threads = path ? threadsInOrder(path) : [];
    const lines = threads.map((thread, i) => ({ thread, y: top + HEAD + i * LINE }));
    const height = HEAD + Math.max(1, lines.length) * LINE + FOOT;
    const lineOf = new Map(threads.map((thread, i) => [thread, i]));
    const part = { index, path, top, lines, lineOf, height };
    top += height;
    return part;
  });
  return { parts, height: top };
}

export function partAt({ parts }: StripLayout, y: number): StripPart | null {
  return parts.find(({ top, height }) => y >= top && y < top + height) ?? null;
}
