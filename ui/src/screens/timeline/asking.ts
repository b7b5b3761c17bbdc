// SPDX-License-Identifier: MIT
// Asks the server for what is in view: for a little more than the window, so that a step of panning
// needs no question, and again when the zoom has halved or doubled.
import { Superseded } from '../../shared/api/source';
import type { Source } from '../../shared/api/source';

interface Wanted {
  t0: number;
  t1: number;
  width: number;
  threads: readonly number[];
}

/** What was asked for: ns, and ns a pixel. */
export interface Part {
  from: number;
  to: number;
  pixel: number;
}

const MARGIN = 0.5; // of the window, on either side

export abstract class ViewLoader {
  protected wanted: Wanted | null = null;
  private isAsking = false;
  private isStopped = false;
  private waiting: (() => void)[] = [];

  constructor(
    protected readonly source: Source,
    protected readonly durationNs: number,
    protected readonly kind: 'states' | 'lanes',
    private readonly onChange: () => void,
  ) {}

  get isIdle(): boolean {
    return !this.isAsking;
  }

  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise(resolve => this.waiting.push(resolve));
  }

  stop(): void {
    this.isStopped = true;
    this.source.cancel(this.kind);
  }

  /** Says what is in view; asks for what is missing of it. */
  want(t0: number, t1: number, width: number, threads: readonly number[]): void {
    this.wanted = { t0, t1, width, threads };
    if (!this.isAsking) void this.ask();
  }

  /** Whether a part holds the view, about as finely as it is drawn. */
  protected isFine({ from, to, pixel }: Part): boolean {
    const { t0, t1, width } = this.wanted!;
    const now = (t1 - t0) / width;
    const holds = from <= Math.max(0, t0) && to >= Math.min(this.durationNs, t1);
    return holds && pixel <= now * 1.5 + 1 && pixel >= now / 6 - 1;
  }

  /** The threads to ask for; none: all is there. */
  protected abstract missing(): readonly number[];
  protected abstract load(part: Part, threads: readonly number[], columns: number): Promise<void>;

  private async ask(): Promise<void> {
    const threads = this.isStopped ? [] : this.missing();
    if (threads.length === 0) {
      for (const done of this.waiting.splice(0)) done();
      return;
    }
    const { t0, t1, width } = this.wanted!;
    this.isAsking = true;
    const more = (t1 - t0) * MARGIN;
    const from = Math.floor(Math.max(0, t0 - more));
    const to = Math.ceil(Math.min(Math.max(this.durationNs, from + 1), t1 + more));
    const columns = Math.max(1, Math.ceil((width * (to - from)) / Math.max(1, t1 - t0)));
    try {
      await this.load({ from, to, pixel: (to - from) / columns }, threads, columns);
    } catch (error) {
      this.isStopped ||= !(error instanceof Superseded); // without it the rest is still there
    }
    this.isAsking = false;
    this.onChange();
    void this.ask();
  }
}
