// SPDX-License-Identifier: MIT
// Mouse and keys of the timeline.
import { exact } from '../../shared/lib/format';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { pathsOf } from '../../shared/state/paths';
import { setServed } from '../../shared/state/served';
import { bindPointer } from '../../shared/views/chart';
import type { Pointing } from '../../shared/views/chart';
import type { TimelineStage } from './draw';
import * as onPath from './path';
import * as time from './state';
import * as walk from './walk';

function isSameHit(a: time.TimelineHit | null, b: time.TimelineHit | null): boolean {
  return (
    a?.thread === b?.thread && a?.depth === b?.depth && a?.start === b?.start && a?.end === b?.end
  );
}

export function bindTimeline(app: App, stage: TimelineStage, area: HTMLElement): () => void {
  const { state } = time.timelineOf(app);
  const hover = (x: number, y: number, pointer: { x: number; y: number }): void => {
    const { hover: now, isTipPinned } = state.get();
    if (isTipPinned) return;
    const hit = stage.hit(x, y);
    const over = hit ? null : stage.stateAt(x, y);
    if (!hit && !now && !over && !state.get().over) return;
    const kept = isSameHit(hit, now) ? now : hit;
    time.setTimeline(app, { hover: kept, over, pointer: hit || over ? pointer : null });
  };
  const pointing: Pointing = {
    stage,
    borders: (x, y) => {
      const hit = stage.hit(x, y);
      return hit && [hit.x0, hit.x1];
    },
    hover,
    leave: () => {
      const { hover: now, over, isTipPinned } = state.get();
      if ((now || over) && !isTipPinned)
        time.setTimeline(app, { hover: null, over: null, pointer: null });
    },
    click: (x, y, event) => {
      const hit = stage.hit(x, y);
      time.setTimeline(app, { isTipPinned: false });
      if (hit && (event.ctrlKey || event.metaKey)) walk.pickHit(app, hit);
      else walk.selectHit(app, hit);
      const state = hit ? null : stage.stateAt(x, y);
      if (state?.segment !== undefined) onPath.selectSegment(app, state.segment);
      else if (state?.lock !== undefined) openLock(app, state.lock);
      else rangeOfState(app, state);
    },
    double: (x, y) => {
      const hit = stage.hit(x, y);
      if (!hit && rangeOfState(app, stage.stateAt(x, y))) act.commitRange(app);
      else walk.zoomToHit(app, hit);
    },
    menu: (x, y, event) => {
      const t = stage.view().t(x);
      const thread = stage.trackAt(y)?.track.thread ?? -1;
      const menu = { x: event.clientX, y: event.clientY, t, hit: stage.hit(x, y), thread };
      time.setTimeline(app, { menu, hover: null, over: null, pointer: null });
    },
  };
  return bindPointer(app, pointing, area);
}

/** Holders, waiters, places and distribution of a lock are on the Interplay. */
function openLock(app: App, lock: string): void {
  app.screens.find(({ showLock }) => showLock)?.showLock?.(app, lock);
}

/** The time of a state is the range: to be measured, zoomed to, or asked about. */
function rangeOfState(app: App, state: time.StateHit | null): boolean {
  if (!state) return false;
  const { label } = time.timelineOf(app).served.threads[state.thread]!;
  act.setRange(app, { t0: Math.round(state.start), t1: Math.round(state.end) }, false);
  act.say(app, `${label} ${state.words}, from ${exact(state.start)}.`);
  return true;
}

/** Where a mark is set: under the pointer, at the selected call, or in the middle. */
function markTime(app: App): number {
  const { served, state } = time.timelineOf(app);
  const { window } = app.state.get();
  const { hover } = state.get();
  const call = served.state.get().call;
  if (hover) return hover.start;
  if (call && call.start >= window.t0 && call.start <= window.t1) return call.start;
  return (window.t0 + window.t1) / 2;
}

/** The thread that keys for tracks mean. */
function threadNow(app: App): number {
  const { served, state } = time.timelineOf(app);
  return state.get().hover?.thread ?? served.state.get().call?.thread ?? -1;
}

