// SPDX-License-Identifier: MIT
// The command palette, and the same box to find threads and functions.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { duration, plural } from '../lib/format';
import * as act from '../state/actions';
import type { App } from '../state/app';
import { commandsOf, matchScore } from '../state/commands';
import { Key, hueVar } from './parts';
import { useApp, usePart } from './use';

const SHOWN = 14;

interface Line {
  name: string;
  /** At the right: a key, or a fact. */
  key?: string;
  remark?: string;
  hue?: number;
  run: () => void;
}

function commandLines(app: App): Line[] {
  return commandsOf(app).map(({ name, key, run }) => ({ name, key, run: () => run(app) }));
}

/** Brings a thread into view: its first item is selected. */
function showThread(app: App, thread: number): void {
  act.reveal(app, thread);
  act.unpack(app, thread);
  if (app.model.trace.threads[thread]!.rows.n > 0) act.select(app, { thread, row: 0 });
}

function findLines(app: App): Line[] {
  const served = app.served!;
  const threads = served.threads.map(({ id, label, name, calls }) => ({
    ...{ name: `${label} ${name}`.trim(), remark: plural(calls, 'call') },
    run: () => showThread(app, id),
  }));
  const { names, families } = served;
  const order = names.name.map((_, i) => i).sort((a, b) => names.self[b]! - names.self[a]!);
  const functions = order.map(i => ({
    ...{ name: names.name[i]!, remark: `${duration(names.self[i]!)} self`, hue: families.hue[i]! },
    run: () => act.setQuery(app, `fn:"${names.name[i]}"`),
  }));
  return [...threads, ...functions];
}

function best(lines: readonly Line[], text: string): { line: Line; score: number }[] {
  return lines
    .map(line => ({ line, score: matchScore(line.name, text) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => (text.trim() === '' ? 0 : b.score - a.score));
}

function Box({
  lines,
  label,
  hint,
  close,
}: {
  lines: readonly Line[];
  label: string;
  hint: string;
  close: () => void;
}): JSX.Element {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const found = useMemo(() => best(lines, text), [lines, text]);
  const before = useRef(document.activeElement as HTMLElement | null);
  useEffect(() => {
    input.current?.focus();
    return () => before.current?.focus();
  }, []);
  const shown = found.slice(0, SHOWN);
  const run = (line: Line | undefined): void => {
    close();
    line?.run();
  };
  const keys = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) setAt((at + by + shown.length) % Math.max(1, shown.length));
    else if (event.key === 'Enter') run(shown[at]?.line);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="palette" role="dialog" aria-label={label}>
      <input
        ref={input}
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-label={label}
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown.length > 0 ? `line-${at}` : undefined}
        placeholder={hint}
        value={text}
        onInput={event => {
          setText(event.currentTarget.value.replace(/^>\s*/, ''));
          setAt(0);
        }}
        onKeyDown={keys}
        onBlur={close}
      />
      <ul role="listbox" id="palette-list" aria-label={label}>
        {shown.map(({ line }, i) => (
          <li
            key={line.name}
            id={`line-${i}`}
            role="option"
            aria-selected={i === at}
            onMouseDown={() => run(line)}
            onMouseMove={() => setAt(i)}
          >
            {line.hue !== undefined && (
              <span class="swatch" style={{ background: hueVar(line.hue) }} aria-hidden="true" />
            )}
            <span class="grow">{line.name}</span>
            {line.remark && <small>{line.remark}</small>}
            {line.key && <Key>{line.key}</Key>}
          </li>
        ))}
        {shown.length === 0 && <li class="more">Nothing is called so.</li>}
        {found.length > SHOWN && <li class="more">{found.length - SHOWN} more</li>}
      </ul>
    </div>
  );
}

export function Palette(): JSX.Element | null {
  const app = useApp();
  const drawer = usePart(s => s.drawer);
  const isFind = drawer === 'find';
  const isOpen = isFind || drawer === 'commands';
  const lines = useMemo(
    () => (isOpen && app.served ? (isFind ? findLines(app) : commandLines(app)) : []),
    [isOpen, isFind],
  );
  if (!isOpen) return null;
  const close = (): void => {
    if (app.state.get().drawer === drawer) act.toggleDrawer(app, drawer);
  };
  return (
    <Box
      key={drawer}
      lines={lines}
      label={isFind ? 'Find a thread or a function' : 'Commands'}
      hint={isFind ? 'Thread id or name, function' : 'What to do'}
      close={close}
    />
  );
}
