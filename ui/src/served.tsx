// SPDX-License-Identifier: MIT
// The page of `weft serve`: asks its server for what each screen shows.
import { Source } from './api/source';
import { makeApp } from './state/app';
import { bareTrace, loadServed } from './state/served';
import { startPage } from './start';
import { functionsScreen } from './views/functions';
import { healthScreen } from './views/health';
import { OVERVIEW, PATTERNS } from './views/overview';
import { TIMELINE } from './views/timeline';

/** Which of the traces served: "?trace=1" behind the address of the page. */
function wantedTrace(): number {
  const wanted = new URLSearchParams(location.search).get('trace') ?? '';
  return /^\d{1,6}$/.test(wanted) ? Number(wanted) : 0;
}

startPage(async () => {
  const source = new Source(new URL('.', location.href).pathname, wantedTrace());
  const served = await loadServed(source);
  return makeApp(
    bareTrace(served, 'weft'),
    [OVERVIEW, TIMELINE, PATTERNS, functionsScreen(), healthScreen()],
    served,
  );
});
