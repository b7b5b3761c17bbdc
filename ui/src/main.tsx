// SPDX-License-Identifier: MIT
// Starts the page: reads its data, shows it, and says when it is ready.
import { render } from 'preact';
import { loadPage } from './api/page';
import { readFragment } from './lib/fragment';
import type { BaseStage } from './draw/base';
import { applyPlace, makeApp } from './state/app';
import type { App, State } from './state/app';
import { Page } from './views/page';
import './style.css';

/** `stage` is that of the screen shown; null if it has none. */
interface Ready {
  app: App;
  stage: BaseStage | null;
}

declare global {
  interface Window {
    /** Resolves when the page is drawn and idle; rejects with what went wrong. */
    weftReady?: Promise<Ready>;
  }
}

function showTheme(theme: State['theme'], stage: BaseStage | null): void {
  if (theme === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', theme);
  stage?.retheme();
}

function fail(root: HTMLElement, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const box = document.createElement('p');
  box.className = 'failure';
  box.setAttribute('role', 'alert');
  box.textContent = `weft: ${message}.`;
  root.replaceChildren(box);
}

async function start(): Promise<Ready> {
  const root = document.getElementById('app') ?? document.body;
  try {
    const app = makeApp(await loadPage());
    document.title = `${app.model.trace.name} \u2013 weft`;
    const place = readFragment(location.hash);
    if (place) applyPlace(app, place);
    const ready: Ready = { app, stage: null };
    await new Promise<void>(resolve => {
      const onReady = (stage: BaseStage | null): void => {
        ready.stage = stage;
        resolve();
      };
      render(<Page app={app} onReady={onReady} />, root);
    });
    app.state.subscribe((now, before) => {
      if (now.theme !== before.theme) showTheme(now.theme, ready.stage);
    });
    await document.fonts?.ready;
    ready.stage?.markBase();
    await ready.stage?.idle();
    return ready;
  } catch (error) {
    fail(root, error);
    throw error;
  }
}

function begin(): void {
  window.weftReady = start();
  window.weftReady.catch(() => undefined);
}

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin);
else begin();
