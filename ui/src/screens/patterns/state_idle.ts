// SPDX-License-Identifier: MIT
// Stretches in which nothing occurs may be folded.
import { idleStretches } from '../../shared/lib/idle';
import type { Span } from '../../shared/lib/model';
import { spansOf } from '../../shared/lib/shapes';
import { foldMap } from '../../shared/lib/timemap';
import type { TimeMap } from '../../shared/lib/timemap';
import type { App, Model } from '../../shared/state/app';

import { Own } from '../../shared/lib/own';
import { stateOf } from './state_patterns';

/** Of the whole: what a fold takes, and how long a stretch is at least that is folded. */
const FOLD = 0.014;
const LEAST = 0.03;

export interface Idle {
  stretches: readonly Span[];
  map: TimeMap;
}

interface Found {
  hidden: ReadonlySet<number> | null;
  idle: Idle | null;
}
const FOUND = new Own<Model, Found>('idle', () => ({ hidden: null, idle: null }));

/** Stretches in which no thread that is shown has an occurrence of any behaviour. */
export function idleOf(model: Model, hidden: ReadonlySet<number>): Idle {
  const held = FOUND.of(model);
  if (held.hidden === hidden) return held.idle!;
  const { shapes } = model.behaviours!;
  const { duration } = model.trace;
  const lists = shapes.threads.flatMap(own =>
    own && !hidden.has(own.thread) ? own.ribbons.map(ribbon => spansOf(shapes, ribbon)) : [],
  );
  const isAny = lists.some(({ t0 }) => t0.length > 0);
  const stretches = isAny ? idleStretches(lists, duration, Math.max(1, duration * LEAST)) : [];
  held.hidden = hidden;
  return (held.idle = { stretches, map: foldMap(duration, stretches, FOLD) });
}

/** Those that are folded now. */
export function folded(app: App): readonly Span[] {
  const { model, state } = app;
  const isOn = stateOf(app).isFolded && model.behaviours !== null;
  return isOn ? idleOf(model, state.get().hidden).stretches : [];
}

/** The axis without them; null: nothing is folded. */
export function foldedMap(app: App): TimeMap | null {
  return folded(app).length > 0 ? idleOf(app.model, app.state.get().hidden).map : null;
}
