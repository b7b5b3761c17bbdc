// SPDX-License-Identifier: MIT
// The calls of a set as a table: when, where and how long, the longest first.
import { callAt } from '../../shared/state/served';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { duration, exact, integer, percent } from '../../shared/lib/format';
import * as act from '../../shared/state/actions';
import type { CallAt, CallSet } from '../../shared/state/served';
import { setText, showCall, toggleSetOnly } from '../../shared/state/sets';
import { hueVar, Key, Heads, SortHead } from '../../shared/views/parts';
import { useApp, useAtom } from '../../shared/views/use';

const FIRST = 200;

type By = 'length' | 'start' | 'thread';

function orderOf(set: CallSet, by: By): Uint32Array {
  const order = Uint32Array.from(set.start, (_, i) => i);
  const length = (i: number): number => set.end[i]! - set.start[i]!;
  if (by === 'length') return order.sort((a, b) => length(b) - length(a) || a - b);
  if (by === 'thread') return order.sort((a, b) => set.thread[a]! - set.thread[b]! || a - b);
  return order;
}

interface OfThread {
  thread: number;
  n: number;
  sum: number;
  longest: CallAt;
}

/** The set by thread, most time first. */
function byThread(set: CallSet): OfThread[] {
  const found = new Map<number, OfThread>();
  for (let i = 0; i < set.n; i++) {
    const call = callAt(set, i);
    const own = found.get(call.thread);
    const length = call.end - call.start;
    if (!own) found.set(call.thread, { thread: call.thread, n: 1, sum: length, longest: call });
    else {
      own.n++;
      own.sum += length;
      if (length > own.longest.end - own.longest.start) own.longest = call;
    }
  }
  return [...found.values()].sort((a, b) => b.sum - a.sum || a.thread - b.thread);
}

function Fn({ fn }: { fn: number }): JSX.Element {
  const { families, names } = useApp().served!;
  return (
    <span title={names.name[fn]}>
      <span class="swatch" style={{ background: hueVar(families.hue[fn]!) }} aria-hidden="true" />
      {families.short[fn]}
    </span>
  );
}

function Threads({ set }: { set: CallSet }): JSX.Element {
  const app = useApp();
  const { threads } = app.served!;
  const list = useMemo(() => byThread(set), [set]);
  return (
    <table class="fixed by-thread">
      <Heads of={['Thread', '#calls', '#sum', '#of its lifetime', '#longest']} />
      <tbody>
        {list.map(one => {
          const { label, first, last } = threads[one.thread]!;
          return (
            <tr key={one.thread}>
              <th scope="row">
                <button
                  class="row-link"
                  title="Its longest"
                  onClick={() => showCall(app, one.longest)}
                >
                  {label}
                </button>
              </th>
              <td class="num">{integer(one.n)}</td>
              <td class="num key">{duration(one.sum)}</td>
              <td class="num">{percent(one.sum / Math.max(1, last - first))}</td>
              <td class="num">{duration(one.longest.end - one.longest.start)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Calls({ set }: { set: CallSet }): JSX.Element {
  const app = useApp();
  const served = app.served!;
  const call = useAtom(served.state, s => s.call);
  const [by, setBy] = useState<By>('length');
  const [limit, setLimit] = useState(FIRST);
  const order = useMemo(() => orderOf(set, by), [set, by]);
  const head = (key: By, name: string, kind: string): JSX.Element => (
    <SortHead name={name} now={by === key} kind={kind} sort={() => setBy(key)} />
  );
  return (
    <>
      <table class="fixed">
        <thead>
          <tr>
            {head('thread', 'Thread', 'c-thread')}
            <th scope="col">Function</th>
            {head('start', 'starts', 'num c-when')}
            {head('length', 'duration', 'num c-time')}
            <th scope="col" class="num c-time">
              depth
            </th>
          </tr>
        </thead>
        <tbody>
          {[...order.subarray(0, limit)].map(i => {
            const one = callAt(set, i);
            const isNow =
              call !== null &&
              call.thread === one.thread &&
              call.start === one.start &&
              call.depth === one.depth;
            return (
              <tr key={i} class={isNow ? 'now' : ''}>
                <th scope="row">
                  <button class="row-link" onClick={() => showCall(app, one)}>
                    {served.threads[one.thread]!.label}
                  </button>
                </th>
                <td class="clip">
                  <Fn fn={one.fn} />
                </td>
                <td class="num">{exact(one.start)}</td>
                <td class="num key">{duration(one.end - one.start)}</td>
                <td class="num">{one.depth}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="remark">
        {integer(Math.min(limit, set.n))} of {integer(set.total)} shown.{' '}
        {set.n < set.total && `The page holds the ${integer(set.n)} longest. `}
        {set.n > limit && (
          <button class="link" onClick={() => setLimit(limit * 5)}>
            show more
          </button>
        )}
      </p>
    </>
  );
}

export function SetPanel(): JSX.Element | null {
  const app = useApp();
  const set = useAtom(app.served!.state, s => s.set);
  const isOnly = useAtom(app.served!.state, s => s.isSetOnly);
  if (!set) return null;
  return (
    <div class="interval set">
      <h2>
        Set: {set.title} <small>{setText(set)}</small>
        <span class="right">
          <button class="link" onClick={() => toggleSetOnly(app)}>
            {isOnly ? 'show all threads' : 'show only its threads'} <Key>h</Key>
          </button>{' '}
          <button class="link" onClick={() => act.showPanel(app, 'interval')}>
            close the list
          </button>{' '}
          <button class="link" onClick={() => act.clearSet(app)}>
            drop
          </button>
        </span>
      </h2>
      <div class="scroll halves" tabIndex={0} role="region" aria-label="The set">
        <div>
          <Calls set={set} />
        </div>
        <div>
          <Threads set={set} />
        </div>
      </div>
    </div>
  );
}
