// SPDX-License-Identifier: MIT
// What the Interplay screen shows: which thread is straight and which are bent around it, which part
// of each is in view, and what is selected.
import { num, objects } from '../../shared/api/columns';
import { Superseded } from '../../shared/api/source';
import type { Tile } from '../../shared/api/tiles';
import { Atom, Own } from '../../shared/lib/atom';
import { duration, exact, messageOf, percent } from '../../shared/lib/format';
import type { Span } from '../../shared/lib/model';
import * as act from '../../shared/state/actions';
import { committedSpan } from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import type { Served } from '../../shared/state/served';
import {
  decodeBlocking,
  decodeSummary,
  MOST_CONTEXTS,
  pickContexts,
  pickFocus,
  threadHues,
  waitAt,
} from './data';
import type { Summary, Curve, Pair, Shares, Site, Waits } from './data';
import { PlateLoader, SITE_FN } from './load';
import type { ThreadData } from './load';

export const MODES = ['plate', 'ladder', 'table'] as const;
type Mode = (typeof MODES)[number];
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
  /** Threads that are not of the recorded program, too. */
  isAll: boolean;
  focus: number;
  contexts: readonly number[];
  /** The context thread that has a bigger section, or -1. */
  focused: number;
  /** Of threads that are not at the time of the window. */
  views: ReadonlyMap<number, Span>;
  folds: ReadonlyMap<number, number>;
  /** Of the picture's height, the focus's part; 0: as its levels need it. */
  split: number;
  /** Radius of level 0, of the greatest possible; 0: as the levels need it. */
  inner: number;
  /** The thread that keys mean. */
  current: number;
  hover: PlateHit | null;
  pointer: { x: number; y: number } | null;
  selected: PlateHit | null;
  summary: Summary | null;
  trouble: string;
  isAsking: boolean;
  /** The object chosen in the table, or ''. */
  object: string;
  /** Counts what was loaded for the picture. */
  loaded: number;
  /** Curves in the picture; waits that are in bundles, which are drawn on demand; and what is too
   * much for one picture. */
  curves: { drawn: number; bundled: number; left: number };
}

function fresh(): InterplayState {
  return {
    mode: 'plate',
    tab: 'threads',
    isByObject: false,
    isAll: false,
    focus: -1,
    contexts: [],
    focused: -1,
    views: new Map(),
    folds: new Map(),
    split: 0,
    inner: 0,
    current: -1,
    hover: null,
    pointer: null,
    selected: null,
    summary: null,
    trouble: '',
    isAsking: false,
    loaded: 0,
    object: '',
    curves: { drawn: 0, bundled: 0, left: 0 },
  };
}

function pairsOf(summary: Summary | null): Pair[] {
  return summary?.cells ?? [];
}

const OVERVIEW_COLUMNS = 1600;

export const INTERPLAY_STATE = new Own<App, Interplay>(
  'interplay',
  app => new Interplay(app, app.served!),
);
export const interplayOf = (app: App): Interplay => INTERPLAY_STATE.of(app);

export class Interplay {
  readonly state = new Atom<InterplayState>(fresh());
  readonly loader: PlateLoader;
  private objectsBy: { of: Summary | null; map: Map<string, number> } | null = null;
  private huesOf: { of: unknown[]; map: Map<number, number> } | null = null;
  private asked = '';
  /** What another screen leads to, until the waits are there in which it is to be found. */
  private ledTo: { thread: number; lock: string } | null = null;
  /** Shares of all of a thread's life, for its overview. */
  readonly overviews = new Map<number, Shares>();
  /** Of the picture's height, the focus's part as it was drawn last. */
  drawnSplit = 0.36;

  constructor(
    readonly app: App,
    readonly served: Served,
  ) {
    this.loader = new PlateLoader(served, () => {
      const { loaded, hover, selected } = this.state.get();
      const again = this.loader.isBundled
        ? { hover: this.findAgain(hover), selected: this.findAgain(selected) }
        : {};
      this.set({ loaded: loaded + 1, ...again });
      this.takeWanted();
    });
  }

