// SPDX-License-Identifier: MIT
// Screen 4: who waits for whom (SyncTrace), as a plate, as a ladder, and as a table.
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { duration, integer, percent, plural, span } from '../../shared/lib/format';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import type { OnReady, ScreenSpec, Command as Doing } from '../../shared/state/screens';
import { Command } from '../../shared/views/parts';
import { useApp, useAtom, usePart } from '../../shared/views/use';
import { InterplayChart, InterplayTip } from './chart';
import { MOST_CONTEXTS } from './data';
import type { Pattern, Summary } from './data';
import { ROWS } from './load';
import { InterplayPanel, InterplayTable, TAB_NAMES } from './panel';
import { INTERPLAY_STATE, interplayOf, MODES, TABS, moveThread, stepCall } from './state';
import type { Interplay, InterplayState, PlateHit } from './state';
import './interplay.css';

/* ---- headline ---- */

/** The first sentence: it can be wrong, the picture is its evidence. */
function headline(screen: Interplay, summary: Summary): string {
  const { waits, waitNs, threads, cells } = summary;
  if (waits === 0) return 'No thread is known to have waited here.';
  const life = threads.reduce((sum, row) => sum + Math.max(0, row.last - row.first), 0);
  const share = percent(waitNs / Math.max(1, life));
  const known = cells.filter(({ releaser }) => releaser >= 0);
  const most = [...known].sort((a, b) => b.ns - a.ns)[0];
  const who = most
    ? `; most of it, ${duration(most.ns)}, ${screen.title(most.waiter)} for ${screen.title(most.releaser)}`
    : '';
  return `Threads waited ${duration(waitNs)} of thread-time in ${plural(waits, 'wait')}, ${share} of their lifetimes${who}.`;
}

/** Whose waits are not told of, and how to have them told. */
function LeftOut({ screen, summary }: { screen: Interplay; summary: Summary }): JSX.Element | null {
  const isAll = useAtom(screen.state, s => s.isAll);
  if (!isAll && summary.leftOut === 0) return null;
  return (
    <span class="left-out">
      {isAll
        ? 'Threads of all processes wait here: '
        : `${plural(summary.leftOut, 'thread')} of other processes ${summary.leftOut === 1 ? 'is' : 'are'} omitted: `}
      <button
        class="link"
        title="Which threads' waits are shown (e)"
        onClick={() => screen.toggleAll()}
      >
        {isAll ? 'show the recorded program alone' : 'show all'}
      </button>{' '}
      <kbd>e</kbd>.{' '}
    </span>
  );
}

function Headline({ screen }: { screen: Interplay }): JSX.Element {
  const summary = useAtom(screen.state, s => s.summary);
  const trouble = useAtom(screen.state, s => s.trouble);
  const curves = useAtom(screen.state, s => s.curves);
  const isAsking = useAtom(screen.state, s => s.isAsking);
  const mode = useAtom(screen.state, s => s.mode);
  useAtom(screen.state, s => s.loaded); // whether waits are bundled
  if (trouble)
    return (
      <header class="interplay-head">
        <p class="bad-text">The waits could not be had: {trouble} The Timeline (2) still works.</p>
      </header>
    );
  if (!summary)
    return (
      <header class="interplay-head">
        <p class="remark">{isAsking ? 'Looking for waits and what ended them \u2026' : ''}</p>
      </header>
    );
  const { joined, waits } = summary;
  return (
    <header class="interplay-head">
      <h1>{headline(screen, summary)}</h1>
      <p class="remark">
        {integer(joined)} of {plural(waits, 'wait')} have a known release (
        {percent(joined / Math.max(1, waits))}); {integer(summary.free)} acquisitions did not wait.{' '}
        {summary.unknown.map(({ text, count }) => `${integer(count)}: ${text}`).join('; ')}
        {summary.unknown.length > 0 && '. '}
        <LeftOut screen={screen} summary={summary} />
        {mode === 'plate' || mode === 'ladder' ? (
          <>
            {plural(curves.drawn, 'curve')} drawn
            {curves.bundled > 0 && `, ${plural(curves.bundled, 'bundle')} of short waits on hover`}
            {curves.left > 0 && `, ${integer(curves.left)} shorter ones omitted: zoom in`}.
            {screen.loader.isBundled &&
              ` More than ${integer(ROWS)} waits: those shorter than a pixel are one where they begin in the same, and keys step over these.`}
          </>
        ) : null}
      </p>
      {summary.patterns.length > 0 && <Patterns screen={screen} summary={summary} />}
      {summary.lacks.length > 0 && (
        <details class="lacks">
          <summary>
            {plural(summary.lacks.length, 'thing')} that this trace does not contain
          </summary>
          <ul>
            {summary.lacks.map(({ name, text }) => (
              <li key={name}>{text}</li>
            ))}
          </ul>
          <p>
            To have all of it:{' '}
            <Command text="sudo weft record --kernel --functions -o app.weft -- ./PROGRAM" />
          </p>
        </details>
      )}
    </header>
  );
}

