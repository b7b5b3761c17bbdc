// SPDX-License-Identifier: MIT
// The page of `weft serve`: asks its server for what each screen shows.
import './style.css'; // first: the sheets of the screens build on it
import { COMPARE } from './screens/compare/view';
import { findingsOf } from './screens/findings/state';
import { FINDINGS } from './screens/findings/view';
import { FUNCTIONS } from './screens/functions/view';
import { HEALTH } from './screens/health/view';
import { interplayOf } from './screens/interplay/state';
import { INTERPLAY } from './screens/interplay/view';
import { LISTS_SCREEN } from './screens/lists/view';
import { OVERVIEW } from './screens/overview/view';
import { PATH } from './screens/path/view';
import { PATTERNS } from './screens/patterns/view';
import { TIMELINE } from './screens/timeline/view';
import { object, objects } from './shared/api/columns';
import type { Columns, Json } from './shared/api/columns';
import { Source } from './shared/api/source';
import type { OwnColor } from './shared/lib/color';
import { readFragment } from './shared/lib/fragment';
import { makeApp } from './shared/state/app';
import type { App } from './shared/state/app';
import { offerColors } from './shared/state/colors';
import { askSketch, Live } from './shared/state/live';
import { bareTrace, loadServed } from './shared/state/served';
import { Searches } from './shared/state/sets';
import { startPage } from './start';
import './served.css';

/** Which of the traces served: "?trace=1" behind the address of the page. */
function wantedTrace(): number {
  const wanted = new URLSearchParams(location.search).get('trace') ?? '';
  return /^\d{1,6}$/.test(wanted) ? Number(wanted) : 0;
}

/** The first picture is of the whole trace: it is asked for together with the names in it. */
function startsWhole(): boolean {
  const place = readFragment(location.hash);
  return place !== null && place.window === null && place.screen === 'overview';
}

async function makeServed(source: Source, early: Promise<Columns> | null): Promise<App> {
  const served = await loadServed(source);
  const ofTrace = [FINDINGS, OVERVIEW, TIMELINE, PATTERNS, INTERPLAY, PATH, COMPARE];
  const screens = served.hasTrace ? [...ofTrace, FUNCTIONS, LISTS_SCREEN, HEALTH] : [COMPARE];
  const app = makeApp(bareTrace(served, 'weft'), screens, served);
  if (served.hasTrace) {
    app.live = new Live(app, served, early);
    app.searches = new Searches(app, served);
  }
  app.state.update(now => ({ ...now, screen: screens[0]!.key }));
  app.openTrace = id => location.assign(`?trace=${id}`);
  return app;
}

/** What `weft serve --colors` was given: "#rrggbb", and two more digits say how opaque. */
function offerServedColors(app: App, answer: Json): void {
  const colors = new Map<string, OwnColor>();
  for (const [name, value] of Object.entries(object(answer, 'functions'))) {
    const match = /^(#[0-9a-f]{6})([0-9a-f]{2})?$/.exec(String(value).toLowerCase());
    if (match) colors.set(name, { hex: match[1]!, alpha: parseInt(match[2] ?? 'ff', 16) / 255 });
  }
  offerColors(app, colors);
}

/** The picture of the whole trace; of databases alone there is none to ask for. */
async function firstSketch(source: Source): Promise<Columns> {
  const known = objects(await source.json('traces'), 'traces');
  if (known.length === 0) throw new Error('no trace is served');
  return askSketch(source, null);
}

/** What is looked at first comes before the regimes. */
function firstShown(app: App): Promise<void> | null {
  const { screen } = app.state.get();
  if (screen === 'findings') return findingsOf(app).hasShown();
  return screen === 'interplay' ? interplayOf(app).hasShown() : null;
}

/** All that the first picture needs is asked for at once. */
function startServed(): void {
  const source = new Source(new URL('.', location.href).pathname, wantedTrace());
  const early = startsWhole() ? firstSketch(source) : null;
  if (readFragment(location.hash)?.screen === 'interplay') source.ahead('interplay');
  const colors = source.json('colors');
  for (const asked of [early, colors]) asked?.catch(() => undefined); // told by who awaits it
  startPage(
    () => makeServed(source, early),
    async app => {
      offerServedColors(app, await colors);
      const first = app.live ? firstShown(app) : null;
      if (!first) return app.live?.start();
      void first.then(() => app.live?.start());
    },
  );
}

startServed();
