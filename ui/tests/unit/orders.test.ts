// SPDX-License-Identifier: MIT
// Answers in any order: late ones, refused ones, those to questions that nobody asks any more.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Functions } from '../../src/screens/functions/state';
import { Health } from '../../src/screens/health/state';
import { Interplay } from '../../src/screens/interplay/state';
import type { PlateHit } from '../../src/screens/interplay/state';
import { ExactAnswers } from '../../src/screens/overview/state';
import { detailsOf } from '../../src/screens/timeline/details';
import { TileLoader } from '../../src/screens/timeline/load';
import { readPlace, writePlace, followSearch, timelineOf } from '../../src/screens/timeline/state';
import * as walk from '../../src/screens/timeline/walk';
import type { Columns } from '../../src/shared/api/columns';
import type { Span } from '../../src/shared/lib/model';
import { set } from '../../src/shared/state/actions';
import type { App } from '../../src/shared/state/app';
import { Live } from '../../src/shared/state/live';
import { Paths } from '../../src/shared/state/paths';
import { setServed } from '../../src/shared/state/served';
import type { CallAt, Served } from '../../src/shared/state/served';
import { Searches } from '../../src/shared/state/sets';
import { pack } from '../fixtures/columns';
import { DATA, FUNCTIONS, HeldSource, makeOne, rest, THREADS } from '../fixtures/served';

let source: HeldSource;
let app: App;
let served: Served;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('window', globalThis);
  source = new HeldSource();
  ({ app, served } = makeOne(source));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const call = (start: number, change: Partial<CallAt> = {}): CallAt => ({
  thread: 0,
  depth: 0,
  start,
  end: start + 10,
  fn: 1,
  ...change,
});
const item = ({ depth, start, end, fn }: CallAt) => ({
  found: true,
  depth,
  start_ns: start,
  end_ns: end,
  function: fn,
  self_ns: 1,
  flags: [],
  arguments: {},
  ancestors: [],
  children: [],
  numbers: [],
  texts: [],
});
const bins = { bins: [], count: 0, sum_ns: 0, min_ns: 0, max_ns: 0 };
const found = (...starts: number[]): Columns => ({
  meta: { total: starts.length },
  tables: new Map([
    [
      'calls',
      pack({
        start_ns: Float64Array.from(starts),
        end_ns: Float64Array.from(starts, t => t + 5),
        thread: new Uint32Array(starts.length),
        depth: new Uint16Array(starts.length),
        function: new Uint32Array(starts.length),
      }),
    ],
  ]),
});

describe('the search of the timeline', () => {
  const name = FUNCTIONS.name[0]!;
  beforeEach(() => set(app, { screen: 'timeline', query: `fn:${name}` }));
  it('finds nothing of what is no longer searched for', async () => {
    followSearch(app);
    set(app, { query: '' });
    await vi.advanceTimersByTimeAsync(1000);
    expect(source.names()).toEqual([]);
    expect(served.state.get().set).toBeNull();
    expect(timelineOf(app).state.get().asking).toEqual([]);
  });
  it('waits for the newest, and for outliers beside it', async () => {
    followSearch(app);
    served.state.update(now => ({ ...now, call: call(5) }));
    walk.stepOutlier(app, 1);
    set(app, { query: `fn:${name} min:1ns` });
    await vi.advanceTimersByTimeAsync(1000);
    expect(timelineOf(app).state.get().asking).toEqual(['outliers', 'search']);
    await source.answer('outliers', { outliers: [] });
    expect(timelineOf(app).state.get().asking).toEqual(['search']);
    await source.answer('calls', found(7));
    expect(timelineOf(app).state.get().asking).toEqual([]);
    expect(served.state.get().set?.n).toBe(1);
  });
});

describe('searches of other screens', () => {
  const query = `fn:${FUNCTIONS.name[0]!}`;
  it('are left to the timeline when that is shown, and taken up behind it', async () => {
    const searches = new Searches(app, served);
    set(app, { query });
    await vi.advanceTimersByTimeAsync(1000);
    expect(source.names()).toEqual(['calls']);
    set(app, { screen: 'timeline' });
    await rest();
    expect(searches.state.get().isAsked).toBe(false);
    expect(source.names()).toEqual([]);
    set(app, { query: `${query} min:1ns` });
    set(app, { screen: 'overview' }); // before the timeline has looked
    await vi.advanceTimersByTimeAsync(1000);
    await source.answer('calls', found(3, 4));
    expect(searches.state.get().own).toMatchObject({ title: `${query} min:1ns`, n: 2 });
  });
});

