// SPDX-License-Identifier: MIT
// The story column: sentences computed from the trace, each with the numbers that carry it.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { duration, percent, plural, times, integer, span } from '../../shared/lib/format';
import { callAt } from '../../shared/lib/layout';
import { KIND, PAUSE } from '../../shared/lib/model';
import type { Outlier, Thread, Trace } from '../../shared/lib/model';
import type { Families } from '../../shared/lib/names';
import * as act from '../../shared/state/actions';
import { Name, Swatch, Heads } from '../../shared/views/parts';
import { useApp, usePart } from '../../shared/views/use';
import { fixed } from '../../shared/lib/numbers';
import { RegimeStatus } from './regimes';

interface Told {
  headline: string;
  lead: string;
  table: { label: string; ns: number; share: number; isInferred: boolean }[];
  reasons: { n: number; text: string; fn: number; rest: string; threads: number[] }[];
}

interface Edge {
  t: number;
  step: number;
}

/** How many are open at once: the most, when first, and the share of time with at most one. */
export function sweep(spans: readonly { t0: number; t1: number }[]): {
  most: number;
  at: number;
  area: number;
  shareAtMostOne: number;
} {
  const edges: Edge[] = [];
  for (const { t0, t1 } of spans) edges.push({ t: t0, step: 1 }, { t: t1, step: -1 });
  edges.sort((a, b) => a.t - b.t || a.step - b.step);
  let [open, most, at, area, few, busy] = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < edges.length; i++) {
    const edge = edges[i]!;
    open += edge.step;
    if (open > most) [most, at] = [open, edge.t];
    const width = (edges[i + 1]?.t ?? edge.t) - edge.t;
    area += width * open;
    if (open > 0) busy += width;
    if (open === 1) few += width;
  }
  return { most, at, area, shareAtMostOne: busy > 0 ? few / busy : 1 };
}

function runs(thread: Thread): { t0: number; t1: number }[] {
  const { pauses } = thread;
  const out: { t0: number; t1: number }[] = [];
  let at = thread.first;
  for (let p = 0; p < pauses.n; p++) {
    if (pauses.start[p]! > at) out.push({ t0: at, t1: pauses.start[p]! });
    at = Math.max(at, pauses.end[p]!);
  }
  if (thread.last > at) out.push({ t0: at, t1: thread.last });
  return out;
}

interface Sums {
  wait: number;
  still: number;
  idle: number;
  ran: number;
}

function sums(threads: readonly Thread[]): Sums {
  const out = { wait: 0, still: 0, idle: 0, ran: 0 };
  for (const t of threads) {
    out.wait += t.waitNs;
    out.still += t.stillNs;
    out.idle += t.idleNs;
    out.ran += t.runningNs;
  }
  return out;
}

function headline(trace: Trace, s: Sums): { headline: string; lead: string } {
  const n = trace.threads.length;
  const all = s.wait + s.still + s.idle + s.ran;
  if (n === 0 || trace.calls === 0)
    return {
      headline: 'No call in this trace',
      lead: 'Nothing was recorded, or nothing of it is a call.',
    };
  const total = `In ${duration(trace.duration)}, ${plural(n, 'thread')} ran ${duration(s.ran)} in all`;
  if (n === 1) {
    const only = trace.threads[0]!;
    return {
      headline: `${only.label} ran ${percent(s.ran / Math.max(1, all))} of its time`,
      lead: `${plural(trace.calls, 'call')} in ${duration(trace.duration)}.`,
    };
  }
  const parallel = s.ran / Math.max(1, trace.duration);
  const complete = trace.threads.every(t => t.pausesAll === t.pauses.n);
  const busy = complete ? sweep(trace.threads.flatMap(runs)) : null;
  const cpu = `${fixed(parallel, 2)} of one CPU`;
  const isTakingTurns = busy !== null && busy.shareAtMostOne > 0.7;
  if (n >= 3 && isTakingTurns && parallel > 0.5 && (s.wait + s.still) / all > 0.5)
    return {
      headline: 'One thread ran at a time',
      lead: `${total}: ${cpu}. The rest is waiting for a turn.`,
    };
  if (s.wait / all >= 0.5)
    return {
      headline: `The threads waited ${percent(s.wait / all)} of their time`,
      lead: `${total}, ${fixed(parallel, 1)} at once on average.`,
    };
  if (s.still / all >= 0.4)
    return {
      headline: `The threads were stalled ${percent(s.still / all)} of their time`,
      lead: `${total}, ${fixed(parallel, 1)} at once on average. Silent inside calls for the rest.`,
    };
  return {
    headline: `${fixed(parallel, 1)} threads ran at once on average`,
    lead: `${total}.${busy ? ` At most ${busy.most} at once.` : ''}`,
  };
}

