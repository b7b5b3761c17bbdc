// SPDX-License-Identifier: MIT
// The details of the selected call: what it is, how it compares with all calls of its function, and
// what it called.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  compact,
  duration,
  exact,
  integer,
  percent,
  plural,
  quoted,
} from '../../shared/lib/format';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { explainSelection } from '../../shared/state/paths';
import type { CallAt } from '../../shared/state/served';
import { whyNoCalls, Command, copyText, Key } from '../../shared/views/parts';
import { useApp, useAtom, usePart } from '../../shared/views/use';
import { short } from '../../shared/lib/numbers';
import { columnsOf, quantile, rankOf, detailsOf } from './details';
import type { Bins } from '../../shared/lib/histogram';
import type { BarColumn, Details, Reach, Scope } from './details';
import { FnSwatch } from './float';
import { timelineOf } from './state';
import * as walk from './walk';

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

/** The one fact that changes with every step of a zoom. */
function ViewShare({ length }: { length: number }): JSX.Element {
  const { t0, t1 } = usePart(s => s.window);
  return <>{percent(length / Math.max(1, t1 - t0))} of view</>;
}

function CallFacts({ call, details }: { call: CallAt; details: Details | null }): JSX.Element {
  const app = useApp();
  const { served } = timelineOf(app);
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
            more={<ViewShare length={length} />}
          />
          {details && (
            <Fact
              name="Directly below"
              value={plural(calls, 'call')}
              more={plural(details.below.length, 'function')}
            />
          )}
          {details?.arguments.map(({ name, value }, i) => (
            <tr key={i}>
              <th scope="row" class="clip" title={name}>
                {name}
              </th>
              <td class="argument" colSpan={2} title={value}>
                {value}
              </td>
            </tr>
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
        <button onClick={() => explainSelection(app)}>
          Critical path <Key>x</Key>
        </button>
      </p>
    </div>
  );
}

/* ---- all calls of the function ---- */

const PLOT = { height: 118, left: 38, right: 6, foot: 18, top: 16 };

/** Columns, and where a duration lies among them, in px. */
interface Axis {
  columns: readonly BarColumn[];
  width: number;
  x: (ns: number) => number;
}

function axisOf(columns: readonly BarColumn[], width: number): Axis {
  const [low, high] = [Math.log(columns[0]!.from), Math.log(columns[columns.length - 1]!.to)];
  const room = width - PLOT.left - PLOT.right;
  const share = (ns: number): number => (Math.log(Math.max(1, ns)) - low) / (high - low || 1);
  return { columns, width, x: ns => PLOT.left + Math.min(1, Math.max(0, share(ns))) * room };
}

/** Decades between the first and the last column; finer steps when there are few. */
function timeTicks(columns: readonly BarColumn[]): number[] {
  const [low, high] = [columns[0]!.from, columns[columns.length - 1]!.to];
  const steps = high / low < 30 ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10)
    for (const step of steps)
      if (power * step >= low && power * step <= high) ticks.push(power * step);
  const every = Math.ceil(ticks.length / 8);
  return ticks.filter((_, i) => i % every === 0);
}

/** Heights of root counts where the largest column would hide the smallest. */
function isRooted(columns: readonly BarColumn[]): boolean {
  const most = Math.max(1, ...columns.map(({ count }) => count));
  return most > 50 * Math.min(...columns.map(({ count }) => count || most));
}

function Bars({ axis, length }: { axis: Axis; length: number }): JSX.Element {
  const { columns, x } = axis;
  const most = Math.max(1, ...columns.map(({ count }) => count));
  const isRoot = isRooted(columns);
  const scale = (count: number): number => (isRoot ? Math.sqrt(count / most) : count / most);
  const room = PLOT.height - PLOT.foot - PLOT.top;
  const ground = PLOT.height - PLOT.foot;
  return (
    <>
      {columns.map(({ from, to, count }, i) => {
        const [x0, x1] = [x(from), x(to)];
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
        0
      </text>
    </>
  );
}

/** A dashed line with its name, beside the line of the call. */
function Median({
  at,
  now,
  axis,
  ground,
}: Record<'at' | 'now' | 'ground', number> & { axis: Axis }): JSX.Element {
  const isLeft = at > axis.width - 32 || (at > now - 40 && at <= now + 4);
  return (
    <>
      <line x1={at} x2={at} y1={10} y2={ground} class="median" />
      <text x={at + (isLeft ? -4 : 4)} y={14} class={isLeft ? 'end' : ''}>
        p50
      </text>
    </>
  );
}

function Ticks({ axis, ground }: { axis: Axis; ground: number }): JSX.Element {
  return (
    <>
      {timeTicks(axis.columns).map(t => (
        <g key={t}>
          <line x1={axis.x(t)} x2={axis.x(t)} y1={ground} y2={ground + 4} class="base" />
          <text x={Math.min(axis.width - 16, axis.x(t))} y={ground + 15} class="mid">
            {short(duration(t))}
          </text>
        </g>
      ))}
    </>
  );
}

function Plot({ bins, call, quantiles }: NumbersProps): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measure = (): void => setWidth(holder.current!.clientWidth);
    const observer = new ResizeObserver(measure);
    observer.observe(holder.current!);
    measure();
    return () => observer.disconnect();
  }, []);
  return (
    <div class="plot" ref={holder}>
      {width > 120 && (
        <Chart
          bins={bins}
          length={call.end - call.start}
          median={quantiles?.[0] ?? quantile(bins, 0.5)}
          width={width}
        />
      )}
    </div>
  );
}

function Chart({
  bins,
  length,
  median,
  width,
}: {
  bins: Bins;
  length: number;
  median: number;
  width: number;
}): JSX.Element {
  const columns = columnsOf(bins, 90);
  if (columns.length === 0) return <p class="remark">No call of it is complete there.</p>;
  const axis = axisOf(columns, width);
  const ground = PLOT.height - PLOT.foot;
  const now = axis.x(length);
  const isLeft = now > width - 60;
  return (
    <svg
      width={width}
      height={PLOT.height}
      role="img"
      aria-label={`Durations of ${plural(bins.total, 'call')}; this one is ${rankWords(bins, length)}`}
    >
      <Bars axis={axis} length={length} />
      <line
        x1={PLOT.left}
        x2={width - PLOT.right}
        y1={ground + 0.5}
        y2={ground + 0.5}
        class="base"
      />
      <Ticks axis={axis} ground={ground} />
      <Median at={axis.x(median)} now={now} axis={axis} ground={ground} />
      <line x1={now} x2={now} y1={10} y2={ground} class="this" />
      <path d={`M${now - 4} 4h8l-4 6z`} class="marker" />
      <text x={now + (isLeft ? -7 : 7)} y={12} class={isLeft ? 'end bold' : 'bold'}>
        this
      </text>
    </svg>
  );
}

/** "longer than 97.2 % of 1,117" */
function rankWords(bins: Bins, length: number): string {
  if (bins.total === 1) return 'the only one';
  if (length >= bins.max) return `the longest of ${integer(bins.total)}`;
  return `longer than ${percent(rankOf(bins, length))} of ${integer(bins.total)}`;
}

const SCOPES: [Scope, string][] = [
  ['trace', 'whole trace'],
  ['thread', 'this thread'],
  ['range', 'range'],
];

/** p50, p90, p99 of the function, if the page knows them of the same calls: those of the whole trace. */
function exactQuantiles(app: App, bins: Bins, fn: number, scope: Scope): number[] | null {
  const { id, count, openCount, max, p50, p90, p99 } = app.model.trace.functions;
  const i = scope === 'trace' ? id.indexOf(fn) : -1;
  if (i < 0 || max[i] !== bins.max) return null;
  const closed = count[i]! - openCount[i]!;
  return closed === bins.total ? [p50[i]!, p90[i]!, p99[i]!] : null;
}

interface NumbersProps {
  bins: Bins;
  call: CallAt;
  quantiles: number[] | null;
}

function Numbers({ bins, call, quantiles }: NumbersProps): JSX.Element {
  const length = call.end - call.start;
  const rough = [0.5, 0.9, 0.99].map(share => Math.min(bins.max, quantile(bins, share)));
  const heads = ['n', 'total', 'mean', 'p50', 'p90', 'p99', 'longest', 'this'];
  const values = [
    integer(bins.total),
    duration(bins.totalNs),
    duration(bins.totalNs / Math.max(1, bins.total)),
    ...(quantiles ?? rough).map(ns => duration(ns)),
    duration(bins.max),
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
  const quantiles = bins && exactQuantiles(app, bins, call.fn, scope);
  return (
    <div class="versus">
      <h2>
        This call against all {bins ? plural(bins.total, 'call') : 'calls'} of{' '}
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
          <Plot bins={bins} call={call} quantiles={quantiles} />
          <Numbers bins={bins} call={call} quantiles={quantiles} />
          <p class="remark">
            It is {rankWords(bins, length)}
            {!quantiles && '; p50, p90 and p99 are upper borders of bins'}
            {isRooted(columnsOf(bins, 90)) && '; heights are roots of counts'}.{' '}
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

const REACHES: [Reach, string][] = [
  ['direct', 'directly below'],
  ['all', 'at any depth'],
];

const MOST_ROWS = 60;

function BelowRow({
  fn,
  count,
  ns,
  length,
}: Record<'fn' | 'count' | 'ns' | 'length', number>): JSX.Element {
  const app = useApp();
  const { served } = timelineOf(app);
  return (
    <tr>
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
      <td class="num key">{duration(ns)}</td>
      <td class="num dim">{percent(ns / length)}</td>
    </tr>
  );
}

function Below({ details }: { details: Details }): JSX.Element {
  const loader = detailsOf(useApp());
  const reach = useAtom(loader.state, s => s.reach);
  const deep = useAtom(loader.state, s => s.deep);
  const length = Math.max(1, details.call.end - details.call.start);
  const isAll = reach === 'all';
  const ranked = isAll
    ? (deep ?? []).map(one => ({ ...one, ns: one.self }))
    : [...details.below].sort((a, b) => b.sum - a.sum).map(one => ({ ...one, ns: one.sum }));
  const heads = ['calls', isAll ? 'self time' : 'sum', 'share'];
  return (
    <div class="below" tabIndex={0} role="region" aria-label="What it called">
      <h2>
        Where its {duration(length)} went <small>wall-time of this call</small>
        <small class="scopes">
          {REACHES.map(([key, word]) => (
            <button
              key={key}
              class={reach === key ? 'link on' : 'link'}
              aria-pressed={reach === key}
              onClick={() => loader.setReach(key)}
            >
              {word}
            </button>
          ))}
        </small>
      </h2>
      <table class="fixed">
        <thead>
          <tr>
            <th scope="col">function</th>
            {heads.map((head, i) => (
              <th scope="col" class={i === 1 ? 'num t' : 'num n'} key={head}>
                {head}
              </th>
            ))}
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
          {ranked.slice(0, MOST_ROWS).map(row => (
            <BelowRow key={row.fn} {...row} length={length} />
          ))}
        </tbody>
      </table>
      {isAll && !deep && <p class="remark">asking for all that it called{'\u2026'}</p>}
      {ranked.length > MOST_ROWS && (
        <p class="remark">
          {MOST_ROWS} of {integer(ranked.length)} functions shown, most time first.
        </p>
      )}
    </div>
  );
}

function Nothing(): JSX.Element {
  const { served } = timelineOf(useApp());
  if (served.trace.calls === 0)
    return (
      <div class="facts nothing">
        <h2>No call in this trace</h2>
        <p>
          {served.trace.hasStates
            ? 'It has kernel events alone: the strips show when each thread ran, was ready, or was blocked, and for what. The pointer on a strip says it in words; drag to measure.'
            : whyNoCalls(served)}
        </p>
        {served.trace.hasStates && (
          <p class="remark">
            Summed up: <Command text={`weft waits ${quoted(served.trace.name)}`} />
          </p>
        )}
      </div>
    );
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
