// SPDX-License-Identifier: MIT
// The mini-map: how many threads run over the whole trace, and which part of it is in view.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { useApp, useAtom } from '../../shared/views/use';
import { MAP, MapStage } from './draw_map';
import type { Grip } from './draw_map';
import { loadOf } from './state_load';

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
        <small>{most > 0 ? `${words}, max ${Math.round(most * 100) / 100}` : words}</small>
      </span>
      <div class="holder">
        <canvas ref={canvas} aria-hidden="true" />
      </div>
    </div>
  );
}
