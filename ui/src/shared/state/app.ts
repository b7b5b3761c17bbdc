// SPDX-License-Identifier: MIT
// The state of the page, and everything that is computed once from the trace.
import { Atom } from '../lib/atom';
import { makeBehaviours } from '../lib/behaviours';
import type { Behaviours } from '../lib/behaviours';
import { readPin, writePin } from '../lib/fragment';
import type { Pin, Place, Screen } from '../lib/fragment';
import { compactLayout, flatten, placePauses, tallLayout } from '../lib/layout';
import type { Flat, Layout, Still } from '../lib/layout';
import { FLAG, KIND } from '../lib/model';
import type { Span, Thread, Trace } from '../lib/model';
import { buildFamilies, someFamilies } from '../lib/names';
import type { Families } from '../lib/names';
import { linearMap, regimeMap } from '../lib/timemap';
import type { TimeMap } from '../lib/timemap';
import type { Assigned } from './colors';
import type { Live } from './live';
import type { ScreenSpec } from './screens';
import type { Served } from './served';
import type { Searches } from './sets';

export interface Item {
  thread: number;
  row: number;
}

export type SortKey = 'turn' | 'tid' | 'calls' | 'first' | 'wait' | 'still' | 'ran';
export const SORTS: [SortKey, string][] = [
  ['turn', 'order of first activity'],
  ['tid', 'thread id'],
  ['calls', 'calls'],
  ['first', 'first activity'],
  ['wait', 'wait'],
  ['still', 'stalled'],
  ['ran', 'ran'],
];

/** A menu: where on the page, when in the trace, and on what. */
export interface MenuAt {
  x: number;
  y: number;
  t: number;
  item: Item | null;
  thread: number;
}

export interface State {
  window: Span;
  crumbs: Span[];
  range: Span | null;
  /** The range is still being dragged. */
  isPreview: boolean;
  item: Item | null;
  query: string;
  isFiltered: boolean;
  isRegime: boolean;
  sort: SortKey;
  hidden: ReadonlySet<number>; // thread indices
  picked: ReadonlySet<number>; // thread indices, ticked in the list
  open: ReadonlySet<number>; // thread indices drawn tall
  unpacked: ReadonlySet<string>;
  /** Highlighted: an index into the families, or -1. */
  family: number;
  panel: 'interval' | 'outliers' | 'set';
  drawer: '' | 'story' | 'legend' | 'threads' | 'help' | 'commands' | 'find';
  /** Where a menu was asked for. */
  menu: MenuAt | null;
  /** Threads of the set, if only they are shown. */
  only: ReadonlySet<number> | null;
  theme: 'system' | 'light' | 'dark';
  said: string;
  screen: Screen;
  /** Counts the models that `app.model` was. */
  epoch: number;
  pins: readonly Pin[];
  /** Searches of before, the latest first. */
  past: readonly string[];
  /** Colours that a person assigned. */
  colors: Assigned;
}

export function initialState(trace: Trace): State {
  return {
    window: { t0: 0, t1: Math.max(1, trace.duration) },
    crumbs: [],
    range: null,
    isPreview: false,
    item: null,
    query: '',
    isFiltered: false,
    isRegime: false,
    sort: 'turn',
    hidden: new Set(),
    picked: new Set(),
    open: new Set(),
    unpacked: new Set(),
    family: -1,
    panel: 'interval',
    drawer: '',
    menu: null,
    only: null,
    theme: 'system',
    said: '',
    screen: 'overview',
    epoch: 0,
    pins: [],
    past: [],
    colors: { colors: new Map(), isRestGrey: false },
  };
}

/** Time of calls that are open at the end is in no closed call: it comes from the rows. */
function openSelf(trace: Trace): Float64Array {
  const extra = new Float64Array(trace.functions.n);
  for (const { rows } of trace.threads)
    for (let i = 0; i < rows.n; i++)
      if (
        rows.kind[i] === KIND.CALL &&
        rows.flags[i]! & (FLAG.CUT_START | FLAG.CUT_END) &&
        rows.fn[i]! >= 0
      )
        extra[rows.fn[i]!]! += rows.self[i]!;
  return extra;
}

/** The trace with what the screen derives from it; heavy parts are made when first asked for. */
export class Model {
  readonly families: Families;
  readonly linear: TimeMap;
  /** null: the page has no ribbons. */
  readonly behaviours: Behaviours | null;
  readonly own = new Map<string, unknown>();
  private regime: TimeMap | null = null;
  private readonly compact = new Map<number, Layout>();
  private readonly tall = new Map<number, Layout>();
  private readonly stills = new Map<number, Still[]>();
  private readonly flats = new Map<number, Flat[]>();
  private readonly longest = new Map<number, Flat | null>();

