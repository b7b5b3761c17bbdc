// SPDX-License-Identifier: MIT
// Below the picture: the threads to choose from, who waits for whom, the objects, from where to where,
// and the wait that is selected.
import type { JSX } from 'preact';
import { useState, useEffect, useRef } from 'preact/hooks';
import { duration, exact, integer, percent, plural } from '../../shared/lib/format';
import { objectName } from '../../shared/lib/names';
import type { WaitObject } from '../../shared/lib/names';
import * as act from '../../shared/state/actions';
import type { OnReady } from '../../shared/state/screens';
import { Key, hueVar, Heads, SortHead } from '../../shared/views/parts';
import { useApp, useAtom, usePart } from '../../shared/views/use';
import { decodeLockTree, FLAG, waitsIn } from './data';
import type { LockTree, Summary, ThreadWaits, Waits } from './data';
import { LockCard, LockFlame, useAsked } from './lock';
import { interplayOf } from './state';
import type { Interplay, Tab } from './state';

const SHOWN = 200;
/** What the server calls a function that nothing tells. */
const NO_FUNCTION = '(unknown)';
/** What a thread can have for a while. */
const HELD = new Set(['mutex', 'rwlock', 'spinlock', 'futex']);

export const TAB_NAMES: [Tab, string][] = [
  ['threads', 'Threads'],
  ['matrix', 'Blocked by'],
  ['objects', 'Locks and other objects'],
  ['sites', 'From where to where'],
  ['selection', 'Selected wait'],
];

function ThreadDot({ screen, thread }: { screen: Interplay; thread: number }): JSX.Element {
  const { focus, contexts } = screen.state.get();
  const isShown = thread === focus || contexts.includes(thread);
  const style = { background: isShown ? hueVar(screen.hue(thread)) : 'transparent' };
  return <i class={isShown ? 'dot' : 'dot none'} style={style} aria-hidden="true" />;
}

function Ns({ ns }: { ns: number }): JSX.Element {
  return <span data-ns={Math.round(ns)}>{ns > 0 ? duration(ns) : '0'}</span>;
}

/* ---- threads ---- */

type ThreadSort = 'name' | 'waitNs' | 'share' | 'waits' | 'longestNs' | 'ioNs' | 'releasedNs';

const THREAD_HEADS: [ThreadSort, string, string][] = [
  ['waitNs', 'waited', 'Time of its waits'],
  ['share', '% of lifetime', 'Share of its lifetime that it waited'],
  ['waits', 'waits', ''],
  ['longestNs', 'longest', 'Its longest wait; a click selects it'],
  ['ioNs', 'input, output', 'Time in blocking input and output'],
  ['releasedNs', 'others waited for it', 'Time of waits of others that it ended'],
];

const life = (row: ThreadWaits): number => Math.max(1, row.last - row.first);
const shareOf = (row: ThreadWaits): number => row.waitNs / life(row);

function depthWords(row: ThreadWaits): string {
  if (row.releases === 0) return '';
  return row.leastDepth === row.mostDepth
    ? `depth ${row.leastDepth}`
    : `depths ${row.leastDepth} to ${row.mostDepth}`;
}

function ThreadRow({ screen, row }: { screen: Interplay; row: ThreadWaits }): JSX.Element {
  const { focus, contexts } = screen.state.get();
  const { thread } = row;
  const isFocus = thread === focus;
  const isShown = isFocus || contexts.includes(thread);
  return (
    <tr class={isFocus ? 'now' : ''} data-thread={thread}>
      <th scope="row">
        <label class="pick">
          <input
            type="checkbox"
            checked={isShown}
            disabled={isFocus}
            aria-label={`${screen.title(thread)} in the picture`}
            onChange={() => screen.toggle(thread)}
          />
        </label>
        <ThreadDot screen={screen} thread={thread} />{' '}
        <button
          class="link row-link"
          title="Makes it the main view"
          onClick={() => screen.show(thread)}
        >
          {screen.title(thread)}
        </button>
      </th>
      <td class="num">
        <Ns ns={row.waitNs} />
      </td>
      <td class="num">{row.neverWaits ? 'never waits' : percent(shareOf(row))}</td>
      <td class="num">{integer(row.waits)}</td>
      <td class="num">
        {row.longestNs > 0 ? (
          <button
            class="link"
            title="Select it"
            onClick={() => screen.selectWaitAt(thread, row.longestAt)}
          >
            <Ns ns={row.longestNs} />
          </button>
        ) : (
          ''
        )}
      </td>
      <td class="num">
        <Ns ns={row.ioNs} />
      </td>
      <td class="num">
        <Ns ns={row.releasedNs} />
      </td>
      <td>
        {row.mainReleaser >= 0 ? screen.label(row.mainReleaser) : row.waits > 0 ? 'not known' : ''}
      </td>
      <td class="dim">{depthWords(row)}</td>
    </tr>
  );
}

