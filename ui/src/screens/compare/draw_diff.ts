// SPDX-License-Identifier: MIT
// Colours of differences and of the two groups, read from the style sheet once per theme.
import type { Theme } from '../../shared/draw/theme';

export interface DiffColors {
  /** By step: much faster, faster, no evidence, slower, much slower. */
  steps: string[];
  a: string;
  b: string;
  /** Executions in neither group. */
  others: string;
}

const read = new WeakMap<Theme, DiffColors>();

export function diffColors(theme: Theme): DiffColors {
  let colors = read.get(theme);
  if (!colors) {
    const style = getComputedStyle(document.documentElement);
    const get = (name: string): string => style.getPropertyValue(`--${name}`).trim();
    colors = {
      steps: [get('diff-a'), get('cmp-a2'), get('cmp-0'), get('cmp-b2'), get('diff-b')],
      ...{ a: get('diff-a'), b: get('diff-b'), others: get('cmp-rest') },
    };
    read.set(theme, colors);
  }
  return colors;
}
