// SPDX-License-Identifier: MIT
// The Timeline: every thread as rows of calls, from the whole trace down to a nanosecond.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { objects } from '../../shared/api/json';
import { plural } from '../../shared/lib/format';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { pathsOf } from '../../shared/state/paths';
import type { OnReady, ScreenSpec } from '../../shared/state/screens';
import { setServed } from '../../shared/state/served';
import { useApp, useAtom } from '../../shared/views/use';
import { FEW_LEVELS, TRACK_SORTS } from './lib_tracks';
import type { TrackSort } from './lib_tracks';
import { followBusy } from './state_busy';
import { followPath, showPath, togglePath } from './state_path';
import { readPlace, writePlace } from './state_place';
import { followSearch, searchText } from './state_search';
import * as time from './state_timeline';
import { timelineOf } from './state_timeline';
import * as walk from './state_walk';
import { TimelineChart } from './views_chart';
import { NoteEditor, RangeLabel, saveNotes, TimelineContextMenu, TimelineTip } from './views_float';
import { clearTimeline, timelineKey, toggleSetOnly } from './views_keys';
import { TimelinePanel } from './views_panel';
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
  ...{ key: 'timeline', digit: 2, name: 'Timeline', View: TimelineScreen },
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
    ['[ ]', 'Timeline: along the path, to the thread that it came from or goes on in'],
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
  ...{ write: writePlace, read: readPlace, watch: time.watchPlace },
};
