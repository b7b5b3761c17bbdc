// SPDX-License-Identifier: MIT
// Screen 7: statistics of functions, the calls of one, and where time goes by call path.
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { Panes } from '../../shared/draw/canvas';
import { Own } from '../../shared/lib/atom';
import { duration, plural, span, compact, integer, percent } from '../../shared/lib/format';
import { parseQuery } from '../../shared/lib/search';
import {
  readPath,
  readTransforms,
  writePath,
  writeTransforms,
  timesByFunction,
} from '../../shared/lib/tree';
import { committedSpan, viewSpan } from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import type { OnReady, ScreenSpec } from '../../shared/state/screens';
import { setServed } from '../../shared/state/served';
import {
  copyExact,
  NoCalls,
  copyText,
  Gap,
  Ns,
  ROW,
  useRowsInView,
} from '../../shared/views/parts';
import { useApp, useAtom, usePart } from '../../shared/views/use';
import { TreeView } from './calltree';
import { FunctionCard } from './card';
import { FunctionsContext, FnSwatch, useFunctions, useScreen, useServed, Waiting } from './scope';
import type { FunctionsScope } from './scope';
import { FUNCTION_KEYS, Functions, initialFunctions, functionsText, SORT_WORDS } from './state';
import type { FunctionsState, FunctionKey, FunctionRow } from './state';
import { TreePanel, treeKey } from './tree';
import './functions.css';

/** The state of the screen in the address: what differs from how it begins. */
function writeState(state: FunctionsState, fn: number): [string, string][] {
  const { brush, sort, isUp } = state;
  const first = initialFunctions();
  const flags = [
    state.isSelf && 'self',
    state.isTime && 'time',
    state.list === 'threads' && 'threads',
  ];
  return [
    ['fn', fn >= 0 ? String(fn) : ''],
    ['by7', sort !== first.sort || isUp ? `${sort}${isUp ? '.up' : ''}` : ''],
    ['of', state.scope === 'range' ? '' : state.scope],
    ['brush', brush ? `${brush.min}-${Number.isFinite(brush.max) ? brush.max : ''}` : ''],
    [
      'bars',
      [...flags.filter(Boolean), state.scale !== 'fit' && state.scale].filter(Boolean).join(','),
    ],
    ['pane', state.pane === 'flame' ? '' : state.pane],
    ['sib', state.order === 'name' ? '' : state.order],
    ['tr', writeTransforms(state.transforms)],
    ['node', writePath(state.path)],
  ];
}

const oneOf = <const T extends string>(text: string, options: readonly T[], otherwise: T): T =>
  options.find(option => option === text) ?? otherwise;

function readState(get: (key: string) => string): Partial<FunctionsState> {
  const [sort, up] = get('by7').split('.');
  const brush = /^(\d+)-(\d*)$/.exec(get('brush'));
  const bars = get('bars').split(',');
  return {
    sort: oneOf(sort!, FUNCTION_KEYS, 'self'),
    isUp: up === 'up',
    scope: oneOf(get('of'), ['range', 'view', 'whole'], 'range'),
    brush: brush && { min: Number(brush[1]), max: brush[2] === '' ? Infinity : Number(brush[2]) },
    isSelf: bars.includes('self'),
    isTime: bars.includes('time'),
    list: bars.includes('threads') ? 'threads' : 'calls',
    scale: (['linear', 'root', 'log'] as const).find(scale => bars.includes(scale)) ?? 'fit',
    pane: oneOf(get('pane'), ['flame', 'tree', 'sandwich'], 'flame'),
    order: oneOf(get('sib'), ['name', 'time'], 'name'),
    transforms: readTransforms(get('tr')),
    path: readPath(get('node')),
    thread: -1,
  };
}

