// SPDX-License-Identifier: MIT
// A canvas that is as large as its holder and belongs to the picture of a screen.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { PanePainter } from '../draw/pane';
import type { Pane, Panes } from '../draw/pane';

export interface OwnCanvas {
  holder: { current: HTMLDivElement | null };
  canvas: { current: HTMLCanvasElement | null };
  painter: { current: PanePainter | null };
  width: number;
  height: number;
}

/** A canvas as large as its holder, painted by `draw` whenever the component draws again. */
export function useOwnCanvas(panes: Panes, draw: (pane: Pane) => void): OwnCanvas {
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<PanePainter | null>(null);
  const latest = useRef(draw);
  const [size, setSize] = useState({ width: 0, height: 0 });
  latest.current = draw;
  useLayoutEffect(() => {
    const made = new PanePainter(canvas.current!, pane => latest.current(pane));
    painter.current = made;
    const measure = (): void => {
      const { clientWidth: width, clientHeight: height } = holder.current!;
      made.resize(width, height);
      setSize(now => (now.width === width && now.height === height ? now : { width, height }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(holder.current!);
    measure();
    const forget = panes.add(made);
    return () => {
      observer.disconnect();
      forget();
    };
  }, []);
  useEffect(() => painter.current?.markBase());
  return { holder, canvas, painter, ...size };
}

/** The height of what scrolls, px, as it changes; `first` until it is known. */
export function useClientHeight(scroller: { current: HTMLElement | null }, first: number): number {
  const [height, setHeight] = useState(first);
  useLayoutEffect(() => {
    const own = scroller.current!;
    const measure = (): void => setHeight(own.clientHeight);
    const observer = new ResizeObserver(measure);
    observer.observe(own);
    measure();
    return () => observer.disconnect();
  }, []);
  return height;
}
