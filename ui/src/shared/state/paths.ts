// SPDX-License-Identifier: MIT
// The Critical path screen: which paths it shows, one above the other from a common start, and its
// questions to the server.
import { messageOf } from '../lib/format';
import type { CallsColumns } from '../../gen/tables';
import { num, tableOf, text, decodePath } from '../api/columns';
import { Superseded } from '../api/source';
import type { Params } from '../api/source';
import { Own, Atom } from '../lib/atom';
import type { Span } from '../lib/model';
import { threadsInOrder, MOST_PICKS, samePick } from '../lib/path';
import type { Path, Pick } from '../lib/path';
import * as act from './actions';
import { committedSpan } from './actions';
import type { App } from './app';
import type { ScreenSpec } from './screens';
import type { Served } from './served';

/** A path that was asked for. */
export interface Asked {
  pick: Pick;
  path: Path | null;
  isWaiting: boolean;
  error: string;
}

export interface PathState {
  asked: readonly Asked[];
  /** The one whose sums and tree are shown. */
  now: number;
  /** Since each path's start, ns; null: as long as the longest. */
  view: Span | null;
  /** The selected segment of the path shown, or -1. */
  segment: number;
  /** The selected node of its tree, or -1. */
  node: number;
  /** Threads that the Timeline is to have on top. */
  pinned: readonly number[];
  /** Why nothing was added. */
  trouble: string;
}

const MOST_SEGMENTS = 20_000;

const LEAST_VIEW = 100; // ns
const MOST_PINNED = 6;

export class Paths {
  readonly state = new Atom<PathState>({
    asked: [],
    now: 0,
    view: null,
    segment: -1,
    node: -1,
    pinned: [],
    trouble: '',
  });
  private lane = 0;
  /** Its threads are pinned in the Timeline as soon as they are known. */
  private toPin: Pick | null = null;

  constructor(
    readonly app: App,
    readonly served: Served,
  ) {}

  set(change: Partial<PathState>): void {
    this.state.update(now => ({ ...now, ...change }));
  }

  picks(): Pick[] {
    return this.state.get().asked.map(({ pick }) => pick);
  }

  current(): Asked | null {
    const { asked, now } = this.state.get();
    return asked[now] ?? null;
  }

  nameOf = (thread: number): string => {
    const own = this.served.threads[thread];
    if (!own) return 'a thread';
    return own.name === '' ? own.label : `${own.name} ${own.label}`;
  };

  title({ pick }: Asked): string {
    return pick.label === ''
      ? this.nameOf(pick.thread)
      : `${pick.label} of ${this.nameOf(pick.thread)}`;
  }

  /** How long the axis is, ns. */
  length(): number {
    const { asked } = this.state.get();
    return Math.max(1, ...asked.map(({ pick: { span } }) => span.t1 - span.t0));
  }

  view(): Span {
    return this.state.get().view ?? { t0: 0, t1: this.length() };
  }

  /** Moves and scales the axis; the whole is never left. */
  zoom(factor: number, at = 0.5): void {
    const { t0, t1 } = this.view();
    const width = Math.max(LEAST_VIEW, Math.min(this.length(), (t1 - t0) * factor));
    const middle = t0 + (t1 - t0) * at;
    this.show(middle - width * at, width);
  }

  pan(share: number): void {
    const { t0, t1 } = this.view();
    this.show(t0 + (t1 - t0) * share, t1 - t0);
  }

  show(t0: number, width: number): void {
    const length = this.length();
    const from = Math.max(0, Math.min(length - width, t0));
    const isWhole = width >= length;
    this.set({ view: isWhole ? null : { t0: from, t1: from + Math.max(LEAST_VIEW, width) } });
  }

  /** Shows these paths, and those shown already if `isMore`. */
  pick(picks: readonly Pick[], isMore: boolean): void {
    if (!isMore) this.served.source.cancel('path.find'); // it does not come on top of these
    const before = isMore ? this.state.get().asked : [];
    const fresh = picks.filter(one => !before.some(({ pick }) => samePick(pick, one)));
    const room = MOST_PICKS - before.length;
    const added = fresh
      .slice(0, room)
      .map(pick => ({ pick, path: null, isWaiting: true, error: '' }));
    const at = before.findIndex(({ pick }) => picks[0] && samePick(pick, picks[0]));
    this.set({
      asked: [...before, ...added],
      now: added.length > 0 ? before.length : Math.max(0, at),
      view: null,
      segment: -1,
      node: -1,
      trouble: fresh.length > room ? `at most ${MOST_PICKS} paths are shown; take some away` : '',
    });
    for (const one of added) void this.ask(one.pick);
  }