function FunctionsView({
  scope,
  onReady,
}: {
  scope: FunctionsScope;
  onReady: OnReady;
}): JSX.Element {
  useEffect(() => {
    onReady(scope.panes);
    return scope.screen.watch();
  }, []);
  return (
    <FunctionsContext.Provider value={scope}>
      <main class="functions-main" onCopy={copyExact}>
        <section class="table-panel" aria-label="Functions">
          <FunctionHeadline />
          <FunctionTable />
        </section>
        <FunctionCard />
        <TreePanel />
      </main>
    </FunctionsContext.Provider>
  );
}

/** At the right of the crumbs: of which part of the trace the numbers are. */
function Scope({ screen }: { screen: Functions }): JSX.Element {
  const app = useApp();
  const scope = useAtom(screen.state, s => s.scope);
  usePart(s => s.window);
  usePart(s => s.range);
  const committed = committedSpan(app);
  const view = viewSpan(app);
  const words = (one: { t0: number; t1: number } | null): string =>
    one ? span(one.t0, one.t1) : 'whole trace';
  const isSame = committed?.t0 === view?.t0 && committed?.t1 === view?.t1;
  return (
    <>
      <label title="Select a range on another screen to narrow it; z commits it">
        Numbers of{' '}
        <select
          value={scope}
          onChange={event =>
            screen.set({ scope: event.currentTarget.value as FunctionsState['scope'] })
          }
        >
          <option value="range">
            {committed ? `range ${words(committed)}` : 'whole trace (no range)'}
          </option>
          {(view && !isSame) || scope === 'view' ? (
            <option value="view">window {words(view)}</option>
          ) : null}
          {committed || scope === 'whole' ? (
            <option value="whole">whole trace {duration(screen.served.trace.duration)}</option>
          ) : null}
        </select>
      </label>
      <span>
        Colour <b>function family</b>
      </span>
    </>
  );
}

function statusOf({ screen, view }: FunctionsScope): string {
  const tree = view.now()?.tree;
  const node = view.node();
  if (tree && node > 0) return view.sentence(tree, node);
  const row = screen.row(screen.fn());
  return row ? sentence(screen, row) : '';
}

/** Enter in the search box: the next function that matches. */
function stepFunction({ screen }: FunctionsScope, direction: 1 | -1): void {
  const rows = screen.rows();
  if (rows.length === 0) return;
  const { fn } = screen.served.state.get();
  const at = rows.findIndex(row => row.id === fn);
  const next = at < 0 ? (direction > 0 ? 0 : rows.length - 1) : at + direction;
  screen.selectFunction(rows[(next + rows.length) % rows.length]!.id);
}

function hitWords({ screen }: FunctionsScope, query: string): string {
  const asked = parseQuery(query);
  if (asked.isEmpty) return '';
  if (asked.error) return asked.error;
  const { length } = screen.rows();
  return plural(length, 'function');
}

/** Gives up the topmost: the set, the node, then the function. */
function clearTop({ screen }: FunctionsScope): boolean {
  const { brush, path } = screen.state.get();
  if (brush) screen.setBrush(null);
  else if (path.length > 0) screen.set({ path: [] });
  else if (screen.served.state.get().fn >= 0) setServed(screen.served, { fn: -1 });
  else return false;
  return true;
}

function screenKey(scope: FunctionsScope, event: KeyboardEvent): boolean {
  const { screen, view } = scope;
  const { isSetOnly, set } = screen.served.state.get();
  if (event.key === 'h' && set) {
    setServed(screen.served, { isSetOnly: !isSetOnly });
    return true;
  }
  return treeKey(view, event);
}

const SCOPE = new Own<App, FunctionsScope>('functions', app => {
  const screen = new Functions(app, app.served!);
  return { screen, view: new TreeView(screen), panes: new Panes() };
});
const of = (app: App): FunctionsScope => SCOPE.of(app);

