// SPDX-License-Identifier: MIT
// What a served page says of its regimes: of what they are, how far the server is, and a form that
// asks for others.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { duration, integer, span, percent } from '../../shared/lib/format';
import { readTime } from '../../shared/lib/search';
import type { Ask } from '../../shared/lib/search';
import type { Live, LiveState, Progress } from '../../shared/state/live';
import { useApp, useAtom, usePart } from '../../shared/views/use';
import { short } from '../../shared/lib/numbers';

const SLOW_MS = 1000;

/** The live part of a served page, and what it is at; draws again when `choose` changes. */
function useLive<T>(live: Live, choose: (state: LiveState) => T): T {
  return useAtom(live.state, choose);
}

function leftText({ done, total, began, doneThen }: Progress): string {
  const spent_s = (performance.now() - began) / 1000;
  const advance = done - doneThen;
  if (advance <= 0 || total <= done || spent_s < 1) return '';
  return `, ${Math.max(1, Math.round((spent_s * (total - done)) / advance))} s left`;
}

/** "cutting regimes: 3.1 of 10.2 M calls, 4 s left". */
function progressText(progress: Progress, what: string): string {
  const { activity, done, total, unit } = progress;
  if (total <= 0) return `${what}${activity ? `: ${activity}` : ''}`;
  const share = `${Math.floor((100 * done) / total)}\u00a0%`;
  const amount = unit ? ` of ${integer(total)} ${unit}` : '';
  return `${what}: ${activity ? `${activity}, ` : ''}${share}${amount}${leftText(progress)}`;
}

/** A line that grows at the top of what it is about; above a second it has words elsewhere. */
function ProgressLine({ progress }: { progress: Progress | null }): JSX.Element | null {
  if (!progress) return null;
  const share = progress.total > 0 ? Math.min(1, progress.done / progress.total) : 0;
  return (
    <div
      class={share > 0 ? 'progress' : 'progress unknown'}
      role="progressbar"
      aria-label={progress.activity || 'asking the server'}
      aria-valuenow={Math.round(share * 100)}
    >
      <i style={{ width: `${Math.max(2, share * 100)}%` }} />
    </div>
  );
}

/** Line and words of the regimes, for the Overview's chart. */
export function RegimeLine(): JSX.Element | null {
  const { live } = useApp();
  return live && <LiveLine live={live} />;
}

function LiveLine({ live }: { live: Live }): JSX.Element {
  const progress = useLive(live, s => s.progress);
  const wanted = useLive(live, s => s.wanted);
  const window: Progress | null = wanted && {
    activity: 'regimes of this window',
    done: 0,
    total: 0,
    unit: '',
    since: 0,
    began: 0,
    doneThen: 0,
  };
  return <ProgressLine progress={progress ?? window} />;
}

/** Of what the rows are, in words; '' in a report. */
export function useRegimeWords(): string {
  const { live, model } = useApp();
  usePart(s => s.epoch);
  const { part } = model.trace;
  if (!live) return '';
  if (part?.kind === 'window')
    return `Regimes of this window: thresholds are shares of ${span(part.span.t0, part.span.t1)}.`;
  if (part) return 'First picture, so far: long calls, and zig-zags for clusters of short ones.';
  return '';
}

/** What is under way, once it takes longer than a person waits without a word. */
export function RegimeStatus(): JSX.Element | null {
  const { live } = useApp();
  return live && <LiveStatus live={live} />;
}

function LiveStatus({ live }: { live: Live }): JSX.Element | null {
  const progress = useLive(live, s => s.progress);
  const wanted = useLive(live, s => s.wanted);
  const trouble = useLive(live, s => s.trouble || s.partTrouble);
  if (trouble) return <b class="bad-text">Regimes: {trouble}. The rest still works.</b>;
  if (progress && performance.now() - progress.since > SLOW_MS)
    return <b>{progressText(progress, 'Regimes of the whole trace')}</b>;
  return wanted ? <b>Regimes of this window are asked for</b> : null;
}

/* ---- the form ---- */

function Field({
  name,
  hint,
  children,
}: {
  name: string;
  hint: string;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <label class="field">
      <span>
        {name} <small>{hint}</small>
      </span>
      {children}
    </label>
  );
}

const time = (ns: number): string => (ns > 0 ? duration(ns).replace(/\u00a0/g, ' ') : '');

type Draft = Record<'d' | 'g' | 'f' | 'least' | 'glyphs' | 'k', string> & { preset: Ask['preset'] };

const draftOf = (ask: Ask): Draft => ({
  preset: ask.preset,
  d: time(ask.d),
  g: time(ask.g),
  f: time(ask.f),
  least: time(ask.least),
  glyphs: ask.glyphs >= 0 ? String(ask.glyphs) : '',
  k: ask.k > 0 ? String(ask.k) : '',
});

/** The question that the fields say, or the first thing wrong with them. */
function askOf(draft: Draft): Ask | string {
  const ask: Ask = { preset: draft.preset, d: 0, g: 0, f: 0, least: 0, glyphs: -1, k: 0 };
  for (const key of ['d', 'g', 'f', 'least'] as const) {
    const ns = readTime(draft[key]);
    if (ns === null) return `\u201c${draft[key]}\u201d is no time: 500us, 1.5ms`;
    ask[key] = ns;
  }
  if (!/^\d*$/.test(draft.glyphs.trim())) return 'rows a thread are a whole number; 0: no limit';
  if (!/^\d*(\.\d+)?$/.test(draft.k.trim())) return 'times the median are a number, such as 100';
  if (draft.glyphs.trim() !== '') ask.glyphs = Number(draft.glyphs);
  ask.k = Number(draft.k || 0);
  return ask;
}

