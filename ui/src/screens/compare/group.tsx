// SPDX-License-Identifier: MIT
// What the parts of the Compare screen share.
import { createContext } from 'preact';
import type { JSX } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Pane, Panes } from '../../shared/draw/canvas';
import { integer, percent } from '../../shared/lib/format';
import { useOwnCanvas, useAtom } from '../../shared/views/use';
import type { OwnCanvas } from '../../shared/views/use';
import { contextOf, lastOf, valueWords, whereOf, BIT } from './data';
import type { Condition, Executions, Metric, MetricUnit, Side, Group } from './data';
import { paintCompareHist, scaleOf, valueAt, xOf, binRange, countBins, moveRange } from './draw';
import type { EdgeMove, MetricBins } from './draw';
import { whatOf } from './state';
import type { Compare, CompareState } from './state';

export interface CompareScope {
  compare: Compare;
  panes: Panes;
}

export const CompareContext = createContext<CompareScope | null>(null);

export function useCompare(): Compare {
  const scope = useContext(CompareContext);
  if (!scope) throw new Error('component outside of the Compare screen');
  return scope.compare;
}

export function useCompareState<T>(choose: (state: CompareState) => T): T {
  return useAtom(useCompare().state, choose);
}

export function useCompareCanvas(draw: (pane: Pane) => void): OwnCanvas {
  return useOwnCanvas(useContext(CompareContext)!.panes, draw);
}

export const LETTER = { a: 'A', b: 'B' } as const;

export function SideSwatch({ side }: { side: Side | 'none' }): JSX.Element {
  return <span class={`cmp-swatch cmp-${side}`} aria-hidden="true" />;
}

/** "blocked_lock" as people read it. */
export function metricWords(name: string): string {
  return name.replace(/_/g, ' ');
}

/** What a metric measures, where "blocked" is said already: "lock". */
export const waitWords = ({ name, reason }: Metric): string => metricWords(reason || name);

function unitOf(executions: Executions, name: string): MetricUnit {
  return executions.metrics.find(metric => metric.name === name)?.unit ?? 'ns';
}

/** What a chart is of: a metric, or "#NODE". */
export function chartWords(executions: Executions, chart: string): string {
  if (!chart.startsWith('#')) return metricWords(chart);
  const where = whereOf(contextOf(executions, Number(chart.slice(1))));
  return `in ${lastOf(where.place) || where.state || 'context'}${where.place && where.state ? `, ${where.state}` : ''}`;
}

/** "duration < 2 ms" */
function conditionWords(executions: Executions, one: Condition): string {
  if (one.kind === 'tag' || one.kind === 'thread') return `${one.kind} ${one.text}`;
  const unit = one.kind === 'metric' ? unitOf(executions, one.name) : 'ns';
  const what =
    one.kind === 'metric' ? metricWords(one.name) : chartWords(executions, `#${one.node}`);
  const { min, max } = one;
  if (min === -Infinity) return `${what} \u2264 ${valueWords(max, unit)}`;
  if (max === Infinity) return `${what} \u2265 ${valueWords(min, unit)}`;
  return `${what} ${valueWords(min, unit)} to ${valueWords(max, unit)}`;
}

/* ---- A column of the two: the conditions of a group as chips, and histograms that make them. ---- */

/** Of what a key moves the edge, by how many bins. */
const MOVES: Record<string, [EdgeMove, number]> = {
  ArrowRight: ['high', 1],
  ArrowLeft: ['high', -1],
  'Shift+ArrowRight': ['low', 1],
  'Shift+ArrowLeft': ['low', -1],
  PageUp: ['both', 1],
  PageDown: ['both', -1],
  Home: ['low', -Infinity],
  End: ['high', Infinity],
};

const CLICK = 3;
const GRIP = 5;

const MOST_CHOICES = 200;

interface Choice {
  key: string;
  words: string;
  take: (compare: Compare) => void;
}