function waitReasons(trace: Trace, families: Families): Told['reasons'] {
  const byFn = new Map<number, { t0: number; t1: number; thread: number }[]>();
  for (const thread of trace.threads)
    for (let p = 0; p < thread.pauses.n; p++) {
      if (thread.pauses.kind[p] !== PAUSE.WAIT) continue;
      const fn = thread.pauses.fn[p]!;
      const entry = {
        t0: thread.pauses.start[p]!,
        t1: thread.pauses.end[p]!,
        thread: thread.index,
      };
      byFn.set(fn, [...(byFn.get(fn) ?? []), entry].slice(-100000));
    }
  return [...byFn]
    .map(([fn, spans]) => ({ fn, spans, ...sweep(spans) }))
    .sort((a, b) => b.area - a.area)
    .slice(0, 2)
    .filter(({ area }) => area > 0.01 * trace.duration)
    .map(({ fn, spans, most, at, area }) => ({
      n: most,
      text: 'waited in ',
      fn,
      rest: ` at ${duration(at)}; ${duration(area)} in all`,
      threads: [...new Set(spans.filter(s => s.t0 <= at && at < s.t1).map(s => s.thread))],
    }))
    .filter(({ fn }) => fn >= 0 && families.short[fn] !== undefined);
}

function stillReasons(trace: Trace): Told['reasons'] {
  const longest: { thread: Thread; ns: number; at: number }[] = [];
  for (const thread of trace.threads) {
    let best = { thread, ns: 0, at: 0 };
    for (let p = 0; p < thread.pauses.n; p++) {
      const ns = thread.pauses.end[p]! - thread.pauses.start[p]!;
      if (thread.pauses.kind[p] === PAUSE.STILL && ns > best.ns)
        best = { thread, ns, at: thread.pauses.start[p]! };
    }
    if (best.ns > 0.1 * trace.duration) longest.push(best);
  }
  if (longest.length === 0) return [];
  const all = longest.map(l => l.ns);
  const reasons: Told['reasons'] = [
    {
      n: longest.length,
      text: 'stopped in the middle of a call, for ',
      fn: -1,
      rest:
        longest.length > 1
          ? `${duration(Math.min(...all))} to ${duration(Math.max(...all))}`
          : duration(all[0]!),
      threads: longest.map(l => l.thread.index),
    },
  ];
  const common = commonAncestor(longest);
  if (common && common.threads.length > 1 && common.threads.length < longest.length)
    reasons.push({
      n: common.threads.length,
      text: 'of those with ',
      ...common,
      rest: ' on the stack',
    });
  return reasons;
}

function commonAncestor(
  list: { thread: Thread; at: number }[],
): { fn: number; threads: number[] } | null {
  const holders = new Map<number, { depth: number; threads: number[] }>();
  for (const { thread, at } of list) {
    const { rows } = thread;
    const inner = callAt(rows, at);
    const seen = new Set<number>();
    for (let i = inner < 0 ? -1 : rows.parent[inner]!; i >= 0; i = rows.parent[i]!) {
      const fn = rows.fn[i]!;
      if (rows.kind[i] !== KIND.CALL || seen.has(fn)) continue;
      seen.add(fn);
      const entry = holders.get(fn) ?? { depth: 0, threads: [] };
      entry.depth = Math.max(entry.depth, rows.level[i]!);
      entry.threads.push(thread.index);
      holders.set(fn, entry);
    }
  }
  const best = [...holders].sort(
    (a, b) => b[1].threads.length - a[1].threads.length || b[1].depth - a[1].depth,
  )[0];
  return best ? { fn: best[0], threads: best[1].threads } : null;
}

