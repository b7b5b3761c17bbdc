// SPDX-License-Identifier: MIT
// The waits of the picture as a table: the same threads, the same time, in order.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { duration, exact, integer, plural } from '../../shared/lib/format';
import type { OnReady } from '../../shared/state/screens';
import { useAtom, usePart } from '../../shared/views/use';
import { waitsIn } from './lib_interplay';
import type { Waits } from './lib_interplay';
import type { Interplay } from './state_interplay';
import { ThreadDot } from './views_panel';
import { objectName } from '../../shared/lib/waits';

const ROW_PX = 22;
const AHEAD = 20;

interface WaitRow {
  thread: number;
  item: number;
  start: number;
  waits: Waits;
}

export function rowsOf(screen: Interplay): WaitRow[] {
  const { focus, contexts } = screen.state.get();
  const rows: WaitRow[] = [];
  for (const thread of [focus, ...contexts]) {
    const waits = screen.waitsOf(thread);
    if (!waits) continue;
    const { t0, t1 } = screen.view(thread);
    const { first, behind } = waitsIn(waits, t0, t1);
    for (let item = first; item < behind; item++)
      if (waits.end[item]! >= t0) rows.push({ thread, item, start: waits.start[item]!, waits });
  }
  return rows.sort((a, b) => a.start - b.start || a.thread - b.thread);
}

function Row({ screen, row }: { screen: Interplay; row: WaitRow }): JSX.Element {
  const { thread, item, waits } = row;
  const { selected } = screen.state.get();
  const isNow = selected?.thread === thread && selected.item === item;
  const to = waits.releaser[item]!;
  const site = waits.sites[waits.site[item]!];
  const release = waits.sites[waits.releaseSite[item]!];
  return (
    <tr class={isNow ? 'now' : ''}>
      <td class="num">{exact(waits.start[item]!)}</td>
      <th scope="row">
        <ThreadDot screen={screen} thread={thread} />{' '}
        <button class="link row-link" onClick={() => screen.selectWait(thread, item)}>
          {screen.title(thread)}
        </button>
      </th>
      <td class="num" data-ns={Math.round(waits.sum[item]!)}>
        {duration(waits.sum[item]!)}
      </td>
      <td title={site?.path}>
        {site
          ? site.call && site.call !== site.name
            ? `${site.call} in ${site.name}`
            : site.name
          : ''}
      </td>
      <td>{objectName(waits.objects[waits.object[item]!])}</td>
      <td>
        {to >= 0 ? (
          <>
            <ThreadDot screen={screen} thread={to} /> {screen.title(to)}
          </>
        ) : (
          <span class="dim">{waits.reasons[waits.unknown[item]!] ?? 'not known'}</span>
        )}
      </td>
      <td title={release?.path}>{to >= 0 ? (release?.name ?? '') : ''}</td>
      <td class="num">{waits.count[item]! > 1 ? `\u00d7${integer(waits.count[item]!)}` : ''}</td>
    </tr>
  );
}

/** Rows in view alone are in the document. */
export function InterplayTable({
  screen,
  onReady,
}: {
  screen: Interplay;
  onReady: OnReady;
}): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  for (const key of ['loaded', 'focus', 'contexts', 'views', 'selected', 'summary'] as const)
    useAtom(screen.state, s => s[key]);
  const window = usePart(s => s.window);
  const { focus, contexts } = screen.state.get();
  useEffect(() => {
    onReady({
      idle: () => screen.loader.idle(),
      markBase: () => undefined,
      retheme: () => undefined,
    });
    return () => screen.loader.stop();
  }, []);
  useEffect(() => {
    if (focus < 0) return;
    const all = [focus, ...contexts];
    screen.loader.want(all.map(thread => ({ thread, view: screen.view(thread), columns: 1000 })));
  }, [focus, contexts, window]);
  const rows = rowsOf(screen);
  const first = Math.max(0, Math.floor(top / ROW_PX) - AHEAD);
  const shown = rows.slice(first, first + 60 + 2 * AHEAD);
  return (
    <section class="plate-chart" aria-label="Waits of the threads in the picture">
      <div
        ref={scroller}
        class="scroll waits-scroll"
        tabIndex={0}
        onScroll={() => setTop(scroller.current!.scrollTop)}
      >
        <table class="waits" aria-rowcount={rows.length}>
          <thead>
            <tr>
              <th scope="col" class="num">
                began
              </th>
              <th scope="col">thread</th>
              <th scope="col" class="num">
                waited
              </th>
              <th scope="col">in</th>
              <th scope="col">for</th>
              <th scope="col">ended by</th>
              <th scope="col">in</th>
              <th scope="col" class="num">
                waits
              </th>
            </tr>
          </thead>
          <tbody>
            <tr class="gap" aria-hidden="true" style={{ height: `${first * ROW_PX}px` }} />
            {shown.map(row => (
              <Row key={`${row.thread} ${row.item}`} screen={screen} row={row} />
            ))}
            <tr
              class="gap"
              aria-hidden="true"
              style={{ height: `${Math.max(0, rows.length - first - shown.length) * ROW_PX}px` }}
            />
          </tbody>
        </table>
      </div>
      <p class="rows-said">
        {plural(rows.length, 'wait')} of {plural(contexts.length + 1, 'thread')} in view, in order
        of time
      </p>
    </section>
  );
}
