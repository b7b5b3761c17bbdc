// SPDX-License-Identifier: MIT
// Asks the server for the tiles that a view lacks: those in view first, the middle one before the
// others, then what lies beside, then the next zooms. Each lane has one question under way, and a
// question that no view wants any more is given up.
import { Superseded } from '../../shared/api/source';
import type { Source } from '../../shared/api/source';
import { columnNs, TileStore, tileNs, tilesOf, TOP_LEVEL } from '../../shared/lib/tiles';
import { tilesFrom } from '../../shared/api/tiles';

const LANES = 3;
const MOST_THREADS = 48; // of a question: its answer comes soon
const STORE_BYTES = 160 * 2 ** 20;
const SILENCE_MS = 4000; // after the server refused a question

/** What a view shows. */
export interface Wanted {
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
    this.trouble = error instanceof Error ? error.message : String(error);
    this.silentUntil = performance.now() + SILENCE_MS;
    setTimeout(() => this.wanted && this.ask(), SILENCE_MS + 1);
  }
}
