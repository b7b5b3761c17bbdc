// SPDX-License-Identifier: MIT
// What the parts of the Functions screen share: its state, its canvases, its small words.
import { createContext } from 'preact';
import type { JSX } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Pane, Panes } from '../../shared/draw/canvas';
import { percent } from '../../shared/lib/format';
import type { ServedState } from '../../shared/state/served';
import { hueVar } from '../../shared/views/parts';
import { useOwnCanvas, useAtom } from '../../shared/views/use';
import type { OwnCanvas } from '../../shared/views/use';
import type { TreeView } from './calltree';
import type { Answer, Functions, FunctionsState } from './state';

export interface FunctionsScope {
  screen: Functions;
  view: TreeView;
  panes: Panes;
}

export const FunctionsContext = createContext<FunctionsScope | null>(null);

export function useFunctions(): FunctionsScope {
  const scope = useContext(FunctionsContext);
  if (!scope) throw new Error('component outside of the Functions screen');
  return scope;
}

export function useScreen<T>(choose: (state: FunctionsState) => T): T {
  return useAtom(useFunctions().screen.state, choose);
}

export function useServed<T>(choose: (state: ServedState) => T): T {
  return useAtom(useFunctions().screen.served.state, choose);
}

/** A canvas of the screen, painted by `draw` whenever the component draws again. */
export const useCanvas = (draw: (pane: Pane) => void): OwnCanvas =>
  useOwnCanvas(useFunctions().panes, draw);

export function FnSwatch({ fn }: { fn: number }): JSX.Element {
  const { view } = useFunctions();
  return <span class="swatch" style={{ background: hueVar(view.hueOf(fn)) }} aria-hidden="true" />;
}

/** The line of a panel whose answer is on its way, and what went wrong. */
export function Waiting<T>({
  answer,
  which,
  what,
}: {
  answer: Answer<T>;
  which: keyof FunctionsState['answers'];
  what: string;
}): JSX.Element | null {
  const { screen } = useFunctions();
  const progress = useScreen(s => (which === 'table' ? s.progress : null));
  const isLate = useLate(answer.isWaiting, 100);
  const isSlow = useLate(answer.isWaiting, 1000);
  if (answer.error)
    return (
      <p class="trouble" role="alert">
        {what}: {answer.error}.{' '}
        {answer.value !== null && 'What is shown is the answer to an older question. '}
        <button class="link" onClick={() => screen.retry(which)}>
          ask again
        </button>
      </p>
    );
  if (!isLate) return null;
  return (
    <div class="waiting" role="status">
      {isSlow && (
        <span>
          {what}: {progress && progress.share > 0 ? `${percent(progress.share)} read` : 'asked for'}
          {answer.value !== null && '; shown is what was known before'}{' '}
          <button class="link" onClick={() => screen.cancel(which)}>
            Cancel
          </button>
        </span>
      )}
    </div>
  );
}

function useLate(isOn: boolean, ms: number): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!isOn) return setLate(false);
    const timer = setTimeout(() => setLate(true), ms);
    return () => clearTimeout(timer);
  }, [isOn, ms]);
  return isOn && isLate;
}

/** A choice of few: buttons of which one is pressed. */
export function Choice<T extends string>({
  label,
  options,
  value,
  choose,
}: {
  label: string;
  options: readonly (readonly [key: T, word: string])[];
  value: T;
  choose: (key: T) => void;
}): JSX.Element {
  return (
    <span class="switch" role="group" aria-label={label}>
      {options.map(([key, word]) => (
        <button key={key} aria-pressed={key === value} onClick={() => choose(key)}>
          {word}
        </button>
      ))}
    </span>
  );
}
