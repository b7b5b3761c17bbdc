// SPDX-License-Identifier: MIT
// Cards that stay until they are closed, and lead back to where they were pinned.
import { MOST_PINS, isSamePin } from '../lib/fragment';
import type { Pin } from '../lib/fragment';
import { say, set } from './actions';
import type { App } from './app';
import { currentScreen } from './screens';
import type { Card } from './screens';

/** The card of what is selected on this screen. */
export function pinAtHand(app: App): Pin | null {
  const { key: screen, cards } = currentScreen(app);
  const what = cards?.atHand(app) ?? null;
  return what && { screen, window: app.state.get().window, what };
}

/** What a pin stands for in the model at hand; null if that does not have it. */
export function cardOf(app: App, { screen, what }: Pin): Card | null {
  return app.screens.find(({ key }) => key === screen)?.cards?.read(app, what) ?? null;
}

function setPins(app: App, pins: readonly Pin[], said: string): void {
  set(app, { pins, said });
}

export function unpin(app: App, pin: Pin): void {
  const rest = app.state.get().pins.filter(one => one !== pin);
  setPins(app, rest, 'The card is closed.');
}

/** Pins what is selected, or closes its card. The oldest goes when they are too many. */
export function togglePin(app: App): void {
  const { pins } = app.state.get();
  const pin = pinAtHand(app);
  if (!pin) return say(app, 'Nothing is selected that has a card.');
  const old = pins.find(one => isSamePin(one, pin));
  if (old) return unpin(app, old);
  const words = cardOf(app, pin)?.sentence ?? '';
  setPins(app, [...pins, pin].slice(-MOST_PINS), `Pinned: ${words}`);
}

/** Back to where it was pinned: its screen, window and selection. The window of now is a crumb. */
export function goToPin(app: App, pin: Pin): void {
  const card = cardOf(app, pin);
  if (!card) return say(app, 'It is not in this part of the trace.');
  const { window, crumbs } = app.state.get();
  const whole = Math.max(1, app.model.trace.duration);
  const t0 = Math.min(pin.window.t0, whole - 1);
  const isSame = window.t0 === pin.window.t0 && window.t1 === pin.window.t1;
  set(app, {
    screen: pin.screen,
    range: null,
    crumbs: isSame ? crumbs : [...crumbs, window],
    isPreview: false,
    window: { t0, t1: Math.min(whole, Math.max(pin.window.t1, t0 + 1)) },
    said: card.sentence,
  });
  card.select();
}
