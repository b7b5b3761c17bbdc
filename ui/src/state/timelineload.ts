// SPDX-License-Identifier: MIT
// Loads what the mini-map shows: every thread over the whole trace, some at a time.
import { Superseded } from '../api/source';
import { Atom } from '../lib/atom';
import { addLoad } from '../lib/timelineload';
import type { App } from './app';
import { timelineOf } from './timeline';
import { tilesFrom } from './timelinetiles';

export const LOAD_COLUMNS = 400;
const BATCH = 16;
const MOST_THREADS = 512;

export interface LoadState {
  load: Float64Array;
  most: number;
  words: string;
  /** 0..1 */
  done: number;
}

class LoadLoader {
  readonly state = new Atom<LoadState>({
    ...{ load: new Float64Array(LOAD_COLUMNS), most: 0, words: 'threads running', done: 0 },
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
    const { source, threads, trace, names } = timelineOf(this.app).served;
    const busiest = [...threads].sort((a, b) => b.calls - a.calls).slice(0, MOST_THREADS);
    const some = busiest.length < threads.length ? `of the ${MOST_THREADS} busiest ` : '';
    const load = new Float64Array(LOAD_COLUMNS);
    const deepest = new Int32Array(LOAD_COLUMNS);
    const to = Math.max(1, Math.ceil(trace.duration));
    for (let i = 0; i < busiest.length; i += BATCH) {
      const ids = busiest.slice(i, i + BATCH).map(({ id }) => id);
      const params = { threads: ids, from: 0, to, width: LOAD_COLUMNS };
      const answer = await source.columns('lod', params, 'load');
      for (const tile of tilesFrom(answer, 0, 0)) addLoad(load, tile, to, names.isWait, deepest);
      const done = Math.min(1, (i + BATCH) / busiest.length);
      const words = `${done < 1 ? 'so far ' : ''}${some}running (inferred)`;
      this.state.set({ load: load.slice(), most: Math.max(...load), words, done });
    }
  }
}

const loaders = new WeakMap<App, LoadLoader>();

export function loadOf(app: App): LoadLoader {
  let loader = loaders.get(app);
  if (!loader) loaders.set(app, (loader = new LoadLoader(app)));
  return loader;
}
