// SPDX-License-Identifier: MIT
// Mouse and touch on the chart, and the keys.
import { KIND } from '../lib/model';
import type { Stage } from '../draw/stage';
import * as act from '../state/actions';
import type { App, Item } from '../state/app';

const CLICK = 4; // px a press may move and still be a click
const SNAP = 5;

interface Drag {
  x: number;
  y: number;
  t: number;
  isPan: boolean;
  isDrag: boolean;
}

/** The border of an item near `x`, or the time there. */
function snapped(stage: Stage, x: number, y: number, isFree: boolean): number {
  const view = stage.view();
  const hit = isFree ? null : stage.hit(x, y);
  if (hit && Math.abs(hit.x0 - x) <= SNAP) return view.t(hit.x0);
  if (hit && Math.abs(hit.x1 - x) <= SNAP) return view.t(hit.x1);
  return view.t(Math.min(stage.width, Math.max(0, x)));
}

export function bindPointer(app: App, stage: Stage, area: HTMLElement): () => void {
  let drag: Drag | null = null;
  const place = (event: PointerEvent | MouseEvent): { x: number; y: number } => {
    const box = area.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const down = (event: PointerEvent): void => {
    if (event.button > 1) return;
    const { x, y } = place(event);
    const isPan = event.button === 1 || event.shiftKey;
    drag = { x, y, t: snapped(stage, x, y, event.altKey), isPan, isDrag: false };
    area.setPointerCapture(event.pointerId);
    if (isPan) event.preventDefault();
  };
  const move = (event: PointerEvent): void => {
    const { x, y } = place(event);
    if (!drag) {
      const hit = stage.hit(x, y);
      const item = hit && { thread: hit.thread, row: hit.row };
      return act.hover(app, item, item ? { x: event.clientX, y: event.clientY } : null);
    }
    if (Math.abs(x - drag.x) > CLICK) drag.isDrag = true;
    if (!drag.isDrag) return;
    act.hover(app, null, null);
    if (drag.isPan) {
      act.pan(app, (drag.x - x) / stage.width);
      drag.x = x;
      return;
    }
    const t = snapped(stage, x, y, event.altKey);
    const [t0, t1] = [Math.round(Math.min(t, drag.t)), Math.round(Math.max(t, drag.t))];
    if (t1 > t0) act.setRange(app, { t0, t1 }, true);
  };
  const up = (event: PointerEvent): void => {
    const { x, y } = place(event);
    const was = drag;
    drag = null;
    if (!was) return;
    const { range } = app.state.get();
    if (was.isDrag) return was.isPan ? undefined : act.setRange(app, range, false);
    const hit = stage.hit(x, y);
    if (range) act.setRange(app, null, false);
    act.select(app, hit && { thread: hit.thread, row: hit.row });
  };
  const leave = (): void => act.hover(app, null, null);
  const double = (): void => {
    if (app.state.get().item) act.commitRange(app);
  };
  const wheel = (event: WheelEvent): void => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    act.zoom(app, Math.exp(event.deltaY * 0.002), place(event).x / stage.width);
  };
  const listeners: [keyof HTMLElementEventMap, (event: never) => void][] = [
    ['pointerdown', down],
    ['pointermove', move],
    ['pointerup', up],
    ['pointerleave', leave],
    ['dblclick', double],
  ];
  for (const [name, listener] of listeners) area.addEventListener(name, listener as EventListener);
  area.addEventListener('wheel', wheel, { passive: false });
  return () => {
    for (const [name, listener] of listeners)
      area.removeEventListener(name, listener as EventListener);
    area.removeEventListener('wheel', wheel);
  };
}

/** Items of a thread that can carry the focus: those in view, from the painted ones. */
function focusable(app: App, stage: Stage, thread: number): number[] {
  const { rows } = app.model.trace.threads[thread]!;
  const seen = new Set<number>();
  for (const hit of stage.hits())
    if (hit.thread === thread && rows.kind[hit.row] !== KIND.SLIVER) seen.add(hit.row);
  return [...seen].sort((a, b) => a - b);
}

function firstItem(app: App, stage: Stage, thread: number): Item {
  return { thread, row: focusable(app, stage, thread)[0] ?? 0 };
}

function stepItem(app: App, stage: Stage, by: 1 | -1): void {
  const { item } = app.state.get();
  if (!item) return stepThread(app, stage, 1);
  const list = focusable(app, stage, item.thread);
  const at = list.indexOf(item.row);
  const next = list[at < 0 ? 0 : Math.min(list.length - 1, Math.max(0, at + by))];
  if (next !== undefined) act.select(app, { thread: item.thread, row: next });
}

function stepThread(app: App, stage: Stage, by: 1 | -1): void {
  const { item } = app.state.get();
  const threads = stage.rows().rows.flatMap(row => row.pack?.threads ?? [row.thread!]);
  if (threads.length === 0) return;
  const at = item ? threads.findIndex(thread => thread.index === item.thread) : -1;
  const next = threads[Math.min(threads.length - 1, Math.max(0, at + by))]!;
  const { rows } = next;
  const before = item && app.model.trace.threads[item.thread]!.rows.start[item.row]!;
  let row = firstItem(app, stage, next.index).row;
  if (before !== null)
    for (const candidate of focusable(app, stage, next.index))
      if (rows.start[candidate]! <= before && rows.end[candidate]! > before) {
        row = candidate;
        break;
      }
  act.select(app, { thread: next.index, row });
}

export function chartKey(app: App, stage: Stage, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const fast = event.shiftKey ? 3 : 1;
  const steps: Record<string, () => void> = {
    KeyW: () => act.zoom(app, 0.8 ** fast),
    KeyS: () => act.zoom(app, 1.25 ** fast),
    KeyA: () => act.pan(app, -0.1 * fast),
    KeyD: () => act.pan(app, 0.1 * fast),
    ArrowRight: () => stepItem(app, stage, 1),
    ArrowLeft: () => stepItem(app, stage, -1),
    ArrowDown: () => stepThread(app, stage, 1),
    ArrowUp: () => stepThread(app, stage, -1),
    Enter: () => act.commitRange(app),
    Period: () => act.stepHit(app, 1),
    Comma: () => act.stepHit(app, -1),
    KeyE: () => toggleTallOf(app),
  };
  const step = steps[event.code];
  step?.();
  return step !== undefined;
}

function toggleTallOf(app: App): void {
  const { item } = app.state.get();
  if (item) act.toggleTall(app, item.thread);
}

export function pageKey(app: App, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const steps: Record<string, () => void> = {
    Escape: () => act.clear(app),
    Backspace: () => act.back(app),
    '/': () => document.getElementById('search')?.focus(),
    '?': () => act.toggleDrawer(app, 'help'),
    '0': () => act.resetView(app),
    z: () => act.commitRange(app),
    t: () => act.toggleTime(app),
    h: () => act.toggleFilter(app),
  };
  const step = steps[event.key];
  step?.();
  return step !== undefined;
}
