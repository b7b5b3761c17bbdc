// SPDX-License-Identifier: MIT
// Loads what the mini-map shows: every thread over the whole trace, some at a time.
import { Superseded } from '../../shared/api/source';
import { Atom } from '../../shared/lib/atom';
import { Own } from '../../shared/lib/own';
import type { App } from '../../shared/state/app';
import { addLoad, addRunning } from './lib_load';
import { stripsFrom, untilLast } from './state_states';

import { timelineOf } from './state_timeline';
import { tilesFrom } from '../../shared/api/tiles';

export const LOAD_COLUMNS = 400;
const BATCH = 16;
const MOST_THREADS = 512;
/** States are asked for so many times finer: short ones that join may reach over two columns. */
const FINER = 4;

export interface LoadState {
  load: Float64Array;
  most: number;
  words: string;
  /** What the height is, in a sentence. */
  meaning: string;
  /** 0..1 */
  done: number;
}

const MEASURED =
  'How many threads were on a processor, as the kernel saw it: the mean over each column';
const INFERRED = 'How many threads are in a call that is not a wait';

class LoadLoader {
  readonly state = new Atom<LoadState>({
    ...{ load: new Float64Array(LOAD_COLUMNS), most: 0, words: 'threads running', done: 0 },
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
    const busiest = [...threads].sort((a, b) => weight(b) - weight(a)).slice(0, MOST_THREADS);
    const some = busiest.length < threads.length ? `of the ${MOST_THREADS} busiest ` : '';
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
