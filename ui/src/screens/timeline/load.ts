// SPDX-License-Identifier: MIT
// Asks the server for the tiles that a view lacks: those in view first, the middle one before the
// others, then what lies beside, then the next zooms. Each lane has one question under way, and a
// question that no view wants any more is given up.
import type { LodThreadsColumns, StateItemsColumns } from '../../gen/tables';
import { ViewLoader } from './asking';
import type { Part } from './asking';
import { messageOf } from '../../shared/lib/format';
import { tableOf } from '../../shared/api/columns';
import type { Columns } from '../../shared/api/columns';
import { Superseded } from '../../shared/api/source';
import type { Source } from '../../shared/api/source';
import { columnNs, TileStore, tileNs, tilesOf, TOP_LEVEL, tilesFrom } from '../../shared/api/tiles';
import type { Tile } from '../../shared/api/tiles';
import { Atom, Own } from '../../shared/lib/atom';
import { LOOK, lookOf } from '../../shared/lib/states';
import type { Strip } from '../../shared/lib/states';
import type { App } from '../../shared/state/app';
import { timelineOf } from './state';

const LANES = 3;
const MOST_THREADS = 48; // of a question: its answer comes soon
const STORE_BYTES = 160 * 2 ** 20;
const SILENCE_MS = 4000; // after the server refused a question

/** What a view shows. */
interface Wanted {
  level: number;
  t0: number;
  t1: number;
  /** Thread ids in view, and those near to it. */
  threads: readonly number[];
  near: readonly number[];
}

interface Question {
  level: number;
  index: number;
  threads: number[];
}

export class TileLoader {
  readonly store = new TileStore(STORE_BYTES);
  private readonly lanes: (Question | null)[] = new Array<Question | null>(LANES).fill(null);
  private wanted: Wanted | null = null;
  private silentUntil = 0;
  private waiting: (() => void)[] = [];
  /** What went wrong last; '' if nothing did. */
  trouble = '';

  constructor(
    private readonly source: Source,
    private readonly durationNs: number,
    private readonly onChange: () => void,
  ) {}

  /** Says what is in view; asks for what is missing of it. */
  want(wanted: Wanted): void {
    this.wanted = wanted;
    this.lanes.forEach((question, lane) => {
      if (question && !this.isOfUse(question)) this.source.cancel(`tiles${lane}`);
    });
    this.ask();
  }

  /** Gives up every question. */
  stop(): void {
    this.wanted = null;
    for (let lane = 0; lane < LANES; lane++) this.source.cancel(`tiles${lane}`);
  }

  get isIdle(): boolean {
    return this.lanes.every(question => question === null);
  }

  /** Resolves when nothing of the view is missing, or nothing more is asked for. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise(resolve => this.waiting.push(resolve));
  }

  private isOfUse({ level, index }: Question): boolean {
    const { t0, t1, level: now } = this.wanted!;
    const span = tileNs(level);
    const width = t1 - t0;
    const isNear = (index + 1) * span > t0 - width && index * span < t1 + width;
    return isNear && Math.abs(level - now) <= 1;
  }

  private ask(): void {
    if (!this.wanted || performance.now() < this.silentUntil) return this.tellIdle();
    for (let lane = 0; lane < LANES; lane++) {
      if (this.lanes[lane]) continue;
      const question = this.next(lane);
      if (!question) break;
      void this.fetch(lane, question);
    }
    this.tellIdle();
  }

  private tellIdle(): void {
    if (this.isIdle) for (const done of this.waiting.splice(0)) done();
  }

  /** The most urgent question; prefetching has the last lane alone, so that it is never in the way. */
  private next(lane: number): Question | null {
    const { level, t0, t1, threads, near } = this.wanted!;
    const middle = (t0 + t1) / 2;
    const seen = this.missing(level, t0, t1, threads, middle);
    if (seen || lane < LANES - 1) return seen;
    const margin = (t1 - t0) * 0.4;
    return (
      this.missing(level, t0, t1, near, middle) ??
      this.missing(level, t0 - margin, t1 + margin, threads, middle) ??
      (level < TOP_LEVEL
        ? this.missing(level + 1, t0 - margin, t1 + margin, threads, middle)
        : null) ??
      (level > 0
        ? this.missing(level - 1, middle - margin / 2, middle + margin / 2, threads, middle)
        : null)
    );
  }

  private missing(
    level: number,
    from: number,
    to: number,
    threads: readonly number[],
    middle: number,
  ): Question | null {
    const end = Math.min(to, this.durationNs + 1);
    const { first, last } = tilesOf(level, Math.max(0, from), end);
    const center = Math.floor(middle / tileNs(level));
    const order = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    order.sort((a, b) => Math.abs(a - center) - Math.abs(b - center));
    for (const index of order) {
      const list = threads.filter(thread => !this.isKnown(thread, level, index));
      if (list.length > 0) return { level, index, threads: list.slice(0, MOST_THREADS) };
    }
    return null;
  }

  private isKnown(thread: number, level: number, index: number): boolean {
    if (this.store.has(thread, level, index)) return true;
    return this.lanes.some(
      one => one?.level === level && one.index === index && one.threads.includes(thread),
    );
  }