  /** `all`: the families of a served trace, so that hues are those of its other screens. */
  constructor(
    readonly trace: Trace,
    all: Families | null = null,
  ) {
    const { functions } = trace;
    this.families = all ? someFamilies(functions, all) : buildFamilies(functions, openSelf(trace));
    this.linear = linearMap(trace.duration);
    this.behaviours = trace.shapes && makeBehaviours(trace, trace.shapes, this.families.short);
  }

  map(isRegime: boolean): TimeMap {
    if (!isRegime) return this.linear;
    this.regime ??= regimeMap(this.trace.threads, this.trace.duration);
    return this.regime;
  }

  layout(thread: Thread, isTall: boolean): Layout {
    const cache = isTall ? this.tall : this.compact;
    let layout = cache.get(thread.index);
    if (!layout) {
      layout = isTall ? tallLayout(thread) : compactLayout(thread);
      cache.set(thread.index, layout);
    }
    return layout;
  }

  stillsOf(thread: Thread): Still[] {
    let stills = this.stills.get(thread.index);
    if (!stills) this.stills.set(thread.index, (stills = placePauses(thread)));
    return stills;
  }

  flatOf(thread: Thread): Flat[] {
    let flat = this.flats.get(thread.index);
    if (!flat) this.flats.set(thread.index, (flat = flatten(thread)));
    return flat;
  }

  /** The longest part of a thread's line; the first of several. */
  longestOf(thread: Thread): Flat | null {
    let longest = this.longest.get(thread.index);
    if (longest === undefined) {
      longest = null;
      for (const part of this.flatOf(thread))
        if (!longest || part.end - part.start > longest.end - longest.start) longest = part;
      this.longest.set(thread.index, longest);
    }
    return longest;
  }

  name(fn: number): string {
    return fn < 0 ? 'no function' : this.families.short[fn]!;
  }

  fullName(fn: number): string {
    return fn < 0 ? 'no function' : this.trace.functions.name[fn]!;
  }
}

export interface App {
  /** Replaced as a whole when other regimes are shown: State.epoch tells. */
  model: Model;
  state: Atom<State>;
  /** What the screens keep of their own (lib/own.ts). */
  own: Map<string, unknown>;
  screens: readonly ScreenSpec[];
  /** null: the page is a report, with all its data inside. */
  served: Served | null;
  /** Where screens ask that both have: `served`, or the answers inside the report; null: none. */
  answers: Served | null;
  /** Where a served page's rows come from, and the sets of its searches. */
  live: Live | null;
  searches: Searches | null;
  /** What only the page can do. */
  copyLink: () => void;
  openTrace: (id: number) => void;
}

export function makeApp(
  trace: Trace,
  screens: readonly ScreenSpec[],
  served: Served | null = null,
  answers: Served | null = served,
): App {
  const app: App = {
    model: new Model(trace, served?.families),
    state: new Atom(initialState(trace)),
    own: new Map(),
    screens,
    served,
    answers,
    live: null,
    searches: null,
    copyLink: () => undefined,
    openTrace: () => undefined,
  };
  for (const { own } of screens) own?.of(app);
  return app;
}

/** A row by what it is, whatever rows stand before it. */
export interface RowAt {
  thread: number;
  kind: number;
  level: number;
  start: number;
  end: number;
}

export function rowAt(model: Model, item: Item): RowAt | null {
  const rows = model.trace.threads[item.thread]?.rows;
  const i = item.row;
  if (!rows || i >= rows.n) return null;
  const [start, end] = [rows.start[i]!, rows.end[i]!];
  return { thread: item.thread, kind: rows.kind[i]!, level: rows.level[i]!, start, end };
}

/** "t7.0.3.1200-4500": thread, kind, level, ns. */
export function writeRow(tid: number, { kind, level, start, end }: RowAt): string {
  return `t${tid}.${kind}.${level}.${start}-${end}`;
}

export function readRow(text: string, threadOf: (tid: number) => number): RowAt | null {
  const match = /^t(\d+)\.(\d)\.(\d{1,5})\.(\d{1,16})-(\d{1,16})$/.exec(text);
  if (!match) return null;
  const [tid, kind, level, start, end] = match.slice(1).map(Number) as [
    ...[number, number, number, number, number],
  ];
  const thread = threadOf(tid);
  return thread < 0 ? null : { thread, kind, level, start, end };
}

/** The row of the same thing: a part of the trace cuts calls at its borders, so that a call of the
 * same depth that holds this one, or lies within it, is this one. */
