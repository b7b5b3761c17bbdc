// SPDX-License-Identifier: MIT
// What the timeline knows besides the window, the range and the set, and how it changes.
import { num, objects } from '../../shared/api/columns';
import { unlessSuperseded } from '../../shared/api/source';
import { Atom, Own } from '../../shared/lib/atom';
import { duration, exact, integer, plural, messageOf } from '../../shared/lib/format';
import type { Span } from '../../shared/lib/model';
import { matchesName, matchesThread, parseQuery } from '../../shared/lib/search';
import type { Query } from '../../shared/lib/search';
import * as act from '../../shared/state/actions';
import { say } from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { pathsOf } from '../../shared/state/paths';
import { setServed, isSameCall } from '../../shared/state/served';
import type { CallAt, Served, CallSet } from '../../shared/state/served';
import { callFrom, setFrom } from './details';
import type { TimelinePath } from './path';
import { layoutTracks, TRACK_SORTS, askLaneOrder } from './tracks';
import type { TrackMode, Tracks, TrackSort } from './tracks';

/** What the pointer is on. */
export interface TimelineHit {
  thread: number;
  depth: number;
  start: number;
  end: number;
  fn: number;
  /** 1: a call; more: so many calls are merged. */
  count: number;
  covered: number;
  longest: number;
  /** Box in CSS px of the area. */
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

/** A state of a thread under the pointer. */
export interface StateHit {
  thread: number;
  start: number;
  end: number;
  words: string;
  /** Who says so. */
  by: string;
  /** The lock, if it is a piece of a lane. */
  lock?: string;
  /** The segment, if it is a stretch of the critical path. */
  segment?: number;
}

export interface Flag {
  t: number;
  note: string;
  /** From the notes beside the trace: not ours to keep. */
  isGiven: boolean;
}

export interface TimelineMenu {
  x: number;
  y: number;
  t: number;
  hit: TimelineHit | null;
  thread: number;
}

interface TimelineState {
  sort: TrackSort;
  mode: TrackMode;
  modes: ReadonlyMap<number, TrackMode>;
  pins: readonly number[];
  closed: ReadonlySet<number>;
  hover: TimelineHit | null;
  over: StateHit | null;
  pointer: { x: number; y: number } | null;
  isTipPinned: boolean;
  menu: TimelineMenu | null;
  flags: readonly Flag[];
  /** The flag whose note is being written, or -1. */
  editing: number;
  busy: Float64Array | null;
  hasLanes: boolean;
  /** By thread: the locks that have lanes; null: not known yet. */
  laneOrder: ReadonlyMap<number, readonly string[]> | null;
  /** The critical path is drawn, if there is one. */
  hasPath: boolean;
  /** The one that is drawn (state/timelinepath); null: none, or it is switched off. */
  path: TimelinePath | null;
  /** Its selected segment, or -1. */
  segment: number;
  /** What is being asked for, in words. */
  asking: readonly string[];
  trouble: string;
}

export interface Timeline {
  served: Served;
  state: Atom<TimelineState>;
  tracks: () => Tracks;
  /** What the address says of its call, until the server has said what that is. */
  placeAsked: string;
  /** The newest wish: others count no longer. */
  wish: symbol;
  /** The item of the Overview that was taken over last. */
  carried: string;
  /** The outliers, once they were asked for. */
  outliers: Promise<CallAt[]> | null;
}

const FRESH: TimelineState = {
  sort: 'first',
  mode: 'few',
  modes: new Map(),
  pins: [],
  closed: new Set(),
  hover: null,
  over: null,
  pointer: null,
  isTipPinned: false,
  menu: null,
  flags: [],
  editing: -1,
  busy: null,
  asking: [],
  trouble: '',
  hasLanes: true,
  laneOrder: null,
  hasPath: true,
  path: null,
  segment: -1,
};

/** The timeline of a served page. */
export const TIMELINE_STATE = new Own<App, Timeline>('timeline', app => {
  const paths = pathsOf(app);
  paths.state.subscribe(({ pinned: pins }, before) => {
    if (pins !== before.pinned) setTimeline(app, { pins });
  });
  return makeTimeline(app, app.served!);
});
export const timelineOf = (app: App): Timeline => TIMELINE_STATE.of(app);

/** Threads that the set is in; null: no thread is to be left out. */
function onlyThreads(served: Served): ReadonlySet<number> | null {
  const { set, isSetOnly } = served.state.get();
  return set && isSetOnly ? new Set(set.thread) : null;
}

function makeTimeline(app: App, served: Served): Timeline {
  const state = new Atom<TimelineState>(FRESH);
  let made: { parts: unknown[]; tracks: Tracks } | null = null;
  return {
    served,
    state,
    placeAsked: '',
    wish: Symbol('wish'),
    carried: '',
    outliers: null,
    tracks() {
      const { hidden } = app.state.get();
      const { sort, mode, modes, pins, closed, busy, hasLanes, laneOrder, path } = state.get();
      const { set, isSetOnly } = served.state.get();
      const parts = [
        hidden,
        sort,
        mode,
        modes,
        pins,
        closed,
        busy,
        isSetOnly && set,
        hasLanes,
        laneOrder,
        path,
      ];
      if (made && parts.every((part, i) => part === made!.parts[i])) return made.tracks;
      const only = onlyThreads(served);
      const hasStrip = served.trace.hasStates || served.trace.calls > 0;
      const lanes = (thread: number): number =>
        hasLanes ? (laneOrder?.get(thread)?.length ?? 0) : 0;
      const onPath = path?.lanes ?? null;
      const look = { sort, mode, modes, pins, closed, busy };
      const options = { ...look, lanes, hidden, only, hasStrip, onPath };
      made = { parts, tracks: layoutTracks({ threads: served.threads, ...options }) };
      return made.tracks;
    },
  };
}

export function setTimeline(app: App, change: Partial<TimelineState>): void {
  const { state } = timelineOf(app);
  state.update(now => ({ ...now, ...change }));
}

/** Says that something is being asked for, or no longer. */
export function setAsking(app: App, what: string, isAsked: boolean): void {
  const rest = timelineOf(app)
    .state.get()
    .asking.filter(one => one !== what);
  setTimeline(app, { asking: isAsked ? [...rest, what] : rest });
}

/** Tells when something changes that the address names. */
export function watchPlace(app: App, tell: () => void): () => void {
  const { state, served } = timelineOf(app);
  const keys = ['pins', 'sort', 'mode', 'modes', 'closed', 'hasPath'] as const;
  const offs = [
    state.subscribe((now, before) => {
      if (keys.some(key => now[key] !== before[key])) tell();
    }),
    served.state.subscribe((now, before) => {
      if (now.call !== before.call || now.isSetOnly !== before.isSetOnly) tell();
    }),
  ];
  return () => offs.forEach(off => off());
}

/* ---- tracks ---- */

export function togglePin(app: App, thread: number): void {
  const { pins } = timelineOf(app).state.get();
  const rest = pins.filter(id => id !== thread);
  setTimeline(app, { pins: rest.length < pins.length ? rest : [...pins, thread] });
}

const NEXT_MODE = { few: 'all', all: 'compact', compact: 'few' } as const;

/** few -> all -> compact -> few, of one thread, or of all if it is -1. */
export function nextMode(app: App, thread: number): void {
  const { mode, modes } = timelineOf(app).state.get();
  if (thread < 0) return setTimeline(app, { mode: NEXT_MODE[mode], modes: new Map() });
  setMode(app, thread, NEXT_MODE[modes.get(thread) ?? mode]);
}

export function setMode(app: App, thread: number, mode: TrackMode): void {
  const modes = new Map(timelineOf(app).state.get().modes);
  modes.set(thread, mode);
  setTimeline(app, { modes });
}

/** Lanes of locks are shown, or not. */
export function toggleLanes(app: App): void {
  const { hasLanes, laneOrder } = timelineOf(app).state.get();
  setTimeline(app, { hasLanes: !hasLanes });
  if (laneOrder?.size === 0) say(app, 'no lock of this trace was waited for');
}

/** Learns whose locks have lanes. */
export function learnLanes(app: App): void {
  const { state, served } = timelineOf(app);
  if (state.get().laneOrder) return;
  askLaneOrder(served.source)
    .then(laneOrder => setTimeline(app, { laneOrder }))
    .catch(() => undefined); // without lanes the rest is still there
}

export function toggleProcess(app: App, pid: number): void {
  const closed = new Set(timelineOf(app).state.get().closed);
  if (!closed.delete(pid)) closed.add(pid);
  setTimeline(app, { closed });
}

export function nextSort(app: App): void {
  const { sort } = timelineOf(app).state.get();
  const at = TRACK_SORTS.findIndex(([key]) => key === sort);
  setTimeline(app, { sort: TRACK_SORTS[(at + 1) % TRACK_SORTS.length]![0] });
}

export function callSpan(call: CallAt | null): Span | null {
  return call && { t0: call.start, t1: Math.max(call.end, call.start + 1) };
}

export function callSentence(served: Served, call: CallAt): string {
  const { label } = served.threads[call.thread]!;
  const name = served.names.name[call.fn] ?? 'unknown function';
  return `${name}, ${duration(call.end - call.start)}, ${label}, starts at ${exact(call.start)}, depth ${call.depth}.`;
}

export function selectCall(app: App, call: CallAt | null): void {
  const { served } = timelineOf(app);
  setServed(served, { call });
  app.state.update(now => ({ ...now, said: call ? callSentence(served, call) : '' }));
}

/* ---- flags ---- */

const flagKey = ({ trace }: Served): string =>
  `weft flags ${trace.name} ${trace.calls} ${integer(trace.duration)}`;

export function setFlags(app: App, flags: readonly Flag[], editing = -1): void {
  const { served } = timelineOf(app);
  const sorted = [...flags].sort((a, b) => a.t - b.t);
  const at = editing < 0 ? -1 : sorted.indexOf(flags[editing]!);
  setTimeline(app, { flags: sorted, editing: at });
  const own = sorted.filter(flag => !flag.isGiven).map(({ t, note }) => ({ t, note }));
  try {
    localStorage.setItem(flagKey(served), JSON.stringify(own));
  } catch {
    // a browser that keeps nothing: flags last as long as the page
  }
}

/** The flags that this browser kept. */
export function keptFlags(served: Served): Flag[] {
  try {
    const kept = JSON.parse(localStorage.getItem(flagKey(served)) ?? '[]') as unknown;
    return Array.isArray(kept) ? kept.flatMap(readFlag(false)) : [];
  } catch {
    return [];
  }
}

export function readFlag(isGiven: boolean): (value: unknown) => Flag[] {
  return value => {
    if (typeof value !== 'object' || value === null) return [];
    const { t, t_ns, note } = value as Record<string, unknown>;
    const at = typeof t_ns === 'number' ? t_ns : t;
    if (typeof at !== 'number' || !(at >= 0)) return [];
    return [{ t: at, note: typeof note === 'string' ? note.slice(0, 500) : '', isGiven }];
  };
}

export function toggleFlag(app: App, t: number, isNote: boolean, nearNs: number): void {
  const { flags } = timelineOf(app).state.get();
  const near = flags.findIndex(flag => Math.abs(flag.t - t) <= nearNs);
  if (near >= 0 && isNote) return setTimeline(app, { editing: near });
  if (near >= 0)
    return setFlags(
      app,
      flags.filter((_, i) => i !== near),
    );
  const next = [...flags, { t: Math.round(t), note: '', isGiven: false }];
  setFlags(app, next, isNote ? next.length - 1 : -1);
}

/** What is saved beside the trace, as trace.notes.json. */
export function notesText(app: App): string {
  const { flags } = timelineOf(app).state.get();
  const list = flags.map(({ t, note }) => ({ t_ns: t, note }));
  return `${JSON.stringify({ version: 1, flags: list }, null, 1)}\n`;
}

/* ---- What the timeline adds to the address: pinned threads, the selected call, order, levels. ---- */

function atText(app: App, call: CallAt | null): string {
  if (!call) return '';
  const { tid } = timelineOf(app).served.threads[call.thread]!;
  return `t${tid}.${call.depth}.${Math.round(call.start)}`;
}

export function writePlace(app: App): [string, string][] {
  const { served, state } = timelineOf(app);
  const { pins, sort, mode, modes, closed, hasPath } = state.get();
  const { call, isSetOnly } = served.state.get();
  const tidOf = (id: number): number => served.threads[id]!.tid;
  const own = [...modes].map(([id, one]) => `t${tidOf(id)}.${one}`);
  return [
    ['pin', pins.map(id => `t${tidOf(id)}`).join(',')],
    ['at', call ? atText(app, call) : timelineOf(app).placeAsked],
    ['tracks', sort === 'first' ? '' : sort],
    ['levels', [mode === 'few' ? '' : mode, ...own].filter(Boolean).join(',')],
    ['shut', [...closed].join(',')],
    ['setonly', isSetOnly ? '1' : ''],
    ['onpath', hasPath ? '' : '0'],
  ];
}

const MODES = new Set<string>(['few', 'all', 'compact']);

function readLevels(text: string, byTid: Map<number, number>): [TrackMode, Map<number, TrackMode>] {
  const modes = new Map<number, TrackMode>();
  let all: TrackMode = 'few';
  for (const part of text.split(',')) {
    const own = /^t(\d+)\.(\w+)$/.exec(part);
    const id = own && byTid.get(Number(own[1]));
    if (MODES.has(part)) all = part as TrackMode;
    if (own && MODES.has(own[2]!) && id !== null && id !== undefined)
      modes.set(id, own[2] as TrackMode);
  }
  return [all, modes];
}

/** Selects the call that an address names, once the server has said what it is. */
function readCall(app: App, text: string, byTid: Map<number, number>): void {
  const own = timelineOf(app);
  const { served } = own;
  served.source.cancel('place'); // what the address before named
  own.placeAsked = '';
  if (text === atText(app, served.state.get().call)) return;
  const match = /^t(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const thread = match && byTid.get(Number(match[1]));
  if (thread === null || thread === undefined) return setServed(served, { call: null });
  const params = { thread, depth: Number(match![2]), at: Number(match![3]) };
  const before = served.state.get().call;
  own.placeAsked = text;
  served.source
    .json('item', params, 'place')
    .then(json => {
      own.placeAsked = '';
      if (isSameCall(served.state.get().call, before))
        setServed(served, { call: callFrom(json, thread) });
    })
    .catch(() => undefined); // a call that is not there is not selected
}

export function readPlace(app: App, get: (key: string) => string): void {
  const { served } = timelineOf(app);
  const byTid = new Map(served.threads.map(thread => [thread.tid, thread.id]));
  const pins = get('pin')
    .split(',')
    .flatMap(text => (/^t\d+$/.test(text) ? (byTid.get(Number(text.slice(1))) ?? []) : []));
  const [mode, modes] = readLevels(get('levels'), byTid);
  const closed = get('shut').split(',').filter(Boolean).map(Number);
  setTimeline(app, {
    pins,
    mode,
    modes,
    closed: new Set(closed),
    sort: TRACK_SORTS.find(([key]) => key === get('tracks'))?.[0] ?? 'first',
    hasPath: get('onpath') !== '0',
  });
  setServed(served, { isSetOnly: get('setonly') === '1' });
  readCall(app, get('at'), byTid);
}

/* ---- The search box of the timeline: what it says becomes the set of calls that match, and the threads
 * that it names. ---- */

const PAUSE_MS = 180; // of typing
const MOST_CALLS = 50000;
const MOST_FUNCTIONS = 400; // of a question

function matchingThreads(app: App, query: Query): number[] | null {
  if (query.threads.length === 0) return null;
  const { threads } = timelineOf(app).served;
  return threads.filter(one => matchesThread(query, one.tid, one.name)).map(one => one.id);
}

function matchingFunctions(app: App, query: Query): number[] {
  const { names } = timelineOf(app).served;
  return names.name.flatMap((name, id) => (matchesName(query, name) ? [id] : []));
}

/** No call: the set of threads that a query names, when it asks for nothing else. */
function threadSet(threads: number[], title: string): CallSet {
  const n = threads.length;
  const none = new Float64Array(n).fill(-1);
  return {
    title,
    functions: [],
    minNs: 0,
    maxNs: Infinity,
    total: n + 1,
    n,
    thread: Uint32Array.from(threads),
    start: none,
    end: none,
    depth: new Uint16Array(n),
    fn: new Uint32Array(n),
  };
}

async function findSet(app: App, text: string): Promise<CallSet | null> {
  const query = parseQuery(text);
  if (query.isEmpty || query.error) return null;
  const { source } = timelineOf(app).served;
  const threads = matchingThreads(app, query);
  const asksCalls = query.asksFunction || query.min > 0 || query.max < Infinity;
  if (!asksCalls) return threads && threadSet(threads, text);
  const functions = query.asksFunction ? matchingFunctions(app, query) : [];
  const isNone = query.asksFunction && functions.length === 0;
  if (isNone || threads?.length === 0) return { ...threadSet([], text), total: 0 };
  if (functions.length > MOST_FUNCTIONS)
    throw new Error(`${plural(functions.length, 'function')} match: say more of the name`);
  const params = {
    fn: functions.length > 0 ? functions : undefined,
    threads: threads ?? undefined,
    min_ns: query.min,
    max_ns: query.max < Infinity ? query.max : undefined,
    limit: MOST_CALLS,
    sort: 'longest',
  };
  const answer = setFrom(await source.columns('calls', params, 'search'), {
    title: text,
    functions,
  });
  return { ...answer, minNs: query.min, maxNs: query.max };
}

/** Follows the search box while the timeline is shown. */
export function followSearch(app: App): () => void {
  const { served } = timelineOf(app);
  let timer = 0;
  let own: CallSet | null = null;
  let shown = '';
  let turn = 0;
  const search = async (): Promise<void> => {
    const { query } = app.state.get();
    const own_turn = ++turn;
    shown = query;
    served.source.cancel('search'); // this one may ask nothing
    setTimeline(app, { trouble: '' });
    setAsking(app, 'search', true);
    try {
      const set = await findSet(app, query);
      if (app.state.get().query !== query) return; // typed on: another search comes
      if (!set && served.state.get().set !== own) return;
      own = set;
      setServed(served, { set, isSetOnly: set ? served.state.get().isSetOnly : false });
    } finally {
      if (turn === own_turn) setAsking(app, 'search', false);
    }
    act.say(app, searchText(app, query));
  };
  const run = (): void =>
    void unlessSuperseded(search()).catch((error: unknown) =>
      setTimeline(app, { trouble: messageOf(error) }),
    );
  const off = app.state.subscribe(now => {
    if (now.screen !== 'timeline' || now.query === shown) return;
    window.clearTimeout(timer);
    timer = window.setTimeout(run, PAUSE_MS);
  });
  if (app.state.get().query.trim() !== '') run();
  return () => {
    window.clearTimeout(timer);
    off();
  };
}

/** How many the set has, for the search box. */
export function searchText(app: App, text: string): string {
  const { served, state } = timelineOf(app);
  const { set } = served.state.get();
  const { error } = parseQuery(text);
  if (error || text.trim() === '') return error;
  const { trouble, asking } = state.get();
  if (trouble) return trouble;
  const isAsked = asking.includes('search');
  if (isAsked || !set) return isAsked ? 'searching' : '';
  const threads = new Set(set.thread).size;
  if (set.n > 0 && set.start[0]! < 0) return plural(threads, 'thread');
  const more = set.n < set.total ? `, the ${set.n} longest marked` : '';
  return `${plural(set.total, 'call')}${more || ` in ${plural(threads, 'thread')}`}`;
}

/* ---- Which threads do most in the window: asked for while they are sorted by it. ---- */

const BUSY_PAUSE_MS = 250; // after the window moved last

async function load(app: App): Promise<void> {
  const { served } = timelineOf(app);
  const { t0, t1 } = app.state.get().window;
  const params = { from: Math.floor(t0), to: Math.ceil(t1), limit: 1 };
  const byTid = new Map(served.threads.map(thread => [thread.tid, thread.id]));
  const busy = new Float64Array(served.threads.length);
  for (const row of objects(await served.source.json('interval', params, 'busy'), 'threads')) {
    const id = row['thread'];
    const own = typeof id === 'number' ? id : byTid.get(num(row, 'tid'));
    if (own !== undefined) busy[own] = num(row, 'calls') + num(row, 'called_ns') * 1e-15;
  }
  setTimeline(app, { busy });
}

export function followBusy(app: App): () => void {
  const { state } = timelineOf(app);
  let timer = 0;
  const plan = (): void => {
    window.clearTimeout(timer);
    if (state.get().sort !== 'busy') return;
    timer = window.setTimeout(
      () => void unlessSuperseded(load(app)).catch(() => setTimeline(app, { busy: null })),
      BUSY_PAUSE_MS,
    );
  };
  const offs = [
    app.state.subscribe((now, before) => now.window !== before.window && plan()),
    state.subscribe((now, before) => now.sort !== before.sort && plan()),
  ];
  plan();
  return () => {
    window.clearTimeout(timer);
    offs.forEach(off => off());
  };
}