function Threads({ screen, summary }: { screen: Interplay; summary: Summary }): JSX.Element {
  const [sort, setSort] = useState<ThreadSort>('waitNs');
  useAtom(screen.state, s => s.focus);
  useAtom(screen.state, s => s.contexts);
  const valueOf = (row: ThreadWaits): number =>
    sort === 'share' ? shareOf(row) : sort === 'name' ? 0 : row[sort];
  const rows = [...summary.threads].sort((a, b) => valueOf(b) - valueOf(a) || a.thread - b.thread);
  return (
    <div class="scroll">
      <table class="interplay-threads">
        <thead>
          <tr>
            <th scope="col" aria-sort={sort === 'name' ? 'ascending' : undefined}>
              <button class="link" onClick={() => setSort('name')}>
                thread
              </button>
            </th>
            {THREAD_HEADS.map(([key, name, title]) => (
              <SortHead
                key={key}
                name={name}
                now={sort === key}
                title={title}
                sort={() => setSort(key)}
              />
            ))}
            <th scope="col">mostly for</th>
            <th
              scope="col"
              title="Stack depth of its releases: one depth is a loop, many are independent tasks"
            >
              releases at
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map(row => (
            <ThreadRow key={row.thread} screen={screen} row={row} />
          ))}
        </tbody>
      </table>
      <p class="rows-said">
        {Math.min(SHOWN, rows.length)} of {plural(rows.length, 'thread')} shown; at most 9 in the
        picture at once.
      </p>
    </div>
  );
}

/* ---- matrix ---- */

const MATRIX = 24;

