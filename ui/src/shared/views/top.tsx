// SPDX-License-Identifier: MIT
// Top bar, breadcrumbs, rail and status line.
import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { Atom } from '../lib/atom';
import { duration, integer, plural, span, shortNote } from '../lib/format';
import { DIGITS, writeFragment } from '../lib/fragment';
import type { Note } from '../lib/model';
import * as act from '../state/actions';
import { placeOf } from '../state/app';
import type { App } from '../state/app';
import { findHits } from '../state/rows';
import { currentScreen } from '../state/screens';
import type { Served } from '../state/served';
import { isThreads, listSet, setText, stepSet } from '../state/sets';
import { copyText, Key, Swatch } from './parts';
import { useApp, useAtom, usePart } from './use';

function badgeText(notes: Note[], kind: Note['class']): string {
  const own = notes.filter(note => note.class === kind);
  if (own.length === 0) return '';
  const total = own.reduce((sum, note) => sum + note.count, 0);
  return own.length === 1 ? shortNote(own[0]!.kind, total) : `${integer(total)} ${kind}`;
}

function Badges(): JSX.Element {
  const app = useApp();
  const { trace } = app.model;
  const Own = app.screens.find(({ Badge }) => Badge)?.Badge;
  if (Own) return <Own />;
  if (trace.part?.kind === 'sketch') return <></>; // nothing is known of it yet
  const lost = badgeText(trace.notes, 'lost');
  const repaired = badgeText(trace.notes, 'repaired');
  if (!lost && !repaired)
    return (
      <span class="badge">
        {trace.notes.some(note => note.kind === 'excluded') ? 'partly recorded' : 'nothing lost'}
      </span>
    );
  return (
    <>
      {lost && <span class="badge bad">{lost}</span>}
      {repaired && <span class="badge warn">{repaired}</span>}
    </>
  );
}

function hitText(app: ReturnType<typeof useApp>, query: string): string {
  const { search } = currentScreen(app);
  if (search) return search.text(app, query);
  if (app.searches) {
    const { isAsked, trouble, own } = app.searches.state.get();
    if (trouble || isAsked || own) return trouble || (own && !isAsked ? setText(own) : 'searching');
  }
  const hits = findHits(app.model, query);
  if (!hits) return '';
  if (hits.query.error) return hits.query.error;
  const threads = plural(hits.threads.size, 'thread');
  return hits.items.length > 0 ? `${plural(hits.items.length, 'row')} in ${threads}` : threads;
}

function Suggestions({
  query,
  choose,
}: {
  query: string;
  choose: (text: string) => void;
}): JSX.Element | null {
  const app = useApp();
  const { model } = app;
  const hits = findHits(model, query);
  if (!hits?.functions || hits.query.error) return null;
  const { functions } = model.trace;
  const found: number[] = [];
  hits.functions.forEach((is, fn) => is && found.push(fn));
  found.sort((a, b) => functions.inclusive[b]! - functions.inclusive[a]!);
  const { search } = currentScreen(app);
  if (found.length === 0 && search && !search.isApart) return null; // it says itself what it found
  if (found.length === 0) return <div class="suggest empty">No function has that in its name.</div>;
  return (
    <ul class="suggest" role="listbox" aria-label="Functions found">
      {found.slice(0, 8).map(fn => (
        <li
          key={fn}
          role="option"
          aria-selected="false"
          onMouseDown={() => choose(`fn:"${model.fullName(fn)}"`)}
        >
          <Swatch fn={fn} />
          <span class="grow">{model.fullName(fn)}</span>
          <span class="num">{plural(functions.count[fn]!, 'call')}</span>
          <span class="num">{duration(functions.self[fn]!)} self</span>
        </li>
      ))}
      {found.length > 8 && <li class="more">{found.length - 8} more</li>}
    </ul>
  );
}

/** Draws again when a search has its answer. */
function useSearches(app: App): void {
  const none = useMemo(() => new Atom<unknown>(null), []);
  useAtom<unknown, unknown>((app.searches?.state as Atom<unknown> | undefined) ?? none, s => s);
}

