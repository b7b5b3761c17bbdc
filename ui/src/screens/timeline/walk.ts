// SPDX-License-Identifier: MIT
// Going from call to call: to neighbours, callers, callees, other threads, the slowest, outliers.
// Where a call is asked for, the server says where it is; the newest wish counts.
import { messageOf } from '../../shared/lib/format';
import { num, objects, text } from '../../shared/api/columns';
import { unlessSuperseded } from '../../shared/api/source';
import { KIND } from '../../shared/lib/model';
import type { Span } from '../../shared/lib/model';
import * as act from '../../shared/state/actions';
import { rowAt, writeRow } from '../../shared/state/app';
import type { App } from '../../shared/state/app';
import { setServed, callAt, isSameCall } from '../../shared/state/served';
import type { CallAt, CallSet } from '../../shared/state/served';
import { binBehind, callFrom, detailsOf, setFrom } from './details';
import { callSpan, selectCall, setAsking, setMode, timelineOf } from './state';
import type { TimelineHit } from './state';
import { FEW_LEVELS } from './tracks';

const WALK = 'walk'; // the lane of all of these

/** What was wished for before counts no longer: something was chosen, or the screen is left. */
export function forget(app: App): void {
  const own = timelineOf(app);
  own.wish = Symbol('wish');
  own.served.source.cancel(WALK);
}

/** Runs a wish; what went wrong is said, unless something else was wished for meanwhile. */
function wish(app: App, work: (isNewest: () => boolean) => Promise<void>): void {
  forget(app);
  const timeline = timelineOf(app);
  const own = timeline.wish;
  const isNewest = (): boolean => timeline.wish === own;
  void unlessSuperseded(work(isNewest)).catch((error: unknown) => {
    if (isNewest()) act.say(app, messageOf(error));
  });
}

/* ---- bringing into view ---- */

/** Makes the depth of a call visible in its track. */
function openDepth(app: App, { thread, depth }: CallAt): void {
  const own = timelineOf(app)
    .tracks()
    .tracks.filter(track => track.thread === thread);
  if (own.length > 0 && own.every(track => depth >= track.levels || track.mode === 'compact'))
    setMode(app, thread, depth < FEW_LEVELS ? 'few' : 'all');
}

/** Selects a call and moves the window no more than it takes to see it. */
export function goToCall(app: App, call: CallAt): void {
  act.reveal(app, call.thread);
  openDepth(app, call);
  const { window } = app.state.get();
  const [width, length] = [window.t1 - window.t0, call.end - call.start];
  const isSeen = call.start < window.t1 && call.end > window.t0;
  if (!isSeen || (length <= width && (call.start < window.t0 || call.end > window.t1))) {
    const middle = call.start + Math.min(length, width * 0.8) / 2;
    act.setWindow(app, middle - width / 2, middle + width / 2);
  }
  selectCall(app, call);
}

/** The call that the Overview has selected, if it has another one than when this was last asked. */
export function carryItem(app: App): void {
  const { item } = app.state.get();
  const at = item && rowAt(app.model, item);
  if (at?.kind !== KIND.CALL) return;
  const key = writeRow(at.thread, at);
  const own = timelineOf(app);
  if (own.carried === key) return;
  own.carried = key;
  wish(app, async () => {
    const middle = Math.floor((at.start + at.end) / 2);
    const call = await itemAt(app, at.thread, middle, at.level).catch((error: unknown) => {
      if (app.state.get().screen !== 'timeline') own.carried = ''; // left too early
      throw error;
    });
    if (call) goToCall(app, call);
  });
}

/** Selects a call and zooms so that it is easily seen; the window before becomes a crumb. */
function zoomToCall(app: App, call: CallAt, share = 0.5): void {
  const { window, crumbs } = app.state.get();
  const room = Math.max(10, ((call.end - call.start) * (1 - share)) / share / 2);
  act.reveal(app, call.thread);
  openDepth(app, call);
  act.set(app, { crumbs: [...crumbs, window] });
  act.setWindow(app, call.start - room, call.end + room);
  selectCall(app, call);
}

/** F: the selected call in the middle; again: as wide as the window. */
export function focusCall(app: App): void {
  const span = callSpan(timelineOf(app).served.state.get().call);
  if (!span) return;
  const { window, crumbs } = app.state.get();
  const [width, length] = [window.t1 - window.t0, span.t1 - span.t0];
  if (length < width * 0.9) {
    const middle = (span.t0 + span.t1) / 2;
    act.setWindow(app, middle - width / 2, middle + width / 2);
    const moved = Math.abs(app.state.get().window.t0 - window.t0);
    if (moved > width * 0.02) return;
  }
  act.set(app, { crumbs: [...crumbs, window] });
  act.setWindow(app, span.t0 - length * 0.05, span.t1 + length * 0.05);
}

