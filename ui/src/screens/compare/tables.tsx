// SPDX-License-Identifier: MIT
// Ranked differences, executions of both groups, and what B is slow for.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { duration, exact, integer, plural, signedPercent, quoted } from '../../shared/lib/format';
import { LongName, Key, Gap, useRowsInView } from '../../shared/views/parts';
import { memo, useLater } from '../../shared/views/use';
import { short } from '../../shared/lib/numbers';
import { writeSpan } from '../../shared/lib/fragment';
import {
  contextOf,
  numberOf,
  causeWords,
  emptyWords,
  isUnsure,
  methodOf,
  pWords,
  signed,
  stepOf,
  whereOf,
  durationOf,
  BIT,
} from './data';
import type { Executions, Metric, Side, Compared, ComparedCause } from './data';
import { filterByNode } from './flameview';
import { LETTER, metricWords, SideSwatch, useCompare, useCompareState, waitWords } from './group';
import type { Compare } from './state';

const MOST_RANKED = 200;
const OWN_THREAD = 'the thread of the execution';
const UNEXPLAINED = 2; // of weft_confidence

/* ---- ranked differences ---------------------------------------------------------------------- */

interface Scale {
  x: (ns: number) => number;
  ticks: number[];
}

const PLOT = 142;

/** From the least to the greatest interval, 0 in it. */
function scaleOf({ nodes, ranked }: Compared): Scale {
  const shown = [...ranked.slice(0, 12)];
  const ends = shown
    .flatMap(i => [nodes.low[i]!, nodes.high[i]!, nodes.difference[i]!])
    .filter(value => Number.isFinite(value)); // of one execution there is no interval
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const width = Math.max(1, high - low);
  const step = [1, 2, 5, 10]
    .map(m => m * 10 ** Math.floor(Math.log10(width / 3)))
    .find(one => one >= width / 2.6)!;
  const ticks: number[] = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(i * step);
  const x = (ns: number): number =>
    6 + ((Math.max(low, Math.min(high, ns)) - low) / width) * (PLOT - 12);
  return { x, ticks };
}

/** The unit stands at the last one alone, and at the first if that is not 0. */
function tickWords({ ticks }: Scale, i: number): string {
  const tick = ticks[i]!;
  if (tick === 0) return '0';
  const [words, last] = [tick, ticks.at(-1)! || ticks[0]!].map(one => short(signed(one)));
  const unit = /\s\D+$/;
  const isSame = unit.exec(words!)?.[0] === unit.exec(last!)?.[0];
  return isSame && words !== last ? words!.replace(unit, '') : words!;
}

/** Words at an end do not stand beyond it. */
function anchorOf({ ticks, x }: Scale, i: number): 'start' | 'middle' | 'end' {
  const at = x(ticks[i]!);
  return at > PLOT - 20 ? 'end' : at < 16 ? 'start' : 'middle';
}

function DifferenceBar({
  compared,
  i,
  scale,
}: {
  compared: Compared;
  i: number;
  scale: Scale;
}): JSX.Element {
  const { nodes } = compared;
  const { x, ticks } = scale;
  const [low, high, own] = [x(nodes.low[i]!), x(nodes.high[i]!), x(nodes.difference[i]!)];
  const zero = x(0);
  const isHollow = isUnsure(compared, i);
  const step = stepOf(nodes, i, 'p', durationOf(compared)?.difference ?? 0);
  return (
    <svg class="cmp-bar" width={PLOT} height="18" aria-hidden="true">
      {ticks.map(tick => (
        <line key={tick} x1={x(tick)} x2={x(tick)} y1="0" y2="18" class="grid" />
      ))}
      {!isHollow && (
        <rect
          x={Math.min(zero, own)}
          y="3"
          width={Math.max(1, Math.abs(own - zero))}
          height="12"
          class={`step${step}`}
        />
      )}
      {Number.isFinite(nodes.low[i]!) && (
        <path d={`M${low} 9H${high}M${low} 5.5v7M${high} 5.5v7`} class="whisker" />
      )}
      {isHollow ? (
        <circle cx={own} cy="9" r="3.5" class="hollow" />
      ) : (
        <rect x={own - 1.5} y="5.5" width="3" height="7" class="tick" />
      )}
    </svg>
  );
}

