// SPDX-License-Identifier: MIT
// The Overview and Patterns screens, as every page has them.
import type { JSX } from 'preact';
import type { BaseStage } from '../../shared/draw/base';
import { GREY_HUE } from '../../shared/lib/color';
import { duration, exact, compact, integer, plural, times } from '../../shared/lib/format';
import { FLAG, KIND } from '../../shared/lib/model';
import type { Thread } from '../../shared/lib/model';
import type { Family } from '../../shared/lib/names';
import { readAsk, writeAsk } from '../../shared/lib/search';
import * as act from '../../shared/state/actions';
import { findRow, readRow, rowAt, writeRow } from '../../shared/state/app';
import type { App, Item } from '../../shared/state/app';
import { regimeWords } from '../../shared/state/rows';
import type { ChartRow } from '../../shared/state/rows';
import type { OnReady, ScreenSpec } from '../../shared/state/screens';
import { stepSet } from '../../shared/state/sets';
import { ChartSettings, Frame, bindPointer, runKey } from '../../shared/views/chart';
import type { Pointing } from '../../shared/views/chart';
import { ColorInput, OwnColors } from '../../shared/views/colors';
import { Swatch, Key, hueVar, tipStyle, Marks } from '../../shared/views/parts';
import { useApp, usePart, useAtom } from '../../shared/views/use';
import { Stage } from './draw';
import { hover as hoverItem, OVERVIEW_STATE, overviewOf } from './state';
import { factsOf, Panel } from './panel';
import { RegimeLine, RegimeSettings, Thresholds, RegimeStatus, useRegimeWords } from './regimes';
import { Story } from './story';

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
  key: 'overview',
  name: 'Overview',
  View: OverviewScreen,
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

/* ---- The chart of the Overview: one row a thread, calls and folded runs over time. ---- */

interface LeftOut {
  calls: number;
  ns: number;
  nodes: number;
  foldedNs: number;
}

function leftOutOf(threads: readonly Thread[]): LeftOut {
  const sum = { calls: 0, ns: 0, nodes: 0, foldedNs: 0 };
  for (const thread of threads) {
    sum.calls += thread.sliverCalls;
    sum.ns += thread.sliverNs;
    sum.nodes += thread.foldedNodes;
    sum.foldedNs += thread.foldedNs;
  }
  return sum;
}

function leftOutTitle({ calls, ns, nodes, foldedNs }: LeftOut): string {
  return `${plural(calls, 'sub-pixel call')}, ${duration(ns)}; ${plural(nodes, 'node')} folded, ${duration(foldedNs)}`;
}

function LeftOutCell({ out }: { out: LeftOut }): JSX.Element {
  if (out.calls === 0 && out.nodes === 0) return <>nothing</>;
  return (
    <>
      {compact(out.calls)} sub-pixel
      <br />
      <i>{out.nodes > 0 ? `${compact(out.nodes)} folded` : duration(out.ns)}</i>
    </>
  );
}

function ThreadLabel({ row, top }: { row: ChartRow; top: number }): JSX.Element {
  const app = useApp();
  const picked = usePart(s => s.picked);
  const thread = row.thread!;
  const isSketch = app.model.trace.part?.kind === 'sketch';
  const raised = thread.factor !== 1 ? `; thresholds raised ${times(thread.factor)}` : '';
  const click = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) act.pick(app, thread.index);
    else act.toggleTall(app, thread.index);
  };
  return (
    <div class="label" role="rowheader" style={{ top: `${top}px`, height: `${row.height - 1}px` }}>
      <button
        class={picked.has(thread.index) ? 'thread picked' : 'thread'}
        aria-expanded={row.isTall}
        title={`${row.isTall ? 'Compact' : 'Every level'} (e); Ctrl+click ticks it${raised}`}
        onClick={click}
      >
        <b>{thread.label}</b> {thread.name && <span class="tname">{thread.name}</span>}
      </button>
      <small>
        {isSketch ? plural(thread.calls, 'call') : `${duration(thread.runningNs)} running`}
        {thread.factor !== 1 ? ` \u00b7 d, g ${times(thread.factor)}` : ''}
      </small>
    </div>
  );
}