  drop(index: number): void {
    const { asked, now } = this.state.get();
    const rest = asked.filter((_, i) => i !== index);
    const next = Math.max(0, Math.min(rest.length - 1, index < now ? now - 1 : now));
    this.set({ asked: rest, now: next, view: null, segment: -1, node: -1, trouble: '' });
  }

  choose(index: number, segment = -1): void {
    const { asked, now } = this.state.get();
    if (index < 0 || index >= asked.length) return;
    this.set({ now: index, segment, node: index === now ? this.state.get().node : -1 });
  }

  private put(pick: Pick, change: Partial<Asked>): void {
    this.state.update(now => ({
      ...now,
      asked: now.asked.map(one => (samePick(one.pick, pick) ? { ...one, ...change } : one)),
    }));
  }

  private async ask(pick: Pick): Promise<void> {
    const { thread, span } = pick;
    const params: Params = {
      thread,
      from: Math.round(span.t0),
      to: Math.round(span.t1),
      limit: MOST_SEGMENTS,
    };
    try {
      const json = await this.served.source.json('path', params, `path.${this.lane++ % 64}`);
      this.put(pick, { path: decodePath(json), isWaiting: false });
      if (this.toPin && samePick(this.toPin, pick)) this.pin(this.toPin);
    } catch (error) {
      if (error instanceof Superseded) return;
      const why = messageOf(error);
      this.put(pick, { error: why, isWaiting: false });
    }
  }

  again(index: number): void {
    const one = this.state.get().asked[index];
    if (!one) return;
    this.put(one.pick, { error: '', isWaiting: true });
    void this.ask(one.pick);
  }

  /** The threads of a path stand on top of the Timeline, in the order in which it meets them. */
  pin(pick: Pick): void {
    this.toPin = pick;
    const path = this.state.get().asked.find(one => samePick(one.pick, pick))?.path;
    if (!path) return;
    this.toPin = null;
    this.set({ pinned: threadsInOrder(path).slice(0, MOST_PINNED) });
  }

  /* ---- what can be picked ---- */

  /** The paths that a report has; those of a server are all. */
  inside(): Pick[] {
    return this.served.source.list('path').map(({ thread, from, to }) => ({
      thread: Number(thread),
      span: { t0: Number(from), t1: Number(to) },
      label: '',
    }));
  }

  /** Whether there is a path of it. */
  has({ thread, span }: Pick): boolean {
    const params = { thread, from: Math.round(span.t0), to: Math.round(span.t1) };
    return this.served.source.has('path', params);
  }

  /** Of a report, the first that it has is shown while none is chosen. */
  begin(): void {
    const first = this.state.get().asked.length === 0 ? this.inside()[0] : undefined;
    if (first) this.pick([first], false);
  }

  /** The longest `n` calls of the function that is called `name`, or whose name holds it; what is
   * looked for last counts. */
  async pickFunction(name: string, n: number): Promise<void> {
    try {
      await this.findFunction(name, n);
    } catch (error) {
      if (error instanceof Superseded) return;
      this.set({ trouble: messageOf(error) });
    }
  }

  private async findFunction(name: string, n: number): Promise<void> {
    const { names, source } = this.served;
    const wanted = name.trim().toLowerCase();
    if (wanted === '') return;
    const exact = names.name.findIndex(one => one.toLowerCase() === wanted);
    const fn = exact >= 0 ? exact : names.name.findIndex(one => one.toLowerCase().includes(wanted));
    if (fn < 0) return this.pickSpan(name);
    const answer = await source.columns('calls', { fn, limit: n }, 'path.find');
    const call = tableOf<CallsColumns>(answer, 'calls');
    const [start, end] = [call('start_ns'), call('end_ns')];
    const picks = [...call('thread')].map((id, i) => ({
      thread: id,
      span: { t0: start[i]!, t1: Math.max(start[i]! + 1, end[i]!) },
      label: names.name[fn]!,
    }));
    if (picks.length > 0) this.pick(picks, true);
    else this.set({ trouble: `no call of ${names.name[fn]!} is in this trace` });
  }

