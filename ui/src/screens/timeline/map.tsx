// SPDX-License-Identifier: MIT
// Paints the mini-map.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { readTheme } from '../../shared/draw/canvas';
import type { Theme } from '../../shared/draw/canvas';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { useApp, useAtom } from '../../shared/views/use';
import { short, ratio } from '../../shared/lib/numbers';
import { loadOf } from './load';
import { timelineOf } from './state';

const MAP = 44;
const FOOT = 6;
const TOP = 4;
const GRIP = 5;
const LEAST = 2;

type Grip = 'left' | 'right' | 'move' | 'new';

class MapStage {
  private frame = 0;
  private theme: Theme | null = null;
  private width = 100;
  private dpr = 1;

  constructor(
    private readonly app: App,
    private readonly canvas: HTMLCanvasElement,
  ) {}

  start(): () => void {
    const { app } = this;
    const mark = (): void => this.mark();
    const retheme = (): void => {
      this.theme = null;
      this.mark();
    };
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', retheme);
    const offs = [
      app.state.subscribe((now, before) => {
        if (now.theme !== before.theme) queueMicrotask(retheme);
        if (now.window !== before.window || now.range !== before.range) this.mark();
      }),
      loadOf(app).state.subscribe(mark),
      timelineOf(app).state.subscribe((now, before) => now.flags !== before.flags && this.mark()),
      timelineOf(app).served.state.subscribe(
        (now, before) => now.set !== before.set && this.mark(),
      ),
    ];
    this.resize();
    return () => {
      offs.forEach(off => off());
      dark.removeEventListener('change', retheme);
      cancelAnimationFrame(this.frame);
    };
  }

  resize(): void {
    const { canvas } = this;
    this.dpr = window.devicePixelRatio || 1;
    this.width = Math.max(50, canvas.parentElement!.clientWidth);
    canvas.width = Math.round(this.width * this.dpr);
    canvas.height = Math.round(MAP * this.dpr);
    canvas.style.width = `${this.width}px`;
    canvas.style.height = `${MAP}px`;
    this.mark();
  }

