// SPDX-License-Identifier: MIT
// What a person can ask of RegTime, and how the address and the server's questions say it. Zero and
// '' leave it to the preset.
import { parseDuration } from './search';

export interface Ask {
  preset: '' | 'fine';
  /** ns: a call longer than this, and a gap, keeps a row; a run is cut at this length. */
  d: number;
  g: number;
  f: number;
  /** Rows a thread at most; -1: as the program has it, 0: no limit. */
  glyphs: number;
  /** An outlier is this many times its function's median, and at least so long (ns). */
  k: number;
  least: number;
}

export const NO_ASK: Ask = { preset: '', d: 0, g: 0, f: 0, glyphs: -1, k: 0, least: 0 };

const TIMES = ['d', 'g', 'f', 'least'] as const;

export function isDefault(ask: Ask): boolean {
  return writeAsk(ask) === '';
}

/** "preset:fine,d:1000000,k:50": only what differs. */
export function writeAsk(ask: Ask): string {
  const parts = [ask.preset && `preset:${ask.preset}`, ask.glyphs >= 0 && `glyphs:${ask.glyphs}`];
  for (const key of [...TIMES, 'k'] as const) parts.push(ask[key] > 0 && `${key}:${ask[key]}`);
  return parts.filter(Boolean).join(',');
}

export function readAsk(text: string): Ask {
  const ask = { ...NO_ASK };
  for (const part of text.split(',')) {
    const [key, value = ''] = part.split(':');
    if (key === 'preset' && value === 'fine') ask.preset = 'fine';
    if (!/^\d+(\.\d+)?$/.test(value)) continue;
    if (key === 'glyphs') ask.glyphs = Math.min(100000, Math.floor(Number(value)));
    if (key === 'k') ask.k = Number(value);
    const time = TIMES.find(one => one === key);
    if (time) ask[time] = Math.floor(Number(value));
  }
  return ask;
}

/** The question's parameters (docs/http-api.md, regtime). */
export function askParams(ask: Ask): Record<string, string | number | undefined> {
  const some = (value: number): number | undefined => (value > 0 ? value : undefined);
  return {
    ...{ preset: ask.preset || undefined, duration_ns: some(ask.d), gap_ns: some(ask.g) },
    ...{ span_ns: some(ask.f), glyphs: ask.glyphs >= 0 ? ask.glyphs : undefined },
    ...{ outlier_factor: some(Math.round(ask.k)), outlier_min_ns: some(ask.least) },
  };
}

/** A field's text as a time in ns: 0 if it is empty, null if it is none. */
export function readTime(text: string): number | null {
  return text.trim() === '' ? 0 : parseDuration(text.trim().replace(/\s+/g, ''));
}
