// SPDX-License-Identifier: MIT
// The report: a page with all its data inside. Of the screens of a served page it has those for
// which it has answers.
import './style.css'; // first: the sheets of the screens build on it
import { COMPARE } from './screens/compare/view';
import { FINDINGS } from './screens/findings/view';
import { OVERVIEW } from './screens/overview/view';
import { PATH } from './screens/path/view';
import { PATTERNS } from './screens/patterns/view';
import { Inside } from './shared/api/inside';
import { loadPage } from './shared/api/page';
import { makeApp } from './shared/state/app';
import type { App } from './shared/state/app';
import type { KeyWord, ScreenSpec } from './shared/state/screens';
import { loadInside } from './shared/state/served';
import { messageOf } from './shared/lib/format';
import { startPage } from './start';

/** Without the keys for what only a served page has; what that shows in its Timeline, the Overview
 * shows. */
function without(screen: ScreenSpec, keys: readonly string[] = []): ScreenSpec {
  const change = (words: readonly KeyWord[]): KeyWord[] =>
    words
      .filter(([key]) => !keys.includes(key))
      .map(([key, word]) => [key, word.replace(/\bTimeline\b/g, 'Overview')]);
  return { ...screen, keys: change(screen.keys), help: change(screen.help) };
}

const MISSING = {
  kind: 'missing_part',
  class: 'lost' as const,
  count: 1,
  text: 'part of this page that is missing',
  tid: null,
};

async function makeReport(): Promise<App> {
  const trace = await loadPage();
  const inside = Inside.of(document);
  const answers = await loadInside(inside, trace).catch((error: unknown) => {
    trace.notes.push({ ...MISSING, detail: `findings: ${messageOf(error)}` });
    return null;
  });
  const screens: ScreenSpec[] = [OVERVIEW];
  if (!answers || trace.calls > 0) screens.push(PATTERNS); // without calls nothing repeats
  if (answers) {
    screens.unshift(without(FINDINGS, ['i', 't c i l']));
    if (inside.list('path').length > 0) screens.push(without(PATH));
    if (inside.list('compare').length > 0)
      screens.push(without(COMPARE, ['b', 'Alt+A', 'Alt+B', 'Alt+A Alt+B', 'PgUp PgDn']));
  }
  const app = makeApp(trace, screens, null, answers);
  app.state.update(now => ({ ...now, screen: screens[0]!.key }));
  return app;
}

startPage(makeReport);
