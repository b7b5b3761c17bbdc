// SPDX-License-Identifier: MIT
// The answers that a report has inside (docs/page-data.md): the screens ask them as they ask a server.
import { unpack } from './page';
import { Refused, Source } from './source';
import type { Params } from './source';

const RULE = ['type', 'begin', 'end', 'match', 'within'] as const;

/** By which parameters an answer is found. Others choose how much of it there is, or what the page
 * never has. */
const KEYS: Record<string, readonly string[]> = {
  path: ['thread', 'from', 'to'],
  executions: RULE,
  compare: RULE,
  cut: RULE,
};
const NEVER = ['node', 'csv', 'span', 'db'] as const;

const keyOf = (name: string, value: (key: string) => string): string =>
  [name, ...(KEYS[name] ?? []).map(key => `${key}=${value(key)}`)].join('\n');

const textOf = (params: Params, key: string): string => {
  const value = params[key];
  return value === undefined ? '' : String(value);
};

export class Inside extends Source {
  override readonly isWhole = false;
  /** By key; unpacked when asked for. */
  private readonly packed = new Map<string, string>();
  /** As the page lists them. */
  private readonly questions: { name: string; params: Record<string, string> }[] = [];

  /** `answers`: question, and the answer packed, of each. */
  constructor(answers: Iterable<readonly [question: string, packed: string]>) {
    super('', 0);
    for (const [question, packed] of answers) {
      const [name = '', query = ''] = question.split('?');
      const params = Object.fromEntries(new URLSearchParams(query));
      this.packed.set(
        keyOf(name, key => params[key] ?? ''),
        packed,
      );
      this.questions.push({ name, params });
    }
  }

  static of(page: ParentNode): Inside {
    const elements = page.querySelectorAll<HTMLElement>('script.weft-answer');
    return new Inside(
      [...elements].map(one => [one.dataset['question'] ?? '', one.textContent ?? '']),
    );
  }

  override has = (name: string, params: Params = {}): boolean => {
    const isOther = NEVER.some(key => textOf(params, key) !== '');
    return !isOther && this.packed.has(keyOf(name, key => textOf(params, key)));
  };

  override list = (name: string): Record<string, string>[] =>
    this.questions.filter(one => one.name === name).map(({ params }) => params);

  protected override async get(name: string, params: Params): Promise<ArrayBuffer> {
    const packed = this.packed.get(keyOf(name, key => textOf(params, key)));
    if (packed === undefined || !this.has(name, params))
      throw new Refused(404, 'the report does not contain it; weft serve shows it');
    return unpack(packed);
  }
}
