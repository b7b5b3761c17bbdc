// SPDX-License-Identifier: MIT
// Asks the server for the lanes of locks: once for the whole trace, which says whose locks are worth a
// lane; then for what is in view, a little more, as finely as it is drawn.
import { Superseded } from '../../shared/api/source';
import type { Source } from '../../shared/api/source';

import { laneOrder } from './lib_lanes';
import type { Lane } from './lib_lanes';
import type { Columns } from '../../shared/api/columns';
import { decodeObjects } from '../../shared/api/objects';
import { take } from '../../shared/api/columns';

const MARGIN = 0.5; // of the window, on either side
const MOST_THREADS = 256; // of a question
const MOST_LANES = 4096; // of an answer

interface Part {
  from: number;
  to: number;
  pixel: number;
  threads: ReadonlySet<number>;
  lanes: Map<number, Lane[]>;
}

export class LaneLoader {
  private part: Part | null = null;
  private isAsking = false;
  private isStopped = false;
  private wanted: { t0: number; t1: number; width: number; threads: readonly number[] } | null =
    null;
  private waiting: (() => void)[] = [];

  constructor(
    private readonly source: Source,
    private readonly durationNs: number,
    /** By thread: the locks that have lanes, in their order. */
    private readonly order: ReadonlyMap<number, readonly string[]>,
    private readonly onChange: () => void,
  ) {}

  /** The lanes of a thread, in their order. */
  of(thread: number): readonly (Lane | null)[] {
    const own = this.part?.lanes.get(thread) ?? [];
    return (this.order.get(thread) ?? []).map(
      id => own.find(({ object }) => object.id === id) ?? null,
    );
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
    this.source.cancel('lanes');
  }

  want(t0: number, t1: number, width: number, threads: readonly number[]): void {
    const own = threads.filter(thread => this.order.has(thread)).slice(0, MOST_THREADS);
    this.wanted = { t0, t1, width, threads: own };
    if (!this.isAsking) void this.ask();
  }

  private isFine(): boolean {
    const { t0, t1, width, threads } = this.wanted!;
    const { part } = this;
    if (threads.length === 0) return true;
    if (!part || threads.some(thread => !part.threads.has(thread))) return false;
    const pixel = (t1 - t0) / width;
    const holds = part.from <= Math.max(0, t0) && part.to >= Math.min(this.durationNs, t1);
    return holds && part.pixel <= pixel * 1.5 + 1 && part.pixel >= pixel / 6 - 1;
  }

  private async ask(): Promise<void> {
    if (this.isStopped || this.isFine()) {
      for (const done of this.waiting.splice(0)) done();
      return;
    }
    const { t0, t1, width, threads } = this.wanted!;
    this.isAsking = true;
    const more = (t1 - t0) * MARGIN;
    const from = Math.floor(Math.max(0, t0 - more));
    const to = Math.ceil(Math.min(Math.max(this.durationNs, from + 1), t1 + more));
    const columns = Math.max(1, Math.ceil((width * (to - from)) / Math.max(1, t1 - t0)));
    try {
      const params = { from, to, threads, width: Math.min(65536, columns), limit: MOST_LANES };
      const lanes = new Map<number, Lane[]>();
      for (const lane of decodeLanes(await this.source.columns('lanes', params, 'lanes')))
        lanes.set(lane.thread, [...(lanes.get(lane.thread) ?? []), lane]);
      this.part = { from, to, pixel: (to - from) / columns, threads: new Set(threads), lanes };
    } catch (error) {
      this.isStopped ||= !(error instanceof Superseded); // without lanes the rest is still there
    }
    this.isAsking = false;
    this.onChange();
    void this.ask();
  }
}

/** Whose locks are worth a lane. */
export async function askLaneOrder(source: Source): Promise<Map<number, string[]>> {
  return laneOrder(
    decodeLanes(await source.columns('lanes', { width: 1, limit: MOST_LANES }, 'lane order')),
  );
}

/* ---- lanes ---- */

export function decodeLanes(answer: Columns): Lane[] {
  const known = decodeObjects(answer.meta);
  const thread = take<Uint32Array>(answer, 'lanes', 'thread');
  const object = take<Uint32Array>(answer, 'lanes', 'object');
  const first = take<Uint32Array>(answer, 'lanes', 'first_piece');
  const many = take<Uint32Array>(answer, 'lanes', 'n_pieces');
  const [held, waited, waits] = ['held_ns', 'held_waited_ns', 'waits_ns'].map(name =>
    take<Float64Array>(answer, 'lanes', name),
  ) as [Float64Array, Float64Array, Float64Array];
  const start = take<Float64Array>(answer, 'pieces', 'start_ns');
  const end = take<Float64Array>(answer, 'pieces', 'end_ns');
  const count = take<Uint32Array>(answer, 'pieces', 'count');
  const state = take<Uint8Array>(answer, 'pieces', 'state');
  return Array.from(thread, (id, i) => {
    const [a, b] = [first[i]!, first[i]! + many[i]!];
    const own = known[object[i]!];
    if (!own || b > start.length) throw new Error('a lane names an unknown object or piece');
    return {
      ...{ thread: id, object: own, n: b - a, start: start.slice(a, b), end: end.slice(a, b) },
      ...{ count: count.slice(a, b), state: state.slice(a, b) },
      ns: [held[i]!, waited[i]!, waits[i]!] as const,
    };
  });
}
