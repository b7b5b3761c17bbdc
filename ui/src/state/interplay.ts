// SPDX-License-Identifier: MIT
// What the Interplay screen shows: which thread is straight and which are bent around it, which part
// of each is in view, and what is selected.
import { decodeSummary } from '../api/interplay';
import type { Summary } from '../api/interplay';
import { Superseded } from '../api/source';
import { Atom } from '../lib/atom';
import { duration, exact } from '../lib/format';
import { MOST_CONTEXTS, pickContexts, pickFocus, threadHues } from '../lib/interplay';
import type { WaitObject } from '../lib/interplay';
import type { Span } from '../lib/model';
import * as act from './actions';
import type { App } from './app';
import { committedSpan } from './functions';
import type { Served } from './served';
import { PlateLoader } from './interplayload';

export const MODES = ['plate', 'ladder', 'table'] as const;
export type Mode = (typeof MODES)[number];
export const TABS = ['threads', 'matrix', 'objects', 'sites', 'selection'] as const;
export type Tab = (typeof TABS)[number];

/** What the pointer is on, or what is selected. */
export interface PlateHit {
  thread: number;
  depth: number;
  start: number;
  end: number;
  fn: number;
  /** More than one: merged. */
  count: number;
  /** The time under the pointer. */
  t: number;
  /** Of its time, waiting and input/output. */
  wait: number;
  io: number;
  /** Place of the wait in the thread's waits, or -1. */
  item: number;
}

export interface InterplayState {
  mode: Mode;
  tab: Tab;
  isByObject: boolean;
  focus: number;
  contexts: readonly number[];
  /** The context thread that has a bigger section, or -1. */
  focused: number;
  /** Of threads that are not at the time of the window. */
  views: ReadonlyMap<number, Span>;
  folds: ReadonlyMap<number, number>;
  /** Of the picture's height, the focus's part. */
  split: number;
  /** Radius of level 0, of the greatest possible. */
  inner: number;
  /** The thread that keys mean. */
  current: number;
  hover: PlateHit | null;
  pointer: { x: number; y: number } | null;
  selected: PlateHit | null;
  summary: Summary | null;
  trouble: string;
  isAsking: boolean;
  /** Short waits that have no curve of their own in the picture. */
  left: number;
}

function fresh(): InterplayState {
  return {
    ...{ mode: 'plate', tab: 'threads', isByObject: false, focus: -1, contexts: [], focused: -1 },
    ...{ views: new Map(), folds: new Map(), split: 0.4, inner: 0.55, current: -1, hover: null },
    ...{ pointer: null, selected: null, summary: null, trouble: '', isAsking: false, left: 0 },
  };
}

const all = new WeakMap<App, Interplay>();

export function interplayOf(app: App): Interplay {
  const own = all.get(app) ?? new Interplay(app, app.served!);
  all.set(app, own);
  return own;
}

export class Interplay {
  readonly state = new Atom<InterplayState>(fresh());
  readonly loader: PlateLoader;
  private objectsBy: { of: Summary | null; map: Map<number, WaitObject> } | null = null;
  private huesOf: { of: unknown[]; map: Map<number, number> } | null = null;
  private asked = '';

  constructor(
    readonly app: App,
    readonly served: Served,
  ) {
    this.loader = new PlateLoader(served, () => this.set({}));
  }

  set(change: Partial<InterplayState>): void {
    this.state.update(now => ({ ...now, ...change }));
  }

  /** Asks for the numbers of the committed part, when that changes. */
  watch(): () => void {
    const look = (): void => void this.ask();
    look();
    return this.app.state.subscribe((now, before) => {
      if (now.crumbs !== before.crumbs || now.range !== before.range || now.window !== before.window)
        look();
    });
  }

