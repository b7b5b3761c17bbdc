// SPDX-License-Identifier: MIT
// What every thread did in an interval, exactly: calls cut at the borders, summed by the server.
import { messageOf } from '../../shared/lib/format';
import { damaged, num, objects, text } from '../../shared/api/columns';
import type { Json } from '../../shared/api/columns';
import { unlessSuperseded } from '../../shared/api/source';
import { Atom, Own } from '../../shared/lib/atom';
import type { App, Item } from '../../shared/state/app';
import type { Span } from '../../shared/lib/model';
import type { Served } from '../../shared/state/served';

/** A calling context: in pre-order, the callers' before it. Times in ns, within the interval. */
export interface Context {
  depth: number;
  /** Function id of the trace. */
  fn: number;
  count: number;
  sum: number;
  self: number;
}

interface ExactThread {
  /** Index in the trace. */
  thread: number;
  /** In some call, in none between its first and its last, and outside of those two. */
  called: number;
  noCall: number;
  outside: number;
  /** Calls that touch the interval. */
  calls: number;
  /** The function of most self time over all contexts; null: in no call. */
  top: { fn: number; ns: number } | null;
  /** May be only the heaviest. */
  contexts: Context[];
}

export interface Exact {
  span: Span;
  threads: ExactThread[];
}

type ExactState = 'no call' | 'waits' | 'inside a call' | 'waits, runs' | 'runs';

/** A thread's row of the table. */
export interface Ranked {
  of: ExactThread;
  state: ExactState;
  /** Self time by function, longest first, and what no context here resolves. */
  self: { fn: number; ns: number }[];
  unlisted: number;
  wait: number;
  /** The innermost context open all along, or null. */
  throughout: Context | null;
}

function selfByFunction(contexts: readonly Context[]): { fn: number; ns: number }[] {
  const byFn = new Map<number, number>();
  for (const { fn, self } of contexts) if (self > 0) byFn.set(fn, (byFn.get(fn) ?? 0) + self);
  return [...byFn].map(([fn, ns]) => ({ fn, ns })).sort((a, b) => b.ns - a.ns || a.fn - b.fn);
}

/** One call that covers the interval, within another that does, from the root down. */
function openAllAlong(contexts: readonly Context[], length: number): Context | null {
  let found: Context | null = null;
  for (const context of contexts) {
    const isNext = context.depth === (found ? found.depth + 1 : 0);
    if (isNext && context.count === 1 && context.sum >= length) found = context;
  }
  return found;
}

function stateOf(
  of: ExactThread,
  wait: number,
  inside: Context | null,
  length: number,
): ExactState {
  const idle = of.noCall + of.outside;
  if (idle >= length * 0.999) return 'no call';
  if (wait + idle >= length * 0.995) return 'waits';
  if (inside && inside.self >= length * 0.99) return 'inside a call';
  return wait > length * 0.05 ? 'waits, runs' : 'runs';
}

export function rank(of: ExactThread, span: Span, isWait: readonly number[]): Ranked {
  const length = Math.max(1, span.t1 - span.t0);
  const self = selfByFunction(of.contexts);
  const listed = self.reduce((sum, { ns }) => sum + ns, 0);
  const wait = self.reduce((sum, { fn, ns }) => sum + (isWait[fn] === 1 ? ns : 0), 0);
  const throughout = openAllAlong(of.contexts, length);
  return {
    of,
    self,
    wait,
    throughout,
    unlisted: Math.max(0, of.called - listed),
    state: stateOf(of, wait, throughout, length),
  };
}

export type RankKey = 'calls' | 'top' | 'none' | 'thread';

const BY: Record<RankKey, (a: Ranked, b: Ranked) => number> = {
  calls: (a, b) => b.of.calls - a.of.calls,
  top: (a, b) => (b.of.top?.ns ?? 0) - (a.of.top?.ns ?? 0),
  none: (a, b) => b.of.noCall + b.of.outside - a.of.noCall - a.of.outside,
  thread: () => 0,
};

