// SPDX-License-Identifier: MIT
// Exact answers about intervals: asked when an interval rests, kept for a while.
import { unlessSuperseded } from '../../shared/api/source';
import { Atom } from '../../shared/lib/atom';
import type { Span } from '../../shared/lib/model';
import type { Served } from '../../shared/state/served';
import { decodeExact } from './api_exact';
import type { Exact, ExactThread } from './lib_exact';

const REST_MS = 60;
const CONTEXTS = 500; // a thread, in the table; an opened row asks for all
const KEPT = 24;

const keyOf = ({ t0, t1 }: Span): string => `${t0}-${t1}`;

export class ExactAnswers {
  /** Counts answers: who shows one draws again when it changes. */
  readonly arrived = new Atom(0);
  private readonly known = new Map<string, Exact>();
  private readonly opened = new Map<string, ExactThread>();
  private timer = 0;
  private asked = '';
  private trouble = { of: '', words: '' };

  constructor(private readonly served: Served) {}

  get(span: Span): Exact | null {
    return this.known.get(keyOf(span)) ?? null;
  }

  /** Why there is no answer for `span`; '' if it may still come. */
  troubleOf(span: Span): string {
    return this.trouble.of === keyOf(span) ? this.trouble.words : '';
  }

  /** Asks once `span` rests; what was asked before is given up. */
  want(span: Span): void {
    const key = keyOf(span);
    if (this.asked === key) return;
    clearTimeout(this.timer);
    this.asked = key;
    this.served.source.cancel('interval');
    if (this.known.has(key)) return;
    this.timer = globalThis.setTimeout(() => void this.ask(span), REST_MS) as unknown as number;
  }

  /** All contexts of a thread; null until they are there. */
  contextsOf(span: Span, thread: number): ExactThread | null {
    return this.opened.get(`${keyOf(span)} ${thread}`) ?? null;
  }

  async open(span: Span, thread: number): Promise<void> {
    const key = `${keyOf(span)} ${thread}`;
    if (this.opened.has(key)) return;
    const params = { from: span.t0, to: span.t1, threads: thread };
    const json = await this.served.source.json('interval', params);
    const own = decodeExact(json, this.served.names.name).threads.find(
      one => one.thread === thread,
    );
    if (own) this.opened.set(key, own);
    if (this.opened.size > KEPT) this.opened.delete(this.opened.keys().next().value!);
    this.arrived.update(n => n + 1);
  }

  private async ask(span: Span): Promise<void> {
    const params = { from: span.t0, to: span.t1, limit: CONTEXTS };
    this.trouble = { of: '', words: '' };
    try {
      await unlessSuperseded(
        this.served.source.json('interval', params, 'interval').then(json => {
          this.known.set(keyOf(span), decodeExact(json, this.served.names.name));
          if (this.known.size > KEPT) this.known.delete(this.known.keys().next().value!);
        }),
      );
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      this.trouble = { of: keyOf(span), words };
      this.asked = '';
    }
    this.arrived.update(n => n + 1);
  }
}