  set(change: Partial<InterplayState>): void {
    this.state.update(now => ({ ...now, ...change }));
  }

  /** Asks for the numbers of the committed part, when that changes. */
  watch(): () => void {
    const look = (): void => void this.ask();
    look();
    const offs = [
      this.app.state.subscribe((now, before) => {
        if (
          now.crumbs !== before.crumbs ||
          now.range !== before.range ||
          now.window !== before.window
        )
          look();
      }),
      this.state.subscribe((now, before) => {
        if (now.isAll !== before.isAll) look();
      }),
    ];
    return () => offs.forEach(off => off());
  }

  /** Resolves when the first picture is there, cannot be, or another screen is shown. */
  hasShown(): Promise<void> {
    return new Promise(resolve => {
      const offs: (() => void)[] = [];
      const look = (): void => {
        const { summary, trouble, mode, focus, loaded } = this.state.get();
        const hasPicture = loaded > 0 || mode === 'table' || focus < 0;
        const isOther = this.app.state.get().screen !== 'interplay';
        if (!isOther && !trouble && !(summary && hasPicture)) return;
        offs.forEach(off => off());
        resolve();
      };
      offs.push(this.state.subscribe(look), this.app.state.subscribe(look));
      look();
    });
  }

  private async ask(): Promise<void> {
    if (this.app.state.get().isPreview) return;
    const span = committedSpan(this.app);
    const { isAll } = this.state.get();
    const key = `${span ? `${span.t0}-${span.t1}` : 'whole'} ${isAll}`;
    if (key === this.asked) return;
    this.asked = key;
    this.set({ isAsking: true });
    try {
      const { source } = this.served;
      const params = {
        ...(span ? { from: Math.floor(span.t0), to: Math.ceil(span.t1) } : {}),
        ...(isAll ? { all: 1 } : {}),
      };
      const summary = decodeSummary(await source.columns('interplay', params, 'interplay'));
      if (!span) this.loader.tellWaits(summary.waits);
      this.set({ summary, trouble: '', isAsking: false });
      this.begin();
    } catch (error) {
      if (error instanceof Superseded) return;
      this.asked = '';
      this.set({
        trouble: messageOf(error),
        isAsking: false,
      });
    }
  }

  /** A thread as the main view, and (unless '') the object of that name, of the range that is asked for. */
  want(thread: number, lock: string): void {
    this.ledTo = { thread, lock };
    this.asked = '';
    this.set({ focus: -1, contexts: [], summary: null, selected: null, tab: 'threads' });
  }

  /** Shows what another screen led to; false: nothing did. */
  private showLedTo({ objects }: Summary): boolean {
    const { ledTo } = this;
    if (!ledTo) return false;
    this.ledTo = null;
    this.choose(ledTo.thread);
    const object = objects.find(({ name }) => ledTo.lock !== '' && name === ledTo.lock);
    if (object) this.set({ tab: 'objects', object: object.id });
    return true;
  }

  /** Chooses threads, unless somebody has. */
  private begin(): void {
    const { summary, focus, contexts } = this.state.get();
    if (!summary) return;
    if (this.showLedTo(summary)) return;
    if (focus < 0) return this.choose(this.bestFocus());
    if (contexts.length === 0) this.choose(focus);
  }

  blocked(): Map<number, number> {
    const { summary } = this.state.get();
    return new Map(summary?.threads.map(row => [row.thread, row.waitNs + row.ioNs]) ?? []);
  }

  private bestFocus(): number {
    const { summary } = this.state.get();
    const best = pickFocus(pairsOf(summary), this.blocked());
    if (best >= 0) return best;
    const byCalls = [...this.served.threads].sort((a, b) => b.calls - a.calls || a.id - b.id);
    return byCalls[0]?.id ?? -1;
  }

