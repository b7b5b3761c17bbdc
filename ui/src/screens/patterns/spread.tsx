// SPDX-License-Identifier: MIT
// How the durations of a behaviour are distributed, and what each thread has of it.
import { Panes } from '../../shared/draw/canvas';
import type { Pane } from '../../shared/draw/canvas';
import { useOwnCanvas } from '../../shared/views/use';
import type { OwnCanvas } from '../../shared/views/use';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { paintHistogram, SIDE } from '../../shared/draw/histogram';
import type { Behaviour } from '../../shared/lib/behaviours';
import { duration, integer, percent, plural } from '../../shared/lib/format';
import { axisOf, barsOf, fittingScale } from '../../shared/lib/histogram';
import type { Bar, Bins } from '../../shared/lib/histogram';
import type { Shapes } from '../../shared/lib/shapes';
import { Command, Heads } from '../../shared/views/parts';
import { useApp, usePart, useAtom } from '../../shared/views/use';
import { short, rough, ratio } from '../../shared/lib/numbers';
import * as pat from './state';
import { PATTERNS_STATE } from './state';
import type { Chosen, PatternsState } from './state';

interface OfThread {
  thread: number;
  count: number;
  sum: number;
  /** Occurrences a second of the time that is looked at. */
  rate: number;
}

/** What threads have of a behaviour, as far as the page knows it; most time first. */
export function perThread(shapes: Shapes, cluster: number): OfThread[] {
  const seconds = (shapes.to - shapes.from) / 1e9;
  const rows: OfThread[] = [];
  for (const own of shapes.threads) {
    const found = own?.presences.find(presence => presence.cluster === cluster);
    if (!own || !found) continue;
    const { count, sum } = found;
    rows.push({ thread: own.thread, count, sum, rate: seconds > 0 ? count / seconds : 0 });
  }
  return rows.sort((a, b) => b.sum - a.sum || a.thread - b.thread);
}

export function rateText(rate: number): string {
  return `${short(rate >= 1e4 ? rough(rate) : ratio(rate))}/s`;
}

/* ---- How long the occurrences of a behaviour last, as a histogram, and what each thread has of them. ---- */

const LEAST_BAR = 4;
const FIRST = 5;

/** A canvas as wide as its holder, painted again whenever the component or the theme changes. */
function usePane(draw: (pane: Pane) => void): OwnCanvas {
  const app = useApp();
  const panes = useMemo(() => new Panes(), []);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const retheme = (): void => panes.retheme();
    dark.addEventListener('change', retheme);
    const off = app.state.subscribe((now, before) => {
      if (now.theme !== before.theme || now.colors !== before.colors) retheme();
    });
    return () => {
      dark.removeEventListener('change', retheme);
      off();
    };
  }, []);
  return useOwnCanvas(panes, draw);
}

/** What the picture says, for those who do not see it. */
function inWords(bins: Bins, bars: readonly Bar[]): string {
  const most = bars.reduce((best, bar) => (bar.count > best.count ? bar : best), bars[0]!);
  return `Durations of ${plural(bins.total, 'occurrence')} from ${duration(bins.min)} to ${duration(bins.max)}, most of them (${percent(most.count / bins.total)}) from ${duration(most.from)} to ${duration(most.to)}`;
}

