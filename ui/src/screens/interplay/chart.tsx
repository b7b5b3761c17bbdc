// SPDX-License-Identifier: MIT
// The picture of the Interplay: plate or ladder, the labels of its threads, the overview with its
// brush, and what the pointer does.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { num, objects, text } from '../../shared/api/columns';
import { unlessSuperseded } from '../../shared/api/source';
import { PanePainter } from '../../shared/draw/canvas';
import type { Pane } from '../../shared/draw/canvas';
import { duration, percent, exact, integer, plural } from '../../shared/lib/format';
import * as act from '../../shared/state/actions';
import type { OnReady } from '../../shared/state/screens';
import { hueVar, tipStyle } from '../../shared/views/parts';
import { useApp, useAtom } from '../../shared/views/use';
import { ratio } from '../../shared/lib/numbers';
import { toneOf, toneStep, decodeBlocking } from './data';
import { PlateStage } from './draw';
import { SITE_FN } from './load';
import { plateStyle } from './paint';
import { waitWords } from './panel';
import { labelSpots } from './plate';
import type { RingFrame } from './plate';
import { interplayOf } from './state';
import type { Interplay, PlateHit } from './state';

const CLICK_PX = 4;
const WHEEL = 1.0015;

/* ---- labels ---- */

function waited(screen: Interplay, thread: number): string {
  const row = screen.state.get().summary?.threads.find(one => one.thread === thread);
  if (!row) return '';
  const life = Math.max(1, row.last - row.first);
  return row.neverWaits ? 'never waits' : `waited ${percent(row.waitNs / life)}`;
}

interface Drag {
  thread: number;
  x: number;
  y: number;
}

function ThreadBadge({
  screen,
  stage,
  thread,
  at,
  isWide,
}: {
  screen: Interplay;
  stage: PlateStage;
  thread: number;
  at: { x: number; y: number; width?: number };
  isWide: boolean;
}): JSX.Element {
  const { focus, focused, current } = screen.state.get();
  const [drag, setDrag] = useState<Drag | null>(null);
  const hue = screen.hue(thread);
  const under = (event: PointerEvent): number => {
    const area = document.querySelector('.plate')!.getBoundingClientRect();
    const [x, y] = [event.clientX - area.left, event.clientY - area.top];
    const badge = document
      .elementsFromPoint(event.clientX, event.clientY)
      .map(one => (one as HTMLElement).closest<HTMLElement>('[data-thread]'))
      .find(one => one && Number(one.dataset['thread']) !== thread);
    return badge ? Number(badge.dataset['thread']) : (stage.frameAt(x, y)?.thread ?? -1);
  };
  const up = (event: PointerEvent): void => {
    if (!drag) return;
    const isDrag = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > CLICK_PX;
    setDrag(null);
    const to = isDrag ? under(event) : -1;
    if (to >= 0) screen.swap(thread, to);
  };
  const text = waited(screen, thread);
  const what = thread === focus ? 'main view' : focused === thread ? 'enlarged' : 'context';
  return (
    <button
      class={`badge-thread${thread === current ? ' now' : ''}${drag ? ' dragged' : ''}`}
      data-thread={thread}
      style={{
        left: `${at.x}px`,
        top: `${at.y}px`,
        ...(at.width === undefined ? {} : { width: `${at.width}px` }),
      }}
      title={`${screen.title(thread)}, ${what}${text ? `, ${text}` : ''}. Drag onto another thread to swap; double click hides; Enter makes it the main view; f gives it more room`}
      onPointerDown={event => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ thread, x: event.clientX, y: event.clientY });
        screen.set({ current: thread });
      }}
      onPointerUp={up}
      onPointerCancel={() => setDrag(null)}
      onDblClick={() => screen.hide(thread)}
      onFocus={() => screen.set({ current: thread })}
      onKeyDown={event => {
        if (event.key !== 'Enter') return;
        event.preventDefault();
        event.stopPropagation();
        screen.show(thread);
      }}
    >
      <i class="dot" style={{ background: hueVar(hue) }} />
      <b>{screen.label(thread)}</b>
      {isWide && <span class="tname">{screen.served.threads[thread]?.name}</span>}
      {isWide && <small>{text}</small>}
    </button>
  );
}

const LETTER_PX = 8.5;
const MOST_LETTERS = 12;