function Form({ live, close }: { live: Live; close: () => void }): JSX.Element {
  const { settings } = useApp().model.trace;
  const isHeld = useLive(live, s => s.isHeld);
  const [draft, setDraft] = useState(() => draftOf(live.state.get().ask));
  const [trouble, setTrouble] = useState('');
  const box = useRef<HTMLFormElement>(null);
  useEffect(() => box.current?.querySelector<HTMLElement>('select, input')?.focus(), []);
  const put = (change: Partial<Draft>): void => setDraft(now => ({ ...now, ...change }));
  const apply = (event: Event): void => {
    event.preventDefault();
    const ask = askOf(draft);
    if (typeof ask === 'string') return setTrouble(ask);
    setTrouble('');
    live.change(ask);
    close();
  };
  const input = (key: Exclude<keyof Draft, 'preset'>, hint: string): JSX.Element => (
    <input
      type="text"
      value={draft[key]}
      placeholder={hint}
      onInput={event => put({ [key]: event.currentTarget.value })}
    />
  );
  const escape = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  };
  const share = (part: number): string => short(percent(part));
  return (
    <form class="regimes" aria-label="Regimes" ref={box} onSubmit={apply} onKeyDown={escape}>
      <Field name="Preset" hint="thresholds as shares of a thread">
        <select
          value={draft.preset}
          onChange={e => put({ preset: e.currentTarget.value as Ask['preset'] })}
        >
          <option value="">paper: 1 %, 0.1 %, 13 %</option>
          <option value="fine">fine: 0.5 %, 0.1 %, 2 %</option>
        </select>
      </Field>
      <Field name="d" hint="a call longer than this has a row of its own">
        {input('d', share(settings.durationFraction))}
      </Field>
      <Field name="g" hint="so has a time without calls">
        {input('g', share(settings.gapFraction))}
      </Field>
      <Field name="f" hint="a run of short calls is cut at this length">
        {input('f', share(settings.spanFraction))}
      </Field>
      <Field name="Rows" hint="a thread at most; 0: no limit">
        {input('glyphs', String(settings.glyphs))}
      </Field>
      <Field name="k" hint="an outlier is so many times its median">
        {input('k', String(settings.outlierFactor))}
      </Field>
      <Field name="Least" hint="and at least so long">
        {input('least', duration(settings.outlierMin))}
      </Field>
      <label class="hold">
        <input
          type="checkbox"
          checked={isHeld}
          onChange={event => live.hold(event.currentTarget.checked)}
        />{' '}
        Hold the whole trace’s regimes when zooming in
      </label>
      {trouble && <p class="bad-text">{trouble}</p>}
      <p class="tools">
        <button type="submit">Apply</button>
        <button
          type="button"
          onClick={() => {
            setDraft(draftOf({ ...live.state.get().ask, ...EMPTY }));
            live.change({ ...live.state.get().ask, ...EMPTY });
          }}
        >
          As the program has them
        </button>
      </p>
    </form>
  );
}

const EMPTY: Ask = { preset: '', d: 0, g: 0, f: 0, glyphs: -1, k: 0, least: 0 };

function threshold(fraction: number, ns: number): string {
  return ns > 0 ? duration(ns) : short(percent(fraction));
}

/** Preset and thresholds in one line. */
export function Thresholds(): JSX.Element {
  const { settings: set, part } = useApp().model.trace;
  if (part?.kind === 'sketch') return <>Preset</>;
  const values = [
    `d ${threshold(set.durationFraction, set.durationNs)}`,
    `g ${threshold(set.gapFraction, set.gapNs)}`,
    `f ${threshold(set.spanFraction, set.spanNs)}`,
  ].join(' \u00b7 ');
  return (
    <>
      Preset <b>{set.preset || 'own'}</b> · {values}
      {set.glyphs > 0 && ` \u00b7 ${set.glyphs} rows`}
    </>
  );
}

export function RegimeSettings({ live }: { live: Live }): JSX.Element {
  const { trace } = useApp().model;
  const isHeld = useLive(live, s => s.isHeld);
  const [isOpen, setOpen] = useState(false);
  const of = trace.part?.kind === 'window' ? 'this window' : 'whole trace';
  return (
    <>
      <button
        class="plain"
        aria-pressed={isHeld}
        title="Whether zooming in cuts the regimes of the window anew"
        onClick={() => live.hold(!isHeld)}
      >
        Regimes of <b>{of}</b>
        {isHeld ? ', held' : ''}
      </button>
      <span class="holder">
        <button
          class="plain"
          id="thresholds"
          aria-expanded={isOpen}
          title="notable: longer than d, or holds a gap longer than g; runs are cut at f"
          onClick={() => setOpen(!isOpen)}
        >
          <Thresholds /> ▾
        </button>
        {isOpen && <Form live={live} close={() => setOpen(false)} />}
      </span>
    </>
  );
}
