// SPDX-License-Identifier: MIT
// Asks the server for the states of the threads in view: for a little more than the window, so that
// a step of panning needs no question, and again when the zoom has halved or doubled.
import { take } from '../../shared/api/columns';
import type { Columns } from '../../shared/api/columns';
import { Superseded } from '../../shared/api/source';
import type { Source } from '../../shared/api/source';
import { LOOK, lookOf } from '../../shared/lib/states';
import type { Strip } from '../../shared/lib/states';

const MARGIN = 0.5; // of the window, on either side
const MOST_THREADS = 48; // of a question
const KEPT = 400;

function words(answer: Columns, key: string): string[] {
  const list = answer.meta[key];
  return Array.isArray(list) ? list.map(String) : [];
}

/** The strips of an answer by thread id. */
export function stripsFrom(answer: Columns, from: number, to: number): Map<number, Strip> {
  const [states, reasons, notes] = ['states', 'reasons', 'names'].map(key =>
    words(answer, key),
  ) as [string[], string[], string[]];
  const first = take<Uint32Array>(answer, 'threads', 'first_item');
  const many = take<Uint32Array>(answer, 'threads', 'n_items');
  const start = take<Float64Array>(answer, 'items', 'start_ns');
  const end = take<Float64Array>(answer, 'items', 'end_ns');
  const count = take<Uint32Array>(answer, 'items', 'count');
  const running = take<Float64Array>(answer, 'items', 'running_ns');
  const state = take<Uint8Array>(answer, 'items', 'state');
  const reason = take<Uint8Array>(answer, 'items', 'reason');
  const note = take<Uint32Array>(answer, 'items', 'name');
  const look = state.map((kind, i) =>
    lookOf(states[kind] ?? '', reasons[reason[i]!] ?? '', notes[note[i]!] ?? ''),
  );
  const pixel = Number(answer.meta['pixel_ns'] ?? 0);
  const strips = new Map<number, Strip>();
  take<Uint32Array>(answer, 'threads', 'id').forEach((thread, i) => {
    const [a, b] = [first[i]!, first[i]! + many[i]!];
    strips.set(thread, {
      ...{ from, to, pixel, n: b - a, start: start.slice(a, b), end: end.slice(a, b), notes },
      by: 'as the kernel saw it',
      ...{ running: running.slice(a, b), count: count.slice(a, b) },
      ...{ look: look.slice(a, b), note: note.slice(a, b) },
    });
  });
  return strips;
}

/** A thread whose end nobody saw seems to run until the trace ends: that is known of it until its
 * last event only. */
export function untilLast(strip: Strip, durationNs: number, lastNs: number): Strip {
  const last = strip.n - 1;
  if (last < 0 || strip.look[last] !== LOOK.RUN || strip.end[last]! < durationNs) return strip;
  const length = strip.end[last]! - strip.start[last]!;
  strip.end[last] = Math.max(strip.start[last]!, Math.min(strip.end[last]!, lastNs));
  strip.running[last]! *= (strip.end[last] - strip.start[last]!) / Math.max(1, length);
  return strip;
}

export class StateLoader {
  private readonly known = new Map<number, Strip>();
  private isAsking = false;
  private isStopped = false;
  private wanted: { t0: number; t1: number; width: number; threads: readonly number[] } | null =
    null;
  private waiting: (() => void)[] = [];

  constructor(
    private readonly source: Source,
    private readonly durationNs: number,
    private readonly lastNs: (thread: number) => number,
    private readonly onChange: () => void,
  ) {}

  of(thread: number): Strip | undefined {
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
    this.source.cancel('states');
  }

  /** Says what is in view; asks for what is missing of it. */
  want(t0: number, t1: number, width: number, threads: readonly number[]): void {
    this.wanted = { t0, t1, width, threads };
    if (!this.isAsking) void this.ask();
  }

  private isFine(thread: number): boolean {
    const { t0, t1, width } = this.wanted!;
    const strip = this.known.get(thread);
    if (!strip) return false;
    const pixel = (t1 - t0) / width;
    const holds = strip.from <= Math.max(0, t0) && strip.to >= Math.min(this.durationNs, t1);
    return holds && strip.pixel <= pixel * 1.5 + 1 && strip.pixel >= pixel / 6 - 1;
  }

  private async ask(): Promise<void> {
    const { t0, t1, width, threads } = this.wanted!;
    const missing = threads.filter(thread => !this.isFine(thread)).slice(0, MOST_THREADS);
    if (missing.length === 0 || this.isStopped) {
      for (const done of this.waiting.splice(0)) done();
      return;
    }
    this.isAsking = true;
    const more = (t1 - t0) * MARGIN;
    const from = Math.floor(Math.max(0, t0 - more));
    const to = Math.ceil(Math.min(Math.max(this.durationNs, from + 1), t1 + more));
    const columns = Math.ceil((width * (to - from)) / Math.max(1, t1 - t0));
    try {
      const params = { from, to, threads: missing, width: Math.max(1, columns) };
      const answer = await this.source.columns('states', params, 'states');
      for (const [thread, strip] of stripsFrom(answer, from, to))
        this.keep(thread, untilLast(strip, this.durationNs, this.lastNs(thread)));
    } catch (error) {
      this.isStopped ||= !(error instanceof Superseded); // without states the rest is still there
    }
    this.isAsking = false;
    this.onChange();
    void this.ask();
  }

  private keep(thread: number, strip: Strip): void {
    this.known.delete(thread);
    this.known.set(thread, strip);
    const oldest = this.known.keys().next().value;
    if (this.known.size > KEPT && oldest !== undefined) this.known.delete(oldest);
  }
}
