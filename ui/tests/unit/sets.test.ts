// SPDX-License-Identifier: MIT
// Searches of a served page, commands, and the regimes that follow the window.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { callTree } from '../../src/screens/patterns/shapes';
import { parseQuery } from '../../src/shared/lib/search';
import { resetView, setWindow } from '../../src/shared/state/actions';
import { makeApp, readRow, writeRow } from '../../src/shared/state/app';
import type { App } from '../../src/shared/state/app';
import { commandsOf, keyOf, matchScore, runKeyed } from '../../src/shared/state/commands';
import { Live } from '../../src/shared/state/live';
import { callsOf, decodeSet, placeIn, setText, stepSet } from '../../src/shared/state/sets';
import { pack } from '../fixtures/columns';
import { DATA, FUNCTIONS, makeOne, makeServed, THREADS, TRACE } from '../fixtures/served';

describe('a search', () => {
  const served = makeServed();
  const ask = (text: string): ReturnType<typeof callsOf> => callsOf(served, parseQuery(text));
  it('asks for calls by function ids, limits and threads', () => {
    const fn = FUNCTIONS.name.indexOf('page_evict');
    expect(ask('fn:page_evict min:5ms')).toMatchObject({ fn: [fn], min_ns: 5e6 });
    expect(ask(`max:1us tid:${THREADS[1]!.tid}`)).toMatchObject({ max_ns: 1000, threads: [1] });
  });
  it('asks for none when it speaks of something else', () => {
    expect(ask('')).toBeNull();
    expect(ask('kind:gap')).toBeNull();
    expect(ask(`tid:${THREADS[0]!.tid}`)).toBeNull();
    expect(ask('fn:/(/')).toBeNull();
  });
  it('says why it finds none', () => {
    expect(ask('fn:nothing_is_called_so')).toContain('No function');
    expect(ask('fn:page tid:999999')).toContain('No thread');
  });
});

describe('a set', () => {
  const answer = {
    meta: { total: 5 },
    tables: new Map([
      [
        'calls',
        pack({
          start_ns: Float64Array.of(70, 10, 10),
          end_ns: Float64Array.of(80, 40, 20),
          thread: Uint32Array.of(1, 0, 0),
          depth: Uint16Array.of(0, 0, 1),
          function: Uint32Array.of(2, 2, 2),
        }),
      ],
    ]),
  };
  const set = decodeSet(answer, 'fn:x', { fn: [2], min_ns: 7 });
  it('stands in order of time', () => {
    expect([...set.start]).toEqual([10, 10, 70]);
    expect([...set.depth]).toEqual([0, 1, 0]);
    expect([set.n, set.total, set.minNs, set.maxNs]).toEqual([3, 5, 7, Infinity]);
    expect(setText(set)).toContain('5 calls, the longest 3 calls here, in 2 threads');
  });
  it('is stepped through, round and round', () => {
    const { app, served } = makeOne();
    served.state.update(now => ({ ...now, set }));
    const places: number[] = [];
    for (const by of [1, 1, 1, 1, -1, -1] as const) {
      expect(stepSet(app, by)).toBe(true);
      places.push(placeIn(set, served.state.get().call));
    }
    expect(places).toEqual([0, 1, 2, 0, 2, 1]);
    expect(app.state.get().range).toEqual({ t0: 10, t1: 20 });
  });
});

describe('commands', () => {
  const press = (key: string, more: Partial<KeyboardEvent> = {}): KeyboardEvent =>
    ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more }) as never;
  it('are named by their keys', () => {
    expect(keyOf(press('P', { ctrlKey: true, shiftKey: true }))).toBe('Ctrl+Shift+P');
    expect(keyOf(press('p', { ctrlKey: true }))).toBe('Ctrl+P');
    expect(keyOf(press('>', { shiftKey: true }))).toBe('>');
    expect(keyOf(press('Backspace'))).toBe('Backspace');
  });
  it('have names of their own and no key twice', () => {
    const { app } = makeOne();
    const all = commandsOf(app);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    const keys = all.flatMap(({ key, also = [] }) => (key ? [key, ...also] : also));
    expect(new Set(keys).size).toBe(keys.length);
  });
  it('run from their keys, those of a served page only there', () => {
    const { app } = makeOne();
    expect(runKeyed(app, press('3'))).toBe(true);
    expect(app.state.get().screen).toBe('patterns');
    expect(runKeyed(app, press('P', { ctrlKey: true }))).toBe(true);
    expect(app.state.get().drawer).toBe('find');
    const report = makeApp(app.model.trace, app.screens);
    expect(runKeyed(report, press('P', { ctrlKey: true }))).toBe(false);
    expect(runKeyed(app, press('q'))).toBe(false);
  });
  it('are found by words and by letters', () => {
    expect(matchScore('Show the whole trace', 'whole')).toBeGreaterThan(0);
    expect(matchScore('Show the whole trace', 'trace sh')).toBeGreaterThan(0);
    expect(matchScore('Show the whole trace', 'swt')).toBeGreaterThan(0);
    expect(matchScore('Show the whole trace', 'xyz')).toBe(0);
  });
});

