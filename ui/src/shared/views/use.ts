// SPDX-License-Identifier: MIT
// How components listen to the state.
import { Component, createContext, createElement } from 'preact';
import type { ComponentType, JSX, VNode } from 'preact';
import { useContext, useEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { Atom } from '../lib/atom';
import type { App, State } from '../state/app';
import { inTurn, notInTurn } from './turns';

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

/**
 * What was chosen of the state when it last came to rest: a panel does not follow every step of a
 * gesture. `restOf` says for how many ms it has to rest; 0: none.
 */
export function useRested<T>(
  choose: (state: State) => T,
  isSame: (a: T, b: T) => boolean,
  restOf: (state: State) => number,
): T {
  const { state } = useApp();
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const [held] = useState(() => ({ value: choose(state.get()), timer: 0 }));
  const how = useRef({ choose, isSame, restOf });
  how.current = { choose, isSame, restOf };
  useEffect(() => {
    const take = (): void => {
      held.value = how.current.choose(state.get());
      redraw(undefined);
    };
    const look = (now: State): void => {
      window.clearTimeout(held.timer);
      if (how.current.isSame(how.current.choose(now), held.value)) return;
      const ms = how.current.restOf(now);
      if (ms > 0) held.timer = window.setTimeout(take, ms);
      else take();
    };
    look(state.get());
    const off = state.subscribe(look);
    return () => {
      off();
      window.clearTimeout(held.timer);
    };
  }, [state]);
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
