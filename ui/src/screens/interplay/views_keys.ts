// SPDX-License-Identifier: MIT
// What can be done on the Interplay by key: one list, for the keys, the palette and the help.
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import type { Command } from '../../shared/state/screens';
import { interplayOf, MODES, TABS } from './state_interplay';
import type { Interplay, PlateHit } from './state_interplay';
import { moveThread, stepCall } from './state_walk';
import { TAB_NAMES } from './views_panel';

/** What an action is done to. */
interface At {
  app: App;
  screen: Interplay;
  /** The current thread, or the focus. */
  thread: number;
  /** Steps are so many times as large: 3 with Shift. */
  fast: number;
}

interface Action {
  name: string;
  /** As `event.key` names them, after "Shift+" for those that are no letters; the first is shown. */
  keys: readonly string[];
  /** For keys that stay where they are on every keyboard: with and without Shift. */
  code?: string;
  run: (at: At) => void;
}

export function nextMode(screen: Interplay): void {
  const { mode } = screen.state.get();
  const next = MODES[(MODES.indexOf(mode) + 1) % MODES.length]!;
  screen.set({ mode: next, hover: null, pointer: null });
}

function nextThread(screen: Interplay, by: number): void {
  const { focus, contexts, current } = screen.state.get();
  const all = [focus, ...contexts];
  const at = Math.max(0, all.indexOf(current));
  const next = all[(at + by + all.length) % all.length]!;
  screen.set({ current: next });
  screen.say(`${screen.title(next)} is current.`);
}

function zoomTo(screen: Interplay, hit: PlateHit | null): void {
  if (!hit) return;
  const margin = Math.max(10, (hit.end - hit.start) * 0.1);
  screen.setView(hit.thread, { t0: hit.start - margin, t1: hit.end + margin });
}

function zoom({ screen, thread, fast }: At, factor: number): void {
  const { t0, t1 } = screen.view(thread);
  screen.zoom(thread, factor ** fast, (t0 + t1) / 2);
}

function nextTab(screen: Interplay): void {
  const { tab } = screen.state.get();
  const next = TABS[(TABS.indexOf(tab) + 1) % TABS.length]!;
  screen.set({ tab: next });
  screen.say(TAB_NAMES.find(([key]) => key === next)![1]);
}

function toggleObjects(screen: Interplay): void {
  const isByObject = !screen.state.get().isByObject;
  screen.set({ isByObject });
  screen.say(`Curves are coloured by ${isByObject ? 'object' : 'thread'}.`);
}

const between = (low: number, value: number, high: number): number =>
  Math.min(high, Math.max(low, value));

function moveInner(screen: Interplay, by: number): void {
  const { inner } = screen.state.get();
  screen.set({ inner: between(0.15, (inner > 0 ? inner : 0.6) + by, 0.95) });
}

function moveSplit(screen: Interplay, by: number): void {
  screen.set({ split: between(0.1, screen.drawnSplit + by, 0.85) });
}

function rangeOfSelected({ app, screen }: At): void {
  const { selected } = screen.state.get();
  if (!selected) return screen.say('Select a wait or a call first.');
  act.setRange(app, { t0: Math.floor(selected.start), t1: Math.ceil(selected.end) }, false);
}

/** A range is committed; of a context thread, it is made the main view. */
function enter({ app, screen, thread }: At): void {
  if (thread === screen.state.get().focus) act.commitRange(app);
  else screen.show(thread);
}

