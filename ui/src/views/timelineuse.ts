// SPDX-License-Identifier: MIT
// How components of the timeline listen to what they show.
import { useEffect, useReducer, useRef } from 'preact/hooks';
import type { Atom } from '../lib/atom';

/** Draws again only when the chosen part changes. */
export function useAtom<S, T>(atom: Atom<S>, choose: (state: S) => T): T {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const value = choose(atom.get());
  const last = useRef(value);
  const chooser = useRef(choose);
  last.current = value;
  chooser.current = choose;
  useEffect(
    () =>
      atom.subscribe(now => {
        if (!Object.is(chooser.current(now), last.current)) redraw(undefined);
      }),
    [atom],
  );
  return value;
}