/** Of a label on the ring: its dot, and the thread's number. */
const badgeWidth = (label: string): number =>
  Math.ceil(30 + LETTER_PX * Math.min(MOST_LETTERS, label.length));

function Badges({ screen, stage }: { screen: Interplay; stage: PlateStage }): JSX.Element {
  const { mode } = screen.state.get();
  const frames = stage.frames();
  const rings = frames.filter((frame): frame is RingFrame => frame.isRing);
  const widths = rings.map(({ thread }) => badgeWidth(screen.label(thread)));
  const spots = labelSpots(rings, widths);
  const first = frames.length - rings.length;
  return (
    <div role="group" aria-label="Threads in the picture">
      {frames.map((frame, i) => {
        const at = frame.isRing
          ? { ...spots[i - first]!, width: widths[i - first]! }
          : mode === 'ladder'
            ? { x: 4, y: frame.place(frame.view.t0, 0).y + 2 }
            : { x: 6, y: stage.plate().split - 30 };
        return (
          <ThreadBadge
            key={frame.thread}
            screen={screen}
            stage={stage}
            at={at}
            isWide={!frame.isRing}
            thread={frame.thread}
          />
        );
      })}
    </div>
  );
}

/* ---- pointer ---- */

type Grip =
  | { kind: 'split' }
  | { kind: 'inner' }
  | { kind: 'pan'; thread: number; t: number; y: number; fold: number }
  | { kind: 'range'; thread: number; t: number; x: number; y: number; isDrag: boolean };

function isSame(a: PlateHit | null, b: PlateHit | null): boolean {
  return (
    a?.thread === b?.thread && a?.depth === b?.depth && a?.start === b?.start && a?.item === b?.item
  );
}