/** Patterns in view until more are asked for, and at most. */
const FEW_PATTERNS = 6;
const MOST_PATTERNS = 200;

/** The first of each kind, then the others: many of one kind do not hide the rest. */
function byKind(patterns: readonly Pattern[]): Pattern[] {
  const kinds = new Set<string>();
  const isFirst = patterns.map(({ kind }) => !kinds.has(kind) && !!kinds.add(kind));
  return [...patterns.filter((_, i) => isFirst[i]), ...patterns.filter((_, i) => !isFirst[i])];
}

/** A pattern's threads come into the picture, its time becomes the range. */
function showPattern(screen: Interplay, { thread, others, from, to }: Pattern): void {
  const around = others.filter(one => one !== thread).slice(0, MOST_CONTEXTS);
  const kept = screen.state.get().contexts.filter(one => one !== thread);
  if (thread >= 0) {
    const contexts = around.length > 0 ? around : kept;
    screen.set({ focus: thread, contexts, current: thread, focused: -1 });
  }
  if (to > from) act.setRange(screen.app, { t0: from, t1: to }, false);
}

/** Patterns, each with what says so; a click shows its threads and its time. */
function Patterns({ screen, summary }: { screen: Interplay; summary: Summary }): JSX.Element {
  const [isAll, setAll] = useState(false);
  const sorted = useMemo(() => byKind(summary.patterns), [summary]);
  const shown = sorted.slice(0, isAll ? MOST_PATTERNS : FEW_PATTERNS);
  const more = sorted.length - FEW_PATTERNS;
  return (
    <div class={isAll ? 'interplay-patterns all' : 'interplay-patterns'}>
      <ul aria-label="Patterns found">
        {shown.map((pattern, i) => (
          <li key={i}>
            <button
              class="link"
              title={`${pattern.text}. A click shows its threads and its time`}
              onClick={() => showPattern(screen, pattern)}
            >
              <b>{pattern.kind.replace(/_/g, ' ')}</b> {pattern.text}
            </button>
          </li>
        ))}
      </ul>
      {more > 0 && (
        <button class="link more" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? 'fewer patterns' : plural(more, 'more pattern')}
        </button>
      )}
      {isAll && sorted.length > MOST_PATTERNS && (
        <small>{integer(sorted.length - MOST_PATTERNS)} more: weft interplay --patterns</small>
      )}
    </div>
  );
}

/** Why there is nothing, and how to have it. */
function Nothing({ screen }: { screen: Interplay }): JSX.Element | null {
  const summary = useAtom(screen.state, s => s.summary);
  if (!summary || summary.waits > 0 || summary.io > 0) return null;
  return (
    <div class="empty-panel nothing">
      <p>
        {summary.known.size === 0
          ? 'This trace has no waits: no locks, no blocking calls, no scheduler events.'
          : 'No wait is in this part of the trace: no thread waited for another one.'}
      </p>
      <p>
        To have them, record the program with its locks:{' '}
        <Command text="weft record -o app.weft -- ./PROGRAM" />
      </p>
    </div>
  );
}

/* ---- screen ---- */

function InterplayScreen({ onReady }: { onReady: OnReady }): JSX.Element {
  const app = useApp();
  const screen = interplayOf(app);
  const mode = useAtom(screen.state, s => s.mode);
  const summary = useAtom(screen.state, s => s.summary);
  useEffect(() => screen.watch(), [app]);
  return (
    <>
      <main class="interplay-main">
        <Headline screen={screen} />
        {mode === 'table' ? (
          <InterplayTable screen={screen} onReady={onReady} />
        ) : (
          <InterplayChart onReady={onReady} />
        )}
        {summary && <Nothing screen={screen} />}
        <InterplayPanel />
      </main>
      <InterplayTip />
    </>
  );
}

