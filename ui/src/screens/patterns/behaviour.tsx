// SPDX-License-Identifier: MIT
// The panel of the Patterns screen: the table of behaviours, and what is known of the selected one
// and of the occurrence under the pointer's last click.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Behaviour } from '../../shared/lib/behaviours';
import { duration, exact, integer, percent, plural, span, times } from '../../shared/lib/format';
import { callsOf, columnTime } from '../../shared/lib/shapes';
import type { CallTree, Cluster, Occurrence, Rare } from '../../shared/lib/shapes';
import type { App, Model } from '../../shared/state/app';
import { ColorInput } from '../../shared/views/colors';
import { Command, hueVar, tipStyle, SortHead } from '../../shared/views/parts';
import { useApp, usePart } from '../../shared/views/use';
import { ratio } from '../../shared/lib/numbers';
import { useOccurrence, DiffTab, CallIcicle, ShapeGlyph, ShapeTree } from './shapes';
import { because, RareTab } from './side';
import { usePattern, SpreadOf } from './spread';
import * as pat from './state';
import type { Chosen, ClusterKey, PatternsState } from './state';

const FIRST = 80;

export function Hue({ hue }: { hue: number }): JSX.Element {
  return <span class="swatch" style={{ background: hueVar(hue) }} aria-hidden="true" />;
}

const meanOf = ({ sum, count }: Cluster): number => sum / Math.max(1, count);

/* ---- table ---- */

const BY: Record<ClusterKey, (a: Behaviour, b: Behaviour) => number> = {
  name: (a, b) => (a.title < b.title ? -1 : 1),
  count: (a, b) => b.cluster.count - a.cluster.count,
  sum: (a, b) => b.cluster.sum - a.cluster.sum,
  mean: (a, b) => meanOf(b.cluster) - meanOf(a.cluster),
  p50: (a, b) => b.cluster.p50 - a.cluster.p50,
  p99: (a, b) => b.cluster.p99 - a.cluster.p99,
  max: (a, b) => b.cluster.max - a.cluster.max,
  threads: (a, b) => b.cluster.threads - a.cluster.threads,
  first: (a, b) => (a.cluster.first?.start ?? Infinity) - (b.cluster.first?.start ?? Infinity),
  surprise: (a, b) => b.cluster.surprise - a.cluster.surprise,
};

const COLUMNS: [ClusterKey, string, (b: Behaviour) => string][] = [
  ['count', 'count', b => integer(b.cluster.count)],
  ['sum', 'total', b => duration(b.cluster.sum)],
  ['p50', 'p50', b => (b.cluster.has ? duration(b.cluster.p50) : '')],
  ['p99', 'p99', b => (b.cluster.has ? duration(b.cluster.p99) : '')],
  ['max', 'max', b => (b.cluster.has ? duration(b.cluster.max) : '')],
  ['threads', 'threads', b => integer(b.cluster.threads)],
  ['first', 'first seen', b => (b.cluster.first ? duration(b.cluster.first.start) : '')],
  ['surprise', 'surprise', b => (b.cluster.has ? ratio(b.cluster.surprise) : '')],
];

function Head({ by, name, sort }: { by: ClusterKey; name: string; sort: ClusterKey }): JSX.Element {
  const app = useApp();
  return (
    <SortHead
      name={name}
      now={by === sort}
      isUp={by === 'name' || by === 'first'}
      kind={by === 'name' ? '' : 'num c-num'}
      sort={() => pat.put(app, { sort: by })}
    />
  );
}

function Row({ behaviour, isNow }: { behaviour: Behaviour; isNow: boolean }): JSX.Element {
  const app = useApp();
  const { cluster, title, hue } = behaviour;
  const marks = [
    cluster.spikes > 0 && plural(cluster.spikes, 'spike'),
    cluster.drops > 0 && plural(cluster.drops, 'drop'),
  ];
  return (
    <tr
      id={`c${cluster.index}`}
      class={isNow ? 'now' : ''}
      onMouseEnter={() => pat.hoverCluster(app, cluster.index)}
      onMouseLeave={() => pat.hoverCluster(app, -1)}
    >
      <th scope="row" class="clip">
        <button
          class="row-link"
          title={app.model.fullName(cluster.fn)}
          aria-pressed={isNow}
          onClick={() => pat.selectCluster(app, cluster.index)}
        >
          <Hue hue={hue} />
          <span>
            {title} <small>{marks.filter(Boolean).join(', ')}</small>
          </span>
        </button>
      </th>
      {COLUMNS.map(([key, , value]) => (
        <td key={key} class={key === 'sum' ? 'num key' : 'num'}>
          {value(behaviour)}
        </td>
      ))}
    </tr>
  );
}