/** R: the time of the selected call becomes the range. */
export function rangeOfCall(app: App): void {
  const span = callSpan(timelineOf(app).served.state.get().call);
  if (span) act.setRange(app, span, false);
}

/* ---- neighbours ---- */

async function stepOn(
  app: App,
  thread: number,
  at: number,
  depth: number,
  direction: 1 | -1,
): Promise<CallAt | null> {
  const { source } = timelineOf(app).served;
  const time = Math.max(0, Math.round(at));
  const params = { thread, at: time, depth, direction: direction > 0 ? 'next' : 'previous' };
  return callFrom(await source.json('step', params, WALK), thread);
}

async function itemAt(app: App, thread: number, at: number, depth: number): Promise<CallAt | null> {
  const { source } = timelineOf(app).served;
  const json = await source.json('item', { thread, at: Math.round(at), depth }, WALK);
  return callFrom(json, thread);
}

/** The next call of the same depth, or of the set if there is one. */
export function stepCall(app: App, direction: 1 | -1): void {
  const { set, call } = timelineOf(app).served.state.get();
  if (set && set.n > 0) return stepInSet(app, set, call, direction);
  stepSibling(app, direction);
}

/** The next hit of the search; if it is still being looked for, as soon as it is there. */
export function stepHit(app: App, direction: 1 | -1): void {
  const { served } = timelineOf(app);
  const { query } = app.state.get();
  const isThere = (): boolean => served.state.get().set?.title === query;
  if (query.trim() === '' || isThere()) return stepCall(app, direction);
  const off = served.state.subscribe(() => {
    const now = app.state.get();
    const isOther = now.query !== query || now.screen !== 'timeline';
    if (isOther || isThere()) off();
    if (!isOther && isThere()) stepCall(app, direction);
  });
}

function stepInSet(app: App, set: CallSet, call: CallAt | null, direction: 1 | -1): void {
  const { window } = app.state.get();
  const now = call ? call.start : direction > 0 ? window.t0 - 1 : window.t1;
  let next = stepSet(set, now, direction);
  if (next < 0) next = stepSet(set, direction > 0 ? -1 : Infinity, direction);
  if (next < 0) return;
  forget(app);
  const found = callAt(set, next);
  if (found.end - found.start < (window.t1 - window.t0) / 400) zoomToCall(app, found, 0.1);
  else goToCall(app, found);
}

export function stepSibling(app: App, direction: 1 | -1): void {
  const { call } = timelineOf(app).served.state.get();
  if (!call) return stepThread(app, direction);
  wish(app, async () => {
    const next = await stepOn(app, call.thread, call.start, call.depth, direction);
    if (next) goToCall(app, next);
    else
      act.say(app, `no ${direction > 0 ? 'later' : 'earlier'} call of depth ${call.depth} there`);
  });
}

/** The first call that a call makes; what begins behind it, if it makes none. */
async function firstBelow(app: App, { thread, start, depth }: CallAt): Promise<CallAt | null> {
  return (
    (await itemAt(app, thread, start, depth + 1)) ??
    (await stepOn(app, thread, start, depth + 1, 1))
  );
}

/** The caller (-1) or the first callee (1) of the selected call; beyond them, the next thread. */
export function stepDepth(app: App, direction: 1 | -1): void {
  const { call } = timelineOf(app).served.state.get();
  if (!call) return stepThread(app, direction);
  wish(app, async () => {
    const depth = call.depth + direction;
    const next =
      depth < 0
        ? null
        : direction < 0
          ? await itemAt(app, call.thread, call.start, depth)
          : await firstBelow(app, call);
    const isInside = next && (direction < 0 || next.start < call.end);
    if (isInside) goToCall(app, next);
    else stepThread(app, direction);
  });
}

/** The call of another thread at the same time. */
export function stepThread(app: App, direction: 1 | -1): void {
  const { served, tracks } = timelineOf(app);
  const { call } = served.state.get();
  const { window } = app.state.get();
  const order = tracks().tracks.filter(({ thread }) => thread >= 0);
  const from = call ? order.findIndex(({ thread }) => thread === call.thread) : -1;
  const next = order[Math.min(order.length - 1, Math.max(0, from + direction))];
  if (!next || next.thread === call?.thread) return;
  const at = call
    ? Math.max(window.t0, Math.min(window.t1, (call.start + call.end) / 2))
    : (window.t0 + window.t1) / 2;
  wish(app, async () => {
    const found =
      (await itemAt(app, next.thread, at, 0)) ??
      (await stepOn(app, next.thread, at, 0, 1)) ??
      (await stepOn(app, next.thread, at, 0, -1));
    if (found) goToCall(app, found);
  });
}

/* ---- what a mark stands for ---- */

