// SPDX-License-Identifier: MIT
// The Timeline: every thread as rows of calls, from the whole trace down to a nanosecond.
import { useStage } from '../../shared/views/chart';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { objects } from '../../shared/api/columns';
import { ticksOf } from '../../shared/draw/base';
import { plural, compact, duration, percent } from '../../shared/lib/format';
import { causesOf } from '../../shared/lib/path';
import type { CauseSum } from '../../shared/lib/path';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { pathsOf } from '../../shared/state/paths';
import type { Asked } from '../../shared/state/paths';
import type { OnReady, ScreenSpec } from '../../shared/state/screens';
import { setServed } from '../../shared/state/served';
import type { CallAt, ServedThread } from '../../shared/state/served';
import { Key, LookSwatch } from '../../shared/views/parts';
import { useApp, useAtom, usePart } from '../../shared/views/use';
import { TimelineStage } from './draw';
import { NoteEditor, RangeLabel, saveNotes, TimelineContextMenu, TimelineTip } from './float';
import { clearTimeline, timelineKey, toggleSetOnly, bindTimeline } from './keys';
import { MiniMap } from './map';
import { TimelinePanel } from './panel';
import * as on from './path';
import { followPath, showPath, togglePath } from './path';
import type { TimelinePath } from './path';
import * as time from './state';
import { followBusy, readPlace, writePlace, followSearch, searchText, timelineOf } from './state';
import { FEW_LEVELS, TRACK_SORTS } from './tracks';
import type { TrackSort, Track } from './tracks';
import * as walk from './walk';
import './timeline.css';

/** Flags that were kept, and those of the notes beside the trace. */
function loadFlags(app: App): void {
  const { served, state } = timelineOf(app);
  if (state.get().flags.length > 0) return;
  const kept = time.keptFlags(served);
  time.setTimeline(app, { flags: kept });
  served.source
    .json('notes', {}, 'notes')
    .then(json => {
      const given = objects(json, 'flags').flatMap(time.readFlag(true));
      const fresh = given.filter(flag => !kept.some(own => own.t === flag.t));
      const all = [...state.get().flags, ...fresh].sort((a, b) => a.t - b.t);
      time.setTimeline(app, { flags: all });
    })
    .catch(() => undefined); // notes are no part of the trace: without them nothing is missing
}

function TimelineScreen({ onReady }: { onReady: OnReady }): JSX.Element {
  const app = useApp();
  useEffect(() => {
    loadFlags(app);
    const offs = [followSearch(app), followBusy(app), followPath(app)];
    walk.carryItem(app);
    time.learnLanes(app);
    return () => {
      offs.forEach(off => off());
      walk.forget(app);
    };
  }, [app]);
  return (
    <>
      <main class="centre">
        <TimelineChart onReady={onReady} />
        <RangeLabel />
        <NoteEditor />
      </main>
      <TimelinePanel />
      <TimelineTip />
      <TimelineContextMenu />
    </>
  );
}

const MODE_WORDS = { few: String(FEW_LEVELS), all: 'all', compact: 'compact' } as const;

