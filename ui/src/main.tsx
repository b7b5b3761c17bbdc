// SPDX-License-Identifier: MIT
// The report: a page with all its data inside.
import { OVERVIEW } from './screens/overview/views_overview';
import { loadPage } from './shared/api/page';
import { makeApp } from './shared/state/app';
import { startPage } from './start';
import { PATTERNS } from './screens/patterns/views_patterns';

startPage(async () => makeApp(await loadPage(), [OVERVIEW, PATTERNS]));
