// SPDX-License-Identifier: MIT
// The chart of the timeline: mini-map, axis, tracks with their labels.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { ticksOf } from '../../shared/draw/axis';
import { compact, plural } from '../../shared/lib/format';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import type { OnReady } from '../../shared/state/screens';
import type { CallAt, ServedThread } from '../../shared/state/served';
import { useApp, useAtom, usePart } from '../../shared/views/use';
import { TimelineStage } from './draw_stage';
import { FEW_LEVELS } from './lib_tracks';
import type { Track } from './lib_tracks';
import * as time from './state_timeline';
import { timelineOf } from './state_timeline';
import { bindTimeline } from './views_keys';
import { MiniMap } from './views_map';
import { PathBar } from './views_path';

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
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const retheme = (): void => stage.retheme();
  dark.addEventListener('change', retheme);
  return () => {
    offs.forEach(off => off());
    dark.removeEventListener('change', retheme);
  };
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

export function TimelineChart({ onReady }: { onReady: OnReady }): JSX.Element {
  const app = useApp();
  const scroller = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLDivElement>(null);
  const axis = useRef<HTMLCanvasElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const [stage, setStage] = useState<TimelineStage | null>(null);
  const [box, setBox] = useState({ top: 0, height: 600 });
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useLayoutEffect(() => {
    const canvases = { axis: axis.current!, base: base.current!, overlay: over.current! };
    const made = new TimelineStage(app, canvases);
    const off = connect(app, made, () => redraw(undefined));
    const unbind = bindTimeline(app, made, area.current!);
    const measure = (): void => {
      const height = scroller.current!.clientHeight;
      made.resize(area.current!.clientWidth, height);
      setBox(now => ({ ...now, height }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(scroller.current!);
    observer.observe(area.current!);
    measure();
    const unfollow = followCall(app, made, scroller.current!);
    setStage(made);
    onReady(made);
    return () => {
      [off, unbind, unfollow].forEach(stop => stop());
      made.stop();
      observer.disconnect();
    };
  }, [app]);
  useEffect(() => scroller.current?.focus({ preventScroll: true }), []);
  const { height, tracks } = timelineOf(app).tracks();
  const onScroll = (): void => {
    const top = scroller.current!.scrollTop;
    stage?.scroll(top);
    setBox(now => ({ ...now, top }));
  };
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
        onScroll={onScroll}
      >
        <div class="sr">
          <Selected />
        </div>
        <div class="content" style={{ height: `${height}px` }} role="presentation">
          <div ref={area} class="area" style={{ height: `${box.height}px` }}>
            <canvas ref={base} aria-hidden="true" />
            <canvas ref={over} aria-hidden="true" class="over" />
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
