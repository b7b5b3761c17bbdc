// SPDX-License-Identifier: MIT
// Foreign text made plain, as src/base/plain.h does: names hold any characters, some of which hide
// text or change the order in which a line reads. They become escapes. Names that are written from
// the right are isolated, so that they do not reorder the text around them.

// Controls (lines and tabs do no harm here), direction, line breaks, what is invisible.
const HIDDEN =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
const FROM_RIGHT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const ISOLATE = '\u2068';
const END = '\u2069';

function escape(sign: string): string {
  const code = sign.codePointAt(0)!;
  const hex = (n: number): string => code.toString(16).padStart(n, '0');
  return code < 0x100 ? `\\x${hex(2)}` : code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}

export function plain(text: string): string {
  const shown = text.replace(HIDDEN, escape);
  return FROM_RIGHT.test(shown) ? ISOLATE + shown + END : shown;
}

/** Without isolation: for questions to the server, and for files. */
export function bare(text: string): string {
  return text.replace(/[\u2068\u2069]/g, '');
}

/** JSON whose texts are plain, keys of objects included. */
export function parsePlain(json: string): unknown {
  const isPlain = json.search(HIDDEN) < 0 && !FROM_RIGHT.test(json) && !json.includes('\\u');
  return isPlain ? JSON.parse(json) : JSON.parse(json, plainValue);
}

function plainValue(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return plain(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  const isPlain = entries.every(([key]) => plain(key) === key);
  return isPlain ? value : Object.fromEntries(entries.map(([key, one]) => [plain(key), one]));
}