describe('a row of the address', () => {
  it('is read as it was written', () => {
    const at = { thread: 2, kind: 1, level: 3, start: 10, end: 99 };
    const text = writeRow(77, at);
    expect(text).toBe('t77.1.3.10-99');
    expect(readRow(text, tid => (tid === 77 ? 2 : -1))).toEqual(at);
    expect(readRow(text, () => -1)).toBeNull();
    expect(readRow('t7.1', () => 0)).toBeNull();
  });
});

describe('the calls of an occurrence', () => {
  const rows = {
    start: Float64Array.of(0, 10, 20, 40, 60, 100),
    end: Float64Array.of(90, 80, 30, 70, 61, 120),
    depth: Uint16Array.of(2, 3, 4, 4, 5, 2),
    fn: Int32Array.of(7, 1, 2, 3, 4, 7),
  };
  it('are those below it', () => {
    const tree = callTree(rows, 10, 80, 1, 100)!;
    expect([tree.all, [...tree.level], [...tree.fn]]).toEqual([4, [0, 1, 1, 2], [1, 2, 3, 4]]);
    expect(callTree(rows, 10, 80, 9, 100)).toBeNull();
  });
  it('are the longest if there are too many, each with its callers', () => {
    const tree = callTree(rows, 0, 90, 7, 3)!;
    expect([tree.all, tree.n, [...tree.fn]]).toEqual([5, 3, [7, 1, 3]]);
  });
});

describe('live regimes', { timeout: 60000 }, () => {
  const asked: string[] = [];
  beforeEach(() => {
    vi.useFakeTimers();
    asked.length = 0;
    vi.stubGlobal('fetch', async (url: string, { signal }: { signal: AbortSignal }) => {
      const [path, query] = url.split('?') as [string, string];
      const name = path.replace('/token/api/', '');
      if (name !== 'progress') asked.push(`${name} ${query.replace(/trace=0&?/, '')}`);
      if (name === 'progress' || name === 'lod') {
        const never = new Promise<Response>((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted'))),
        );
        return never;
      }
      await new Promise(resolve => setTimeout(resolve, 50));
      if (signal.aborted) throw new Error('aborted');
      return new Response(JSON.stringify(name === 'shapes' ? { shapes: DATA['shapes'] } : DATA));
    });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });
  const start = async (): Promise<{ app: App; live: Live }> => {
    const { app, served } = makeOne();
    const live = new Live(app, served);
    app.live = live;
    const begun = live.start();
    await vi.advanceTimersByTimeAsync(300);
    await begun;
    return { app, live };
  };
  it('are of the whole trace, then of a window that rests, then of the whole at once', async () => {
    const { app } = await start();
    expect(app.model.trace.part).toBeNull();
    expect(app.model.behaviours).not.toBeNull();
    const whole = app.model;
    const third = Math.floor(TRACE.duration_ns / 3);
    setWindow(app, 0, third + 5);
    setWindow(app, 0, third);
    expect(app.model).toBe(whole);
    await vi.advanceTimersByTimeAsync(250);
    expect(asked.some(text => text.startsWith('regtime from='))).toBe(false);
    await vi.advanceTimersByTimeAsync(400);
    expect(asked.filter(text => text.startsWith('regtime from='))).toEqual([
      `regtime from=0&to=${third}`,
    ]);
    expect(app.model.trace.part).toEqual({ kind: 'window', span: { t0: 0, t1: third } });
    resetView(app);
    expect(app.model).toBe(whole);
    setWindow(app, 0, third);
    expect(app.model.trace.part?.span.t1).toBe(third); // kept: not asked again
  });
  it('stay those of the whole trace when held, and change with the thresholds', async () => {
    const { app, live } = await start();
    live.hold(true);
    setWindow(app, 0, 1000);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked.some(text => text.startsWith('regtime from='))).toBe(false);
    live.change({ ...live.state.get().ask, preset: 'fine', d: 5000 });
    await vi.advanceTimersByTimeAsync(400);
    expect(asked[asked.length - 1]).toBe('regtime preset=fine&duration_ns=5000');
  });
});
