// SPDX-License-Identifier: MIT
// Screen 5: what a thread's time depended on, as strips, sums, and calling contexts.
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Panes } from '../../shared/draw/canvas';
import { Own } from '../../shared/lib/atom';
import { exact, duration, span, quoted, percent } from '../../shared/lib/format';
import { readSpan, writeSpan } from '../../shared/lib/fragment';
import {
  pathRemarks,
  pathSentence,
  segmentSentence,
  readPicks,
  samePick,
  writePicks,
  causesOf,
  placeSums,
} from '../../shared/lib/path';
import type { Cause, Path } from '../../shared/lib/path';
import { committedSpan, viewSpan } from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import {
  pathsOf,
  showInTimeline,
  showPaths,
  threadsToPick,
  timelineOf,
} from '../../shared/state/paths';
import type { Paths } from '../../shared/state/paths';
import type { OnReady, ScreenSpec } from '../../shared/state/screens';
import { copyExact, Command, LongName, LookSwatch } from '../../shared/views/parts';
import { useApp, useAtom, usePart } from '../../shared/views/use';
import { PathFlame, PathStrip, select, PathContext, usePaths, usePathState } from './picture';
import type { PathScope } from './picture';
import './path.css';

function Headline(): JSX.Element {
  const paths = usePaths();
  const one = usePathState(s => s.asked[s.now]);
  if (!one) return <h2 class="path-headline">On what did the time depend?</h2>;
  const { path } = one;
  return (
    <>
      <h2 class="path-headline">
        {path ? pathSentence(path, paths.title(one), paths.nameOf) : paths.title(one)}
      </h2>
      <p class="remark">
        {path
          ? `From ${exact(path.from)} to ${exact(path.to)}; ${pathRemarks(path)}`
          : one.error || 'asking\u2026'}
      </p>
    </>
  );
}

function openSelected(paths: Paths): void {
  const one = paths.current();
  if (!one) return;
  const segment = one.path?.segments[paths.state.get().segment];
  paths.pin(one.pick);
  if (segment)
    showInTimeline(paths.app, segment.thread, {
      t0: segment.start,
      t1: Math.max(segment.start + 1, segment.end),
    });
  else showInTimeline(paths.app, one.pick.thread, one.pick.span);
}

function Selected(): JSX.Element | null {
  const paths = usePaths();
  const segment = usePathState(s => s.segment);
  const one = usePathState(s => s.asked[s.now]);
  const own = one?.path?.segments[segment];
  if (!one) return null;
  return (
    <p class="path-selected">
      <span class="grow">
        {own
          ? `${segmentSentence(own, one.path!, paths.nameOf)} Starts at ${exact(own.start)}.`
          : 'Click a segment for what it was; drag to zoom; Home shows all.'}
      </span>
      <button class="link" onClick={() => openSelected(paths)}>
        {`show ${own ? 'it' : 'the path'} in the ${timelineOf(paths.app).name}`}
      </button>
    </p>
  );
}

function PathView({ scope, onReady }: { scope: PathScope; onReady: OnReady }): JSX.Element {
  const n = scope.paths.state.get().asked.length;
  useEffect(() => {
    scope.paths.begin();
    onReady(scope.panes);
  }, []);
  return (
    <PathContext.Provider value={scope}>
      <main class="path-main" data-paths={n} onCopy={copyExact}>
        <section class="path-head" aria-label="Critical path">
          <Headline />
          <PathPicks />
        </section>
        <Body scope={scope} />
      </main>
    </PathContext.Provider>
  );
}

function Body({ scope: { paths } }: { scope: PathScope }): JSX.Element {
  const isEmpty = usePathState(s => s.asked.length === 0);
  if (isEmpty) return <NoPath />;
  return (
    <>
      <PathStrip onOpen={() => openSelected(paths)} />
      <Selected />
      <PathFlame />
      <PathTables />
    </>
  );
}

function Settings(): JSX.Element {
  const path = useAtom(pathsOf(useApp()).state, s => s.asked[s.now]?.path);
  return (
    <span>
      Aligned on <b>start</b>
      {path && ` · ${path.hasKernel ? 'states measured' : 'states inferred'}`}
    </span>
  );
}

