// SPDX-License-Identifier: MIT
// What the report and the served page have in common: shows an app, and says when it is ready.
import { messageOf } from './shared/lib/format';
import { render } from 'preact';
import { readFragment } from './shared/lib/fragment';
import { applyPlace } from './shared/state/app';
import type { App, State } from './shared/state/app';
import { useStoredColors } from './shared/state/colors';
import type { Picture } from './shared/state/screens';
import { Page } from './shared/views/page';

/** `stage` is that of the screen shown; null if it has none. */
interface Ready {
  app: App;
  stage: Picture | null;
}

/** Asks for what the page shows first; it is drawn meanwhile, and ready when this resolves. */
type Begin = (app: App) => Promise<void>;

declare global {
  interface Window {
    /** Resolves when the page is drawn and idle; rejects with what went wrong. */
    weftReady?: Promise<Ready>;
  }
}

function showTheme(theme: State['theme'], stage: Picture | null): void {
  if (theme === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', theme);
  stage?.retheme();
}

function fail(root: HTMLElement, error: unknown): void {
  const message = messageOf(error);
  const box = document.createElement('p');
  box.className = 'failure';
  box.setAttribute('role', 'alert');
  box.textContent = `weft: ${message}.`;
  root.replaceChildren(box);
}

async function show(makeApp: () => Promise<App>, begin: Begin): Promise<Ready> {
  const root = document.getElementById('app') ?? document.body;
  try {
    const app = await makeApp();
    useStoredColors(app);
    document.title = `${app.model.trace.name} \u2013 weft`;
    const place = readFragment(location.hash);
    if (place) applyPlace(app, place);
    const ready: Ready = { app, stage: null };
    const begun = begin(app);
    await new Promise<void>(resolve => {
      const onReady = (stage: Picture | null): void => {
        ready.stage = stage;
      };
      // effects of what is inside have run when those of the page do: all listen then
      render(<Page app={app} onReady={onReady} onBound={resolve} />, root);
    });
    app.state.subscribe((now, before) => {
      if (now.theme !== before.theme) showTheme(now.theme, ready.stage);
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
      ready.stage?.retheme(),
    );
    await begun;
    await document.fonts.ready;
    ready.stage?.markBase();
    await ready.stage?.idle();
    return ready;
  } catch (error) {
    fail(root, error);
    throw error;
  }
}

export function startPage(
  makeApp: () => Promise<App>,
  begin: Begin = () => Promise.resolve(),
): void {
  const run = (): void => {
    window.weftReady = show(makeApp, begin);
    window.weftReady.catch(() => undefined);
  };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', run);
  else run();
}