  /** Makes a thread the focus, with those around it that it has most to do with. */
  choose(focus: number): void {
    const { summary } = this.state.get();
    const contexts = pickContexts(focus, pairsOf(summary), this.blocked());
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
      focus: thread,
      contexts: kept,
      current: thread,
      focused: focused === thread ? -1 : focused,
    });
    if (left > 0)
      this.say(
        `${this.label(rest[rest.length - 1]!)} is no longer shown: there is room for ${MOST_CONTEXTS}.`,
      );
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
      this.say(
        `There is room for ${MOST_CONTEXTS}: ${this.label(contexts[MOST_CONTEXTS - 1]!)} makes way.`,
      );
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
    if (contexts.includes(thread))
      this.set({ focused: focused === thread ? -1 : thread, current: thread });
  }

  /** Threads of all processes, or of the recorded program. */
  toggleAll(): void {
    const { isAll, summary } = this.state.get();
    if (!isAll && summary?.leftOut === 0)
      return this.say('No thread is omitted: all are of the recorded program.');
    this.set({ isAll: !isAll });
    this.say(isAll ? 'Threads of the recorded program wait.' : 'Threads of all processes wait.');
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

  /** A place where a thread waits: by its place in the list that came with its waits. */
  siteOf(thread: number, place: number): Site | undefined {
    return this.waitsOf(thread)?.sites[place];
  }

  /** Objects that several threads waited for have hues, in order of their time. */
  objectHue(id: string): number {
    const { summary } = this.state.get();
    if (this.objectsBy?.of !== summary) {
      const shared = (summary?.objects ?? []).filter(({ waiters }) => waiters > 1);
      const map = new Map(shared.map((one, i) => [one.id, Math.min(i, 10)]));
      this.objectsBy = { of: summary, map };
    }
    return this.objectsBy.map.get(id) ?? 10;
  }

  /** Tells how many curves the picture has. */
  tellCurves(curves: InterplayState['curves']): void {
    const now = this.state.get().curves;
    const isSame =
      now.drawn === curves.drawn && now.bundled === curves.bundled && now.left === curves.left;
    if (!isSame) this.set({ curves });
  }

  /** Hue of a thread: its neighbours on the plate have others. */
  hue(thread: number): number {
    const { focus, contexts } = this.state.get();
    if (this.huesOf?.of[0] !== focus || this.huesOf.of[1] !== contexts)
      this.huesOf = { of: [focus, contexts], map: threadHues([focus, ...contexts], 10) };
    return this.huesOf.map.get(thread) ?? thread % 10;
  }

  hitName(hit: PlateHit): string {
    if (hit.fn < SITE_FN) return this.fnName(hit.fn) || 'unknown function';
    const site = this.siteOf(hit.thread, hit.fn - SITE_FN);
    return site ? site.call || site.name : 'wait';
  }

  sentence(hit: PlateHit): string {
    const name = hit.count > 1 ? `${hit.count} short ones` : this.hitName(hit);
    const share = (hit.wait + hit.io) / Math.max(1, hit.end - hit.start);
    const blocked = share > 0 ? `, ${percent(share)} of it blocked` : '';
    return `${name}, ${duration(hit.end - hit.start)}, ${this.label(hit.thread)}, starts at ${exact(hit.start)}${blocked}.`;
  }

  select(hit: PlateHit | null): void {
    this.wanted = null; // who chooses does not want what the address named
    this.set({ selected: hit, ...(hit ? { current: hit.thread } : {}) });
    this.say(hit ? this.sentence(hit) : '');
  }

  async overview(thread: number): Promise<void> {
    if (this.overviews.has(thread)) return;
    const params = { threads: [thread], width: OVERVIEW_COLUMNS };
    try {
      const answer = await this.served.source.columns('blocking', params);
      for (const [one, shares] of decodeBlocking(answer)) this.overviews.set(one, shares);
      this.set({});
    } catch {
      // without it the overview shows the thread's life alone
    }
  }

  /* ---- waits ---- */

  waitsOf(thread: number): Waits | undefined {
    return this.loader.rows?.byThread.get(thread) ?? this.loader.of(thread)?.waits;
  }

  /** Other bundles are there: the one that holds what was pointed at. */
  private findAgain(hit: PlateHit | null): PlateHit | null {
    const waits = hit && this.waitsOf(hit.thread);
    if (!waits) return hit;
    const isBare = this.served.threads[hit.thread]?.calls === 0;
    const item = waitAt(waits, hit.t, isBare ? 0 : hit.depth, isBare || hit.count > 1);
    return item === hit.item ? hit : { ...hit, item };
  }

  /** A wait as what is selected. */
  waitHit(thread: number, item: number): PlateHit | null {
    const waits = this.waitsOf(thread);
    if (!waits || item < 0 || item >= waits.n) return null;
    const [start, end] = [waits.start[item]!, waits.end[item]!];
    const site = waits.site[item]!;
    const isBare = this.served.threads[thread]?.calls === 0;
    return {
      thread,
      depth: isBare ? 0 : waits.depth[item]!,
      start,
      end,
      t: start,
      fn: SITE_FN + Math.max(0, site),
      count: waits.count[item]!,
      wait: waits.sum[item]!,
      io: 0,
      item,
    };
  }

  /** A curve as what is pointed at: its wait, or all that are bundled in it. */
  curveHit(curve: Curve): PlateHit | null {
    const first = this.waitHit(curve.thread, curve.item);
    const { start, end, count, ns } = curve;
    return first && { ...first, start, end, count, wait: ns, t: (start + end) / 2 };
  }

  /** Selects a wait, and shows it: its thread is brought into the picture, its time into view. */
  selectWait(thread: number, item: number, isShown = false): void {
    const hit = this.waitHit(thread, item);
    if (!hit) return;
    if (isShown) {
      const { focus, contexts } = this.state.get();
      if (thread !== focus && !contexts.includes(thread)) this.show(thread);
      const { t0, t1 } = this.view(thread);
      const length = hit.end - hit.start;
      const isIn = hit.start >= t0 && hit.end <= t1;
      if (!isIn) {
        const wide = Math.max(length * 1.4, Math.min(t1 - t0, length * 20));
        const middle = (hit.start + hit.end) / 2;
        this.setView(thread, { t0: middle - wide / 2, t1: middle + wide / 2 });
      }
    }
    this.set({ tab: 'selection' });
    this.select(hit);
  }

  /** The wait of a thread that takes in a time. */
  selectWaitAt(thread: number, at: number): void {
    const waits = this.waitsOf(thread);
    if (!waits) return;
    let best = -1;
    for (let i = 0; i < waits.n; i++)
      if (
        waits.start[i]! <= at &&
        waits.end[i]! >= at &&
        (best < 0 || waits.start[i]! >= waits.start[best]!)
      )
        best = i;
    if (best >= 0) this.selectWait(thread, best, true);
  }

  /** The next wait of the current thread, or the one before. */
  step(direction: 1 | -1): void {
    const { selected, current, focus } = this.state.get();
    const thread = selected?.thread ?? (current >= 0 ? current : focus);
    const waits = this.waitsOf(thread);
    if (!waits || waits.n === 0) return this.say(`${this.label(thread)} has no wait here.`);
    const { t0 } = this.view(thread);
    let at = selected?.thread === thread && selected.item >= 0 ? selected.item + direction : -1;
    if (at < 0 && !(selected && selected.item >= 0)) {
      at = waits.start.findIndex(start => start >= (selected?.start ?? t0));
      if (direction < 0) at -= 1;
    }
    if (at < 0 || at >= waits.n) return this.say('There is no further wait.');
    this.selectWait(thread, at, true);
  }

  /** To the release that ended the selected wait: its thread and time. */
  toCause(): void {
    const { selected } = this.state.get();
    const waits = selected && this.waitsOf(selected.thread);
    const to = waits && selected.item >= 0 ? waits.releaser[selected.item]! : -1;
    if (!waits || to < 0) return this.say('Unknown: the thread that ended this wait.');
    const at = waits.last[selected.item]!;
    const site = waits.sites[waits.releaseSite[selected.item]!];
    const { focus, contexts } = this.state.get();
    if (to !== focus && !contexts.includes(to)) this.toggle(to);
    const { t0, t1 } = this.view(to);
    if (at < t0 || at > t1) this.setView(to, { t0: at - (t1 - t0) / 2, t1: at + (t1 - t0) / 2 });
    this.set({ current: to });
    const where = site ? ` in ${site.name}` : '';
    this.say(`${this.label(to)} released it at ${exact(at)}${where}.`);
  }

  /** To a wait that the current thread ended: the next one after what is selected. */
  toEffect(): void {
    const { current, focus, selected, contexts } = this.state.get();
    const by = current >= 0 ? current : focus;
    const after = selected ? selected.end : this.view(by).t0;
    let best: { thread: number; item: number; at: number } | null = null;
    for (const thread of [focus, ...contexts]) {
      const waits = this.waitsOf(thread);
      for (let i = 0; waits && i < waits.n; i++)
        if (
          waits.releaser[i] === by &&
          waits.last[i]! > after &&
          (!best || waits.last[i]! < best.at)
        )
          best = { thread, item: i, at: waits.last[i]! };
    }
    if (!best) return this.say(`${this.label(by)} ended no further wait of the threads shown.`);
    this.selectWait(best.thread, best.item, true);
    this.set({ current: by });
  }

  /** The critical path of the selected wait, on the screen that draws it. */
  explain(): void {
    const { selected } = this.state.get();
    const path = this.app.screens.find(one => one.explain);
    if (!selected || !path)
      return this.say(selected ? 'This page has no critical paths.' : 'Select a wait first.');
    const span = { t0: Math.floor(selected.start), t1: Math.ceil(selected.end) };
    act.setRange(this.app, span, false);
    path.explain!(this.app, selected.thread, span, this.hitName(selected));
  }

  /* ---- the address ---- */

  private wanted: { thread: number; item: number } | null = null;

  /** Selects a wait as soon as it is known. */
  wantWait(wanted: { thread: number; item: number } | null): void {
    this.wanted = wanted;
    this.takeWanted();
  }

  /** The wait that is selected, or will be as soon as it is known. */
  waitPlace(): string {
    const wait = this.wanted ?? this.state.get().selected;
    return wait && wait.item >= 0 ? `${wait.thread}.${wait.item}` : '';
  }

  private takeWanted(): void {
    const { wanted } = this;
    const hit = wanted && this.waitHit(wanted.thread, wanted.item);
    if (!hit) return;
    this.wanted = null;
    this.select(hit);
  }

  /* ---- means ---- */

  private means: Map<number, { count: number; ns: number }> | null = null;
  private asksMeans = false;

  /** Mean durations of functions, for tool-tips: once. */
  learnMeans(): void {
    if (this.means || this.asksMeans || this.served.trace.calls === 0) return;
    this.asksMeans = true;
    this.served.source
      .json('functions', {}, 'plate means')
      .then(json => {
        const rows = objects(json, 'functions');
        this.means = new Map(
          rows.map(row => [num(row, 'fn'), { count: num(row, 'count'), ns: num(row, 'mean_ns') }]),
        );
      })
      .catch(() => undefined) // the tool-tip says less
      .finally(() => (this.asksMeans = false));
  }

  meanOf(fn: number): { count: number; ns: number } | null {
    return this.means?.get(fn) ?? null;
  }
}