function PackLabel({ row, top }: { row: ChartRow; top: number }): JSX.Element {
  return (
    <div class="label" role="rowheader" style={{ top: `${top}px`, height: `${row.height - 1}px` }}>
      <b class="pack-title">{row.pack!.title}</b>
      <small title={row.pack!.remark}>{row.pack!.remark}</small>
    </div>
  );
}

function Numbers({ row, top }: { row: ChartRow; top: number }): JSX.Element {
  const app = useApp();
  const threads = row.pack?.threads ?? [row.thread!];
  const calls = threads.reduce((sum, t) => sum + t.calls, 0);
  const after = threads.reduce((sum, t) => sum + t.rowsAfter, 0);
  const out = leftOutOf(threads);
  const { part } = app.model.trace;
  const isSketch = part?.kind === 'sketch';
  return (
    <div class="numbers" style={{ top: `${top}px`, height: `${row.height - 1}px` }}>
      <span class="calls" role="cell">
        {part?.kind === 'window' ? '' : integer(calls)}
        <br />
        <i>{isSketch ? '' : `\u2192 ${integer(after)}`}</i>
      </span>
      <span class="left" role="cell" title={leftOutTitle(out)}>
        {isSketch && row.thread ? (
          ''
        ) : row.thread ? (
          <LeftOutCell out={out} />
        ) : (
          <>
            {isSketch ? '' : out.calls === 0 ? 'nothing' : `${compact(out.calls)} sub-pixel`}
            <br />
            <button class="link" onClick={() => act.togglePack(app, row.pack!.key)}>
              expand ▸
            </button>
          </>
        )}
      </span>
    </div>
  );
}

function Totals({ n }: { n: number }): JSX.Element {
  const app = useApp();
  const { trace } = app.model;
  const unpacked = usePart(s => s.unpacked);
  const words = useRegimeWords();
  const out = leftOutOf(trace.threads);
  const { calls, rowsAfter, foldedNs, raised } = trace.totals;
  const ratio = rowsAfter > 0 ? calls / rowsAfter : 0;
  if (trace.part?.kind === 'sketch')
    return (
      <div class="totals">
        <span class="grow">
          {integer(n)} of {plural(trace.threads.length, 'thread')} shown. {words}
        </span>
        <RegimeStatus />
      </div>
    );
  return (
    <div class="totals">
      <span class="grow">
        {words} {integer(n)} of {plural(trace.threads.length, 'thread')} shown. Omitted:{' '}
        {plural(out.calls, 'sub-pixel call')}, {duration(out.ns)}; {duration(foldedNs)} folded into
        “other”;{' '}
        {raised === 0
          ? 'no threshold raised'
          : `${plural(raised, 'thread')} with raised thresholds`}
        .
        {unpacked.size > 0 && (
          <>
            {' '}
            <button
              class="link"
              onClick={() => [...unpacked].forEach(key => act.togglePack(app, key))}
            >
              pack similar threads
            </button>
          </>
        )}
      </span>
      <RegimeStatus />
      <b>
        {plural(calls, 'call')} {'\u2192'} {plural(rowsAfter, 'row')}
      </b>
      <span class="dim">{integer(ratio)} : 1</span>
    </div>
  );
}

function Selected(): JSX.Element {
  const item = usePart(s => s.item);
  const app = useApp();
  return (
    <div role="option" id="item-now" aria-selected={item !== null}>
      {item ? act.sentence(app, item) : 'No item selected. Arrow keys walk.'}
    </div>
  );
}

function Empty(): JSX.Element {
  const app = useApp();
  if (app.model.trace.threads.length > 0)
    return (
      <p class="empty">
        Every thread is hidden or filtered.{' '}
        <button
          class="link"
          onClick={() => {
            act.showAll(app);
            act.setQuery(app, '');
          }}
        >
          Show all
        </button>
      </p>
    );
  return (
    <p class="empty">
      This trace holds no call. Was the program built with tracing, and did it run to its end?
    </p>
  );
}

const LISTED = ['epoch', 'only', 'sort', 'hidden', 'open', 'unpacked', 'isFiltered'] as const;
const PAINTED = ['window', 'query', 'isRegime', 'family'] as const;