/** The next segment, or (`isFar`) the next on another thread. */
function step(paths: Paths, by: 1 | -1, isFar: boolean): void {
  const { segment, now } = paths.state.get();
  const path = paths.current()?.path;
  if (!path || path.segments.length === 0) return;
  const last = path.segments.length - 1;
  let next = segment < 0 ? (by > 0 ? 0 : last) : Math.max(0, Math.min(last, segment + by));
  if (isFar && segment >= 0)
    while (
      next > 0 &&
      next < last &&
      path.segments[next]!.thread === path.segments[segment]!.thread
    )
      next += by;
  select(paths, now, next);
  const { start, end } = path.segments[next]!;
  const { t0, t1 } = paths.view();
  const [from, to] = [start - path.from, end - path.from];
  if (to < t0 || from > t1) paths.show((from + to) / 2 - (t1 - t0) / 2, t1 - t0);
}

/** The longest segment, then the next shorter one. */
function stepLongest(paths: Paths, by: 1 | -1): void {
  const { segment, now } = paths.state.get();
  const segments = paths.current()?.path?.segments ?? [];
  const order = segments
    .map(({ start, end }, i) => ({ i, length: end - start }))
    .sort((a, b) => b.length - a.length || a.i - b.i);
  const at = order.findIndex(({ i }) => i === segment);
  const next = order[at < 0 ? 0 : Math.max(0, Math.min(order.length - 1, at + by))];
  if (next) select(paths, now, next.i);
}

function zoomToSegment(paths: Paths): void {
  const path = paths.current()?.path;
  const segment = path?.segments[paths.state.get().segment];
  if (!path || !segment) return;
  const length = segment.end - segment.start;
  paths.show(segment.start - path.from - length * 0.5, Math.max(100, length * 2));
}

function keyOn(app: App, event: KeyboardEvent): boolean {
  const paths = pathsOf(app);
  if (event.altKey || paths.state.get().asked.length === 0) return false;
  const isControl =
    event.target instanceof HTMLElement && event.target.closest('button, a, summary, select');
  if (isControl && /^(Enter| |Arrow.*)$/.test(event.key)) return false;
  const { now } = paths.state.get();
  const steps: Record<string, () => void> = {
    ArrowRight: () => step(paths, 1, false),
    ArrowLeft: () => step(paths, -1, false),
    ArrowDown: () => paths.choose(now + 1),
    ArrowUp: () => paths.choose(now - 1),
    '.': () => stepLongest(paths, 1),
    ',': () => stepLongest(paths, -1),
    ']': () => step(paths, 1, true),
    '[': () => step(paths, -1, true),
    '}': () => paths.choose(now + 1),
    '{': () => paths.choose(now - 1),
    w: () => paths.zoom(0.8),
    s: () => paths.zoom(1.25),
    a: () => paths.pan(-0.1),
    d: () => paths.pan(0.1),
    f: () => zoomToSegment(paths),
    z: () => zoomToSegment(paths),
    Home: () => paths.set({ view: null }),
    Backspace: () => paths.set({ view: null }),
    Delete: () => paths.drop(now),
    Enter: () => openSelected(paths),
    x: () => undefined,
  };
  const run = steps[event.key] ?? steps[event.key.toLowerCase()];
  run?.();
  return run !== undefined;
}

function clearTop(app: App): boolean {
  const paths = pathsOf(app);
  const { segment, node, view } = paths.state.get();
  if (segment >= 0) paths.set({ segment: -1 });
  else if (node >= 0) paths.set({ node: -1 });
  else if (view) paths.set({ view: null });
  else return false;
  return true;
}

function readState(app: App, get: (key: string) => string): void {
  const paths = pathsOf(app);
  const threadOf = (tid: number): number =>
    paths.served.threads.findIndex(thread => thread.tid === tid);
  const picks = readPicks(get('cp'), threadOf);
  const before = paths.picks();
  const isSame =
    picks.length === before.length && picks.every((one, i) => samePick(one, before[i]!));
  if (!isSame) paths.pick(picks, false);
  const now = /^\d$/.test(get('cpnow')) ? Number(get('cpnow')) : 0;
  paths.set({
    now: Math.min(now, Math.max(0, picks.length - 1)),
    view: readSpan(get('cpview')),
    segment: /^\d{1,6}$/.test(get('cpseg')) ? Number(get('cpseg')) : -1,
  });
}

