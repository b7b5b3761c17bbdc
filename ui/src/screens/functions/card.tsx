// SPDX-License-Identifier: MIT
// One function, all its calls: their histogram, its statistics, and the brush that makes a set.
import type { HTMLAttributes, JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { paintHistogram, SIDE } from '../../shared/draw/histogram';
import type { StatLine } from '../../shared/draw/histogram';
import { duration, integer, percent, plural, times, exact } from '../../shared/lib/format';
import * as hist from '../../shared/lib/histogram';
import type { Bar, Bins, LogAxis } from '../../shared/lib/histogram';
import { parseDuration } from '../../shared/lib/search';
import { callAt, goToCall, isSameCall } from '../../shared/state/served';
import { copyText, Ns, Gap, useRowsInView, Heads } from '../../shared/views/parts';
import { Choice, FnSwatch, useCanvas, useFunctions, useScreen, useServed, Waiting } from './scope';
import { MOST_CALLS } from './state';
import type { FunctionRow, Functions, FunctionsState, Calls } from './state';

const LEAST_BAR = 5;

interface Stat extends StatLine {
  /** Known only to the width of a bin. */
  isRough: boolean;
}

/** Statistics of what the histogram shows: exact from the row of the table if that has the same calls. */
function statsOf(bins: Bins | null, row: FunctionRow | null): Stat[] {
  const exact = (name: string, ns: number): Stat => ({ name, ns, isRough: false });
  const rough = (name: string, share: number): Stat => ({
    name,
    ns: bins ? hist.quantileOf(bins, share) : NaN,
    isRough: true,
  });
  if (!row || Number.isNaN(row.p50))
    return [
      exact('mean', bins ? hist.meanOf(bins) : NaN),
      rough('p50', 0.5),
      rough('p90', 0.9),
      rough('p99', 0.99),
      rough('p99.9', 0.999),
      exact('max', bins && bins.total > 0 ? bins.max : NaN),
    ];
  return [
    exact('mean', row.mean),
    exact('p50', row.p50),
    exact('p90', row.p90),
    exact('p99', row.p99),
    exact('p99.9', row.p999),
    exact('max', row.max),
  ];
}

interface Shown {
  axis: LogAxis;
  bars: Bar[];
  over: Bar[];
  scale: hist.CountScale;
}

function useBars(bins: Bins | null, width: number): Shown | null {
  const wanted = useScreen(s => s.scale);
  const isTime = useScreen(s => s.isTime);
  const thread = useScreen(s => s.thread);
  const own = useScreen(s => s.answers.threadHistogram);
  return useMemo(() => {
    if (!bins || bins.n === 0 || width <= SIDE + 20) return null;
    const axis = hist.axisOf(bins, width - SIDE);
    const bars = hist.barsOf(bins, axis, LEAST_BAR);
    const over = thread >= 0 && own.value ? hist.barsOf(own.value, axis, LEAST_BAR) : [];
    const values = bars.map(bar => (isTime ? bar.sum : bar.count));
    return { axis, bars, over, scale: wanted === 'fit' ? hist.fittingScale(values) : wanted };
  }, [bins, width, wanted, isTime, thread, own.value]);
}

/** The border of a bar near `x`, or the duration there. */
function snapped({ axis, bars }: Shown, x: number, isFree: boolean, isUpper: boolean): number {
  if (!isFree)
    for (const bar of bars)
      for (const edge of [bar.from, bar.to])
        if (Math.abs(axis.x(edge) - x) <= 5)
          return Math.max(0, isUpper ? Math.ceil(edge) - 1 : Math.ceil(edge));
  return Math.max(0, Math.round(axis.ns(Math.max(0, Math.min(axis.width, x)))));
}

/** Drags on the histogram: what is under way is drawn, and taken when the button is let go. */
function useBrush(
  shown: Shown | null,
  take: (brush: FunctionsState['brush']) => void,
): { preview: FunctionsState['brush']; handlers: HTMLAttributes<HTMLDivElement> } {
  const [preview, setPreview] = useState<FunctionsState['brush']>(null);
  const from = useRef<number | null>(null);
  const place = (event: PointerEvent & { currentTarget: EventTarget | null }): number =>
    event.clientX - (event.currentTarget as HTMLElement).getBoundingClientRect().left - SIDE;
  const brushTo = (x: number, isFree: boolean): FunctionsState['brush'] => {
    const [a, b] = [Math.min(from.current!, x), Math.max(from.current!, x)];
    const min = snapped(shown!, a, isFree, false);
    return { min, max: Math.max(min, snapped(shown!, b, isFree, true)) };
  };
  return {
    preview,
    handlers: {
      onPointerDown: event => {
        if (!shown || event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = place(event);
      },
      onPointerMove: event => {
        const x = place(event);
        if (from.current === null || !shown || (!preview && Math.abs(x - from.current) < 4)) return;
        setPreview(brushTo(x, event.altKey));
      },
      onPointerUp: event => {
        if (from.current === null) return;
        const x = place(event);
        const isClick = preview === null && Math.abs(x - from.current) < 4;
        if (isClick) take(null);
        else if (shown) take(brushTo(x, event.altKey));
        from.current = null;
        setPreview(null);
      },
    },
  };
}

function BarTip({ bar, total, isSelf }: { bar: Bar; total: Bins; isSelf: boolean }): JSX.Element {
  return (
    <p class="remark bar-tip">
      {duration(bar.from)} to {duration(bar.to)}: <b>{plural(bar.count, 'call')}</b> (
      {percent(bar.count / Math.max(1, total.total))}), {isSelf ? 'self ' : ''}
      {duration(bar.sum)} ({percent(bar.sum / Math.max(1, total.totalNs))} of the time)
    </p>
  );
}

function Canvas({
  bins,
  stats,
  own,
}: {
  bins: Bins | null;
  stats: Stat[];
  own: number | null;
}): JSX.Element {
  const { screen, view } = useFunctions();
  const brush = useScreen(s => s.brush);
  const isTime = useScreen(s => s.isTime);
  const isSelf = useScreen(s => s.isSelf);
  const [over, setOver] = useState<Bar | null>(null);
  const shownRef = useRef<Shown | null>(null);
  const brushing = useRef<FunctionsState['brush']>(null);
  const { holder, canvas, width } = useCanvas(pane => {
    const shown = shownRef.current;
    if (!shown) return;
    paintHistogram(pane, {
      ...shown,
      isTime,
      lines: stats,
      own,
      hue: view.hueOf(screen.fn()),
      brush: brushing.current ?? brush,
      isPreview: brushing.current !== null,
    });
  });
  const shown = useBars(bins, width);
  shownRef.current = shown;
  const { preview, handlers } = useBrush(shown, one => screen.setBrush(one));
  brushing.current = preview;
  useEffect(() => setOver(null), [bins]);
  const point = (event: MouseEvent & { currentTarget: HTMLElement }): void => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - SIDE;
    setOver(
      shown?.bars.find(bar => shown.axis.x(bar.from) <= x && x < shown.axis.x(bar.to)) ?? null,
    );
  };
  return (
    <>
      <div
        ref={holder}
        class="histogram"
        onMouseMove={point}
        onMouseLeave={() => setOver(null)}
        {...handlers}
      >
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      {over && bins ? (
        <BarTip bar={over} total={bins} isSelf={isSelf} />
      ) : (
        <p class="remark bar-tip">{describe(shown, isTime)}</p>
      )}
    </>
  );
}

const SCALE_WORDS = { linear: 'linear', root: 'square root', log: 'logarithmic' } as const;

function describe(shown: Shown | null, isTime: boolean): string {
  if (!shown) return '';
  const what = isTime ? 'time' : 'count';
  return `Log time; ${what} as ${SCALE_WORDS[shown.scale]}; drag to choose calls.`;
}

function Stats({
  stats,
  bins,
  own,
}: {
  stats: Stat[];
  bins: Bins | null;
  own: number | null;
}): JSX.Element {
  const { screen } = useFunctions();
  const cell = (ns: number, isRough = false): JSX.Element => (
    <td class="num">
      {Number.isNaN(ns) ? (
        '\u2013'
      ) : (
        <Ns ns={ns}>{`${isRough ? '\u2264\u00a0' : ''}${duration(ns)}`}</Ns>
      )}
    </td>
  );
  const brushFrom = (stat: Stat): void =>
    screen.setBrush({ min: Math.max(0, stat.ns), max: Infinity });
  return (
    <table class="stats" aria-label="Statistics of the calls shown">
      <thead>
        <tr>
          <th scope="col" class="num">
            n
          </th>
          <th scope="col" class="num">
            total
          </th>
          {stats.map(stat => (
            <th key={stat.name} scope="col" class="num">
              <button
                class="link"
                disabled={Number.isNaN(stat.ns)}
                title={`Choose the calls of at least ${stat.name}`}
                onClick={() => brushFrom(stat)}
              >
                {stat.name}
              </button>
            </th>
          ))}
          {own !== null && (
            <th scope="col" class="num">
              this
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        <tr>
          <td class="num">{bins ? integer(bins.total) : '\u2013'}</td>
          {cell(bins?.totalNs ?? NaN)}
          {stats.map(stat => cell(stat.ns, stat.isRough))}
          {own !== null && (
            <td class="num key">
              <Ns ns={own}>{duration(own)}</Ns>
            </td>
          )}
        </tr>
      </tbody>
    </table>
  );
}

function readTime(text: string, otherwise: number): number | null {
  if (text.trim() === '') return otherwise;
  return parseDuration(
    text
      .trim()
      .replace(/[\s,]/g, '')
      .replace(/^(\d+(?:\.\d+)?)$/, '$1ns'),
  );
}

/** Every digit, in the largest unit that needs no fraction: 5ms, 1200us. */
function wholeTime(ns: number): string {
  const units: [number, string][] = [
    [1e9, 's'],
    [1e6, 'ms'],
    [1e3, 'us'],
  ];
  const unit = units.find(([scale]) => ns % scale === 0);
  return unit ? `${ns / unit[0]}${unit[1]}` : `${ns}ns`;
}

/** The brush in numbers: for the keyboard, and for exact borders. */
function BrushFields(): JSX.Element {
  const { screen } = useFunctions();
  const brush = useScreen(s => s.brush);
  const [trouble, setTrouble] = useState('');
  const words = (ns: number | undefined): string =>
    ns === undefined || ns === 0 || !Number.isFinite(ns) ? '' : wholeTime(ns);
  const change = (which: 'min' | 'max', text: string): void => {
    const value = readTime(text, which === 'min' ? 0 : Infinity);
    if (value === null) return setTrouble('a time with its unit, as in 5ms');
    setTrouble('');
    const next = { min: brush?.min ?? 0, max: brush?.max ?? Infinity, [which]: value };
    if (next.max < next.min) return setTrouble('the end lies before the beginning');
    screen.setBrush(next.min === 0 && next.max === Infinity ? null : next);
  };
  const field = (which: 'min' | 'max', label: string): JSX.Element => (
    <label>
      {label}{' '}
      <input
        type="text"
        size={9}
        spellcheck={false}
        placeholder={which === 'min' ? '0' : 'any'}
        value={words(brush?.[which])}
        onChange={event => change(which, event.currentTarget.value)}
      />
    </label>
  );
  return (
    <span class="brush-fields">
      {field('min', 'from')} {field('max', 'to')}
      {brush && (
        <button class="link" onClick={() => screen.setBrush(null)}>
          all calls
        </button>
      )}
      {trouble && <span class="trouble">{trouble}</span>}
    </span>
  );
}

function Tools(): JSX.Element {
  const { screen } = useFunctions();
  const isSelf = useScreen(s => s.isSelf);
  const isTime = useScreen(s => s.isTime);
  const scale = useScreen(s => s.scale);
  return (
    <div class="tools">
      <Choice
        label="Time of a call"
        options={[
          ['incl', 'inclusive'],
          ['self', 'self'],
        ]}
        value={isSelf ? 'self' : 'incl'}
        choose={key => {
          if (isSelf === (key === 'self')) return;
          screen.setBrush(null); // it was of the other times
          screen.set({ isSelf: key === 'self' });
        }}
      />
      <Choice
        label="Height of a bar"
        options={[
          ['count', 'count'],
          ['time', 'cumulated time'],
        ]}
        value={isTime ? 'time' : 'count'}
        choose={key => screen.set({ isTime: key === 'time' })}
      />
      <label>
        heights{' '}
        <select
          value={scale}
          onChange={event =>
            screen.set({ scale: event.currentTarget.value as FunctionsState['scale'] })
          }
        >
          <option value="fit">fitting</option>
          <option value="linear">linear</option>
          <option value="root">square root</option>
          <option value="log">logarithmic</option>
        </select>
      </label>
      <BrushFields />
    </div>
  );
}

/** Where one call stands among all: the same words for a call of the list and of the timeline. */
function OwnWords({
  own,
  bins,
  row,
}: {
  own: number;
  bins: Bins;
  row: FunctionRow | null;
}): JSX.Element {
  const longer = hist.longerThan(bins, own);
  const median = row && row.p50 > 0 ? `, ${times(own / row.p50)} the median` : '';
  return (
    <p class="remark">
      This call took {duration(own)}
      {median}; about {percent(longer / Math.max(1, bins.total))} of the {integer(bins.total)} are
      longer.
    </p>
  );
}

function factsText(
  screen: Functions,
  row: FunctionRow | null,
  stats: Stat[],
  bins: Bins | null,
): string {
  const lines = [
    ['function', row?.name ?? ''],
    ['of', screen.part().words],
    ['calls', String(bins?.total ?? row?.count ?? '')],
    ['total_ns', String(bins?.totalNs ?? '')],
    ...stats.map(({ name, ns }) => [`${name}_ns`, Number.isNaN(ns) ? '' : String(Math.round(ns))]),
  ];
  return lines.map(line => line.join('\t')).join('\n') + '\n';
}

/** The histogram holds calls that an edge of the trace cuts, as far as they are seen; the table's
 * statistics do not. */
function edgeWords({ openCount, cutCount }: FunctionRow, isWindow: boolean): string {
  const parts = [
    openCount > 0 && `${integer(openCount)} open at the end`,
    cutCount > 0 && `${integer(cutCount)} from before`,
  ].filter(Boolean);
  if (isWindow && parts.length > 0)
    return '; calls over an edge at their whole length: the table leaves them out';
  return parts.length > 0 ? `; ${parts.join(', ')}: only in the bars, as long as seen` : '';
}

export function FunctionCard(): JSX.Element {
  const { screen } = useFunctions();
  useServed(s => s.fn);
  useScreen(s => s.answers.table);
  const call = useServed(s => s.call);
  const isSelf = useScreen(s => s.isSelf);
  const answer = useScreen(s => s.answers.histogram);
  const fn = screen.fn();
  const row = screen.row(fn);
  const isCurrent = answer.of !== '' && answer.of === answer.key;
  const bins = isCurrent ? answer.value : null;
  const { span: window } = screen.part();
  const stats = statsOf(bins, isSelf || window ? null : row);
  const own = call?.fn === fn && !isSelf ? call.end - call.start : null;
  if (fn < 0)
    return (
      <section class="card" aria-label="Selected function">
        <p class="empty-panel">
          {screen.isUnknown
            ? 'The functions are being read.'
            : screen.served.trace.calls === 0
              ? 'No function to show: the trace holds no call.'
              : `No function to show: no call begins in ${screen.part().words}.`}
        </p>
      </section>
    );
  return (
    <section class="card" aria-label="Selected function">
      <Waiting answer={answer} which="histogram" what="Histogram" />
      <h2 class="title">
        <FnSwatch fn={fn} />
        <span class="grow" title={screen.served.names.name[fn]}>
          {screen.name(fn)}
        </span>
        <button class="link" onClick={() => void copyText(factsText(screen, row, stats, bins))}>
          copy as ns
        </button>
      </h2>
      <p class="remark">
        {isSelf ? 'Self time' : 'Wall-time from entry to exit'} of{' '}
        {plural(bins?.total ?? row?.count ?? 0, 'call')}, {screen.part().words}
        {row && edgeWords(row, window !== null)}
      </p>
      <Tools />
      {bins?.n === 0 ? (
        <p class="empty-panel">
          No call of {screen.name(fn)} both begins and ends in {screen.part().words}.
        </p>
      ) : (
        <Canvas bins={bins} stats={stats} own={own} />
      )}
      <Stats stats={stats} bins={bins} own={own} />
      {own !== null && bins && <OwnWords own={own} bins={bins} row={row} />}
      <CallList />
    </section>
  );
}

/* ---- The calls of the selected function: slowest first, or by thread. A click goes to the call. ---- */

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
      set.start[i]!,
      set.end[i]! - set.start[i]!,
      set.depth[i]!,
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
    () => (call ? order.findIndex(i => isSameCall(call, callAt(set, i))) : -1),
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
        <Heads
          of={[
            ['#', 'num c-rank'],
            ['thread', 'c-thread'],
            '#start',
            set.isSelf ? 'self time' : 'wall-time',
            ['depth', 'num c-depth'],
          ]}
        />
        <tbody>
          <Gap rows={first} columns={5} />
          {Array.from(order.subarray(first, end), (i, at) => {
            const ns = length[i]!;
            const thread = screen.served.threads[set.thread[i]!];
            const isNow = isSameCall(call, callAt(set, i));
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
        <Heads of={[['thread', 'c-thread'], '#calls', '#sum', '#share', '#mean', '#longest']} />
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

function CallList(): JSX.Element {
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