function RankedRow({
  executions,
  compared,
  rank,
  scale,
}: {
  executions: Executions;
  compared: Compared;
  rank: number;
  scale: Scale;
}): JSX.Element {
  const compare = useCompare();
  const node = useCompareState(s => s.node);
  const { nodes, ranked } = compared;
  const i = ranked[rank]!;
  const where = whereOf(contextOf(executions, nodes.node[i]!));
  const whole = durationOf(compared)?.difference ?? 0;
  const isSure = !isUnsure(compared, i);
  const state = [where.state || 'running', where.lock].filter(Boolean).join(', ');
  const own = nodes.difference[i]!;
  return (
    <tr
      class={nodes.node[i] === node ? 'now' : ''}
      onClick={() => compare.set({ node: nodes.node[i]! })}
    >
      <td class="num dim">{rank + 1}</td>
      <th scope="row" class={isSure ? 'clip key' : 'clip'}>
        <button
          class="row-link"
          title={contextOf(executions, nodes.node[i]!)
            .map(f => f.name)
            .join(' \u203a ')}
        >
          <LongName name={where.place || where.thread || 'all'} title="" />
        </button>
      </th>
      <td class="dim clip" title={state}>
        {state}
      </td>
      <td class={where.thread === '' ? 'clip dim' : 'clip'} title={where.thread || OWN_THREAD}>
        {where.thread || 'its own'}
      </td>
      <td class="num" data-ns={String(Math.round(nodes.meanA[i]!))}>
        {duration(nodes.meanA[i]!)}
      </td>
      <td class="num" data-ns={String(Math.round(nodes.meanB[i]!))}>
        {duration(nodes.meanB[i]!)}
      </td>
      <td
        class={isSure ? `num key ${own > 0 ? 'cmp-slower' : 'cmp-faster'}` : 'num'}
        data-ns={String(Math.round(own))}
      >
        {signed(own)}
      </td>
      <td>
        <DifferenceBar compared={compared} i={i} scale={scale} />
      </td>
      <td class="num">{whole === 0 ? '\u2013' : signedPercent(own / whole)}</td>
      <td class={isSure ? 'num' : 'num dim'}>{pWords(nodes.pAdjusted[i]!)}</td>
    </tr>
  );
}

/** Time that nothing explains, of both groups: a row of its own, never left out. */
function unexplained({ confidence }: Executions, { nodes }: Compared): [number, number] {
  let [a, b] = [0, 0];
  for (let i = 0; i < nodes.n; i++)
    if (confidence[nodes.node[i]!] === UNEXPLAINED) {
      a += nodes.meanA[i]!;
      b += nodes.meanB[i]!;
    }
  return [a, b];
}

interface RankedOf {
  executions: Executions;
  compared: Compared;
}

export function Ranked({ executions, compared }: RankedOf): JSX.Element {
  const empty = emptyWords(compared);
  if (empty === '') return <RankedTable executions={executions} compared={compared} />;
  return (
    <section class="cmp-ranked" aria-label="Ranked differences">
      <h2>Ranked differences</h2>
      <p class="remark">
        {empty}: there is nothing to compare. Drag over a histogram, or take a condition away.
      </p>
    </section>
  );
}

