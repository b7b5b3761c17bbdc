// SPDX-License-Identifier: MIT
// Beside the ribbons: the story that begins with a sentence, and the legend.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { tell } from '../../shared/lib/behaviours';
import type { Behaviour, Told } from '../../shared/lib/behaviours';
import { FIRST_OWN, GREY_HUE } from '../../shared/lib/color';
import { compact, duration, integer, percent, plural, times } from '../../shared/lib/format';
import type { Spike, Rare } from '../../shared/lib/shapes';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { OwnColors } from '../../shared/views/colors';
import { hueVar, Command, Marks } from '../../shared/views/parts';
import { useApp, usePart } from '../../shared/views/use';
import { ratio } from '../../shared/lib/numbers';
import { Hue } from './behaviour';
import { usePattern } from './spread';
import * as pat from './state';
import { leftOutWords } from './view';

function Pick({ behaviour }: { behaviour: Behaviour }): JSX.Element {
  const app = useApp();
  const { cluster, title, hue } = behaviour;
  return (
    <button
      class="row-link"
      title={app.model.fullName(cluster.fn)}
      onMouseEnter={() => pat.hoverCluster(app, cluster.index)}
      onMouseLeave={() => pat.hoverCluster(app, -1)}
      onClick={() => pat.selectCluster(app, cluster.index)}
    >
      <Hue hue={hue} />
      <span>{title}</span>
    </button>
  );
}