describe('the call that is selected on the timeline', () => {
  it('has what one question came to, and why another came to nothing', async () => {
    setServed(served, { call: call(5) });
    detailsOf(app).start();
    await source.refuse('histogram', 'too many calls');
    await source.answer('item', item(call(5)));
    expect(detailsOf(app).state.get()).toMatchObject({ trouble: 'too many calls', bins: null });
    expect(detailsOf(app).state.get().details?.call).toEqual(call(5));
    setServed(served, { call: call(50) });
    expect(detailsOf(app).state.get().trouble).toBe('');
    setServed(served, { call: null });
    await source.refuse('item', 'nothing there');
    expect(detailsOf(app).state.get()).toMatchObject({ trouble: '', details: null });
    await source.answer('histogram', bins);
  });
  it('is that of the address at hand, not of the one before', async () => {
    const place = (at: string) => readPlace(app, key => (key === 'at' ? at : ''));
    const at = `t${THREADS[0]!.tid}.0.5`;
    place(at);
    expect(new Map(writePlace(app)).get('at')).toBe(at); // kept until the server has said it
    place('');
    await rest();
    expect(source.names()).toEqual([]);
    expect(new Map(writePlace(app)).get('at')).toBe('');
    place(at);
    await source.answer('item', item(call(5)));
    expect(served.state.get().call).toEqual(call(5));
  });
  const hit = { ...call(900), count: 1, covered: 1, longest: 1, x0: 0, x1: 1, y0: 0, y1: 1 };
  it('is what was chosen last, however late a wish is heard', async () => {
    set(app, { screen: 'timeline' });
    setServed(served, { call: call(5) });
    walk.stepSibling(app, 1);
    walk.selectHit(app, hit);
    await rest();
    expect(source.names()).toEqual([]);
    walk.stepOutlier(app, 1);
    walk.selectHit(app, hit);
    const { window } = app.state.get();
    const outlier = { kind: 'call', thread_id: 0, depth: 0, start_ns: 7, end_ns: 9, fn: 2 };
    await source.answer('outliers', { outliers: [outlier] });
    expect(served.state.get().call).toEqual(call(900));
    expect(app.state.get().window).toBe(window);
    walk.stepOutlier(app, 1); // known by now
    await rest();
    expect(served.state.get().call).toMatchObject({ start: 7 });
  });
  it('is none that arrives when the screen is left', async () => {
    setServed(served, { call: call(5) });
    walk.stepSibling(app, 1);
    walk.forget(app);
    await rest();
    expect(source.names()).toEqual([]);
  });
});

describe('the Functions screen', () => {
  const table = (...selfs: number[]) => ({
    functions: selfs.map((self_ns, fn) => ({
      fn,
      name: FUNCTIONS.name[fn],
      module: '',
      count: 1,
      inclusive_ns: self_ns,
      self_ns,
      threads: 1,
      open_count: 0,
      open_ns: 0,
      cut_count: 0,
    })),
  });
  /** A tree of two calls below nothing. */
  const tree = (...selfs: number[]): Columns => ({
    meta: { total: 2 },
    tables: new Map([
      [
        'nodes',
        pack({
          parent: Int32Array.of(-1, -1),
          function: Uint32Array.of(0, 1),
          count: Float64Array.of(1, 1),
          sum_ns: Float64Array.from(selfs),
          self_ns: Float64Array.from(selfs),
        }),
      ],
    ]),
  });
  const window = (t0: number, t1: number) =>
    set(app, { window: { t0, t1 }, crumbs: [{ t0: 0, t1: 1e9 }], range: null });
  const selfs = (screen: Functions) => screen.rows().map(({ id, self }) => [id, self]);
  beforeEach(() => set(app, { screen: 'functions' }));

  it('shows rows of one part: its table with the times of its tree', async () => {
    window(0, 1000);
    const screen = new Functions(app, served);
    screen.watch();
    await source.answer('tree', tree(5, 4));
    await source.answer('functions', table(10, 20));
    expect(selfs(screen)).toEqual([
      [0, 5],
      [1, 4],
    ]);
    window(1000, 2000);
    await source.answer('functions', table(10, 20, 30));
    expect(screen.isTableWaiting).toBe(true);
    expect(selfs(screen)).toEqual([
      [0, 5],
      [1, 4],
    ]);
    await source.answer('tree', tree(1, 2));
    expect(screen.isTableWaiting).toBe(false);
    expect(selfs(screen).slice(0, 2)).toEqual([
      [1, 2],
      [0, 1],
    ]);
  });
  it('asks for the histogram of the first row, whichever answer makes it the first', async () => {
    window(0, 1000);
    const screen = new Functions(app, served);
    screen.watch();
    await source.answer('functions', table(10, 20));
    await source.answer('tree', tree(5, 4));
    expect(screen.fn()).toBe(0);
    expect(source.take('histogram').params).toMatchObject({ fn: 0 });
  });
  it('makes no set of a brush that was given up', async () => {
    const screen = new Functions(app, served);
    const off = screen.watch();
    setServed(served, { fn: 1 });
    screen.setBrush({ min: 5, max: 9 });
    off(); // another screen is shown, and another function chosen there
    screen.selectFunction(0);
    const [columns] = [found(3).tables.get('calls')!];
    columns.columns.set('self_ns', Float64Array.of(1));
    columns.columns.set('depth', Uint32Array.of(0));
    await source.answer('calls', { meta: { total: 1 }, tables: new Map([['calls', columns]]) });
    expect(served.state.get().set).toBeNull();
  });
});

