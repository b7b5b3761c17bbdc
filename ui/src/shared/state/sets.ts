// SPDX-License-Identifier: MIT
// Sets of calls of a served page: those that a search finds, and how they are stepped through. A set
// may come from another screen too; whoever makes one puts it into ServedState.
import type { CallsColumns } from '../../gen/tables';
import { num, tableOf } from '../api/columns';
import type { Columns } from '../api/columns';
import { unlessSuperseded } from '../api/source';
import type { Params } from '../api/source';
import { Atom } from '../lib/atom';
import { duration, exact, plural, messageOf } from '../lib/format';
import { KIND } from '../lib/model';
import type { Span } from '../lib/model';
import { matchesName, matchesThread, parseQuery } from '../lib/search';
import type { Query } from '../lib/search';
import { reveal, set as setState, setWindow } from './actions';
import { findRow } from './app';
import type { App, State } from './app';
import { setServed, callAt, isSameCall } from './served';
import type { CallAt, CallSet, Served } from './served';

const REST_MS = 250;
const LIMIT = 20000; // calls that a page holds of a set: the longest
const MOST_FUNCTIONS = 600; // ids in one question

/** What the search is at. */
interface Searching {
  isAsked: boolean;
  trouble: string;
  /** The set that the search made. */
  own: CallSet | null;
}

/** What a search asks of `calls`, or why it cannot; null: it asks for no calls. */
export function callsOf(served: Served, query: Query): Params | string | null {
  if (query.isEmpty || query.error || query.kind === 'gap' || query.kind === 'expression')
    return null;
  const asksTime = query.min > 0 || query.max < Infinity;
  if (!query.asksFunction && !asksTime) return null;
  const params: Params = { sort: 'longest', limit: LIMIT };
  if (query.asksFunction) {
    const fn = served.names.name.flatMap((name, i) => (matchesName(query, name) ? [i] : []));
    if (fn.length === 0) return 'No function has that in its name';
    if (fn.length > MOST_FUNCTIONS) return `${plural(fn.length, 'function')}: say more of the name`;
    params['fn'] = fn;
  }
  if (query.min > 0) params['min_ns'] = query.min;
  if (query.max < Infinity) params['max_ns'] = query.max;
  if (query.threads.length > 0) {
    const own = served.threads.filter(({ tid, name }) => matchesThread(query, tid, name));
    if (own.length === 0) return 'No thread is called so';
    params['threads'] = own.map(({ id }) => id);
  }
  return params;
}

/** The columns of `calls` as a set in order of time. */
export function decodeSet(answer: Columns, title: string, params: Params): CallSet {
  const column = tableOf<CallsColumns>(answer, 'calls');
  const [start, end] = [column('start_ns'), column('end_ns')];
  const [thread, fn, depth] = [column('thread'), column('function'), column('depth')];
  const order = Uint32Array.from(start, (_, i) => i).sort(
    (a, b) => start[a]! - start[b]! || depth[a]! - depth[b]! || thread[a]! - thread[b]!,
  );
  const pick = (i: number): number => order[i]!;
  return {
    title,
    functions: (params['fn'] as number[] | undefined) ?? [],
    minNs: Number(params['min_ns'] ?? 0),
    maxNs: Number(params['max_ns'] ?? Infinity),
    total: num(answer.meta, 'total'),
    n: start.length,
    thread: Uint32Array.from(order, (_, i) => thread[pick(i)]!),
    start: Float64Array.from(order, (_, i) => start[pick(i)]!),
    end: Float64Array.from(order, (_, i) => end[pick(i)]!),
    depth: Uint16Array.from(order, (_, i) => depth[pick(i)]!),
    fn: Uint32Array.from(order, (_, i) => fn[pick(i)]!),
  };
}

function threadsOf(set: CallSet): Set<number> {
  return new Set(set.thread);
}

/** The place of the selected call in the set, or -1. */
export function placeIn(set: CallSet, call: CallAt | null): number {
  if (!call) return -1;
  for (let i = 0; i < set.n; i++) if (isSameCall(callAt(set, i), call)) return i;
  return -1;
}

/** Threads that a search on the timeline names: without calls. */
export function isThreads(set: CallSet): boolean {
  return set.n > 0 && set.start[0]! < 0;
}

/** "1,234 calls in 12 threads". */
export function setText(set: CallSet): string {
  if (isThreads(set)) return plural(set.n, 'thread');
  const threads = plural(threadsOf(set).size, 'thread');
  const of = set.n < set.total ? `, the longest ${plural(set.n, 'call')} here, in ` : ' in ';
  return `${plural(set.total, 'call')}${of}${threads}`;
}

/** Makes sets of what is searched for, while the search rests. */
export class Searches {
  readonly state = new Atom<Searching>({ isAsked: false, trouble: '', own: null });
  private timer = 0;
  /** What was searched for before. */
  private text = '';

