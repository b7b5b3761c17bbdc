// SPDX-License-Identifier: MIT
// Which threads stand where: pinned ones first, then the others in groups or sorted, each as many
// levels high as it is to show. Only what is in view is ever looked at closer.
import { LANE } from './lib_lanes';
import { LOW_PATH, PATH_STRIP } from './lib_path';

export const LEVEL = 13; // 12 and a line
export const TRACK_TOP = 3;
export const TRACK_FOOT = 5;
export const LEAST_TRACK = 48; // three lines of label
export const COMPACT = 22;
/** Height of the strip of states over the calls, and of a compact one; with its line. */
export const STRIP = 12;
export const LOW_STRIP = 5;
export const HEAD = 24;
/** Levels shown unless a thread is asked to show all. */
export const FEW_LEVELS = 9;

export type TrackMode = 'few' | 'all' | 'compact';
export type TrackSort = 'process' | 'name' | 'calls' | 'first' | 'busy';

export const TRACK_SORTS: [TrackSort, string][] = [
  ['first', 'first activity'],
  ['process', 'process'],
  ['name', 'name'],
  ['calls', 'calls'],
  ['busy', 'busiest in window'],
];

/** What the order of threads hangs on. */
export interface TrackThread {
  id: number;
  tid: number;
  pid: number;
  name: string;
  calls: number;
  /** Other events than calls. */
  events: number;
  first: number;
  maxDepth: number;
}

export interface Track {
  key: string;
  /** -1: the head of a process. */
  thread: number;
  pid: number;
  /** Threads of a process, if it is its head. */
  threads: number;
  y: number;
  height: number;
  /** Levels that are drawn, and how high each is, in px. */
  levels: number;
  levelHeight: number;
  /** Levels there are. */
  allLevels: number;
  /** Px that states take over the calls; 0: none are known. */
  strip: number;
  /** Px that a critical path takes over the states; 0: it is not on this thread. */
  path: number;
  /** Lanes of locks below the calls. */
  lanes: number;
  mode: TrackMode;
  isPinned: boolean;
}

export interface TrackOptions {
  threads: readonly TrackThread[];
  /** Ids; not shown, unless pinned. */
  hidden: ReadonlySet<number>;
  /** Ids; null: all. */
  only: ReadonlySet<number> | null;
  pins: readonly number[];
  sort: TrackSort;
  mode: TrackMode;
  modes: ReadonlyMap<number, TrackMode>;
  /** Pids whose threads are folded away. */
  closed: ReadonlySet<number>;
  /** By thread id: how much it did in the window; null: not known yet. */
  busy: Float64Array | null;
  /** Something is known of states. */
  hasStrip?: boolean;
  /** Lanes of locks by thread. */
  lanes?: (thread: number) => number;
  /** Threads of the critical path that is shown. */
  onPath?: { has: (thread: number) => boolean } | null;
}

export interface Tracks {
  tracks: Track[];
  height: number;
  /** The first are pinned, and this high together. */
  pinned: number;
  pinnedHeight: number;
  shown: number;
}

type Order = (a: TrackThread, b: TrackThread) => number;

/** Threads with calls come before those that only the kernel knows, and these before those that others
 * name alone: else the machine's threads stand above the program's. */
const rankOf = ({ calls, events }: TrackThread): number => (calls > 0 ? 0 : events > 0 ? 1 : 2);

function orderOf({ sort, busy }: TrackOptions): Order {
  const byFirst: Order = (a, b) =>
    rankOf(a) - rankOf(b) || a.first - b.first || a.tid - b.tid || a.id - b.id;
  if (sort === 'calls') return (a, b) => b.calls - a.calls || byFirst(a, b);
  if (sort === 'name')
    return (a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }) || a.tid - b.tid;
  if (sort === 'process') return (a, b) => a.pid - b.pid || byFirst(a, b);
  if (sort === 'busy' && busy)
    return (a, b) => (busy[b.id] ?? 0) - (busy[a.id] ?? 0) || byFirst(a, b);
  return byFirst;
}

function trackOf(
  thread: TrackThread,
  mode: TrackMode,
  isPinned: boolean,
  { hasStrip = false, lanes: lanesOf, onPath }: TrackOptions,
): Track {
  const lanes = mode === 'compact' ? 0 : (lanesOf?.(thread.id) ?? 0);
  const strip = hasStrip ? (mode === 'compact' ? LOW_STRIP : STRIP) : 0;
  const path = onPath?.has(thread.id) ? (mode === 'compact' ? LOW_PATH : PATH_STRIP) : 0;
  const allLevels = thread.maxDepth + 1;
  const levels = mode === 'few' ? Math.min(FEW_LEVELS, allLevels) : allLevels;
  const levelHeight =
    mode === 'compact' ? Math.max(1, Math.floor((COMPACT - 4) / Math.min(allLevels, 18))) : LEVEL;
  const drawn =
    mode === 'compact' ? Math.min(levels, Math.floor((COMPACT - 4) / levelHeight)) : levels;
  const height =
    mode === 'compact'
      ? COMPACT + strip + path
      : Math.max(LEAST_TRACK, TRACK_TOP + path + strip + drawn * LEVEL + lanes * LANE + TRACK_FOOT);
  return {
    ...{ key: `${isPinned ? 'p' : 't'}${thread.id}`, thread: thread.id, pid: thread.pid },
    ...{ threads: 1, y: 0, height, levels: drawn, levelHeight, allLevels, mode, isPinned },
    ...{ strip, path, lanes },
  };
}

/** Px from a track's upper border to its calls. */
export function callsTop({ path, strip }: Track): number {
  return TRACK_TOP + path + strip;
}

function headOf(pid: number, threads: number): Track {
  return {
    ...{ key: `g${pid}`, thread: -1, pid, threads, y: 0, height: HEAD, levels: 0 },
    ...{ levelHeight: 0, allLevels: 0, mode: 'few', isPinned: false, strip: 0 },
    ...{ path: 0, lanes: 0 },
  };
}

export function layoutTracks(options: TrackOptions): Tracks {
  const { threads, hidden, only, pins, sort, closed } = options;
  const modeOf = (id: number): TrackMode => options.modes.get(id) ?? options.mode;
  const byId = new Map(threads.map(thread => [thread.id, thread]));
  const tracks: Track[] = [];
  let y = 0;
  const put = (track: Track): void => {
    track.y = y;
    y += track.height;
    tracks.push(track);
  };
  for (const id of pins) {
    const thread = byId.get(id);
    if (thread) put(trackOf(thread, modeOf(id), true, options));
  }
  const [pinned, pinnedHeight] = [tracks.length, y];
  const isPinned = new Set(pins);
  const shown = threads.filter(
    ({ id }) => !isPinned.has(id) && !hidden.has(id) && (!only || only.has(id)),
  );
  shown.sort(orderOf(options));
  const sizes = new Map<number, number>();
  for (const { pid } of shown) sizes.set(pid, (sizes.get(pid) ?? 0) + 1);
  let pid: number | null = null;
  for (const thread of shown) {
    if (sort === 'process' && thread.pid !== pid) put(headOf(thread.pid, sizes.get(thread.pid)!));
    pid = thread.pid;
    if (sort !== 'process' || !closed.has(pid))
      put(trackOf(thread, modeOf(thread.id), false, options));
  }
  return { tracks, height: y, pinned, pinnedHeight, shown: shown.length + pinned };
}

/** The first of the tracks that are not pinned and end below `y`. */
export function firstTrackAt({ tracks, pinned }: Tracks, y: number): number {
  let [low, high] = [pinned, tracks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tracks[middle]!.y + tracks[middle]!.height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}
