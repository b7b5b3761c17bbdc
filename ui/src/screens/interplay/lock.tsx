// SPDX-License-Identifier: MIT
// How parts of the Interplay ask the server for what they show.
import type { JSX } from 'preact';
import { useEffect, useState, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { Superseded } from '../../shared/api/source';
import type { Source } from '../../shared/api/source';
import { PanePainter } from '../../shared/draw/canvas';
import { hitFlame, LEVEL, paintFlame } from '../../shared/draw/flame';
import type { FlamePart } from '../../shared/draw/flame';
import { GREY_HUE } from '../../shared/lib/color';
import { layoutFlame } from '../../shared/lib/flame';
import { duration, integer, percent, plural, messageOf } from '../../shared/lib/format';
import { makeTree } from '../../shared/lib/tree';
import { decodeCorrespondences } from './data';
import type { Rows, LockTree } from './data';
import type { Interplay } from './state';

interface Asked<T> {
  value: T | null;
  trouble: string;
}

/** The answer to a question that `key` names; '' asks nothing. The answer before stays until then. */
export function useAsked<T>(source: Source, key: string, ask: () => Promise<T>): Asked<T> {
  const [asked, setAsked] = useState<Asked<T>>({ value: null, trouble: '' });
  useEffect(() => {
    if (key === '') return setAsked({ value: null, trouble: '' });
    let isWanted = true;
    ask()
      .then(value => isWanted && setAsked({ value, trouble: '' }))
      .catch((error: unknown) => {
        if (!isWanted || error instanceof Superseded) return;
        setAsked({ value: null, trouble: messageOf(error) });
      });
    return () => {
      isWanted = false;
    };
  }, [source, key]);
  return asked;
}

/* ---- One object, or all: how its waits are divided among those who waited and those who made them wait,
 * and how long they were. ---- */

const MOST = 100000; // waits
const SHOWN = 8;

interface Share {
  name: string;
  count: number;
  ns: number;
}

interface WaitSums {
  waiters: Share[];
  releasers: Share[];
  /** By power of two of ns. */
  bins: { from: number; count: number }[];
  count: number;
  ns: number;
}

/** Sums over all waits of an answer. */
function sumWaits(rows: Rows, nameOf: (thread: number) => string): WaitSums {
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
    waiters: sorted(waiters),
    releasers: sorted(releasers),
    ...sums,
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
      <ShareList title="Resumed others" list={sums.releasers} whole={sums.ns} />
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

/* ---- Flame graphs of waits, of critical sections, and of what was done meanwhile. ---- */

/** Nodes are told apart by their names: functions of samples and threads have no number. */
function numbered(tree: LockTree): { fn: Uint32Array; names: string[]; of: number[] } {
  const places = new Map<string, number>();
  const of: number[] = [];
  const fn = Uint32Array.from(tree.names, (name, i) => {
    let place = places.get(name);
    if (place === undefined) {
      places.set(name, (place = places.size));
      of.push(tree.fn[i]!);
    }
    return place;
  });
  return { fn, names: [...places.keys()], of };
}

export function LockFlame({
  screen,
  tree,
  trouble,
  why,
}: {
  screen: Interplay;
  tree: LockTree | null;
  trouble: string;
  /** Why there is nothing, if there is. */
  why: string;
}): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<PanePainter | null>(null);
  const latest = useRef<FlamePart[]>([]);
  const [width, setWidth] = useState(300);
  const [over, setOver] = useState<ReturnType<typeof hitFlame>>(null);
  const made = useMemo(() => {
    if (!tree || tree.n === 0) return null;
    const names = numbered(tree);
    const { parent, count, sum, self } = tree;
    const calls = makeTree({ parent, count, sum, self, fn: names.fn });
    const flame = layoutFlame(calls, { width, order: 'time', nameOf: fn => names.names[fn] ?? '' });
    return { names, calls, flame };
  }, [tree, width]);
  latest.current = made ? [{ tree: made.calls, flame: made.flame, top: 0, way: 1, from: 0 }] : [];
  const draw = useRef<() => void>(() => undefined);
  const { families, names } = screen.served;
  useLayoutEffect(() => {
    const own = new PanePainter(canvas.current!, pane => {
      const fnOf = (fn: number): number => scene.current?.names.of[fn] ?? -1;
      paintFlame(pane, {
        parts: latest.current,
        scrollTop: 0,
        isHit: null,
        selected: null,
        fn: -1,
        nameOf: fn => (fn < 0 ? 'all' : (scene.current?.names.names[fn] ?? '')),
        hueOf: fn => (fnOf(fn) >= 0 ? (families.hue[fnOf(fn)] ?? GREY_HUE) : GREY_HUE),
        isWait: fn => fnOf(fn) >= 0 && names.isWait[fnOf(fn)] === 1,
        hovered: hovered.current,
      });
    });
    painter.current = own;
    draw.current = () => own.markBase();
    const measure = (): void => setWidth(Math.max(100, holder.current!.clientWidth));
    const observer = new ResizeObserver(measure);
    observer.observe(holder.current!);
    measure();
    const off = screen.app.state.subscribe((now, before) => {
      if (now.theme !== before.theme) own.retheme();
    });
    return () => {
      observer.disconnect();
      off();
      own.end();
    };
  }, []);
  const scene = useRef(made);
  const hovered = useRef(over);
  scene.current = made;
  hovered.current = over;
  const height = Math.max(LEVEL, (made?.flame.levels ?? 1) * LEVEL);
  useEffect(() => {
    painter.current?.resize(width, height);
    draw.current();
  });
  const point = (event: MouseEvent & { currentTarget: HTMLElement }): void => {
    const box = event.currentTarget.getBoundingClientRect();
    setOver(hitFlame(latest.current, event.clientX - box.left, event.clientY - box.top));
  };
  const node = over?.box.kind === 'node' ? over.box.node : -1;
  const said =
    made && node >= 0
      ? `${node === 0 ? 'all' : made.names.names[made.calls.fn[node]!]}: ${duration(made.calls.sum[node]!)}, ${percent(made.calls.sum[node]! / Math.max(1, made.calls.sum[0]!))}, ${integer(made.calls.count[node]!)} times`
      : '';
  return (
    <div class="lock-flame">
      {trouble && <p class="bad-text">{trouble}</p>}
      {!made && !trouble && <p class="remark">{tree ? why : '\u2026'}</p>}
      <div ref={holder} class="flame-holder" onMouseMove={point} onMouseLeave={() => setOver(null)}>
        <canvas ref={canvas} aria-hidden="true" hidden={!made} />
      </div>
      {made && (
        <p class="remark" aria-live="polite">
          {said ||
            `${duration(tree!.sumNs)} thread-time${tree!.unknownNs > 0 ? `, of which ${duration(tree!.unknownNs)} without a known place` : ''}; ${integer(tree!.n)} of ${integer(tree!.total)} call paths`}
        </p>
      )}
      {made && (
        <table class="sr">
          <caption>The same as a table</caption>
          <tbody>
            {tree!.names.slice(0, 60).map((name, i) => (
              <tr key={i}>
                <th scope="row">
                  {'\u2003'.repeat(tree!.depth[i]!)}
                  {name}
                </th>
                <td>{duration(tree!.sum[i]!)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
