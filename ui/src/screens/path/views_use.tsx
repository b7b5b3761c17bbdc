// SPDX-License-Identifier: MIT
// What the parts of the Critical path screen share.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Pane, Panes } from '../../shared/draw/pane';
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