function Chart({ onReady }: { onReady: (stage: BaseStage) => void }): JSX.Element {
  return (
    <Frame<ChartRow, Stage>
      label="Threads over time"
      listLabel="Items of all threads. Left and right walk in time, up and down between threads."
      heads={['calls \u2192 rows', 'omitted']}
      make={(app, canvases) => new Stage(app, canvases)}
      bind={bindItems}
      onKey={chartKey}
      painted={PAINTED}
      listed={LISTED}
      follow={(own, paint) => overviewOf(own).state.subscribe(() => paint(false))}
      threadOf={(now, before) =>
        now.item && (now.item !== before.item || now.open !== before.open) ? now.item.thread : null
      }
      holds={(row, thread) =>
        row.thread?.index === thread || row.pack?.threads.some(t => t.index === thread) === true
      }
      row={row => (
        <>
          {row.thread ? <ThreadLabel row={row} top={row.y} /> : <PackLabel row={row} top={row.y} />}
          <Numbers row={row} top={row.y} />
        </>
      )}
      selected={() => <Selected />}
      totals={rows => (
        <Totals n={rows.reduce((sum, row) => sum + (row.pack?.threads.length ?? 1), 0)} />
      )}
      empty={() => <Empty />}
      onReady={onReady}
    />
  );
}

