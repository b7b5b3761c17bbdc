// SPDX-License-Identifier: MIT
// Which threads do most in the window: asked for while they are sorted by it.
import { num, objects } from '../../shared/api/json';
import { unlessSuperseded } from '../../shared/api/source';
import type { App } from '../../shared/state/app';
import { setTimeline, timelineOf } from './state_timeline';

const PAUSE_MS = 250; // after the window moved last

async function load(app: App): Promise<void> {
  const { served } = timelineOf(app);
  const { t0, t1 } = app.state.get().window;
  const params = { from: Math.floor(t0), to: Math.ceil(t1), limit: 1 };
  const byTid = new Map(served.threads.map(thread => [thread.tid, thread.id]));
  const busy = new Float64Array(served.threads.length);
  for (const row of objects(await served.source.json('interval', params, 'busy'), 'threads')) {
    const id = row['thread'];
    const own = typeof id === 'number' ? id : byTid.get(num(row, 'tid'));
    if (own !== undefined) busy[own] = num(row, 'calls') + num(row, 'called_ns') * 1e-15;
  }
  setTimeline(app, { busy });
}

export function followBusy(app: App): () => void {
  const { state } = timelineOf(app);
  let timer = 0;
  const plan = (): void => {
    window.clearTimeout(timer);
    if (state.get().sort !== 'busy') return;
    timer = window.setTimeout(
      () => void unlessSuperseded(load(app)).catch(() => setTimeline(app, { busy: null })),
      PAUSE_MS,
    );
  };
  const offs = [
    app.state.subscribe((now, before) => now.window !== before.window && plan()),
    state.subscribe((now, before) => now.sort !== before.sort && plan()),
  ];
  plan();
  return () => {
    window.clearTimeout(timer);
    offs.forEach(off => off());
  };
}
