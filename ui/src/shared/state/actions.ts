// SPDX-License-Identifier: MIT
// What a person can do: every change of the state has a name here.
import { exact, duration, integer, percent, plural } from '../lib/format';
import { MOST_PAST } from '../lib/fragment';
import { findPacks } from '../lib/layout';
import { FLAG, KIND } from '../lib/model';
import type { Outlier, Span } from '../lib/model';
import { initialState } from './app';
import type { App, Item, SortKey, State } from './app';
import { findHits } from './rows';
import { currentScreen, timeMap } from './screens';

const SHORTEST_WINDOW = 10; // ns: below it a nanosecond is wider than a finger

export function set(app: App, change: Partial<State>): void {
  app.state.update(state => ({ ...state, ...change }));
}

export function setWindow(app: App, t0: number, t1: number): void {
  const whole = Math.max(1, app.model.trace.duration);
  const width = Math.min(whole, Math.max(SHORTEST_WINDOW, t1 - t0));
  const from = Math.min(Math.max(0, t0 + (t1 - t0 - width) / 2), whole - width);
  const start = Math.round(from);
  set(app, { window: { t0: start, t1: Math.min(whole, Math.round(from + width)) } });
}

/** Zooms by `factor` (> 1: out) and keeps the place under `u` (0..1 of the width). */
export function zoom(app: App, factor: number, u = 0.5): void {
  const { window } = app.state.get();
  const map = timeMap(app);
  const [u0, u1] = [map.at(window.t0), map.at(window.t1)];
  const at = u0 + (u1 - u0) * u;
  const from = Math.max(0, at - (at - u0) * factor);
  setWindow(app, map.time(from), map.time(Math.min(1, at + (u1 - at) * factor)));
}

export function pan(app: App, share: number): void {
  const { window } = app.state.get();
  const map = timeMap(app);
  const [u0, u1] = [map.at(window.t0), map.at(window.t1)];
  const by = Math.min(1 - u1, Math.max(-u0, (u1 - u0) * share));
  setWindow(app, map.time(u0 + by), map.time(u1 + by));
}

export function setRange(app: App, range: Span | null, isPreview: boolean): void {
  set(app, { range, isPreview, panel: 'interval' });
}

/** Makes the range (or the selected item's time) the window; the old window becomes a crumb. */
export function commitRange(app: App): void {
  const state = app.state.get();
  const span = state.range ?? focusSpan(app);
  if (!span) return;
  const crumbs = [...state.crumbs, state.window];
  set(app, { crumbs, isPreview: false, range: null });
  setWindow(app, span.t0, span.t1);
}

export function backTo(app: App, depth: number): void {
  const { crumbs } = app.state.get();
  const target = crumbs[depth];
  if (target) set(app, { window: target, crumbs: crumbs.slice(0, depth) });
}

/** One crumb back; without one, the whole trace. */
export function back(app: App): void {
  const { crumbs } = app.state.get();
  if (crumbs.length > 0) backTo(app, crumbs.length - 1);
  else set(app, { window: initialState(app.model.trace).window });
}

export function resetView(app: App): void {
  set(app, { window: initialState(app.model.trace).window, crumbs: [] });
}

export function select(app: App, item: Item | null): void {
  set(app, { item, panel: 'interval', said: item ? sentence(app, item) : '' });
}

/** Esc: first what is on top, then the selection, then highlights. */
export function clear(app: App): void {
  const state = app.state.get();
  if (state.menu) set(app, { menu: null });
  else if (state.drawer) set(app, { drawer: '' });
  else if (currentScreen(app).clear?.(app)) return;
  else if (state.range) clearItem(app);
  else if (state.family >= 0) set(app, { family: -1 });
  else if (state.isFiltered) set(app, { isFiltered: false });
  else clearSet(app);
}

export function clearItem(app: App): void {
  set(app, { item: null, range: null, isPreview: false, said: '' });
}

/** The set goes, and the search that made it. */
export function clearSet(app: App): void {
  if (app.served?.state.get().set)
    app.served.state.update(now => ({ ...now, set: null, isSetOnly: false }));
  set(app, { query: '', isFiltered: false, panel: 'interval' });
}

/** The time of what is selected on the screen at hand. */
export function focusSpan(app: App): Span | null {
  return currentScreen(app).focus?.(app) ?? null;
}

export function itemSpan(app: App, item: Item | null): Span | null {
  if (!item) return null;
  const { rows } = app.model.trace.threads[item.thread]!;
  let row = item.row;
  while (rows.kind[row] !== KIND.CALL && rows.kind[row] !== KIND.GAP && rows.parent[row]! >= 0) {
    if (rows.kind[row] === KIND.EXPRESSION) break;
    row = rows.parent[row]!;
  }
  return { t0: rows.start[row]!, t1: Math.max(rows.end[row]!, rows.start[row]! + 1) };
}

