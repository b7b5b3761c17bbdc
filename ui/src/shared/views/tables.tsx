// SPDX-License-Identifier: MIT

import { useRef } from 'preact/hooks';
import { useState } from 'preact/hooks';
import { useLayoutEffect } from 'preact/hooks';
import { useEffect } from 'preact/hooks';
import type { JSX } from 'preact';
import type { ComponentChildren } from 'preact';

/** Rows of equal height that a window onto them needs: [first, behind the last). */
export function rowsInView(
  top: number,
  height: number,
  rowHeight: number,
  n: number,
): [first: number, end: number] {
  const margin = 10;
  const first = Math.max(0, Math.floor(top / rowHeight) - margin);
  const end = Math.min(n, Math.ceil((top + height) / rowHeight) + margin);
  return [Math.min(first, end), end];
}

/** Height of a row of a table of which only rows in view are in the document, in px. */
export const ROW = 22;

/** Keeps row `at` in view. */
export function reveal(scroller: HTMLElement, at: number): void {
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