export const FUNCTIONS: ScreenSpec = {
  key: 'functions',
  name: 'Functions',
  View({ onReady }) {
    return <FunctionsView scope={of(useApp())} onReady={onReady} />;
  },
  own: SCOPE,
  kind: () => ' functions-page',
  keys: [
    ['\u2191\u2193', 'function'],
    ['/', 'filter'],
    ['f F', 'focus function, node'],
    ['m M', 'merge'],
    ['c C', 'collapse'],
    ['d', 'drop'],
    ['i', 'invert'],
    ['r', 'recursion'],
    ['s', 'sandwich'],
    ['y', 'copy stack'],
  ],
  help: [
    [
      'm M f F c C d r i',
      'Functions: merge, focus, collapse, drop, recursion, invert the call tree',
    ],
    ['s y *', 'Functions: sandwich; copy the stack; open all below in the call tree'],
  ],
  status: app => statusOf(of(app)),
  onKey: (app, event) => screenKey(of(app), event),
  search: {
    text: (app, query) => hitWords(of(app), query),
    step: (app, direction) => stepFunction(of(app), direction),
  },
  focus: app => {
    const call = app.served!.state.get().call;
    return call && { t0: call.start, t1: Math.max(call.end, call.start + 1) };
  },
  clear: app => clearTop(of(app)),
  Settings() {
    return <Scope screen={of(useApp()).screen} />;
  },
  write: app => writeState(of(app).screen.state.get(), app.served!.state.get().fn),
  read: (app, get) => {
    const { screen } = of(app);
    const fn = /^\d{1,9}$/.test(get('fn')) ? Number(get('fn')) : -1;
    setServed(screen.served, { fn: fn < screen.served.names.n ? fn : -1 });
    screen.set(readState(get));
  },
  watch: (app, changed) => {
    const { screen } = of(app);
    const offs = [screen.state.subscribe(changed), screen.served.state.subscribe(changed)];
    return () => offs.forEach(off => off());
  },
  steps: ['tr', 'pane', 'brush'],
};

/* ---- The table of functions: every column sorts; only rows in view are in the document. ---- */

interface Column {
  key: FunctionKey;
  head: string;
  /** Under the pointer. */
  what: string;
  isTime: boolean;
}

const COLUMNS: readonly Column[] = [
  { key: 'count', head: 'calls', what: 'Calls that began in this part', isTime: false },
  {
    key: 'self',
    head: 'self',
    isTime: true,
    what: 'Thread-time inside the function itself, without what it called, over all threads',
  },
  {
    key: 'inclusive',
    head: 'incl.',
    isTime: true,
    what: 'Thread-time from entry to exit, over all threads; calls inside calls of the same function count too',
  },
  { key: 'min', head: 'min', what: 'Shortest call, wall-time from entry to exit', isTime: true },
  { key: 'mean', head: 'mean', what: 'Mean wall-time of a call', isTime: true },
  { key: 'p50', head: 'p50', what: 'Half of the calls took at most this wall-time', isTime: true },
  { key: 'p99', head: 'p99', what: '99 % of the calls took at most this wall-time', isTime: true },
  {
    key: 'p999',
    head: 'p99.9',
    isTime: true,
    what: '99.9 % of the calls took at most this wall-time',
  },
  { key: 'max', head: 'max', what: 'Longest call, wall-time from entry to exit', isTime: true },
  { key: 'threads', head: 'threads', what: 'Threads that called it', isTime: false },
];

function Head({
  column,
  sort,
  isUp,
}: {
  column: Column;
  sort: FunctionKey;
  isUp: boolean;
}): JSX.Element {
  const { screen } = useFunctions();
  const isNow = column.key === sort;
  const direction = isUp ? 'ascending' : 'descending';
  return (
    <th
      scope="col"
      class={column.key === 'name' ? '' : 'num'}
      aria-sort={isNow ? direction : undefined}
      title={column.what}
    >
      <button class="link" onClick={() => sortBy(screen, column.key)}>
        {column.head}
        {isNow && (isUp ? ' \u25b4' : ' \u25be')}
      </button>
    </th>
  );
}

function sortBy(screen: Functions, key: FunctionKey): void {
  const { sort, isUp } = screen.state.get();
  screen.set({ sort: key, isUp: key === sort ? !isUp : key === 'name' });
}