  private async fetch(lane: number, question: Question): Promise<void> {
    this.lanes[lane] = question;
    const { level, index, threads } = question;
    const from = index * tileNs(level);
    const to = Math.min(from + tileNs(level), Math.max(from + 1, Math.ceil(this.durationNs) + 1));
    const width = Math.max(1, Math.ceil((to - from) / columnNs(level)));
    try {
      const params = { threads, from, to, width };
      const answer = await this.source.columns('lod', params, `tiles${lane}`);
      for (const tile of tilesFrom(answer, level, index)) this.store.put(tile);
      this.trouble = '';
    } catch (error) {
      if (!(error instanceof Superseded)) this.fail(error);
    }
    this.lanes[lane] = null;
    if (this.wanted) this.onChange();
    this.ask();
  }

  private fail(error: unknown): void {
    this.trouble = messageOf(error);
    this.silentUntil = performance.now() + SILENCE_MS;
    setTimeout(() => this.wanted && this.ask(), SILENCE_MS + 1);
  }
}

/* ---- The states of the threads in view. ---- */

const MOST_ASKED = 48; // of a question
const KEPT = 400;

function words(answer: Columns, key: string): string[] {
  const list = answer.meta[key];
  return Array.isArray(list) ? list.map(String) : [];
}

/** The strips of an answer by thread id. */
function stripsFrom(answer: Columns, from: number, to: number): Map<number, Strip> {
  const [states, reasons, notes] = ['states', 'reasons', 'names'].map(key =>
    words(answer, key),
  ) as [string[], string[], string[]];
  const threads = tableOf<LodThreadsColumns>(answer, 'threads');
  const item = tableOf<StateItemsColumns>(answer, 'items');
  const first = threads('first_item');
  const many = threads('n_items');
  const start = item('start_ns');
  const end = item('end_ns');
  const count = item('count');
  const running = item('running_ns');
  const state = item('state');
  const reason = item('reason');
  const note = item('name');
  const look = state.map((kind, i) =>
    lookOf(states[kind] ?? '', reasons[reason[i]!] ?? '', notes[note[i]!] ?? ''),
  );
  const pixel = Number(answer.meta['pixel_ns'] ?? 0);
  const strips = new Map<number, Strip>();
  threads('id').forEach((thread, i) => {
    const [a, b] = [first[i]!, first[i]! + many[i]!];
    strips.set(thread, {
      from,
      to,
      pixel,
      n: b - a,
      start: start.slice(a, b),
      end: end.slice(a, b),
      notes,
      by: 'as the kernel saw it',
      running: running.slice(a, b),
      count: count.slice(a, b),
      look: look.slice(a, b),
      note: note.slice(a, b),
    });
  });
  return strips;
}

/** A thread whose end nobody saw seems to run until the trace ends: that is known of it until its
 * last event only. */
function untilLast(strip: Strip, durationNs: number, lastNs: number): Strip {
  const last = strip.n - 1;
  if (last < 0 || strip.look[last] !== LOOK.RUN || strip.end[last]! < durationNs) return strip;
  const length = strip.end[last]! - strip.start[last]!;
  strip.end[last] = Math.max(strip.start[last]!, Math.min(strip.end[last]!, lastNs));
  strip.running[last]! *= (strip.end[last] - strip.start[last]!) / Math.max(1, length);
  return strip;
}

export class StateLoader extends ViewLoader {
  private readonly known = new Map<number, Strip>();

  constructor(
    source: Source,
    durationNs: number,
    private readonly lastNs: (thread: number) => number,
    onChange: () => void,
  ) {
    super(source, durationNs, 'states', onChange);
  }

  of(thread: number): Strip | undefined {
    return this.known.get(thread);
  }

  protected missing(): readonly number[] {
    const isThere = (strip: Strip | undefined): boolean => !!strip && this.isFine(strip);
    const missing = this.wanted!.threads.filter(thread => !isThere(this.of(thread)));
    return missing.slice(0, MOST_ASKED);
  }

  protected async load(
    { from, to }: Part,
    threads: readonly number[],
    width: number,
  ): Promise<void> {
    const answer = await this.source.columns('states', { from, to, threads, width }, this.kind);
    for (const [thread, strip] of stripsFrom(answer, from, to))
      this.keep(thread, untilLast(strip, this.durationNs, this.lastNs(thread)));
  }

  private keep(thread: number, strip: Strip): void {
    this.known.delete(thread);
    this.known.set(thread, strip);
    const oldest = this.known.keys().next().value;
    if (this.known.size > KEPT && oldest !== undefined) this.known.delete(oldest);
  }
}

/* ---- How many threads run at a time. As the kernel tells it: the time that threads were on a processor
 * in a column, by its width. Else inferred from calls alone: a thread runs in a column if the deepest
 * call there is no wait, and if something began or ended not long before. ---- */

/** A call without a callee for so many columns is taken to stand still. */
const STILL_COLUMNS = 6;

