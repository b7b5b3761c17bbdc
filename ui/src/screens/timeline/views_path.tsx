// SPDX-License-Identifier: MIT
// The critical path on the Timeline, in words: whose it is, what its colours mean, and how to leave it.
import type { JSX } from 'preact';
import { duration, percent, plural } from '../../shared/lib/format';
import { causesOf } from '../../shared/lib/path';
import type { CauseSum } from '../../shared/lib/path';
import * as act from '../../shared/state/actions';
import { pathsOf } from '../../shared/state/paths';
import type { Asked } from '../../shared/state/paths';
import { Key } from '../../shared/views/parts';
import { useApp, useAtom, usePart } from '../../shared/views/use';

import type { TimelinePath } from './lib_path';
import * as on from './state_path';
import { timelineOf } from './state_timeline';
import { LookSwatch } from '../../shared/views/parts';

const MOST_CAUSES = 5;

function Causes({ path: { path } }: { path: TimelinePath }): JSX.Element {
  const all = causesOf(path);
  const whole = Math.max(1, path.to - path.from);
  const shown = all.slice(0, MOST_CAUSES);
  const rest = all.slice(MOST_CAUSES);
  const words = ({ cause, sum }: CauseSum): string =>
    `${cause.words}: ${duration(sum)}, ${percent(sum / whole)} of the path`;
  return (
    <ul class="tpath-causes" aria-label="Where its time went">
      {shown.map(one => (
        <li key={one.cause.key} title={words(one)}>
          <LookSwatch look={one.cause.look} letter={one.cause.letter} />
          {one.cause.words} <b>{duration(one.sum)}</b>
        </li>
      ))}
      {rest.length > 0 && <li title={rest.map(words).join('\n')}>{rest.length} more</li>}
      {path.uncertain > 0 && (
        <li title={`${duration(path.uncertain)} reached over inferred edges`}>dotted: inferred</li>
      )}
    </ul>
  );
}

/** Nothing of it is seen, or not all: why, and how to see it. */
function Unseen({ path }: { path: TimelinePath }): JSX.Element | null {
  const app = useApp();
  usePart(s => s.window);
  usePart(s => s.hidden);
  const why = on.whyUnseen(app, path);
  const hidden = on.hiddenThreads(app, path);
  return (
    <>
      {why && (
        <span class="tpath-note" role="status">
          {why}:{' '}
          <button class="link" onClick={() => on.showPath(app)}>
            show it
          </button>
        </span>
      )}
      {hidden.length > 0 && (
        <span class="tpath-note" role="status">
          {plural(hidden.length, 'thread')} of it hidden:{' '}
          <button class="link" onClick={() => on.showThreads(app, hidden)}>
            show
          </button>
        </span>
      )}
    </>
  );
}

function State({ one, path }: { one: Asked; path: TimelinePath | null }): JSX.Element {
  const app = useApp();
  const paths = pathsOf(app);
  if (one.error)
    return (
      <span class="tpath-note bad" role="alert">
        {one.error}{' '}
        <button class="link" onClick={() => paths.again(paths.state.get().now)}>
          ask again
        </button>
      </span>
    );
  if (!one.path)
    return (
      <span class="tpath-note" role="status">
        asking for it{'\u2026'}
      </span>
    );
  if (!path) return <span class="tpath-note">not drawn</span>;
  if (path.path.segments.length === 0)
    return <span class="tpath-note">the trace tells nothing of that time of its thread</span>;
  return (
    <>
      <Causes path={path} />
      <Unseen path={path} />
    </>
  );
}

/** A line over the threads, as long as a path is chosen. */
export function PathBar(): JSX.Element | null {
  const app = useApp();
  const paths = pathsOf(app);
  const one = useAtom(paths.state, s => s.asked[s.now]);
  const n = useAtom(paths.state, s => s.asked.length);
  const now = useAtom(paths.state, s => s.now);
  const path = useAtom(timelineOf(app).state, s => s.path);
  const hasPath = useAtom(timelineOf(app).state, s => s.hasPath);
  if (!one) return null;
  const { t0, t1 } = one.pick.span;
  const title = paths.title(one);
  return (
    <section class="tpath" aria-label="Critical path">
      <button
        class="plain tpath-title clip"
        title={`${title}: the whole of it in the window`}
        onClick={() => on.showPath(app)}
      >
        Critical path{n > 1 && ` ${now + 1} of ${n}`} <b>{title}</b> {duration(t1 - t0)}
      </button>
      <State one={one} path={path} />
      <span class="tpath-keys">
        <button class="link" aria-pressed={hasPath} onClick={() => on.togglePath(app)}>
          {hasPath ? 'hide' : 'draw'} <Key>c</Key>
        </button>
        <button class="link" onClick={() => act.setScreen(app, 'path')}>
          sums <Key>5</Key>
        </button>
        <button
          class="link"
          aria-label="Take the path away"
          onClick={() => paths.drop(paths.state.get().now)}
        >
          {'\u00d7'}
        </button>
      </span>
    </section>
  );
}
