// SPDX-License-Identifier: MIT
// From a call in a list to where it is on a time axis.
import { plural } from '../lib/format';
import { setWindow } from './actions';
import type { App } from './app';
import { setServed } from './served';
import type { CallAt, CallSet, Served } from './served';

export function callAt(set: CallSet, i: number): CallAt {
  return {
    ...{ thread: set.thread[i]!, depth: set.depth[i]!, start: set.start[i]!, end: set.end[i]! },
    fn: set.fn[i]!,
  };
}

export function sameCall(a: CallAt | null, b: CallAt): boolean {
  return a !== null && a.thread === b.thread && a.start === b.start && a.depth === b.depth;
}

/** Selects a call and shows it, with some room around it, on the timeline (or the Overview). The
 * window before becomes a crumb. */
export function goToCall(app: App, served: Served, call: CallAt): void {
  setServed(served, { call });
  const { window, crumbs } = app.state.get();
  const room = Math.max((call.end - call.start) * 0.5, 50);
  const screen = app.screens.find(({ key }) => key === 'timeline') ?? app.screens[0]!;
  const name = served.names.name[call.fn] ?? 'a call';
  app.state.update(now => ({
    ...now,
    ...{ crumbs: [...crumbs, window], screen: screen.key, range: null, isPreview: false },
    ...{ hover: null, pointer: null },
    said: `${name} in ${served.threads[call.thread]?.label ?? 'a thread'}; ${plural(crumbs.length + 1, 'step')} to go back.`,
  }));
  setWindow(app, call.start - room, call.end + room);
}