function mark(app: App, isNote: boolean): void {
  const { window } = app.state.get();
  time.toggleFlag(app, markTime(app), isNote, (window.t1 - window.t0) / 300);
}

export function toggleSetOnly(app: App): void {
  const { served } = time.timelineOf(app);
  const { set, isSetOnly } = served.state.get();
  if (set) setServed(served, { isSetOnly: !isSetOnly });
  else act.say(app, 'no set: search for calls, or Ctrl+click some');
}

type Steps = Record<string, () => void>;

/** Keys by where they are on the keyboard. */
function placeSteps(app: App, isFast: boolean): Steps {
  const fast = isFast ? 3 : 1;
  return {
    KeyW: () => act.zoom(app, 0.8 ** fast),
    KeyS: () => act.zoom(app, 1.25 ** fast),
    KeyA: () => act.pan(app, -0.1 * fast),
    KeyD: () => act.pan(app, 0.1 * fast),
    Period: () => (isFast ? walk.stepOutlier(app, 1) : walk.stepCall(app, 1)),
    Comma: () => (isFast ? walk.stepOutlier(app, -1) : walk.stepCall(app, -1)),
    ArrowLeft: () => walk.stepSibling(app, -1),
    ArrowRight: () => walk.stepSibling(app, 1),
    ArrowUp: () => (isFast ? walk.stepThread(app, -1) : walk.stepDepth(app, -1)),
    ArrowDown: () => (isFast ? walk.stepThread(app, 1) : walk.stepDepth(app, 1)),
  };
}

/** Keys by what is written on them. */
function letterSteps(app: App): Steps {
  return {
    f: () => walk.focusCall(app),
    F: () => walk.focusCall(app),
    r: () => walk.rangeOfCall(app),
    R: () => walk.rangeOfCall(app),
    m: () => mark(app, false),
    M: () => mark(app, true),
    p: () => {
      const thread = threadNow(app);
      if (thread >= 0) time.togglePin(app, thread);
    },
    g: () => time.nextSort(app),
    h: () => toggleSetOnly(app),
    e: () => time.nextMode(app, threadNow(app)),
    E: () => time.nextMode(app, -1),
    l: () => time.toggleLanes(app),
    c: () => onPath.togglePath(app),
    '[': () => onPath.stepPath(app, -1),
    ']': () => onPath.stepPath(app, 1),
    '{': () => onPath.otherPath(app, -1),
    '}': () => onPath.otherPath(app, 1),
    t: () => act.say(app, 'the timeline\u2019s time is linear'),
    Enter: () => act.commitRange(app),
  };
}

export function timelineKey(app: App, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey) return false;
  if (event.key === 'Alt') return pinTip(app);
  if (event.altKey) return false;
  const isControl =
    event.target instanceof HTMLElement && event.target.closest('button, a, summary');
  if (isControl && /^(Enter| |Arrow.*)$/.test(event.key)) return false;
  const step = placeSteps(app, event.shiftKey)[event.code] ?? letterSteps(app)[event.key];
  step?.();
  return step !== undefined;
}

/** Alt keeps the tool-tip where it is. */
function pinTip(app: App): boolean {
  const { hover, isTipPinned } = time.timelineOf(app).state.get();
  if (!hover) return false;
  time.setTimeline(app, { isTipPinned: !isTipPinned });
  return true;
}

/** Esc: what is on top goes first. */
export function clearTimeline(app: App): boolean {
  const { served, state } = time.timelineOf(app);
  const { menu, editing, isTipPinned } = state.get();
  const { set, isSetOnly, call } = served.state.get();
  if (menu) time.setTimeline(app, { menu: null });
  else if (editing >= 0) time.setTimeline(app, { editing: -1 });
  else if (isTipPinned) time.setTimeline(app, { isTipPinned: false, hover: null, pointer: null });
  else if (state.get().segment >= 0) pathsOf(app).set({ segment: -1 });
  else if (app.state.get().range) act.setRange(app, null, false);
  else if (isSetOnly) setServed(served, { isSetOnly: false });
  else if (call) time.selectCall(app, null);
  else if (set) {
    setServed(served, { set: null });
    act.setQuery(app, '');
  } else return false;
  return true;
}
