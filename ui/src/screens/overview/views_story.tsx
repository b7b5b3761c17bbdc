// SPDX-License-Identifier: MIT
// The story column: what the trace says in sentences, its outliers, what was lost or repaired.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { duration, integer, percent, plural, span, times } from '../../shared/lib/format';
import * as act from '../../shared/state/actions';
import { Name, Swatch } from '../../shared/views/parts';
import { useApp, usePart } from '../../shared/views/use';
import { groupOutliers, makeStory, outlierRemark } from './lib_story';
import type { OutlierGroup, Story as StoryData } from './lib_story';
import { RegimeStatus } from './views_regimes';

const FIRST = 9;
/** Of a trace without calls: where to look instead. */
function KernelOnly(): JSX.Element {
  const app = useApp();
  return (
    <>
      It tells of the kernel. When each thread ran, was ready, or waited, and for what, is on the{' '}
      <button class="link" onClick={() => act.setScreen(app, 'timeline')}>
        Timeline
      </button>
      .
    </>
  );
}

function ThreadTime({ story }: { story: StoryData }): JSX.Element | null {
  const { served, model } = useApp();
  const { settings } = model.trace;
  if (story.table.length === 0) return null;
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">Thread-time</th>
            <th scope="col" class="num">
              time
            </th>
            <th scope="col" class="num">
              share
            </th>
          </tr>
        </thead>
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

function Reasons({ story }: { story: StoryData }): JSX.Element | null {
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
  const title = group.kind === 1 ? 'Longest time without a call' : 'Jump to the longest';
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
            {group.kind === 1 ? 'no call, after ' : ''}
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
  const calls = groups.filter(group => group.kind === 0);
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
          <thead>
            <tr>
              <th scope="col">deepest function</th>
              <th scope="col" class="num n">
                n
              </th>
              <th scope="col" class="num t">
                longest
              </th>
            </tr>
          </thead>
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