/** What a group can be chosen by besides what is clicked and dragged. */
function choicesOf({ sources, threads, metrics }: Executions, side: Side): [string, Choice[]][] {
  const of = (kind: 'tag' | 'thread', texts: readonly string[]): Choice[] =>
    [...new Set(texts)]
      .filter(text => text !== '')
      .slice(0, MOST_CHOICES)
      .map(text => ({
        key: `${kind} ${text}`,
        words: text,
        take: compare => compare.add(side, { kind, text }),
      }));
  const ranges = metrics.map(({ name }): Choice => {
    const take = (compare: Compare): void => compare.showChart(name);
    return { key: `metric ${name}`, words: metricWords(name), take };
  });
  const tags = of(
    'tag',
    sources.map(({ tag }) => tag),
  );
  return [
    ['Tag', tags],
    ['Thread', threads.length > 1 ? of('thread', threads) : []],
    ['Metric: a chart to drag over', ranges],
  ];
}

function AddCondition({ side, executions }: { side: Side; executions: Executions }): JSX.Element {
  const compare = useCompare();
  const choices = useMemo(() => choicesOf(executions, side), [executions, side]);
  return (
    <select
      class="cmp-add"
      value=""
      aria-label={`Add a condition to group ${LETTER[side]}`}
      onChange={event => {
        const { value } = event.currentTarget;
        event.currentTarget.value = '';
        choices
          .flatMap(([, list]) => list)
          .find(({ key }) => key === value)
          ?.take(compare);
      }}
    >
      <option value="">+ condition</option>
      {choices
        .filter(([, list]) => list.length > 0)
        .map(([head, list]) => (
          <optgroup key={head} label={head}>
            {list.map(({ key, words }) => (
              <option key={key} value={key}>
                {words}
              </option>
            ))}
          </optgroup>
        ))}
    </select>
  );
}

function Chips({ side, executions }: { side: Side; executions: Executions }): JSX.Element {
  const compare = useCompare();
  const group = useCompareState(s => s.groups[side]);
  if (compare.isFixed)
    return (
      <span class="cmp-chips">
        {group.map((one, i) => (
          <span key={i} class="crumb">
            {conditionWords(executions, one)}
          </span>
        ))}
      </span>
    );
  return (
    <span class="cmp-chips" role="group" aria-label={`Conditions of group ${LETTER[side]}`}>
      {group.map((one, i) => (
        <button
          key={i}
          class="crumb now"
          title="Take this condition away"
          onClick={() => compare.remove(side, one)}
        >
          {conditionWords(executions, one)} {'\u00d7'}
        </button>
      ))}
      {group.length === 0 && <small>no condition: all of them</small>}
      <AddCondition side={side} executions={executions} />
    </span>
  );
}

interface Drag {
  /** Of the chart in the page: it does not move meanwhile. */
  left: number;
  from: number;
  /** A border that stays where it is. */
  fixed: number | null;
  isMoved: boolean;
  /** The group before it. */
  before: Group;
}

const subjectOf = (one: Condition): string =>
  one.kind === 'metric' ? one.name : one.kind === 'context' ? `#${one.node}` : '';

function BinTip({
  bins,
  at,
  own,
  unit,
  side,
}: {
  bins: MetricBins;
  at: number;
  own: Uint32Array;
  unit: ReturnType<typeof unitOf>;
  side: Side;
}): JSX.Element {
  const [from, to] = binRange(bins, at);
  return (
    <p class="cmp-bin" role="status">
      {from === to ? 'none' : `${valueWords(from, unit)} to ${valueWords(to, unit)}`}:{' '}
      <b>
        {integer(own[at]!)} in {LETTER[side]}
      </b>{' '}
      of {integer(bins.all[at]!)}
    </p>
  );
}

/** Of each answer; the chart below it stays as it is. */
function Mean({ side, chart, executions, unit }: MeanOf): JSX.Element | null {
  const value = useCompareState(s => {
    const own = s.compared?.metrics.find(one => executions.metrics[one.metric]?.name === chart);
    const n = (side === 'a' ? s.compared?.nA : s.compared?.nB) ?? 0;
    return n === 0 ? undefined : side === 'a' ? own?.meanA : own?.meanB;
  });
  return value === undefined ? null : <span>mean {valueWords(value, unit)}</span>;
}

interface MeanOf {
  side: Side;
  chart: string;
  executions: Executions;
  unit: ReturnType<typeof unitOf>;
}

