// SPDX-License-Identifier: MIT
// All that a person can do, by name: for the palette, the help and the keys.
import { DIGITS } from '../lib/fragment';
import { NO_ASK } from '../lib/search';
import * as act from './actions';
import { SORTS } from './app';
import type { App } from './app';
import { explainSelection } from './paths';
import { cardOf, goToPin, togglePin } from './pins';
import { currentScreen } from './screens';
import type { Command } from './screens';
import { listSet, stepSet, toggleSetOnly } from './sets';

const THEMES = ['system', 'light', 'dark'] as const;

function step(app: App, direction: 1 | -1): void {
  if (stepSet(app, direction)) return;
  const { key, search } = currentScreen(app);
  if (search) search.step(app, direction);
  else if (key === 'overview') act.stepHit(app, direction);
}

function toggleHighlight(app: App): void {
  if (!toggleSetOnly(app)) act.toggleFilter(app);
}

function focusPins(): void {
  document.querySelector<HTMLElement>('#pins .row-link')?.focus();
}

function pinCommands(app: App): Command[] {
  return app.state.get().pins.flatMap(pin => {
    const card = cardOf(app, pin);
    return card ? { name: `Pinned: ${card.sentence}`, run: (a: App) => goToPin(a, pin) } : [];
  });
}

/** Searches of before, to be done again. */
function pastCommands(app: App): Command[] {
  return app.state.get().past.map(query => ({
    name: `Search again: ${query}`,
    run: (a: App) => act.setQuery(a, query),
  }));
}

const COMMON: readonly Command[] = [
  { name: 'Search', key: '/', run: () => document.getElementById('search')?.focus() },
  {
    name: 'Commands',
    key: '>',
    also: ['Ctrl+Shift+P'],
    run: app => act.toggleDrawer(app, 'commands'),
    isFor: app => app.served !== null,
  },
  {
    name: 'Find a thread or a function',
    key: 'Ctrl+P',
    run: app => act.toggleDrawer(app, 'find'),
    isFor: app => app.served !== null,
  },
  {
    name: 'Pin the card of what is selected, or close it',
    key: 'p',
    run: togglePin,
    isFor: app => currentScreen(app).cards !== undefined,
  },
  {
    name: 'Go to the pinned cards',
    key: 'P',
    run: focusPins,
    isFor: app => app.state.get().pins.length > 0,
  },
  { name: 'Zoom to the range or the selected item', key: 'z', run: act.commitRange },
  {
    name: 'Critical path of the selected call, or of the range',
    key: 'x',
    run: explainSelection,
    isFor: app => app.screens.some(({ key }) => key === 'path'),
  },
  { name: 'One crumb back', key: 'Backspace', run: act.back },
  {
    name: 'Show the whole trace',
    key: 'Home',
    run: act.resetView,
    isFor: app => app.state.get().screen !== 'findings', // there it scrolls
  },
  { name: 'Linear or regime time', key: 't', run: act.toggleTime },
  { name: 'Highlight or filter the set', key: 'h', run: toggleHighlight },
  { name: 'Next of the set', key: '.', run: app => step(app, 1) },
  { name: 'Previous of the set', key: ',', run: app => step(app, -1) },
  { name: 'List the set', run: listSet, isFor: app => !!app.served?.state.get().set },
  { name: 'Drop the set', run: act.clearSet, isFor: app => !!app.served?.state.get().set },
  { name: 'Clear: selection, highlight, filter, search', key: 'Escape', run: act.clear },
  {
    name: 'Copy a link to this view',
    key: 'Ctrl+L',
    run: app => app.copyLink(),
    isFor: app => app.served !== null,
  },
  { name: 'Keys and mouse', key: '?', run: app => act.toggleDrawer(app, 'help') },
  { name: 'Threads: tick, hide, sort', run: app => act.toggleDrawer(app, 'threads') },
  { name: 'Show all threads', run: act.showAll },
  { name: 'List all outliers', run: app => act.showPanel(app, 'outliers') },
];

