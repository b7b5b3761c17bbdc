// SPDX-License-Identifier: MIT
import { useApp, useAtom } from '../../shared/views/use';
import { PATTERNS_STATE } from './state_patterns';
import type { PatternsState } from './state_patterns';

/** Draws again only when the chosen part of the screen's state changes. */
export function usePattern<T>(choose: (state: PatternsState) => T): T {
  return useAtom(PATTERNS_STATE.of(useApp()), choose);
}
