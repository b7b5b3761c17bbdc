// SPDX-License-Identifier: MIT
// The report: a page with all its data inside.
import { loadPage } from './api/page';
import { makeApp } from './state/app';
import { startPage } from './start';
import { OVERVIEW, PATTERNS } from './views/overview';

startPage(async () => makeApp(await loadPage(), [OVERVIEW, PATTERNS]));