function ClusterTab(): JSX.Element {
  const app = useApp();
  const { list, shapes } = app.model.behaviours!;
  const sort = usePattern(s => s.sort);
  const cluster = usePattern(s => s.cluster);
  const query = usePart(s => s.query);
  const [limit, setLimit] = useState(FIRST);
  const hits = pat.findClusters(app.model, query);
  const asks = hits !== null && hits.list.length < list.length;
  const all = useMemo(() => {
    const wanted = asks ? list.filter(b => hits.clusters[b.cluster.index] === 1) : list;
    return [...wanted].sort((a, b) => BY[sort](a, b) || a.cluster.index - b.cluster.index);
  }, [list, sort, query]);
  const shown = all.slice(0, limit);
  const chosen = cluster >= 0 && !shown.some(b => b.cluster.index === cluster);
  const unlisted = shapes.totals.clusters - list.length;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Behaviours">
      <table class="fixed wide clusters">
        <thead>
          <tr>
            <Head by="name" name="behaviour" sort={sort} />
            {COLUMNS.map(([key, name]) => (
              <Head key={key} by={key} name={name} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {chosen && list[cluster] && <Row behaviour={list[cluster]} isNow />}
          {shown.map(b => (
            <Row key={b.cluster.index} behaviour={b} isNow={b.cluster.index === cluster} />
          ))}
        </tbody>
      </table>
      <p class="remark">
        {asks ? `${integer(all.length)} of ${integer(list.length)} found. ` : ''}
        {integer(shown.length)} of {integer(all.length)} shown: calls of one function whose shapes
        are at most {shapes.threshold / 2} apart, in all threads.{' '}
        {all.length > limit && (
          <button class="link" onClick={() => setLimit(all.length)}>
            show all
          </button>
        )}{' '}
        {unlisted > 0 && `${integer(unlisted)} of least time are not in this page.`}
      </p>
    </div>
  );
}

const TABS: [PatternsState['tab'], string, (app: App) => string][] = [
  ['table', 'Behaviours', ({ model }) => integer(model.behaviours!.list.length)],
  ['rare', 'Rare', ({ model }) => integer(model.behaviours!.shapes.totals.rare)],
  ['diff', 'Compare', () => 'A, B'],
];

function Tabs(): JSX.Element {
  const app = useApp();
  const now = usePattern(s => s.tab);
  return (
    <div class="interval">
      <div class="panel-tabs" role="tablist" aria-label="Lists (Tab, then arrows)">
        {TABS.map(([tab, name, n]) => (
          <button
            key={tab}
            role="tab"
            aria-selected={tab === now}
            onClick={() => pat.put(app, { tab })}
          >
            {name} <small>{n(app)}</small>
          </button>
        ))}
      </div>
      {now === 'table' ? <ClusterTab /> : now === 'rare' ? <RareTab /> : <DiffTab />}
    </div>
  );
}

/* ---- one behaviour ---- */

interface CardFact {
  name: string;
  value: string;
  more?: string;
}

/** What the card says: the same in the tool-tip and in the panel. */
export function cardFacts({ trace }: Model, { cluster }: Behaviour): CardFact[] {
  const facts: CardFact[] = [
    {
      name: 'count',
      value: integer(cluster.count),
      more: `in ${integer(cluster.threads)} of ${plural(trace.threads.length, 'thread')}`,
    },
    { name: 'total', value: duration(cluster.sum) },
    { name: 'mean', value: duration(meanOf(cluster)) },
  ];
  if (!cluster.has) return facts;
  const { p50, p90, p99, max, spikes, drops, first, ofFunction } = cluster;
  facts[2]!.more = `\u00b1 ${duration(cluster.deviation)} std dev`;
  facts.push({
    name: 'function\u2019s mean',
    value: duration(ofFunction.sum / Math.max(1, ofFunction.count)),
    more: `\u00b1 ${duration(ofFunction.deviation)}, ${plural(ofFunction.count, 'call')}`,
  });
  facts.push({
    name: 'p50, p90, p99, max',
    value: `${duration(p50)}, ${duration(p90)}, ${duration(p99)}, ${duration(max)}`,
  });
  if (first)
    facts.push({
      name: 'first seen',
      value: duration(first.start),
      more: trace.threads[first.thread]!.label,
    });
  if (spikes + drops > 0)
    facts.push({
      name: 'unusual',
      value: [spikes && plural(spikes, 'spike'), drops && plural(drops, 'drop')]
        .filter(Boolean)
        .join(', '),
    });
  return facts;
}

function Facts({ facts }: { facts: CardFact[] }): JSX.Element {
  return (
    <table>
      <tbody>
        {facts.map(fact => (
          <tr key={fact.name}>
            <th scope="row">{fact.name}</th>
            <td class="key" colSpan={fact.more ? 1 : 2}>
              {fact.value}
            </td>
            {fact.more && <td class="num dim">{fact.more}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const HOW = { typical: 'typical', slowest: 'slowest', first: 'first' } as const;

function Examples({
  behaviour,
  chosen,
}: {
  behaviour: Behaviour;
  chosen: Chosen | null;
}): JSX.Element | null {
  const app = useApp();
  const { cluster } = behaviour;
  if (!cluster.has) return null;
  const has = (at: Occurrence | null): boolean =>
    at !== null && callsOf(app.model.behaviours!.shapes, cluster.index, at) !== null;
  return (
    <div class="tools" role="group" aria-label="Examples">
      {(['typical', 'slowest', 'first'] as const).map(kind => (
        <button
          key={kind}
          aria-pressed={chosen?.how === kind}
          title={has(cluster[kind]) ? 'With its calls' : 'Its calls are not in this page'}
          onClick={() => pat.chooseExample(app, cluster.index, kind)}
        >
          {HOW[kind]}{' '}
          <small>{cluster[kind] ? duration(cluster[kind].end - cluster[kind].start) : ''}</small>
        </button>
      ))}
      {chosen && (
        <button title="Zoom to it (z)" onClick={() => pat.showChosen(app)}>
          show
        </button>
      )}
    </div>
  );
}

/** Where and when, and of how many it stands for. */
function Place({ chosen }: { chosen: Chosen }): JSX.Element {
  const { model } = useApp();
  const { shapes, list } = model.behaviours!;
  const { at, how, run, cluster } = chosen;
  const thread = model.trace.threads[at.thread]!;
  const ribbon = run && pat.ribbonAt(model, run);
  const own = list[cluster]!.cluster;
  const rank =
    own.has && own.p50 > 0 ? ` \u00b7 ${times((at.end - at.start) / own.p50)} the median` : '';
  return (
    <>
      <p class="remark">
        {thread.label}
        {thread.name && ` ${thread.name}`}, {how === 'columns' ? 'between' : 'starts'}{' '}
        {how === 'columns' ? span(at.start, at.end) : exact(at.start)}
        {how === 'columns' ? ': when exactly is not in this page' : rank}
      </p>
      {how === 'rare' && <p class="remark">Rare: {because(at as Rare)}.</p>}
      {run && ribbon && (how === 'run' || how === 'one' || how === 'columns') && (
        <p class="remark">
          {how === 'run' && ribbon.count[run.run]! > 1 ? 'The longest of ' : ''}
          {how === 'one' && ribbon.count[run.run]! > 1 ? 'One of ' : ''}
          {plural(ribbon.count[run.run]!, 'occurrence')} that begin in{' '}
          {span(
            columnTime(shapes, ribbon.first[run.run]!),
            columnTime(shapes, ribbon.first[run.run]! + ribbon.width[run.run]!),
          )}
          , filling {ribbon.covered[run.run] === 16 ? '' : '\u2264 '}
          {percent(ribbon.covered[run.run]! / 16)} of it
          {ribbon.others[run.run]! > 0 &&
            `; +${plural(ribbon.others[run.run]!, 'other behaviour')}`}
          .
        </p>
      )}
    </>
  );
}

function Gallery({ behaviour }: { behaviour: Behaviour }): JSX.Element {
  const app = useApp();
  const { model } = app;
  const table = model.behaviours!.shapes.shapes;
  const { shapes, shapesAll, has, id } = behaviour.cluster;
  usePattern(s => s.shape);
  const now = [pat.meantShape(app), shapes[0]].find(s => shapes.includes(s!));
  if (!has || now === undefined)
    return (
      <p class="remark">
        Its shapes are not in this page.{' '}
        <Command text={`weft shapes --cluster ${id} ${model.trace.name}`} />
      </p>
    );
  return (
    <>
      <div class="gallery">
        {shapes.map(shape => (
          <button
            key={shape}
            class="plain"
            aria-pressed={shape === now}
            title={`shape ${table.id[shape]}, ${plural(table.count[shape]!, 'occurrence')}`}
            onClick={() => pat.put(app, { shape })}
          >
            <ShapeGlyph shape={shape} width={54} height={28} />
            <small>{integer(table.count[shape]!)}</small>
          </button>
        ))}
      </div>
      <p class="remark">
        Shape {table.id[now]}: {plural(table.count[now]!, 'occurrence')}.
        {shapes.length < shapesAll &&
          ` ${integer(shapes.length)} of ${plural(shapesAll, 'shape')} here.`}
      </p>
      <ShapeTree shape={now} />
    </>
  );
}

/** Whose calls are drawn, if not those of the occurrence at hand. */
function StandIn({ tree, chosen }: { tree: CallTree; chosen: Chosen }): JSX.Element {
  const { trace } = useApp().model;
  const where =
    tree.thread === chosen.at.thread
      ? 'the nearest of this thread'
      : `one of ${trace.threads[tree.thread]!.label}`;
  return (
    <p class="remark stand-in">
      <b>Not this one:</b> {where} whose calls are in the page,{' '}
      {duration(tree.end[0]! - tree.start[0]!)}, starts {exact(tree.start[0]!)}.
    </p>
  );
}

function Drawing({
  behaviour,
  chosen,
}: {
  behaviour: Behaviour;
  chosen: Chosen | null;
}): JSX.Element {
  const app = useApp();
  const drawing = usePattern(s => s.drawing);
  const { cluster, hue } = behaviour;
  const { calls: own, word } = useOccurrence(chosen);
  if (!chosen) return <Gallery key={cluster.index} behaviour={behaviour} />;
  const isAsked = app.served !== null && chosen.how !== 'columns';
  const standIn = own || isAsked ? null : pat.standIn(app.model, chosen);
  const tree = own ?? standIn;
  const isShape = drawing === 'shape' || !tree;
  const tab = (key: 'time' | 'order' | 'shape', word: string): JSX.Element => (
    <button
      disabled={key !== 'shape' && !tree}
      aria-pressed={isShape ? key === 'shape' : key === drawing}
      onClick={() => pat.put(app, { drawing: key })}
    >
      {word}
    </button>
  );
  const at = chosen.at;
  const command = `weft regtime --segments --from ${at.start}ns --to ${at.end}ns --tid ${app.model.trace.threads[at.thread]!.tid} ${app.model.trace.name}`;
  return (
    <>
      <div class="tabs" role="group" aria-label="Drawing (v)">
        {tab('time', 'calls in time')}
        {tab('order', 'calls in order')}
        {tab('shape', 'shape')}
      </div>
      {standIn && !isShape && <StandIn tree={standIn} chosen={chosen} />}
      {!isShape && <CallIcicle tree={tree} hue={hue} byTime={drawing === 'time'} />}
      {isShape &&
        (at.shape >= 0 ? (
          <ShapeTree shape={at.shape} />
        ) : (
          <Gallery key={cluster.index} behaviour={behaviour} />
        ))}
      {word && <p class="remark">{word}</p>}
      {!own && !app.served && chosen.how !== 'columns' && (
        <p class="remark">
          The calls of this occurrence are not in the page. <Command text={command} />
        </p>
      )}
    </>
  );
}

/** Makes the shape at hand one of the two that are compared. */
function Sides(): JSX.Element {
  const app = useApp();
  const view = usePattern(s => s);
  usePattern(s => s.chosen);
  const shape = pat.meantShape(app);
  return (
    <span class="sides" role="group" aria-label="Compare">
      {(['a', 'b'] as const).map(side => (
        <button
          key={side}
          class={`letter ${side}`}
          disabled={shape < 0}
          aria-pressed={shape >= 0 && view[side] === shape}
          title={`Compare: this shape is ${side.toUpperCase()} (Alt+${side.toUpperCase()})`}
          onClick={() => pat.setSide(app, side, shape)}
        >
          {side.toUpperCase()}
        </button>
      ))}
    </span>
  );
}

function Details({ behaviour }: { behaviour: Behaviour }): JSX.Element {
  const app = useApp();
  const chosen = usePattern(s => s.chosen);
  const { cluster, title } = behaviour;
  usePart(s => s.colors);
  return (
    <div class="facts behaviour" tabIndex={0} role="region" aria-label="Selected behaviour">
      <h2 class="title">
        <Hue hue={behaviour.hue} />
        <span class="grow" title={app.model.fullName(cluster.fn)}>
          {title}
        </span>
        {chosen && chosen.how !== 'columns' && <b>{duration(chosen.at.end - chosen.at.start)}</b>}
        <ColorInput functions={[cluster.fn]} />
        <Sides />
      </h2>
      {chosen && <Place chosen={chosen} />}
      <Examples behaviour={behaviour} chosen={chosen} />
      {!chosen && <Facts facts={cardFacts(app.model, behaviour)} />}
      {!chosen && <SpreadOf behaviour={behaviour} chosen={null} />}
      <Drawing behaviour={behaviour} chosen={chosen} />
      {chosen && <Facts facts={cardFacts(app.model, behaviour)} />}
      {chosen && <SpreadOf behaviour={behaviour} chosen={chosen} />}
    </div>
  );
}

export function PatternPanel(): JSX.Element {
  const app = useApp();
  const cluster = usePattern(s => s.cluster);
  const own = app.model.behaviours?.list[cluster];
  return (
    <section class="panel" aria-label="Details">
      {own && <Details behaviour={own} />}
      <Tabs />
    </section>
  );
}

/* ---- the card under the pointer ---- */

export function ClusterCard(): JSX.Element | null {
  const app = useApp();
  const over = usePattern(s => s.over);
  const at = usePattern(s => s.overRun);
  const pointer = usePattern(s => s.pointer);
  const own = app.model.behaviours?.list[over];
  if (!own || !pointer || !at) return null;
  const style = tipStyle(pointer, 290, 320);
  const ribbon = pat.ribbonAt(app.model, at);
  const { thread, start, end, isKnown } = pat.occurrenceOf(app.model, at);
  const n = ribbon?.count[at.run] ?? 0;
  const { shapes, shapesAll } = own.cluster;
  return (
    <div class="tip" role="tooltip" style={style}>
      <div class="line">
        <Hue hue={own.hue} />
        <b class="grow">{own.title}</b>
        <b>{isKnown ? duration(end - start) : ''}</b>
      </div>
      <p class="remark">
        {app.model.trace.threads[thread]!.label} ·{' '}
        {isKnown
          ? `${n > 1 ? `longest of ${integer(n)}, ` : ''}starts ${exact(start)}`
          : `${integer(n)} in ${span(start, end)}`}
        {ribbon && ribbon.others[at.run]! > 0 ? ` · +${ribbon.others[at.run]} other here` : ''}
      </p>
      <Facts facts={cardFacts(app.model, own)} />
      {shapes.length > 0 && (
        <div class="line glyphs">
          {shapes.slice(0, 12).map(shape => (
            <ShapeGlyph key={shape} shape={shape} width={54} height={28} />
          ))}
          <small>{plural(shapesAll, 'shape')}</small>
        </div>
      )}
      <p class="keys">
        <kbd>click</kbd> keep, with its calls <kbd>.</kbd> <kbd>,</kbd> next <kbd>z</kbd> zoom
      </p>
    </div>
  );
}
