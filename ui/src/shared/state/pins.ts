// SPDX-License-Identifier: MIT
// Cards that stay until they are closed, and lead back to where they were pinned.
import { chosenSentence, clusterSentence } from '../../screens/patterns/state_patterns';
import { MOST_PINS } from '../lib/fragment';
import { isSamePin } from '../lib/pins';
import type { Pin } from '../lib/pins';
import { reveal, sentence, set } from './actions';
import { findRow, readRow, rowAt, writeRow } from './app';
import type { App, Chosen, Item } from './app';
import { currentScreen } from './screens';

/** What a pin stands for in the model at hand: a behaviour, or an item; null if it has neither. */
export type Pinned =
  | { kind: 'behaviour'; cluster: number; chosen: Chosen | null }
  | { kind: 'item'; item: Item };

/** The card of what is selected on this screen. */
export function pinAtHand(app: App): Pin | null {
  const { screen, window, item, cluster, chosen } = app.state.get();
  const { digit } = currentScreen(app);
  const { trace, behaviours } = app.model;
  if (screen === 'patterns') {
    const id = behaviours?.list[cluster]?.cluster.id;
    if (id === undefined) return null;
    const at = chosen && {
      tid: trace.threads[chosen.at.thread]!.tid,
      span: { t0: chosen.at.start, t1: Math.max(chosen.at.end, chosen.at.start + 1) },
    };
    return { digit, window, what: { kind: 'behaviour', id, at } };
  }
  const at = screen === 'overview' && item ? rowAt(app.model, item) : null;
  if (!at) return null;
  const row = writeRow(trace.threads[at.thread]!.tid, at);
  return { digit, window, what: { kind: 'row', row } };
}

export function resolvePin(app: App, { what }: Pin): Pinned | null {
  const { trace, behaviours } = app.model;
  const threadOf = (tid: number): number => trace.threads.findIndex(t => t.tid === tid);
  if (what.kind === 'row') {
    const at = readRow(what.row, threadOf);
    const item = at && findRow(app.model, at);
    return item && { kind: 'item', item };
  }
  const cluster = behaviours?.list.findIndex(one => one.cluster.id === what.id) ?? -1;
  if (cluster < 0) return null;
  const thread = what.at ? threadOf(what.at.tid) : -1;
  if (!what.at || thread < 0) return { kind: 'behaviour', cluster, chosen: null };
  const { typical, slowest, first } = behaviours!.list[cluster]!.cluster;
  const { t0: start, t1: end } = what.at.span;
  const known = [typical, slowest, first].find(
    one => one?.thread === thread && one.start === start && one.end === end,
  );
  const at = { thread, start, end, shape: known?.shape ?? -1 };
  return { kind: 'behaviour', cluster, chosen: { cluster, at, how: 'run', run: null } };
}

/** One sentence: what the card is of. */
export function pinSentence(app: App, pinned: Pinned): string {
  if (pinned.kind === 'item') return sentence(app, pinned.item);
  return pinned.chosen
    ? chosenSentence(app.model, pinned.chosen)
    : clusterSentence(app.model, pinned.cluster);
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
  if (!pin) return set(app, { said: 'Nothing is selected that has a card.' });
  const old = pins.find(one => isSamePin(one, pin));
  if (old) return unpin(app, old);
  const pinned = resolvePin(app, pin);
  const words = pinned ? pinSentence(app, pinned) : '';
  setPins(app, [...pins, pin].slice(-MOST_PINS), `Pinned: ${words}`);
}

/** Back to where it was pinned: its screen, window and selection. The window of now is a crumb. */
export function goToPin(app: App, pin: Pin): void {
  const pinned = resolvePin(app, pin);
  const screen = app.screens.find(({ digit }) => digit === pin.digit)?.key;
  if (!pinned || !screen) return set(app, { said: 'It is not in this part of the trace.' });
  const { window, crumbs } = app.state.get();
  const whole = Math.max(1, app.model.trace.duration);
  const t0 = Math.min(pin.window.t0, whole - 1);
  const isSame = window.t0 === pin.window.t0 && window.t1 === pin.window.t1;
  set(app, {
    ...{ screen, hover: null, pointer: null, over: -1, overRun: null, range: null },
    ...{ crumbs: isSame ? crumbs : [...crumbs, window], isPreview: false },
    window: { t0, t1: Math.min(whole, Math.max(pin.window.t1, t0 + 1)) },
    said: pinSentence(app, pinned),
  });
  if (pinned.kind === 'item') {
    reveal(app, pinned.item.thread);
    set(app, { item: pinned.item, panel: 'interval' });
  } else {
    if (pinned.chosen) reveal(app, pinned.chosen.at.thread);
    set(app, { cluster: pinned.cluster, chosen: pinned.chosen });
  }
}
