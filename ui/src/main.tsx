// SPDX-License-Identifier: MIT
// Starts the page: reads its data, shows it, and says when it is ready.
import { render } from 'preact';
import { loadPage } from './api/page';
import { readFragment } from './lib/fragment';
import type { Stage } from './draw/stage';
import { applyPlace, makeApp } from './state/app';
import type { App, State } from './state/app';
import { Page } from './views/page';
import './style.css';

declare global {
  interface Window {
    /** Resolves when the page is drawn and idle; rejects with what went wrong. */
    weftReady?: Promise<{ app: App; stage: Stage }>;
  }
}

function showTheme(theme: State['theme'], stage: Stage | null): void {
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

async function start(): Promise<{ app: App; stage: Stage }> {
  const root = document.getElementById('app') ?? document.body;
  try {
    const app = makeApp(await loadPage());
    document.title = `${app.model.trace.name} \u2013 weft`;
    const place = readFragment(location.hash);
    if (place) applyPlace(app, place);
    const stage = await new Promise<Stage>(resolve =>
      render(<Page app={app} onReady={resolve} />, root),
    );
    app.state.subscribe((now, before) => {
      if (now.theme !== before.theme) showTheme(now.theme, stage);
    });
    await document.fonts?.ready;
    stage.markBase();
    await stage.idle();
    return { app, stage };
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
