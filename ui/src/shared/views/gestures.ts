// SPDX-License-Identifier: MIT
// Mouse and touch on the chart, and the keys.
import type { BaseStage } from '../draw/base';
import * as act from '../state/actions';
import type { App } from '../state/app';
import { runKeyed } from '../state/commands';
import { currentScreen } from '../state/screens';

const CLICK = 4; // px a press may move and still be a click
const SNAP = 5;

interface Drag {
  x: number;
  y: number;
  t: number;
  isPan: boolean;
  isDrag: boolean;
}

/** What a chart does with the pointer; places are CSS px of its area. */
export interface Pointing {
  stage: BaseStage;
  /** Left and right border of what lies there, to snap to. */
  borders: (x: number, y: number) => [number, number] | null;
  hover: (x: number, y: number, pointer: { x: number; y: number }) => void;
  leave: () => void;
  click: (x: number, y: number, event: PointerEvent) => void;
  /** Instead of zooming to what is selected. */
  double?: (x: number, y: number) => void;
  menu?: (x: number, y: number, event: MouseEvent) => void;
}

const GRIP = 4; // px beside a border of the range where it can be grasped

/** The other border of the range, if one is under the pointer. */
function grasped(app: App, { stage }: Pointing, x: number): number | null {
  const { range, isPreview } = app.state.get();
  if (!range || isPreview) return null;
  const view = stage.view();
  if (Math.abs(view.x(range.t0) - x) <= GRIP) return range.t1;
  return Math.abs(view.x(range.t1) - x) <= GRIP ? range.t0 : null;
}

/** The border of an item near `x`, or the time there. */
function snapped({ stage, borders }: Pointing, x: number, y: number, isFree: boolean): number {
  const view = stage.view();
  const edges = isFree ? null : borders(x, y);
  for (const edge of edges ?? []) if (Math.abs(edge - x) <= SNAP) return view.t(edge);
  return view.t(Math.min(stage.width, Math.max(0, x)));
}

export function bindPointer(app: App, pointing: Pointing, area: HTMLElement): () => void {
  const { stage } = pointing;
  let drag: Drag | null = null;
  const place = (event: PointerEvent | MouseEvent): { x: number; y: number } => {
    const box = area.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const down = (event: PointerEvent): void => {
    if (event.button > 1) return;
    const { x, y } = place(event);
    const isPan = event.button === 1 || event.shiftKey;
    const other = isPan ? null : grasped(app, pointing, x);
    const t = other ?? snapped(pointing, x, y, event.altKey);
    drag = { x, y, t, isPan, isDrag: other !== null };
    area.setPointerCapture(event.pointerId);
    if (isPan) event.preventDefault();
  };
  const move = (event: PointerEvent): void => {
    const { x, y } = place(event);
    if (!drag) {
      area.style.cursor = grasped(app, pointing, x) === null ? '' : 'ew-resize';
      return pointing.hover(x, y, { x: event.clientX, y: event.clientY });
    }
    if (Math.abs(x - drag.x) > CLICK) drag.isDrag = true;
    if (!drag.isDrag) return;
    pointing.leave();
    if (drag.isPan) {
      act.pan(app, (drag.x - x) / stage.width);
      drag.x = x;
      return;
    }
    const t = snapped(pointing, x, y, event.altKey);
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
    if (range) act.setRange(app, null, false);
    pointing.click(x, y, event);
  };
  const leave = (): void => pointing.leave();
  const double = (event: MouseEvent): void => {
    const { x, y } = place(event);
    if (pointing.double) pointing.double(x, y);
    else if (act.focusSpan(app)) act.commitRange(app);
  };
  const menu = (event: MouseEvent): void => {
    if (!pointing.menu) return;
    event.preventDefault();
    const { x, y } = place(event);
    pointing.menu(x, y, event);
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
    ['contextmenu', menu],
  ];
  for (const [name, listener] of listeners) area.addEventListener(name, listener as EventListener);
  area.addEventListener('wheel', wheel, { passive: false });
  return () => {
    for (const [name, listener] of listeners)
      area.removeEventListener(name, listener as EventListener);
    area.removeEventListener('wheel', wheel);
  };
}

type Steps = Record<string, () => unknown>;

/** Runs what a key of a chart means; zoom and pan are common to all. */
export function runKey(app: App, event: KeyboardEvent, own: Steps): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (/^[<>]$/.test(event.key)) return false; // on the keys of . and ,
  const fast = event.shiftKey ? 3 : 1;
  const steps: Steps = {
    KeyW: () => act.zoom(app, 0.8 ** fast),
    KeyS: () => act.zoom(app, 1.25 ** fast),
    KeyA: () => act.pan(app, -0.1 * fast),
    KeyD: () => act.pan(app, 0.1 * fast),
    Enter: () => act.commitRange(app),
    ...own,
  };
  const step = steps[event.code];
  step?.();
  return step !== undefined;
}

/** Enter and the space bar belong to the control that has the focus. */
function isForControl({ key, target }: KeyboardEvent): boolean {
  if (!/^(Enter| )$/.test(key) || !(target instanceof HTMLElement)) return false;
  return target.closest('button, a, summary, input') !== null;
}

export function pageKey(app: App, event: KeyboardEvent): boolean {
  if (isForControl(event)) return false;
  const own = currentScreen(app).onKey;
  if (!event.ctrlKey && !event.metaKey && own?.(app, event)) return true;
  return runKeyed(app, event);
}
