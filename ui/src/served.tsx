// SPDX-License-Identifier: MIT
// The page of `weft serve`: asks its server for what each screen shows.
import { Source } from './api/source';
import { makeApp } from './state/app';
import type { App } from './state/app';
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

startPage(makeServed, app => app.live!.start());