/** Selects the call of a mark; of merged calls, the longest. */
export function selectHit(app: App, hit: TimelineHit | null): void {
  forget(app);
  if (!hit) return selectCall(app, null);
  const { thread, depth, start, end, fn } = hit;
  if (hit.count === 1) return selectCall(app, { thread, depth, start, end, fn });
  wish(app, async () => {
    const found = await longestOf(app, hit);
    if (found) selectCall(app, found);
  });
}

/** The longest call of merged ones. */
async function longestOf(app: App, hit: TimelineHit): Promise<CallAt | null> {
  const { source } = timelineOf(app).served;
  const params = {
    threads: [hit.thread],
    fn: [hit.fn],
    from: Math.floor(hit.start),
    to: Math.ceil(hit.end) + 1,
    min_ns: hit.longest,
    max_ns: hit.longest,
    limit: 100,
  };
  const set = setFrom(await source.columns('calls', params, WALK), { title: '', functions: [] });
  for (let i = 0; i < set.n; i++) if (set.depth[i] === hit.depth) return callAt(set, i);
  return null;
}

/** Double click: the call, or the time of merged calls, fills the window. */
export function zoomToHit(app: App, hit: TimelineHit | null): void {
  if (!hit) return;
  const { window, crumbs } = app.state.get();
  const room = Math.max(5, (hit.end - hit.start) * 0.05);
  act.set(app, { crumbs: [...crumbs, window] });
  act.setWindow(app, hit.start - room, hit.end + room);
}

/** Ctrl+click: adds a call to the set of picked ones, or takes it out. */
export function pickHit(app: App, hit: TimelineHit): void {
  const { served } = timelineOf(app);
  const { set } = served.state.get();
  if (hit.count > 1) return act.say(app, 'merged calls: zoom in to pick one');
  const { thread, depth, start, end, fn } = hit;
  const own = set?.functions.length === 0 && set.total === set.n ? set : null;
  const picked = own ? Array.from({ length: own.n }, (_, i) => callAt(own, i)) : [];
  const call = { thread, depth, start, end, fn };
  const rest = picked.filter(one => !isSameCall(one, call));
  if (rest.length === picked.length) rest.push(call);
  setServed(served, { set: rest.length > 0 ? pickedSet(rest) : null });
}

function pickedSet(calls: CallAt[]): CallSet {
  const sorted = [...calls].sort((a, b) => a.start - b.start);
  return {
    title: `${sorted.length} picked`,
    functions: [],
    minNs: 0,
    maxNs: Infinity,
    total: sorted.length,
    n: sorted.length,
    thread: Uint32Array.from(sorted, call => call.thread),
    start: Float64Array.from(sorted, call => call.start),
    end: Float64Array.from(sorted, call => call.end),
    depth: Uint16Array.from(sorted, call => call.depth),
    fn: Uint32Array.from(sorted, call => call.fn),
  };
}

/* ---- the slowest ---- */

async function longestCall(app: App, fn: number, min: number, max?: number): Promise<CallSet> {
  const { source } = timelineOf(app).served;
  const limit = max === undefined ? 1 : 10000;
  const params = { fn: [fn], min_ns: min, max_ns: max, sort: 'longest', limit };
  return setFrom(await source.columns('calls', params, WALK), { title: '', functions: [fn] });
}

export function goToSlowest(app: App): void {
  const { call } = timelineOf(app).served.state.get();
  if (!call) return;
  wish(app, async () => {
    const set = await longestCall(app, call.fn, 0);
    if (set.n > 0) zoomToCall(app, callAt(set, 0));
  });
}

/** The call of the same function that is next longer than the selected one. */
export function goToNextSlower(app: App): void {
  const { call } = timelineOf(app).served.state.get();
  const { bins } = detailsOf(app).state.get();
  if (!call || !bins) return;
  wish(app, async () => {
    const length = call.end - call.start;
    const own = bins.to.findIndex(to => to > length);
    for (let bin = Math.max(0, own); bin >= 0; bin = binBehind(bins, bins.from[bin]!)) {
      const set = await longestCall(app, call.fn, length + 1, bins.to[bin]);
      if (set.n > 0) {
        zoomToCall(app, callAt(set, set.n - 1));
        return;
      }
    }
    act.say(app, 'no call of this function is longer');
  });
}

/* ---- outliers ---- */

const idOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

/** Asked for once; again if that failed. */
function outliersOf(app: App): Promise<CallAt[]> {
  const own = timelineOf(app);
  own.outliers ??= askOutliers(app).catch((error: unknown) => {
    own.outliers = null;
    throw error;
  });
  return own.outliers;
}