/* ---- Walking the calls of the Interplay without a pointer: what it would find under itself, from one call
 * to the next. ---- */

/** Bar `i` of a thread, which lies at `depth`, as what is pointed at; `t` is the time of that. */
export function hitOf(
  data: ThreadData,
  thread: number,
  depth: number,
  i: number,
  t: number,
): PlateHit {
  const { start, end, count, longestFn, isCluster } = data.calls;
  const [a, b] = [start[i]!, end[i]!];
  const { wait, io } = data.shares?.in(a, b) ?? { wait: 0, io: 0 };
  const within = Math.min(Math.max(t, a), Math.max(a, b - 1));
  const isAggregate = data.isBare || isCluster[i] === 1;
  return {
    thread,
    depth,
    start: a,
    end: b,
    fn: longestFn[i]!,
    count: count[i]!,
    t: within,
    wait,
    io,
    item: waitAt(data.waits, within, data.isBare ? 0 : depth, isAggregate),
  };
}

/** The first bar of a level that ends behind `t`, or the one behind the level's last. */
function firstBehind({ end, depthFrom }: Tile, depth: number, t: number): number {
  let [low, high] = [depthFrom[depth]!, depthFrom[depth + 1]!];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle]! <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

type Step = 'next' | 'before' | 'caller' | 'callee';

