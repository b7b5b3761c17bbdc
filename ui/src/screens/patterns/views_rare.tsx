// SPDX-License-Identifier: MIT
// What is rare: shapes seen once or on one thread, and calls that are slow for their shape.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { duration, integer, plural, times } from '../../shared/lib/format';
import { GREY_HUE } from '../../shared/lib/palette';
import type { Rare } from '../../shared/lib/shapes';
import type { App } from '../../shared/state/app';
import { Command, hueVar } from '../../shared/views/parts';
import { usePattern } from './views_use';
import { useApp, usePart } from '../../shared/views/use';
import * as pat from './state_patterns';

const FIRST = 60;

/** Why it is listed. */
export function because({ isOnce, isOneThread, isSlow, mean, start, end }: Rare): string {
  const slow = mean > 0 ? `slow, ${times((end - start) / mean)}` : 'slow';
  if (isOnce) return 'seen once';
  if (isOneThread) return isSlow ? `one thread; ${slow}` : 'one thread';
  return slow;
}

export function rareTitle({ model }: App, { fn, cluster }: Rare): string {
  return model.behaviours!.list[cluster]?.title ?? model.name(fn);
}

export function RareButton({ rare }: { rare: Rare }): JSX.Element {
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
    rare.bits.toFixed(1),
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
          : `${integer(shown.length)} of ${plural(totals.rare, 'rare shape')}, most surprising time first: bits of surprise times the time they explain. ${plural(totals.rareCallers, 'caller')} that ${totals.rareCallers === 1 ? 'is' : 'are'} rare for what ${totals.rareCallers === 1 ? 'it calls is' : 'they call are'} left out.`}{' '}
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
