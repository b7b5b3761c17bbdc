// SPDX-License-Identifier: MIT
// The whole page.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { exact } from '../lib/format';
import { readFragment, writeFragment, writePin } from '../lib/fragment';
import type { Pin } from '../lib/fragment';
import * as act from '../state/actions';
import { applyPlace, placeOf } from '../state/app';
import type { App, MenuAt } from '../state/app';
import { cardOf, goToPin, unpin } from '../state/pins';
import { currentScreen } from '../state/screens';
import type { OnReady, MenuLine } from '../state/screens';
import { pageKey } from './chart';
import { Help, ThreadList, Palette } from './help';
import { copyText, Key } from './parts';
import { Crumbs, Rail, StatusLine, TopBar } from './top';
import { AppContext, usePart, useApp } from './use';

const PAUSE_MS = 120;

/** What each screen says of what its steps change; two screens may use the same key. */
function stepsOf(app: App): (string | undefined)[] {
  return app.screens.flatMap(({ steps = [], write }) => {
    const own = new Map(write?.(app) ?? []);
    return steps.map(key => own.get(key));
  });
}

/** What was not known before, or is no longer, is no step: nobody took one. */
function isOther(before: string | undefined, now: string | undefined): boolean {
  return before !== undefined && now !== undefined && before !== now;
}

