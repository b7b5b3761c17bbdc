// SPDX-License-Identifier: MIT
// A critical path on the Timeline: on each thread the stretches that the path was on it, and where it
// went on in another thread.
import { duration } from '../../shared/lib/format';
import type { Span } from '../../shared/lib/model';
import { causeOf, placeOf, segmentSentence } from '../../shared/lib/path';
import type { Path, PathSegment } from '../../shared/lib/path';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { pathsOf } from '../../shared/state/paths';
import { setTimeline, timelineOf } from './state';

/** Px of a path's strip above the states of a thread, with its line; and of a compact one. */
export const PATH_STRIP = 13;
export const LOW_PATH = 5;
/** Px of the axis that have one arrow at most. */
export const HOP_ROOM = 8;

/**
 * Where the path is on one thread: stretches in order of time, which do not overlap. Segments of one
 * look that follow each other are one stretch: samples cut what ran into as many as there are.
 */
export interface PathLane {
  n: number;
  start: Float64Array;
  end: Float64Array;
  /** How it is drawn (lib/timelinestates). */
  look: Uint8Array;
  /** Reached over an edge that is inferred. */
  isInferred: Uint8Array;
  /** Its first segment, and how many follow each other. */
  segment: Uint32Array;
  count: Uint32Array;
}

/** The path goes on in another thread. */
export interface Hop {
  t: number;
  from: number;
  to: number;
  /** ns of the shorter of the stretches that it joins. */
  weight: number;
  /** Of the path: the segment that it leads to. */
  segment: number;
}

export interface TimelinePath {
  path: Path;
  title: string;
  lanes: ReadonlyMap<number, PathLane>;
  /** In order of time. */
  hops: readonly Hop[];
}

const lookOf = ({ state, reason }: PathSegment): number => causeOf(state, reason).look;

/** Does the segment go on where the one before it stopped? */
function isSameStretch(before: PathSegment, now: PathSegment): boolean {
  return (
    before.thread === now.thread &&
    before.end === now.start &&
    before.isUncertain === now.isUncertain &&
    lookOf(before) === lookOf(now)
  );
}

function laneOf({ segments }: Path, own: readonly (readonly [number, number])[]): PathLane {
  const first = own.map(([from]) => segments[from]!);
  return {
    n: own.length,
    start: Float64Array.from(first, ({ start }) => start),
    end: Float64Array.from(own, ([from, count]) => segments[from + count - 1]!.end),
    look: Uint8Array.from(first, lookOf),
    isInferred: Uint8Array.from(first, ({ isUncertain }) => (isUncertain ? 1 : 0)),
    segment: Uint32Array.from(own, ([from]) => from),
    count: Uint32Array.from(own, ([, count]) => count),
  };
}

function hopsOf({ segments }: Path): Hop[] {
  const hops: Hop[] = [];
  for (let i = 1; i < segments.length; i++) {
    const [before, now] = [segments[i - 1]!, segments[i]!];
    if (before.thread === now.thread) continue;
    const weight = Math.min(before.end - before.start, now.end - now.start);
    hops.push({ t: now.start, from: before.thread, to: now.thread, weight, segment: i });
  }
  return hops;
}

/** In one pass over the path. */
export function timelinePath(path: Path, title: string): TimelinePath {
  const own = new Map<number, [number, number][]>();
  path.segments.forEach((segment, i) => {
    const list = own.get(segment.thread) ?? [];
    const last = list.at(-1);
    const before = path.segments[i - 1];
    if (last && before && isSameStretch(before, segment)) last[1]++;
    else list.push([i, 1]);
    own.set(segment.thread, list);
  });
  const lanes = new Map([...own].map(([thread, list]) => [thread, laneOf(path, list)]));
  return { path, title, lanes, hops: hopsOf(path) };
}