function Cell({ row, column }: { row: FunctionRow; column: Column }): JSX.Element {
  const value = row[column.key] as number;
  const isKey = column.key === 'self';
  if (Number.isNaN(value)) return <td class="num dim">{'\u2013'}</td>;
  return (
    <td class={isKey ? 'num key' : 'num'}>
      {column.isTime ? <Ns ns={value}>{duration(value)}</Ns> : <Count value={value} />}
    </td>
  );
}

function Count({ value }: { value: number }): JSX.Element {
  const short = value >= 1e7 ? compact(value) : integer(value);
  return <span title={integer(value)}>{short}</span>;
}

function rowId(id: number): string {
  return `fn${id}`;
}

function Row({ row, at, isNow }: { row: FunctionRow; at: number; isNow: boolean }): JSX.Element {
  const { screen } = useFunctions();
  return (
    <tr
      id={rowId(row.id)}
      class={isNow ? 'now' : ''}
      aria-rowindex={at + 2}
      aria-selected={isNow}
      onClick={() => screen.selectFunction(row.id)}
    >
      <th scope="row" class="clip" title={row.module ? `${row.name} (${row.module})` : row.name}>
        <FnSwatch fn={row.id} />
        {screen.name(row.id)}
      </th>
      {COLUMNS.map(column => (
        <Cell key={column.key} row={row} column={column} />
      ))}
    </tr>
  );
}

/** What arrows do to the selection. */
function step(screen: Functions, key: string, page: number): boolean {
  const rows = screen.rows();
  const by: Record<string, number> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: -Infinity,
    End: Infinity,
  };
  const move = by[key];
  if (move === undefined || rows.length === 0) return false;
  const at = rows.findIndex(row => row.id === screen.fn());
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + move))]!;
  screen.selectFunction(next.id);
  screen.say(sentence(screen, next));
  return true;
}

function sentence(screen: Functions, row: FunctionRow): string {
  const times = Number.isNaN(row.max)
    ? ''
    : `, median ${duration(row.p50)}, p99 ${duration(row.p99)}, longest ${duration(row.max)} wall-time, ${plural(row.threads, 'thread')}`;
  const open = row.openCount > 0 ? `, ${plural(row.openCount, 'call')} open at the end` : '';
  return `${row.name}, ${plural(row.count, 'call')}, self ${duration(row.self)} thread-time${times}${open}, in ${screen.part().words}.`;
}

function Footer({ rows }: { rows: FunctionRow[] }): JSX.Element {
  const { screen } = useFunctions();
  const sort = useScreen(s => s.sort);
  const isUp = useScreen(s => s.isUp);
  const table = useScreen(s => s.answers.table);
  const query = usePart(s => s.query);
  const all = screen.allRows();
  const asked = parseQuery(query);
  const [open, cut] = all.reduce<[number, number]>(
    ([a, b], row) => [a + row.openCount, b + row.cutCount],
    [0, 0],
  );
  return (
    <p class="foot">
      <span>
        {integer(rows.length)} of {plural(all.length, 'function')} shown,{' '}
        {SORT_WORDS[sort][isUp ? 1 : 0]}
        {asked.error && `; search: ${asked.error}`}
        {table.value === null && '; times of single calls are being read'}
        {open > 0 && `; ${plural(open, 'call')} open at the end: counted, not in min to max`}
        {cut > 0 && `; ${plural(cut, 'call')} from before: neither`}
      </span>
      <button class="link" onClick={() => void copyText(functionsText(rows))}>
        copy as ns
      </button>
    </p>
  );
}

function NoRows(): JSX.Element {
  const { screen } = useFunctions();
  const query = usePart(s => s.query);
  const hasAny = screen.allRows().length > 0;
  if (screen.isUnknown) return <p class="empty-panel">The functions are being read.</p>;
  if (hasAny)
    return (
      <p class="empty-panel">
        No function matches {'\u201c'}
        {query}
        {'\u201d'}: terms must all hold.{' '}
        <button class="link" onClick={() => screen.app.state.update(s => ({ ...s, query: '' }))}>
          Search for nothing
        </button>
      </p>
    );
  if (screen.served.trace.calls === 0) return <NoCalls served={screen.served} />;
  return (
    <p class="empty-panel">
      No call begins in {screen.part().words}. Esc gives the range up; Backspace goes one step back.
    </p>
  );
}

