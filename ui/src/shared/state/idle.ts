// SPDX-License-Identifier: MIT
// The time axis of the screen at hand; on the Patterns screen idle stretches may be folded.
import { idleStretches } from '../lib/idle';
import type { Span } from '../lib/model';
import { spansOf } from '../lib/shapes';
import { foldMap } from '../lib/timemap';
import type { TimeMap } from '../lib/timemap';
import type { App, Model } from './app';

/** Of the whole: what a fold takes, and how long a stretch is at least that is folded. */
const FOLD = 0.014;
const LEAST = 0.03;

export interface Idle {
  stretches: readonly Span[];
  map: TimeMap;
}

const found = new WeakMap<Model, { hidden: ReadonlySet<number>; idle: Idle }>();

/** Stretches in which no thread that is shown has an occurrence of any behaviour. */
export function idleOf(model: Model, hidden: ReadonlySet<number>): Idle {
  const held = found.get(model);
  if (held?.hidden === hidden) return held.idle;
  const { shapes } = model.behaviours!;
  const { duration } = model.trace;
  const lists = shapes.threads.flatMap(own =>
    own && !hidden.has(own.thread) ? own.ribbons.map(ribbon => spansOf(shapes, ribbon)) : [],
  );
  const isAny = lists.some(({ t0 }) => t0.length > 0);
  const stretches = isAny ? idleStretches(lists, duration, Math.max(1, duration * LEAST)) : [];
  const idle = { stretches, map: foldMap(duration, stretches, FOLD) };
  found.set(model, { hidden, idle });
  return idle;
}

/** Those that are folded now. */
export function folded({ model, state }: App): readonly Span[] {
  const { screen, patterns, hidden } = state.get();
  const isOn = screen === 'patterns' && patterns.isFolded && model.behaviours !== null;
  return isOn ? idleOf(model, hidden).stretches : [];
}

/** Time to place on the screen at hand. */
export function timeMap(app: App): TimeMap {
  const { hidden, isRegime } = app.state.get();
  return folded(app).length > 0 ? idleOf(app.model, hidden).map : app.model.map(isRegime);
}
