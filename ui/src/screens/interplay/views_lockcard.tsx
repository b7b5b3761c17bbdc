// SPDX-License-Identifier: MIT
// One object, or all: how its waits are divided among those who waited and those who made them wait,
// and how long they were.
import type { JSX } from 'preact';
import { duration, integer, percent, plural } from '../../shared/lib/format';
import { decodeCorrespondences } from './api_interplay';
import type { Rows } from './api_interplay';
import type { Interplay } from './state_interplay';
import { useAsked } from './views_use';

const MOST = 100000; // waits
const SHOWN = 8;

interface Share {
  name: string;
  count: number;
  ns: number;
}

export interface WaitSums {
  waiters: Share[];
  releasers: Share[];
  /** By power of two of ns. */
  bins: { from: number; count: number }[];
  count: number;
  ns: number;
}

/** Sums over all waits of an answer. */
export function sumWaits(rows: Rows, nameOf: (thread: number) => string): WaitSums {
  const [waiters, releasers] = [new Map<number, Share>(), new Map<number, Share>()];
  const bins = new Map<number, number>();
  const sums = { count: 0, ns: 0 };
  const add = (
    to: Map<number, Share>,
    key: number,
    name: string,
    count: number,
    ns: number,
  ): void => {
    const own = to.get(key) ?? { name, count: 0, ns: 0 };
    to.set(key, { name, count: own.count + count, ns: own.ns + ns });
  };
  for (const [thread, waits] of rows.byThread)
    for (let i = 0; i < waits.n; i++) {
      const [count, ns] = [waits.count[i]!, waits.sum[i]!];
      const by = waits.releaser[i]!;
      add(waiters, thread, nameOf(thread), count, ns);
      add(releasers, by, by < 0 ? 'not known' : nameOf(by), count, ns);
      const bin = Math.floor(Math.log2(Math.max(1, waits.longest[i]!)));
      bins.set(bin, (bins.get(bin) ?? 0) + count);
      sums.count += count;
      sums.ns += ns;
    }
  const sorted = (of: Map<number, Share>): Share[] => [...of.values()].sort((a, b) => b.ns - a.ns);
  const [low, high] = [Math.min(...bins.keys()), Math.max(...bins.keys())];
  return {
    ...{ waiters: sorted(waiters), releasers: sorted(releasers), ...sums },
    bins:
      bins.size === 0
        ? []
        : Array.from({ length: high - low + 1 }, (_, i) => ({
            from: 2 ** (low + i),
            count: bins.get(low + i) ?? 0,
          })),
  };
}

function ShareList({
  title,
  list,
  whole,
}: {
  title: string;
  list: Share[];
  whole: number;
}): JSX.Element {
  return (
    <table class="shares">
      <caption class="section">{title}</caption>
      <tbody>
        {list.slice(0, SHOWN).map(({ name, count, ns }, i) => (
          <tr key={i} style={{ '--share': String(ns / Math.max(1, whole)) }}>
            <th scope="row">{name}</th>
            <td class="num">{percent(ns / Math.max(1, whole))}</td>
            <td class="num">{duration(ns)}</td>
            <td class="num dim">{plural(count, 'wait')}</td>
          </tr>
        ))}
        {list.length > SHOWN && (
          <tr>
            <th scope="row" class="dim">
              and {list.length - SHOWN} others
            </th>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Distribution({ sums }: { sums: WaitSums }): JSX.Element {
  const most = Math.max(1, ...sums.bins.map(({ count }) => count));
  return (
    <figure class="wait-bins">
      <figcaption class="section">
        How long{' '}
        <small>
          {plural(sums.count, 'wait')}, log time: each bar twice as long as the one before
        </small>
      </figcaption>
      <div
        class="bars"
        role="img"
        aria-label={sums.bins.map(({ from, count }) => `${duration(from)}: ${count}`).join(', ')}
      >
        {sums.bins.map(({ from, count }) => (
          <i
            key={from}
            title={`${duration(from)} to ${duration(from * 2)}: ${integer(count)}`}
            style={{
              height: `${count === 0 ? 0 : Math.max(2, Math.round((count / most) * 44))}px`,
            }}
          />
        ))}
      </div>
      <div class="bar-ends">
        <small>{duration(sums.bins[0]?.from ?? 0)}</small>
        <small>{duration((sums.bins[sums.bins.length - 1]?.from ?? 0) * 2)}</small>
      </div>
    </figure>
  );
}

export function LockCard({
  screen,
  object,
  span,
}: {
  screen: Interplay;
  object: string;
  span: { t0: number; t1: number };
}): JSX.Element {
  const params = { from: span.t0, to: span.t1, object: object || undefined, limit: MOST };
  const { value, trouble } = useAsked<Rows>(
    screen.served.source,
    JSON.stringify(params),
    async () =>
      decodeCorrespondences(
        await screen.served.source.columns('correspondences', params, 'lock card'),
      ),
  );
  if (trouble) return <p class="bad-text">{trouble}</p>;
  if (!value) return <p class="remark">{'\u2026'}</p>;
  const sums = sumWaits(value, thread => screen.title(thread));
  if (sums.count === 0) return <p class="remark">Nothing waited for it here.</p>;
  return (
    <div class="lock-card">
      <ShareList title="Let others go on" list={sums.releasers} whole={sums.ns} />
      <ShareList title="Waited" list={sums.waiters} whole={sums.ns} />
      <Distribution sums={sums} />
      {value.found > value.rows && (
        <p class="remark">
          Of the {integer(value.rows)} longest of {plural(value.found, 'wait')}.
        </p>
      )}
    </div>
  );
}