function FunctionTable(): JSX.Element {
  const { screen } = useFunctions();
  const table = useScreen(s => s.answers.table);
  useScreen(s => s.answers.tree.value);
  const sort = useScreen(s => s.sort);
  const isUp = useScreen(s => s.isUp);
  usePart(s => s.query);
  useServed(s => s.fn);
  const rows = screen.rows();
  const fn = screen.fn();
  const at = rows.findIndex(row => row.id === fn);
  const { scroller, onScroll, height, first, end } = useRowsInView(rows.length, at, [
    fn,
    sort,
    isUp,
  ]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(height / ROW) - 2);
    if (step(screen, event.key, page)) event.preventDefault();
  };
  const name: Column = { key: 'name', head: 'function', what: 'Sort by name', isTime: false };
  return (
    <>
      <Waiting answer={table} which="table" what="Functions" />
      <div
        ref={scroller}
        id="functions"
        class="scroll"
        tabIndex={0}
        role="region"
        aria-label="Functions; arrows choose one"
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        <table class="fixed functions" aria-rowcount={rows.length + 1}>
          <thead>
            <tr>
              {[name, ...COLUMNS].map(column => (
                <Head key={column.key} column={column} sort={sort} isUp={isUp} />
              ))}
            </tr>
          </thead>
          <tbody>
            <Gap rows={first} columns={COLUMNS.length + 1} />
            {rows.slice(first, end).map((row, i) => (
              <Row key={row.id} row={row} at={first + i} isNow={row.id === fn} />
            ))}
            <Gap rows={rows.length - end} columns={COLUMNS.length + 1} />
          </tbody>
        </table>
        {rows.length === 0 && <NoRows />}
      </div>
      <Footer rows={rows} />
    </>
  );
}

/** The first sentence of the screen, and what it is about. */
function FunctionHeadline(): JSX.Element {
  const { screen } = useFunctions();
  useScreen(s => s.answers.table);
  useScreen(s => s.scope);
  usePart(s => s.query);
  usePart(s => s.picked);
  const tree = useScreen(s => s.answers.tree);
  const rows = screen.allRows();
  const ranked = useMemo(() => {
    if (tree.value && tree.of === tree.key) return timesByFunction(tree.value.tree);
    const own = rows.map(({ id, self }) => ({ fn: id, self }));
    return own.sort((a, b) => b.self - a.self || a.fn - b.fn);
  }, [tree, rows]);
  const whole = ranked.reduce((sum, one) => sum + one.self, 0);
  const [first, second] = ranked;
  const isWindow = screen.part().span !== null;
  const calls = rows.reduce((sum, row) => sum + row.count, 0);
  const words = ({ fn, self }: { fn: number; self: number }): string => {
    const waits = screen.served.names.isWait[fn] === 1 ? ' (waiting)' : '';
    return `${screen.name(fn)}${waits} has ${percent(self / Math.max(1, whole))}`;
  };
  return (
    <div class="lead-in">
      <h2 class="headline">
        {first
          ? `${words(first)} of the thread-time in calls`
          : screen.isUnknown
            ? 'The functions are being read'
            : 'No calls here'}
        {second && `, ${words(second)}`}
      </h2>
      <p class="remark">
        Of {screen.part().words}
        {!screen.isUnknown &&
          `: ${plural(calls, 'call')} of ${plural(rows.length, 'function')}, ${duration(whole)} in calls`}
        . self, incl.: thread-time{isWindow && ' inside it'}, summed over threads. min to max:
        wall-time of single calls{isWindow && ' that begin and end in it'}.
      </p>
    </div>
  );
}