  private mark(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  private edges(): { x0: number; x1: number } {
    const { window: now } = this.app.state.get();
    const scale = this.width / Math.max(1, this.app.model.trace.duration);
    const x0 = now.t0 * scale;
    return { x0, x1: Math.max(x0 + LEAST, now.t1 * scale) };
  }

  gripAt(x: number): Grip {
    const { x0, x1 } = this.edges();
    const isWhole = x0 <= 1 && x1 >= this.width - 1;
    if (isWhole) return 'new';
    if (Math.abs(x - x0) <= GRIP) return 'left';
    if (Math.abs(x - x1) <= GRIP) return 'right';
    return x > x0 && x < x1 ? 'move' : 'new';
  }

  private paint(): void {
    this.frame = 0;
    this.theme ??= readTheme(document.documentElement);
    const ctx = this.canvas.getContext('2d', { alpha: false })!;
    const { theme, dpr } = this;
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    ctx.fillStyle = theme.panel;
    ctx.fillRect(0, 0, this.width, MAP);
    this.paintLoad(ctx, theme);
    this.paintSet(ctx, theme);
    this.paintFlags(ctx, theme);
    this.paintWindow(ctx, theme);
  }

  private paintLoad(ctx: CanvasRenderingContext2D, theme: Theme): void {
    const { load, most } = loadOf(this.app).state.get();
    const room = MAP - FOOT - TOP;
    ctx.fillStyle = theme.line2;
    ctx.fillRect(0, MAP - FOOT, this.width, 1);
    ctx.fillStyle = theme.hues[10]!;
    for (let i = 0; i < load.length && most > 0; i++) {
      if (load[i] === 0) continue;
      const tall = Math.max(1, (load[i]! / most) * room);
      const x0 = Math.round((i / load.length) * this.width);
      const x1 = Math.round(((i + 1) / load.length) * this.width);
      ctx.fillRect(x0, MAP - FOOT - tall, Math.max(1, x1 - x0), tall);
    }
  }

  /** Where calls of the set are: ticks at the top. */
  private paintSet(ctx: CanvasRenderingContext2D, theme: Theme): void {
    const { set } = timelineOf(this.app).served.state.get();
    if (!set) return;
    const scale = this.width / Math.max(1, this.app.model.trace.duration);
    ctx.fillStyle = theme.accent;
    const seen = new Uint8Array(Math.ceil(this.width) + 1);
    for (let i = 0; i < set.n; i++) {
      const x = Math.round(set.start[i]! * scale);
      if (set.start[i]! < 0 || seen[x]) continue;
      seen[x] = 1;
      ctx.fillRect(x, 0, 1, 5);
    }
  }

  private paintFlags(ctx: CanvasRenderingContext2D, theme: Theme): void {
    const scale = this.width / Math.max(1, this.app.model.trace.duration);
    ctx.fillStyle = theme.warn;
    for (const { t } of timelineOf(this.app).state.get().flags)
      ctx.fillRect(Math.round(t * scale), MAP - FOOT - 8, 2, 8);
  }

  private paintWindow(ctx: CanvasRenderingContext2D, theme: Theme): void {
    const { range } = this.app.state.get();
    const scale = this.width / Math.max(1, this.app.model.trace.duration);
    ctx.fillStyle = theme.accent;
    if (range)
      ctx.fillRect(
        range.t0 * scale,
        MAP - FOOT + 1,
        Math.max(2, (range.t1 - range.t0) * scale),
        FOOT - 2,
      );
    const { x0, x1 } = this.edges();
    ctx.globalAlpha = theme.isDark ? 0.2 : 0.13;
    ctx.fillRect(x0, 0, x1 - x0, MAP);
    ctx.globalAlpha = 1;
    ctx.fillRect(Math.round(x0), 0, 2, MAP);
    ctx.fillRect(Math.round(x1) - 2, 0, 2, MAP);
  }
}

/* ---- The mini-map: how many threads run over the whole trace, and which part of it is in view. ---- */

/** Drag in the middle moves the window, on an edge moves that, elsewhere makes another. */
function bindMap(app: App, stage: MapStage, canvas: HTMLCanvasElement): () => void {
  let drag: { grip: Grip; t: number; t0: number; t1: number } | null = null;
  const timeOf = (event: PointerEvent): number => {
    const { left, width } = canvas.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    return share * app.model.trace.duration;
  };
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const { window: now } = app.state.get();
    const grip = stage.gripAt(event.clientX - canvas.getBoundingClientRect().left);
    drag = { grip, t: timeOf(event), t0: now.t0, t1: now.t1 };
    canvas.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent): void => {
    const x = event.clientX - canvas.getBoundingClientRect().left;
    if (!drag) {
      canvas.style.cursor = {
        left: 'ew-resize',
        right: 'ew-resize',
        move: 'grab',
        new: 'crosshair',
      }[stage.gripAt(x)];
      return;
    }
    const t = timeOf(event);
    const { grip, t0, t1 } = drag;
    if (grip === 'move') act.setWindow(app, t0 + t - drag.t, t1 + t - drag.t);
    else {
      const still = grip === 'left' ? t1 : grip === 'right' ? t0 : drag.t;
      if (Math.abs(t - still) > 10) act.setWindow(app, Math.min(t, still), Math.max(t, still));
    }
  };
  const up = (event: PointerEvent): void => {
    const was = drag;
    drag = null;
    if (was?.grip !== 'new') return;
    const t = timeOf(event);
    const isClick = Math.abs(t - was.t) < app.model.trace.duration / 500;
    const half = (was.t1 - was.t0) / 2;
    if (isClick) act.setWindow(app, t - half, t + half);
  };
  canvas.addEventListener('pointerdown', down);
  canvas.addEventListener('pointermove', move);
  canvas.addEventListener('pointerup', up);
  return () => {
    canvas.removeEventListener('pointerdown', down);
    canvas.removeEventListener('pointermove', move);
    canvas.removeEventListener('pointerup', up);
  };
}

export function MiniMap(): JSX.Element {
  const app = useApp();
  const canvas = useRef<HTMLCanvasElement>(null);
  const loader = loadOf(app);
  const most = useAtom(loader.state, s => s.most);
  const words = useAtom(loader.state, s => s.words);
  const meaning = useAtom(loader.state, s => s.meaning);
  useEffect(() => loader.start(), [app]);
  useLayoutEffect(() => {
    const stage = new MapStage(app, canvas.current!);
    const off = bindMap(app, stage, canvas.current!);
    const observer = new ResizeObserver(() => stage.resize());
    observer.observe(canvas.current!.parentElement!);
    const stop = stage.start();
    return () => {
      off();
      stop();
      observer.disconnect();
    };
  }, [app]);
  return (
    <div class="tmap" style={{ height: `${MAP}px` }}>
      <span class="label" title={meaning}>
        Whole trace
        <small>{most > 0 ? `${words}, max ${short(ratio(most))}` : words}</small>
      </span>
      <div class="holder">
        <canvas ref={canvas} aria-hidden="true" />
      </div>
    </div>
  );
}
