// SPDX-License-Identifier: MIT
import { expect, it } from 'vitest';
import { OVERVIEW } from '../../src/screens/overview/view';
import {
  chooseExample,
  put,
  selectCluster,
  stateOf,
  toggleFolds,
  folded,
  idleOf,
} from '../../src/screens/patterns/state';
import { PATTERNS } from '../../src/screens/patterns/view';
import { decodeTrace } from '../../src/shared/api/page';
import {
  readFragment,
  writeFragment,
  isSamePin,
  readPin,
  writePin,
} from '../../src/shared/lib/fragment';
import type { Pin } from '../../src/shared/lib/fragment';
import { idleStretches, foldMap } from '../../src/shared/lib/timemap';
import * as act from '../../src/shared/state/actions';
import { focusSpan } from '../../src/shared/state/actions';
import { applyPlace, makeApp, placeOf } from '../../src/shared/state/app';
import type { App } from '../../src/shared/state/app';
import { goToPin, pinAtHand, togglePin, unpin } from '../../src/shared/state/pins';
import { timeMap } from '../../src/shared/state/screens';
import { makeData, withIdle } from '../fixtures/make.mjs';

const fresh = (): App => makeApp(decodeTrace(makeData(6)), [OVERVIEW, PATTERNS]);

it('pins go into an address and back', () => {
  const window = { t0: 0, t1: 12500000 };
  const at = { tid: 7, span: { t0: 1000000, t1: 2000001 } };
  const pins: Pin[] = [
    { screen: 'patterns', window, what: { kind: 'behaviour', id: 17, at: null } },
    { screen: 'patterns', window, what: { kind: 'behaviour', id: 17, at } },
    { screen: 'overview', window, what: { kind: 'row', row: 't7.0.3.1200-4500' } },
  ];
  for (const pin of pins) expect(readPin(writePin(pin))).toEqual(pin);
  expect(isSamePin(pins[0]!, { ...pins[0]!, window: { t0: 5, t1: 9 } })).toBe(true);
  expect(isSamePin(pins[0]!, pins[1]!)).toBe(false);
  for (const bad of [
    '',
    '3',
    '3~0-1',
    '3~x~c1',
    '3~0-1~c',
    '3~0-1~c1~t7',
    '3~0-1~c1~t7.1-2~',
    'a~0-1~c1',
  ])
    expect(readPin(bad)).toBeNull();
});

it('a pinned card leads back to its place, whatever has changed', () => {
  const app = fresh();
  act.setScreen(app, 'patterns');
  act.setWindow(app, 1e6, 5e6);
  chooseExample(app, 2, 'slowest');
  togglePin(app);
  const [pin] = app.state.get().pins;
  const { window } = app.state.get();
  const { chosen } = stateOf(app);
  act.setScreen(app, 'overview');
  act.resetView(app);
  act.select(app, { thread: 1, row: 0 });
  togglePin(app);
  expect(app.state.get().pins.length).toBe(2);
  goToPin(app, pin!);
  expect(app.state.get()).toMatchObject({ screen: 'patterns', window });
  expect(stateOf(app).cluster).toBe(2);
  expect(stateOf(app).chosen!.at).toEqual(chosen!.at);
  expect(app.state.get().crumbs.length).toBe(1);
  goToPin(app, app.state.get().pins[1]!);
  expect(app.state.get()).toMatchObject({ screen: 'overview', item: { thread: 1, row: 0 } });
});

it('a second time the key closes the card; an address has them all', () => {
  const app = fresh();
  expect(pinAtHand(app)).toBeNull();
  togglePin(app);
  expect(app.state.get().pins).toEqual([]);
  act.setScreen(app, 'patterns');
  for (let c = 0; c < 12; c++) {
    selectCluster(app, c);
    togglePin(app);
  }
  expect(app.state.get().pins.length).toBe(8);
  togglePin(app);
  expect(app.state.get().pins.length).toBe(7);
  const other = fresh();
  applyPlace(other, readFragment(writeFragment(placeOf(app)))!);
  expect(other.state.get().pins).toEqual(app.state.get().pins);
  unpin(app, app.state.get().pins[0]!);
  expect(app.state.get().pins.length).toBe(6);
});

it('what is selected among patterns comes back from an address', () => {
  const app = fresh();
  act.setScreen(app, 'patterns');
  chooseExample(app, 2, 'slowest');
  put(app, { sort: 'p99', hasMarks: false, a: 1, tab: 'diff', isRare: true });
  const other = fresh();
  const address = writeFragment(placeOf(app));
  for (const part of ['cl=', 'occ=t', 'marks=0', 'by=p99', 'A=shape:', 'tab=diff', 'pick=rare'])
    expect(address).toContain(part);
  applyPlace(other, readFragment(address)!);
  const { chosen, ...rest } = stateOf(other);
  const { chosen: before, ...all } = stateOf(app);
  expect(rest).toEqual(all);
  expect(chosen?.at).toEqual(before?.at);
  expect(focusSpan(other)).toEqual(focusSpan(app));
});

