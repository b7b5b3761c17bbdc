// SPDX-License-Identifier: MIT
// The details of the selected call: what it is, how it compares with all calls of its function, and
// what it called.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { compact, duration, exact, integer, percent, plural } from '../lib/format';
import { columnsOf, quantile, rankOf } from '../lib/timelinehistogram';
import type { Bins, Column } from '../lib/timelinehistogram';
import * as act from '../state/actions';
import type { CallAt } from '../state/served';
import { timelineOf } from '../state/timeline';
import { detailsOf } from '../state/timelinedetails';
import type { Details, Scope } from '../state/timelinedetails';
import * as walk from '../state/timelinewalk';
import { copyText, Key } from './parts';
import { FnSwatch } from './timelinefloat';
import { useAtom } from './timelineuse';
import { useApp, usePart } from './use';

const FLAGS: Record<string, string> = {
  cut_start: 'began before the trace',
  cut_end: 'open at the end',
  repaired: 'repaired',
};

function Fact({
  name,
  value,
  more,
}: {
  name: string;
  value: string;
  more?: JSX.Element | string;
}): JSX.Element {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="key">{value}</td>
      <td class="num dim">{more ?? ''}</td>
    </tr>
  );
}

function Stack({ details }: { details: Details }): JSX.Element {
  const app = useApp();
  const { served } = timelineOf(app);
  const { ancestors, call } = details;
  return (
    <p class="remark stack">
      {ancestors.map(one => (
        <span key={one.depth}>
          <button class="link" onClick={() => walk.goToCall(app, one)}>
            {served.families.short[one.fn] ?? '?'}
          </button>
          {' \u203a '}
        </span>
      ))}
      {served.threads[call.thread]!.label}, depth {call.depth}
    </p>
  );
}

function CallFacts({ call, details }: { call: CallAt; details: Details | null }): JSX.Element {
  const app = useApp();
  const { served } = timelineOf(app);
  const window = usePart(s => s.window);
  const length = call.end - call.start;
  const marks = (details?.flags ?? []).map(flag => FLAGS[flag] ?? flag);
  const thread = served.threads[call.thread]!;
  const life = Math.max(1, thread.last - thread.first);
  const calls = details?.below.reduce((sum, one) => sum + one.count, 0) ?? 0;
  return (
    <div class="facts" tabIndex={0} role="region" aria-label="Selected call">
      <h2 class="title">
        <FnSwatch fn={call.fn} />
        <span class="grow" title={served.names.name[call.fn]}>
          {served.names.name[call.fn] ?? 'unknown function'}
        </span>
        <b>{duration(length)}</b>
      </h2>
      {details && <Stack details={details} />}
      <table>
        <tbody>
          <Fact
            name="Start"
            value={exact(call.start)}
            more={
              <button class="link" onClick={() => void copyText(String(call.start))}>
                copy ns
              </button>
            }
          />
          <Fact name="End" value={exact(call.end)} more={`+${exact(length)}`} />
          {details && (
            <Fact
              name="Self"
              value={duration(details.self)}
              more={percent(details.self / Math.max(1, length))}
            />
          )}
          <Fact
            name="Share"
            value={`${percent(length / life)} of ${thread.label}`}
            more={`${percent(length / Math.max(1, window.t1 - window.t0))} of view`}
          />
          {details && (
            <Fact
              name="Directly below"
              value={plural(calls, 'call')}
              more={plural(details.below.length, 'function')}
            />
          )}
          {details?.arguments.map((value, i) => (
            <Fact key={i} name={`Argument ${i + 1}`} value={value} />
          ))}
        </tbody>
      </table>
      {marks.length > 0 && <p class="remark warn">{marks.join(', ')}</p>}
      <p class="tools">
        <button onClick={() => walk.rangeOfCall(app)}>
          Range <Key>R</Key>
        </button>
        <button onClick={() => walk.focusCall(app)}>
          Focus <Key>F</Key>
        </button>
      </p>
    </div>
  );
}

/* ---- all calls of the function ---- */

const PLOT = { width: 480, height: 92, left: 34, foot: 16 };

function xOf(ns: number, columns: readonly Column[]): number {
  const [low, high] = [Math.log(columns[0]!.from), Math.log(columns[columns.length - 1]!.to)];
  const share = (Math.log(Math.max(1, ns)) - low) / Math.max(1e-9, high - low);
  return PLOT.left + Math.min(1, Math.max(0, share)) * (PLOT.width - PLOT.left - 6);
}

