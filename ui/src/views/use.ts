// SPDX-License-Identifier: MIT
// How components listen to the state.
import { createContext } from 'preact';
import { useContext, useEffect, useReducer, useRef, useState } from 'preact/hooks';
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