  /** The longest span or marker that is called so. */
  private async pickSpan(name: string): Promise<void> {
    const params = { span: name.trim(), limit: 1 };
    const json = await this.served.source.json('path', params, 'path.find');
    const span = { t0: num(json, 'from_ns'), t1: num(json, 'to_ns') };
    const label = text(json, 'of_span') || name.trim();
    this.pick([{ thread: num(json, 'thread_id'), span, label }], true);
  }
}

const PATHS = new Own<App, Paths>('path', app => new Paths(app, app.answers!));
export const pathsOf = (app: App): Paths => PATHS.of(app);

/** Shows the paths on their screen. */
export function showPaths(app: App, picks: readonly Pick[], isMore = false): void {
  pathsOf(app).pick(picks, isMore);
  act.setScreen(app, 'path');
}

function callName(app: App, fn: number): string {
  return app.served!.names.name[fn] ?? '';
}

/** What the screens before have selected: a call; or a range, and the threads ticked or that of the
 * selected call. */
function selectedPicks(app: App): Pick[] {
  const { call } = app.served!.state.get();
  const { range, picked, item } = app.state.get();
  const span = range ?? (picked.size > 0 ? committedSpan(app) : null);
  const own = call?.thread ?? item?.thread ?? -1;
  const threads = picked.size > 0 ? [...picked] : own >= 0 ? [own] : [];
  if (span && threads.length > 0)
    return threads.slice(0, MOST_PICKS).map(thread => ({ thread, span, label: 'range' }));
  if (call) {
    const own = { t0: call.start, t1: Math.max(call.end, call.start + 1) };
    return [{ thread: call.thread, span: own, label: callName(app, call.fn) }];
  }
  const time = act.itemSpan(app, item);
  return time && item ? [{ thread: item.thread, span: time, label: '' }] : [];
}

/** Of a report: the path that it has of a time that is selected. */
function explainInside(app: App): void {
  const { range, item } = app.state.get();
  const span = range ?? act.itemSpan(app, item);
  const own = pathsOf(app)
    .inside()
    .find(one => span !== null && one.span.t0 < span.t1 && span.t0 < one.span.t1);
  if (own) return showPaths(app, [own]);
  act.setScreen(app, 'path');
  act.say(app, 'The report has no path of what is selected: weft serve shows it.');
}

/** Critical path of what is selected; without anything, the screen that says how. */
export function explainSelection(app: App): void {
  if (!app.served) return explainInside(app);
  const picks = selectedPicks(app);
  if (picks.length > 0) return showPaths(app, picks);
  act.setScreen(app, 'path');
  act.say(app, 'Nothing was selected: choose a thread and a time.');
}

/** Where all threads are seen over time: a report has no Timeline. */
export const timelineOf = (app: App): ScreenSpec =>
  app.screens.find(({ key }) => key === 'timeline') ??
  app.screens.find(({ key }) => key === 'overview') ??
  app.screens[0]!;

/** The row of a thread: a report may omit those of other programs; -1: it has none. */
function rowOf(app: App, thread: number): number {
  const own = app.answers?.threads[thread];
  const { threads } = app.model.trace;
  if (!own || threads[thread]?.tid === own.tid) return thread;
  return threads.findIndex(({ tid, pid }) => tid === own.tid && pid === own.pid);
}

/** Takes a stretch of a path to the Timeline: as the range, with some room around it. */
export function showInTimeline(app: App, thread: number, span: Span): void {
  const { window, crumbs } = app.state.get();
  const room = Math.max(50, (span.t1 - span.t0) * 0.5);
  const row = rowOf(app, thread);
  if (row >= 0) act.reveal(app, row);
  app.state.update(now => ({
    ...now,
    crumbs: [...crumbs, window],
    screen: timelineOf(app).key,
    range: span,
    isPreview: false,
  }));
  act.setWindow(app, span.t0 - room, span.t1 + room);
}

/** Threads for a list to choose from, those with most events first. */
export function threadsToPick(served: Served): { id: number; words: string }[] {
  return served.threads
    .filter(({ tid }) => tid >= 0)
    .sort((a, b) => b.calls - a.calls || b.events - a.events || a.id - b.id)
    .map(({ id, name, label }) => ({ id, words: name === '' ? label : `${name} ${label}` }));
}
