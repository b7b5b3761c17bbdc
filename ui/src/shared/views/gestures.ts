// SPDX-License-Identifier: MIT
// Mouse and touch on the chart, and the keys.
import type { Stage } from '../../screens/overview/draw_stage';
import type { PatternStage } from '../../screens/patterns/draw_stage';
import * as pat from '../../screens/patterns/state_patterns';
import type { BaseStage } from '../draw/base';
import { KIND } from '../lib/model';
import * as act from '../state/actions';
import type { App, Item } from '../state/app';
import { runKeyed } from '../state/commands';
import { currentScreen } from '../state/screens';
import { stepSet } from '../state/sets';

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

/** The Overview's pointing: items. */
export function bindItems(app: App, stage: Stage, area: HTMLElement): () => void {
  const itemAt = (x: number, y: number): Item | null => {
    const hit = stage.hit(x, y);
    return hit && { thread: hit.thread, row: hit.row };
  };
  const pointing: Pointing = {
    stage,
    borders: (x, y) => {
      const hit = stage.hit(x, y);
      return hit && [hit.x0, hit.x1];
    },
    hover: (x, y, pointer) => {
      const item = itemAt(x, y);
      act.hover(app, item, item ? pointer : null);
    },
    leave: () => act.hover(app, null, null),
    click: (x, y) => act.select(app, itemAt(x, y)),
  };
  if (app.served)
    pointing.menu = (x, y, event) => {
      const at = y + stage.scrollTop;
      const row = stage.rows().rows.find(one => at >= one.y && at < one.y + one.height);
      const item = itemAt(x, y);
      const thread = item?.thread ?? row?.thread?.index ?? -1;
      const t = stage.view().t(x);
      act.hover(app, null, null);
      act.openMenu(app, { x: event.clientX, y: event.clientY, t, item, thread });
    };
  return bindPointer(app, pointing, area);
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
  const all = stage.rows().rows.flatMap(row => row.pack?.threads ?? [row.thread!]);
  const threads = all.filter(thread => thread.rows.n > 0); // a part of the trace has some without
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

type Steps = Record<string, () => unknown>;

/** Runs what a key of a chart means; zoom and pan are common to all. */
function runKey(app: App, event: KeyboardEvent, own: Steps): boolean {
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

export function chartKey(app: App, stage: Stage, event: KeyboardEvent): boolean {
  return runKey(app, event, {
    ArrowRight: () => stepItem(app, stage, 1),
    ArrowLeft: () => stepItem(app, stage, -1),
    ArrowDown: () => stepThread(app, stage, 1),
    ArrowUp: () => stepThread(app, stage, -1),
    Period: () => stepSet(app, 1) || act.stepHit(app, 1),
    Comma: () => stepSet(app, -1) || act.stepHit(app, -1),
    KeyE: () => toggleTallOf(app),
  });
}

/* ---- ribbons ---- */

export function bindRuns(app: App, stage: PatternStage, area: HTMLElement): () => void {
  const pointing: Pointing = {
    stage,
    borders: (x, y) => {
      const found = stage.run(x, y);
      return found && [found.bar.x0, found.bar.x1];
    },
    hover: (x, y, pointer) => {
      const at = stage.run(x, y)?.at ?? null;
      pat.hoverRun(app, at, at ? pointer : null);
    },
    leave: () => pat.hoverRun(app, null, null),
    click: (x, y) => pat.chooseRun(app, stage.run(x, y)?.at ?? null),
  };
  return bindPointer(app, pointing, area);
}

/** The bar of another lane (`by` lanes away) or the next one of the same. */
function stepBar(app: App, stage: PatternStage, lanes: number, bars: number): void {
  const all = stage.painted().filter(lane => lane.bars.length > 0);
  const run = app.state.get().chosen?.run ?? null;
  const from = all.findIndex(
    lane =>
      lane.thread === run?.thread &&
      (lane.ribbon < 0 || lane.ribbon === run.ribbon) &&
      lane.bars.some(bar => bar.runs.includes(run.run)),
  );
  const lane = all[from < 0 ? 0 : Math.min(all.length - 1, Math.max(0, from + lanes))];
  if (!lane) return;
  const now = from < 0 ? null : all[from]!.bars.find(bar => bar.runs.includes(run!.run));
  const at = now ? lane.bars.findIndex(bar => bar.x1 > now.x0) : 0;
  const place = Math.max(
    0,
    Math.min(lane.bars.length - 1, (at < 0 ? lane.bars.length - 1 : at) + bars),
  );
  const bar = lane.bars[place]!;
  pat.chooseRun(app, { thread: lane.thread, ribbon: bar.ribbon, run: bar.run });
}

export function ribbonKey(app: App, stage: PatternStage, event: KeyboardEvent): boolean {
  return runKey(app, event, {
    ArrowRight: () => stepBar(app, stage, 0, 1),
    ArrowLeft: () => stepBar(app, stage, 0, -1),
    ArrowDown: () => stepBar(app, stage, 1, 0),
    ArrowUp: () => stepBar(app, stage, -1, 0),
    Period: () => pat.stepRun(app, 1),
    Comma: () => pat.stepRun(app, -1),
    KeyE: () => {
      const thread = app.state.get().chosen?.at.thread;
      if (thread !== undefined) act.toggleTall(app, thread);
    },
  });
}

function toggleTallOf(app: App): void {
  const { item } = app.state.get();
  if (item) act.toggleTall(app, item.thread);
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
