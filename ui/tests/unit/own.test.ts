// SPDX-License-Identifier: MIT
// What screens keep with the app.
import { expect, it } from 'vitest';
import { hover, overviewOf } from '../../src/screens/overview/state';
import { OVERVIEW } from '../../src/screens/overview/view';
import { hoverCluster, PATTERNS_STATE, stateOf } from '../../src/screens/patterns/state';
import { PATTERNS } from '../../src/screens/patterns/view';
import { decodeTrace } from '../../src/shared/api/page';
import { Own } from '../../src/shared/lib/atom';
import { setScreen } from '../../src/shared/state/actions';
import { makeApp, Model, replaceModel } from '../../src/shared/state/app';
import type { App } from '../../src/shared/state/app';
import { makeData } from '../fixtures/make.mjs';

const trace = decodeTrace(makeData(6));
const fresh = (): App => makeApp(trace, [OVERVIEW, PATTERNS]);

it('is made once for each holder', () => {
  let made = 0;
  const own = new Own<{ own: Map<string, unknown> }, number>('n', () => ++made);
  const [a, b] = [{ own: new Map() }, { own: new Map() }];
  expect([own.of(a), own.of(b), own.of(a)]).toEqual([1, 2, 1]);
});

it('is there when the app is made, and is no other app’s', () => {
  const [one, other] = [fresh(), fresh()];
  expect([...one.own.keys()].sort()).toEqual(['overview', 'patterns']);
  expect(PATTERNS_STATE.of(one)).not.toBe(PATTERNS_STATE.of(other));
  expect(overviewOf(one)).not.toBe(overviewOf(other));
});

it('forgets what is pointed at when another screen or other rows are shown', () => {
  const app = fresh();
  const point = (): void => {
    hover(app, { thread: 0, row: 1 }, { x: 1, y: 2 });
    hoverCluster(app, 3);
  };
  const isNothing = (): boolean =>
    overviewOf(app).state.get().hover === null && stateOf(app).over === -1;
  point();
  expect(isNothing()).toBe(false);
  setScreen(app, 'patterns');
  expect(isNothing()).toBe(true);
  point();
  replaceModel(app, new Model(trace));
  expect(isNothing()).toBe(true);
});