function bindPlate(screen: Interplay, stage: PlateStage, area: HTMLElement): () => void {
  let grip: Grip | null = null;
  const place = (event: MouseEvent): { x: number; y: number } => {
    const box = area.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const waitAt = (x: number, y: number): PlateHit | null => {
    const curve = stage.curveAt(x, y);
    return curve && screen.curveHit(curve);
  };
  const timeAt = (thread: number, x: number, y: number): number | null => {
    const frame = stage.frames().find(one => one.thread === thread);
    const spot = frame?.spot(x, y);
    return spot ? spot.t : null;
  };
  const down = (event: PointerEvent): void => {
    if (event.button > 1 || (event.target as HTMLElement).closest('button')) return;
    const { x, y } = place(event);
    const edge = stage.gripAt(x, y);
    const frame = stage.frameAt(x, y);
    if (edge) grip = { kind: edge };
    else if (frame) {
      const { t } = frame.spot(x, y)!;
      const { thread } = frame;
      const isPan = event.button === 1 || event.shiftKey;
      grip = isPan
        ? { kind: 'pan', thread, t, y, fold: screen.fold(thread) }
        : { kind: 'range', thread, t, x, y, isDrag: false };
    }
    if (grip) area.setPointerCapture(event.pointerId);
    if (event.button === 1 || event.shiftKey) event.preventDefault();
  };
  const hover = (x: number, y: number, event: PointerEvent): void => {
    const edge = stage.gripAt(x, y);
    area.style.cursor = edge === 'split' ? 'ns-resize' : edge === 'inner' ? 'move' : '';
    const hit = stage.hit(x, y) ?? waitAt(x, y);
    const now = screen.state.get().hover;
    if (!hit && !now) return;
    const pointer = hit ? { x: event.clientX, y: event.clientY } : null;
    screen.set({ hover: isSame(hit, now) ? now : hit, pointer });
  };
  const move = (event: PointerEvent): void => {
    const { x, y } = place(event);
    if (!grip) return hover(x, y, event);
    screen.set({ hover: null, pointer: null });
    if (grip.kind === 'split')
      return screen.set({ split: Math.min(0.85, Math.max(0.1, y / stage.height)) });
    if (grip.kind === 'inner') return setInner(screen, stage, x, y);
    if (grip.kind === 'pan') {
      const at = timeAt(grip.thread, x, y);
      const view = screen.view(grip.thread);
      if (at !== null)
        screen.setView(grip.thread, { t0: view.t0 + grip.t - at, t1: view.t1 + grip.t - at });
      const steps = Math.round((grip.y - y) / 14);
      const by = grip.fold + steps - screen.fold(grip.thread);
      if (by !== 0) screen.foldBy(grip.thread, by);
      return;
    }
    if (Math.hypot(x - grip.x, y - grip.y) > CLICK_PX) grip.isDrag = true;
    const at = grip.isDrag ? timeAt(grip.thread, x, y) : null;
    if (at !== null && at !== grip.t) {
      const range = { t0: Math.round(Math.min(at, grip.t)), t1: Math.round(Math.max(at, grip.t)) };
      act.setRange(screen.app, range, true);
    }
  };
  const up = (event: PointerEvent): void => {
    if (event.button > 0) return void (grip = null);
    const { x, y } = place(event);
    const done = grip;
    grip = null;
    if (done?.kind === 'range' && done.isDrag) {
      const { range } = screen.app.state.get();
      return act.setRange(screen.app, range, false);
    }
    const hit = done?.kind === 'range' ? stage.hit(x, y) : null;
    if (hit) screen.select(hit);
    else if (!done || done.kind === 'range') pickCurve(screen, stage, x, y);
  };
  const leave = (): void => {
    if (screen.state.get().hover) screen.set({ hover: null, pointer: null });
  };
  const double = (event: MouseEvent): void => {
    if ((event.target as HTMLElement).closest('button')) return;
    const { x, y } = place(event);
    const hit = stage.hit(x, y) ?? waitAt(x, y);
    if (!hit) return;
    const margin = (hit.end - hit.start) * 0.1;
    screen.setView(hit.thread, { t0: hit.start - margin, t1: hit.end + margin });
  };
  const wheel = (event: WheelEvent): void => {
    const { x, y } = place(event);
    const frame = stage.frameAt(x, y);
    if (!frame) return;
    event.preventDefault();
    const { t } = frame.spot(x, y)!;
    if (event.ctrlKey || event.metaKey)
      return screen.zoom(frame.thread, WHEEL ** Math.max(-400, Math.min(400, event.deltaY)), t);
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey)
      return screen.pan(frame.thread, (event.deltaX || event.deltaY) / Math.max(100, frame.length));
    screen.foldBy(frame.thread, event.deltaY > 0 ? 1 : -1);
  };
  const on = area.addEventListener.bind(area) as (
    name: string,
    run: (event: never) => void,
    how?: AddEventListenerOptions,
  ) => void;
  on('pointerdown', down);
  on('pointermove', move);
  on('pointerup', up);
  on('pointerleave', leave);
  on('dblclick', double);
  on('wheel', wheel, { passive: false });
  return () => {
    for (const [name, run] of Object.entries({
      pointerdown: down,
      pointermove: move,
      pointerup: up,
      pointerleave: leave,
      dblclick: double,
      wheel,
    }))
      area.removeEventListener(name, run as EventListener);
  };
}

function setInner(screen: Interplay, stage: PlateStage, x: number, y: number): void {
  const { center, outer } = stage.plate();
  const inner = Math.hypot(x - center.x, y - center.y) / Math.max(1, outer);
  screen.set({ inner: Math.min(0.95, Math.max(0.15, inner)) });
}

/** A click between the threads chooses the wait whose curve is there. */
function pickCurve(screen: Interplay, stage: PlateStage, x: number, y: number): void {
  const curve = stage.curveAt(x, y);
  if (curve) screen.selectWait(curve.thread, curve.item);
  else screen.select(null);
}

/* ---- overview ---- */

const OVERVIEW_PX = 44;

