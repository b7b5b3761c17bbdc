// SPDX-License-Identifier: MIT
// Calls and waits of the threads that are shown, as finely as they are drawn: each thread has a time
// and a room of its own. Threads that have the same are asked for together; for a little more than is
// in view, so that a step of panning needs no question. Waits are asked for once, if all of the trace
// fit into an answer; else they are bundled by the server, and asked for as calls are.
import { messageOf } from '../../shared/lib/format';
import { Superseded } from '../../shared/api/source';
import type { Params } from '../../shared/api/source';
import { tilesFrom } from '../../shared/api/tiles';
import type { Tile } from '../../shared/api/tiles';
import type { Span } from '../../shared/lib/model';
import type { Served } from '../../shared/state/served';
import { decodeBlocking, decodeCorrespondences, noWaits, toneCode, toneOf, waitsIn } from './data';
import type { Rows, Shares, Waits } from './data';

const MARGIN = 0.5; // of the view, on either side
const KEPT = 64; // threads
/** Waits that are held one by one; where there are more, those of a view, bundled by its columns. */
export const ROWS = 200000;
const SILENCE_MS = 4000; // after the server refused a question
/** Functions of bars that stand for waits alone are places of sites, from here. */
export const SITE_FN = 0x80000000;

/** What is known of a thread in [from, to), with columns of `pixel` ns. */
export interface ThreadData {
  from: number;
  to: number;
  pixel: number;
  calls: Tile;
  /** There are no calls: the bars are its waits. */
  isBare: boolean;
  waits: Waits;
  shares: Shares | null;
  /** By call: toneCode. */
  tones: Uint8Array;
}

interface WantedView {
  thread: number;
  view: Span;
  /** Columns that the view has. */
  columns: number;
}

function tonesOf({ n, start, end }: Tile, shares: Shares | null): Uint8Array {
  const tones = new Uint8Array(n);
  if (shares) for (let i = 0; i < n; i++) tones[i] = toneCode(toneOf(shares, start[i]!, end[i]!));
  return tones;
}

/** The waits of a thread that has no calls, as bars; what is narrower than a column is joined. */
function barsOf(waits: Waits, thread: number, from: number, to: number, pixel: number): Tile {
  const start: number[] = [];
  const end: number[] = [];
  const longest: number[] = [];
  const fn: number[] = [];
  const count: number[] = [];
  const { first, behind } = waitsIn(waits, from, to);
  for (let i = first; i < behind; i++) {
    const [a, b] = [waits.start[i]!, waits.end[i]!];
    const k = start.length - 1;
    if (
      k >= 0 &&
      (a < end[k]! || (b - a < pixel && end[k]! - start[k]! < pixel && a - end[k]! < pixel))
    ) {
      count[k]! += waits.count[i]!;
      if (waits.longest[i]! > longest[k]!)
        [longest[k], fn[k]] = [waits.longest[i]!, SITE_FN + waits.site[i]!];
      end[k] = Math.max(end[k]!, b);
      continue;
    }
    start.push(a);
    end.push(b);
    longest.push(waits.longest[i]!);
    fn.push(SITE_FN + waits.site[i]!);
    count.push(waits.count[i]!);
  }
  const n = start.length;
  const ends = Float64Array.from(end);
  return {
    thread,
    level: 0,
    index: 0,
    n,
    start: Float64Array.from(start),
    end: ends,
    covered: ends.map((t, i) => t - start[i]!),
    longest: Float64Array.from(longest),
    count: Uint32Array.from(count),
    fn: Uint32Array.from(fn),
    longestFn: Uint32Array.from(fn),
    isCluster: Uint8Array.from(count, many => (many > 1 ? 1 : 0)),
    depthFrom: Uint32Array.from([0, n]),
    bytes: 0,
    usedAt: 0,
  };
}

export class PlateLoader {
  private readonly known = new Map<number, ThreadData>();
  private all: Rows | null = null;
  private isMany = false;
  private wanted: readonly WantedView[] = [];
  private isAsking = false;
  private isStopped = true;
  private silentUntil = 0;
  private waiting: (() => void)[] = [];
  trouble = '';

  constructor(
    private readonly served: Served,
    private readonly onChange: () => void,
  ) {}

  of(thread: number): ThreadData | undefined {
    return this.known.get(thread);
  }

  /** All waits of the trace by thread; null: not known yet, or too many. */
  get rows(): Rows | null {
    return this.all?.isExact ? this.all : null;
  }