/** Brings an item into view with some room around it. */
function goTo(app: App, item: Item): void {
  const span = itemSpan(app, item)!;
  const { window, crumbs } = app.state.get();
  const width = span.t1 - span.t0;
  const isVisible = span.t0 >= window.t0 && span.t1 <= window.t1;
  const shows = width >= (window.t1 - window.t0) / 50;
  select(app, item);
  reveal(app, item.thread);
  if (isVisible && shows) return;
  set(app, { crumbs: [...crumbs, window] });
  const room = Math.max(width * 0.5, 50);
  setWindow(app, span.t0 - room, span.t1 + room);
}

/** A hidden thread must be shown to be jumped to. */
export function reveal(app: App, thread: number): void {
  const { hidden } = app.state.get();
  if (!hidden.has(thread)) return;
  const rest = new Set(hidden);
  rest.delete(thread);
  set(app, { hidden: rest });
}

/** The row that shows an outlier: the call itself, or the node or "other" that holds it. */
export function rowOfOutlier(app: App, outlier: Outlier): Item {
  const { rows } = app.model.trace.threads[outlier.thread]!;
  let best = 0;
  for (let i = 0; i < rows.n; ) {
    const isInside = rows.start[i]! <= outlier.start && outlier.end <= rows.end[i]!;
    const isSame = isInside && rows.start[i] === outlier.start && rows.end[i] === outlier.end;
    if (isSame && (outlier.kind === 'gap' ? rows.kind[i] === KIND.GAP : rows.fn[i] === outlier.fn))
      return { thread: outlier.thread, row: i };
    if (isInside && rows.kind[i] === KIND.EXPRESSION)
      return { thread: outlier.thread, row: nodeOf(app, outlier, i) };
    if (isInside && rows.kind[i] === KIND.CALL) best = i;
    i = isInside ? i + 1 : rows.next[i]!;
  }
  return { thread: outlier.thread, row: best };
}

function nodeOf(app: App, outlier: Outlier, box: number): number {
  const { rows } = app.model.trace.threads[outlier.thread]!;
  let best = box;
  for (let i = box + 1; i < rows.next[box]!; i++)
    if (rows.kind[i] === KIND.NODE && rows.fn[i] === outlier.fn && rows.flags[i]! & FLAG.OUTLIER) {
      if (best === box || rows.max[i]! >= rows.max[best]!) best = i;
    }
  return best;
}

export function goToOutlier(app: App, outlier: Outlier): void {
  goTo(app, rowOfOutlier(app, outlier));
}

export function setQuery(app: App, query: string): void {
  set(app, { query, isFiltered: query.trim() === '' ? false : app.state.get().isFiltered });
}

/** A search that was made is kept: once, the latest first. */
export function remember(app: App): void {
  const { query, past } = app.state.get();
  const text = query.replace(/\s+/g, ' ').trim();
  if (text === '' || past[0] === text) return;
  set(app, { past: [text, ...past.filter(one => one !== text)].slice(0, MOST_PAST) });
}

export function toggleFilter(app: App): void {
  const { query, isFiltered, family } = app.state.get();
  if (query.trim() !== '') return set(app, { isFiltered: !isFiltered });
  const entry = app.model.families.list[family];
  if (!entry) return;
  const names = entry.functions.map(fn => app.model.fullName(fn));
  const pattern = names.length === 1 ? `"${names[0]}"` : `/${entry.key.replace(/\W/g, '\\$&')}/`;
  set(app, { query: `fn:${pattern}`, isFiltered: true });
}

export function stepHit(app: App, direction: 1 | -1): void {
  const { query, item } = app.state.get();
  const hits = findHits(app.model, query);
  if (!hits || hits.items.length === 0) return;
  const at = hits.items.findIndex(hit => hit.thread === item?.thread && hit.row === item.row);
  const n = hits.items.length;
  const next = at < 0 ? (direction > 0 ? 0 : n - 1) : (at + direction + n) % n;
  goTo(app, hits.items[next]!);
}

export function toggleFamily(app: App, family: number): void {
  set(app, { family: app.state.get().family === family ? -1 : family });
}

/** A thread that is packed with others stands alone. */
export function unpack(app: App, thread: number): void {
  const { unpacked } = app.state.get();
  const { packs } = findPacks(app.model.trace, app.model.trace.threads, app.model.families.short);
  const pack = packs.find(({ threads }) => threads.some(({ index }) => index === thread));
  if (pack && !unpacked.has(pack.key)) togglePack(app, pack.key);
}

