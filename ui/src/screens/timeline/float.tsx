// SPDX-License-Identifier: MIT
// What floats over the timeline: tool-tip, menu, and the note of a flag.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { num } from '../../shared/api/columns';
import { unlessSuperseded } from '../../shared/api/source';
import { GREY_HUE } from '../../shared/lib/color';
import { duration, exact, integer, percent, plural, bare } from '../../shared/lib/format';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { showPaths } from '../../shared/state/paths';
import { copyText, hueVar, Key, tipStyle } from '../../shared/views/parts';
import { useApp, useAtom, usePart } from '../../shared/views/use';
import * as time from './state';
import { timelineOf } from './state';
import type { StateHit, TimelineHit } from './state';
import * as walk from './walk';

export function FnSwatch({ fn }: { fn: number }): JSX.Element {
  const { families } = timelineOf(useApp()).served;
  const hue = families.hue[fn] ?? GREY_HUE;
  return <span class="swatch" style={{ background: hueVar(hue) }} aria-hidden="true" />;
}

const ASK_MS = 40;

/** Self time of the call under the pointer, when the server has said it. */
function useSelf(hit: TimelineHit | null): number | null {
  const { served } = timelineOf(useApp());
  const [self, setSelf] = useState({ of: '', ns: 0 });
  const key = hit ? `${hit.thread} ${hit.depth} ${hit.start} ${hit.count}` : '';
  useEffect(() => {
    if (hit?.count !== 1) return undefined;
    const ask = async (): Promise<void> => {
      const params = { thread: hit.thread, at: Math.round(hit.start), depth: hit.depth };
      const json = await served.source.json('item', params, 'tip');
      if (json['found'] !== false) setSelf({ of: key, ns: num(json, 'self_ns') });
    };
    const timer = window.setTimeout(
      () => void unlessSuperseded(ask()).catch(() => undefined),
      ASK_MS,
    );
    return () => {
      window.clearTimeout(timer);
      served.source.cancel('tip');
    };
  }, [key]);
  return self.of === key ? self.ns : null;
}

function Row({ name, value, share }: { name: string; value: string; share?: string }): JSX.Element {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="num">{value}</td>
      <td class="num dim">{share ?? ''}</td>
    </tr>
  );
}

function CallRows({ hit, self }: { hit: TimelineHit; self: number | null }): JSX.Element {
  const { served } = timelineOf(useApp());
  const length = Math.max(1, hit.end - hit.start);
  const { count, self: selfs } = served.names;
  const all = count[hit.fn] ?? 0;
  return (
    <>
      <Row
        name="self"
        value={self === null ? '\u2026' : duration(self)}
        share={self === null ? '' : percent(self / length)}
      />
      <Row
        name="below"
        value={self === null ? '\u2026' : duration(length - self)}
        share={self === null ? '' : percent(1 - self / length)}
      />
      <Row
        name={`mean self of all ${integer(all)}`}
        value={duration((selfs[hit.fn] ?? 0) / Math.max(1, all))}
      />
    </>
  );
}

function MergedRows({ hit }: { hit: TimelineHit }): JSX.Element {
  const span = Math.max(1, hit.end - hit.start);
  return (
    <>
      <Row name="longest" value={duration(hit.longest)} />
      <Row name="together" value={duration(hit.covered)} share={percent(hit.covered / span)} />
      <Row name="mean" value={duration(hit.covered / hit.count)} />
    </>
  );
}

/** What a click on a state does. */
function clickWord({ lock, segment }: StateHit): string {
  if (segment !== undefined) return 'select it';
  return lock === undefined ? 'its time is the range' : 'its holders and waiters';
}