/** Decades between the first and the last column; finer steps when there are few. */
function timeTicks(columns: readonly Column[]): number[] {
  const [low, high] = [columns[0]!.from, columns[columns.length - 1]!.to];
  const steps = high / low < 30 ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10)
    for (const step of steps)
      if (power * step >= low && power * step <= high) ticks.push(power * step);
  const every = Math.ceil(ticks.length / 8);
  return ticks.filter((_, i) => i % every === 0);
}

/** 1 us, not 1.00 us. */
function tickLabel(ns: number): string {
  return duration(ns).replace(/\.0+(?=\D)/, '');
}

function Bars({ columns, length }: { columns: Column[]; length: number }): JSX.Element {
  const most = Math.max(1, ...columns.map(({ count }) => count));
  const least = Math.min(...columns.map(({ count }) => count || most));
  const isRoot = most > 50 * least;
  const scale = (count: number): number => (isRoot ? Math.sqrt(count / most) : count / most);
  const room = PLOT.height - PLOT.foot - 14;
  const ground = PLOT.height - PLOT.foot;
  return (
    <>
      {columns.map(({ from, to, count }, i) => {
        const [x0, x1] = [xOf(from, columns), xOf(to, columns)];
        const tall = count === 0 ? 0 : Math.max(2, scale(count) * room);
        const isOwn = length >= from && length < to;
        return (
          <rect
            key={i}
            x={x0}
            y={ground - tall}
            width={Math.max(0.5, x1 - x0 - 1)}
            height={tall}
            class={isOwn ? 'own' : 'bin'}
          >
            <title>{`${duration(from)} to ${duration(to)}: ${plural(count, 'call')}`}</title>
          </rect>
        );
      })}
      <text x={PLOT.left - 5} y={ground - room + 4} class="end">
        {compact(most)}
      </text>
      <text x={PLOT.left - 5} y={ground} class="end">
        {isRoot ? '\u221a, 0' : '0'}
      </text>
    </>
  );
}

function Plot({ bins, call }: { bins: Bins; call: CallAt }): JSX.Element {
  const length = call.end - call.start;
  const columns = columnsOf(bins, 90);
  if (columns.length === 0) return <p class="remark">No call of it is complete there.</p>;
  const ground = PLOT.height - PLOT.foot;
  const [now, middle] = [xOf(length, columns), xOf(quantile(bins, 0.5), columns)];
  return (
    <svg
      class="plot"
      viewBox={`0 0 ${PLOT.width} ${PLOT.height}`}
      role="img"
      aria-label={`Durations of ${plural(bins.total, 'call')}; this one is longer than ${percent(rankOf(bins, length))}`}
    >
      <Bars columns={columns} length={length} />
      <line x1={PLOT.left} x2={PLOT.width - 6} y1={ground + 0.5} y2={ground + 0.5} class="base" />
      {timeTicks(columns).map(t => (
        <g key={t}>
          <line
            x1={xOf(t, columns)}
            x2={xOf(t, columns)}
            y1={ground}
            y2={ground + 4}
            class="base"
          />
          <text x={Math.min(PLOT.width - 16, xOf(t, columns))} y={ground + 13} class="mid">
            {tickLabel(t)}
          </text>
        </g>
      ))}
      <line x1={middle} x2={middle} y1={10} y2={ground} class="median" />
      <line x1={now} x2={now} y1={10} y2={ground} class="this" />
      <path d={`M${now - 4} 4h8l-4 6z`} class="marker" />
      <text
        x={now + (now > PLOT.width - 60 ? -7 : 7)}
        y={10}
        class={now > PLOT.width - 60 ? 'end bold' : 'bold'}
      >
        this
      </text>
    </svg>
  );
}

const SCOPES: [Scope, string][] = [
  ['trace', 'whole trace'],
  ['thread', 'this thread'],
  ['range', 'range'],
];