export function openMenu(app: App, menu: State['menu']): void {
  set(app, { menu });
}

export function setSort(app: App, sort: SortKey): void {
  set(app, { sort });
}

export function toggleTime(app: App): void {
  set(app, { isRegime: !app.state.get().isRegime });
}

function flipped<T>(from: ReadonlySet<T>, value: T): Set<T> {
  const next = new Set(from);
  if (!next.delete(value)) next.add(value);
  return next;
}

export function toggleTall(app: App, thread: number): void {
  set(app, { open: flipped(app.state.get().open, thread) });
}

export function togglePack(app: App, key: string): void {
  set(app, { unpacked: flipped(app.state.get().unpacked, key) });
}

export function pick(app: App, thread: number): void {
  set(app, { picked: flipped(app.state.get().picked, thread) });
}

export function pickOnly(app: App, threads: Iterable<number>): void {
  set(app, { picked: new Set(threads) });
}

export function hide(app: App, threads: Iterable<number>): void {
  set(app, { hidden: new Set([...app.state.get().hidden, ...threads]), picked: new Set() });
}

export function showOnly(app: App, threads: ReadonlySet<number>): void {
  const hidden = app.model.trace.threads.map(t => t.index).filter(i => !threads.has(i));
  set(app, { hidden: new Set(hidden), picked: new Set() });
}

export function showAll(app: App): void {
  set(app, { hidden: new Set(), picked: new Set() });
}

export function toggleDrawer(app: App, drawer: State['drawer']): void {
  set(app, { drawer: app.state.get().drawer === drawer ? '' : drawer });
}

export function showPanel(app: App, panel: State['panel']): void {
  set(app, { panel });
}

export function setScreen(app: App, screen: State['screen']): void {
  set(app, { screen, said: '' });
}

export function setTheme(app: App, theme: State['theme']): void {
  set(app, { theme });
}

export function say(app: App, said: string): void {
  set(app, { said });
}

const KIND_NAMES = [
  'call',
  'run of short calls',
  'node',
  'other functions',
  'no call',
  'sub-pixel calls',
];

/** What an item is, in one line. */
export function title(app: App, { thread, row }: Item): string {
  const { rows } = app.model.trace.threads[thread]!;
  const kind = rows.kind[row]!;
  if (kind === KIND.CALL && rows.count[row]! > 1)
    return `${plural(rows.count[row]!, 'call')}, the longest ${app.model.fullName(rows.fn[row]!)}`;
  if (kind === KIND.CALL || kind === KIND.NODE) return app.model.fullName(rows.fn[row]!);
  if (kind === KIND.OTHER) return `other (${plural(rows.folded[row]!, 'function')})`;
  if (kind === KIND.EXPRESSION) return `${plural(rows.count[row]!, 'short call')}, folded`;
  return kind === KIND.GAP ? 'no call' : plural(rows.count[row]!, 'sub-pixel call');
}

/** The one-sentence announcement of an item: the same facts as its tool-tip. */
export function sentence(app: App, item: Item): string {
  const thread = app.model.trace.threads[item.thread]!;
  const { rows } = thread;
  const i = item.row;
  const length = rows.end[i]! - rows.start[i]!;
  const isNode = rows.kind[i] === KIND.NODE || rows.kind[i] === KIND.OTHER;
  const time = isNode
    ? `${duration(rows.sum[i]!)} in ${plural(rows.count[i]!, 'call')}, folded`
    : duration(length);
  const share = percent(length / Math.max(1, thread.end - thread.start));
  const outlier = rows.flags[i]! & FLAG.OUTLIER ? ', unusual for its function' : '';
  const place = `starts at ${exact(rows.start[i]!)}`;
  const kind = KIND_NAMES[rows.kind[i]!]!;
  return `${title(app, item)}, ${time}, ${kind}, ${thread.label}, ${place}, depth ${integer(rows.level[i]!)}${
    isNode ? '' : `, ${share} of the thread`
  }${outlier}.`;
}

/** The range that was committed or selected last; null: the whole trace. */
export function committedSpan(app: App): Span | null {
  const { range, isPreview, crumbs } = app.state.get();
  if (range && !isPreview) return range;
  return crumbs.length > 0 ? viewSpan(app) : null;
}

/** The window, unless it shows everything. */
export function viewSpan(app: App): Span | null {
  const { window } = app.state.get();
  const isWhole = window.t0 <= 0 && window.t1 >= app.model.trace.duration;
  return isWhole ? null : window;
}