  constructor(
    private readonly app: App,
    private readonly served: Served,
  ) {
    app.state.subscribe((now, before) => {
      if (now.query !== before.query) {
        this.text = before.query.trim();
        this.want(now.query);
      } else if (now.screen !== before.screen) this.move(now, before);
    });
    served.state.subscribe((now, before) => {
      if (now.set === before.set && now.isSetOnly === before.isSetOnly) return;
      const only = now.set && now.isSetOnly ? threadsOf(now.set) : null;
      setState(app, { only });
    });
    if (app.state.get().query) this.want(app.state.get().query);
  }

  /** The timeline searches itself, threads too: what is under way is left to it, and what it may
   * not have found yet is looked for behind it. */
  private move(now: State, before: State): void {
    const { own } = this.state.get();
    if (now.screen === 'timeline') this.giveUp();
    else if (before.screen === 'timeline' && (own?.title ?? '') !== now.query.trim())
      this.want(now.query);
  }

  private giveUp(): void {
    clearTimeout(this.timer);
    if (!this.state.get().isAsked) return;
    this.served.source.cancel('search');
    this.state.update(now => ({ ...now, isAsked: false }));
  }

  private want(text: string): void {
    clearTimeout(this.timer);
    if (this.app.state.get().screen === 'timeline') return this.giveUp();
    this.served.source.cancel('search');
    const asked = callsOf(this.served, parseQuery(text));
    if (asked === null || typeof asked === 'string') return this.put(null, asked ?? '');
    this.state.update(now => ({ ...now, isAsked: true, trouble: '' }));
    const later = (): void => void this.ask(text, asked);
    this.timer = globalThis.setTimeout(later, REST_MS) as unknown as number;
  }

  private async ask(text: string, params: Params): Promise<void> {
    try {
      await unlessSuperseded(
        this.served.source
          .columns('calls', params, 'search')
          .then(answer => this.put(decodeSet(answer, text.trim(), params), '')),
      );
    } catch (error) {
      this.put(null, messageOf(error));
    }
  }

  private put(own: CallSet | null, trouble: string): void {
    this.state.set({ isAsked: false, trouble, own });
    const { set } = this.served.state.get();
    if (own) setServed(this.served, { set: own });
    else if (set?.title.trim() === this.text) this.drop();
  }

  private drop(): void {
    setServed(this.served, { set: null, isSetOnly: false });
    if (this.app.state.get().panel === 'set') setState(this.app, { panel: 'interval' });
  }
}

/* ---- what a person can do with a set ---- */

/** Highlighted, or all that is shown. False: there is no set. */
export function toggleSetOnly(app: App): boolean {
  const served = app.served?.state.get();
  if (!app.served || !served?.set) return false;
  setServed(app.served, { isSetOnly: !served.isSetOnly });
  return true;
}

function callSentence(app: App, call: CallAt): string {
  const { names, threads } = app.served!;
  const length = duration(call.end - call.start);
  return `${names.name[call.fn]}, ${length}, ${threads[call.thread]!.label}, starts at ${exact(call.start)}, depth ${call.depth}.`;
}

/** Keeps the width of the window, so that stepping does not zoom. */
function bringIntoView(app: App, { t0, t1 }: Span): void {
  const { window } = app.state.get();
  if (t0 >= window.t0 && t1 <= window.t1) return;
  const width = Math.max(window.t1 - window.t0, (t1 - t0) * 1.2);
  const middle = (t0 + t1) / 2;
  setWindow(app, middle - width / 2, middle + width / 2);
}

/** Selects a call on every screen: its row if the regimes have it, else its time. */
export function showCall(app: App, call: CallAt): void {
  if (!app.served) return;
  setServed(app.served, { call });
  const { thread, depth: level, start, end } = call;
  const span = { t0: start, t1: Math.max(end, start + 1) };
  reveal(app, thread);
  bringIntoView(app, span);
  const item = findRow(app.model, { thread, kind: KIND.CALL, level, start, end });
  const range = item ? null : span;
  setState(app, { item, range, isPreview: false, said: callSentence(app, call) });
}

/** The next or previous call of the set, behind the one selected. */
export function stepSet(app: App, direction: 1 | -1): boolean {
  const served = app.served?.state.get();
  if (!served?.set || served.set.n === 0 || isThreads(served.set)) return false;
  const { set, call } = served;
  const at = placeIn(set, call);
  const next = at < 0 ? (direction > 0 ? 0 : set.n - 1) : (at + direction + set.n) % set.n;
  showCall(app, callAt(set, next));
  return true;
}

export function listSet(app: App): void {
  const set = app.served?.state.get().set;
  if (set && !isThreads(set)) setState(app, { panel: 'set' });
}
