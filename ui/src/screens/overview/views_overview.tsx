// SPDX-License-Identifier: MIT
// The Overview and Patterns screens, as every page has them.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { readAsk, writeAsk } from '../../shared/lib/ask';
import { integer, percent, plural, bytes } from '../../shared/lib/format';
import { readRow, rowAt, writeRow } from '../../shared/state/app';
import type { App } from '../../shared/state/app';
import type { OnReady, ScreenSpec } from '../../shared/state/screens';
import { Tooltip } from '../../shared/views/extra';
import { useApp, usePart } from '../../shared/views/use';
import * as pat from '../patterns/state_patterns';
import { ClusterCard, PatternPanel } from '../patterns/views_behaviour';
import { NoPatterns, PatternChart } from '../patterns/views_patterns';
import { PatternLegend, PatternStory } from '../patterns/views_side';
import { Chart } from './views_chart';
import { Legend } from './views_legend';
import { Panel } from './views_panel';
import { RegimeLine } from './views_regimes';
import { Story } from './views_story';

function OverviewScreen({ onReady }: { onReady: OnReady }): JSX.Element {
  usePart(s => s.colors);
  return (
    <>
      <Story />
      <main class="centre">
        <RegimeLine />
        <Chart onReady={onReady} />
      </main>
      <Legend />
      <Panel />
      <Tooltip />
    </>
  );
}

/** There is no stage to wait for. */
function EmptyScreen({ onReady }: { onReady: OnReady }): JSX.Element {
  useEffect(() => onReady(null), []);
  return (
    <main class="centre">
      <NoPatterns />
    </main>
  );
}

const hasPatterns = ({ model }: App): boolean => (model.behaviours?.list.length ?? 0) > 0;

function PatternScreen({ onReady }: { onReady: OnReady }): JSX.Element {
  const app = useApp();
  usePart(s => s.colors);
  if (!hasPatterns(app)) return <EmptyScreen onReady={onReady} />;
  return (
    <>
      <PatternStory />
      <main class="centre">
        <PatternChart onReady={onReady} />
      </main>
      <PatternLegend />
      <PatternPanel />
      <ClusterCard />
    </>
  );
}

function regimeWords({ model: { trace } }: App): string {
  if (trace.part?.kind === 'sketch') return plural(trace.calls, 'call');
  const left = trace.totals.foldedNs / Math.max(1, trace.totals.expressionNs);
  return `${bytes(trace.bytesIn)} \u2192 ${integer(trace.totals.rowsAfter)} rows; ${percent(left)} of the short calls\u2019 time stands in \u201cother\u201d`;
}

function patternWords(app: App): string {
  const totals = app.model.behaviours?.shapes.totals;
  return totals
    ? `${plural(totals.calls, 'complete call')} in ${plural(totals.shapes, 'shape')}`
    : '';
}

function patternKey(app: App, event: KeyboardEvent): boolean {
  if (!hasPatterns(app)) return false;
  const steps: Record<string, () => void> = event.altKey
    ? {
        KeyA: () => pat.setSide(app, 'a', pat.meantShape(app)),
        KeyB: () => pat.setSide(app, 'b', pat.meantShape(app)),
      }
    : {
        o: () => pat.toggleMarks(app),
        i: () => pat.toggleFolds(app),
        r: () => pat.toggleSampling(app),
        v: () => pat.nextDrawing(app),
      };
  const step = steps[event.altKey ? event.code : event.key];
  step?.();
  return step !== undefined;
}

/** What a served page adds to the address: thresholds, whether they hold, and the item. */
function writeRegimes(app: App): [string, string][] {
  const { live, model, state } = app;
  if (!live) return [];
  const { ask, isHeld } = live.state.get();
  const { item } = state.get();
  const at = item && rowAt(model, item);
  return [
    ['reg', writeAsk(ask)],
    ['hold', isHeld ? '1' : ''],
    ['row', at ? writeRow(model.trace.threads[at.thread]!.tid, at) : ''],
  ];
}

function readRegimes(app: App, get: (key: string) => string): void {
  const { live, model } = app;
  if (!live) return;
  live.change(readAsk(get('reg')));
  live.hold(get('hold') === '1');
  live.name(readRow(get('row'), tid => model.trace.threads.findIndex(t => t.tid === tid)));
}

export const OVERVIEW: ScreenSpec = {
  ...{ key: 'overview', digit: 1, name: 'Overview', View: OverviewScreen },
  kind: () => '',
  keys: [
    ['\u2191\u2193', 'thread'],
    ['\u2190\u2192', 'item'],
    ['Enter', 'select'],
    ['W S A D', 'zoom, pan'],
    ['z', 'zoom to range'],
    ['\u232b', 'back'],
    ['t', 'linear / regime'],
    ['h', 'highlight / filter'],
    ['e', 'tall'],
    ['Esc', 'clear'],
  ],
  help: [],
  status: regimeWords,
  write: writeRegimes,
  read: readRegimes,
};

export const PATTERNS: ScreenSpec = {
  ...{ key: 'patterns', digit: 3, name: 'Patterns', View: PatternScreen },
  kind: app => (hasPatterns(app) ? ' patterns' : ' patterns bare'),
  keys: [
    ['\u2191\u2193', 'ribbon'],
    ['\u2190\u2192', 'run'],
    ['. ,', 'next, previous place'],
    ['v', 'shape / calls'],
    ['Alt+A Alt+B', 'compare'],
    ['o', 'spikes, drops'],
    ['r', 'rare'],
    ['i', 'fold idle'],
    ['W S A D', 'zoom, pan'],
    ['z', 'zoom to it'],
    ['h', 'highlight / filter'],
    ['e', 'high ribbons'],
    ['Esc', 'clear'],
  ],
  help: [
    ['v', 'Patterns: calls in time, calls in order, shape'],
    ['o', 'Patterns: spikes and drops on and off'],
    [
      'calls: count:',
      'Patterns, in the search box: behaviours that call it; of so many occurrences',
    ],
    ['Alt+A, Alt+B', 'Patterns: the shape at hand is A, is B; both are compared'],
    ['i', 'Patterns: fold stretches in which no thread shown has an occurrence'],
    ['r', 'Patterns: where runs share a pixel, favour rare behaviours; rare calls have marks'],
  ],
  status: app => patternWords(app) || regimeWords(app),
  onKey: patternKey,
  write: pat.writeView,
  read: pat.readView,
};