function RankedTable({ executions, compared }: RankedOf): JSX.Element {
  const { ranked, nodes } = compared;
  const scale = useMemo(() => scaleOf(compared), [compared]);
  const shown = Math.min(MOST_RANKED, ranked.length);
  const node = useCompareState(s => s.node);
  const at = ranked.findIndex(i => nodes.node[i] === node);
  const rows = useRowsInView(shown, at < shown ? at : -1, [node]);
  const [noneA, noneB] = unexplained(executions, compared);
  const whole = durationOf(compared);
  const rest = [...ranked.slice(shown)].reduce(
    (most, i) => Math.max(most, Math.abs(nodes.difference[i]!)),
    0,
  );
  return (
    <section class="cmp-ranked" aria-label="Ranked differences">
      <h2>
        Ranked differences{' '}
        <small>
          exclusive, mean of an execution
          {shown > 0 &&
            `; p adjusted over ${plural(ranked.length, 'node')}; 95 % by ${methodOf(compared)}`}
        </small>
      </h2>
      <div
        ref={rows.scroller}
        class="scroll"
        tabIndex={0}
        role="region"
        aria-label="Ranked differences; . and , walk them"
        onScroll={rows.onScroll}
      >
        <table class="fixed">
          <thead>
            <tr>
              <th scope="col" class="num cmp-n">
                #
              </th>
              <th scope="col">where</th>
              <th scope="col" class="cmp-state">
                state
              </th>
              <th scope="col" class="cmp-thread">
                thread
              </th>
              {['A', 'B', 'B \u2212 A'].map(head => (
                <th scope="col" class="num cmp-time" key={head}>
                  {head}
                </th>
              ))}
              <th scope="col" class="cmp-plot-head">
                <svg class="cmp-bar" width={PLOT} height="16" aria-label="from 0">
                  {scale.ticks.map((tick, i) => (
                    <text key={tick} x={scale.x(tick)} y="12" text-anchor={anchorOf(scale, i)}>
                      {tickWords(scale, i)}
                    </text>
                  ))}
                </svg>
              </th>
              <th scope="col" class="num cmp-share">
                share
              </th>
              <th scope="col" class="num cmp-share">
                p
              </th>
            </tr>
          </thead>
          <tbody>
            {shown === 0 && (
              <tr class="gap">
                <td />
                <td colSpan={9} class="dim">
                  No context differs: A and B spend the same time in each.
                </td>
              </tr>
            )}
            <Gap rows={rows.first} columns={10} />
            {Array.from({ length: rows.end - rows.first }, (_, i) => (
              <RankedRow
                key={rows.first + i}
                rank={rows.first + i}
                executions={executions}
                compared={compared}
                scale={scale}
              />
            ))}
            <Gap rows={shown - rows.end} columns={10} />
          </tbody>
          <tfoot>
            <tr>
              <td />
              <th scope="row" colSpan={3} class="key">
                unexplained
              </th>
              <td class="num">{duration(noneA)}</td>
              <td class="num">{duration(noneB)}</td>
              <td class="num">{signed(noneB - noneA)}</td>
              <td colSpan={3} class="dim">
                of the rows above: unexplained (no data)
              </td>
            </tr>
            {whole && (
              <tr>
                <td />
                <th scope="row" colSpan={3} class="key">
                  Sum
                </th>
                <td class="num key">{duration(whole.meanA)}</td>
                <td class="num key">{duration(whole.meanB)}</td>
                <td class="num key">{signed(whole.difference)}</td>
                <td colSpan={3} class="dim">
                  {rest > 0
                    ? `${shown} of ${ranked.length}; others at most ${duration(rest)}`
                    : shown > 0 && `all ${plural(ranked.length, 'node')}`}
                </td>
              </tr>
            )}
          </tfoot>
        </table>
      </div>
      {shown > 0 && (
        <p class="remark">
          Hollow: not sure. A row is one calling context, of which the tool-tip has the whole path.
        </p>
      )}
      <Causes executions={executions} compared={compared} />
    </section>
  );
}

/* ---- causes ---------------------------------------------------------------------------------- */

function CauseButton({
  executions,
  cause,
  index,
}: {
  executions: Executions;
  cause: ComparedCause;
  index: number;
}): JSX.Element {
  const compare = useCompare();
  const now = useCompareState(s => s.cause);
  return (
    <li>
      <button
        class="row-link"
        aria-pressed={now === index}
        title="List only these executions"
        onClick={() =>
          compare.set({
            cause: now === index ? -1 : index,
            node: cause.node > 0 ? cause.node : -1,
            list: 'b',
          })
        }
      >
        <span>
          <b>{plural(cause.n, 'execution')}</b>: {causeWords(executions, cause)},{' '}
          {signed(cause.difference)}, mean {duration(cause.duration)}
        </span>
      </button>{' '}
      {cause.node > 0 && !compare.isFixed && (
        <button class="link" onClick={() => filterByNode(compare, 'b', cause.node)}>
          split off as B
        </button>
      )}
    </li>
  );
}