/** Most first; `fn` >= 0: by self time in that function. */
export function sortRanked(all: readonly Ranked[], by: RankKey, fn = -1): Ranked[] {
  const inFn = (r: Ranked): number => r.self.find(one => one.fn === fn)?.ns ?? 0;
  const order = fn >= 0 ? (a: Ranked, b: Ranked) => inFn(b) - inFn(a) : BY[by];
  return [...all].sort((a, b) => order(a, b) || a.of.thread - b.of.thread);
}

const WORDS: [ExactState, string][] = [
  ['runs', 'ran'],
  ['waits, runs', 'waited and ran'],
  ['waits', 'waited throughout'],
  ['inside a call', 'stood inside one call'],
  ['no call', 'had no call'],
];

/** One sentence over all threads. */
export function summarizeExact(all: readonly Ranked[]): string {
  const parts = WORDS.map(([state, word]) => {
    const n = all.filter(one => one.state === state).length;
    return n > 0 ? `${n} ${word}` : '';
  }).filter(Boolean);
  return parts.length > 0 ? `Of ${all.length} threads ${parts.join(', ')}.` : 'No thread.';
}

/* ---- Answers of `interval` (docs/http-api.md). ---- */

function decodeContext(json: Json, nFunctions: number): Context {
  const fn = json['fn'];
  if (typeof fn !== 'number' || !(fn >= 0 && fn < nFunctions))
    throw damaged('a context names an unknown function');
  return {
    depth: num(json, 'depth'),
    fn,
    count: num(json, 'count'),
    sum: num(json, 'sum_ns'),
    self: num(json, 'self_ns'),
  };
}

/** Functions of one name count together: any of them stands for all. */
function decodeTop(json: Json, byName: ReadonlyMap<string, number>): ExactThread['top'] {
  const fn = byName.get(text(json, 'top_function'));
  return fn === undefined ? null : { fn, ns: num(json, 'top_self_ns') };
}

function decodeThread(
  json: Json,
  nFunctions: number,
  byName: ReadonlyMap<string, number>,
): ExactThread {
  return {
    thread: num(json, 'thread'),
    called: num(json, 'called_ns'),
    noCall: num(json, 'no_call_ns'),
    outside: num(json, 'outside_ns'),
    calls: num(json, 'calls'),
    top: decodeTop(json, byName),
    contexts: objects(json, 'cct').map(row => decodeContext(row, nFunctions)),
  };
}

/** `names`: of all functions, by id. */
export function decodeExact(json: Json, names: readonly string[]): Exact {
  const byName = new Map(names.map((name, i) => [name, i]));
  return {
    span: { t0: num(json, 'from_ns'), t1: num(json, 'to_ns') },
    threads: objects(json, 'threads').map(thread => decodeThread(thread, names.length, byName)),
  };
}

/* ---- Exact answers about intervals: asked when an interval rests, kept for a while. ---- */

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
      const words = messageOf(error);
      this.trouble = { of: keyOf(span), words };
      this.asked = '';
    }
    this.arrived.update(n => n + 1);
  }
}

/* ---- the state of the screen ---- */

type Point = { x: number; y: number } | null;

interface OverviewState {
  hover: Item | null;
  pointer: Point;
}

const NOTHING: OverviewState = { hover: null, pointer: null };

class Overview {
  readonly state = new Atom(NOTHING);
  /** null: a report. */
  readonly answers: ExactAnswers | null;

  constructor(app: App) {
    this.answers = app.served && new ExactAnswers(app.served);
    app.state.subscribe((now, before) => {
      if (now.screen !== before.screen || now.epoch !== before.epoch) this.state.set(NOTHING);
    });
  }
}

export const OVERVIEW_STATE = new Own<App, Overview>('overview', app => new Overview(app));
export const overviewOf = (app: App): Overview => OVERVIEW_STATE.of(app);

export function hover(app: App, item: Item | null, pointer: Point): void {
  overviewOf(app).state.update(now => {
    const isSame = now.hover?.thread === item?.thread && now.hover?.row === item?.row;
    if (isSame && !item) return now;
    return { hover: isSame ? now.hover : item, pointer };
  });
}