function writeState(app: App): [string, string][] {
  const paths = pathsOf(app);
  const { now, view, segment } = paths.state.get();
  return [
    ['cp', writePicks(paths.picks(), thread => paths.served.threads[thread]!.tid)],
    ['cpnow', now > 0 ? String(now) : ''],
    ['cpview', view ? writeSpan(view) : ''],
    ['cpseg', segment >= 0 ? String(segment) : ''],
  ];
}

const SCOPE = new Own<App, PathScope>('path screen', app => ({
  paths: pathsOf(app),
  panes: new Panes(),
}));

export const PATH: ScreenSpec = {
  key: 'path',
  name: 'Path',
  View({ onReady }) {
    return <PathView scope={SCOPE.of(useApp())} onReady={onReady} />;
  },
  own: SCOPE,
  kind: () => ' path-page',
  keys: [
    ['\u2190 \u2192', 'segment'],
    ['. ,', 'longest'],
    ['[ ]', 'other thread'],
    ['{ }', 'path'],
    ['W S A D', 'zoom, pan'],
    ['f', 'zoom to it'],
    ['Home', 'all'],
    ['Enter', 'in the Timeline'],
    ['Del', 'take away'],
  ],
  help: [
    ['x', 'Critical path of the selected call, or of the range'],
    ['[ ]', 'Path: to where it came from another thread, to where it continues'],
    ['{ }', 'Path: the path before, the next one'],
    ['. ,', 'Path: the longest segment, the next shorter one'],
    ['Del', 'Path: take the path away'],
  ],
  status: app => {
    const paths = pathsOf(app);
    const one = paths.current();
    const own = one?.path?.segments[paths.state.get().segment];
    return own ? segmentSentence(own, one.path!, paths.nameOf) : '';
  },
  onKey: keyOn,
  commands: app => [
    {
      name: `Path: show it in the ${timelineOf(app).name}`,
      key: 'Enter',
      run: () => openSelected(pathsOf(app)),
    },
    {
      name: 'Path: take it away',
      key: 'Delete',
      run: () => pathsOf(app).drop(pathsOf(app).state.get().now),
    },
    { name: 'Path: zoom to the segment', key: 'f', run: () => zoomToSegment(pathsOf(app)) },
  ],
  clear: clearTop,
  explain: (app, thread, span, label) => showPaths(app, [{ thread, span, label }]),
  Settings,
  write: writeState,
  read: readState,
  watch: (app, changed) => pathsOf(app).state.subscribe(changed),
  steps: ['cp'],
};

/* ---- Which paths are shown: a thread and a range; the longest calls of a function; a span or marker. ---- */

const COUNTS = [1, 3, 5] as const;

