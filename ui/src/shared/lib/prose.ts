// SPDX-License-Identifier: MIT
// Sentences of the server, in which names stand between back-ticks.

export interface Prose {
  text: string;
  isCode: boolean;
}

/** Parts of a sentence, without the back-ticks; one that nothing closes stays as it is. */
export function proseOf(sentence: string): Prose[] {
  return sentence
    .split(/(`[^`]*`)/)
    .map(part => {
      const isCode = part.length > 1 && part.startsWith('`') && part.endsWith('`');
      return { text: isCode ? part.slice(1, -1) : part, isCode };
    })
    .filter(({ text }) => text !== '');
}

/** Without the back-ticks. */
export const plainOf = (sentence: string): string =>
  proseOf(sentence)
    .map(({ text }) => text)
    .join('');