export function findRow(model: Model, at: RowAt): Item | null {
  const rows = model.trace.threads[at.thread]?.rows;
  if (!rows) return null;
  let cut = -1;
  for (let i = 0; i < rows.n; i++) {
    if (rows.kind[i] !== at.kind || rows.level[i] !== at.level) continue;
    const [start, end] = [rows.start[i]!, rows.end[i]!];
    if (start === at.start && end === at.end) return { thread: at.thread, row: i };
    const holds = start <= at.start && at.end <= end && at.start < end;
    const isWithin = at.start <= start && end <= at.end && end > start;
    if (at.kind === KIND.CALL && (holds || isWithin) && rows.count[i] === 1) cut = i;
  }
  return cut < 0 ? null : { thread: at.thread, row: cut };
}

/** Shows other rows of the same trace. What is selected stays if they have it; of an item that they
 * do not have the time stays, as the range. */
export function replaceModel(app: App, model: Model): void {
  const before = app.model;
  app.model = model;
  app.state.update(now => {
    const at = now.item && rowAt(before, now.item);
    const item = at && findRow(model, at);
    const key = before.families.list[now.family]?.key;
    const isLost = at !== null && item === null && now.range === null && at.end > at.start;
    return {
      ...now,
      epoch: now.epoch + 1,
      item,
      range: isLost ? { t0: at.start, t1: at.end } : now.range,
      family: key === undefined ? -1 : model.families.list.findIndex(one => one.key === key),
    };
  });
}

function limitSpan(span: Span | null, duration: number): Span | null {
  if (!span) return null;
  const t0 = Math.max(0, Math.min(span.t0, duration - 1));
  const t1 = Math.min(span.t1, Math.max(1, duration));
  return t1 > t0 ? { t0, t1 } : null;
}

/** Fragment -> state. What the trace does not have is left out. */
export function applyPlace(app: App, place: Place): void {
  const { model, state } = app;
  const { trace, families } = model;
  const byTid = new Map(trace.threads.map(thread => [thread.tid, thread.index]));
  const indices = (tids: number[]): Set<number> =>
    new Set(tids.map(tid => byTid.get(tid)).filter((i): i is number => i !== undefined));
  const thread = place.item ? byTid.get(place.item.tid) : undefined;
  const hasItem = thread !== undefined && place.item!.row < trace.threads[thread]!.rows.n;
  const fresh = initialState(trace);
  state.update(now => ({
    ...now,
    window: limitSpan(place.window, trace.duration) ?? fresh.window,
    crumbs: place.crumbs,
    range: limitSpan(place.range, trace.duration),
    isPreview: false,
    item: hasItem ? { thread, row: place.item!.row } : null,
    query: place.query,
    isFiltered: place.isFiltered && !app.served,
    isRegime: place.isRegime,
    sort: SORTS.find(([key]) => key === place.sort)?.[0] ?? 'turn',
    hidden: indices(place.hidden),
    open: indices(place.open),
    unpacked: new Set(place.unpacked),
    pins: place.pins.map(readPin).filter((pin): pin is Pin => pin !== null),
    past: place.past.length > 0 ? place.past : now.past,
    family: families.list.findIndex(entry => entry.key === place.family),
    screen: (app.screens.find(({ key }) => key === place.screen) ?? app.screens[0]!).key,
  }));
  app.served?.state.update(now => ({ ...now, isSetOnly: place.isFiltered }));
  for (const screen of app.screens) screen.read?.(app, key => place.parts[key] ?? '');
}

/** State -> fragment. */
export function placeOf(app: App): Place {
  const { model, state } = app;
  const { trace, families } = model;
  const now = state.get();
  const tids = (set: ReadonlySet<number>): number[] =>
    [...set].map(i => trace.threads[i]!.tid).sort((a, b) => a - b);
  const isWhole = now.window.t0 === 0 && now.window.t1 >= trace.duration;
  return {
    window: isWhole ? null : now.window,
    crumbs: now.crumbs,
    range: now.isPreview ? null : now.range,
    query: now.query,
    isFiltered: now.isFiltered || app.served?.state.get().isSetOnly === true,
    isRegime: now.isRegime,
    sort: now.sort === 'turn' ? '' : now.sort,
    hidden: tids(now.hidden),
    open: tids(now.open),
    unpacked: [...now.unpacked],
    // a served page has rows of many cuts, and names an item by what it is
    item:
      now.item && !app.live
        ? { tid: trace.threads[now.item.thread]!.tid, row: now.item.row }
        : null,
    pins: now.pins.map(writePin),
    past: [...now.past],
    family: families.list[now.family]?.key ?? '',
    screen: now.screen,
    parts: Object.fromEntries(app.screens.flatMap(screen => screen.write?.(app) ?? [])),
  };
}