function RangePick(): JSX.Element {
  const app = useApp();
  const paths = usePaths();
  usePart(s => s.range);
  usePart(s => s.window);
  const threads = useMemo(() => threadsToPick(paths.served), [paths]);
  const [thread, setThread] = useState(threads[0]?.id ?? -1);
  const own = committedSpan(app) ?? viewSpan(app);
  const whole = { t0: 0, t1: Math.max(1, paths.served.trace.duration) };
  const time = own ?? whole;
  return (
    <form
      class="path-form"
      onSubmit={event => {
        event.preventDefault();
        if (thread >= 0) paths.pick([{ thread, span: time, label: own ? 'range' : '' }], true);
      }}
    >
      <label>
        Thread{' '}
        <select value={thread} onChange={event => setThread(Number(event.currentTarget.value))}>
          {threads.map(({ id, words }) => (
            <option key={id} value={id}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <span class="remark">
        {own ? span(own.t0, own.t1) : `whole trace, ${duration(whole.t1)}`}
      </span>
      <button type="submit">Add its path</button>
    </form>
  );
}

/** Of a report: those that it has. */
function InsidePick(): JSX.Element {
  const paths = usePaths();
  const all = useMemo(() => paths.inside(), [paths]);
  const [at, setAt] = useState(0);
  return (
    <form
      class="path-form"
      onSubmit={event => {
        event.preventDefault();
        const own = all[at];
        if (own) paths.pick([own], true);
      }}
    >
      <label>
        Paths in this report{' '}
        <select value={at} onChange={event => setAt(Number(event.currentTarget.value))}>
          {all.map(({ thread, span: { t0, t1 } }, i) => (
            <option key={i} value={i}>
              {`${paths.nameOf(thread)}, ${duration(t1 - t0)} from ${duration(t0)}`}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Add its path</button>
    </form>
  );
}

function FunctionPick(): JSX.Element {
  const paths = usePaths();
  const { names } = paths.served;
  const [name, setName] = useState('');
  const [n, setN] = useState<number>(1);
  const known = useMemo(
    () =>
      names.name
        .map((one, i) => ({ one, self: names.self[i]! }))
        .sort((a, b) => b.self - a.self)
        .slice(0, 200)
        .map(({ one }) => one),
    [names],
  );
  return (
    <form
      class="path-form"
      onSubmit={event => {
        event.preventDefault();
        void paths.pickFunction(name, n);
      }}
    >
      <label>
        Longest{' '}
        <select value={n} onChange={event => setN(Number(event.currentTarget.value))}>
          {COUNTS.map(count => (
            <option key={count} value={count}>
              {count}
            </option>
          ))}
        </select>{' '}
        of function, span or marker{' '}
        <input
          list="path-names"
          aria-label="Name of a function, span or marker"
          value={name}
          placeholder="name"
          onInput={event => setName(event.currentTarget.value)}
        />
      </label>
      <datalist id="path-names">
        {known.map(one => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <button type="submit" disabled={name.trim() === ''}>
        Add
      </button>
    </form>
  );
}

function PathPicks(): JSX.Element {
  const paths = usePaths();
  const trouble = usePathState(s => s.trouble);
  const n = usePathState(s => s.asked.length);
  return (
    <div class="path-picks" role="group" aria-label="Add paths">
      {paths.served.source.isWhole ? (
        <>
          <RangePick />
          <FunctionPick />
        </>
      ) : (
        <InsidePick />
      )}
      {n > 1 && (
        <button
          onClick={() => {
            for (let i = n - 1; i >= 0; i--) if (i !== paths.state.get().now) paths.drop(i);
          }}
        >
          Keep only path {paths.state.get().now + 1}
        </button>
      )}
      {trouble && (
        <span class="path-trouble" role="alert">
          {trouble}
        </span>
      )}
    </div>
  );
}

function NoPath(): JSX.Element {
  const paths = usePaths();
  const { served } = paths;
  return (
    <div class="path-empty">
      <h2>No path is chosen</h2>
      <p>
        A critical path says on what the time of a thread depended, on whichever thread that
        happened. Choose a thread and a range above, or the longest calls of a function; or select a
        call on the Timeline and press <kbd>x</kbd>.
      </p>
      {!served.trace.hasStates && (
        <p class="remark">
          This trace has no scheduler events: states are inferred from calls, locks and flows. With
          kernel events it shows more:{' '}
          <Command text={`weft record --kernel -o ${quoted('trace.weft')} -- PROGRAM`} />
        </p>
      )}
    </div>
  );
}

/* ---- Sums of the paths, a column for each: by cause, by thread, by function, by lock. ---- */

const MOST_ROWS = 40;
const NONE = '\u2013';

interface Row {
  key: string;
  head: JSX.Element;
  sums: number[];
}

/** Rows of all paths by key, those of most time in the path shown first. */
function merge(
  paths: (Path | null)[],
  now: number,
  rowsOf: (path: Path) => { key: string; head: JSX.Element; sum: number; isLast?: boolean }[],
): Row[] {
  const rows = new Map<string, Row & { isLast: boolean }>();
  paths.forEach((path, i) => {
    for (const { key, head, sum, isLast } of path ? rowsOf(path) : []) {
      let row = rows.get(key);
      if (!row)
        rows.set(key, (row = { key, head, sums: paths.map(() => 0), isLast: isLast ?? false }));
      row.sums[i]! += sum;
    }
  });
  const most = (row: Row): number => Math.max(...row.sums);
  return [...rows.values()].sort(
    (a, b) =>
      Number(a.isLast) - Number(b.isLast) ||
      b.sums[now]! - a.sums[now]! ||
      most(b) - most(a) ||
      (a.key < b.key ? -1 : 1),
  );
}

function SumTable({
  title,
  remark,
  rows,
}: {
  title: string;
  remark: string;
  rows: Row[];
}): JSX.Element {
  const asked = usePathState(s => s.asked);
  const now = usePathState(s => s.now);
  const isOne = asked.length === 1; // else each time has its share as a tool-tip
  const wholes = asked.map(({ pick: { span } }) => Math.max(1, span.t1 - span.t0));
  return (
    <section class="path-table" aria-label={title}>
      <h2>
        {title} <small>{remark}</small>
      </h2>
      <table class="fixed">
        <thead>
          <tr>
            <th scope="col">what</th>
            {asked.map((_, i) => (
              <th
                scope="col"
                key={i}
                class="num path-time"
                aria-sort={i === now ? 'descending' : undefined}
              >
                {asked.length > 1 ? `path ${i + 1}` : 'time'}
              </th>
            ))}
            {isOne && (
              <th scope="col" class="num path-share">
                share
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map(row => (
            <tr key={row.key}>
              <th scope="row" class="clip">
                {row.head}
              </th>
              {row.sums.map((sum, i) => (
                <td
                  key={i}
                  class={i === now ? 'num key' : 'num'}
                  data-ns={String(Math.round(sum))}
                  title={sum > 0 ? `${percent(sum / (wholes[i] ?? 1))} of path ${i + 1}` : ''}
                >
                  {sum > 0 ? duration(sum) : NONE}
                </td>
              ))}
              {isOne && (
                <td class="num dim">
                  {row.sums[0]! > 0 ? percent(row.sums[0]! / (wholes[0] ?? 1)) : NONE}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="remark">none</p>}
      {rows.length > MOST_ROWS && (
        <p class="remark">
          {MOST_ROWS} of {rows.length} shown, most time first
        </p>
      )}
    </section>
  );
}

function CauseHead({ cause }: { cause: Cause }): JSX.Element {
  return (
    <span class={cause.isUnexplained ? 'path-unexplained' : ''} title={cause.words}>
      <LookSwatch look={cause.look} letter={cause.letter} /> {cause.words}
    </span>
  );
}

function PathTables(): JSX.Element {
  const paths = usePaths();
  const asked = usePathState(s => s.asked);
  const now = usePathState(s => s.now);
  const all = asked.map(({ path }) => path);
  const causes = merge(all, now, path =>
    causesOf(path).map(({ cause, sum }) => ({
      key: cause.key,
      head: <CauseHead cause={cause} />,
      sum,
      isLast: cause.isUnexplained,
    })),
  );
  const threads = merge(all, now, path =>
    path.threads.map(({ thread, sum }) => ({
      key: String(thread),
      head: <span title={paths.nameOf(thread)}>{paths.nameOf(thread)}</span>,
      sum,
    })),
  );
  const functions = merge(all, now, path =>
    placeSums(path).map(({ name, running, waiting }) => ({
      key: name,
      head: <LongName name={name} />,
      sum: running + waiting,
    })),
  );
  const locks = merge(all, now, path =>
    path.locks.map(({ name, edge, sum }) => ({
      key: `${edge} ${name}`,
      head: <span title={`${edge} of ${name}`}>{`${edge} of ${name}`}</span>,
      sum,
    })),
  );
  return (
    <div
      class="path-tables scroll"
      style={{ '--columns': Math.max(2, asked.length) }}
      tabIndex={0}
      role="region"
      aria-label="Sums of the paths"
    >
      <SumTable title="By cause" remark="unexplained: no data" rows={causes} />
      <SumTable title="By thread" remark="on whichever the path was" rows={threads} />
      <SumTable title="By function and span" remark="a span holds its functions" rows={functions} />
      <SumTable
        title="By lock and wake-up"
        remark="waits that the path went through"
        rows={locks}
      />
    </div>
  );
}