const FIRST_CAUSES = 3; // there is room for, below the differences
const MOST_CAUSES = 12;

function Causes({
  executions,
  compared,
}: {
  executions: Executions;
  compared: Compared;
}): JSX.Element | null {
  const compare = useCompare();
  const now = useCompareState(s => s.cause);
  const [isOpen, setOpen] = useState(false);
  const { causes } = compared;
  if (causes.length === 0) return null;
  const hasAll = isOpen || now >= FIRST_CAUSES; // the one that is chosen is seen
  const more = causes.length - FIRST_CAUSES;
  const toggle = (): void => {
    setOpen(!hasAll);
    if (hasAll && now >= FIRST_CAUSES) compare.set({ cause: -1 });
  };
  return (
    <div class="cmp-causes">
      <p>
        <b>B in itself</b>
        {more > 0 && (
          <button class="link" aria-expanded={hasAll} onClick={toggle}>
            {hasAll ? 'fewer' : `${integer(more)} more`}
          </button>
        )}
      </p>
      <ul>
        {causes.slice(0, hasAll ? MOST_CAUSES : FIRST_CAUSES).map((cause, i) => (
          <CauseButton key={i} index={i} executions={executions} cause={cause} />
        ))}
        {hasAll && causes.length > MOST_CAUSES && (
          <li class="dim">{plural(causes.length - MOST_CAUSES, 'smaller group')} not listed</li>
        )}
      </ul>
    </div>
  );
}

/* ---- executions ------------------------------------------------------------------------------ */

/** States of which a bar is made, if the metrics have them. */
const PARTS = [
  'blocked_lock',
  'blocked_block_device',
  'blocked_network',
  'blocked_timer',
  'preempted',
  'running',
] as const;

function PartsBar({
  executions,
  i,
  most,
}: {
  executions: Executions;
  i: number;
  most: number;
}): JSX.Element {
  const duration_ns = executions.end[i]! - executions.start[i]!;
  let left = 0;
  return (
    <span
      class="cmp-parts"
      style={{ width: `${Math.max(1, (duration_ns / most) * 100)}%` }}
      aria-hidden="true"
    >
      {PARTS.map(name => {
        const value = executions.metrics.find(metric => metric.name === name)?.values[i] ?? 0;
        if (!(value > 0)) return null;
        const from = left;
        left += (value / Math.max(1, duration_ns)) * 100;
        return (
          <i
            key={name}
            class={`part-${name}`}
            style={{ left: `${from}%`, width: `${Math.min(100, left) - from}%` }}
          />
        );
      })}
    </span>
  );
}

/** What the parts of the bars are: those that any execution has. */
function PartsLegend({ executions }: { executions: Executions }): JSX.Element {
  const own = useMemo(
    () =>
      PARTS.flatMap(name => executions.metrics.filter(metric => metric.name === name)).filter(
        ({ values }) => values.some(value => value > 0),
      ),
    [executions],
  );
  return (
    <span class="cmp-parts-legend" title={own.map(({ name }) => metricWords(name)).join(', ')}>
      {own.map(metric => (
        <span key={metric.name}>
          <i class={`part-${metric.name}`} aria-hidden="true" /> {waitWords(metric)}
        </span>
      ))}
      <span>
        <i class="part-rest" aria-hidden="true" /> other
      </span>
    </span>
  );
}

/** "on lock" heads the column of the time blocked on locks. */
const listedWords = (metric: Metric): string =>
  metric.state === 'blocked' ? `on ${waitWords(metric)}` : metricWords(metric.name);

/** Places of all executions, slowest first. */
function slowestFirst({ n, start, end }: Executions): Uint32Array {
  const length = Float64Array.from({ length: n }, (_, i) => end[i]! - start[i]!);
  const order = Uint32Array.from(length, (_, i) => i);
  return order.sort((a, b) => length[b]! - length[a]! || a - b);
}