const ACTIONS: readonly Action[] = [
  {
    ...{ name: 'next wait of the current thread', keys: ['.', 'ArrowRight'], code: 'Period' },
    run: ({ screen }) => screen.step(1),
  },
  {
    ...{ name: 'the wait before', keys: [',', 'ArrowLeft'], code: 'Comma' },
    run: ({ screen }) => screen.step(-1),
  },
  {
    ...{ name: 'to the release that ended the wait', keys: ['['] },
    run: ({ screen }) => screen.toCause(),
  },
  {
    ...{ name: 'to the next wait that the current thread ended', keys: [']'] },
    run: ({ screen }) => screen.toEffect(),
  },
  {
    ...{ name: 'critical path of the selected wait or call', keys: ['x'] },
    run: ({ screen }) => screen.explain(),
  },
  {
    ...{ name: 'next call', keys: ['Shift+ArrowRight'] },
    run: ({ screen }) => stepCall(screen, 'next'),
  },
  {
    ...{ name: 'the call before', keys: ['Shift+ArrowLeft'] },
    run: ({ screen }) => stepCall(screen, 'before'),
  },
  {
    ...{ name: 'what the call called', keys: ['Shift+ArrowDown'] },
    run: ({ screen }) => stepCall(screen, 'callee'),
  },
  {
    ...{ name: 'what called it', keys: ['Shift+ArrowUp'] },
    run: ({ screen }) => stepCall(screen, 'caller'),
  },
  {
    ...{ name: 'the selected wait or call as wide as the view', keys: ['F'] },
    run: ({ screen }) => zoomTo(screen, screen.state.get().selected),
  },
  { name: 'time of the selected wait or call as range', keys: ['R'], run: rangeOfSelected },
  {
    ...{ name: 'next thread', keys: ['ArrowDown'] },
    run: ({ screen }) => nextThread(screen, 1),
  },
  {
    ...{ name: 'the thread before', keys: ['ArrowUp'] },
    run: ({ screen }) => nextThread(screen, -1),
  },
  { name: 'current thread to the main view', keys: ['Enter'], run: enter },
  {
    ...{ name: 'current thread changes places with the one before', keys: ['{'] },
    run: ({ screen }) => moveThread(screen, -1),
  },
  {
    ...{ name: 'current thread changes places with the next', keys: ['}'] },
    run: ({ screen }) => moveThread(screen, 1),
  },
  {
    ...{ name: 'hide the current thread', keys: ['Delete'] },
    run: ({ screen, thread }) => screen.hide(thread),
  },
  {
    ...{ name: 'more room for the current thread, or as for the others', keys: ['f'] },
    run: ({ screen, thread }) => screen.enlarge(thread),
  },
  {
    ...{ name: 'zoom the current thread in', keys: ['W'], code: 'KeyW' },
    run: at => zoom(at, 0.8),
  },
  {
    ...{ name: 'zoom the current thread out', keys: ['S'], code: 'KeyS' },
    run: at => zoom(at, 1.25),
  },
  {
    ...{ name: 'pan the current thread back', keys: ['A'], code: 'KeyA' },
    run: ({ screen, thread, fast }) => screen.pan(thread, -0.1 * fast),
  },
  {
    ...{ name: 'pan the current thread on', keys: ['D'], code: 'KeyD' },
    run: ({ screen, thread, fast }) => screen.pan(thread, 0.1 * fast),
  },
  { name: 'all threads at the same time', keys: ['u'], run: ({ screen }) => screen.align() },
  {
    ...{ name: 'fold an upper level of the current thread', keys: ['PageDown'] },
    run: ({ screen, thread }) => screen.foldBy(thread, 1),
  },
  {
    ...{ name: 'unfold a level of the current thread', keys: ['PageUp'] },
    run: ({ screen, thread }) => screen.foldBy(thread, -1),
  },
  { name: 'plate, ladder, or table', keys: ['v'], run: ({ screen }) => nextMode(screen) },
  {
    ...{ name: 'curves in the colour of the thread, or of the object', keys: ['o'] },
    run: ({ screen }) => toggleObjects(screen),
  },
  {
    ...{ name: 'threads of all processes, or of the recorded program', keys: ['e'] },
    run: ({ screen }) => screen.toggleAll(),
  },
  {
    ...{ name: 'more room for curves', keys: ['+', '='] },
    run: ({ screen }) => moveInner(screen, 0.05),
  },
  {
    ...{ name: 'more room for levels of the context', keys: ['-'] },
    run: ({ screen }) => moveInner(screen, -0.05),
  },
  {
    ...{ name: 'more room for the main view', keys: [')'] },
    run: ({ screen }) => moveSplit(screen, 0.05),
  },
  {
    ...{ name: 'more room for the context', keys: ['('] },
    run: ({ screen }) => moveSplit(screen, -0.05),
  },
  { name: 'the next table below', keys: ['t'], run: ({ screen }) => nextTab(screen) },
];

function atNow(app: App, isFast: boolean): At {
  const screen = interplayOf(app);
  const { current, focus } = screen.state.get();
  return { app, screen, thread: current >= 0 ? current : focus, fast: isFast ? 3 : 1 };
}

/** For the palette and the help. */
export function interplayCommands(): Command[] {
  return ACTIONS.map(({ name, keys, run }) => ({
    ...{ name: `Interplay: ${name}`, key: keys[0]!, also: keys.slice(1) },
    run: app => run(atNow(app, false)),
  }));
}

export function interplayKey(app: App, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (/^[<>]$/.test(event.key)) return false; // on the keys of . and ,
  const key = event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key;
  const found = ACTIONS.find(({ keys, code }) => keys.includes(key) || code === event.code);
  found?.run(atNow(app, event.shiftKey));
  return found !== undefined;
}
