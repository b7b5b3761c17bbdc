// SPDX-License-Identifier: MIT
// The menu of a right click: first what makes a range, then what can be done with what is there.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { exact } from '../lib/format';
import * as act from '../state/actions';
import type { App, MenuAt } from '../state/app';
import type { MenuLine } from '../state/screens';
import { copyText, Key } from './parts';
import { useApp, usePart } from './use';

/** Without `run` there is nothing to do it with: the line stays in its place. */
type Line = Omit<MenuLine, 'run'> & { run?: MenuLine['run'] | undefined };

function rangeLines(app: App, { t, item }: MenuAt): Line[] {
  const { range, window } = app.state.get();
  const at = Math.round(t);
  const lines: Line[] = [
    {
      name: `Start range here, ${exact(at)}`,
      run: () => act.setRange(app, { t0: at, t1: Math.max(at + 1, range?.t1 ?? window.t1) }, false),
    },
    {
      name: `End range here, ${exact(at)}`,
      run: () => act.setRange(app, { t0: Math.min(at - 1, range?.t0 ?? window.t0), t1: at }, false),
    },
  ];
  const span = act.itemSpan(app, item);
  const run = span ? (): void => act.setRange(app, span, false) : undefined;
  return [...lines, { name: 'Range = this item', run }];
}

function itemLines(app: App, { item }: MenuAt): MenuLine[] {
  if (!item) return [];
  const { rows } = app.model.trace.threads[item.thread]!;
  const span = act.itemSpan(app, item)!;
  const fn = rows.fn[item.row]!;
  const lines: MenuLine[] = [
    {
      ...{ name: 'Zoom to this item', key: 'z' },
      run: () => {
        act.select(app, item);
        act.setRange(app, null, false);
        act.commitRange(app);
      },
    },
    {
      name: 'Copy its start and end in ns',
      run: () => void copyText(`${span.t0} ${span.t1}`),
    },
  ];
  if (fn >= 0)
    lines.push(
      {
        name: `All calls of ${app.model.name(fn)}`,
        run: () => act.setQuery(app, `fn:"${app.model.fullName(fn)}"`),
      },
      { name: 'Copy its name', run: () => void copyText(app.model.fullName(fn)) },
    );
  return lines;
}

function threadLines(app: App, { thread }: MenuAt): MenuLine[] {
  const one = app.model.trace.threads[thread];
  if (!one) return [];
  return [
    { name: `Only ${one.label}`, run: () => act.showOnly(app, new Set([thread])) },
    { name: `Hide ${one.label}`, run: () => act.hide(app, [thread]) },
    {
      name: `${one.label}: every level, or compact`,
      key: 'e',
      run: () => act.toggleTall(app, thread),
    },
  ];
}

function Lines({ at, close }: { at: MenuAt; close: () => void }): JSX.Element {
  const app = useApp();
  const box = useRef<HTMLUListElement>(null);
  const lines: Line[] = [...rangeLines(app, at), ...itemLines(app, at), ...threadLines(app, at)];
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    box.current?.querySelector('button')?.focus();
    const away = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) close();
    };
    document.addEventListener('pointerdown', away);
    return () => {
      document.removeEventListener('pointerdown', away);
      before?.focus();
    };
  }, []);
  const keys = (event: KeyboardEvent): void => {
    const buttons = [...box.current!.querySelectorAll<HTMLButtonElement>('button:enabled')];
    const now = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) buttons[(now + by + buttons.length) % buttons.length]!.focus();
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const style = {
    left: `${Math.min(at.x, innerWidth - 270)}px`,
    top: `${Math.min(at.y, innerHeight - 24 * lines.length - 20)}px`,
  };
  return (
    <ul class="items-menu" role="menu" ref={box} style={style} onKeyDown={keys}>
      {lines.map(({ name, key, run }) => (
        <li key={name} role="none">
          <button
            role="menuitem"
            disabled={!run}
            onClick={() => {
              close();
              run?.(app);
            }}
          >
            <span class="grow">{name}</span>
            {key && <Key>{key}</Key>}
          </button>
        </li>
      ))}
    </ul>
  );
}

export function Menu(): JSX.Element | null {
  const app = useApp();
  const menu = usePart(s => s.menu);
  if (!menu) return null;
  return <Lines key={`${menu.x}.${menu.y}`} at={menu} close={() => act.openMenu(app, null)} />;
}