const NOTHING: Record<Step, string> = {
  next: 'There is no later call of this depth in view.',
  before: 'There is no earlier call of this depth in view.',
  caller: 'Nothing called it.',
  callee: 'It called nothing that is drawn.',
};

/** The bar that a step leads to: its depth and place; -1: there is none. */
function stepFrom({ calls }: ThreadData, at: PlateHit, step: Step): [depth: number, i: number] {
  const depth = at.depth + (step === 'callee' ? 1 : step === 'caller' ? -1 : 0);
  if (depth < 0 || depth + 1 >= calls.depthFrom.length) return [depth, -1];
  const [first, behind] = [calls.depthFrom[depth]!, calls.depthFrom[depth + 1]!];
  const by = { next: 1, before: -1, caller: 0, callee: 0 }[step];
  const i = firstBehind(calls, depth, at.start) + by;
  const isThere = i >= first && i < behind;
  const isWithin = isThere && calls.start[i]! < Math.max(at.end, at.start + 1);
  return [depth, isThere && (by !== 0 || isWithin) ? i : -1];
}

/** Selects the call before or behind the selected one, its caller, or the first that it called. With
 * nothing selected: the first of the current thread in view. */
export function stepCall(screen: Interplay, step: Step): void {
  const { selected, current, focus } = screen.state.get();
  const thread = selected?.thread ?? (current >= 0 ? current : focus);
  const data = screen.loader.of(thread);
  if (!data || data.calls.n === 0) return screen.say(`${screen.label(thread)} has no call here.`);
  const { t0, t1 } = screen.view(thread);
  const begin = firstBehind(data.calls, 0, t0);
  const [depth, i] = selected
    ? stepFrom(data, selected, step)
    : [0, begin < data.calls.depthFrom[1]! ? begin : -1];
  if (i < 0) return screen.say(NOTHING[step]);
  const hit = hitOf(data, thread, depth, i, data.calls.start[i]!);
  const length = t1 - t0;
  if (hit.end < t0 || hit.start > t1)
    screen.setView(thread, { t0: hit.start - length / 4, t1: hit.start + (length * 3) / 4 });
  screen.select(hit);
}

/** The current thread and its neighbour on the plate change their places. */
export function moveThread(screen: Interplay, by: 1 | -1): void {
  const { focus, contexts, current } = screen.state.get();
  const all = [focus, ...contexts];
  const at = all.indexOf(current);
  if (at < 0 || all.length < 2) return;
  const to = (at + by + all.length) % all.length;
  const next = [...all];
  [next[at], next[to]] = [next[to]!, next[at]!];
  screen.set({ focus: next[0]!, contexts: next.slice(1), focused: -1 });
  const where = to === 0 ? 'in the main view' : `${to} of ${contexts.length} around it`;
  screen.say(`${screen.title(current)} is ${where}.`);
}