/** The first whose `key` is not less than `t`. */
function firstFrom(n: number, keyAt: (i: number) => number, t: number): number {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keyAt(middle) < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What part of the time axis is seen: `scale` device px a ns. */
interface Seen {
  t0: number;
  t1: number;
  scale: number;
}

/**
 * The bars of a lane in view, from left to right and without overlap, each at least a pixel wide: where
 * several share a pixel, it is that of the longest.
 */
export function eachPathBar(
  lane: PathLane,
  { t0, t1, scale }: Seen,
  put: (i: number, x0: number, x1: number) => void,
): void {
  const { n, start, end } = lane;
  let [done, longest] = [-Infinity, 0];
  for (let i = firstFrom(n, at => end[at]!, t0); i < n && start[i]! <= t1; i++) {
    const x = Math.round((start[i]! - t0) * scale);
    const x1 = Math.max(x + 1, Math.round((end[i]! - t0) * scale));
    const length = end[i]! - start[i]!;
    const x0 = x < done && length <= longest ? done : x;
    if (x1 <= x0) continue;
    put(i, x0, x1);
    [done, longest] = [x1, length];
  }
}

/**
 * The arrows in view: of each `room` px of the axis, those that lie at fixed times, the one between the
 * longest stretches. Panning neither adds nor takes away any.
 */
export function hopsInView(
  hops: readonly Hop[],
  { t0, t1, scale }: Seen,
  room: number,
  isShown: (hop: Hop) => boolean,
): Hop[] {
  const shown: Hop[] = [];
  let cell = NaN;
  for (let i = firstFrom(hops.length, at => hops[at]!.t, t0); i < hops.length; i++) {
    const hop = hops[i]!;
    if (hop.t > t1) break;
    if (!isShown(hop)) continue;
    const own = Math.floor((hop.t * scale) / room);
    if (own !== cell) shown.push(hop);
    else if (hop.weight > shown.at(-1)!.weight) shown[shown.length - 1] = hop;
    cell = own;
  }
  return shown;
}

/** The segment of a lane at `t`, or the nearest within `near` ns, or -1. */
export function laneSegmentAt(
  { path, lanes }: TimelinePath,
  thread: number,
  t: number,
  near: number,
): number {
  const lane = lanes.get(thread);
  if (!lane) return -1;
  const { n, start, end } = lane;
  const i = firstFrom(n, at => end[at]!, t);
  const distance = (at: number): number =>
    at < 0 || at >= n ? Infinity : Math.max(0, start[at]! - t, t - end[at]!);
  const best = distance(i - 1) < distance(i) ? i - 1 : i;
  if (distance(best) > near) return -1;
  const first = lane.segment[best]!;
  const inside = firstFrom(lane.count[best]!, at => path.segments[first + at]!.end, t);
  return first + Math.min(inside, lane.count[best]! - 1);
}

/** What is written in a bar that has the room: where it was, else why; and how long. */
export function barWords({ segments }: Path, lane: PathLane, i: number): string {
  const first = segments[lane.segment[i]!]!;
  const cause = causeOf(first.state, first.reason);
  const isOne = lane.count[i] === 1;
  const place = isOne && cause.letter === '' ? placeOf(first) : '';
  const words = cause.letter ? `${cause.letter} ${cause.words}` : place || cause.words;
  return `${words}\u2002${duration(lane.end[i]! - lane.start[i]!)}`;
}

/** The next segment on another thread, or (`isFar` false) the next at all; the end, if there is none. */
export function stepSegment(
  { segments }: Path,
  segment: number,
  by: 1 | -1,
  isFar: boolean,
): number {
  const last = segments.length - 1;
  if (segment < 0 || segment > last) return by > 0 ? 0 : last;
  let next = Math.max(0, Math.min(last, segment + by));
  while (isFar && next > 0 && next < last && segments[next]!.thread === segments[segment]!.thread)
    next += by;
  return next;
}

/* ---- The critical path that the Timeline draws: the one that its screen shows, unless it is switched off. ---- */

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
