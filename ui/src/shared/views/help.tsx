// SPDX-License-Identifier: MIT
// Tool-tip, thread list, help.
import type { JSX } from 'preact';
import { useEffect, useRef, useState, useMemo } from 'preact/hooks';
import { duration, integer, plural } from '../lib/format';
import type { Thread } from '../lib/model';
import * as act from '../state/actions';
import { SORTS } from '../state/app';
import type { SortKey, App } from '../state/app';
import { commandsOf, matchScore } from '../state/commands';
import { sortThreads } from '../state/rows';
import type { KeyWord } from '../state/screens';
import { Key, hueVar, SortHead } from './parts';
import { useApp, usePart } from './use';

function useFocusTrap(close: () => void): { current: HTMLDivElement | null } {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    box.current?.focus();
    const keys = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      close();
    };
    box.current?.addEventListener('keydown', keys);
    return () => before?.focus();
  }, []);
  return box;
}

const COLUMNS: [SortKey | '', string, (t: Thread) => string][] = [
  ['calls', 'calls', t => integer(t.calls)],
  ['first', 'first activity', t => duration(t.first)],
  ['ran', 'ran', t => duration(t.runningNs)],
  ['wait', 'wait', t => duration(t.waitNs)],
  ['still', 'stalled', t => duration(t.stillNs)],
  ['', 'rows', t => integer(t.rowsAfter)],
];

export function ThreadList(): JSX.Element {
  const app = useApp();
  const box = useFocusTrap(() => act.toggleDrawer(app, 'threads'));
  const picked = usePart(s => s.picked);
  const hidden = usePart(s => s.hidden);
  const sort = usePart(s => s.sort);
  const [text, setText] = useState('');
  const wanted = text.toLowerCase();
  const all = sortThreads(app.model.trace.threads, sort).filter(t =>
    `${t.label} ${t.name}`.toLowerCase().includes(wanted),
  );
  const ids = all.map(t => t.index);
  const head = (key: SortKey | '', name: string): JSX.Element =>
    key ? (
      <SortHead name={name} now={key === sort} sort={() => act.setSort(app, key)} />
    ) : (
      <th scope="col" class="num">
        {name}
      </th>
    );
  return (
    <div class="drawer threads" role="dialog" aria-label="Threads" tabIndex={-1} ref={box}>
      <h2>
        Threads{' '}
        <small>
          {plural(app.model.trace.threads.length, 'thread')}, {hidden.size} hidden, {picked.size}{' '}
          ticked
        </small>
        <button class="link right" onClick={() => act.toggleDrawer(app, 'threads')}>
          close
        </button>
      </h2>
      <div class="tools">
        <input
          type="text"
          aria-label="Find threads by id or name"
          placeholder="id or name"
          value={text}
          onInput={e => setText(e.currentTarget.value)}
        />
        <button onClick={() => act.pickOnly(app, ids)}>Tick all</button>
        <button
          onClick={() =>
            act.pickOnly(
              app,
              ids.filter(i => !picked.has(i)),
            )
          }
        >
          Invert
        </button>
        <button disabled={picked.size === 0} onClick={() => act.showOnly(app, picked)}>
          Show only ticked
        </button>
        <button disabled={picked.size === 0} onClick={() => act.hide(app, picked)}>
          Hide ticked
        </button>
        <button disabled={hidden.size === 0} onClick={() => act.showAll(app)}>
          Show all
        </button>
      </div>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">
                <button class="link" onClick={() => act.setSort(app, 'tid')}>
                  thread{sort === 'tid' ? ' ▾' : ''}
                </button>
              </th>
              {COLUMNS.map(([key, name]) => head(key, name))}
            </tr>
          </thead>
          <tbody>
            {all.slice(0, 500).map(t => (
              <tr key={t.index} class={hidden.has(t.index) ? 'off' : ''}>
                <th scope="row">
                  <label>
                    <input
                      type="checkbox"
                      checked={picked.has(t.index)}
                      onChange={() => act.pick(app, t.index)}
                    />{' '}
                    {t.label} {t.name} {hidden.has(t.index) && '(hidden)'}
                  </label>
                </th>
                {COLUMNS.map(([key, name, value]) => (
                  <td key={key || name} class="num">
                    {value(t)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {all.length > 500 && (
          <p class="remark">500 of {all.length} listed: narrow it by id or name.</p>
        )}
      </div>
      <p class="remark">Sorted by {SORTS.find(([key]) => key === sort)![1]}; the chart follows.</p>
    </div>
  );
}

/** Keys that no command of the registry has: those of the focused chart, and of the search box. */
const HELP: KeyWord[] = [
  ['/', 'search: name, /regex/, fn: tid: min:5ms max:1s kind:gap, - negates'],
  ['Enter, Shift+Enter', 'next, previous hit (in the search box)'],
  ['\u2191 \u2193', 'in the search box: searches of before; the link keeps them'],
  ['Esc, Delete', 'on a pinned card: closes it; Enter goes back to its place'],
  ['W S A D', 'zoom in, out, pan (the chart has the focus); Shift: faster'],
  ['\u2190 \u2192 \u2191 \u2193', 'walk items in time, and threads'],
  ['e', 'selected thread: every level, or compact'],
];

const MOUSE: [string, string][] = [
  ['hover', 'facts; the item\u2019s time is shown in all threads'],
  ['click', 'keeps the item; the panel below says what each thread did then'],
  ['double click', 'zooms to the item'],
  ['drag', 'selects a range (snaps to borders; Alt: free)'],
  ['Shift+drag, middle', 'pans'],
  ['Ctrl+wheel, wheel', 'zooms at the pointer; scrolls the rows'],
  ['right click', 'starts or ends a range there, and more (served page)'],
  ['click on T\u2026', 'every level of that thread; Ctrl+click ticks it'],
];

export function Help(): JSX.Element {
  const app = useApp();
  const box = useFocusTrap(() => act.toggleDrawer(app, 'help'));
  const list = (rows: readonly KeyWord[]): JSX.Element => (
    <table>
      <tbody>
        {rows.map(([key, word]) => (
          <tr key={key}>
            <th scope="row">
              <Key>{key}</Key>
            </th>
            <td class="wrap">{word}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
  return (
    <div class="drawer help" role="dialog" aria-label="Help" tabIndex={-1} ref={box}>
      <h2>
        Keys and mouse{' '}
        <button class="link right" onClick={() => act.toggleDrawer(app, 'help')}>
          close
        </button>
      </h2>
      {list([
        ...HELP,
        ...commandsOf(app).flatMap(({ name, key, also = [] }) =>
          key && key !== '/' ? [[[key, ...also].join(', '), name] as KeyWord] : [],
        ),
        ...app.screens.flatMap(({ help }) => help),
      ])}
      {list(MOUSE)}
      <p class="remark">
        A thread is one row. Calls that are long for the thread, and gaps, are drawn where they are.
        Runs of short calls between them are folded into framed boxes: widths inside are shares of
        time, the order is by first occurrence. Nothing is dropped without being counted. Hollow
        bars are known only in sum. {app.model.trace.generator}.
      </p>
    </div>
  );
}

/* ---- The command palette, and the same box to find threads and functions. ---- */

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
    name: `${label} ${name}`.trim(),
    remark: plural(calls, 'call'),
    run: () => showThread(app, id),
  }));
  const { names, families } = served;
  const order = names.name.map((_, i) => i).sort((a, b) => names.self[b]! - names.self[a]!);
  const functions = order.map(i => ({
    name: names.name[i]!,
    remark: `${duration(names.self[i]!)} self`,
    hue: families.hue[i]!,
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