it('what a server computes ahead is known while it is looked at again', async () => {
  const health = new Health(served);
  const one = { state: 'running', done: 1, total: 2 };
  const first = health.look();
  for (let i = 0; i < 3; i++) await source.answer('progress', one);
  await first;
  const second = health.look();
  void health.look(); // the server is slow
  await second;
  expect(health.state.get().ahead).toHaveLength(3);
});

it('of an interval it is not said why another one has no exact answer', async () => {
  const own = new ExactAnswers(served);
  const [a, b]: Span[] = [
    { t0: 0, t1: 10 },
    { t0: 10, t1: 20 },
  ];
  own.want(a!);
  await vi.advanceTimersByTimeAsync(100);
  await source.refuse('interval', 'too long');
  expect(own.troubleOf(a!)).toBe('too long');
  own.want(b!);
  expect(own.troubleOf(b!)).toBe('');
});

it('who waits for tiles is told when nothing more is asked for', async () => {
  const loader = new TileLoader(source, 1e6, () => undefined);
  const wanted = { level: 5, t0: 0, t1: 1e6, threads: [0], near: [] };
  loader.want(wanted);
  const stopped = loader.idle();
  loader.stop();
  await stopped;
  loader.want(wanted);
  const refused = loader.idle();
  while (source.asked.length > 0) await source.refuse('lod', 'no memory');
  await refused;
  expect(loader.trouble).toBe('no memory');
});

it('of two functions whose paths are looked for, the last one counts', async () => {
  const paths = new Paths(app, served);
  const [first, second] = [
    paths.pickFunction('no function is called so', 1),
    paths.pickFunction(FUNCTIONS.name[0]!, 1),
  ];
  await rest();
  expect(source.names()).toEqual(['calls']);
  await source.answer('calls', found(5));
  await Promise.all([first, second]);
  expect(paths.state.get()).toMatchObject({ trouble: '' });
  expect(paths.picks()).toHaveLength(1);
  const third = paths.pickFunction(FUNCTIONS.name[0]!, 1);
  paths.pick([{ thread: 0, span: { t0: 1, t1: 2 }, label: '' }], false);
  await third;
  expect(paths.picks()).toHaveLength(1);
});

it('a wait that the address names stays in it, and is not selected behind another choice', () => {
  const screen = new Interplay(app, served);
  screen.wantWait({ thread: 0, item: 7 });
  expect(screen.waitPlace()).toBe('0.7');
  screen.select({ thread: 0, item: -1, start: 1, end: 2, fn: 1, count: 1 } as PlateHit);
  expect(screen.waitPlace()).toBe('');
});

describe('regimes', () => {
  it('tell why there are none of the whole, whatever becomes of a window', async () => {
    const live = new Live(app, served);
    void live.start();
    await source.refuse('lod', 'no memory');
    expect(live.state.get()).toMatchObject({ trouble: '', partTrouble: 'no memory' });
    await source.refuse('regtime', 'too long');
    set(app, { window: { t0: 0, t1: 1000 } });
    await vi.advanceTimersByTimeAsync(1000);
    expect(live.state.get()).toMatchObject({ trouble: 'too long', partTrouble: '' });
    await source.answer('regtime', DATA);
    expect(live.state.get()).toMatchObject({ trouble: 'too long', wanted: null });
  });
  it('give way to no first picture, however late that is', async () => {
    set(app, { window: { t0: 0, t1: 1000 } });
    const live = new Live(app, served);
    void live.start();
    set(app, { window: { t0: 0, t1: 2000 } });
    set(app, { window: { t0: 0, t1: 2000 }, crumbs: [{ t0: 0, t1: 1000 }] });
    await vi.advanceTimersByTimeAsync(10);
    source.asked.reverse(); // the window is answered first
    await source.answer('regtime', DATA);
    expect(app.model.trace.part?.kind).toBe('window');
    expect(source.names()).not.toContain('lod');
  });
});
