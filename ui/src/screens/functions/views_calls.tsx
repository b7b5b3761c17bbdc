// SPDX-License-Identifier: MIT
// The calls of the selected function: slowest first, or by thread. A click goes to the call.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { duration, exact, integer, percent, plural } from '../../shared/lib/format';
import { callAt, goToCall, sameCall } from '../../shared/state/jump';
import { copyText } from '../../shared/views/parts';
import { MOST_CALLS } from './state_functions';
import type { Calls, Functions } from './state_functions';
import { Choice, useFunctions, useScreen, useServed, Waiting } from './views_use';
import { Gap, Ns, useRowsInView } from '../../shared/views/tables';

interface PerThread {
  thread: number;
  count: number;
  sum: number;
  max: number;
  longest: number; // index of the call
}

function byThread({ set, length }: Calls): PerThread[] {
  const all = new Map<number, PerThread>();
  for (let i = 0; i < set.n; i++) {
    const [thread, ns] = [set.thread[i]!, length[i]!];
    let own = all.get(thread);
    if (!own) all.set(thread, (own = { thread, count: 0, sum: 0, max: -1, longest: i }));
    own.count++;
    own.sum += ns;
    if (ns > own.max) Object.assign(own, { max: ns, longest: i });
  }
  return [...all.values()].sort((a, b) => b.sum - a.sum || a.thread - b.thread);
}

function callsText({ served }: Functions, { set, order, length }: Calls): string {
  const line = (i: number): string =>
    [
      served.names.name[set.fn[i]!] ?? '',
      served.threads[set.thread[i]!]?.tid ?? '',
      ...[set.start[i]!, set.end[i]! - set.start[i]!, set.depth[i]!],
      ...(set.isSelf ? [length[i]!] : []),
    ].join('\t');
  const head = `function\ttid\tstart_ns\tduration_ns\tdepth${set.isSelf ? '\tself_ns' : ''}`;
  return [head, ...Array.from(order, line)].join('\n') + '\n';
}

const orderWords = ({ set }: Calls): string =>
  set.isSelf ? 'most self time first' : 'slowest first';

function CallRows({ calls }: { calls: Calls }): JSX.Element {
  const { screen } = useFunctions();
  const call = useServed(s => s.call);
  const { set, order, length } = calls;
  const longest = order.length > 0 ? length[order[0]!]! : 1;
  const at = useMemo(
    () => (call ? order.findIndex(i => sameCall(call, callAt(set, i))) : -1),
    [call, calls],
  );
  const { scroller, onScroll, first, end } = useRowsInView(order.length, at, [call, calls]);
  return (
    <div
      ref={scroller}
      class="scroll"
      tabIndex={0}
      role="region"
      aria-label={`Calls, ${orderWords(calls)}`}
      onScroll={onScroll}
    >
      <table class="fixed calls" aria-rowcount={order.length + 1}>
        <thead>
          <tr>
            <th scope="col" class="num c-rank">
              #
            </th>
            <th scope="col" class="c-thread">
              thread
            </th>
            <th scope="col" class="num">
              start
            </th>
            <th scope="col">{set.isSelf ? 'self time' : 'wall-time'}</th>
            <th scope="col" class="num c-depth">
              depth
            </th>
          </tr>
        </thead>
        <tbody>
          <Gap rows={first} columns={5} />
          {Array.from(order.subarray(first, end), (i, at) => {
            const ns = length[i]!;
            const thread = screen.served.threads[set.thread[i]!];
            const isNow = sameCall(call, callAt(set, i));
            return (
              <tr key={i} class={isNow ? 'now' : ''} aria-rowindex={first + at + 2}>
                <td class="num dim">{integer(first + at + 1)}</td>
                <th scope="row" class="clip">
                  <button
                    class="row-link"
                    title="Show it on the timeline"
                    onClick={() => goToCall(screen.app, screen.served, callAt(set, i))}
                  >
                    {thread?.label ?? '?'}
                  </button>
                </th>
                <td class="num">
                  <Ns ns={set.start[i]!}>{exact(set.start[i]!)}</Ns>
                </td>
                <td>
                  <span class="bar-cell">
                    <i style={{ width: `${(100 * ns) / Math.max(1, longest)}%` }} />
                    <b>
                      <Ns ns={ns}>{duration(ns)}</Ns>
                    </b>
                  </span>
                </td>
                <td class="num dim">{set.depth[i]}</td>
              </tr>
            );
          })}
          <Gap rows={order.length - end} columns={5} />
        </tbody>
      </table>
    </div>
  );
}