/** All of a thread's life, and the part that is in view: drag moves it or chooses another. */
function Overview({ screen, thread }: { screen: Interplay; thread: number }): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<PanePainter | null>(null);
  const drag = useRef<number | null>(null);
  useLayoutEffect(() => {
    const own = new PanePainter(canvas.current!, pane => paintOverview(screen, thread, pane));
    painter.current = own;
    const measure = (): void => own.resize(holder.current!.clientWidth, OVERVIEW_PX);
    const observer = new ResizeObserver(measure);
    observer.observe(holder.current!);
    measure();
    void screen.overview(thread);
    const offs = [
      screen.state.subscribe(() => own.markBase()),
      screen.app.state.subscribe((now, before) => {
        if (now.theme !== before.theme) own.retheme();
        else if (now.window !== before.window) own.markBase();
      }),
    ];
    return () => {
      offs.forEach(off => off());
      observer.disconnect();
      own.end();
    };
  }, [thread]);
  const at = (event: PointerEvent): number => {
    const box = holder.current!.getBoundingClientRect();
    return (
      (Math.min(Math.max(0, event.clientX - box.left), box.width) / box.width) *
      screen.served.trace.duration
    );
  };
  return (
    <div
      ref={holder}
      class="plate-overview"
      role="group"
      aria-label={`All of ${screen.title(thread)}; drag chooses the part in view`}
      title={`All of ${screen.title(thread)}: drag to choose the part in view`}
      onPointerDown={event => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = at(event);
      }}
      onPointerMove={event => {
        if (drag.current === null) return;
        const [a, b] = [Math.min(drag.current, at(event)), Math.max(drag.current, at(event))];
        if (b - a > screen.served.trace.duration / 400) screen.setView(thread, { t0: a, t1: b });
      }}
      onPointerUp={event => {
        const from = drag.current;
        drag.current = null;
        if (from === null || Math.abs(at(event) - from) > screen.served.trace.duration / 400)
          return;
        const { t0, t1 } = screen.view(thread);
        screen.setView(thread, { t0: from - (t1 - t0) / 2, t1: from + (t1 - t0) / 2 });
      }}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  );
}

/** How much of each column was waiting or input/output; the window. */
function paintOverview(
  screen: Interplay,
  thread: number,
  { ctx, theme, dpr, width, height }: Pane,
): void {
  const style = plateStyle(theme);
  const whole = screen.served.trace.duration;
  const own = screen.served.threads[thread];
  const shares = screen.overviews.get(thread) ?? null;
  ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
  ctx.fillStyle = theme.panel;
  ctx.fillRect(0, 0, width, height);
  const [first, last] = [own?.first ?? 0, own?.last ?? 0].map(
    t => (t / Math.max(1, whole)) * width,
  ) as [number, number];
  const step = 2;
  for (let x = Math.floor(first); x < last; x += step) {
    const [t0, t1] = [(x / width) * whole, ((x + step) / width) * whole];
    const tone = toneOf(shares, t0, t1);
    ctx.fillStyle = style.wait[0]!;
    ctx.fillRect(x, 4, step, height - 8);
    if (tone.kind === 'none') continue;
    const tall = Math.max(1, (height - 8) * tone.share);
    ctx.fillStyle = style[tone.kind][toneStep(1)]!;
    ctx.fillRect(x, height - 4 - tall, step, tall);
  }
  const { t0, t1 } = screen.view(thread);
  const [x0, x1] = [(t0 / whole) * width, (t1 / whole) * width];
  ctx.fillStyle = theme.bg;
  ctx.globalAlpha = 0.6;
  ctx.fillRect(0, 0, x0, height);
  ctx.fillRect(x1, 0, width - x1, height);
  ctx.globalAlpha = 1;
  ctx.fillStyle = theme.accent;
  ctx.fillRect(x0, 0, 2, height);
  ctx.fillRect(Math.max(x0 + 2, x1 - 2), 0, 2, height);
  ctx.font = `400 10px ${theme.font}`;
  ctx.textBaseline = 'top';
  const text = `${screen.title(thread)}, ${duration(t1 - t0)} of ${duration(whole)} in view`;
  const room = ctx.measureText(text).width + 8;
  ctx.fillStyle = theme.bg;
  ctx.fillRect(6, 6, room, 14);
  ctx.fillStyle = theme.ink2;
  ctx.fillText(text, 10, 8);
}

/* ---- chart ---- */

/** Why nothing is around the main view. */
function Alone({ screen }: { screen: Interplay }): JSX.Element {
  return (
    <p class="plate-alone">
      {screen.served.threads.length > 1
        ? 'No other thread is in the picture: tick some in the table Threads.'
        : 'This trace has one thread: there is none that it could wait for.'}
    </p>
  );
}

