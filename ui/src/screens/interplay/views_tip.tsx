// SPDX-License-Identifier: MIT
// What is under the pointer: a call, an aggregate of calls, or a wait. What is known at once is shown
// at once; what the server must be asked follows.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { num, objects, text } from '../../shared/api/json';
import { unlessSuperseded } from '../../shared/api/source';
import { duration, exact, integer, percent, plural } from '../../shared/lib/format';
import { useApp, useAtom } from '../../shared/views/use';
import { decodeBlocking } from './api_interplay';
import { interplayOf } from './state_interplay';
import type { Interplay, PlateHit } from './state_interplay';
import { SITE_FN } from './state_load';
import { waitWords } from './views_panel';

const ASK_MS = 40;

/** What the server says of the call under the pointer. */
interface Told {
  name: string;
  start: number;
  end: number;
  /** Exact: ns of it that its thread waited, and did input and output. */
  wait: number;
  io: number;
  children: { name: string; count: number; ns: number }[];
}

async function askCall(screen: Interplay, hit: PlateHit): Promise<Told | null> {
  const { source, names } = screen.served;
  const at = { thread: hit.thread, at: Math.round(hit.t), depth: hit.depth };
  const item = await source.json('item', at, 'plate tip');
  if (item['found'] === false) return null;
  const [start, end] = [num(item, 'start_ns'), num(item, 'end_ns')];
  const part = { threads: [hit.thread], from: start, to: Math.max(start + 1, end), width: 1 };
  const shares = decodeBlocking(await source.columns('blocking', part, 'plate tip'));
  const { wait, io } = shares.get(hit.thread)?.in(start, Math.max(start + 1, end)) ?? {
    wait: 0,
    io: 0,
  };
  const nameOf = (fn: number): string => names.name[fn] ?? '';
  return {
    ...{ name: nameOf(num(item, 'function')), start, end, wait, io },
    children: objects(item, 'children').map(child => ({
      name: text(child, 'name') || nameOf(num(child, 'function')),
      ...{ count: num(child, 'count'), ns: num(child, 'sum_ns') },
    })),
  };
}

function useTold(screen: Interplay, hit: PlateHit | null): Told | null {
  const [told, setTold] = useState<{ key: string; told: Told | null }>({ key: '', told: null });
  const isCall = hit !== null && hit.fn < SITE_FN;
  const key = isCall
    ? `${hit.thread} ${hit.depth} ${hit.start} ${hit.count > 1 ? Math.round(hit.t) : ''}`
    : '';
  useEffect(() => {
    if (!isCall) return undefined;
    const ask = async (): Promise<void> => setTold({ key, told: await askCall(screen, hit) });
    const timer = window.setTimeout(
      () => void unlessSuperseded(ask()).catch(() => undefined),
      ASK_MS,
    );
    return () => {
      window.clearTimeout(timer);
      screen.served.source.cancel('plate tip');
    };
  }, [key]);
  return told.key === key ? told.told : null;
}

function Row({
  name,
  value,
  share = '',
}: {
  name: string;
  value: string;
  share?: string;
}): JSX.Element {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="num">{value}</td>
      <td class="num dim">{share}</td>
    </tr>
  );
}

/** Its own numbers beside those of all calls of its function: an outlier shows. */
function Shares({
  screen,
  hit,
  told,
}: {
  screen: Interplay;
  hit: PlateHit;
  told: Told | null;
}): JSX.Element {
  const own =
    told && hit.count === 1 ? told : { wait: hit.wait, io: hit.io, start: hit.start, end: hit.end };
  const length = Math.max(1, own.end - own.start);
  const mean = hit.fn < SITE_FN ? screen.meanOf(hit.fn) : null;
  const life = screen.served.threads[hit.thread];
  const ofLife = life ? own.wait / Math.max(1, life.last - life.first) : 0;
  return (
    <>
      <Row name="waiting" value={duration(own.wait)} share={percent(own.wait / length)} />
      <Row name="input, output" value={duration(own.io)} share={percent(own.io / length)} />
      {own.wait > 0 && (
        <Row name={`of the life of ${screen.label(hit.thread)}`} value={percent(ofLife)} />
      )}
      {mean && hit.count === 1 && (
        <Row
          name={`mean of all ${integer(mean.count)}`}
          value={duration(mean.ns)}
          share={mean.ns > 0 ? `\u00d7${(length / mean.ns).toPrecision(2)}` : ''}
        />
      )}
    </>
  );
}

function Below({ told }: { told: Told }): JSX.Element | null {
  if (told.children.length === 0) return null;
  const shown = told.children.slice(0, 4);
  const rest = told.children.length - shown.length;
  return (
    <>
      {shown.map(({ name, count, ns }, i) => (
        <Row
          key={i}
          name={`calls ${name}`}
          value={duration(ns)}
          share={`\u00d7${integer(count)}`}
        />
      ))}
      {rest > 0 && <Row name={`and ${rest} other functions`} value="" />}
    </>
  );
}

export function InterplayTip(): JSX.Element | null {
  const screen = interplayOf(useApp());
  const hover = useAtom(screen.state, s => s.hover);
  const pointer = useAtom(screen.state, s => s.pointer);
  const told = useTold(screen, hover);
  const isHovering = hover !== null;
  useEffect(() => {
    if (isHovering) screen.learnMeans();
  }, [isHovering]);
  if (!hover || !pointer) return null;
  const waits = screen.waitsOf(hover.thread);
  const isUp = pointer.y + 230 > innerHeight;
  const isLeft = pointer.x + 12 + 350 > innerWidth;
  const style = {
    left: isLeft ? 'auto' : `${pointer.x + 12}px`,
    right: isLeft ? `${innerWidth - pointer.x + 12}px` : 'auto',
    top: isUp ? 'auto' : `${pointer.y + 14}px`,
    bottom: isUp ? `${innerHeight - pointer.y + 14}px` : 'auto',
  };
  const isMany = hover.count > 1;
  const name = isMany
    ? plural(hover.count, hover.fn < SITE_FN ? 'short call' : 'short wait')
    : screen.hitName(hover);
  return (
    <div class="tip plate-tip" role="tooltip" style={style}>
      <div class="line">
        <b class="grow">{name}</b>
        <b>{duration(hover.end - hover.start)}</b>
      </div>
      <p class="remark">
        {screen.title(hover.thread)} · starts {exact(hover.start)} · depth {hover.depth}
      </p>
      {isMany && (
        <p class="remark">
          {told
            ? `here: ${told.name}, ${duration(told.end - told.start)}`
            : `longest: ${screen.hitName(hover)}`}
        </p>
      )}
      {waits && hover.item >= 0 && (
        <p class="wait-words">Waits for {waitWords(screen, waits, hover.item)}</p>
      )}
      <table>
        <tbody>
          <Shares screen={screen} hit={hover} told={told} />
          {told && <Below told={told} />}
        </tbody>
      </table>
      <p class="keys">click selects, double click zooms, wheel folds, Ctrl+wheel zooms</p>
    </div>
  );
}