function ThreadRows({ calls }: { calls: Calls }): JSX.Element {
  const { screen } = useFunctions();
  const chosen = useScreen(s => s.thread);
  const rows = useMemo(() => byThread(calls), [calls]);
  const whole = rows.reduce((sum, row) => sum + row.sum, 0);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Calls by thread">
      <table class="fixed calls">
        <thead>
          <tr>
            <th scope="col" class="c-thread">
              thread
            </th>
            <th scope="col" class="num">
              calls
            </th>
            <th scope="col" class="num">
              sum
            </th>
            <th scope="col" class="num">
              share
            </th>
            <th scope="col" class="num">
              mean
            </th>
            <th scope="col" class="num">
              longest
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(row => {
            const thread = screen.served.threads[row.thread];
            const isNow = row.thread === chosen;
            return (
              <tr key={row.thread} class={isNow ? 'now' : ''}>
                <th scope="row" class="clip">
                  <button
                    class="row-link"
                    aria-pressed={isNow}
                    title="Draw its histogram over that of all"
                    onClick={() => screen.set({ thread: isNow ? -1 : row.thread })}
                  >
                    {thread?.label ?? '?'} <span class="dim">{thread?.name}</span>
                  </button>
                </th>
                <td class="num">{integer(row.count)}</td>
                <td class="num key">
                  <Ns ns={row.sum}>{duration(row.sum)}</Ns>
                </td>
                <td class="num">{percent(row.sum / Math.max(1, whole))}</td>
                <td class="num">
                  <Ns ns={row.sum / row.count}>{duration(row.sum / row.count)}</Ns>
                </td>
                <td class="num">
                  <button
                    class="row-link"
                    title="Show it on the timeline"
                    onClick={() =>
                      goToCall(screen.app, screen.served, callAt(calls.set, row.longest))
                    }
                  >
                    <Ns ns={row.max}>{duration(row.max)}</Ns>
                  </button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** How many there are, how many are listed, and what the timeline does with them. */
function CallFooter({ calls }: { calls: Calls }): JSX.Element {
  const { screen } = useFunctions();
  const set = useServed(s => s.set);
  const isSetOnly = useServed(s => s.isSetOnly);
  const { n, total } = calls.set;
  const isSet = set === calls.set;
  const hasTimeline = screen.app.screens.some(({ key }) => key === 'timeline');
  return (
    <p class="foot">
      <span>
        {integer(n)} of {plural(total, 'call')} listed, {orderWords(calls)}
        {total > n && n >= MOST_CALLS && `; ${integer(MOST_CALLS)} is the most`}
        {isSet &&
          hasTimeline &&
          ` \u00b7 ${isSetOnly ? 'alone' : 'highlighted'} on the timeline (h)`}
      </span>
      <button class="link" onClick={() => void copyText(callsText(screen, calls))}>
        copy as ns
      </button>
    </p>
  );
}

export function CallList(): JSX.Element {
  const { screen } = useFunctions();
  const answer = useScreen(s => s.answers.calls);
  const kind = useScreen(s => s.list);
  const brush = useScreen(s => s.brush);
  const calls = answer.of !== '' && answer.of === answer.key ? answer.value : null;
  return (
    <div class="call-list">
      <Waiting answer={answer} which="calls" what="Calls" />
      <h2>
        {brush && calls ? calls.set.title : 'Calls'}{' '}
        <Choice
          label="Listed"
          options={[
            ['calls', 'slowest first'],
            ['threads', 'by thread'],
          ]}
          value={kind}
          choose={list => screen.set({ list, thread: -1 })}
        />
      </h2>
      {calls?.set.n === 0 && <p class="empty-panel">No call is that long.</p>}
      {calls &&
        calls.set.n > 0 &&
        (kind === 'calls' ? <CallRows calls={calls} /> : <ThreadRows calls={calls} />)}
      {calls && <CallFooter calls={calls} />}
    </div>
  );
}