export function InterplayChart({ onReady }: { onReady: OnReady }): JSX.Element {
  const app = useApp();
  const screen = interplayOf(app);
  const area = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const curves = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const [stage, setStage] = useState<PlateStage | null>(null);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const focus = useAtom(screen.state, s => s.focus);
  const focused = useAtom(screen.state, s => s.focused);
  const isAlone = useAtom(screen.state, s => s.contexts.length === 0);
  const mode = useAtom(screen.state, s => s.mode);
  useLayoutEffect(() => {
    const made = new PlateStage(screen, {
      base: base.current!,
      curves: curves.current!,
      over: over.current!,
    });
    const measure = (): void => {
      made.resize(area.current!.clientWidth, area.current!.clientHeight);
      redraw(undefined);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(area.current!);
    measure();
    const unbind = bindPlate(screen, made, area.current!);
    const off = connect(screen, made, () => redraw(undefined));
    setStage(made);
    onReady(made);
    return () => {
      off();
      unbind();
      observer.disconnect();
      made.stop();
    };
  }, [app]);
  useEffect(() => redraw(undefined), [mode]);
  return (
    <section class="plate-chart" aria-label="Interplay of threads">
      {focus >= 0 && (
        <div class="overviews">
          <Overview screen={screen} thread={focus} key={focus} />
          {focused >= 0 && <Overview screen={screen} thread={focused} key={focused} />}
        </div>
      )}
      <div
        ref={area}
        id="plate"
        class="plate"
        tabIndex={0}
        role="application"
        aria-label="Calls and waits of threads. Arrow keys walk waits and threads; the table (v) has the same"
        aria-describedby="said"
      >
        <canvas ref={base} aria-hidden="true" />
        <canvas ref={curves} aria-hidden="true" class="over" />
        <canvas ref={over} aria-hidden="true" class="over" />
        {stage && focus >= 0 && <Badges screen={screen} stage={stage} />}
        {focus >= 0 && isAlone && <Alone screen={screen} />}
      </div>
    </section>
  );
}

const PLACED = [
  'focus',
  'contexts',
  'focused',
  'views',
  'folds',
  'split',
  'inner',
  'mode',
  'loaded',
] as const;

function connect(screen: Interplay, stage: PlateStage, redraw: () => void): () => void {
  const offs = [
    screen.state.subscribe((now, before) => {
      if (PLACED.some(key => now[key] !== before[key])) {
        stage.markBase();
        redraw();
      } else if (now.isByObject !== before.isByObject || now.hover?.thread !== before.hover?.thread)
        stage.markCurves();
      else if (now.isByObject && now.hover !== before.hover) stage.markCurves();
      else if (now.hover !== before.hover || now.selected !== before.selected) stage.markOverlay();
      if (now.current !== before.current || now.summary !== before.summary) redraw();
    }),
    screen.app.state.subscribe((now, before) => {
      if (now.window !== before.window) stage.markBase();
      else if (now.range !== before.range) stage.markOverlay();
    }),
  ];
  return () => offs.forEach(off => off());
}

/* ---- What is under the pointer: a call, an aggregate of calls, or a wait. What is known at once is shown
 * at once; what the server must be asked follows. ---- */

const ASK_MS = 40;

/** What the server says of the call under the pointer. */
interface Told {
  name: string;
  start: number;
  end: number;
  /** Exact: ns of it that its thread waited, and did input and output. */
  wait: number;
  io: number;
  children: { name: string; count: number; ns: number }[];
}

async function askCall(screen: Interplay, hit: PlateHit): Promise<Told | null> {
  const { source, names } = screen.served;
  const at = { thread: hit.thread, at: Math.round(hit.t), depth: hit.depth };
  const item = await source.json('item', at, 'plate tip');
  if (item['found'] === false) return null;
  const [start, end] = [num(item, 'start_ns'), num(item, 'end_ns')];
  const part = { threads: [hit.thread], from: start, to: Math.max(start + 1, end), width: 1 };
  const shares = decodeBlocking(await source.columns('blocking', part, 'plate tip'));
  const { wait, io } = shares.get(hit.thread)?.in(start, Math.max(start + 1, end)) ?? {
    wait: 0,
    io: 0,
  };
  const nameOf = (fn: number): string => names.name[fn] ?? '';
  return {
    name: nameOf(num(item, 'function')),
    start,
    end,
    wait,
    io,
    children: objects(item, 'children').map(child => ({
      name: text(child, 'name') || nameOf(num(child, 'function')),
      count: num(child, 'count'),
      ns: num(child, 'sum_ns'),
    })),
  };
}

function useTold(screen: Interplay, hit: PlateHit | null): Told | null {
  const [told, setTold] = useState<{ key: string; told: Told | null }>({ key: '', told: null });
  const isCall = hit !== null && hit.fn < SITE_FN;
  const key = isCall
    ? `${hit.thread} ${hit.depth} ${hit.start} ${hit.count > 1 ? Math.round(hit.t) : ''}`
    : '';
  useEffect(() => {
    if (!isCall) return undefined;
    const ask = async (): Promise<void> => setTold({ key, told: await askCall(screen, hit) });
    const timer = window.setTimeout(
      () => void unlessSuperseded(ask()).catch(() => undefined),
      ASK_MS,
    );
    return () => {
      window.clearTimeout(timer);
      screen.served.source.cancel('plate tip');
    };
  }, [key]);
  return told.key === key ? told.told : null;
}

function Row({
  name,
  value,
  share = '',
}: {
  name: string;
  value: string;
  share?: string;
}): JSX.Element {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="num">{value}</td>
      <td class="num dim">{share}</td>
    </tr>
  );
}