async function askOutliers(app: App): Promise<CallAt[]> {
  const { source, threads, names } = timelineOf(app).served;
  setAsking(app, 'outliers', true);
  try {
    const byTid = new Map(threads.map(thread => [thread.tid, thread.id]));
    const byName = new Map(names.name.map((name, i) => [name, i]));
    const rows = objects(await source.json('outliers', {}, 'outliers'), 'outliers');
    return rows
      .filter(row => row['kind'] === 'call')
      .map(row => ({
        thread: idOf(row['thread_id']) ?? byTid.get(num(row, 'tid')) ?? 0,
        depth: num(row, 'depth'),
        start: num(row, 'start_ns'),
        end: num(row, 'end_ns'),
        fn: idOf(row['fn']) ?? byName.get(text(row, 'function')) ?? 0,
      }))
      .sort((a, b) => a.start - b.start || a.thread - b.thread || a.depth - b.depth);
  } finally {
    setAsking(app, 'outliers', false);
  }
}

/** The outlier that begins next behind (or before) the selected call. */
export function stepOutlier(app: App, direction: 1 | -1): void {
  wish(app, async isNewest => {
    const all = await outliersOf(app);
    if (!isNewest()) return;
    if (all.length === 0) {
      act.say(app, 'no call of this trace is unusual');
      return;
    }
    const { call } = timelineOf(app).served.state.get();
    const { window } = app.state.get();
    const own = call ? all.findIndex(one => isSameCall(one, call)) : -1;
    const now = call?.start ?? (direction > 0 ? window.t0 - 1 : window.t1);
    const behind = all.findIndex(one => one.start > now);
    const before = all.length - 1 - [...all].reverse().findIndex(one => one.start < now);
    const next = own >= 0 ? own + direction : direction > 0 ? behind : before;
    const at = next < 0 || next >= all.length ? (direction > 0 ? 0 : all.length - 1) : next;
    zoomToCall(app, all[at]!);
    act.say(app, `unusual call ${at + 1} of ${all.length}`);
  });
}

/** For zooming with z and Enter. */
export function focusSpan(app: App): Span | null {
  return callSpan(timelineOf(app).served.state.get().call);
}

/* ---- The calls of a set by where they are drawn: of each thread and depth, in order of time. ---- */

/** Columns of a set, as far as it matters where its calls are. */
interface Calls {
  n: number;
  total: number;
  functions: readonly number[];
  minNs: number;
  maxNs: number;
  /** minNs and maxNs are of self times, which nobody knows of calls that are not here. */
  isSelf?: boolean;
  thread: Uint32Array;
  depth: Uint16Array;
  start: Float64Array;
  end: Float64Array;
  fn: Uint32Array;
}

export class SetIndex {
  private readonly lists = new Map<number, Int32Array>();
  private readonly functions: ReadonlySet<number>;
  private readonly isWhole: boolean;

  constructor(readonly calls: Calls) {
    const { n, thread, depth, start } = calls;
    this.functions = new Set(calls.functions);
    this.isWhole = calls.total <= n;
    const order = Int32Array.from({ length: n }, (_, i) => i);
    const keyOf = (i: number): number => thread[i]! * 65536 + depth[i]!;
    order.sort((a, b) => keyOf(a) - keyOf(b) || start[a]! - start[b]!);
    for (let a = 0; a < n; ) {
      let b = a + 1;
      while (b < n && keyOf(order[b]!) === keyOf(order[a]!)) b++;
      this.lists.set(keyOf(order[a]!), order.subarray(a, b));
      a = b;
    }
  }

  /** Indices of the calls of a depth of a thread, in order of start. */
  of(thread: number, depth: number): Int32Array | null {
    return this.lists.get(thread * 65536 + depth) ?? null;
  }

  /** Place in `list` of the first call that ends behind `t`. */
  firstBehind(list: Int32Array, t: number): number {
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.calls.end[list[middle]!]! <= t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Is the call that begins at `start` in a list of this index? */
  holds(list: Int32Array, start: number): boolean {
    let [low, high] = [0, list.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const own = this.calls.start[list[middle]!]!;
      if (own === start) return true;
      if (own < start) low = middle + 1;
      else high = middle - 1;
    }
    return false;
  }

  /** Of a set that is not here in full: does its description hold for a call? */
  describes(fn: number, ns: number): boolean {
    if (this.isWhole || this.calls.isSelf) return false;
    const { minNs, maxNs } = this.calls;
    return ns >= minNs && ns <= maxNs && (this.functions.size === 0 || this.functions.has(fn));
  }
}

/** The next call of the set behind (or before) `t`, in order of start; -1: there is none. */
export function stepSet(calls: Calls, now: number, direction: 1 | -1): number {
  const { n, start } = calls;
  if (n === 0) return -1;
  let best = -1;
  for (let i = 0; i < n; i++) {
    const isBehind = direction > 0 ? start[i]! > now : start[i]! < now;
    if (!isBehind) continue;
    if (best < 0 || (direction > 0 ? start[i]! < start[best]! : start[i]! > start[best]!)) best = i;
  }
  return best;
}
