// SPDX-License-Identifier: MIT
// The critical path that the Timeline draws: the one that its screen shows, unless it is switched off.
import { duration } from '../../shared/lib/format';
import type { Span } from '../../shared/lib/model';
import { segmentSentence } from '../../shared/lib/path';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { pathsOf } from '../../shared/state/paths';
import { stepSegment, timelinePath } from './lib_path';
import type { TimelinePath } from './lib_path';
import { setTimeline, timelineOf } from './state_timeline';

/** Keeps what the Timeline draws that of the screen of paths; returns how to end that. */
export function followPath(app: App): () => void {
  const paths = pathsOf(app);
  const { state } = timelineOf(app);
  const made = new WeakMap<object, TimelinePath>();
  const look = (): void => {
    const { hasPath, path: before, segment: was } = state.get();
    const one = hasPath ? paths.current() : null;
    let path: TimelinePath | null = null;
    if (one?.path) {
      const [title, kept] = [paths.title(one), made.get(one.path)];
      if (!kept) path = timelinePath(one.path, title);
      else path = kept.title === title ? kept : { ...kept, title };
      made.set(one.path, path);
    }
    const segment = path ? paths.state.get().segment : -1;
    if (path !== before || segment !== was) setTimeline(app, { path, segment });
  };
  const offs = [paths.state.subscribe(look), state.subscribe(look)];
  look();
  return () => offs.forEach(off => off());
}

/** Draws the path, or no longer. */
export function togglePath(app: App): void {
  const { hasPath } = timelineOf(app).state.get();
  if (!pathsOf(app).current()) {
    act.say(
      app,
      'no critical path is chosen: x asks for that of the selected call, or of the range',
    );
    return;
  }
  setTimeline(app, { hasPath: !hasPath });
}

/** Moves the window no more than it takes to see a time, with some room. */
function bringIn(app: App, { t0, t1 }: Span): void {
  const { window } = app.state.get();
  const width = window.t1 - window.t0;
  if (t0 >= window.t0 && t1 <= window.t1) return;
  if (t0 < window.t0 && t1 > window.t1) return; // it is all that is seen
  const middle = t1 - t0 > width ? t0 + width * 0.4 : (t0 + t1) / 2;
  act.setWindow(app, middle - width / 2, middle + width / 2);
}

/** Selects a segment of the path, and says what it is. */
export function selectSegment(app: App, segment: number): void {
  const paths = pathsOf(app);
  const one = paths.current();
  const own = one?.path?.segments[segment];
  if (!one?.path || !own) return;
  paths.choose(paths.state.get().now, segment);
  act.reveal(app, own.thread);
  act.say(app, segmentSentence(own, one.path, paths.nameOf));
}

/** To where the path came from another thread, or goes on in one; the window follows. */
export function stepPath(app: App, by: 1 | -1): void {
  const { path, segment } = timelineOf(app).state.get();
  if (!path) return togglePath(app);
  const next = stepSegment(path.path, segment, by, true);
  const own = path.path.segments[next];
  if (!own) return;
  selectSegment(app, next);
  bringIn(app, { t0: own.start, t1: own.end });
}

/** The path before, or behind, of those on the screen of paths. */
export function otherPath(app: App, by: 1 | -1): void {
  const paths = pathsOf(app);
  const { asked, now } = paths.state.get();
  const next = asked[now + by];
  if (!next) {
    act.say(
      app,
      asked.length > 1 ? `no path ${by > 0 ? 'behind' : 'before'} it` : 'only one path is chosen',
    );
    return;
  }
  paths.choose(now + by);
  paths.pin(next.pick);
  showPath(app);
}

/** The whole path in the window; the window before becomes a crumb. */
export function showPath(app: App): void {
  const one = pathsOf(app).current();
  if (!one) return;
  const { t0, t1 } = one.pick.span;
  const { window, crumbs } = app.state.get();
  const room = Math.max(50, (t1 - t0) * 0.1);
  act.set(app, { crumbs: [...crumbs, window] });
  act.setWindow(app, t0 - room, t1 + room);
}

/** Threads of the path that are hidden. */
export function hiddenThreads(app: App, path: TimelinePath): number[] {
  const { tracks } = timelineOf(app).tracks();
  const shown = new Set(tracks.map(({ thread }) => thread));
  return [...path.lanes.keys()].filter(thread => !shown.has(thread));
}

/** Pins them on top of those that are. */
export function showThreads(app: App, threads: readonly number[]): void {
  for (const thread of threads) act.reveal(app, thread);
  const { pins } = timelineOf(app).state.get();
  const left = hiddenOf(app, threads);
  if (left.length > 0) setTimeline(app, { pins: [...pins, ...left] });
}

function hiddenOf(app: App, threads: readonly number[]): number[] {
  const shown = new Set(
    timelineOf(app)
      .tracks()
      .tracks.map(({ thread }) => thread),
  );
  return threads.filter(thread => !shown.has(thread));
}

/** Why nothing of the path is seen; '' if something is. */
export function whyUnseen(app: App, { path }: TimelinePath): string {
  const { window } = app.state.get();
  if (path.to > window.t0 && path.from < window.t1) return '';
  const side = path.to <= window.t0 ? 'before' : 'behind';
  const away = path.to <= window.t0 ? window.t0 - path.to : path.from - window.t1;
  return `it lies ${duration(away)} ${side} the window`;
}
