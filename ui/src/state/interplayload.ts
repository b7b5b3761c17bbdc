// SPDX-License-Identifier: MIT
// Calls and waits of the threads that are shown, as finely as they are drawn: each thread has a time
// and a room of its own. Threads that have the same are asked for together; for a little more than is
// in view, so that a step of panning needs no question.
import { decodeWaits } from '../api/interplay';
import { Superseded } from '../api/source';
import { Shares } from '../lib/interplay';
import type { Waits } from '../lib/interplay';
import type { Span } from '../lib/model';
import type { Tile } from '../lib/timelinetiles';
import type { Served } from './served';
import { tilesFrom } from './timelinetiles';

const MARGIN = 0.5; // of the view, on either side
const KEPT = 64; // threads
const SILENCE_MS = 4000;

/** What is known of a thread in [from, to), with columns of `pixel` ns. */
export interface ThreadData {
  from: number;
  to: number;
  pixel: number;
  calls: Tile;
  waits: Waits;
  shares: Shares;
}

export interface WantedView {
  thread: number;
  view: Span;
  /** Columns that the view has. */
  columns: number;
}

export class PlateLoader {
  private readonly known = new Map<number, ThreadData>();
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

  get isIdle(): boolean {
    return !this.isAsking;
  }

  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise(resolve => this.waiting.push(resolve));
  }

  stop(): void {
    this.isStopped = true;
    this.served.source.cancel('plate');
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
    const holds = own.from <= Math.max(0, view.t0) && own.to >= Math.min(whole, view.t1);
    return holds && own.pixel <= pixel * 1.5 + 1 && (own.pixel >= pixel / 6 - 1 || own.to - own.from >= whole);
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
    this.trouble = error instanceof Error ? error.message : String(error);
    this.silentUntil = performance.now() + SILENCE_MS;
    setTimeout(() => !this.isStopped && !this.isAsking && void this.ask(), SILENCE_MS + 1);
  }

  private async fetch(group: readonly WantedView[], { t0, t1 }: Span): Promise<void> {
    const { source, trace } = this.served;
    const whole = Math.max(1, Math.ceil(trace.duration));
    const more = (t1 - t0) * MARGIN;
    const from = Math.floor(Math.max(0, t0 - more));
    const to = Math.max(from + 1, Math.ceil(Math.min(whole, t1 + more)));
    const columns = Math.max(...group.map(one => one.columns));
    const width = Math.min(65536, Math.max(1, Math.ceil((columns * (to - from)) / Math.max(1, t1 - t0))));
    const threads = group.map(one => one.thread);
    const params = { threads, from, to, width };
    const [lod, waits] = await Promise.all([
      source.columns('lod', params, 'plate calls'),
      source.columns('waits', params, 'plate waits'),
    ]);
    const tiles = new Map(tilesFrom(lod, 0, 0).map(tile => [tile.thread, tile]));
    for (const [thread, own] of decodeWaits(waits, from, to)) {
      const calls = tiles.get(thread);
      if (calls)
        this.keep(thread, { from, to, pixel: (to - from) / width, calls, waits: own, shares: new Shares(own) });
    }
  }

  private keep(thread: number, data: ThreadData): void {
    this.known.delete(thread);
    this.known.set(thread, data);
    const oldest = this.known.keys().next().value;
    if (this.known.size > KEPT && oldest !== undefined) this.known.delete(oldest);
  }
}