function regimeCommands({ live }: App): Command[] {
  if (!live) return [];
  const { isHeld, ask } = live.state.get();
  return [
    {
      name: isHeld ? 'Regimes: of the window again' : 'Regimes: hold those of the whole trace',
      run: () => live.hold(!isHeld),
    },
    ask.preset === 'fine'
      ? { name: 'Regimes: preset paper', run: () => live.change({ ...ask, preset: '' }) }
      : { name: 'Regimes: preset fine', run: () => live.change({ ...ask, preset: 'fine' }) },
    { name: 'Regimes: no limit of rows', run: () => live.change({ ...ask, glyphs: 0 }) },
    { name: 'Regimes: thresholds of the program', run: () => live.change(NO_ASK) },
  ];
}

function placeCommands({ screens, served }: App): Command[] {
  const list: Command[] = screens.map(({ key, name }) => ({
    name: `Screen: ${name}`,
    key: String(DIGITS[key]),
    run: app => act.setScreen(app, key),
  }));
  for (const { id, name } of served?.traces ?? [])
    if (id !== served!.source.trace)
      list.push({ name: `Trace: ${name}`, run: app => app.openTrace(id) });
  return list;
}

/** A key that the screen has for something else does not lead to a command of all screens. */
function withoutKeysOf(own: readonly Command[], rest: readonly Command[]): Command[] {
  const taken = new Set(own.flatMap(({ key = '', also = [] }) => [key, ...also]));
  return rest.map(one => (taken.has(one.key ?? '') ? { ...one, key: undefined } : one));
}

/** Commands that hold now: those of the screen first. */
export function commandsOf(app: App): Command[] {
  const own = currentScreen(app).commands?.(app) ?? [];
  const sorts: Command[] = SORTS.map(([key, name]) => ({
    name: `Sort threads by ${name}`,
    run: (a: App) => act.setSort(a, key),
  }));
  const themes: Command[] = THEMES.map(theme => ({
    name: `Theme: ${theme}`,
    run: (a: App) => act.setTheme(a, theme),
  }));
  const common = withoutKeysOf(own, COMMON);
  const all = [...own, ...placeCommands(app), ...common, ...regimeCommands(app)];
  const kept = [...pinCommands(app), ...pastCommands(app)];
  return [...all, ...kept, ...sorts, ...themes].filter(({ isFor }) => isFor?.(app) ?? true);
}

/** "Ctrl+Shift+P" of an event, as commands name their keys. */
export function keyOf(event: KeyboardEvent): string {
  const isLetter = event.key.length === 1;
  const key = event.ctrlKey || event.metaKey ? event.key.toUpperCase() : event.key;
  return [
    (event.ctrlKey || event.metaKey) && 'Ctrl',
    event.altKey && 'Alt',
    event.shiftKey && (event.ctrlKey || !isLetter) && 'Shift',
    key,
  ]
    .filter(Boolean)
    .join('+');
}

/** Runs what a key means here; false: nothing. */
export function runKeyed(app: App, event: KeyboardEvent): boolean {
  const key = keyOf(event);
  const found = commandsOf(app).find(one => one.key === key || one.also?.includes(key));
  found?.run(app);
  return found !== undefined;
}

/** How well `text` is in `name`: all its words, in any order; 0: not at all. */
export function matchScore(name: string, text: string): number {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = name.toLowerCase();
  let score = 1;
  for (const word of wanted) {
    const at = lower.indexOf(word);
    if (at >= 0) score += at === 0 || /[^a-z0-9]/.test(lower[at - 1]!) ? 4 : 2;
    else if (!isSubsequence(lower, word)) return 0;
  }
  return score + 1 / (1 + name.length);
}

function isSubsequence(name: string, word: string): boolean {
  let at = 0;
  for (const letter of name) if (letter === word[at]) at++;
  return at === word.length;
}
