// SPDX-License-Identifier: MIT
// A column of the two: the conditions of a group as chips, and histograms that make them.
import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { paintCompareHist, scaleOf, valueAt, xOf } from '../draw/comparehist';
import { BIT } from '../lib/compare';
import type { Condition, Executions, Side } from '../lib/compare';
import { binRange, countBins } from '../lib/comparebins';
import type { MetricBins } from '../lib/comparebins';
import { valueWords } from '../lib/compared';
import { integer, percent } from '../lib/format';
import { whatOf } from '../state/compare';
import {
  chartWords,
  conditionWords,
  LETTER,
  SideSwatch,
  unitOf,
  useCompare,
  useCompareCanvas,
  useCompareState,
} from './compareuse';

const CLICK = 3;
const GRIP = 5;

function Chips({ side, executions }: { side: Side; executions: Executions }): JSX.Element {
  const compare = useCompare();
  const group = useCompareState(s => s.groups[side]);
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
    </span>
  );
}

interface Drag {
  from: number;
  to: number;
  /** A border that stays where it is. */
  fixed: number | null;
  isMoved: boolean;
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
  const turn = useCompareState(s => s.turn);
  const linear = useCompareState(s => s.linear);
  const scale = useCompareState(s => s.scale);
  const group = useCompareState(s => s.groups[side]);
  const mean = useCompareState(s =>
    s.compared?.metrics.find(one => executions.metrics[one.metric]?.name === chart),
  );
  const [drag, setDrag] = useState<Drag | null>(null);
  const [over, setOver] = useState(-1);
  const unit = chart.startsWith('#') ? 'ns' : unitOf(executions, chart);
  const bins = compare.chartBins(chart);
  const own = useMemo(
    () => (bins ? countBins(bins, compare.members, BIT[side]) : new Uint32Array()),
    [bins, turn, side],
  );
  const condition = group.find(one => subjectOf(one) === chart);
  const range = condition && 'min' in condition ? condition : null;
  const { holder, canvas, width } = useCompareCanvas(pane => {
    if (bins)
      paintCompareHist(pane, {
        ...{ bins, own, side, unit, scale },
        ...{ brush: range && { min: range.min, max: range.max }, isPreview: drag !== null },
      });
  });
  const frame = useRef(0);
  const place = (event: PointerEvent): number =>
    event.clientX - holder.current!.getBoundingClientRect().left;
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
  /** Where the other border is, if one is under the pointer. */
  const edgeNear = (x: number): number | null => {
    if (!range || !bins) return null;
    const [left, right] = [range.min, range.max].map(value => xOf(bins, width, value));
    if (Math.abs(left! - x) <= GRIP) return right!;
    return Math.abs(right! - x) <= GRIP ? left! : null;
  };
  const move = (event: PointerEvent): void => {
    const x = place(event);
    if (!drag) return setOver(binUnder(bins, width, x));
    const isMoved = drag.isMoved || Math.abs(x - drag.from) > CLICK;
    setDrag({ ...drag, to: x, isMoved });
    if (isMoved) brush(drag.fixed ?? drag.from, x, event.altKey, true);
  };
  const up = (event: PointerEvent): void => {
    if (!drag) return;
    setDrag(null);
    const x = place(event);
    if (drag.isMoved) brush(drag.fixed ?? drag.from, x, event.altKey, false);
    else if (range) compare.remove(side, range);
  };
  const isLinear = linear.has(chart);
  const words = chartWords(executions, chart);
  const value = mean && (side === 'a' ? mean.meanA : mean.meanB);
  return (
    <div class={isLarge ? 'cmp-hist large' : 'cmp-hist'}>
      <p class="cmp-hist-head">
        <b class="grow" title={words}>
          {words}
        </b>
        <small>
          {value !== undefined && `mean ${valueWords(value, unit)} `}
          <button
            class="link"
            title="Linear or logarithmic axis"
            onClick={() => compare.toggleLinear(chart)}
          >
            {isLinear ? 'linear' : 'log'}
          </button>
          {isLarge &&
            bins &&
            `; count ${{ root: 'as square root', log: 'log', linear: 'linear' }[scaleOf({ bins, scale })]}`}
        </small>
      </p>
      <div
        ref={holder}
        class="cmp-plot"
        role="img"
        aria-label={`Histogram of ${words}, group ${LETTER[side]}; drag to choose executions`}
        onPointerDown={event => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          const x = place(event);
          setDrag({ from: x, to: x, fixed: edgeNear(x), isMoved: false });
        }}
        onPointerMove={move}
        onPointerUp={up}
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
        <small>
          {percent(count / Math.max(1, executions.n))} of {integer(executions.n)} (grey); drag to
          change
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
