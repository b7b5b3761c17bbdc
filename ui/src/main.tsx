// SPDX-License-Identifier: MIT
// The report: a page with all its data inside.
import './style.css'; // first: the sheets of the screens build on it
import { OVERVIEW } from './screens/overview/view';
import { PATTERNS } from './screens/patterns/view';
import { loadPage } from './shared/api/page';
import { makeApp } from './shared/state/app';
import { startPage } from './start';

startPage(async () => makeApp(await loadPage(), [OVERVIEW, PATTERNS]));
