// SPDX-License-Identifier: MIT
// What the parts of the Functions screen share: its state, its canvases, its small words.
import { createContext } from 'preact';
import type { ComponentChildren, JSX } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Pane, Panes } from '../../shared/draw/pane';
import { percent } from '../../shared/lib/format';
import type { ServedState } from '../../shared/state/served';
import { useOwnCanvas } from '../../shared/views/canvas';
import type { OwnCanvas } from '../../shared/views/canvas';
import { hueVar } from '../../shared/views/parts';
import { useAtom } from '../../shared/views/use';
import { rowsInView } from './lib_functions';
import type { TreeView } from './state_calltree';
import type { Answer, Functions, FunctionsState } from './state_functions';

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

/** Height of a row of a table of which only rows in view are in the document, in px. */
export const ROW = 22;

/** Keeps row `at` in view. */
function reveal(scroller: HTMLElement, at: number): void {
  const { scrollTop, clientHeight } = scroller;
  const [top, bottom] = [at * ROW, (at + 2) * ROW]; // the head takes a row's height
  if (top < scrollTop) scroller.scrollTop = top;
  else if (bottom > scrollTop + clientHeight) scroller.scrollTop = bottom - clientHeight;
}

/** Rows [first, end) of `n` are in view; row `at` is brought there whenever one of `causes` changes
 * (-1: none). */
export function useRowsInView(
  n: number,
  at: number,
  causes: readonly unknown[],
): {
  scroller: { current: HTMLDivElement | null };
  onScroll: () => void;
  height: number;
  first: number;
  end: number;
} {
  const scroller = useRef<HTMLDivElement>(null);
  const [box, setBox] = useState({ top: 0, height: 400 });
  const measure = (): void => {
    const { scrollTop: top, clientHeight: height } = scroller.current!;
    setBox(now => (now.top === top && now.height === height ? now : { top, height }));
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(scroller.current!);
    measure();
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (at >= 0 && scroller.current) reveal(scroller.current, at);
  }, [...causes]);
  const [first, end] = rowsInView(box.top, box.height, ROW, n);
  return { scroller, onScroll: measure, height: box.height, first, end };
}

/** What stands for `rows` rows that are out of view. */
export function Gap({ rows, columns }: { rows: number; columns: number }): JSX.Element | null {
  if (rows <= 0) return null;
  return (
    <tr aria-hidden="true" class="gap">
      <td colSpan={columns} style={{ height: `${rows * ROW}px` }} />
    </tr>
  );
}

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

/** A time with its every nanosecond for whoever copies it. */
export function Ns({ ns, children }: { ns: number; children: ComponentChildren }): JSX.Element {
  return <span data-ns={String(Math.round(ns))}>{children}</span>;
}

/** Copies a selection with times as whole ns. */
export function copyExact(event: ClipboardEvent): void {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !event.clipboardData) return;
  const part = selection.getRangeAt(0).cloneContents();
  const cells = part.querySelectorAll<HTMLElement>('[data-ns]');
  if (cells.length === 0) return;
  for (const cell of cells) cell.textContent = cell.dataset['ns']!;
  const rows = [...part.querySelectorAll('tr')];
  const line = (row: Element): string =>
    [...row.children].map(cell => (cell.textContent ?? '').trim()).join('\t');
  const text = rows.length > 0 ? rows.map(line).join('\n') : (part.textContent ?? '');
  event.clipboardData.setData('text/plain', text);
  event.preventDefault();
}
