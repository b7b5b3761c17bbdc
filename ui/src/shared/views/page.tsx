// SPDX-License-Identifier: MIT
// The whole page.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { readFragment, writeFragment } from '../lib/fragment';
import { applyPlace, placeOf } from '../state/app';
import type { App } from '../state/app';
import { currentScreen } from '../state/screens';
import type { OnReady } from '../state/screens';
import { Help, ThreadList } from './extra';
import { pageKey } from './gestures';
import { Menu } from './menu';
import { Palette } from './palette';
import { Pins } from './pins';
import { Crumbs, Rail, StatusLine, TopBar } from './top';
import { AppContext, usePart } from './use';

const PAUSE_MS = 120;

/** What each screen says of what its steps change; two screens may use the same key. */
function stepsOf(app: App): (string | undefined)[] {
  return app.screens.flatMap(({ steps = [], write }) => {
    const own = new Map(write?.(app) ?? []);
    return steps.map(key => own.get(key));
  });
}

/** What was not known before, or is no longer, is no step: nobody took one. */
function isOther(before: string | undefined, now: string | undefined): boolean {
  return before !== undefined && now !== undefined && before !== now;
}

/** State -> address, when it has come to rest; address -> state when that changes. */
function bindAddress(app: App): () => void {
  let timer = 0;
  let changedAt = 0;
  let written = location.hash;
  let place = placeOf(app); // what `written` came to: steps are told by it, not by what it asked for
  let steps = stepsOf(app);
  const write = (): void => {
    const rest = changedAt + PAUSE_MS - performance.now();
    timer = rest > 0 ? window.setTimeout(write, rest) : 0;
    if (timer) return;
    const next = writeFragment(placeOf(app));
    if (next === written) return;
    const before = place;
    const stepsBefore = steps;
    [place, steps] = [placeOf(app), stepsOf(app)];
    const isStep =
      place.crumbs.length !== before.crumbs.length ||
      place.screen !== before.screen ||
      place.isFiltered !== before.isFiltered ||
      steps.some((now, i) => isOther(stepsBefore[i], now));
    written = next;
    if (isStep) history.pushState(null, '', next);
    else history.replaceState(null, '', next);
  };
  const read = (): void => {
    if (location.hash === written) return;
    written = location.hash;
    const asked = readFragment(written) ?? readFragment('#v=1');
    if (asked) applyPlace(app, asked);
    [place, steps] = [placeOf(app), stepsOf(app)];
  };
  const changed = (): void => {
    changedAt = performance.now();
    if (timer === 0) timer = window.setTimeout(write, PAUSE_MS);
  };
  const offs = [
    app.state.subscribe(changed),
    app.served?.state.subscribe(changed) ?? (() => undefined),
    app.live?.state.subscribe(changed) ?? (() => undefined),
    ...app.screens.map(({ watch }) => watch?.(app, changed) ?? (() => undefined)),
  ];
  window.addEventListener('popstate', read);
  window.addEventListener('hashchange', read);
  return () => {
    for (const off of offs) off();
    window.removeEventListener('popstate', read);
    window.removeEventListener('hashchange', read);
  };
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

function Announcer(): JSX.Element {
  const said = usePart(s => s.said);
  return (
    <div class="sr" aria-live="polite" id="said">
      {said}
    </div>
  );
}

function Drawers(): JSX.Element | null {
  const drawer = usePart(s => s.drawer);
  if (drawer === 'threads') return <ThreadList />;
  return drawer === 'help' ? <Help /> : null;
}

function Screens({ app, onReady }: { app: App; onReady: OnReady }): JSX.Element {
  const key = usePart(s => s.screen);
  usePart(s => s.epoch);
  const screen = currentScreen(app);
  return (
    <div class={`page${screen.kind(app)}`}>
      <TopBar />
      <Crumbs />
      <Rail />
      <screen.View key={key} onReady={onReady} />
      <StatusLine />
      <Pins />
      <Drawers />
      <Palette />
      <Menu />
      <Announcer />
    </div>
  );
}

interface PageProps {
  app: App;
  onReady: OnReady;
  /** Keys are heard, and the address is followed. */
  onBound: () => void;
}

export function Page({ app, onReady, onBound }: PageProps): JSX.Element {
  useEffect(() => {
    const keys = (event: KeyboardEvent): void => {
      const isCommand = event.ctrlKey || event.metaKey;
      if ((isTyping(event.target) && !isCommand) || event.defaultPrevented) return;
      if (isTyping(event.target) && !app.served) return;
      if (pageKey(app, event)) event.preventDefault();
    };
    document.addEventListener('keydown', keys);
    const off = bindAddress(app);
    onBound();
    return () => {
      document.removeEventListener('keydown', keys);
      off();
    };
  }, [app]);
  return (
    <AppContext.Provider value={app}>
      <Screens app={app} onReady={onReady} />
    </AppContext.Provider>
  );
}