/** Those of `order` to list. */
function listed(
  order: Uint32Array,
  members: Uint8Array,
  list: string,
  ofCause: ReadonlySet<number> | null,
): Uint32Array {
  const wanted = list === 'a' || list === 'b' ? BIT[list] : BIT.a | BIT.b;
  const out = new Uint32Array(order.length);
  let n = 0;
  for (const i of order)
    if ((list === 'all' || (members[i]! & wanted) !== 0) && (!ofCause || ofCause.has(i)))
      out[n++] = i;
  return out.subarray(0, n);
}

interface RowShows {
  executions: Executions;
  i: number;
  /** Bits of the groups it is in. */
  member: number;
  most: number;
  metric: number;
  isTicked: boolean;
}

/** Drawn again only when it shows something else: a drag moves most rows, and changes few. */
const ExecutionRow = memo(({ executions, i, member, most, metric, isTicked }: RowShows) => {
  const compare = useCompare();
  const side: Side | 'none' = member & BIT.b ? 'b' : member & BIT.a ? 'a' : 'none';
  const source = executions.sources[executions.source[i]!];
  const canOpen = compare.threadOf(i) >= 0;
  const isLink = !compare.isFixed || compare.canOpen(i);
  const id = numberOf(executions, i);
  const open = (): void => {
    if (compare.open(i)) return;
    const href = elsewhere(executions, i);
    if (href) location.assign(href);
    else compare.set({ error: elsewhereWords(executions, i) });
  };
  const value = executions.metrics[metric]?.values[i] ?? NaN;
  return (
    <tr class={isTicked ? 'now' : ''}>
      <td>
        <label title="Tick to open several side by side">
          {isLink && (
            <input
              type="checkbox"
              checked={isTicked}
              onChange={() => compare.tick(i)}
              aria-label={`Tick execution ${id}`}
            />
          )}{' '}
          {member === 3 && <SideSwatch side="a" />} <SideSwatch side={side} />{' '}
          {member === 3 ? 'A B' : side === 'none' ? '\u2013' : LETTER[side]}
        </label>
      </td>
      <th scope="row" class="num">
        {isLink ? (
          <button
            class="link"
            title={canOpen ? openWords(compare) : (source?.path ?? '')}
            onClick={open}
          >
            {integer(id)}
          </button>
        ) : (
          integer(id)
        )}
      </th>
      <td class="num" title={exact(executions.start[i]!)}>
        {duration(executions.start[i]!)}
      </td>
      <td>
        <PartsBar executions={executions} i={i} most={most} />
      </td>
      <td class="num key" data-ns={String(executions.end[i]! - executions.start[i]!)}>
        {duration(executions.end[i]! - executions.start[i]!)}
      </td>
      {metric >= 0 && <td class="num">{value > 0 ? duration(value) : '\u2013'}</td>}
      <td class="clip">{executions.threads[executions.thread[i]!]}</td>
      {executions.sources.length > 1 && (
        <td class="clip dim" title={source?.path}>
          {source && (source.tag === '' ? source.path.split('/').at(-1) : source.tag)}
        </td>
      )}
    </tr>
  );
});

const openWords = ({ isFixed }: Compare): string =>
  isFixed ? 'Its critical path' : 'Open in the Timeline, with its critical path on screen 5';

/** The address of an execution of another trace that is served; '' if it is of none. */
function elsewhere(executions: Executions, i: number): string {
  const source = executions.sources[executions.source[i]!];
  if (!source || source.trace < 0) return '';
  const [start, end] = [executions.start[i]!, executions.end[i]!];
  const room = (end - start) / 2;
  const span = writeSpan({ t0: start, t1: end + 1 });
  const window = writeSpan({ t0: Math.max(0, start - room), t1: end + room });
  return `?trace=${source.trace}#v=1&s=2&w=${window}&r=${span}&cp=t${executions.tid[i]!}.${span}`;
}

function elsewhereWords(executions: Executions, i: number): string {
  const source = executions.sources[executions.source[i]!];
  return `its trace ${source?.path ?? ''} is not served: weft serve DATABASE ${quoted(source?.path ?? 'TRACE')}`;
}

const LISTS = [
  ['both', 'A and B'],
  ['a', 'A'],
  ['b', 'B'],
  ['all', 'all'],
] as const;

