// SPDX-License-Identifier: MIT
// The frame of a chart: axis, canvases, labels and numbers beside them. Only rows in view are in
// the DOM. What the rows are is the business of the screen.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { BaseStage, Canvases, FrameRow } from '../draw/base';
import * as act from '../state/actions';
import { SORTS } from '../state/app';
import type { App, State, SortKey } from '../state/app';
import { runKeyed } from '../state/commands';
import { currentScreen } from '../state/screens';
import { Key } from './parts';
import { useApp, usePart } from './use';

type Keep = (thread: number | null) => void;

export interface FrameProps<Row extends FrameRow, S extends BaseStage<Row>> {
  label: string;
  listLabel: string;
  /** Over the numbers. */
  heads: [string, string];
  make: (app: App, canvases: Canvases) => S;
  bind: (app: App, stage: S, area: HTMLElement) => () => void;
  onKey: (app: App, stage: S, event: KeyboardEvent) => boolean;
  /** Parts of the state that the rows' picture hangs on, and those that their list does. */
  painted: readonly (keyof State)[];
  listed: readonly (keyof State)[];
  /** What else the picture hangs on: paints the rows or only what is over them, and keeps a thread
   * in view. */
  follow?: (app: App, paint: (isRows: boolean) => void, keep: Keep) => () => void;
  /** The thread that must stay in view, if it changed. */
  threadOf: (now: State, before: State) => number | null;
  holds: (row: Row, thread: number) => boolean;
  row: (row: Row) => ComponentChildren;
  /** The selected item as a sentence. */
  selected: () => JSX.Element;
  totals: (rows: readonly Row[]) => JSX.Element;
  empty: () => JSX.Element;
  onReady: (stage: BaseStage) => void;
}

function differs(keys: readonly (keyof State)[], a: State, b: State): boolean {
  return keys.some(key => a[key] !== b[key]);
}

function connect<Row extends FrameRow, S extends BaseStage<Row>>(
  app: App,
  stage: S,
  { painted, listed }: FrameProps<Row, S>,
  redraw: () => void,
): () => void {
  const off = app.state.subscribe((now, before) => {
    if (now.colors !== before.colors) stage.retheme();
    const isList = differs(listed, now, before) || (now.isFiltered && now.query !== before.query);
    if (isList || differs(painted, now, before)) stage.markBase();
    else stage.markOverlay();
    if (isList) redraw();
  });
  const offSet = app.served?.state.subscribe(() => stage.markOverlay());
  return () => {
    off();
    offSet?.();
  };
}

/** Keeps the row of the selected thread in view, and follows what is the screen's own. */
function keepInView<Row extends FrameRow, S extends BaseStage<Row>>(
  app: App,
  stage: S | null,
  scroller: HTMLElement | null,
  { threadOf, holds, follow }: FrameProps<Row, S>,
): () => void {
  if (!stage || !scroller) return () => undefined;
  const keep: Keep = thread => {
    if (thread === null) return;
    const row = stage.rows().rows.find(one => holds(one, thread));
    if (!row) return;
    const { scrollTop, clientHeight } = scroller;
    if (row.y < scrollTop) scroller.scrollTop = row.y;
    else if (row.y + Math.min(row.height, clientHeight) > scrollTop + clientHeight)
      scroller.scrollTop = row.y + Math.min(row.height, clientHeight) - clientHeight;
  };
  const paint = (isRows: boolean): void => (isRows ? stage.markBase() : stage.markOverlay());
  const offs = [
    app.state.subscribe((now, before) => keep(threadOf(now, before))),
    follow?.(app, paint, keep),
  ];
  return () => offs.forEach(off => off?.());
}

interface Staged<S> {
  stage: S | null;
  scroller: { current: HTMLDivElement | null };
  area: { current: HTMLDivElement | null };
  /** For the canvases: axis, rows, and what lies over them. */
  axis: { current: HTMLCanvasElement | null };
  base: { current: HTMLCanvasElement | null };
  overlay: { current: HTMLCanvasElement | null };
  /** What of the content is in view, CSS px. */
  top: number;
  height: number;
  onScroll: () => void;
}

