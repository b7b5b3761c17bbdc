// SPDX-License-Identifier: MIT
// How components listen to the state.
import { Component, createContext, createElement } from 'preact';
import type { ComponentType, JSX, VNode } from 'preact';
import { useContext, useEffect, useReducer, useRef, useState, useLayoutEffect } from 'preact/hooks';
import { PanePainter } from '../draw/canvas';
import type { Pane, Panes } from '../draw/canvas';
import type { Atom } from '../lib/atom';
import type { App, State } from '../state/app';

export const AppContext = createContext<App | null>(null);

export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error('component outside of the page');
  return app;
}

/** Draws again only when the chosen part of the state changes. */
export function usePart<T>(choose: (state: State) => T): T {
  return useAtom(useApp().state, choose);
}

/** What can be heard when it changes, whatever it holds. */
interface Heard {
  subscribe: (listener: () => void) => () => void;
}

/**
 * What was chosen of some state when it last came to rest: a panel does not follow every step of a
 * gesture. `restOf` says for how many ms it has to rest; 0: none.
 */
export function useRested<T>(
  atoms: readonly Heard[],
  choose: () => T,
  isSame: (a: T, b: T) => boolean,
  restOf: () => number,
): T {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const [held] = useState(() => ({ value: choose(), timer: 0 }));
  const how = useRef({ choose, isSame, restOf });
  how.current = { choose, isSame, restOf };
  useEffect(() => {
    const take = (): void => {
      held.value = how.current.choose();
      redraw(undefined);
    };
    const look = (): void => {
      window.clearTimeout(held.timer);
      if (how.current.isSame(how.current.choose(), held.value)) return;
      const ms = how.current.restOf();
      if (ms > 0) held.timer = window.setTimeout(take, ms);
      else take();
    };
    look();
    const offs = atoms.map(atom => atom.subscribe(look));
    return () => {
      offs.forEach(off => off());
      window.clearTimeout(held.timer);
    };
  }, [...atoms]);
  return held.value;
}

/** Each value a frame or more after it came, and at most one such piece of work a frame; of several
 * that come meanwhile, the last. A panel that costs does not hold up what follows a drag. */
export function useLater<T>(value: T): T {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const [held] = useState(() => {
    const own = { shown: value, next: value, take: (): void => undefined };
    own.take = (): void => {
      own.shown = own.next;
      redraw(undefined);
    };
    return own;
  });
  held.next = value;
  useEffect(() => {
    if (!Object.is(held.shown, value)) inTurn(held.take);
  }, [value]);
  useEffect(() => () => notInTurn(held.take), []);
  return held.shown;
}

/** The same of any atom. */
export function useAtom<A, T>(state: Atom<A>, choose: (state: A) => T): T {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const value = choose(state.get());
  const last = useRef(value);
  const chooser = useRef(choose);
  last.current = value;
  chooser.current = choose;
  useEffect(() => {
    const look = (now: A): void => {
      if (!Object.is(chooser.current(now), last.current)) redraw(undefined);
    };
    look(state.get()); // it may have changed since it was drawn
    return state.subscribe(look);
  }, [state]);
  return value;
}

/** A component that is drawn again only for other properties (or by what it listens to itself). */
export function memo<P extends object>(draw: (props: P) => JSX.Element): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const keys = Object.keys(next) as (keyof P)[];
      return keys.some(key => !Object.is(next[key], this.props[key]));
    }

    override render(): VNode {
      return createElement(draw as ComponentType<object>, this.props);
    }
  };
}

/* ---- Work in turn, a piece a frame: no frame pays for all that one answer changes. ---- */

const pieces = new Set<() => void>();
let frame = 0;

function step(): void {
  const [first] = pieces;
  frame = 0;
  if (!first) return;
  pieces.delete(first);
  if (pieces.size > 0) frame = requestAnimationFrame(step);
  first();
}

/** Runs a piece in one of the next frames; one that waits already keeps its place. */
function inTurn(piece: () => void): void {
  pieces.add(piece);
  if (frame === 0) frame = requestAnimationFrame(step);
}

function notInTurn(piece: () => void): void {
  pieces.delete(piece);
}

/* ---- A canvas that is as large as its holder and belongs to the picture of a screen. ---- */

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