/** Adds 1 to every column of [0, duration) in which a thread runs. */
export function addLoad(
  load: Float64Array,
  tile: Tile,
  durationNs: number,
  isWait: readonly number[],
  deepest: Int32Array,
): void {
  const n = load.length;
  const columnNs = durationNs / n;
  deepest.fill(-1);
  // by depth, then by time: what comes later is deeper
  for (let i = 0; i < tile.n; i++) {
    const a = Math.max(0, Math.floor(tile.start[i]! / columnNs));
    const b = Math.min(n - 1, Math.floor((tile.end[i]! - 1) / columnNs));
    for (let c = a; c <= b; c++) deepest[c] = i;
  }
  for (let c = 0; c < n; c++) {
    const i = deepest[c]!;
    if (i < 0 || isWait[tile.fn[i]!] === 1) continue;
    const isShort =
      tile.isCluster[i] === 1 || tile.end[i]! - tile.start[i]! < STILL_COLUMNS * columnNs;
    if (isShort) load[c]! += 1;
  }
}

/** Adds what a thread ran in every column of [0, duration), as a share of the column. */
export function addRunning(load: Float64Array, strip: Strip, durationNs: number): void {
  const columnNs = durationNs / load.length;
  for (let i = 0; i < strip.n; i++) {
    const [start, end] = [strip.start[i]!, strip.end[i]!];
    const share = strip.running[i]! / Math.max(1, end - start); // items that join are a column long
    if (share === 0) continue;
    const from = Math.max(0, Math.floor(start / columnNs));
    const last = Math.min(load.length - 1, Math.ceil(end / columnNs) - 1);
    for (let c = from; c <= last; c++) {
      const inside = Math.min(end, (c + 1) * columnNs) - Math.max(start, c * columnNs);
      load[c]! += (share * inside) / columnNs;
    }
  }
}

/* ---- Loads what the mini-map shows: every thread over the whole trace, some at a time. ---- */

const LOAD_COLUMNS = 400;
const BATCH = 16;
const MOST_BUSY = 512;
/** States are asked for so many times finer: short ones that join may reach over two columns. */
const FINER = 4;

interface LoadState {
  load: Float64Array;
  most: number;
  words: string;
  /** What the height is, in a sentence. */
  meaning: string;
  /** 0..1 */
  done: number;
}

const MEASURED = 'How many threads were on a CPU, by scheduler events: the mean over each column';
const INFERRED = 'How many threads are in a call that is not a wait';

class LoadLoader {
  readonly state = new Atom<LoadState>({
    load: new Float64Array(LOAD_COLUMNS),
    most: 0,
    words: 'threads running',
    done: 0,
    meaning: '',
  });
  private isStarted = false;

  constructor(private readonly app: App) {}

  start(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    void this.run().catch((error: unknown) => {
      this.isStarted = false;
      if (!(error instanceof Superseded))
        this.state.update(now => ({ ...now, words: 'the load could not be had' }));
    });
  }

  private async run(): Promise<void> {
    const { threads, trace } = timelineOf(this.app).served;
    const weight = ({ calls, events }: (typeof threads)[number]): number =>
      trace.hasStates ? events : calls;
    const busiest = [...threads].sort((a, b) => weight(b) - weight(a)).slice(0, MOST_BUSY);
    const some = busiest.length < threads.length ? `of the ${MOST_BUSY} busiest ` : '';
    const what = trace.hasStates ? 'running, mean' : 'running (inferred)';
    const meaning = trace.hasStates ? MEASURED : INFERRED;
    const load = new Float64Array(LOAD_COLUMNS);
    for (let i = 0; i < busiest.length; i += BATCH) {
      const ids = busiest.slice(i, i + BATCH).map(({ id }) => id);
      await (trace.hasStates ? this.addStates(load, ids) : this.addCalls(load, ids));
      const done = Math.min(1, (i + BATCH) / busiest.length);
      const words = `${done < 1 ? 'so far ' : ''}${some}${what}`;
      this.state.set({ load: load.slice(), most: Math.max(...load), words, meaning, done });
    }
  }

  private get end(): number {
    return Math.max(1, Math.ceil(timelineOf(this.app).served.trace.duration));
  }

  private async addCalls(load: Float64Array, threads: number[]): Promise<void> {
    const { source, names } = timelineOf(this.app).served;
    const params = { threads, from: 0, to: this.end, width: LOAD_COLUMNS };
    const deepest = new Int32Array(LOAD_COLUMNS);
    const answer = await source.columns('lod', params, 'load');
    for (const tile of tilesFrom(answer, 0, 0))
      addLoad(load, tile, this.end, names.isWait, deepest);
  }

  private async addStates(load: Float64Array, threads: number[]): Promise<void> {
    const { source, trace, threads: all } = timelineOf(this.app).served;
    const params = { threads, from: 0, to: this.end, width: FINER * LOAD_COLUMNS };
    const answer = await source.columns('states', params, 'load');
    for (const [thread, strip] of stripsFrom(answer, 0, this.end))
      addRunning(load, untilLast(strip, trace.duration, all[thread]?.last ?? 0), this.end);
  }
}

const LOAD = new Own<App, LoadLoader>('load', app => new LoadLoader(app));
export const loadOf = (app: App): LoadLoader => LOAD.of(app);