function lateReason(trace: Trace): Told['reasons'] {
  const from = 0.9 * trace.duration;
  const late = trace.threads.filter(t => t.first > from && t.calls > 0);
  if (late.length < 2) return [];
  const first = Math.min(...late.map(t => t.first));
  const rest = duration(Math.floor(first / 1e5) * 1e5 || first);
  const text = 'made their first call after ';
  return [{ n: late.length, text, fn: -1, rest, threads: late.map(t => t.index) }];
}

function busiest(trace: Trace): Told['reasons'] {
  const best = [...trace.threads].sort((a, b) => b.runningNs - a.runningNs)[0];
  if (!best || trace.threads.length < 2 || best.runningNs === 0) return [];
  const rest = `${duration(best.runningNs)}, ${percent(best.runningNs / Math.max(1, trace.duration))} of the trace`;
  return [{ n: 1, text: `(${best.label}) ran longest: `, fn: -1, rest, threads: [best.index] }];
}

function allTime(trace: Trace, families: Families, s: Sums): Told['table'] {
  const all = Math.max(1, s.wait + s.still + s.idle + s.ran);
  const waits = new Map<number, number>();
  for (const { pauses } of trace.threads)
    for (let p = 0; p < pauses.n; p++)
      if (pauses.kind[p] === PAUSE.WAIT)
        waits.set(
          pauses.fn[p]!,
          (waits.get(pauses.fn[p]!) ?? 0) + pauses.end[p]! - pauses.start[p]!,
        );
  const top = [...waits].sort((a, b) => b[1] - a[1])[0];
  const name = top && top[1] > 0.8 * s.wait && top[0] >= 0 ? `, ${families.short[top[0]]}` : '';
  const rows = [
    { label: `Waited${name}`, ns: s.wait, isInferred: false },
    { label: 'Stalled in a call', ns: s.still, isInferred: true },
    { label: 'No call open', ns: s.idle, isInferred: false },
    { label: 'Ran', ns: s.ran, isInferred: false },
  ];
  return rows.filter(r => r.ns > 0).map(row => ({ ...row, share: row.ns / all }));
}

/** Of a part of the trace the story is told as if it were all. */
export function makeStory(all: Trace, families: Families): Told {
  const { part } = all;
  const trace = part
    ? { ...all, duration: part.span.t1 - part.span.t0, calls: all.totals.calls }
    : all;
  const s = sums(trace.threads);
  const late = part ? [] : lateReason(trace);
  const reasons = [...waitReasons(trace, families), ...stillReasons(trace), ...late];
  return {
    ...headline(trace, s),
    table: allTime(trace, families, s),
    reasons: (reasons.length < 5 ? [...reasons, ...busiest(trace)] : reasons).slice(0, 5),
  };
}

interface OutlierGroup {
  fn: number;
  kind: Outlier['kind'];
  list: Outlier[];
  longest: Outlier;
}

/** The deepest outliers by function, longest first: their callers are long because of them. */
export function groupOutliers(trace: Trace): OutlierGroup[] {
  const groups = new Map<string, OutlierGroup>();
  for (const outlier of trace.outliers) {
    if (outlier.kind === 'call' && !outlier.deepest) continue;
    const key = `${outlier.kind}.${outlier.fn}`;
    const group = groups.get(key);
    if (!group)
      groups.set(key, { fn: outlier.fn, kind: outlier.kind, list: [outlier], longest: outlier });
    else {
      group.list.push(outlier);
      if (outlier.end - outlier.start > group.longest.end - group.longest.start)
        group.longest = outlier;
    }
  }
  const length = (g: OutlierGroup): number => g.longest.end - g.longest.start;
  return [...groups.values()].sort(
    (a, b) => Number(a.kind === 'gap') - Number(b.kind === 'gap') || length(b) - length(a),
  );
}