function Omnibox(): JSX.Element {
  const app = useApp();
  const query = usePart(s => s.query);
  const found = usePart(() => hitText(app, query));
  const [isOpen, setOpen] = useState(false);
  const past = usePart(s => s.past);
  const [back, setBack] = useState(-1); // which of the past is shown
  const input = useRef<HTMLInputElement>(null);
  useSearches(app);
  const recall = (by: 1 | -1): void => {
    if (back < 0 && by < 0) return;
    if (back < 0) act.remember(app);
    const { past: all } = app.state.get();
    const isNow = back < 0 && query.trim() !== '' && all[0] === query.trim();
    const next = Math.min(all.length - 1, back + by + (isNow ? 1 : 0));
    setBack(next);
    act.setQuery(app, all[next] ?? '');
    setOpen(all[next] === undefined);
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      recall(event.key === 'ArrowUp' ? 1 : -1);
      event.preventDefault();
    } else if (event.key === 'Enter') {
      act.remember(app);
      const by = event.shiftKey ? -1 : 1;
      const { search } = currentScreen(app);
      if (!search?.isApart && app.searches?.state.get().own) stepSet(app, by);
      else if (search) search.step(app, by);
      else act.stepHit(app, by);
      setOpen(false);
      event.preventDefault();
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      if (query) act.setQuery(app, '');
      else input.current?.blur();
    }
  };
  return (
    <div class="omnibox">
      <Key>/</Key>
      <input
        ref={input}
        id="search"
        type="text"
        autocomplete="off"
        spellcheck={false}
        aria-label="Search functions and threads"
        placeholder={
          app.served
            ? 'Search: name, /regex/, fn: tid: min: max:, - negates; > commands'
            : 'Search: name, /regex/, fn: tid: min: max: kind:, - negates'
        }
        value={query}
        onInput={event => {
          if (app.served && event.currentTarget.value.startsWith('>')) {
            event.currentTarget.value = query;
            act.toggleDrawer(app, 'commands');
            return;
          }
          act.setQuery(app, event.currentTarget.value);
          setBack(-1);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => {
          act.remember(app);
          setBack(-1);
          setOpen(false);
        }}
        onKeyDown={keys}
      />
      <span class="hits" role="status">
        {found}
      </span>
      {query && <Key>Enter</Key>}
      {isOpen && query.trim() !== '' && (
        <Suggestions query={query} choose={text => act.setQuery(app, text)} />
      )}
      {isOpen && query.trim() === '' && past.length > 0 && (
        <ul class="suggest" role="listbox" aria-label="Searches of before">
          {past.map(text => (
            <li
              key={text}
              role="option"
              aria-selected="false"
              onMouseDown={() => act.setQuery(app, text)}
            >
              <span class="grow">{text}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function TracePicker({
  served,
  open,
}: {
  served: Served;
  open: (id: number) => void;
}): JSX.Element {
  return (
    <h1>
      <select
        aria-label="Trace"
        value={served.source.trace}
        onChange={event => open(Number(event.currentTarget.value))}
      >
        {served.traces.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </h1>
  );
}

function LinkBadge({ served }: { served: Served }): JSX.Element | null {
  const isLost = useAtom(served.source.link, link => link.isLost);
  return isLost ? (
    <span class="badge bad" role="status" title="The page shows what it has, and asks again">
      no connection, trying again
    </span>
  ) : null;
}

/** The set as a crumb: what it is, and how much of it is here. */
function SetCrumb({ served }: { served: Served }): JSX.Element | null {
  const app = useApp();
  const set = useAtom(served.state, s => s.set);
  const isOnly = useAtom(served.state, s => s.isSetOnly);
  if (!set) return null;
  const some = `${integer(set.n)} of ${integer(set.total)}`;
  const calls = set.n < set.total ? some : integer(set.total);
  const amount = isThreads(set) ? setText(set) : calls;
  return (
    <span class={isOnly ? 'crumb now' : 'crumb'}>
      <button class="plain" title="List its calls" onClick={() => listSet(app)}>
        {isOnly ? 'Only set' : 'Set'}: {set.title} ({amount})
      </button>{' '}
      <button class="plain" aria-label="Drop the set" onClick={() => act.clearSet(app)}>
        ×
      </button>
    </span>
  );
}

export function TopBar(): JSX.Element {
  const app = useApp();
  const { trace } = app.model;
  const hasTrace = app.served?.hasTrace ?? true; // else databases alone
  const theme = usePart(s => s.theme);
  const [copied, setCopied] = useState(false);
  const next = { system: 'light', light: 'dark', dark: 'system' } as const;
  const copy = async (): Promise<void> => {
    await copyText(location.href.replace(/#.*/, '') + writeFragment(placeOf(app)));
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  app.copyLink = () => void copy();
  return (
    <header class="top">
      <span class="brand">weft</span>
      {app.served && app.served.traces.length > 1 ? (
        <TracePicker served={app.served} open={app.openTrace} />
      ) : (
        <h1>{trace.name}</h1>
      )}
      <span class="meta">
        {hasTrace
          ? `${duration(trace.duration)} · ${plural(trace.threads.length, 'thread')} · ${plural(trace.calls, 'call')}`
          : 'database of executions'}
      </span>
      <Badges />
      {app.served && <LinkBadge served={app.served} />}
      <Omnibox />
      {hasTrace && <button onClick={() => act.toggleDrawer(app, 'threads')}>Threads</button>}
      <button class="for-legend" onClick={() => act.toggleDrawer(app, 'legend')}>
        Legend
      </button>
      <button class="for-story" onClick={() => act.toggleDrawer(app, 'story')}>
        Story
      </button>
      <button aria-label={`Theme: ${theme}. Change`} onClick={() => act.setTheme(app, next[theme])}>
        Theme <b>{theme}</b>
      </button>
      <button onClick={() => void copy()}>{copied ? 'Copied' : 'Copy link'}</button>
      <button aria-label="Help" onClick={() => act.toggleDrawer(app, 'help')}>
        ?
      </button>
    </header>
  );
}

/** The window in words: all that changes with every step of a zoom. */
function ViewCrumb(): JSX.Element {
  const { t0, t1 } = usePart(s => s.window);
  return <span class="crumb now">View {span(t0, t1)}</span>;
}

export function Crumbs(): JSX.Element {
  const app = useApp();
  const { trace } = app.model;
  const crumbs = usePart(s => s.crumbs);
  const isWhole = usePart(({ window }) => window.t0 === 0 && window.t1 >= trace.duration);
  const range = usePart(s => s.range);
  const isFiltered = usePart(s => s.isFiltered);
  const query = usePart(s => s.query);
  const hidden = usePart(s => s.hidden);
  const whole = `Whole trace ${duration(trace.duration)}`;
  const { Settings } = currentScreen(app);
  const hasTrace = app.served?.hasTrace ?? true;
  return (
    <nav class="crumbs" aria-label="Where you are">
      {isWhole ? (
        hasTrace && <span class={range ? 'crumb' : 'crumb now'}>{whole}</span>
      ) : (
        <button class="crumb" onClick={() => act.resetView(app)}>
          {whole}
        </button>
      )}
      {crumbs.slice(1).map((crumb, i) => (
        <button class="crumb" key={i} onClick={() => act.backTo(app, i + 1)}>
          {span(crumb.t0, crumb.t1)}
        </button>
      ))}
      {!isWhole && <ViewCrumb />}
      {range && (
        <button class="crumb now" onClick={() => act.commitRange(app)} title="Zoom to it (z)">
          Range {span(range.t0, range.t1)}
        </button>
      )}
      {isFiltered && (
        <button
          class="crumb now"
          onClick={() => act.toggleFilter(app)}
          title="Show all threads again (h)"
        >
          Only threads with {query} ×
        </button>
      )}
      {app.served && <SetCrumb served={app.served} />}
      {hidden.size > 0 && (
        <button class="crumb now" onClick={() => act.showAll(app)} title="Show them again">
          {plural(hidden.size, 'thread')} hidden ×
        </button>
      )}
      <div class="settings">
        <Settings />
      </div>
    </nav>
  );
}

export function Rail(): JSX.Element {
  const app = useApp();
  const screen = usePart(s => s.screen);
  return (
    <nav class="rail" aria-label="Screens">
      {app.screens.map(({ key, name }) => (
        <a
          key={key}
          href={`#v=1&s=${DIGITS[key]}`}
          aria-current={screen === key ? 'page' : undefined}
          onClick={event => {
            event.preventDefault();
            act.setScreen(app, key);
          }}
        >
          <b>{DIGITS[key]}</b>
          {name}
        </a>
      ))}
    </nav>
  );
}

export function StatusLine(): JSX.Element {
  const app = useApp();
  const range = usePart(s => s.range);
  const said = usePart(s => s.said);
  usePart(s => s.screen);
  const screen = currentScreen(app);
  return (
    <footer class="status">
      {screen.keys.map(([name, word]) => (
        <span key={name}>
          <Key>{name}</Key> {word}
        </span>
      ))}
      <span class="said">
        {range ? `Range ${duration(range.t1 - range.t0)}` : said || screen.status(app)}
      </span>
    </footer>
  );
}