const MODE_WORDS = { plate: 'Plate', ladder: 'Ladder', table: 'Table' } as const;

function Settings(): JSX.Element {
  const screen = interplayOf(useApp());
  const mode = useAtom(screen.state, s => s.mode);
  const isByObject = useAtom(screen.state, s => s.isByObject);
  const views = useAtom(screen.state, s => s.views);
  usePart(s => s.range);
  const summary = useAtom(screen.state, s => s.summary);
  return (
    <>
      {summary && (
        <span>
          Numbers of <b>{span(summary.span.t0, summary.span.t1)}</b>
        </span>
      )}
      {views.size > 0 && (
        <button
          class="plain"
          title="All threads at the same time (u)"
          onClick={() => screen.align()}
        >
          {plural(views.size, 'thread')} at another time <kbd>u</kbd>
        </button>
      )}
      <button class="plain" title="Plate, ladder, table (v)" onClick={() => nextMode(screen)}>
        Shown as <b>{MODE_WORDS[mode]}</b> <kbd>v</kbd>
      </button>
      <button
        class="plain"
        title="Curves in the colour of the thread that waits, or of the object (o)"
        aria-pressed={isByObject}
        onClick={() => screen.set({ isByObject: !isByObject })}
      >
        Curves by <b>{isByObject ? 'object' : 'thread'}</b> <kbd>o</kbd>
      </button>
    </>
  );
}

function clearTop(screen: Interplay): boolean {
  const { hover, selected, object } = screen.state.get();
  if (screen.app.state.get().range) act.setRange(screen.app, null, false);
  else if (selected) screen.select(null);
  else if (object) screen.set({ object: '' });
  else if (hover) screen.set({ hover: null, pointer: null });
  else return false;
  return true;
}

/* ---- address ---- */

function write(state: InterplayState): [string, string][] {
  const {
    mode,
    tab,
    isByObject,
    isAll,
    focus,
    contexts,
    focused,
    views,
    folds,
    split,
    inner,
    object,
  } = state;
  const ms = (ns: number): string => String(Math.round(ns));
  return [
    ...(focus >= 0 ? [['plate', [focus, ...contexts].join('.')] as [string, string]] : []),
    ['as', mode === 'plate' ? '' : mode],
    ['tab4', tab === 'threads' ? '' : tab],
    ['curves', isByObject ? 'object' : ''],
    ['big', focused >= 0 ? String(focused) : ''],
    ['own', [...views].map(([thread, { t0, t1 }]) => `${thread}.${ms(t0)}-${ms(t1)}`).join(',')],
    [
      'fold',
      [...folds]
        .filter(([, n]) => n > 0)
        .map(([thread, n]) => `${thread}.${n}`)
        .join(','),
    ],
    ['everyone', isAll ? '1' : ''],
    ['split', split === 0 ? '' : split.toFixed(2)],
    ['inner', inner === 0 ? '' : inner.toFixed(2)],
    ['lock', object],
  ];
}

const oneOf = <const T extends string>(text: string, options: readonly T[], otherwise: T): T =>
  options.find(option => option === text) ?? otherwise;

function read(screen: Interplay, get: (key: string) => string): void {
  const n = screen.served.threads.length;
  const ids = (text: string): number[] => [
    ...new Set(
      text
        .split('.')
        .filter(part => /^\d{1,9}$/.test(part))
        .map(Number)
        .filter(id => id < n),
    ),
  ];
  const [focus = -1, ...contexts] = ids(get('plate'));
  const views = new Map<number, { t0: number; t1: number }>();
  for (const part of get('own').split(',')) {
    const match = /^(\d{1,9})\.(\d{1,16})-(\d{1,16})$/.exec(part);
    if (match && Number(match[3]) > Number(match[2]))
      views.set(Number(match[1]), { t0: Number(match[2]), t1: Number(match[3]) });
  }
  const folds = new Map<number, number>();
  for (const part of get('fold').split(',')) {
    const match = /^(\d{1,9})\.(\d{1,4})$/.exec(part);
    if (match) folds.set(Number(match[1]), Number(match[2]));
  }
  const big = Number(get('big') || -1);
  const share = (text: string, otherwise: number): number =>
    /^0?\.\d{1,4}$/.test(text) ? Number(text) : otherwise;
  screen.set({
    mode: oneOf(get('as'), MODES, 'plate'),
    tab: oneOf(get('tab4'), TABS, 'threads'),
    isByObject: get('curves') === 'object',
    isAll: get('everyone') === '1',
    views,
    folds,
    split: share(get('split'), 0),
    inner: share(get('inner'), 0),
    object: /^\d{1,20}$/.test(get('lock')) ? get('lock') : '',
    ...(focus >= 0 ? { focus, contexts: contexts.slice(0, 8), current: focus } : {}),
    focused: contexts.includes(big) ? big : -1,
  });
  const wait = /^(\d{1,9})\.(\d{1,9})$/.exec(get('wait'));
  screen.wantWait(wait ? { thread: Number(wait[1]), item: Number(wait[2]) } : null);
}