function Histogram({
  side,
  chart,
  executions,
  isLarge,
}: {
  side: Side;
  chart: string;
  executions: Executions;
  isLarge: boolean;
}): JSX.Element {
  const compare = useCompare();
  const turn = useCompareState(s => s.turns[side]);
  const isLinear = useCompareState(s => s.linear.has(chart));
  const scale = useCompareState(s => s.scale);
  const group = useCompareState(s => s.groups[side]);
  const drag = useRef<Drag | null>(null);
  const [isDragged, setDragged] = useState(false);
  const [over, setOver] = useState(-1);
  const unit = chart.startsWith('#') ? 'ns' : unitOf(executions, chart);
  const bins = compare.chartBins(chart);
  const own = useMemo(
    () =>
      bins ? countBins(bins, compare.members, BIT[side], executions.weights) : new Uint32Array(),
    [bins, turn, side],
  );
  const condition = group.find(one => subjectOf(one) === chart);
  const range = condition && 'min' in condition ? condition : null;
  const { holder, canvas, width } = useCompareCanvas(pane => {
    if (bins)
      paintCompareHist(pane, {
        bins,
        own,
        side,
        unit,
        scale,
        brush: range && { min: range.min, max: range.max },
        isFixed: compare.isFixed,
        isPreview: isDragged,
      });
  });
  const frame = useRef(0);
  const place = (event: PointerEvent): number =>
    event.clientX - (drag.current?.left ?? holder.current!.getBoundingClientRect().left);
  /** Once a frame: what comes in between is not drawn. */
  const brush = (a: number, b: number, isFree: boolean, isDragged: boolean): void => {
    cancelAnimationFrame(frame.current);
    const apply = (): void => {
      if (!bins) return;
      const [from, to] = [a, b].map(x => valueAt(bins, width, x, isFree)).sort((x, y) => x - y);
      compare.add(side, compare.chartCondition(chart, from!, to!), isDragged);
    };
    if (isDragged) frame.current = requestAnimationFrame(apply);
    else apply();
  };
  const isInside = (x: number): boolean => {
    if (!range || !bins) return false;
    const [left, right] = [range.min, range.max].map(value => xOf(bins, width, value));
    return x >= left! - GRIP && x <= right! + GRIP;
  };
  /** Where the other border is, if one is under the pointer. */
  const edgeNear = (x: number): number | null => {
    if (!range || !bins) return null;
    const [left, right] = [range.min, range.max].map(value => xOf(bins, width, value));
    if (Math.abs(left! - x) <= GRIP) return right!;
    return Math.abs(right! - x) <= GRIP ? left! : null;
  };
  const move = (event: PointerEvent): void => {
    const x = place(event);
    const own = drag.current;
    if (compare.isFixed) return setOver(binUnder(bins, width, x));
    if (!own) {
      const edge = edgeNear(x) === null ? '' : 'ew-resize';
      holder.current!.style.cursor = edge;
      return setOver(binUnder(bins, width, x));
    }
    own.isMoved ||= Math.abs(x - own.from) > CLICK;
    if (own.isMoved) brush(own.fixed ?? own.from, x, event.altKey, true);
  };
  const up = (event: PointerEvent): void => {
    const own = drag.current;
    if (!own) return;
    const x = place(event);
    drag.current = null;
    setDragged(false);
    if (own.isMoved) brush(own.fixed ?? own.from, x, event.altKey, false);
    else if (range && !isInside(own.from)) compare.remove(side, range); // a click beside what is chosen
  };
  /** As it was before the drag: Esc, or the pointer is taken away. */
  const giveUp = (): void => {
    const own = drag.current;
    if (!own) return;
    cancelAnimationFrame(frame.current);
    drag.current = null;
    setDragged(false);
    if (own.isMoved) compare.setGroup(side, own.before);
  };
  useEffect(() => {
    if (!isDragged) return;
    const escape = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      giveUp();
    };
    addEventListener('keydown', escape, true);
    return () => removeEventListener('keydown', escape, true);
  }, [isDragged]);
  const words = chartWords(executions, chart);
  /** Without a pointer: edges go from bin to bin. */
  const key = (event: KeyboardEvent): void => {
    const move = MOVES[`${event.shiftKey ? 'Shift+' : ''}${event.key}`];
    const isAway = range && (event.key === 'Delete' || event.key === 'Backspace');
    if (!bins || (!move && !isAway) || event.altKey || event.ctrlKey) return;
    event.preventDefault();
    event.stopPropagation();
    const next = move ? moveRange(bins, range, ...move) : null;
    const fresh = next && compare.chartCondition(chart, next.min, next.max);
    if (fresh) compare.add(side, fresh);
    else if (range) compare.remove(side, range);
    const said = fresh ? conditionWords(executions, fresh) : `${words}: all`;
    const n = compare.state.get().counts[side];
    compare.app.state.update(now => ({
      ...now,
      said: `${LETTER[side]}: ${said}, ${integer(n)} of ${integer(executions.all)}`,
    }));
  };
  return (
    <div class={isLarge ? 'cmp-hist large' : 'cmp-hist'}>
      <p class="cmp-hist-head">
        <b class="clip" title={words}>
          {words}
        </b>
        <small>
          <span>
            <button
              class="link"
              title="Linear or logarithmic axis"
              onClick={() => compare.toggleLinear(chart)}
            >
              {isLinear ? 'linear' : 'log'}
            </button>
            {isLarge && bins && '; count '}
            {isLarge && bins && (
              <button
                class="link"
                title="Linear, square root, or logarithmic counts, of all charts"
                onClick={() => compare.turnCounts(scaleOf({ bins, scale }))}
              >
                {{ root: 'square root', log: 'log', linear: 'linear' }[scaleOf({ bins, scale })]}
              </button>
            )}
          </span>
          <Mean side={side} chart={chart} executions={executions} unit={unit} />
        </small>
      </p>
      <div
        ref={holder}
        class="cmp-plot"
        tabIndex={compare.isFixed ? undefined : 0}
        role={compare.isFixed ? 'img' : 'application'}
        data-chart={chart}
        aria-label={`Histogram of ${words}, group ${LETTER[side]}, ${
          range ? conditionWords(executions, range) : 'all'
        }${compare.isFixed ? '' : HOW_TO_CHOOSE}`}
        aria-describedby="said"
        onKeyDown={compare.isFixed ? undefined : key}
        onPointerDown={event => {
          if (event.button !== 0 || compare.isFixed) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          const { left } = event.currentTarget.getBoundingClientRect();
          const from = event.clientX - left;
          drag.current = { left, from, fixed: edgeNear(from), isMoved: false, before: group };
          setDragged(true);
        }}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={giveUp}
        onDblClick={() => range && !compare.isFixed && compare.remove(side, range)}
        onPointerLeave={() => setOver(-1)}
      >
        <canvas ref={canvas} aria-hidden="true" />
        {!bins && <p class="remark">asking{'\u2026'}</p>}
        {bins && over >= 0 && over < bins.all.length && (
          <BinTip bins={bins} at={over} own={own} unit={unit} side={side} />
        )}
      </div>
    </div>
  );
}