function outlierRemark(trace: Trace): string {
  const { outlierFactor, outlierMin } = trace.settings;
  return `\u2265 ${times(outlierFactor)} own median, \u2265 ${duration(outlierMin)}, or long for the thread`;
}

/* ---- The story column: what the trace says in sentences, its outliers, what was lost or repaired. ---- */

const FIRST = 9;
/** Of a trace without calls: where to look instead. */
function KernelOnly(): JSX.Element {
  const app = useApp();
  return (
    <>
      It has kernel events alone. When each thread ran, was ready, or waited, and for what, is on
      the{' '}
      <button class="link" onClick={() => act.setScreen(app, 'timeline')}>
        Timeline
      </button>
      .
    </>
  );
}

function ThreadTime({ story }: { story: Told }): JSX.Element | null {
  const { served, model } = useApp();
  const { settings } = model.trace;
  if (story.table.length === 0) return null;
  return (
    <>
      <table>
        <Heads of={['Thread-time', '#time', '#share']} />
        <tbody>
          {story.table.map(row => (
            <tr key={row.label}>
              <td class="wrap">
                {row.label}
                {row.isInferred && '\u00a0*'}
              </td>
              <td class="num key">{duration(row.ns)}</td>
              <td class="num">{percent(row.share)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {story.table.some(row => row.isInferred) && (
        <p class="remark">
          * inferred from calls: silence over {duration(settings.pauseThreshold)}
          {served && !served.trace.hasStates && '; this trace has no scheduling events'}
          {served?.trace.hasStates && '; what the kernel saw of it is on the Timeline'}.
        </p>
      )}
    </>
  );
}

function Reasons({ story }: { story: Told }): JSX.Element | null {
  const app = useApp();
  if (story.reasons.length === 0) return null;
  return (
    <section>
      <h2>Top reasons</h2>
      <table class="reasons">
        <tbody>
          {story.reasons.map((reason, i) => (
            <tr key={i}>
              <td class="num key">
                <button
                  class="link"
                  title="Show only these threads"
                  onClick={() => act.showOnly(app, new Set(reason.threads))}
                >
                  {integer(reason.n)}
                </button>
              </td>
              <td class="wrap">
                {reason.text.startsWith('(') || reason.text.startsWith('of')
                  ? ''
                  : reason.n === 1
                    ? 'thread '
                    : 'threads '}
                {reason.text.startsWith('(') ? `thread ${reason.text}` : reason.text}
                {reason.fn >= 0 && (
                  <b>
                    <Name fn={reason.fn} />
                  </b>
                )}
                {reason.rest}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function OutlierRow({ group }: { group: OutlierGroup }): JSX.Element {
  const app = useApp();
  const [isOpen, setOpen] = useState(false);
  const byLength = [...group.list].sort((a, b) => b.end - b.start - (a.end - a.start));
  const title = group.kind === 'gap' ? 'Longest time without a call' : 'Jump to the longest';
  return (
    <>
      <tr>
        <td class="clip">
          <button
            class="row-link"
            title={title}
            onClick={() => act.goToOutlier(app, group.longest)}
          >
            <Swatch fn={group.fn} />
            {group.kind === 'gap' ? 'no call, after ' : ''}
            <Name fn={group.fn} />
          </button>
        </td>
        <td class="num">
          <button class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {integer(group.list.length)}
          </button>
        </td>
        <td class="num key">{duration(group.longest.end - group.longest.start)}</td>
      </tr>
      {isOpen &&
        byLength.slice(0, 12).map(outlier => (
          <tr class="sub" key={`${outlier.thread}.${outlier.start}`}>
            <td class="clip">
              <button class="row-link" onClick={() => act.goToOutlier(app, outlier)}>
                {app.model.trace.threads[outlier.thread]!.label} at {duration(outlier.start)}
              </button>
            </td>
            <td class="num">{times(outlier.times)}</td>
            <td class="num">{duration(outlier.end - outlier.start)}</td>
          </tr>
        ))}
    </>
  );
}

function Outliers(): JSX.Element {
  const app = useApp();
  const { trace } = app.model;
  const groups = useMemo(() => groupOutliers(trace), [trace]);
  const calls = groups.filter(group => group.kind === 'call');
  const n = calls.reduce((sum, group) => sum + group.list.length, 0);
  const more = trace.outliersFound - trace.outliers.length;
  return (
    <section>
      <h2>
        Outliers{' '}
        <small>
          {outlierRemark(trace)}; {plural(n, 'call')}, {plural(calls.length, 'function')}
        </small>
      </h2>
      {n === 0 ? (
        <p class="remark">No call is unusual for its function or its thread.</p>
      ) : (
        <table class="fixed">
          <Heads of={['deepest function', ['n', 'num n'], ['longest', 'num t']]} />
          <tbody>
            {calls.slice(0, FIRST).map(group => (
              <OutlierRow key={group.fn} group={group} />
            ))}
          </tbody>
        </table>
      )}
      {trace.outliers.length > 0 && (
        <button class="link" onClick={() => act.showPanel(app, 'outliers')}>
          list all {integer(trace.outliers.length)}
        </button>
      )}
      {more > 0 && (
        <p class="remark">
          The page holds the {integer(trace.outliers.length)} most unusual of{' '}
          {integer(trace.outliersFound)}.
        </p>
      )}
    </section>
  );
}

function Health(): JSX.Element {
  const { notes } = useApp().model.trace;
  return (
    <section>
      <h2>Losses and repairs</h2>
      {notes.length === 0 && <p>No data loss, nothing repaired.</p>}
      <ul class="notes">
        {notes.map((note, i) => (
          <li key={i} class={note.class}>
            <b>{integer(note.count)}</b> {note.text}
            {note.detail && ` (${note.detail})`}
            {note.tid !== null && `, T${note.tid}`}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What is known before the regimes are: of what functions the time is. */
function FirstStory(): JSX.Element {
  const { model } = useApp();
  const { trace, families } = model;
  return (
    <aside class="story" aria-label="Story" tabIndex={0}>
      <h2 class="headline">
        {plural(trace.threads.length, 'thread')} in {duration(trace.duration)}
      </h2>
      <p class="lead">
        {plural(trace.calls, 'call')}. The regimes of the threads are being cut; the picture shows
        the longest calls so far.
      </p>
      <RegimeStatus />
      <section>
        <h2>
          Most self time <small>whole trace, thread-time</small>
        </h2>
        <table class="fixed">
          <tbody>
            {families.list.slice(0, FIRST).map(entry => (
              <tr key={entry.key}>
                <td class="clip">
                  <Swatch fn={entry.functions[0]!} />
                  {entry.title}
                </td>
                <td class="num key t">{duration(entry.self)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </aside>
  );
}

export function Story(): JSX.Element {
  const { model, served } = useApp();
  const drawer = usePart(s => s.drawer);
  const { part } = model.trace;
  const story = useMemo(() => makeStory(model.trace, model.families), [model]);
  const isKernelOnly = served?.trace.hasStates === true && model.trace.calls === 0;
  if (part?.kind === 'sketch') return <FirstStory />;
  return (
    <aside class={drawer === 'story' ? 'story shown' : 'story'} aria-label="Story" tabIndex={0}>
      <h2 class="headline">{story.headline}</h2>
      <p class="lead">
        {part && `In this window, ${span(part.span.t0, part.span.t1)}. `}
        {isKernelOnly ? <KernelOnly /> : story.lead}
      </p>
      <ThreadTime story={story} />
      <Reasons story={story} />
      {model.trace.calls > 0 && <Outliers />}
      <Health />
    </aside>
  );
}
