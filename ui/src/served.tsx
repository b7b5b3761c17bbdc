// SPDX-License-Identifier: MIT
// The page of `weft serve`: asks its server for what each screen shows.
import type { Columns } from './api/columns';
import { object, objects } from './api/json';
import type { Json } from './api/json';
import { Source } from './api/source';
import type { OwnColor } from './lib/colorfile';
import { readFragment } from './lib/fragment';
import { makeApp } from './state/app';
import type { App } from './state/app';
import { offerColors } from './state/colors';
import { interplayOf } from './state/interplay';
import { askSketch, Live } from './state/live';
import { Searches } from './state/sets';
import { bareTrace, loadServed } from './state/served';
import { startPage } from './start';
import { compareScreen } from './views/compare';
import { functionsScreen } from './views/functions';
import { healthScreen } from './views/health';
import { INTERPLAY } from './views/interplay';
import { LIST_SCREEN } from './views/lists';
import { OVERVIEW, PATTERNS } from './views/overview';
import { pathScreen } from './views/path';
import { TIMELINE } from './views/timeline';
import './served.css';

/** Which of the traces served: "?trace=1" behind the address of the page. */
function wantedTrace(): number {
  const wanted = new URLSearchParams(location.search).get('trace') ?? '';
  return /^\d{1,6}$/.test(wanted) ? Number(wanted) : 0;
}

/** The first picture is of the whole trace: it is asked for together with the names in it. */
function startsWhole(): boolean {
  const place = readFragment(location.hash);
  return !place || (place.window === null && place.screen === 1);
}

async function makeServed(source: Source, early: Promise<Columns> | null): Promise<App> {
  const served = await loadServed(source);
  const ofTrace = [OVERVIEW, TIMELINE, PATTERNS, INTERPLAY, pathScreen(), compareScreen()];
  const screens = served.hasTrace
    ? [...ofTrace, functionsScreen(), LIST_SCREEN, healthScreen()]
    : [compareScreen()];
  const app = makeApp(bareTrace(served, 'weft'), screens, served);
  if (served.hasTrace) {
    app.live = new Live(app, served, early);
    app.searches = new Searches(app, served);
  } else app.state.update(now => ({ ...now, screen: 'compare' }));
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

/** All that the first picture needs is asked for at once. */
function startServed(): void {
  const source = new Source(new URL('.', location.href).pathname, wantedTrace());
  const early = startsWhole() ? firstSketch(source) : null;
  if (readFragment(location.hash)?.screen === 4) source.ahead('interplay');
  const colors = source.json('colors');
  for (const asked of [early, colors]) asked?.catch(() => undefined); // told by who awaits it
  startPage(
    () => makeServed(source, early),
    async app => {
      offerServedColors(app, await colors);
      if (app.state.get().screen !== 'interplay') return app.live?.start();
      void interplayOf(app)
        .hasShown()
        .then(() => app.live?.start()); // regimes come behind what is looked at
    },
  );
}

startServed();
