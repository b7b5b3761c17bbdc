// SPDX-License-Identifier: MIT
// Which threads stand where: pinned ones first, then the others in groups or sorted, each as many
// levels high as it is to show. Only what is in view is ever looked at closer.
import { ViewLoader } from './asking';
import type { Part } from './asking';
import type { LanePiecesColumns, LanesColumns } from '../../gen/tables';
import { decodeObjects, tableOf } from '../../shared/api/columns';
import type { Columns } from '../../shared/api/columns';
import type { Source } from '../../shared/api/source';
import { duration, plural } from '../../shared/lib/format';
import { objectName } from '../../shared/lib/names';
import type { WaitObject } from '../../shared/lib/names';
import { LOW_PATH, PATH_STRIP } from './path';

export const LEVEL = 13; // 12 and a line
const TRACK_TOP = 3;
export const TRACK_FOOT = 5;
const LEAST_TRACK = 48; // three lines of label
const COMPACT = 22;
/** Height of the strip of states over the calls, and of a compact one; with its line. */
export const STRIP = 12;
export const LOW_STRIP = 5;
const HEAD = 24;
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
    key: `${isPinned ? 'p' : 't'}${thread.id}`,
    thread: thread.id,
    pid: thread.pid,
    threads: 1,
    y: 0,
    height,
    levels: drawn,
    levelHeight,
    allLevels,
    mode,
    isPinned,
    strip,
    path,
    lanes,
  };
}

/** Px from a track's upper border to its calls. */
export function callsTop({ path, strip }: Track): number {
  return TRACK_TOP + path + strip;
}

function headOf(pid: number, threads: number): Track {
  return {
    key: `g${pid}`,
    thread: -1,
    pid,
    threads,
    y: 0,
    height: HEAD,
    levels: 0,
    levelHeight: 0,
    allLevels: 0,
    mode: 'few',
    isPinned: false,
    strip: 0,
    path: 0,
    lanes: 0,
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

/* ---- Lanes of locks under the calls of a thread (VISUAL: "lock lane"): when it had one, had it while others
 * waited, and waited for it. ---- */

/** Px of a lane, with the line below it. */
export const LANE = 9;
/** Lanes of a thread: those that it waited for longest. */
const MOST_LANES = 3;

export const LANE_STATE = { HELD: 0, HELD_WAITED: 1, WAITS: 2 } as const;
const WORDS = ['held', 'held while others wait', 'waits'] as const;

/** One lock on one thread; pieces in order of time. Short ones are joined: `count` of them. */
export interface Lane {
  thread: number;
  object: WaitObject;
  n: number;
  start: Float64Array;
  end: Float64Array;
  count: Uint32Array;
  state: Uint8Array;
  /** ns by state, in the part asked for. */
  ns: readonly [number, number, number];
}

/** By thread: the locks whose lanes it has, most waiting first; of locks that nobody waited for, none. */
export function laneOrder(lanes: readonly Lane[], most = MOST_LANES): Map<number, string[]> {
  const order = new Map<number, string[]>();
  const contended = lanes.filter(({ ns }) => ns[LANE_STATE.HELD_WAITED] + ns[LANE_STATE.WAITS] > 0);
  const blocked = ({ ns }: Lane): number => ns[LANE_STATE.HELD_WAITED] + ns[LANE_STATE.WAITS];
  for (const lane of [...contended].sort((a, b) => blocked(b) - blocked(a))) {
    const own = order.get(lane.thread) ?? [];
    if (own.length < most) order.set(lane.thread, [...own, lane.object.id]);
  }
  return order;
}

/** The piece at `t`, or the nearest within `near` ns, or -1. */
export function pieceAt({ start, end, n }: Lane, t: number, near: number): number {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle]! < t - near) low = middle + 1;
    else high = middle;
  }
  return low < n && start[low]! <= t + near ? low : -1;
}

export function pieceWords(lane: Lane, i: number): string {
  const length = duration(lane.end[i]! - lane.start[i]!);
  const word = WORDS[lane.state[i]!] ?? '';
  const many = lane.count[i]! > 1 ? `${plural(lane.count[i]!, 'short segment')}, mostly ` : '';
  return `${objectName(lane.object)}: ${many}${word}, ${length}`;
}

/* ---- Asks the server for the lanes of locks: once for the whole trace, which says whose locks are worth a
 * lane; then for what is in view, a little more, as finely as it is drawn. ---- */

const MOST_THREADS = 256; // of a question
const MOST_ANSWERED = 4096; // of an answer

interface Answer extends Part {
  threads: ReadonlySet<number>;
  lanes: Map<number, Lane[]>;
}

export class LaneLoader extends ViewLoader {
  private answer: Answer | null = null;

  constructor(
    source: Source,
    durationNs: number,
    /** By thread: the locks that have lanes, in their order. */
    private readonly order: ReadonlyMap<number, readonly string[]>,
    onChange: () => void,
  ) {
    super(source, durationNs, 'lanes', onChange);
  }

  /** The lanes of a thread, in their order. */
  of(thread: number): readonly (Lane | null)[] {
    const own = this.answer?.lanes.get(thread) ?? [];
    return (this.order.get(thread) ?? []).map(
      id => own.find(({ object }) => object.id === id) ?? null,
    );
  }

  protected missing(): readonly number[] {
    const own = this.wanted!.threads.filter(thread => this.order.has(thread));
    const threads = own.slice(0, MOST_THREADS);
    const { answer } = this;
    const isThere = answer && threads.every(thread => answer.threads.has(thread));
    return isThere && this.isFine(answer) ? [] : threads;
  }

  protected async load(part: Part, threads: readonly number[], columns: number): Promise<void> {
    const { from, to } = part;
    const params = { from, to, threads, width: Math.min(65536, columns), limit: MOST_ANSWERED };
    const lanes = new Map<number, Lane[]>();
    for (const lane of decodeLanes(await this.source.columns('lanes', params, this.kind)))
      lanes.set(lane.thread, [...(lanes.get(lane.thread) ?? []), lane]);
    this.answer = { ...part, threads: new Set(threads), lanes };
  }
}

/** Whose locks are worth a lane. */
export async function askLaneOrder(source: Source): Promise<Map<number, string[]>> {
  return laneOrder(
    decodeLanes(await source.columns('lanes', { width: 1, limit: MOST_ANSWERED }, 'lane order')),
  );
}

/* ---- lanes ---- */

function decodeLanes(answer: Columns): Lane[] {
  const known = decodeObjects(answer.meta);
  const lane = tableOf<LanesColumns>(answer, 'lanes');
  const piece = tableOf<LanePiecesColumns>(answer, 'pieces');
  const thread = lane('thread');
  const object = lane('object');
  const first = lane('first_piece');
  const many = lane('n_pieces');
  const [held, waited, waits] = [lane('held_ns'), lane('held_waited_ns'), lane('waits_ns')];
  const start = piece('start_ns');
  const end = piece('end_ns');
  const count = piece('count');
  const state = piece('state');
  return Array.from(thread, (id, i) => {
    const [a, b] = [first[i]!, first[i]! + many[i]!];
    const own = known[object[i]!];
    if (!own || b > start.length) throw new Error('a lane names an unknown object or piece');
    return {
      thread: id,
      object: own,
      n: b - a,
      start: start.slice(a, b),
      end: end.slice(a, b),
      count: count.slice(a, b),
      state: state.slice(a, b),
      ns: [held[i]!, waited[i]!, waits[i]!] as const,
    };
  });
}