function Outermost({ told }: { told: Told }): JSX.Element | null {
  const { behaviours } = useApp().model;
  if (told.top.length === 0) return null;
  const shown = told.top.slice(0, 8);
  const rest = told.top.slice(8).reduce((sum, b) => sum + b.outer, 0);
  const share = (ns: number): string => percent(ns / Math.max(1, behaviours!.outer));
  return (
    <section>
      <h2>
        Outermost behaviours <small>thread-time, by columns</small>
      </h2>
      <table class="fixed">
        <tbody>
          {shown.map(b => (
            <tr key={b.cluster.index}>
              <td class="clip">
                <Pick behaviour={b} />
              </td>
              <td class="num key c-side">{duration(b.outer)}</td>
              <td class="num c-side">{share(b.outer)}</td>
            </tr>
          ))}
          {rest > 0 && (
            <tr>
              <td class="dim">{plural(told.top.length - shown.length, 'other')}</td>
              <td class="num">{duration(rest)}</td>
              <td class="num">{share(rest)}</td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

const timesShort = (value: number): string =>
  value >= 1e4 ? `${compact(value)}\u00a0\u00d7` : times(value);

/** The worst spike of each behaviour, longest first: one slow call is one finding. */
function worstSpikes(spikes: readonly Spike[]): { spike: Spike; n: number }[] {
  const by = new Map<number, { spike: Spike; n: number }>();
  for (const spike of spikes) {
    const entry = by.get(spike.cluster);
    const length = spike.end - spike.start;
    if (!entry) by.set(spike.cluster, { spike, n: 1 });
    else {
      entry.n++;
      if (length > entry.spike.end - entry.spike.start) entry.spike = spike;
    }
  }
  return [...by.values()].sort(
    (a, b) => b.spike.end - b.spike.start - (a.spike.end - a.spike.start),
  );
}

function Spikes(): JSX.Element | null {
  const app = useApp();
  const { shapes, list } = app.model.behaviours!;
  const worst = worstSpikes(shapes.spikes);
  if (worst.length === 0) return null;
  return (
    <section>
      <h2>
        Latency spikes{' '}
        <small>
          {integer(shapes.spikes.length)} of {integer(shapes.totals.spikes)} here, longest of each
        </small>
      </h2>
      <table class="fixed">
        <tbody>
          {worst.slice(0, 7).map(({ spike, n }) => (
            <tr key={spike.cluster}>
              <td class="clip">
                <button
                  class="row-link"
                  title={`${plural(n, 'spike')}; the longest in ${app.model.trace.threads[spike.thread]!.label} at ${duration(spike.start)}`}
                  onClick={() => pat.chooseSpike(app, spike)}
                >
                  <Hue hue={list[spike.cluster]!.hue} />
                  <span>{list[spike.cluster]!.title}</span>
                </button>
              </td>
              <td class="num key c-side">{duration(spike.end - spike.start)}</td>
              <td class="num c-side">{timesShort(spike.times)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Drops(): JSX.Element | null {
  const app = useApp();
  const { shapes, list } = app.model.behaviours!;
  if (shapes.drops.length === 0) return null;
  return (
    <section>
      <h2>
        Throughput drops{' '}
        <small>
          {integer(Math.min(5, shapes.drops.length))} of {integer(shapes.totals.drops)}
        </small>
      </h2>
      <table class="fixed">
        <tbody>
          {shapes.drops.slice(0, 5).map((drop, i) => (
            <tr key={i}>
              <td class="clip">
                <button
                  class="row-link"
                  title={`expected ${drop.expected} occurrences, found ${integer(drop.count)}`}
                  onClick={() => {
                    act.setRange(app, { t0: drop.from, t1: drop.to }, false);
                    pat.put(app, { cluster: drop.cluster, chosen: null });
                  }}
                >
                  <Hue hue={list[drop.cluster]!.hue} />
                  <span>{list[drop.cluster]!.title}</span>
                </button>
              </td>
              <td class="num key c-side">
                {'\u2212'}
                {percent(1 - drop.count / Math.max(drop.expected, drop.count, 1e-9))}
              </td>
              <td class="num c-side">at {duration(drop.from)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function RareOnes(): JSX.Element | null {
  const app = useApp();
  const { rare, totals } = app.model.behaviours!.shapes;
  if (rare.length === 0) return null;
  return (
    <section>
      <h2>
        Rare{' '}
        <small>
          {integer(Math.min(5, rare.length))} of{' '}
          <button class="link" onClick={() => pat.put(app, { tab: 'rare' })}>
            {integer(totals.rare)}
          </button>
          , by surprise × time
        </small>
      </h2>
      <table class="fixed">
        <tbody>
          {rare.slice(0, 5).map(one => (
            <tr key={one.id}>
              <td class="clip">
                <RareButton rare={one} />
              </td>
              <td class="num key c-side">{duration(one.end - one.start)}</td>
              <td class="num c-because">{because(one)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Alone({ told }: { told: Told }): JSX.Element | null {
  const { trace } = useApp().model;
  if (told.alone.length === 0) return null;
  return (
    <section>
      <h2>Only one thread does</h2>
      <table class="fixed">
        <tbody>
          {told.alone.map(({ behaviour, thread }) => (
            <tr key={behaviour.cluster.index}>
              <td class="clip">
                <Pick behaviour={behaviour} />
              </td>
              <td class="num key c-side">{duration(behaviour.cluster.sum)}</td>
              <td class="num c-side">{trace.threads[thread]!.label}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function PatternStory(): JSX.Element {
  const app = useApp();
  const drawer = usePart(s => s.drawer);
  const { behaviours, trace } = app.model;
  const told = useMemo(() => tell(trace, behaviours!), [behaviours]);
  return (
    <aside class={drawer === 'story' ? 'story shown' : 'story'} aria-label="Story" tabIndex={0}>
      <h2 class="headline">{told.headline}</h2>
      <p class="lead">{told.lead}</p>
      <Outermost told={told} />
      <Spikes />
      <Drops />
      <RareOnes />
      <Alone told={told} />
      <section>
        <h2>Omitted</h2>
        <p class="remark">{leftOutWords(app)}.</p>
      </section>
    </aside>
  );
}

/* ---- legend ---- */

const SHOWN = 20;

function Entry({ behaviour }: { behaviour: Behaviour }): JSX.Element {
  const app = useApp();
  const { cluster, title, hue, chained } = behaviour;
  const now = usePattern(s => s.cluster);
  return (
    <li>
      <button
        class="entry"
        aria-pressed={now === cluster.index}
        title={`${app.model.fullName(cluster.fn)}${chained > 0 ? `; ${chained} behaviours inside it last nearly as long` : ''}`}
        onMouseEnter={() => pat.hoverCluster(app, cluster.index)}
        onMouseLeave={() => pat.hoverCluster(app, -1)}
        onClick={() => pat.selectCluster(app, cluster.index)}
      >
        <span class="swatch" style={{ background: hueVar(hue) }} />
        <span class="grow">{title}</span>
        {chained > 0 && <small>+{chained}</small>}
        <span class="num">{duration(cluster.sum)}</span>
      </button>
    </li>
  );
}

const MARKS: [JSX.Element, string][] = [
  [
    <g>
      <rect x="1" y="4" width="20" height="8" fill="var(--h3)" />
      <rect x="22" y="9" width="12" height="3" fill="var(--h3)" />
    </g>,
    'height: share of time it fills',
  ],
  [
    <g>
      <rect x="1" y="3" width="34" height="7" fill="var(--h2)" />
      <path d="M1 12.5h34" stroke="var(--ink3)" stroke-dasharray="1 2" />
    </g>,
    'dots: others here, too (+n)',
  ],
  [<path d="M14.5 4h7L18 10.2z" fill="var(--bad)" />, 'latency spike'],
  [
    <g>
      <rect x="4" y="3" width="26" height="9" fill="var(--warn)" fill-opacity=".25" />
      <path d="M4.5 3v9M30.5 3v9" stroke="var(--warn)" />
    </g>,
    'throughput drop, the largest',
  ],
  [
    <path d="M18 1l3 3-6 3 6 3-3 3" fill="none" stroke="var(--ink3)" />,
    'idle in all threads, folded (i)',
  ],
  [<path d="M18 3.5l4 4-4 4-4-4z" fill="var(--bg)" stroke="var(--ink)" />, 'rare shape (r)'],
];

/** Those that chose their hue; of a function with a colour of its own, the one of most time. */
function inLegend(list: readonly Behaviour[]): Behaviour[] {
  const own = new Set<number>();
  const heads = list.filter(({ hue, isHead, cluster: { fn } }) => {
    if (hue < FIRST_OWN) return hue !== GREY_HUE && isHead;
    const isNew = !own.has(fn);
    own.add(fn);
    return isNew;
  });
  return heads.slice(0, SHOWN);
}

export function PatternLegend(): JSX.Element {
  const app = useApp();
  const { list, shapes } = app.model.behaviours!;
  const drawer = usePart(s => s.drawer);
  const hasMarks = usePattern(s => s.hasMarks);
  const isRare = usePattern(s => s.isRare);
  const isFolded = usePattern(s => s.isFolded);
  usePart(s => s.hidden);
  const grey = list.filter(b => b.hue === GREY_HUE);
  const rest = grey.reduce((sum, b) => sum + b.cluster.sum, 0);
  const { prefix } = app.model.families;
  return (
    <aside class={drawer === 'legend' ? 'legend shown' : 'legend'} aria-label="Legend" tabIndex={0}>
      <h2>
        Colour{' '}
        <small>
          behaviour, by total time
          {prefix && (
            <>
              ; prefix <code>{prefix}</code> hidden
            </>
          )}
        </small>
      </h2>
      <ul>
        {inLegend(list).map(b => (
          <Entry key={b.cluster.index} behaviour={b} />
        ))}
      </ul>
      {grey.length > 0 && (
        <p class="entry static" title="All of them are in the table below">
          <span class="swatch" style={{ background: hueVar(GREY_HUE) }} />
          <span class="grow">{plural(grey.length, 'other')}</span>
          <span class="num">{duration(rest)}</span>
        </p>
      )}
      <p class="remark">
        Behaviours hold one another, so these times overlap; +n: as many that it passes nearly all
        its time on to have its colour. Ribbons: simple calls on top, what calls them below; none of
        a ribbon holds another of it.
      </p>
      <OwnColors />
      <section>
        <h2>Marks</h2>
        <Marks of={MARKS} />
        <button aria-pressed={hasMarks} onClick={() => pat.toggleMarks(app)}>
          {hasMarks ? 'Hide' : 'Show'} spikes and drops <kbd>o</kbd>
        </button>
        <button
          aria-pressed={isRare}
          title="Where runs share a pixel, each behaviour is drawn with a chance in proportion to the fourth root of its time; the same place always shows the same"
          onClick={() => pat.toggleSampling(app)}
        >
          Favour rare ones <kbd>r</kbd>
        </button>
        <button
          aria-pressed={isFolded}
          title="Stretches in which no thread that is shown has an occurrence become narrow; the axis stays true"
          onClick={() => pat.toggleFolds(app)}
        >
          Fold idle stretches <kbd>i</kbd>
        </button>
        <p class="remark">{pat.idleWords(app)}</p>
        <p class="remark">
          {isRare
            ? 'Pixels that several behaviours share show one of them, by the fourth root of its time, not the longest.'
            : 'A pixel shows the behaviour that covers most of it.'}
        </p>
        <p class="remark">
          {integer(shapes.totals.spikes)} spikes and {integer(shapes.totals.drops)} drops found,{' '}
          {integer(shapes.spikes.length)} and {integer(shapes.drops.length)} here.
        </p>
      </section>
    </aside>
  );
}

/* ---- What is rare: shapes seen once or on one thread, and calls that are slow for their shape. ---- */

const FIRST = 60;

/** Why it is listed. */
export function because({ isOnce, isOneThread, isSlow, mean, start, end }: Rare): string {
  const slow = mean > 0 ? `slow, ${times((end - start) / mean)}` : 'slow';
  if (isOnce) return 'seen once';
  if (isOneThread) return isSlow ? `one thread; ${slow}` : 'one thread';
  return slow;
}

function rareTitle({ model }: App, { fn, cluster }: Rare): string {
  return model.behaviours!.list[cluster]?.title ?? model.name(fn);
}

function RareButton({ rare }: { rare: Rare }): JSX.Element {
  const app = useApp();
  const own = app.model.behaviours!.list[rare.cluster];
  const isNow = usePattern(s => s.chosen?.at === rare);
  usePart(s => s.colors);
  return (
    <button
      class="row-link"
      aria-pressed={isNow}
      title={`${app.model.fullName(rare.fn)}, shape ${rare.id}`}
      onMouseEnter={() => rare.cluster >= 0 && pat.hoverCluster(app, rare.cluster)}
      onMouseLeave={() => pat.hoverCluster(app, -1)}
      onClick={() => pat.chooseRare(app, rare)}
    >
      <span class="swatch" style={{ background: hueVar(own?.hue ?? GREY_HUE) }} />
      <span>{rareTitle(app, rare)}</span>
    </button>
  );
}

const HEADS: [name: string, title: string][] = [
  ['time', 'of its slowest call'],
  ['others\u2019 mean', 'of the other calls of the shape'],
  ['calls', 'of the shape'],
  ['of function', 'calls of the function, of whatever shape'],
  ['bits', 'of surprise'],
  ['\u00d7 time', 'that is surprising'],
  ['thread', ''],
  ['start', ''],
];

function Row({ rare }: { rare: Rare }): JSX.Element {
  const app = useApp();
  const isNow = usePattern(s => s.chosen?.at === rare);
  const cells = [
    duration(rare.end - rare.start),
    rare.mean > 0 ? duration(rare.mean) : '',
    integer(rare.count),
    integer(rare.functionCalls),
    ratio(rare.bits),
    duration(rare.time),
    app.model.trace.threads[rare.thread]!.label,
    duration(rare.start),
  ];
  return (
    <tr class={isNow ? 'now' : ''}>
      <th scope="row" class="clip">
        <RareButton rare={rare} />
      </th>
      <td>{because(rare)}</td>
      {cells.map((cell, i) => (
        <td key={i} class={i === 0 ? 'num key' : 'num'}>
          {cell}
        </td>
      ))}
    </tr>
  );
}

export function RareTab(): JSX.Element {
  const app = useApp();
  const { model } = app;
  const query = usePart(s => s.query);
  const [limit, setLimit] = useState(FIRST);
  const { rare, totals } = model.behaviours!.shapes;
  const hits = pat.findClusters(model, query);
  const asks = hits?.query.asksFunction === true;
  const wanted = asks ? rare.filter(one => pat.matchesFunction(model, hits.query, one.fn)) : rare;
  const shown = wanted.slice(0, limit);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Rare shapes">
      <table class="fixed wide clusters rare">
        <thead>
          <tr>
            <th scope="col">rare shape of</th>
            <th scope="col" class="c-why">
              because
            </th>
            {HEADS.map(([name, title]) => (
              <th key={name} scope="col" class="num c-num" title={title}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(one => (
            <Row key={one.id} rare={one} />
          ))}
        </tbody>
      </table>
      <p class="remark">
        {rare.length === 0
          ? 'No shape occurs once or on one thread alone, and no call takes far longer than others of its shape.'
          : `${integer(shown.length)} of ${plural(totals.rare, 'rare shape')}, most surprising time first: bits of surprise times the time they explain. ${plural(totals.rareCallers, 'caller')} that ${totals.rareCallers === 1 ? 'is' : 'are'} rare for what ${totals.rareCallers === 1 ? 'it calls is' : 'they call are'} omitted.`}{' '}
        {wanted.length > limit && (
          <button class="link" onClick={() => setLimit(wanted.length)}>
            show {integer(wanted.length)}
          </button>
        )}
        {rare.length < totals.rare && <Command text={`weft shapes --rare ${model.trace.name}`} />}
      </p>
    </div>
  );
}