function Matrix({ screen, summary }: { screen: Interplay; summary: Summary }): JSX.Element {
  const byNs = new Map<number, number>();
  for (const { waiter, releaser, ns } of summary.cells)
    for (const one of [waiter, releaser]) if (one >= 0) byNs.set(one, (byNs.get(one) ?? 0) + ns);
  const order = [...byNs].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([thread]) => thread);
  const shown = order.slice(0, MATRIX).sort((a, b) => a - b);
  const columns = [...shown, ...(summary.cells.some(({ releaser }) => releaser < 0) ? [-1] : [])];
  const cells = new Map(summary.cells.map(cell => [`${cell.waiter} ${cell.releaser}`, cell]));
  const most = Math.max(1, ...summary.cells.map(({ ns }) => ns));
  if (shown.length === 0) return <p class="empty-panel">No thread waited for another one here.</p>;
  return (
    <div class="scroll">
      <table class="matrix">
        <caption class="remark">
          Time that the thread of the row waited for the thread of the column
        </caption>
        <thead>
          <tr>
            <th scope="col">waits</th>
            {columns.map(to => (
              <th
                scope="col"
                class="num"
                key={to}
                title={to < 0 ? 'The thread that ended it is unknown' : screen.title(to)}
              >
                {to < 0 ? 'not known' : screen.label(to)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(from => (
            <tr key={from}>
              <th scope="row" title={screen.title(from)}>
                <ThreadDot screen={screen} thread={from} /> {screen.title(from)}
              </th>
              {columns.map(to => {
                const cell = cells.get(`${from} ${to}`);
                if (!cell) return <td key={to} class={from === to ? 'own' : ''} />;
                const share = Math.max(0.06, cell.ns / most);
                return (
                  <td key={to} class="num" style={{ '--share': String(share) }}>
                    <button
                      class="link"
                      title={`${plural(cell.count, 'wait')}, the longest ${duration(cell.longestNs)}; a click selects it`}
                      onClick={() => screen.selectWaitAt(from, cell.longestAt)}
                    >
                      {duration(cell.ns)}
                    </button>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {order.length > MATRIX && (
        <p class="rows-said">
          {MATRIX} of {order.length} threads shown, most time first.
        </p>
      )}
    </div>
  );
}

/* ---- objects ---- */

type TreeKind = 'who' | 'waits' | 'sections' | 'meanwhile';
const TREES: [TreeKind, string][] = [
  ['who', 'Threads, times'],
  ['waits', 'Waits: from where'],
  ['sections', 'Critical sections'],
  ['meanwhile', 'Holders while others waited'],
];

function ObjectRow({
  screen,
  object,
  isNow,
  whole,
  choose,
}: {
  screen: Interplay;
  object: WaitObject;
  isNow: boolean;
  whole: number;
  choose: () => void;
}): JSX.Element {
  const marks = [
    object.isNeverReleased && 'never released',
    object.isReused && 'address used again',
  ].filter(Boolean);
  return (
    <tr class={isNow ? 'now' : ''}>
      <th scope="row">
        <i
          class="dot"
          aria-hidden="true"
          style={{
            background: object.waiters > 1 ? hueVar(screen.objectHue(object.id)) : hueVar(10),
          }}
        />{' '}
        <button class="link row-link" onClick={choose}>
          {objectName(object)}
        </button>{' '}
        {marks.length > 0 && <small class="warn-text">{marks.join(', ')}</small>}
      </th>
      <td>{object.kind}</td>
      <td class="num">
        <Ns ns={object.ns} />
      </td>
      <td class="num">{percent(object.ns / Math.max(1, whole))}</td>
      <td class="num">{integer(object.waits)}</td>
      <td class="num">{integer(object.free)}</td>
      <td class="num">{integer(object.waiters)}</td>
      <td class="num">{integer(object.releasers)}</td>
    </tr>
  );
}

const NO_STACKS =
  'Nothing of it is known here: it takes calls or stack samples (weft record --functions).';

/** Why an object has no tree. */
function whyEmpty(kind: TreeKind, object: WaitObject | null): string {
  const isNoLock = kind === 'sections' && object !== null && !HELD.has(object.kind);
  return isNoLock ? `A ${object.kind} is not held: it has no critical sections.` : NO_STACKS;
}

function Objects({ screen, summary }: { screen: Interplay; summary: Summary }): JSX.Element {
  const object = useAtom(screen.state, s => s.object);
  const [kind, setKind] = useState<TreeKind>('who');
  const now = summary.objects.find(({ id }) => id === object) ?? null;
  const { t0, t1 } = summary.span;
  const params = { from: t0, to: t1, kind, object: now?.id, limit: 4000 };
  const key = kind === 'who' ? '' : JSON.stringify(params);
  const { value: tree, trouble } = useAsked<LockTree>(screen.served.source, key, async () =>
    decodeLockTree(await screen.served.source.columns('locktree', params, 'locktree')),
  );
  return (
    <div class="split-panel">
      <div class="scroll">
        <table class="objects">
          <thead>
            <tr>
              <th scope="col">object</th>
              <th scope="col">kind</th>
              <th scope="col" class="num">
                waited {'\u25be'}
              </th>
              <th scope="col" class="num">
                of all
              </th>
              <th scope="col" class="num">
                waits
              </th>
              <th scope="col" class="num" title="Uncontended acquisitions">
                uncontended
              </th>
              <th scope="col" class="num">
                waiters
              </th>
              <th scope="col" class="num">
                releasers
              </th>
            </tr>
          </thead>
          <tbody>
            {summary.objects.slice(0, SHOWN).map(one => (
              <ObjectRow
                key={one.id}
                screen={screen}
                object={one}
                isNow={one.id === object}
                whole={summary.waitNs}
                choose={() => screen.set({ object: one.id === object ? '' : one.id })}
              />
            ))}
          </tbody>
        </table>
        <p class="rows-said">
          {Math.min(SHOWN, summary.objects.length)} of {plural(summary.objects.length, 'object')}{' '}
          shown, most waiting first.
        </p>
      </div>
      <div class="tree-side">
        <div class="panel-tabs" role="tablist" aria-label="Flame graphs of the object">
          {TREES.map(([one, name]) => (
            <button key={one} role="tab" aria-selected={kind === one} onClick={() => setKind(one)}>
              {name}
            </button>
          ))}
          <span class="remark">{now ? objectName(now) : 'all objects'}</span>
        </div>
        {kind === 'who' ? (
          <LockCard screen={screen} object={object} span={summary.span} />
        ) : (
          <LockFlame screen={screen} tree={tree} trouble={trouble} why={whyEmpty(kind, now)} />
        )}
      </div>
    </div>
  );
}

/* ---- from where to where ---- */

function Sites({ screen, summary }: { screen: Interplay; summary: Summary }): JSX.Element {
  if (summary.pairs.length === 0) return <p class="empty-panel">Nothing waited here.</p>;
  return (
    <div class="scroll">
      <table class="sites">
        <Heads
          of={[
            'waits in',
            'for',
            'released from',
            `#waited \u25be`,
            '#of all',
            '#waits',
            '#longest',
          ]}
        />
        <tbody>
          {summary.pairs.slice(0, SHOWN).map((pair, i) => {
            const site = summary.sites[pair.site];
            const release = summary.sites[pair.releaseSite];
            return (
              <tr key={i}>
                <th scope="row" title={site?.path}>
                  {site?.name}
                </th>
                <td>{site?.call}</td>
                <td title={release?.path}>{release ? release.name : 'not known'}</td>
                <td class="num">
                  <Ns ns={pair.ns} />
                </td>
                <td class="num">{percent(pair.ns / Math.max(1, summary.waitNs))}</td>
                <td class="num">{integer(pair.count)}</td>
                <td class="num">
                  <button
                    class="link"
                    title={`On ${screen.label(pair.longestWaiter)}; a click selects it`}
                    onClick={() => screen.selectWaitAt(pair.longestWaiter, pair.longestAt)}
                  >
                    <Ns ns={pair.longestNs} />
                  </button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="rows-said">
        {Math.min(SHOWN, summary.pairs.length)} of {plural(summary.pairs.length, 'pair')} of
        functions shown, most time first.
      </p>
    </div>
  );
}

/* ---- the selected wait ---- */

function flagWords(flags: number): string[] {
  return [
    (flags & FLAG.CUT_START) !== 0 && 'its begin was not seen',
    (flags & FLAG.CUT_END) !== 0 && 'it had not ended when the trace did',
    (flags & FLAG.FAILED) !== 0 && 'it ended without what it waited for (time out, or an error)',
    (flags & FLAG.TIMED) !== 0 && 'with a timeout',
    (flags & FLAG.LOSSY) !== 0 && 'events of that time were lost',
    (flags & FLAG.SHARED) !== 0 && 'to read',
    (flags & FLAG.REACQUIRED) !== 0 && 'to have the lock again after a condition',
  ].filter((word): word is string => typeof word === 'string');
}

/** "pthread_mutex_lock in step": where a thread waits. */
function siteWords(waits: Waits, place: number): string {
  const site = waits.sites[place];
  if (!site) return 'place not known';
  return site.call && site.call !== site.name ? `${site.call} in ${site.name}` : site.name;
}

/** " in put_task": where it was released; '' if nothing tells. */
function releasedIn(waits: Waits, i: number): string {
  const name = waits.sites[waits.releaseSite[i]!]?.name ?? NO_FUNCTION;
  return name === NO_FUNCTION ? '' : ` in ${name}`;
}

export function waitWords(screen: Interplay, waits: Waits, i: number): string {
  const to = waits.releaser[i]!;
  const what = objectName(waits.objects[waits.object[i]!]);
  const who =
    to >= 0
      ? `ended by ${screen.title(to)}${releasedIn(waits, i)} (${waits.confidences[waits.confidence[i]!] ?? ''})`
      : (waits.reasons[waits.unknown[i]!] ?? 'ended by an unknown thread');
  return `${what}, ${who}`;
}

function Selection({ screen }: { screen: Interplay }): JSX.Element {
  const selected = useAtom(screen.state, s => s.selected);
  useAtom(screen.state, s => s.loaded);
  const waits = selected ? screen.waitsOf(selected.thread) : undefined;
  const i = selected?.item ?? -1;
  const hasWait = waits !== undefined && i >= 0 && i < waits.n;
  const [start, end] = hasWait ? [waits.start[i]!, waits.end[i]!] : [0, 0];
  const params = {
    kind: 'meanwhile',
    threads: selected ? [selected.thread] : [],
    limit: 2000,
    from: Math.floor(start),
    to: Math.max(Math.floor(start) + 1, Math.ceil(end)),
  };
  const { value: tree, trouble } = useAsked<LockTree>(
    screen.served.source,
    hasWait ? JSON.stringify(params) : '',
    async () => decodeLockTree(await screen.served.source.columns('locktree', params, 'meanwhile')),
  );
  if (!selected)
    return (
      <p class="empty-panel">
        Nothing is selected. Click a call, a wait or a curve; <Key>.</Key> and <Key>,</Key> go from
        wait to wait.
      </p>
    );
  if (!hasWait)
    return (
      <p class="empty-panel">
        <b>{screen.hitName(selected)}</b>: {screen.sentence(selected)} It is no wait itself.
      </p>
    );
  const to = waits.releaser[i]!;
  const path = screen.app.screens.find(({ explain }) => explain);
  const range = { t0: Math.floor(start), t1: Math.ceil(end) };
  return (
    <div class="split-panel">
      <div class="facts">
        <p class="item-title">
          <b>{siteWords(waits, waits.site[i]!)}</b>{' '}
          <span data-ns={Math.round(end - start)}>{duration(end - start)}</span>
        </p>
        <p>
          {screen.title(selected.thread)} waited for {waitWords(screen, waits, i)}.
        </p>
        <p class="remark">
          From {exact(start)} to {exact(end)}
          {to >= 0 && `, released at ${exact(waits.last[i]!)}`}
          {waits.count[i]! > 1 &&
            `; ${plural(waits.count[i]!, 'wait')} that lie too close together to be drawn apart here`}
        </p>
        {flagWords(waits.flags[i]!).length > 0 && (
          <p class="warn-text">{flagWords(waits.flags[i]!).join('; ')}.</p>
        )}
        <p class="tools">
          <button disabled={to < 0} onClick={() => screen.toCause()}>
            To its release <Key>[</Key>
          </button>
          <button onClick={() => act.setRange(screen.app, range, false)}>
            Its time as range <Key>R</Key>
          </button>
          {path && (
            <button
              title="What this wait hung on, through all threads"
              onClick={() => screen.explain()}
            >
              Its critical path <Key>x</Key>
            </button>
          )}
        </p>
      </div>
      <div class="tree-side">
        <p class="section">
          What {to >= 0 ? screen.label(to) : 'others'} did meanwhile{' '}
          <small>calls within the wait</small>
        </p>
        <LockFlame screen={screen} tree={tree} trouble={trouble} why={NO_STACKS} />
      </div>
    </div>
  );
}

/* ---- the panel ---- */

export function InterplayPanel(): JSX.Element {
  const screen = interplayOf(useApp());
  const tab = useAtom(screen.state, s => s.tab);
  const summary = useAtom(screen.state, s => s.summary);
  return (
    <section class="panel interplay-panel" aria-label="Waits in numbers">
      <div class="panel-tabs" role="tablist" aria-label="Waits in numbers">
        {TAB_NAMES.map(([key, name]) => (
          <button
            key={key}
            role="tab"
            aria-selected={tab === key}
            onClick={() => screen.set({ tab: key })}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="tab-body" role="tabpanel" aria-label={TAB_NAMES.find(([key]) => key === tab)![1]}>
        {tab === 'selection' ? (
          <Selection screen={screen} />
        ) : !summary ? null : tab === 'threads' ? (
          <Threads screen={screen} summary={summary} />
        ) : tab === 'matrix' ? (
          <Matrix screen={screen} summary={summary} />
        ) : tab === 'objects' ? (
          <Objects screen={screen} summary={summary} />
        ) : (
          <Sites screen={screen} summary={summary} />
        )}
      </div>
    </section>
  );
}

/* ---- The waits of the picture as a table: the same threads, the same time, in order. ---- */

const ROW_PX = 22;
const AHEAD = 20;

interface WaitRow {
  thread: number;
  item: number;
  start: number;
  waits: Waits;
}

function rowsOf(screen: Interplay): WaitRow[] {
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
          <Heads of={['#began', 'thread', '#waited', 'in', 'for', 'ended by', 'in', '#waits']} />
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