/** Its own numbers beside those of all calls of its function: an outlier shows. */
function Shares({
  screen,
  hit,
  told,
}: {
  screen: Interplay;
  hit: PlateHit;
  told: Told | null;
}): JSX.Element {
  const own =
    told && hit.count === 1 ? told : { wait: hit.wait, io: hit.io, start: hit.start, end: hit.end };
  const length = Math.max(1, own.end - own.start);
  const mean = hit.fn < SITE_FN ? screen.meanOf(hit.fn) : null;
  const life = screen.served.threads[hit.thread];
  const ofLife = life ? own.wait / Math.max(1, life.last - life.first) : 0;
  return (
    <>
      <Row name="waiting" value={duration(own.wait)} share={percent(own.wait / length)} />
      <Row name="input, output" value={duration(own.io)} share={percent(own.io / length)} />
      {own.wait > 0 && (
        <Row name={`of the lifetime of ${screen.label(hit.thread)}`} value={percent(ofLife)} />
      )}
      {mean && hit.count === 1 && (
        <Row
          name={`mean of all ${integer(mean.count)}`}
          value={duration(mean.ns)}
          share={mean.ns > 0 ? `\u00d7${ratio(length / mean.ns)}` : ''}
        />
      )}
    </>
  );
}

function Below({ told }: { told: Told }): JSX.Element | null {
  if (told.children.length === 0) return null;
  const shown = told.children.slice(0, 4);
  const rest = told.children.length - shown.length;
  return (
    <>
      {shown.map(({ name, count, ns }, i) => (
        <Row
          key={i}
          name={`calls ${name}`}
          value={duration(ns)}
          share={`\u00d7${integer(count)}`}
        />
      ))}
      {rest > 0 && <Row name={`and ${rest} other functions`} value="" />}
    </>
  );
}

export function InterplayTip(): JSX.Element | null {
  const screen = interplayOf(useApp());
  const hover = useAtom(screen.state, s => s.hover);
  const pointer = useAtom(screen.state, s => s.pointer);
  const told = useTold(screen, hover);
  const isHovering = hover !== null;
  useEffect(() => {
    if (isHovering) screen.learnMeans();
  }, [isHovering]);
  if (!hover || !pointer) return null;
  const waits = screen.waitsOf(hover.thread);
  const style = tipStyle(pointer, 350, 230);
  const isMany = hover.count > 1;
  const name = isMany
    ? plural(hover.count, hover.fn < SITE_FN ? 'short call' : 'short wait')
    : screen.hitName(hover);
  return (
    <div class="tip plate-tip" role="tooltip" style={style}>
      <div class="line">
        <b class="grow">{name}</b>
        <b>{duration(hover.end - hover.start)}</b>
      </div>
      <p class="remark">
        {screen.title(hover.thread)} · starts {exact(hover.start)} · depth {hover.depth}
      </p>
      {isMany && (
        <p class="remark">
          {told
            ? `here: ${told.name}, ${duration(told.end - told.start)}`
            : `longest: ${screen.hitName(hover)}`}
        </p>
      )}
      {waits && hover.item >= 0 && (
        <p class="wait-words">Waits for {waitWords(screen, waits, hover.item)}</p>
      )}
      <table>
        <tbody>
          <Shares screen={screen} hit={hover} told={told} />
          {told && <Below told={told} />}
        </tbody>
      </table>
      <p class="keys">click selects, double click zooms, wheel folds, Ctrl+wheel zooms</p>
    </div>
  );
}
