// SPDX-License-Identifier: MIT
// The Overview and Patterns screens, as every page has them.
import type { JSX } from 'preact';
import { readAsk, writeAsk } from '../../shared/lib/ask';
import * as act from '../../shared/state/actions';
import { duration, exact } from '../../shared/lib/format';
import { findRow, readRow, rowAt, writeRow } from '../../shared/state/app';
import type { App } from '../../shared/state/app';
import type { OnReady, ScreenSpec } from '../../shared/state/screens';

import { ChartSettings } from '../../shared/views/frame';
import { Swatch } from '../../shared/views/parts';
import { useApp, usePart } from '../../shared/views/use';
import { Chart } from './views_chart';
import { OVERVIEW_STATE } from './views_exact';
import { Legend } from './views_legend';
import { factsOf, Panel } from './views_panel';
import { RegimeLine, RegimeSettings, Thresholds } from './views_regimes';
import { Story } from './views_story';
import { Tooltip } from './views_chart';
import { regimeWords } from '../../shared/state/rows';

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

const CARDS: ScreenSpec['cards'] = {
  atHand({ model, state }) {
    const { item } = state.get();
    const at = item && rowAt(model, item);
    return at && { kind: 'row', row: writeRow(model.trace.threads[at.thread]!.tid, at) };
  },
  read(app, what) {
    const { threads } = app.model.trace;
    const at =
      what.kind === 'row' ? readRow(what.row, tid => threads.findIndex(t => t.tid === tid)) : null;
    const item = at && findRow(app.model, at);
    if (!item) return null;
    const { rows, label } = threads[item.thread]!;
    const [start, end] = [rows.start[item.row]!, rows.end[item.row]!];
    return {
      sentence: act.sentence(app, item),
      title: act.title(app, item),
      time: duration(end - start),
      remark: `${label}, starts ${exact(start)}`,
      facts: () => factsOf(app.model, item),
      Mark: () => <Swatch fn={rows.fn[item.row]!} />,
      select() {
        act.reveal(app, item.thread);
        act.set(app, { item, panel: 'interval' });
      },
    };
  },
};

function clear(app: App): boolean {
  const { range, item } = app.state.get();
  if (range || item) act.clearItem(app);
  return range !== null || item !== null;
}

function Settings(): JSX.Element {
  const { live } = useApp();
  return (
    <ChartSettings color="function">
      {live ? (
        <RegimeSettings live={live} />
      ) : (
        <span title="notable: longer than d, or holds a gap longer than g; runs are cut at f">
          <Thresholds />
        </span>
      )}
    </ChartSettings>
  );
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
  Settings,
  own: OVERVIEW_STATE,
  cards: CARDS,
  clear,
  focus: app => act.itemSpan(app, app.state.get().item),
  write: writeRegimes,
  read: readRegimes,
};
