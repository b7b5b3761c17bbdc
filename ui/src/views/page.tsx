// SPDX-License-Identifier: MIT
// The whole page.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { BaseStage } from '../draw/base';
import { readFragment, writeFragment } from '../lib/fragment';
import { applyPlace, placeOf } from '../state/app';
import type { App } from '../state/app';
import { ClusterCard, PatternPanel } from './behaviour';
import { Chart } from './chart';
import { Help, ThreadList, Tooltip } from './extra';
import { pageKey } from './gestures';
import { Legend } from './legend';
import { Panel } from './panel';
import { NoPatterns, PatternChart } from './patterns';
import { PatternLegend, PatternStory } from './patternside';
import { Story } from './story';
import { Crumbs, Rail, StatusLine, TopBar } from './top';
import { AppContext, usePart } from './use';

/** State -> address, not more often than a person can see; address -> state when it changes. */
function bindAddress(app: App): () => void {
  let timer = 0;
  let written = location.hash;
  const write = (): void => {
    timer = 0;
    const next = writeFragment(placeOf(app));
    if (next === written) return;
    const before = readFragment(written);
    const place = placeOf(app);
    const isStep =
      place.crumbs.length !== (before?.crumbs.length ?? 0) ||
      place.screen !== (before?.screen ?? 1);
    written = next;
    if (isStep) history.pushState(null, '', next);
    else history.replaceState(null, '', next);
  };
  const read = (): void => {
    if (location.hash === written) return;
    written = location.hash;
    const place = readFragment(written) ?? readFragment('#v=1');
    if (place) applyPlace(app, place);
  };
  const off = app.state.subscribe(() => {
    if (timer === 0) timer = window.setTimeout(write, 120);
  });
  window.addEventListener('popstate', read);
  window.addEventListener('hashchange', read);
  return () => {
    off();
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

type OnReady = (stage: BaseStage | null) => void;

function OverviewScreen({ onReady }: { onReady: OnReady }): JSX.Element {
  return (
    <>
      <Story />
      <main class="centre">
        <Chart onReady={onReady} />
      </main>
      <Legend />
      <Panel />
      <Tooltip />
    </>
  );
}

function PatternScreen({ onReady }: { onReady: OnReady }): JSX.Element {
  return (
    <>
      <PatternStory />
      <main class="centre">
        <PatternChart onReady={onReady} />
      </main>
      <PatternLegend />
      <PatternPanel />
      <ClusterCard />
    </>
  );
}

/** There is no stage to wait for. */
function EmptyScreen({ onReady }: { onReady: OnReady }): JSX.Element {
  useEffect(() => onReady(null), []);
  return (
    <main class="centre">
      <NoPatterns />
    </main>
  );
}

function Screens({ app, onReady }: { app: App; onReady: OnReady }): JSX.Element {
  const screen = usePart(s => s.screen);
  const hasAny = (app.model.behaviours?.list.length ?? 0) > 0;
  const kind = screen === 'overview' ? '' : hasAny ? ' patterns' : ' patterns bare';
  return (
    <div class={`page${kind}`}>
      <TopBar />
      <Crumbs />
      <Rail />
      {screen === 'overview' ? (
        <OverviewScreen onReady={onReady} />
      ) : hasAny ? (
        <PatternScreen onReady={onReady} />
      ) : (
        <EmptyScreen onReady={onReady} />
      )}
      <StatusLine />
      <Drawers />
      <Announcer />
    </div>
  );
}

export function Page({ app, onReady }: { app: App; onReady: OnReady }): JSX.Element {
  useEffect(() => {
    const keys = (event: KeyboardEvent): void => {
      if (isTyping(event.target) || event.defaultPrevented) return;
      if (pageKey(app, event)) event.preventDefault();
    };
    document.addEventListener('keydown', keys);
    const off = bindAddress(app);
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