function Tooltip(): JSX.Element | null {
  const app = useApp();
  const { hover, pointer } = useAtom(overviewOf(app).state, s => s);
  if (!hover || !pointer) return null;
  const thread = app.model.trace.threads[hover.thread]!;
  const { rows } = thread;
  const i = hover.row;
  const isFolded = rows.kind[i] === KIND.NODE || rows.kind[i] === KIND.OTHER;
  const time = isFolded ? rows.sum[i]! : rows.end[i]! - rows.start[i]!;
  const style = tipStyle(pointer);
  const flags = rows.flags[i]!;
  const marks = [
    flags & FLAG.OUTLIER && 'unusual for its function',
    flags & FLAG.CUT_START && 'began before the trace',
    flags & FLAG.CUT_END && 'open at the end',
    flags & FLAG.REPAIRED && 'repaired',
  ].filter(Boolean);
  return (
    <div class="tip" role="tooltip" style={style}>
      <div class="line">
        <Swatch fn={rows.fn[i]!} />
        <b class="grow">{act.title(app, hover)}</b>
        <b>{duration(time)}</b>
      </div>
      <p class="remark">
        {thread.label} · {isFolded ? 'first starts' : 'starts'} {exact(rows.start[i]!)} · depth{' '}
        {rows.level[i]}
      </p>
      <table>
        <tbody>
          {factsOf(app.model, hover).map(fact => (
            <tr key={fact.name}>
              <th scope="row">{fact.name}</th>
              <td class="num">{fact.value}</td>
              <td class="num dim">{fact.more ?? ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {marks.length > 0 && <p class="remark">{marks.join(', ')}</p>}
      {isFolded && <p class="remark">Folded: order inside is by first occurrence, not by time.</p>}
      <p class="keys">
        <Key>click</Key> keep <Key>z</Key> zoom <Key>Esc</Key> clear
      </p>
    </div>
  );
}

/** The Overview's pointing: items. */
function bindItems(app: App, stage: Stage, area: HTMLElement): () => void {
  const itemAt = (x: number, y: number): Item | null => {
    const hit = stage.hit(x, y);
    return hit && { thread: hit.thread, row: hit.row };
  };
  const pointing: Pointing = {
    stage,
    borders: (x, y) => {
      const hit = stage.hit(x, y);
      return hit && [hit.x0, hit.x1];
    },
    hover: (x, y, pointer) => {
      const item = itemAt(x, y);
      hoverItem(app, item, item ? pointer : null);
    },
    leave: () => hoverItem(app, null, null),
    click: (x, y) => act.select(app, itemAt(x, y)),
  };
  if (app.served)
    pointing.menu = (x, y, event) => {
      const at = y + stage.scrollTop;
      const row = stage.rows().rows.find(one => at >= one.y && at < one.y + one.height);
      const item = itemAt(x, y);
      const thread = item?.thread ?? row?.thread?.index ?? -1;
      const t = stage.view().t(x);
      hoverItem(app, null, null);
      act.openMenu(app, { x: event.clientX, y: event.clientY, t, item, thread });
    };
  return bindPointer(app, pointing, area);
}

/** Items of a thread that can carry the focus: those in view, from the painted ones. */
function focusable(app: App, stage: Stage, thread: number): number[] {
  const { rows } = app.model.trace.threads[thread]!;
  const seen = new Set<number>();
  for (const hit of stage.hits())
    if (hit.thread === thread && rows.kind[hit.row] !== KIND.SLIVER) seen.add(hit.row);
  return [...seen].sort((a, b) => a - b);
}

function firstItem(app: App, stage: Stage, thread: number): Item {
  return { thread, row: focusable(app, stage, thread)[0] ?? 0 };
}

function stepItem(app: App, stage: Stage, by: 1 | -1): void {
  const { item } = app.state.get();
  if (!item) return stepThread(app, stage, 1);
  const list = focusable(app, stage, item.thread);
  const at = list.indexOf(item.row);
  const next = list[at < 0 ? 0 : Math.min(list.length - 1, Math.max(0, at + by))];
  if (next !== undefined) act.select(app, { thread: item.thread, row: next });
}

function stepThread(app: App, stage: Stage, by: 1 | -1): void {
  const { item } = app.state.get();
  const all = stage.rows().rows.flatMap(row => row.pack?.threads ?? [row.thread!]);
  const threads = all.filter(thread => thread.rows.n > 0); // a part of the trace has some without
  if (threads.length === 0) return;
  const at = item ? threads.findIndex(thread => thread.index === item.thread) : -1;
  const next = threads[Math.min(threads.length - 1, Math.max(0, at + by))]!;
  const { rows } = next;
  const before = item && app.model.trace.threads[item.thread]!.rows.start[item.row]!;
  let row = firstItem(app, stage, next.index).row;
  if (before !== null)
    for (const candidate of focusable(app, stage, next.index))
      if (rows.start[candidate]! <= before && rows.end[candidate]! > before) {
        row = candidate;
        break;
      }
  act.select(app, { thread: next.index, row });
}

function chartKey(app: App, stage: Stage, event: KeyboardEvent): boolean {
  return runKey(app, event, {
    ArrowRight: () => stepItem(app, stage, 1),
    ArrowLeft: () => stepItem(app, stage, -1),
    ArrowDown: () => stepThread(app, stage, 1),
    ArrowUp: () => stepThread(app, stage, -1),
    Period: () => stepSet(app, 1) || act.stepHit(app, 1),
    Comma: () => stepSet(app, -1) || act.stepHit(app, -1),
    KeyE: () => toggleTallOf(app),
  });
}

function toggleTallOf(app: App): void {
  const { item } = app.state.get();
  if (item) act.toggleTall(app, item.thread);
}

/* ---- The legend: families by self time, and the marks. ---- */

const SHOWN = 10;

function Entry({ entry, index }: { entry: Family; index: number }): JSX.Element {
  const app = useApp();
  const family = usePart(s => s.family);
  const n = entry.functions.length;
  const names = entry.functions.map(fn => app.model.fullName(fn)).sort();
  return (
    <li>
      <button
        class="entry"
        aria-pressed={family === index}
        title={names.slice(0, 12).join('\n') + (n > 12 ? `\nand ${n - 12} more` : '')}
        onClick={() => act.toggleFamily(app, index)}
      >
        <span class="swatch" style={{ background: hueVar(entry.hue) }} />
        <span class="grow">{entry.title}</span>
        {n > 1 && <small>{n} fn</small>}
        <span class="num">{duration(entry.self)}</span>
      </button>
    </li>
  );
}

function Rest({ list }: { list: Family[] }): JSX.Element | null {
  if (list.length === 0) return null;
  const n = list.reduce((sum, entry) => sum + entry.functions.length, 0);
  const self = list.reduce((sum, entry) => sum + entry.self, 0);
  return (
    <details>
      <summary>
        <span class="swatch" style={{ background: hueVar(GREY_HUE) }} />
        <span class="grow">other</span>
        <small>{n} fn</small>
        <span class="num">{duration(self)}</span>
      </summary>
      <ul>
        {list.slice(0, 40).map((entry, i) => (
          <Entry key={entry.key} entry={entry} index={SHOWN + i} />
        ))}
      </ul>
      {list.length > 40 && (
        <p class="remark">{plural(list.length - 40, 'more group')}: search finds them.</p>
      )}
    </details>
  );
}

function MarkList(): JSX.Element {
  const rows: [JSX.Element, string][] = [
    [
      <rect x="1" y="2" width="34" height="11" fill="var(--h7)" stroke="var(--edge)" />,
      'notable call, exact',
    ],
    [
      <g>
        <rect x="1.5" y="1.5" width="33" height="12" fill="var(--bg)" stroke="var(--ink3)" />
        <rect x="3" y="3" width="16" height="5" fill="var(--h2)" />
        <rect x="20" y="3" width="13" height="5" fill="var(--h9)" />
        <rect x="3" y="8" width="9" height="4" fill="var(--h10)" />
      </g>,
      'expression: a run, folded',
    ],
    [
      <g>
        <rect x="1" y="2" width="34" height="11" fill="var(--h1)" />
        <path d="M3 13L14 2M10 13L21 2M17 13L28 2M24 13L35 2" stroke="#fff" stroke-opacity=".6" />
      </g>,
      'waiting',
    ],
    [
      <g>
        <rect
          x="1.5"
          y="2.5"
          width="33"
          height="10"
          fill="var(--h3)"
          fill-opacity=".35"
          stroke="var(--h3)"
        />
        <path d="M4 6h30M7 9h28" stroke="var(--h3)" stroke-width="1.4" stroke-dasharray="1.4 4" />
      </g>,
      'stalled (inferred)',
    ],
    [<path d="M2 7.5h32M2.5 5v5M33.5 5v5" stroke="var(--ink3)" />, 'no call (gap)'],
    [
      <g>
        <rect x="1.5" y="2.5" width="16" height="10" fill="var(--other)" stroke="var(--line2)" />
        <path d="M24.5 9v5M28.5 9v5M31.5 9v5" stroke="var(--ink3)" />
      </g>,
      'other (n) \u00b7 sub-pixel calls',
    ],
    [<path d="M14.5 4h7L18 10.2z" fill="var(--bad)" />, 'outlier for its function'],
    [
      <g>
        <rect x="1" y="2" width="34" height="11" fill="var(--h1)" />
        <path d="M1.5 2v11M34.5 2v11" stroke="var(--bg)" stroke-dasharray="3 2" />
      </g>,
      'cut at trace edge',
    ],
    [
      <g>
        <rect x="8" y="0" width="18" height="15" fill="var(--accent)" fill-opacity=".15" />
        <path d="M8.5 0v15M25.5 0v15" stroke="var(--accent)" />
      </g>,
      'selected range',
    ],
  ];
  return (
    <section>
      <h2>Marks</h2>
      <Marks of={rows} />
    </section>
  );
}

/** The colour of the highlighted group. */
function FamilyColor(): JSX.Element | null {
  const { families } = useApp().model;
  const now = families.list[usePart(s => s.family)];
  return now ? (
    <p class="remark">
      <ColorInput functions={now.functions} /> colour of {now.title}
    </p>
  ) : null;
}

function Legend(): JSX.Element {
  const { families } = useApp().model;
  const drawer = usePart(s => s.drawer);
  return (
    <aside class={drawer === 'legend' ? 'legend shown' : 'legend'} aria-label="Legend" tabIndex={0}>
      <h2>
        Colour{' '}
        <small>
          self time
          {families.prefix && (
            <>
              ; prefix <code>{families.prefix}</code> hidden
            </>
          )}
        </small>
      </h2>
      <ul>
        {families.list.slice(0, SHOWN).map((entry, i) => (
          <Entry key={entry.key} entry={entry} index={i} />
        ))}
      </ul>
      <Rest list={families.list.slice(SHOWN)} />
      <FamilyColor />
      <OwnColors />
      <MarkList />
    </aside>
  );
}