it('Esc gives up the occurrence, then the behaviour', () => {
  const app = fresh();
  act.setScreen(app, 'patterns');
  chooseExample(app, 2, 'slowest');
  act.clear(app);
  expect(stateOf(app)).toMatchObject({ cluster: 2, chosen: null });
  act.clear(app);
  expect(stateOf(app).cluster).toBe(-1);
});

it('searches of before are kept, once each, the latest first, and in the address', () => {
  const app = fresh();
  for (const query of ['lock', ' ', 'fn:read  min:1ms', 'lock', 'a&b=c']) {
    act.setQuery(app, query);
    act.remember(app);
  }
  expect(app.state.get().past).toEqual(['a&b=c', 'lock', 'fn:read min:1ms']);
  const other = fresh();
  applyPlace(other, readFragment(writeFragment(placeOf(app)))!);
  expect(other.state.get().past).toEqual(app.state.get().past);
  for (let i = 0; i < 20; i++) {
    act.setQuery(app, `q${i}`);
    act.remember(app);
  }
  expect(app.state.get().past.length).toBe(8);
  expect(app.state.get().past[0]).toBe('q19');
});

it('idle is what no span covers', () => {
  const a = { t0: [10, 40], t1: [20, 45] };
  const b = { t0: [12, 70], t1: [30, 90] };
  expect(idleStretches([a, b], 100, 1)).toEqual([
    { t0: 0, t1: 10 },
    { t0: 30, t1: 40 },
    { t0: 45, t1: 70 },
    { t0: 90, t1: 100 },
  ]);
  expect(idleStretches([a, b], 100, 11)).toEqual([{ t0: 45, t1: 70 }]);
  expect(idleStretches([], 100, 1)).toEqual([{ t0: 0, t1: 100 }]);
});

it('a map with folds goes there and back, and gives the rest the room', () => {
  const folds = [
    { t0: 100, t1: 600 },
    { t0: 700, t1: 900 },
  ];
  const map = foldMap(1000, folds, 0.02);
  let last = -1;
  for (let t = 0; t <= 1000; t += 2.5) {
    const u = map.at(t);
    expect(u).toBeGreaterThan(last);
    expect(map.time(u)).toBeCloseTo(t, 6);
    last = u;
  }
  expect(map.at(0)).toBe(0);
  expect(map.at(1000)).toBe(1);
  expect(map.at(600) - map.at(100)).toBeCloseTo(0.02);
  expect(map.at(700) - map.at(600)).toBeCloseTo((0.96 * 100) / 300);
  const many = Array.from({ length: 100 }, (_, i) => ({ t0: i * 10 + 1, t1: i * 10 + 9 }));
  const share = many.reduce((sum, { t0, t1 }, _, all) => {
    const own = foldMap(1000, all, 0.02);
    return sum + own.at(t1) - own.at(t0);
  }, 0);
  expect(share).toBeCloseTo(0.3);
  expect(foldMap(1000, [{ t0: 0, t1: 1000 }], 0.02).isLinear).toBe(true);
});

it('folds hold on the Patterns screen alone, and where nothing shown occurs', () => {
  const columns = decodeTrace(makeData(6)).shapes!.columns;
  const data = withIdle(makeData(6), columns * 0.3, columns * 0.6);
  const app = makeApp(decodeTrace(data), [OVERVIEW, PATTERNS]);
  act.setScreen(app, 'patterns');
  toggleFolds(app);
  const { stretches } = idleOf(app.model, app.state.get().hidden);
  expect(stretches.length).toBe(1);
  expect((stretches[0]!.t1 - stretches[0]!.t0) / app.model.trace.duration).toBeGreaterThan(0.25);
  expect(timeMap(app).isLinear).toBe(false);
  for (const { t0, t1 } of stretches)
    for (const own of app.model.behaviours!.shapes.threads)
      for (const ribbon of own!.ribbons)
        for (let run = 0; run < ribbon.n; run++) {
          const [start, end] = [ribbon.start[run]!, ribbon.end[run]!];
          if (!Number.isNaN(start)) expect(start < t1 && end > t0).toBe(false);
        }
  expect(folded(app)).toBe(stretches);
  act.setScreen(app, 'overview');
  expect(timeMap(app).isLinear).toBe(true);
});