export function TimelineTip(): JSX.Element | null {
  const app = useApp();
  const { served, state } = timelineOf(app);
  const hover = useAtom(state, s => s.hover);
  const pointer = useAtom(state, s => s.pointer);
  const over = useAtom(state, s => s.over);
  const isPinned = useAtom(state, s => s.isTipPinned);
  const self = useSelf(hover);
  if (!pointer || !(hover ?? over)) return null;
  const style = tipStyle(pointer, 290, 200);
  if (!hover)
    return (
      <div class="tip" role="tooltip" style={style}>
        <b>{over!.words}</b>
        <p class="remark">
          {served.threads[over!.thread]!.label} · starts {exact(over!.start)} · {over!.by}
        </p>
        <p class="keys">
          <Key>click</Key> {clickWord(over!)}
        </p>
      </div>
    );
  const isOne = hover.count === 1;
  return (
    <div class={isPinned ? 'tip kept' : 'tip'} role="tooltip" style={style}>
      <div class="line">
        <FnSwatch fn={hover.fn} />
        <b class="grow">
          {isOne ? served.names.name[hover.fn] : plural(hover.count, 'short call')}
        </b>
        <b>{duration(hover.end - hover.start)}</b>
      </div>
      <p class="remark">
        {served.threads[hover.thread]!.label} · starts {exact(hover.start)} · depth {hover.depth}
      </p>
      {!isOne && <p class="remark">merged; longest of {served.names.name[hover.fn]}</p>}
      <table>
        <tbody>{isOne ? <CallRows hit={hover} self={self} /> : <MergedRows hit={hover} />}</tbody>
      </table>
      <p class="keys">
        <Key>click</Key> keep <Key>Alt</Key> pin <Key>R</Key> range <Key>p</Key> pin track
      </p>
    </div>
  );
}

/* ---- menu ---- */

interface Entry {
  word: string;
  key?: string;
  run: () => void;
  isOff?: boolean;
}

function rangeFrom(app: App, t: number): void {
  const { range, window } = app.state.get();
  const end = range && range.t1 > t ? range.t1 : window.t1;
  act.setRange(app, { t0: Math.round(t), t1: Math.round(Math.max(t + 1, end)) }, false);
}

function rangeTo(app: App, t: number): void {
  const { range, window } = app.state.get();
  const start = range && range.t0 < t ? range.t0 : window.t0;
  act.setRange(app, { t0: Math.round(Math.min(t - 1, start)), t1: Math.round(t) }, false);
}

/** The path of a call, or of the thread there: through the range, or else the window. */
function explainAt(app: App, thread: number, hit: time.TimelineHit | null): void {
  const { range, window } = app.state.get();
  const name = hit ? (timelineOf(app).served.names.name[hit.fn] ?? '') : '';
  const span = hit ? { t0: hit.start, t1: Math.max(hit.end, hit.start + 1) } : (range ?? window);
  showPaths(app, [{ thread: hit?.thread ?? thread, span, label: hit ? name : 'range' }]);
}

function entriesOf(app: App, menu: time.TimelineMenu): Entry[] {
  const { served, state } = timelineOf(app);
  const { hit, t, thread } = menu;
  const isPinned = state.get().pins.includes(thread);
  const near = (app.state.get().window.t1 - app.state.get().window.t0) / 300;
  const name = hit ? (served.names.name[hit.fn] ?? '') : '';
  const range = (): void => {
    if (hit) act.setRange(app, { t0: hit.start, t1: Math.max(hit.end, hit.start + 1) }, false);
  };
  return [
    { word: 'Start range here', run: () => rangeFrom(app, t) },
    { word: 'End range here', run: () => rangeTo(app, t) },
    { word: 'Range = this item', key: 'R', run: range, isOff: !hit },
    { word: 'Zoom to it', run: () => walk.zoomToHit(app, hit), isOff: !hit },
    {
      word: 'Add to the set',
      key: 'Ctrl+click',
      run: () => hit && walk.pickHit(app, hit),
      isOff: !hit || hit.count > 1,
    },
    { word: 'All calls of it', run: () => act.setQuery(app, `fn:"${name}"`), isOff: !hit },
    {
      word: 'Copy its start in ns',
      run: () => void copyText(String(hit?.start ?? t)),
      isOff: !hit,
    },
    {
      word: 'Critical path of this',
      run: () => explainAt(app, thread, hit),
      isOff: thread < 0 && !hit,
    },
    { word: 'Mark here', key: 'm', run: () => time.toggleFlag(app, t, false, near) },
    { word: 'Note here', key: 'Shift+M', run: () => time.toggleFlag(app, t, true, near) },
    {
      word: isPinned ? 'Unpin track' : 'Pin track',
      key: 'p',
      run: () => time.togglePin(app, thread),
      isOff: thread < 0,
    },
    { word: 'Hide track', run: () => act.hide(app, [thread]), isOff: thread < 0 },
  ];
}

