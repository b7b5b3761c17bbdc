// SPDX-License-Identifier: MIT
// What the parts of the Critical path screen share.
import { createContext } from 'preact';
import type { CSSProperties, JSX } from 'preact';
import { useContext } from 'preact/hooks';
import type { Pane, Panes } from '../../shared/draw/pane';
import { LOOK } from '../../shared/lib/states';
import type { Paths, PathState } from '../../shared/state/paths';
import { useOwnCanvas } from '../../shared/views/canvas';
import type { OwnCanvas } from '../../shared/views/canvas';
import { useAtom } from '../../shared/views/use';

export interface PathScope {
  paths: Paths;
  panes: Panes;
}

export const PathContext = createContext<PathScope | null>(null);

export function usePaths(): Paths {
  const scope = useContext(PathContext);
  if (!scope) throw new Error('component outside of the Critical path screen');
  return scope.paths;
}

export function usePathState<T>(choose: (state: PathState) => T): T {
  return useAtom(usePaths().state, choose);
}

export function usePathCanvas(draw: (pane: Pane) => void): OwnCanvas {
  return useOwnCanvas(useContext(PathContext)!.panes, draw);
}

const VARS: Record<number, string> = {
  ...{ [LOOK.RUN]: '--s-run', [LOOK.READY]: '--s-ready', [LOOK.LOCK]: '--s-lock' },
  ...{ [LOOK.DISK]: '--s-disk', [LOOK.NETWORK]: '--s-net', [LOOK.TIMER]: '--s-timer' },
};

/** The colour of a state, with its hatch and letter. */
export function LookSwatch({ look, letter }: { look: number; letter: string }): JSX.Element {
  const hatch = look === LOOK.RUN ? '' : look === LOOK.READY ? ' back' : ' fore';
  return (
    <span
      class={`path-swatch${hatch}`}
      style={{ background: `var(${VARS[look] ?? '--s-wait'})` }}
      aria-hidden="true"
    >
      {letter && <b>{letter}</b>}
    </span>
  );
}

/** Where a tip stands beside the pointer; never over it. */
export function tipStyle(x: number, y: number): CSSProperties {
  const [isLeft, isUp] = [x + 300 > innerWidth, y + 220 > innerHeight];
  return {
    left: isLeft ? 'auto' : `${x + 12}px`,
    right: isLeft ? `${innerWidth - x + 12}px` : 'auto',
    top: isUp ? 'auto' : `${y + 14}px`,
    bottom: isUp ? `${innerHeight - y + 14}px` : 'auto',
  };
}