/** A stage on canvases as large as what scrolls over them. `bind` says what ends with it. */
export function useStage<S extends BaseStage>(
  make: (app: App, canvases: Canvases) => S,
  bind: (stage: S, area: HTMLElement, scroller: HTMLElement, redraw: () => void) => (() => void)[],
  onReady: (stage: S) => void,
): Staged<S> {
  const app = useApp();
  const scroller = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLDivElement>(null);
  const axis = useRef<HTMLCanvasElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const [stage, setStage] = useState<S | null>(null);
  const [box, setBox] = useState({ top: 0, height: 600 });
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useLayoutEffect(() => {
    const canvases = { axis: axis.current!, base: base.current!, overlay: overlay.current! };
    const made = make(app, canvases);
    const offs = bind(made, area.current!, scroller.current!, () => redraw(undefined));
    const measure = (): void => {
      const height = scroller.current!.clientHeight;
      made.resize(area.current!.clientWidth, height);
      setBox(now => ({ ...now, height }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(scroller.current!);
    observer.observe(area.current!);
    measure();
    setStage(made);
    onReady(made);
    return () => {
      offs.forEach(off => off());
      observer.disconnect();
    };
  }, [app]);
  const onScroll = (): void => {
    const { scrollTop: top } = scroller.current!;
    stage?.scroll(top);
    setBox(now => ({ ...now, top }));
  };
  return { stage, scroller, area, axis, base, overlay, ...box, onScroll };
}

export function Frame<Row extends FrameRow, S extends BaseStage<Row>>(
  props: FrameProps<Row, S>,
): JSX.Element {
  const app = useApp();
  const { stage, scroller, area, axis, base, overlay, top, height, onScroll } = useStage<S>(
    props.make,
    (made, of, _, redraw) => [connect(app, made, props, redraw), props.bind(app, made, of)],
    props.onReady,
  );
  useEffect(() => keepInView(app, stage, scroller.current, props), [stage]);
  const built = stage?.rows() ?? { rows: [], height: 0 };
  const visible = built.rows.filter(
    row => row.y + row.height >= top - 40 && row.y <= top + height + 40,
  );
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current) return;
    if (stage && props.onKey(app, stage, event)) event.preventDefault();
  };
  return (
    <section class="chart" aria-label={props.label}>
      <div class="head">
        <span class="h-thread">Thread</span>
        <canvas ref={axis} aria-hidden="true" class="axis" />
        <span class="h-numbers">
          <span>{props.heads[0]}</span>
          <span>{props.heads[1]}</span>
        </span>
      </div>
      <div
        ref={scroller}
        id="chart"
        class="scroller"
        tabIndex={0}
        role="listbox"
        aria-label={props.listLabel}
        aria-activedescendant="item-now"
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        <div class="sr">{props.selected()}</div>
        <div class="content" style={{ height: `${built.height}px` }} role="presentation">
          <div ref={area} class="area" style={{ height: `${height}px` }}>
            <canvas ref={base} aria-hidden="true" />
            <canvas ref={overlay} aria-hidden="true" class="over" />
          </div>
          <div role="table" aria-label="Threads in view" class="rows">
            {visible.map(row => (
              <div role="row" key={row.key}>
                {props.row(row)}
              </div>
            ))}
          </div>
          {stage && built.rows.length === 0 && props.empty()}
        </div>
      </div>
      {props.totals(built.rows)}
    </section>
  );
}

/** At the right of the crumbs: how a chart is drawn. */
export function ChartSettings({
  color,
  children,
}: {
  color: string;
  children?: ComponentChildren;
}): JSX.Element {
  const app = useApp();
  const sort = usePart(s => s.sort);
  const isRegime = usePart(s => s.isRegime);
  return (
    <>
      <label>
        Rows by{' '}
        <select value={sort} onChange={e => act.setSort(app, e.currentTarget.value as SortKey)}>
          {SORTS.map(([key, name]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {children}
      <button class="plain" aria-pressed={isRegime} onClick={() => act.toggleTime(app)}>
        Time <b>{isRegime ? 'regime' : 'linear'}</b> <Key>t</Key>
      </button>
      <span>
        Colour <b>{color}</b>
      </span>
    </>
  );
}

/* ---- Mouse and touch on the chart, and the keys. ---- */

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