const WRITTEN = [
  'mode',
  'tab',
  'isByObject',
  'isAll',
  'focus',
  'contexts',
  'focused',
  'views',
  'folds',
  'split',
  'inner',
  'object',
  'selected',
] as unknown as (keyof InterplayState)[];

export const INTERPLAY: ScreenSpec = {
  key: 'interplay',
  name: 'Interplay',
  View: InterplayScreen,
  kind: () => ' interplay-page',
  keys: [
    ['. ,', 'next, previous wait'],
    ['\u2191 \u2193', 'thread'],
    ['[ ]', 'to release, to wait'],
    ['Enter', 'to the main view'],
    ['f', 'more room'],
    ['W S A D', 'zoom, pan'],
    ['PgUp PgDn', 'unfold, fold'],
    ['v', 'plate, ladder, table'],
    ['o', 'objects'],
    ['e', 'all processes'],
    ['x', 'critical path'],
  ],
  help: [],
  commands: interplayCommands,
  status: app => {
    const screen = interplayOf(app);
    const { selected, current } = screen.state.get();
    if (selected) return screen.sentence(selected);
    return current >= 0 ? `${screen.title(current)} is current` : '';
  },
  onKey: interplayKey,
  focus: app => {
    const { selected } = interplayOf(app).state.get();
    return selected && { t0: selected.start, t1: Math.max(selected.end, selected.start + 1) };
  },
  clear: app => clearTop(interplayOf(app)),
  Settings,
  write: app => [
    ...write(interplayOf(app).state.get()),
    ['wait', interplayOf(app).waitPlace()] as [string, string],
  ],
  read: (app, get) => read(interplayOf(app), get),
  watch: (app, changed) =>
    interplayOf(app).state.subscribe((now, before) => {
      if (WRITTEN.some(key => now[key] !== before[key])) changed();
    }),
  own: INTERPLAY_STATE,
  showLock(app, lock) {
    interplayOf(app).set({ tab: 'objects', object: lock });
    act.setScreen(app, 'interplay');
  },
  showWaits(app, thread, lock) {
    interplayOf(app).want(thread, lock);
    act.setScreen(app, 'interplay');
  },
  steps: ['as', 'plate'],
};

/* ---- What can be done on the Interplay by key: one list, for the keys, the palette and the help. ---- */

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