  private async ask(): Promise<void> {
    if (this.app.state.get().isPreview) return;
    const span = committedSpan(this.app);
    const key = span ? `${span.t0}-${span.t1}` : 'whole';
    if (key === this.asked) return;
    this.asked = key;
    this.set({ isAsking: true });
    try {
      const params = span ? { from: Math.floor(span.t0), to: Math.ceil(span.t1) } : {};
      const summary = decodeSummary(await this.served.source.json('interplay', params, 'interplay'));
      this.set({ summary, trouble: '', isAsking: false });
      this.begin();
    } catch (error) {
      if (error instanceof Superseded) return;
      this.asked = '';
      this.set({ trouble: error instanceof Error ? error.message : String(error), isAsking: false });
    }
  }

  /** Chooses threads, unless somebody has. */
  private begin(): void {
    const { summary, focus, contexts } = this.state.get();
    if (!summary) return;
    if (focus < 0) return this.choose(this.bestFocus());
    if (contexts.length === 0) this.choose(focus);
  }

  blocked(): Map<number, number> {
    const { summary } = this.state.get();
    return new Map(summary?.threads.map(row => [row.thread, row.waitNs + row.ioNs]) ?? []);
  }

  private bestFocus(): number {
    const { summary } = this.state.get();
    const best = pickFocus(summary?.pairs ?? [], this.blocked());
    if (best >= 0) return best;
    const byCalls = [...this.served.threads].sort((a, b) => b.calls - a.calls || a.id - b.id);
    return byCalls[0]?.id ?? -1;
  }

  /** Makes a thread the focus, with those around it that it has most to do with. */
  choose(focus: number): void {
    const { summary } = this.state.get();
    const contexts = pickContexts(focus, summary?.pairs ?? [], this.blocked());
    this.set({ focus, contexts, focused: -1, current: focus });
  }

  /** A thread from the selection goes to the main view, the one that was there to the context. */
  show(thread: number): void {
    const { focus, contexts, focused } = this.state.get();
    if (thread === focus) return;
    const at = contexts.indexOf(thread);
    const rest = [...contexts];
    if (at >= 0) rest[at] = focus;
    else if (focus >= 0) rest.unshift(focus);
    const kept = rest.filter(one => one >= 0).slice(0, MOST_CONTEXTS);
    const left = rest.length - kept.length;
    this.set({
      ...{ focus: thread, contexts: kept, current: thread },
      focused: focused === thread ? -1 : focused,
    });
    if (left > 0) this.say(`${this.label(rest[rest.length - 1]!)} is no longer shown: there is room for ${MOST_CONTEXTS}.`);
  }

  /** Two threads change their places. */
  swap(a: number, b: number): void {
    const { focus, contexts } = this.state.get();
    if (a === b) return;
    if (a === focus || b === focus) return this.show(a === focus ? b : a);
    const next = contexts.map(one => (one === a ? b : one === b ? a : one));
    this.set({ contexts: next });
  }

  toggle(thread: number): void {
    const { contexts, focus } = this.state.get();
    if (thread === focus) return;
    if (contexts.includes(thread)) return this.hide(thread);
    if (contexts.length >= MOST_CONTEXTS)
      this.say(`There is room for ${MOST_CONTEXTS}: ${this.label(contexts[MOST_CONTEXTS - 1]!)} makes way.`);
    this.set({ contexts: [...contexts.slice(0, MOST_CONTEXTS - 1), thread], current: thread });
  }

  hide(thread: number): void {
    const { contexts, focus, focused, current } = this.state.get();
    if (thread === focus) {
      const [next, ...rest] = contexts;
      if (next === undefined) return;
      return this.set({ focus: next, contexts: rest, current: next });
    }
    this.set({
      contexts: contexts.filter(one => one !== thread),
      focused: focused === thread ? -1 : focused,
      current: current === thread ? focus : current,
    });
    this.say(`${this.label(thread)} is hidden; the table Threads shows it again.`);
  }

  /** A bigger section for one context thread, or none. */
  enlarge(thread: number): void {
    const { focused, contexts } = this.state.get();
    if (contexts.includes(thread)) this.set({ focused: focused === thread ? -1 : thread, current: thread });
  }