const HOW_TO_CHOOSE = '; drag, or left and right, with Shift the lower end, to choose executions';

function binUnder(bins: MetricBins | null, width: number, x: number): number {
  if (!bins) return -1;
  const value = valueAt(bins, width, x, true);
  for (let i = 0; i < bins.all.length; i++) {
    const [from, to] = binRange(bins, i);
    if (value <= 0 && from === to) return i;
    if (value >= from && value < to) return i;
  }
  return -1;
}

export function GroupColumn({
  side,
  executions,
}: {
  side: Side;
  executions: Executions;
}): JSX.Element {
  const { isFixed } = useCompare();
  const count = useCompareState(s => s.counts[side]);
  const charts = useCompareState(s => s.charts);
  const what = useCompareState(s => whatOf(s.subject));
  return (
    <section class="cmp-group" aria-label={`Group ${LETTER[side]}`}>
      <h2>
        <SideSwatch side={side} />
        {LETTER[side]}:{' '}
        <span data-count={count}>
          {integer(count)} {what}
        </span>{' '}
        <small title="Grey: all of them">
          <span>
            {percent(count / Math.max(1, executions.all))} of {integer(executions.all)}
          </span>{' '}
          <span>{isFixed ? '(grey)' : '(grey); drag to change'}</span>
        </small>
        <Chips side={side} executions={executions} />
      </h2>
      <div class="cmp-charts">
        {charts.map((chart, i) => (
          <Histogram
            key={chart}
            side={side}
            chart={chart}
            executions={executions}
            isLarge={i === 0}
          />
        ))}
        {charts.length === 0 && <p class="remark">No metric is shown: choose some above.</p>}
      </div>
    </section>
  );
}
