// SPDX-License-Identifier: MIT
// The page of `weft serve`: asks its server for what each screen shows.
import { object } from './api/json';
import { Source } from './api/source';
import type { OwnColor } from './lib/colorfile';
import { makeApp } from './state/app';
import type { App } from './state/app';
import { offerColors } from './state/colors';
import { Live } from './state/live';
import { Searches } from './state/sets';
import { bareTrace, loadServed } from './state/served';
import { startPage } from './start';
import { functionsScreen } from './views/functions';
import { healthScreen } from './views/health';
import { OVERVIEW, PATTERNS } from './views/overview';
import { TIMELINE } from './views/timeline';
import './served.css';

/** Which of the traces served: "?trace=1" behind the address of the page. */
function wantedTrace(): number {
  const wanted = new URLSearchParams(location.search).get('trace') ?? '';
  return /^\d{1,6}$/.test(wanted) ? Number(wanted) : 0;
}

async function makeServed(): Promise<App> {
  const source = new Source(new URL('.', location.href).pathname, wantedTrace());
  const served = await loadServed(source);
  const app = makeApp(
    bareTrace(served, 'weft'),
    [OVERVIEW, TIMELINE, PATTERNS, functionsScreen(), healthScreen()],
    served,
  );
  app.live = new Live(app, served);
  app.searches = new Searches(app, served);
  app.openTrace = id => location.assign(`?trace=${id}`);
  return app;
}

/** What `weft serve --colors` was given: "#rrggbb", and two more digits say how opaque. */
async function offerServedColors(app: App): Promise<void> {
  const given = object(await app.served!.source.json('colors'), 'functions');
  const colors = new Map<string, OwnColor>();
  for (const [name, value] of Object.entries(given)) {
    const match = /^(#[0-9a-f]{6})([0-9a-f]{2})?$/.exec(String(value).toLowerCase());
    if (match) colors.set(name, { hex: match[1]!, alpha: parseInt(match[2] ?? 'ff', 16) / 255 });
  }
  offerColors(app, colors);
}

startPage(makeServed, async app => {
  await offerServedColors(app);
  await app.live!.start();
});