function nextMode(screen: Interplay): void {
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
    name: 'next wait of the current thread',
    keys: ['.', 'ArrowRight'],
    code: 'Period',
    run: ({ screen }) => screen.step(1),
  },
  {
    name: 'the wait before',
    keys: [',', 'ArrowLeft'],
    code: 'Comma',
    run: ({ screen }) => screen.step(-1),
  },
  {
    name: 'to the release that ended the wait',
    keys: ['['],
    run: ({ screen }) => screen.toCause(),
  },
  {
    name: 'to the next wait that the current thread ended',
    keys: [']'],
    run: ({ screen }) => screen.toEffect(),
  },
  {
    name: 'critical path of the selected wait or call',
    keys: ['x'],
    run: ({ screen }) => screen.explain(),
  },
  { name: 'next call', keys: ['Shift+ArrowRight'], run: ({ screen }) => stepCall(screen, 'next') },
  {
    name: 'the call before',
    keys: ['Shift+ArrowLeft'],
    run: ({ screen }) => stepCall(screen, 'before'),
  },
  {
    name: 'what the call called',
    keys: ['Shift+ArrowDown'],
    run: ({ screen }) => stepCall(screen, 'callee'),
  },
  {
    name: 'what called it',
    keys: ['Shift+ArrowUp'],
    run: ({ screen }) => stepCall(screen, 'caller'),
  },
  {
    name: 'the selected wait or call as wide as the view',
    keys: ['F'],
    run: ({ screen }) => zoomTo(screen, screen.state.get().selected),
  },
  { name: 'time of the selected wait or call as range', keys: ['R'], run: rangeOfSelected },
  { name: 'next thread', keys: ['ArrowDown'], run: ({ screen }) => nextThread(screen, 1) },
  { name: 'the thread before', keys: ['ArrowUp'], run: ({ screen }) => nextThread(screen, -1) },
  { name: 'current thread to the main view', keys: ['Enter'], run: enter },
  {
    name: 'current thread changes places with the one before',
    keys: ['{'],
    run: ({ screen }) => moveThread(screen, -1),
  },
  {
    name: 'current thread changes places with the next',
    keys: ['}'],
    run: ({ screen }) => moveThread(screen, 1),
  },
  {
    name: 'hide the current thread',
    keys: ['Delete'],
    run: ({ screen, thread }) => screen.hide(thread),
  },
  {
    name: 'more room for the current thread, or as for the others',
    keys: ['f'],
    run: ({ screen, thread }) => screen.enlarge(thread),
  },
  { name: 'zoom the current thread in', keys: ['W'], code: 'KeyW', run: at => zoom(at, 0.8) },
  { name: 'zoom the current thread out', keys: ['S'], code: 'KeyS', run: at => zoom(at, 1.25) },
  {
    name: 'pan the current thread back',
    keys: ['A'],
    code: 'KeyA',
    run: ({ screen, thread, fast }) => screen.pan(thread, -0.1 * fast),
  },
  {
    name: 'pan the current thread on',
    keys: ['D'],
    code: 'KeyD',
    run: ({ screen, thread, fast }) => screen.pan(thread, 0.1 * fast),
  },
  { name: 'all threads at the same time', keys: ['u'], run: ({ screen }) => screen.align() },
  {
    name: 'fold an upper level of the current thread',
    keys: ['PageDown'],
    run: ({ screen, thread }) => screen.foldBy(thread, 1),
  },
  {
    name: 'unfold a level of the current thread',
    keys: ['PageUp'],
    run: ({ screen, thread }) => screen.foldBy(thread, -1),
  },
  { name: 'plate, ladder, or table', keys: ['v'], run: ({ screen }) => nextMode(screen) },
  {
    name: 'curves in the colour of the thread, or of the object',
    keys: ['o'],
    run: ({ screen }) => toggleObjects(screen),
  },
  {
    name: 'threads of all processes, or of the recorded program',
    keys: ['e'],
    run: ({ screen }) => screen.toggleAll(),
  },
  { name: 'more room for curves', keys: ['+', '='], run: ({ screen }) => moveInner(screen, 0.05) },
  {
    name: 'more room for levels of the context',
    keys: ['-'],
    run: ({ screen }) => moveInner(screen, -0.05),
  },
  {
    name: 'more room for the main view',
    keys: [')'],
    run: ({ screen }) => moveSplit(screen, 0.05),
  },
  { name: 'more room for the context', keys: ['('], run: ({ screen }) => moveSplit(screen, -0.05) },
  { name: 'the next table below', keys: ['t'], run: ({ screen }) => nextTab(screen) },
];

function atNow(app: App, isFast: boolean): At {
  const screen = interplayOf(app);
  const { current, focus } = screen.state.get();
  return { app, screen, thread: current >= 0 ? current : focus, fast: isFast ? 3 : 1 };
}

/** For the palette and the help. */
function interplayCommands(): Doing[] {
  return ACTIONS.map(({ name, keys, run }) => ({
    name: `Interplay: ${name}`,
    key: keys[0]!,
    also: keys.slice(1),
    run: app => run(atNow(app, false)),
  }));
}

function interplayKey(app: App, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (/^[<>]$/.test(event.key)) return false; // on the keys of . and ,
  const key = event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key;
  const found = ACTIONS.find(({ keys, code }) => keys.includes(key) || code === event.code);
  found?.run(atNow(app, event.shiftKey));
  return found !== undefined;
}