  /** There are so many waits in all of the trace: they are asked for while the picture is laid out. */
  tellWaits(count: number): void {
    this.isMany = count > ROWS;
    if (!this.all && !this.isMany) this.served.source.ahead('correspondences', { limit: ROWS });
  }

  /** Waits are not held one by one. */
  get isBundled(): boolean {
    return this.isMany || this.all?.isExact === false;
  }

  get isIdle(): boolean {
    return !this.isAsking;
  }

  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise(resolve => this.waiting.push(resolve));
  }

  stop(): void {
    this.isStopped = true;
    for (const lane of ['calls', 'blocking', 'waits']) this.served.source.cancel(`plate ${lane}`);
  }

  /** Says what is in view; asks for what is missing of it. */
  want(wanted: readonly WantedView[]): void {
    this.wanted = wanted;
    this.isStopped = false;
    if (!this.isAsking) void this.ask();
  }

  private isFine({ thread, view, columns }: WantedView): boolean {
    const own = this.known.get(thread);
    if (!own) return false;
    const whole = this.served.trace.duration;
    const pixel = (view.t1 - view.t0) / columns;
    const isWhole = own.to - own.from >= whole;
    const holds = own.from <= Math.max(0, view.t0) && own.to >= Math.min(whole, view.t1);
    return holds && own.pixel <= pixel * 1.5 + 1 && (isWhole || own.pixel >= pixel / 6 - 1);
  }

  private async ask(): Promise<void> {
    const missing = this.wanted.filter(one => !this.isFine(one));
    const first = missing[0];
    if (!first || this.isStopped || performance.now() < this.silentUntil) {
      for (const done of this.waiting.splice(0)) done();
      return;
    }
    const { t0, t1 } = first.view;
    const group = missing.filter(
      ({ view, columns }) => view.t0 === t0 && view.t1 === t1 && columns <= first.columns * 2,
    );
    this.isAsking = true;
    try {
      await this.fetch(group, first.view);
      this.trouble = '';
    } catch (error) {
      if (!(error instanceof Superseded)) this.fail(error);
    }
    this.isAsking = false;
    this.onChange();
    void this.ask();
  }

  private fail(error: unknown): void {
    this.trouble = messageOf(error);
    this.silentUntil = performance.now() + SILENCE_MS;
    setTimeout(() => !this.isStopped && !this.isAsking && void this.ask(), SILENCE_MS + 1);
  }

  private async waits(params: Params): Promise<Rows> {
    const ask = async (part: Params): Promise<Rows> =>
      decodeCorrespondences(
        await this.served.source.columns(
          'correspondences',
          { ...part, limit: ROWS },
          'plate waits',
        ),
      );
    if (!this.isBundled) this.all ??= await ask({});
    if (this.all?.isExact) return this.all;
    this.all = null; // some of them, the longest, are no more use
    this.isMany = true;
    return ask(params);
  }

  private async fetch(group: readonly WantedView[], { t0, t1 }: Span): Promise<void> {
    const { source, trace } = this.served;
    const whole = Math.max(1, Math.ceil(trace.duration));
    const more = (t1 - t0) * MARGIN;
    const from = Math.floor(Math.max(0, t0 - more));
    const to = Math.max(from + 1, Math.ceil(Math.min(whole, t1 + more)));
    const columns = Math.max(...group.map(one => one.columns));
    const part = (columns * (to - from)) / Math.max(1, t1 - t0);
    const width = Math.min(65536, Math.max(1, Math.ceil(part)));
    const params = { threads: group.map(one => one.thread), from, to, width };
    const [lod, blocking, rows] = await Promise.all([
      source.columns('lod', params, 'plate calls'),
      source.columns('blocking', params, 'plate blocking'),
      this.waits(params),
    ]);
    const shares = decodeBlocking(blocking);
    const pixel = (to - from) / width;
    for (const tile of tilesFrom(lod, 0, 0)) {
      const waits = rows.byThread.get(tile.thread) ?? noWaits();
      const isBare = this.served.threads[tile.thread]?.calls === 0;
      const calls = isBare ? barsOf(waits, tile.thread, from, to, pixel) : tile;
      const own = shares.get(tile.thread) ?? null;
      const tones = tonesOf(calls, own);
      this.keep(tile.thread, { from, to, pixel, calls, isBare, waits, shares: own, tones });
    }
  }

  private keep(thread: number, data: ThreadData): void {
    this.known.delete(thread);
    this.known.set(thread, data);
    const oldest = this.known.keys().next().value;
    if (this.known.size > KEPT && oldest !== undefined) this.known.delete(oldest);
  }
}