export function ExecutionTable({ executions }: { executions: Executions }): JSX.Element {
  const compare = useCompare();
  const list = useCompareState(s => s.list);
  const turn = useLater(useCompareState(s => s.turns.a + s.turns.b));
  const cause = useCompareState(s => s.cause);
  const compared = useCompareState(s => (s.cause < 0 ? null : s.compared));
  const ticked = useCompareState(s => s.ticked);
  const charts = useCompareState(s => s.charts);
  const ofCause = useMemo(() => {
    if (cause < 0 || !compared) return null;
    const own = new Set<number>();
    let k = 0;
    compared.members.forEach((member, i) => {
      if (member & BIT.b && compared.causeOf[k++] === cause) own.add(i);
    });
    return own;
  }, [compared, cause]);
  const order = useMemo(() => slowestFirst(executions), [executions]); // not at each step of a drag
  const rows = useMemo(
    () => listed(order, compare.members, list, ofCause),
    [order, turn, list, ofCause],
  );
  const view = useRowsInView(rows.length, -1, []);
  const most = rows.length > 0 ? executions.end[rows[0]!]! - executions.start[rows[0]!]! : 1;
  const hasTraces = executions.sources.length > 1; // of one the head of the page tells
  const metric = executions.metrics.findIndex(
    ({ name, unit }) =>
      unit === 'ns' && name !== 'duration' && name !== 'start' && charts.includes(name),
  );
  const columns = 6 + Number(hasTraces) + Number(metric >= 0);
  return (
    <section class="cmp-executions" aria-label="Executions">
      <h2>
        <span class="grow">
          Executions{' '}
          <small>
            slowest first
            {compare.isFixed
              ? '; a number opens the critical path'
              : '; tick some to open them side by side'}
          </small>
        </span>
        {ticked.length > 0 && (
          <button class="link" onClick={() => compare.openPaths(ticked)}>
            open {plural(ticked.length, 'path')} <Key>Enter</Key>
          </button>
        )}
        <span class="cmp-switch" role="group" aria-label="Which executions">
          {LISTS.map(([key, word]) => (
            <button
              key={key}
              aria-pressed={list === key}
              onClick={() => compare.set({ list: key, cause: -1 })}
            >
              {word}
            </button>
          ))}
        </span>
      </h2>
      <div
        ref={view.scroller}
        class="scroll"
        tabIndex={0}
        role="region"
        aria-label="Executions of both groups"
        onScroll={view.onScroll}
      >
        <table class="fixed">
          <thead>
            <tr>
              <th scope="col" class="cmp-side">
                group
              </th>
              <th scope="col" class="num cmp-n">
                #
              </th>
              <th scope="col" class="num cmp-time">
                start
              </th>
              <th scope="col">of which</th>
              <th scope="col" class="num cmp-time" aria-sort="descending">
                duration
              </th>
              {metric >= 0 && (
                <th
                  scope="col"
                  class="num cmp-time clip"
                  title={metricWords(executions.metrics[metric]!.name)}
                >
                  {listedWords(executions.metrics[metric]!)}
                </th>
              )}
              <th scope="col" class="cmp-thread">
                thread
              </th>
              {hasTraces && (
                <th scope="col" class="cmp-thread">
                  trace
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            <Gap rows={view.first} columns={columns} />
            {[...rows.subarray(view.first, view.end)].map(i => (
              <ExecutionRow
                key={i}
                executions={executions}
                i={i}
                most={most}
                metric={metric}
                member={compare.members[i]!}
                isTicked={ticked.includes(i)}
              />
            ))}
            <Gap rows={rows.length - view.end} columns={columns} />
          </tbody>
        </table>
      </div>
      <p class="remark">
        <PartsLegend executions={executions} />
        {integer(rows.length)} of {plural(executions.all, 'execution')} listed, slowest first
        {executions.n < executions.all && '; of each group some, picked evenly by duration'}
        {executions.damaged > 0 &&
          `; ${plural(executions.damaged, 'damaged row')} of the database omitted`}
        {executions.partialRuns > 0 &&
          `; of ${plural(executions.partialRuns, 'run')} not all executions were added`}
      </p>
    </section>
  );
}
