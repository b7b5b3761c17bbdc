// SPDX-License-Identifier: MIT
// Which paths are shown: a thread and a range; the longest calls of a function; a span or marker.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { duration, span } from '../../shared/lib/format';
import { threadsToPick } from '../../shared/state/paths';
import { Command } from '../../shared/views/parts';
import { useApp, usePart } from '../../shared/views/use';

import { usePaths, usePathState } from './views_use';
import { quoted } from '../../shared/lib/notes';
import { committedSpan, viewSpan } from '../../shared/state/actions';

const COUNTS = [1, 3, 5] as const;

function RangePick(): JSX.Element {
  const app = useApp();
  const paths = usePaths();
  usePart(s => s.range);
  usePart(s => s.window);
  const threads = useMemo(() => threadsToPick(paths.served), [paths]);
  const [thread, setThread] = useState(threads[0]?.id ?? -1);
  const own = committedSpan(app) ?? viewSpan(app);
  const whole = { t0: 0, t1: Math.max(1, paths.served.trace.duration) };
  const time = own ?? whole;
  return (
    <form
      class="path-form"
      onSubmit={event => {
        event.preventDefault();
        if (thread >= 0) paths.pick([{ thread, span: time, label: own ? 'range' : '' }], true);
      }}
    >
      <label>
        Thread{' '}
        <select value={thread} onChange={event => setThread(Number(event.currentTarget.value))}>
          {threads.map(({ id, words }) => (
            <option key={id} value={id}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <span class="remark">
        {own ? span(own.t0, own.t1) : `whole trace, ${duration(whole.t1)}`}
      </span>
      <button type="submit">Add its path</button>
    </form>
  );
}

function FunctionPick(): JSX.Element {
  const paths = usePaths();
  const { names } = paths.served;
  const [name, setName] = useState('');
  const [n, setN] = useState<number>(1);
  const known = useMemo(
    () =>
      names.name
        .map((one, i) => ({ one, self: names.self[i]! }))
        .sort((a, b) => b.self - a.self)
        .slice(0, 200)
        .map(({ one }) => one),
    [names],
  );
  return (
    <form
      class="path-form"
      onSubmit={event => {
        event.preventDefault();
        void paths.pickFunction(name, n);
      }}
    >
      <label>
        Longest{' '}
        <select value={n} onChange={event => setN(Number(event.currentTarget.value))}>
          {COUNTS.map(count => (
            <option key={count} value={count}>
              {count}
            </option>
          ))}
        </select>{' '}
        of function, span or marker{' '}
        <input
          list="path-names"
          aria-label="Name of a function, span or marker"
          value={name}
          placeholder="name"
          onInput={event => setName(event.currentTarget.value)}
        />
      </label>
      <datalist id="path-names">
        {known.map(one => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <button type="submit" disabled={name.trim() === ''}>
        Add
      </button>
    </form>
  );
}

export function PathPicks(): JSX.Element {
  const paths = usePaths();
  const trouble = usePathState(s => s.trouble);
  const n = usePathState(s => s.asked.length);
  return (
    <div class="path-picks" role="group" aria-label="Add paths">
      <RangePick />
      <FunctionPick />
      {n > 1 && (
        <button
          onClick={() => {
            for (let i = n - 1; i >= 0; i--) if (i !== paths.state.get().now) paths.drop(i);
          }}
        >
          Keep only path {paths.state.get().now + 1}
        </button>
      )}
      {trouble && (
        <span class="path-trouble" role="alert">
          {trouble}
        </span>
      )}
    </div>
  );
}

export function NoPath(): JSX.Element {
  const paths = usePaths();
  const { served } = paths;
  return (
    <div class="path-empty">
      <h2>No path is chosen</h2>
      <p>
        A critical path says on what the time of a thread depended, on whichever thread that
        happened. Choose a thread and a range above, or the longest calls of a function; or select a
        call on the Timeline and press <kbd>x</kbd>.
      </p>
      {!served.trace.hasStates && (
        <p class="remark">
          This trace does not tell what the kernel did with its threads: states will be inferred
          from calls, locks and flows. With the kernel's events it says more:{' '}
          <Command text={`weft record --kernel -o ${quoted('trace.weft')} -- PROGRAM`} />
        </p>
      )}
    </div>
  );
}