export function TimelineContextMenu(): JSX.Element | null {
  const app = useApp();
  const { state } = timelineOf(app);
  const menu = useAtom(state, s => s.menu);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!menu) return undefined;
    box.current?.querySelector('button')?.focus();
    const close = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) time.setTimeline(app, { menu: null });
    };
    document.addEventListener('pointerdown', close);
    return () => document.removeEventListener('pointerdown', close);
  }, [menu]);
  if (!menu) return null;
  const keys = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    const all = [...box.current!.querySelectorAll<HTMLButtonElement>('button:not(:disabled)')];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    all[(at + by + all.length) % all.length]?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  const style = {
    left: `${Math.min(menu.x, innerWidth - 220)}px`,
    top: `${Math.min(menu.y, innerHeight - 290)}px`,
  };
  return (
    <div
      class="menu"
      role="menu"
      aria-label="What to do here"
      style={style}
      ref={box}
      onKeyDown={keys}
    >
      {entriesOf(app, menu).map(({ word, key, run, isOff }) => (
        <button
          role="menuitem"
          key={word}
          disabled={isOff}
          onClick={() => {
            time.setTimeline(app, { menu: null });
            run();
          }}
        >
          <span class="grow">{word}</span> {key && <Key>{key}</Key>}
        </button>
      ))}
    </div>
  );
}

/* ---- range and flags ---- */

/** The duration over the range's bar, and what can be done with it. */
export function RangeLabel(): JSX.Element | null {
  const app = useApp();
  const range = usePart(s => s.range);
  const window = usePart(s => s.window);
  const isPreview = usePart(s => s.isPreview);
  if (!range || range.t1 < window.t0 || range.t0 > window.t1) return null;
  const width = window.t1 - window.t0;
  const middle = (Math.max(range.t0, window.t0) + Math.min(range.t1, window.t1)) / 2;
  const share = Math.min(0.93, Math.max(0.07, (middle - window.t0) / width));
  return (
    <div class="trange" role="status" style={{ left: `calc(228px + (100% - 228px) * ${share})` }}>
      <b>{duration(range.t1 - range.t0)}</b>
      {!isPreview && (
        <>
          <button class="link" title="Zoom to it" onClick={() => act.commitRange(app)}>
            zoom <Key>z</Key>
          </button>
          <button class="link" title="Clear" onClick={() => act.setRange(app, null, false)}>
            clear
          </button>
        </>
      )}
    </div>
  );
}

export function NoteEditor(): JSX.Element | null {
  const app = useApp();
  const { state } = timelineOf(app);
  const editing = useAtom(state, s => s.editing);
  const flags = useAtom(state, s => s.flags);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), [editing]);
  const flag = flags[editing];
  if (!flag) return null;
  const save = (note: string): void =>
    time.setFlags(
      app,
      flags.map((one, i) => (i === editing ? { ...one, note, isGiven: false } : one)),
    );
  const keys = (event: KeyboardEvent): void => {
    event.stopPropagation();
    if (event.key === 'Enter') save(input.current!.value.trim());
    if (event.key === 'Escape') time.setTimeline(app, { editing: -1 });
  };
  return (
    <div class="tnote" role="dialog" aria-label="Note">
      <span>Note at {exact(flag.t)}</span>
      <input
        ref={input}
        type="text"
        maxLength={500}
        aria-label="Note"
        defaultValue={flag.note}
        onKeyDown={keys}
      />
      <button onClick={() => save(input.current!.value.trim())}>Keep</button>
      <button
        onClick={() =>
          time.setFlags(
            app,
            flags.filter((_, i) => i !== editing),
          )
        }
      >
        Delete
      </button>
    </div>
  );
}

/** Hands the notes over as a file that belongs beside the trace. */
export function saveNotes(app: App): void {
  const name = timelineOf(app).served.trace.name.replace(/\.weft$/, '');
  const blob = new Blob([bare(time.notesText(app))], { type: 'application/json' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = `${name}.notes.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