function TimelineSettings(): JSX.Element {
  const app = useApp();
  const { served, state } = timelineOf(app);
  const sort = useAtom(state, s => s.sort);
  const mode = useAtom(state, s => s.mode);
  const asking = useAtom(state, s => s.asking.join(' and '));
  const flags = useAtom(state, s => s.flags);
  const set = useAtom(served.state, s => s.set);
  const isOnly = useAtom(served.state, s => s.isSetOnly);
  return (
    <>
      {asking && <span role="status">asking for {asking}</span>}
      {set && (
        <span class="tset">
          Set <b title={set.title}>{set.title}</b>
          <button class="link" aria-pressed={isOnly} onClick={() => toggleSetOnly(app)}>
            {isOnly ? 'only its threads' : 'highlighted'} <kbd>h</kbd>
          </button>
          <button
            class="link"
            onClick={() => {
              setServed(served, { set: null, isSetOnly: false });
              act.setQuery(app, '');
            }}
          >
            clear
          </button>
        </span>
      )}
      {flags.length > 0 && (
        <span>
          {plural(flags.length, 'flag')}{' '}
          <button
            class="link"
            title="Save them as a file to put beside the trace"
            onClick={() => saveNotes(app)}
          >
            save notes
          </button>
        </span>
      )}
      <label>
        Threads by{' '}
        <select
          value={sort}
          onChange={e => time.setTimeline(app, { sort: e.currentTarget.value as TrackSort })}
        >
          {TRACK_SORTS.map(([key, name]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button
        class="plain"
        title="Some levels, all levels, compact (E)"
        onClick={() => time.nextMode(app, -1)}
      >
        Levels <b>{MODE_WORDS[mode]}</b>
      </button>
    </>
  );
}

export const TIMELINE: ScreenSpec = {
  key: 'timeline',
  name: 'Timeline',
  View: TimelineScreen,
  kind: () => ' timeline',
  keys: [
    ['W S A D', 'zoom, pan'],
    ['\u2190 \u2192', 'in time'],
    ['\u2191 \u2193', 'caller, callee'],
    ['. ,', 'next, previous'],
    ['Shift .', 'outlier'],
    ['F', 'focus'],
    ['R', 'range'],
    ['z', 'zoom to it'],
    ['m', 'mark'],
    ['p', 'pin'],
    ['g', 'sort'],
    ['l', 'locks'],
    ['c', 'path'],
    ['h', 'filter'],
  ],
  help: [
    ['\u2190 \u2192', 'Timeline: previous, next call of the same depth'],
    ['\u2191 \u2193', 'Timeline: caller, callee; with Shift: other threads'],
    ['. ,', 'Timeline: next, previous call of the set, or on the track'],
    ['Shift .', 'Timeline: next unusual call; Shift , the one before'],
    ['F', 'Timeline: selected call in the middle; again: as wide as the window'],
    ['R', 'Timeline: the selected call\u2019s time is the range'],
    ['m, Shift+M', 'Timeline: mark; note'],
    ['p', 'Timeline: pin the thread on top'],
    ['g', 'Timeline: sort threads otherwise'],
    ['l', 'Timeline: lanes of locks: held, held while others wait, waiting'],
    ['c', 'Timeline: the critical path that was asked for last, on the threads that it is on'],
    ['[ ]', 'Timeline: along the path, to the thread that it came from or continues in'],
    ['{ }', 'Timeline: the path before, the next one'],
    ['e, E', 'Timeline: levels of the thread, of all'],
    ['Alt', 'Timeline: keep the tool-tip; while dragging: do not snap'],
  ],
  status: () => '',
  commands: app => [
    { name: 'Timeline: draw the critical path, or no longer', run: () => togglePath(app) },
    {
      name: 'Timeline: the whole critical path in the window',
      run: () => showPath(app),
      isFor: () => pathsOf(app).current() !== null,
    },
  ],
  onKey: timelineKey,
  search: { text: searchText, step: (app, direction) => walk.stepHit(app, direction) },
  focus: walk.focusSpan,
  clear: clearTimeline,
  Settings: TimelineSettings,
  own: time.TIMELINE_STATE,
  write: writePlace,
  read: readPlace,
  watch: time.watchPlace,
};

/* ---- The chart of the timeline: mini-map, axis, tracks with their labels. ---- */

const MODE_WORD = { few: 'All levels', all: 'Compact', compact: 'Open' } as const;

function ProcessLabel({ track }: { track: Track }): JSX.Element {
  const app = useApp();
  const isClosed = timelineOf(app).state.get().closed.has(track.pid);
  return (
    <button
      class="thread"
      aria-expanded={!isClosed}
      onClick={() => time.toggleProcess(app, track.pid)}
    >
      <i class="caret">{isClosed ? '\u25b8' : '\u25be'}</i>
      <b>Process {track.pid}</b> <small>{plural(track.threads, 'thread')}</small>
    </button>
  );
}

/** What the trace holds of a thread. */
function holdings({ calls, events }: ServedThread): string {
  if (calls > 0) return plural(calls, 'call');
  return events > 0 ? plural(events, 'event') : 'named by others';
}

/** Of losses only their number is known: no place on the axis is theirs. */
function Lost({ n }: { n: number }): JSX.Element {
  return (
    <span
      class="lost"
      title="Lost records, bytes or calls of this thread; when, the source does not say. 9 Health has more"
    >
      {compact(n)} lost
    </span>
  );
}

function ThreadLabel({ track }: { track: Track }): JSX.Element {
  const app = useApp();
  const { served } = timelineOf(app);
  const thread = served.threads[track.thread]!;
  const isCompact = track.mode === 'compact';
  const deeper = isCompact ? 0 : track.allLevels - track.levels;
  const toggle = (): void => time.setMode(app, track.thread, isCompact ? 'few' : 'compact');
  return (
    <>
      <span class="line">
        <button
          class="thread"
          aria-expanded={!isCompact}
          title={`${thread.label} ${thread.name} of process ${thread.pid}. ${MODE_WORD[track.mode]} (e)`}
          onClick={toggle}
        >
          <i class="caret">{isCompact ? '\u25b8' : '\u25be'}</i>
          <b>{thread.label}</b> {thread.name && <span class="tname">{thread.name}</span>}
        </button>
        <span class="pin-tools">
          <button
            class="pin"
            aria-pressed={track.isPinned}
            aria-label={`${track.isPinned ? 'Unpin' : 'Pin'} ${thread.label}`}
            title={track.isPinned ? 'Unpin (p)' : 'Pin on top (p)'}
            onClick={() => time.togglePin(app, track.thread)}
          >
            {track.isPinned ? 'unpin' : 'pin'}
          </button>
          <button
            class="pin"
            aria-label={`Hide ${thread.label}`}
            title="Hide this thread"
            onClick={() => act.hide(app, [track.thread])}
          >
            hide
          </button>
        </span>
      </span>
      {!isCompact && (
        <small>
          {holdings(thread)}
          {thread.lost > 0 && <Lost n={thread.lost} />}
        </small>
      )}
      {deeper > 0 && (
        <button
          class="link deeper"
          title="Show every level (e)"
          onClick={() => time.setMode(app, track.thread, 'all')}
        >
          {plural(deeper, 'deeper level')}
        </button>
      )}
      {track.mode === 'all' && track.allLevels > FEW_LEVELS && (
        <button class="link deeper" onClick={() => time.setMode(app, track.thread, 'few')}>
          fewer levels
        </button>
      )}
    </>
  );
}

function TrackLabel({ track, top }: { track: Track; top: number }): JSX.Element {
  const { served } = timelineOf(useApp());
  const isNow = useAtom(served.state, s => s.call?.thread === track.thread);
  const kind = track.thread < 0 ? 'label head' : track.height < 30 ? 'label low' : 'label';
  return (
    <div
      class={isNow && track.thread >= 0 ? `${kind} now` : kind}
      role="rowheader"
      style={{ top: `${top}px`, height: `${track.height - 1}px` }}
    >
      {track.thread < 0 ? <ProcessLabel track={track} /> : <ThreadLabel track={track} />}
    </div>
  );
}

function Labels({ stage, top }: { stage: TimelineStage; top: number }): JSX.Element {
  const { pinnedHeight } = timelineOf(useApp()).tracks();
  const placed = stage.placed(40);
  return (
    <>
      <div role="table" aria-label="Threads in view" class="rows">
        {placed
          .filter(({ track }) => !track.isPinned)
          .map(({ track }) => (
            <div role="row" key={track.key}>
              <TrackLabel track={track} top={track.y} />
            </div>
          ))}
      </div>
      {pinnedHeight > 0 && (
        <div
          role="table"
          aria-label="Pinned threads"
          class="rows pinned"
          style={{ top: `${top}px`, height: `${pinnedHeight}px` }}
        >
          {placed
            .filter(({ track }) => track.isPinned)
            .map(({ track }) => (
              <div role="row" key={track.key}>
                <TrackLabel track={track} top={track.y} />
              </div>
            ))}
        </div>
      )}
    </>
  );
}

function Selected(): JSX.Element {
  const { served } = timelineOf(useApp());
  const call = useAtom(served.state, s => s.call);
  return (
    <div role="option" id="item-now" aria-selected={call !== null}>
      {call ? time.callSentence(served, call) : 'No call selected. Arrow keys walk.'}
    </div>
  );
}

function Empty(): JSX.Element {
  const app = useApp();
  const { served } = timelineOf(app);
  if (served.threads.length === 0)
    return (
      <p class="empty">
        This trace holds no call. Was the program built with tracing, and did it run to its end?
      </p>
    );
  return (
    <p class="empty">
      Every thread is hidden or has no call of the set.{' '}
      <button
        class="link"
        onClick={() => {
          act.showAll(app);
          served.state.update(now => ({ ...now, isSetOnly: false }));
        }}
      >
        Show all
      </button>
    </p>
  );
}

/** Paints when what it hangs on changes; redraws labels when the tracks do. */
function connect(app: App, stage: TimelineStage, redraw: () => void): () => void {
  const timeline = timelineOf(app);
  let tracks = timeline.tracks();
  const look = (isBase: boolean): void => {
    const now = timeline.tracks();
    if (isBase || now !== tracks) stage.markBase();
    else stage.markOverlay();
    if (now !== tracks) redraw();
    tracks = now;
  };
  const offs = [
    app.state.subscribe((now, before) =>
      look(now.window !== before.window || now.epoch !== before.epoch),
    ),
    timeline.state.subscribe(() => look(false)),
    timeline.served.state.subscribe((now, before) => look(now.set !== before.set)),
  ];
  return () => offs.forEach(off => off());
}

/** Keeps the selected call in view. */
function followCall(app: App, stage: TimelineStage, scroller: HTMLElement): () => void {
  const { served, tracks } = timelineOf(app);
  const show = ({ thread, depth }: CallAt): void => {
    const all = tracks();
    const own = all.tracks.filter(track => track.thread === thread);
    if (own.length === 0 || own.some(track => track.isPinned)) return;
    const { y, levelHeight } = own[0]!;
    const level = y + depth * levelHeight;
    const [low, high] = [scroller.scrollTop + all.pinnedHeight, scroller.scrollTop + stage.height];
    if (level < low) scroller.scrollTop = y - all.pinnedHeight;
    else if (level + 2 * levelHeight > high)
      scroller.scrollTop = level + 4 * levelHeight - stage.height;
  };
  const { call } = served.state.get();
  if (call) show(call);
  return served.state.subscribe((now, before) => {
    if (now.call && now.call !== before.call) show(now.call);
  });
}

function TimelineChart({ onReady }: { onReady: OnReady }): JSX.Element {
  const app = useApp();
  const { stage, scroller, area, axis, base, overlay, ...box } = useStage(
    (own, canvases) => new TimelineStage(own, canvases),
    (made, of, view, redraw) => [
      connect(app, made, redraw),
      bindTimeline(app, made, of),
      followCall(app, made, view),
      () => made.stop(),
    ],
    onReady,
  );
  useEffect(() => scroller.current?.focus({ preventScroll: true }), []);
  const { height, tracks } = timelineOf(app).tracks();
  return (
    <section class="tchart" aria-label="Threads over time">
      <MiniMap />
      <div class="thead">
        <Shown stage={stage} />
        <canvas ref={axis} aria-hidden="true" class="axis" />
      </div>
      <PathBar />
      <div
        ref={scroller}
        id="chart"
        class="scroller"
        tabIndex={0}
        role="listbox"
        aria-label="Calls of all threads. Left and right walk in time, up and down between callers and callees."
        aria-activedescendant="item-now"
        onScroll={box.onScroll}
      >
        <div class="sr">
          <Selected />
        </div>
        <div class="content" style={{ height: `${height}px` }} role="presentation">
          <div ref={area} class="area" style={{ height: `${box.height}px` }}>
            <canvas ref={base} aria-hidden="true" />
            <canvas ref={overlay} aria-hidden="true" class="over" />
          </div>
          {stage && <Labels stage={stage} top={box.top} />}
          {stage && tracks.length === 0 && <Empty />}
        </div>
      </div>
    </section>
  );
}

function Shown({ stage }: { stage: TimelineStage | null }): JSX.Element {
  const app = useApp();
  usePart(s => s.window);
  const { served, tracks } = timelineOf(app);
  usePart(s => s.hidden);
  useAtom(served.state, s => s.isSetOnly && s.set);
  const { shown } = tracks();
  const all = served.threads.length;
  return (
    <span class="h-thread">
      <span>
        {shown === all ? plural(all, 'thread') : `${compact(shown)} of ${plural(all, 'thread')}`}
      </span>
      {stage && <b title="Times of the axis are from there on">{ticksOf(stage.view()).prefix}</b>}
    </span>
  );
}

/* ---- The critical path on the Timeline, in words: whose it is, what its colours mean, and how to leave it. ---- */

const MOST_CAUSES = 5;

function Causes({ path: { path } }: { path: TimelinePath }): JSX.Element {
  const all = causesOf(path);
  const whole = Math.max(1, path.to - path.from);
  const shown = all.slice(0, MOST_CAUSES);
  const rest = all.slice(MOST_CAUSES);
  const words = ({ cause, sum }: CauseSum): string =>
    `${cause.words}: ${duration(sum)}, ${percent(sum / whole)} of the path`;
  return (
    <ul class="tpath-causes" aria-label="Where its time went">
      {shown.map(one => (
        <li key={one.cause.key} title={words(one)}>
          <LookSwatch look={one.cause.look} letter={one.cause.letter} />
          {one.cause.words} <b>{duration(one.sum)}</b>
        </li>
      ))}
      {rest.length > 0 && <li title={rest.map(words).join('\n')}>{rest.length} more</li>}
      {path.uncertain > 0 && (
        <li title={`${duration(path.uncertain)} reached over inferred edges`}>dotted: inferred</li>
      )}
    </ul>
  );
}

/** Nothing of it is seen, or not all: why, and how to see it. */
function Unseen({ path }: { path: TimelinePath }): JSX.Element | null {
  const app = useApp();
  usePart(s => s.window);
  usePart(s => s.hidden);
  const why = on.whyUnseen(app, path);
  const hidden = on.hiddenThreads(app, path);
  return (
    <>
      {why && (
        <span class="tpath-note" role="status">
          {why}:{' '}
          <button class="link" onClick={() => on.showPath(app)}>
            show it
          </button>
        </span>
      )}
      {hidden.length > 0 && (
        <span class="tpath-note" role="status">
          {plural(hidden.length, 'thread')} of it hidden:{' '}
          <button class="link" onClick={() => on.showThreads(app, hidden)}>
            show
          </button>
        </span>
      )}
    </>
  );
}

function State({ one, path }: { one: Asked; path: TimelinePath | null }): JSX.Element {
  const app = useApp();
  const paths = pathsOf(app);
  if (one.error)
    return (
      <span class="tpath-note bad" role="alert">
        {one.error}{' '}
        <button class="link" onClick={() => paths.again(paths.state.get().now)}>
          ask again
        </button>
      </span>
    );
  if (!one.path)
    return (
      <span class="tpath-note" role="status">
        asking for it{'\u2026'}
      </span>
    );
  if (!path) return <span class="tpath-note">not drawn</span>;
  if (path.path.segments.length === 0)
    return <span class="tpath-note">the trace has nothing of that time of its thread</span>;
  return (
    <>
      <Causes path={path} />
      <Unseen path={path} />
    </>
  );
}

/** A line over the threads, as long as a path is chosen. */
function PathBar(): JSX.Element | null {
  const app = useApp();
  const paths = pathsOf(app);
  const one = useAtom(paths.state, s => s.asked[s.now]);
  const n = useAtom(paths.state, s => s.asked.length);
  const now = useAtom(paths.state, s => s.now);
  const path = useAtom(timelineOf(app).state, s => s.path);
  const hasPath = useAtom(timelineOf(app).state, s => s.hasPath);
  if (!one) return null;
  const { t0, t1 } = one.pick.span;
  const title = paths.title(one);
  return (
    <section class="tpath" aria-label="Critical path">
      <button
        class="plain tpath-title clip"
        title={`${title}: the whole of it in the window`}
        onClick={() => on.showPath(app)}
      >
        Critical path{n > 1 && ` ${now + 1} of ${n}`} <b>{title}</b> {duration(t1 - t0)}
      </button>
      <State one={one} path={path} />
      <span class="tpath-keys">
        <button class="link" aria-pressed={hasPath} onClick={() => on.togglePath(app)}>
          {hasPath ? 'hide' : 'draw'} <Key>c</Key>
        </button>
        <button class="link" onClick={() => act.setScreen(app, 'path')}>
          sums <Key>5</Key>
        </button>
        <button
          class="link"
          aria-label="Take the path away"
          onClick={() => paths.drop(paths.state.get().now)}
        >
          {'\u00d7'}
        </button>
      </span>
    </section>
  );
}
