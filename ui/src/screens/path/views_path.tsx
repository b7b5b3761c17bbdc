// SPDX-License-Identifier: MIT
// Screen 5: what a thread's time depended on, as strips, sums, and calling contexts.
import type { JSX } from 'preact';
import type { PathScope } from './views_use';
import { Own } from '../../shared/lib/own';
import { useEffect } from 'preact/hooks';
import { Panes } from '../../shared/draw/pane';
import { exact } from '../../shared/lib/format';
import { readSpan, writeSpan } from '../../shared/lib/fragment';
import { pathRemarks, pathSentence, segmentSentence } from '../../shared/lib/path';
import { readPicks, samePick, writePicks } from '../../shared/lib/pathpick';
import type { App } from '../../shared/state/app';
import { pathsOf, showInTimeline, showPaths } from '../../shared/state/paths';
import type { Paths } from '../../shared/state/paths';
import type { OnReady, ScreenSpec } from '../../shared/state/screens';
import { useApp, useAtom } from '../../shared/views/use';

import { PathFlame } from './views_flame';
import { NoPath, PathPicks } from './views_picks';
import { PathStrip, select } from './views_strip';
import { PathTables } from './views_tables';
import { PathContext, usePaths, usePathState } from './views_use';
import './path.css';
import { copyExact } from '../../shared/views/tables';

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
      ...{ t0: segment.start, t1: Math.max(segment.start + 1, segment.end) },
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
          : 'Click a segment for what it was; drag to zoom; 0 shows all.'}
      </span>
      <button class="link" onClick={() => openSelected(paths)}>
        {own ? 'show it in the Timeline' : 'show the path in the Timeline'}
      </button>
    </p>
  );
}

function PathView({ scope, onReady }: { scope: PathScope; onReady: OnReady }): JSX.Element {
  const n = scope.paths.state.get().asked.length;
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const retheme = (): void => scope.panes.retheme();
    dark.addEventListener('change', retheme);
    onReady(scope.panes);
    return () => dark.removeEventListener('change', retheme);
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
    '0': () => paths.set({ view: null }),
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
  digit: 5,
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
    ['0', 'all'],
    ['Enter', 'in the Timeline'],
    ['Del', 'take away'],
  ],
  help: [
    ['x', 'Critical path of the selected call, or of the range'],
    ['[ ]', 'Path: to where it came from another thread, to where it goes on'],
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
      name: 'Path: show it in the Timeline',
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