function Histogram({
  behaviour,
  bins,
  own,
}: {
  behaviour: Behaviour;
  bins: Bins;
  own: number | null;
}): JSX.Element {
  const [over, setOver] = useState<Bar | null>(null);
  const { p50, p99 } = behaviour.cluster;
  const shown = useRef<{ axis: ReturnType<typeof axisOf>; bars: Bar[] } | null>(null);
  const { holder, canvas, width } = usePane(pane => {
    if (!shown.current) return;
    const lines = [
      { name: 'p50', ns: p50 },
      { name: 'p99', ns: p99 },
    ];
    const { axis, bars } = shown.current;
    const scale = fittingScale(bars.map(bar => bar.count));
    paintHistogram(pane, {
      axis,
      bars,
      over: [],
      isTime: false,
      scale,
      lines,
      own,
      hue: behaviour.hue,
      brush: null,
      isPreview: false,
    });
  });
  const made = useMemo(() => {
    if (width <= SIDE + 20) return null;
    const axis = axisOf(bins, width - SIDE);
    return { axis, bars: barsOf(bins, axis, LEAST_BAR) };
  }, [bins, width]);
  shown.current = made;
  useEffect(() => setOver(null), [bins]);
  const point = (event: MouseEvent & { currentTarget: HTMLElement }): void => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - SIDE;
    const at = made?.bars.find(bar => made.axis.x(bar.from) <= x && x < made.axis.x(bar.to));
    setOver(at ?? null);
  };
  const scale = made && fittingScale(made.bars.map(bar => bar.count));
  return (
    <>
      <div
        ref={holder}
        class="spread"
        role="img"
        aria-label={made ? inWords(bins, made.bars) : ''}
        onMouseMove={point}
        onMouseLeave={() => setOver(null)}
      >
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      <p class="remark">
        {over
          ? `${duration(over.from)} to ${duration(over.to)}: ${plural(over.count, 'occurrence')} (${percent(over.count / Math.max(1, bins.total))})`
          : `Durations; count as ${scale === 'root' ? 'square root' : 'it is'}.`}
      </p>
    </>
  );
}

/** Of every thread of which the page knows it: how often, how much, how long. */
function Threads({ behaviour }: { behaviour: Behaviour }): JSX.Element | null {
  const app = useApp();
  const { trace, behaviours } = app.model;
  const [isAll, setAll] = useState(false);
  const rows = useMemo(() => perThread(behaviours!.shapes, behaviour.cluster.index), [behaviour]);
  if (rows.length === 0) return null;
  const unknown = behaviour.cluster.threads - rows.length;
  return (
    <>
      <table class="threads-of">
        <Heads of={['thread', '#count', '#rate', '#total', '#mean']} />
        <tbody>
          {rows.slice(0, isAll ? rows.length : FIRST).map(row => (
            <tr key={row.thread}>
              <th scope="row">
                <button
                  class="link"
                  title={`Its first run on ${trace.threads[row.thread]!.name || 'this thread'}`}
                  onClick={() => pat.chooseOnThread(app, behaviour.cluster.index, row.thread)}
                >
                  {trace.threads[row.thread]!.label}
                </button>
              </th>
              <td class="num">{integer(row.count)}</td>
              <td class="num">{rateText(row.rate)}</td>
              <td class="num">{duration(row.sum)}</td>
              <td class="num">{duration(row.sum / Math.max(1, row.count))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {(unknown > 0 || rows.length > FIRST) && (
        <p class="remark">
          {rows.length > FIRST && (
            <button class="link" onClick={() => setAll(!isAll)}>
              {isAll ? 'fewer' : `all ${integer(rows.length)}`}
            </button>
          )}{' '}
          {unknown > 0 &&
            `${plural(unknown, 'thread')} on which others take more time ${unknown === 1 ? 'is' : 'are'} not in this page.`}
        </p>
      )}
    </>
  );
}

export function SpreadOf({
  behaviour,
  chosen,
}: {
  behaviour: Behaviour;
  chosen: Chosen | null;
}): JSX.Element {
  const { model } = useApp();
  usePart(s => s.epoch);
  const { bins, id } = behaviour.cluster;
  const own = chosen && chosen.how !== 'columns' ? chosen.at.end - chosen.at.start : null;
  return (
    <>
      {bins ? (
        <Histogram key={behaviour.cluster.index} behaviour={behaviour} bins={bins} own={own} />
      ) : (
        <p class="remark">
          How its durations are distributed is not in this page.{' '}
          <Command text={`weft shapes --cluster ${id} ${model.trace.name}`} />
        </p>
      )}
      <Threads key={`t${behaviour.cluster.index}`} behaviour={behaviour} />
    </>
  );
}

/** Draws again only when the chosen part of the screen's state changes. */
export function usePattern<T>(choose: (state: PatternsState) => T): T {
  return useAtom(PATTERNS_STATE.of(useApp()), choose);
}