function Numbers({ bins, call }: { bins: Bins; call: CallAt }): JSX.Element {
  const length = call.end - call.start;
  const heads = ['n', 'total', 'mean', 'p50', 'p90', 'p99', 'longest', 'this'];
  const longest = bins.n > 0 ? bins.to[bins.n - 1]! : 0;
  const values = [
    integer(bins.total),
    duration(bins.sum),
    duration(bins.sum / Math.max(1, bins.total)),
    ...[0.5, 0.9, 0.99].map(share => duration(quantile(bins, share))),
    duration(longest),
    duration(length),
  ];
  return (
    <table class="fixed numbers">
      <thead>
        <tr>
          {heads.map(head => (
            <th scope="col" class="num" key={head}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <tr>
          {values.map((value, i) => (
            <td class={i === 7 ? 'num key' : 'num'} key={heads[i]}>
              {value}
            </td>
          ))}
        </tr>
      </tbody>
    </table>
  );
}

function Versus({ call }: { call: CallAt }): JSX.Element {
  const app = useApp();
  const { served } = timelineOf(app);
  const details = detailsOf(app);
  const bins = useAtom(details.state, s => s.bins);
  const scope = useAtom(details.state, s => s.scope);
  const range = usePart(s => s.range);
  const length = call.end - call.start;
  return (
    <div class="versus">
      <h2>
        This call against all {bins ? `${integer(bins.total)} calls` : 'calls'} of{' '}
        {served.families.short[call.fn]}
        <small class="scopes">
          {SCOPES.map(([key, word]) => (
            <button
              key={key}
              class={scope === key ? 'link on' : 'link'}
              aria-pressed={scope === key}
              disabled={key === 'range' && !range}
              onClick={() => details.setScope(key)}
            >
              {word}
            </button>
          ))}
          log time
        </small>
      </h2>
      {bins ? (
        <>
          <Plot bins={bins} call={call} />
          <Numbers bins={bins} call={call} />
          <p class="remark">
            Longer than {percent(rankOf(bins, length))} of {integer(bins.total)}; quantiles are
            upper borders of the histogram’s bins.{' '}
            <button class="link" onClick={() => walk.goToNextSlower(app)}>
              next slower
            </button>{' '}
            ·{' '}
            <button class="link" onClick={() => walk.goToSlowest(app)}>
              slowest
            </button>
          </p>
        </>
      ) : (
        <p class="remark">asking for all calls of it{'\u2026'}</p>
      )}
    </div>
  );
}

/* ---- below ---- */

function Below({ details }: { details: Details }): JSX.Element {
  const { served } = timelineOf(useApp());
  const app = useApp();
  const length = Math.max(1, details.call.end - details.call.start);
  const ranked = [...details.below].sort((a, b) => b.sum - a.sum);
  return (
    <div class="below" tabIndex={0} role="region" aria-label="What it called">
      <h2>
        Where its {duration(length)} went <small>wall-time of this call</small>
      </h2>
      <table class="fixed">
        <thead>
          <tr>
            <th scope="col">directly below</th>
            <th scope="col" class="num n">
              calls
            </th>
            <th scope="col" class="num t">
              sum
            </th>
            <th scope="col" class="num n">
              share
            </th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row" class="clip">
              <FnSwatch fn={details.call.fn} /> itself
            </th>
            <td class="num" />
            <td class="num key">{duration(details.self)}</td>
            <td class="num dim">{percent(details.self / length)}</td>
          </tr>
          {ranked.slice(0, 60).map(({ fn, count, sum }) => (
            <tr key={fn}>
              <th scope="row" class="clip">
                <button
                  class="row-link"
                  title={served.names.name[fn]}
                  onClick={() => act.setQuery(app, `fn:"${served.names.name[fn]}"`)}
                >
                  <FnSwatch fn={fn} /> <span>{served.families.short[fn]}</span>
                </button>
              </th>
              <td class="num">{integer(count)}</td>
              <td class="num key">{duration(sum)}</td>
              <td class="num dim">{percent(sum / length)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {ranked.length > 60 && <p class="remark">60 of {ranked.length} functions shown.</p>}
    </div>
  );
}

function Nothing(): JSX.Element {
  return (
    <div class="facts nothing">
      <h2>No call selected</h2>
      <p>
        Click a call to see its times, its place among all calls of its function, and what it
        called. Arrow keys walk: left and right in time, up to the caller, down to what it called.
      </p>
      <p class="remark">
        <Key>Shift</Key> <Key>.</Key> goes to the next unusual call. Drag to measure.
      </p>
    </div>
  );
}

export function TimelinePanel(): JSX.Element {
  const app = useApp();
  const { served } = timelineOf(app);
  const loader = detailsOf(app);
  const call = useAtom(served.state, s => s.call);
  const details = useAtom(loader.state, s => s.details);
  const trouble = useAtom(loader.state, s => s.trouble);
  useEffect(() => loader.start(), [app]);
  const own = call && details?.call.start === call.start ? details : null;
  return (
    <section class="panel tpanel" aria-label="Details">
      {call ? <CallFacts call={call} details={own} /> : <Nothing />}
      {call && <Versus call={call} />}
      {own && <Below details={own} />}
      {trouble && <p class="remark bad">{trouble}</p>}
    </section>
  );
}