  /* ---- views ---- */

  view(thread: number): Span {
    const { views, focus } = this.state.get();
    const { window } = this.app.state.get();
    return thread === focus ? window : (views.get(thread) ?? window);
  }

  private limit({ t0, t1 }: Span): Span {
    const { duration: whole } = this.served.trace;
    const length = Math.min(Math.max(t1 - t0, 20), Math.max(20, whole));
    const from = Math.min(Math.max(0, t0), Math.max(0, whole - length));
    return { t0: from, t1: from + length };
  }

  setView(thread: number, span: Span): void {
    const to = this.limit(span);
    if (thread === this.state.get().focus) return act.setWindow(this.app, to.t0, to.t1);
    const views = new Map(this.state.get().views);
    views.set(thread, to);
    this.set({ views });
  }

  zoom(thread: number, factor: number, at: number): void {
    const { t0, t1 } = this.view(thread);
    const middle = Math.min(Math.max(at, t0), t1);
    this.setView(thread, {
      t0: middle - (middle - t0) * factor,
      t1: middle + (t1 - middle) * factor,
    });
  }

  pan(thread: number, share: number): void {
    const { t0, t1 } = this.view(thread);
    const by = (t1 - t0) * share;
    this.setView(thread, { t0: t0 + by, t1: t1 + by });
  }

  /** All threads at one time again. */
  align(): void {
    this.set({ views: new Map() });
    this.say('All threads show the same time.');
  }

  fold(thread: number): number {
    return this.state.get().folds.get(thread) ?? 0;
  }

  foldBy(thread: number, by: number): void {
    const levels = (this.served.threads[thread]?.maxDepth ?? 0) + 1;
    const folds = new Map(this.state.get().folds);
    folds.set(thread, Math.min(Math.max(0, this.fold(thread) + by), Math.max(0, levels - 1)));
    this.set({ folds });
  }

  /* ---- words ---- */

  label(thread: number): string {
    return this.served.threads[thread]?.label ?? `thread ${thread}`;
  }

  title(thread: number): string {
    const { label, name } = this.served.threads[thread] ?? { label: `thread ${thread}`, name: '' };
    return name ? `${label} ${name}` : label;
  }

  fnName(fn: number): string {
    return fn >= 0 ? (this.served.names.name[fn] ?? 'unknown function') : '';
  }

  say(said: string): void {
    act.say(this.app, said);
  }

  object(id: number): WaitObject | undefined {
    const { summary } = this.state.get();
    if (this.objectsBy?.of !== summary)
      this.objectsBy = {
        of: summary,
        map: new Map(summary?.objects.map(one => [one.id, one]) ?? []),
      };
    return this.objectsBy!.map.get(id);
  }

  /** Hue of a thread: its neighbours on the plate have others. */
  hue(thread: number): number {
    const { focus, contexts } = this.state.get();
    if (!this.huesOf || this.huesOf.of[0] !== focus || this.huesOf.of[1] !== contexts)
      this.huesOf = { of: [focus, contexts], map: threadHues([focus, ...contexts], 10) };
    return this.huesOf.map.get(thread) ?? thread % 10;
  }

  sentence(hit: PlateHit): string {
    const name = hit.count > 1 ? `${hit.count} short calls` : this.fnName(hit.fn) || 'wait';
    const share = (hit.wait + hit.io) / Math.max(1, hit.end - hit.start);
    const blocked = share > 0 ? `, ${Math.round(share * 1000) / 10} % of it blocked` : '';
    return `${name}, ${duration(hit.end - hit.start)}, ${this.label(hit.thread)}, starts at ${exact(hit.start)}${blocked}.`;
  }

  select(hit: PlateHit | null): void {
    this.set({ selected: hit, ...(hit ? { current: hit.thread } : {}) });
    this.say(hit ? this.sentence(hit) : '');
  }
}
