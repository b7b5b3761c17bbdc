// SPDX-License-Identifier: MIT
// The differential flame graph as a picture of its own, in the colours of the light theme.
import { inkOn } from '../../shared/lib/color';
import { layoutFlame } from '../../shared/lib/flame';
import { duration } from '../../shared/lib/format';
import type { Executions } from './lib_compare';
import { isUnsure, signed, stepOf } from './lib_d';
import type { Compared, Statistic } from './lib_d';
import { diffTree, nodeAt } from './lib_flame';

const STEPS = ['#1f5fa8', '#86b3e0', '#f1f3f5', '#f2b27a', '#b85500'] as const;
const WIDTH = 1600;
const LEVEL = 19;
const TOP = 44;
const PX_PER_LETTER = 6.2;

const escape = (text: string): string =>
  text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`).replace(/[^\t\n\r -\u{10ffff}]/gu, '?');

export interface SvgOptions {
  statistic: Statistic;
  focus: number;
  title: string;
  /** Whose mean the widths are. */
  by: 'a' | 'b';
}

export function flameSvg(executions: Executions, compared: Compared, options: SvgOptions): string {
  const diff = diffTree(executions, compared, options.focus, options.by);
  const { nodes, tree, placeOf } = diff;
  const flame = layoutFlame(tree, { width: WIDTH - 40, order: 'time', nameOf: String });
  const whole = compared.metrics.find(({ metric }) => metric === 0)?.difference ?? 0;
  const height = TOP + flame.levels * LEVEL + 24;
  const boxes = flame.boxes.map(box => {
    const [x, w] = [20 + box.x0, Math.max(0.5, box.x1 - box.x0 - 1)];
    const y = TOP + box.level * LEVEL;
    const place = box.kind === 'node' ? (placeOf[nodeAt(diff, box.node)] ?? -1) : -1;
    const step = place < 0 ? 2 : stepOf(compared.nodes, place, options.statistic, whole);
    const name = box.kind === 'node' ? nodes[tree.fn[box.node]!]!.name : `\u00d7${box.n}`;
    const own = box.kind === 'node' ? diff.difference[tree.fn[box.node]!]! : 0;
    const words = `${name}  ${duration(box.ns)}${own === 0 ? '' : `  ${signed(own)}`}`;
    const label = words.slice(0, Math.floor((w - 8) / PX_PER_LETTER));
    const unsure = place >= 0 && isUnsure(compared, place);
    const rect = (fill: string): string =>
      `<rect x="${x.toFixed(1)}" y="${y}" width="${w.toFixed(1)}" height="18" fill="${fill}" stroke="#0f141a" stroke-opacity=".28"/>`;
    const text =
      label.length < 3
        ? ''
        : `<text x="${(x + 4).toFixed(1)}" y="${y + 13}" fill="${inkOn(STEPS[step])}">${escape(label)}</text>`;
    return `<g><title>${escape(words)}</title>${rect(STEPS[step])}${unsure ? rect('url(#unsure)') : ''}${text}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="11">`,
    '<defs><pattern id="unsure" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M-1 7L7 -1M2 7L7 2M-1 2L2 -1" stroke="#15181c" stroke-opacity=".42" stroke-width="1.1"/></pattern></defs>',
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="20" y="26" font-size="15" font-weight="600" fill="#15181c">${escape(options.title)}</text>`,
    ...boxes,
    `<text x="20" y="${height - 8}" fill="#616a76">Width: mean of ${options.by.toUpperCase()}. Colour: exclusive difference B \u2212 A, blue faster, orange slower. Hatched: not sure.</text>`,
    '</svg>',
  ].join('\n');
}