/** State -> address, when it has come to rest; address -> state when that changes. */
function bindAddress(app: App): () => void {
  let timer = 0;
  let changedAt = 0;
  let written = location.hash;
  let place = placeOf(app); // what `written` came to: steps are told by it, not by what it asked for
  let steps = stepsOf(app);
  const write = (): void => {
    const rest = changedAt + PAUSE_MS - performance.now();
    timer = rest > 0 ? window.setTimeout(write, rest) : 0;
    if (timer) return;
    const next = writeFragment(placeOf(app));
    if (next === written) return;
    const before = place;
    const stepsBefore = steps;
    [place, steps] = [placeOf(app), stepsOf(app)];
    const isStep =
      place.crumbs.length !== before.crumbs.length ||
      place.screen !== before.screen ||
      place.isFiltered !== before.isFiltered ||
      steps.some((now, i) => isOther(stepsBefore[i], now));
    written = next;
    if (isStep) history.pushState(null, '', next);
    else history.replaceState(null, '', next);
  };
  const read = (): void => {
    if (location.hash === written) return;
    written = location.hash;
    const first = { ...readFragment('#v=1')!, screen: app.screens[0]!.key };
    applyPlace(app, readFragment(written) ?? first);
    [place, steps] = [placeOf(app), stepsOf(app)];
  };
  const changed = (): void => {
    changedAt = performance.now();
    if (timer === 0) timer = window.setTimeout(write, PAUSE_MS);
  };
  const offs = [
    app.state.subscribe(changed),
    app.served?.state.subscribe(changed) ?? (() => undefined),
    app.live?.state.subscribe(changed) ?? (() => undefined),
    ...app.screens.map(({ watch }) => watch?.(app, changed) ?? (() => undefined)),
  ];
  window.addEventListener('popstate', read);
  window.addEventListener('hashchange', read);
  return () => {
    for (const off of offs) off();
    window.removeEventListener('popstate', read);
    window.removeEventListener('hashchange', read);
  };
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

function Announcer(): JSX.Element {
  const said = usePart(s => s.said);
  return (
    <div class="sr" aria-live="polite" id="said">
      {said}
    </div>
  );
}

function Drawers(): JSX.Element | null {
  const drawer = usePart(s => s.drawer);
  if (drawer === 'threads') return <ThreadList />;
  return drawer === 'help' ? <Help /> : null;
}

function Screens({ app, onReady }: { app: App; onReady: OnReady }): JSX.Element {
  const key = usePart(s => s.screen);
  usePart(s => s.epoch);
  const screen = currentScreen(app);
  return (
    <div class={`page${screen.kind(app)}`}>
      <TopBar />
      <Crumbs />
      <Rail />
      <screen.View key={key} onReady={onReady} />
      <StatusLine />
      <Pins />
      <Drawers />
      <Palette />
      <Menu />
      <Announcer />
    </div>
  );
}

interface PageProps {
  app: App;
  onReady: OnReady;
  /** Keys are heard, and the address is followed. */
  onBound: () => void;
}

export function Page({ app, onReady, onBound }: PageProps): JSX.Element {
  useEffect(() => {
    const keys = (event: KeyboardEvent): void => {
      const isCommand = event.ctrlKey || event.metaKey;
      if ((isTyping(event.target) && !isCommand) || event.defaultPrevented) return;
      if (isTyping(event.target) && !app.served) return;
      if (pageKey(app, event)) event.preventDefault();
    };
    document.addEventListener('keydown', keys);
    const off = bindAddress(app);
    onBound();
    return () => {
      document.removeEventListener('keydown', keys);
      off();
    };
  }, [app]);
  return (
    <AppContext.Provider value={app}>
      <Screens app={app} onReady={onReady} />
    </AppContext.Provider>
  );
}

/* ---- Pinned cards, over the chart: facts that stay in view, and the way back to their place. ---- */

const FACTS = 4;

function PinCard({ pin, close }: { pin: Pin; close: () => void }): JSX.Element {
  const app = useApp();
  const card = cardOf(app, pin);
  const go = (): void => {
    goToPin(app, pin);
    setTimeout(() => document.getElementById('chart')?.focus(), 30); // drawn by then
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' && event.key !== 'Delete') return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  return (
    <li class="pin-card" onKeyDown={keys}>
      <div class="line">
        {card && <card.Mark />}
        <button
          class="row-link"
          disabled={!card}
          title="Back to where it was pinned"
          aria-label={card ? `Go to: ${card.sentence}` : 'Not in this part of the trace'}
          onClick={go}
        >
          <b>{card?.title ?? 'not in this part of the trace'}</b>
        </button>
        <b>{card?.time}</b>
        <button
          class="plain"
          aria-label={`Close the card of ${card?.title ?? 'it'}`}
          onClick={close}
        >
          ×
        </button>
      </div>
      {card && (
        <>
          <p class="remark">{card.remark}</p>
          <table>
            <tbody>
              {card
                .facts()
                .slice(0, FACTS)
                .map(({ name, value, more }) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td class="num" title={more}>
                      {value}
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
        </>
      )}
    </li>
  );
}

function Pins(): JSX.Element | null {
  const app = useApp();
  const pins = usePart(s => s.pins);
  usePart(s => s.screen);
  usePart(s => s.epoch);
  usePart(s => s.colors);
  const list = useRef<HTMLUListElement>(null);
  if (pins.length === 0) return null;
  const close = (i: number): void => {
    unpin(app, pins[i]!);
    setTimeout(() => {
      const next = list.current?.querySelectorAll<HTMLElement>('.row-link')[i];
      (next ?? list.current?.querySelector<HTMLElement>('.row-link') ?? null)?.focus();
      if (!list.current) document.getElementById('chart')?.focus();
    });
  };
  return (
    <ul
      class={currentScreen(app).cards ? 'pins over-chart' : 'pins'}
      ref={list}
      id="pins"
      aria-label="Pinned cards"
    >
      {pins.map((pin, i) => (
        <PinCard key={writePin(pin)} pin={pin} close={() => close(i)} />
      ))}
    </ul>
  );
}

/* ---- The menu of a right click: first what makes a range, then what can be done with what is there. ---- */

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
      name: 'Zoom to this item',
      key: 'z',
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

function Menu(): JSX.Element | null {
  const app = useApp();
  const menu = usePart(s => s.menu);
  if (!menu) return null;
  return <Lines key={`${menu.x}.${menu.y}`} at={menu} close={() => act.openMenu(app, null)} />;
}
