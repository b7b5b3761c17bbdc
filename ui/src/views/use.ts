// SPDX-License-Identifier: MIT
// How components listen to the state.
import { createContext } from 'preact';
import { useContext, useEffect, useReducer, useRef } from 'preact/hooks';
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
