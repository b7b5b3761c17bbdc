// SPDX-License-Identifier: MIT
// Small parts that several panels share.
import type { ComponentChildren, JSX, CSSProperties } from 'preact';
import { useRef, useState, useLayoutEffect, useEffect } from 'preact/hooks';
import { GREY_HUE } from '../lib/color';
import { proseOf } from '../lib/format';
import { elide, splitName } from '../lib/names';
import { LOOK } from '../lib/states';
import type { Served } from '../state/served';
import { useApp } from './use';

export function hueVar(hue: number): string {
  return hue === GREY_HUE ? 'var(--grey)' : `var(--h${hue + 1})`;
}

export function Swatch({ fn }: { fn: number }): JSX.Element {
  const { families } = useApp().model;
  const hue = fn < 0 ? GREY_HUE : families.hue[fn]!;
  return <span class="swatch" style={{ background: hueVar(hue) }} aria-hidden="true" />;
}

export function Name({ fn }: { fn: number }): JSX.Element {
  const { model } = useApp();
  return <span title={model.fullName(fn)}>{model.name(fn)}</span>;
}

const KEY_WORDS: Record<string, string> = {
  ArrowLeft: '\u2190',
  ArrowRight: '\u2192',
  ArrowUp: '\u2191',
  ArrowDown: '\u2193',
  PageUp: 'PgUp',
  PageDown: 'PgDn',
  Delete: 'Del',
  Escape: 'Esc',
  '-': '\u2212',
};

/** A key, as it is written on keyboards, of what events call it ("Shift+ArrowLeft"). */
function keyWords(key: string): string {
  return key.replace(/[A-Z][a-zA-Z]+|-$/g, name => KEY_WORDS[name] ?? name);
}

export function Key({ children }: { children: ComponentChildren }): JSX.Element {
  return <kbd>{typeof children === 'string' ? keyWords(children) : children}</kbd>;
}

/** Copies text; falls back to a selection where the clipboard is not to be had (file://). */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- a page from a file has no other way
    document.execCommand('copy');
    area.remove();
  }
}

const LONGEST_NAME = 48; // letters of a name in a sentence

/** Names of a call path, long ones shortened. */
function pathWords(path: string): string {
  const fits = (text: string): boolean => text.length <= LONGEST_NAME;
  return path
    .split(' > ')
    .map(name => elide(name, fits) || name)
    .join(' \u203a ');
}

/** A sentence of the server: names between back-ticks as code, whole in their tool-tips. */
export function Sentence({ text }: { text: string }): JSX.Element {
  return (
    <>
      {proseOf(text).map((part, i) =>
        part.isCode ? (
          <code key={i} title={part.text}>
            {pathWords(part.text)}
          </code>
        ) : (
          part.text
        ),
      )}
    </>
  );
}

export function Command({ text }: { text: string }): JSX.Element {
  return (
    <span class="command">
      <code>{text}</code>
      <button class="link" onClick={() => void copyText(text)}>
        copy
      </button>
    </span>
  );
}

const VARS: Record<number, string> = {
  [LOOK.RUN]: '--s-run',
  [LOOK.READY]: '--s-ready',
  [LOOK.LOCK]: '--s-lock',
  [LOOK.DISK]: '--s-disk',
  [LOOK.NETWORK]: '--s-net',
  [LOOK.TIMER]: '--s-timer',
};

export const lookVar = (look: number): string => `var(${VARS[look] ?? '--s-wait'})`;

/** The class of its hatch. */
export function hatchOf(look: number): '' | 'fore' | 'back' {
  if (look === LOOK.RUN) return '';
  return look === LOOK.READY ? 'back' : 'fore';
}

/** The colour of a state, with its hatch and letter. */
export function LookSwatch({ look, letter }: { look: number; letter: string }): JSX.Element {
  return (
    <span
      class={`path-swatch ${hatchOf(look)}`}
      style={{ background: lookVar(look) }}
      aria-hidden="true"
    >
      {letter && <b>{letter}</b>}
    </span>
  );
}

/** Where a tip stands beside the pointer; never over it. */
export function tipStyle(
  { x, y }: { x: number; y: number },
  width = 290,
  height = 220,
): CSSProperties {
  const [isLeft, isUp] = [x + 12 + width > innerWidth, y + height > innerHeight];
  return {
    left: isLeft ? 'auto' : `${x + 12}px`,
    right: isLeft ? `${innerWidth - x + 12}px` : 'auto',
    top: isUp ? 'auto' : `${y + 14}px`,
    bottom: isUp ? `${innerHeight - y + 14}px` : 'auto',
  };
}

/* ---- A name in a place that may be too narrow for it: what it is in is cut first, its last part survives. ---- */

/** Whole in the tool-tip, unless what it stands in has one. */
export function LongName({ name, title = name }: { name: string; title?: string }): JSX.Element {
  const [scope, last] = splitName(name);
  return (
    <span class="long-name" title={title}>
      {scope !== '' && <span class="scope">{scope}</span>}
      <span class="last">{last}</span>
    </span>
  );
}

/* ---- What a panel says that shows calls, of a trace that has none. ---- */

const HOW = 'XRAY_OPTIONS="patch_premain=true xray_mode=xray-fdr" ./PROGRAM';

/** Of a trace without any call: why there are none. */
export function whyNoCalls({ trace, threads }: Served): string {
  if (threads.length === 0) return 'This trace is empty: no threads, no events.';
  return trace.hasStates
    ? 'This trace has no calls, only kernel events. When each thread ran, was ready, or waited, and for what, is on the Timeline (2).'
    : 'This trace has no calls and no scheduler events: only other events, which no screen shows yet.';
}

export function NoCalls({ served }: { served: Served }): JSX.Element {
  return (
    <div class="empty-panel">
      <p>{whyNoCalls(served)}</p>
      <p>
        To have calls, build the program with <code>clang -fxray-instrument</code>, record them, and
        import what it writes: <Command text={HOW} />
      </p>
    </div>
  );
}

/** The head of a table; "#" before a name: a column of numbers; or a name with its class. */
export function Heads({
  of,
}: {
  of: readonly (string | readonly [string, string])[];
}): JSX.Element {
  return (
    <thead>
      <tr>
        {of.map((head, i) => {
          const [name, of] =
            typeof head === 'string'
              ? [head.replace('#', ''), head.startsWith('#') ? 'num' : undefined]
              : head;
          return (
            <th key={i} scope="col" class={of}>
              {name}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** The head of a column by which rows can be sorted; `now`: they are. */
export function SortHead({
  name,
  now,
  sort,
  kind = 'num',
  isUp = false,
  title,
}: {
  name: ComponentChildren;
  now: boolean;
  sort: () => void;
  kind?: string;
  isUp?: boolean;
  title?: string;
}): JSX.Element {
  return (
    <th scope="col" class={kind} aria-sort={now ? (isUp ? 'ascending' : 'descending') : undefined}>
      <button class="link" title={title} onClick={sort}>
        {name}
        {now ? (isUp ? ' \u25b4' : ' \u25be') : ''}
      </button>
    </th>
  );
}

/** What marks of a picture mean: a small drawing, and words. */
export function Marks({ of }: { of: readonly (readonly [JSX.Element, string])[] }): JSX.Element {
  return (
    <ul class="marks">
      {of.map(([drawing, word]) => (
        <li key={word}>
          <svg width="36" height="15" aria-hidden="true">
            {drawing}
          </svg>
          {word}
        </li>
      ))}
    </ul>
  );
}

/* ---- Tables of which only rows in view are in the document, and exact copies of times. ---- */

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
