// SPDX-License-Identifier: MIT
// Screen 7: statistics of functions, the calls of one, and where time goes by call path.
import type { JSX } from 'preact';
import { Own } from '../../shared/lib/own';
import { useEffect } from 'preact/hooks';
import { Panes } from '../../shared/draw/pane';
import { duration, plural, span } from '../../shared/lib/format';
import { parseQuery } from '../../shared/lib/search';
import { readPath, readTransforms, writePath, writeTransforms } from '../../shared/lib/tree';
import type { App } from '../../shared/state/app';
import type { OnReady, ScreenSpec } from '../../shared/state/screens';
import { setServed } from '../../shared/state/served';
import { useApp, useAtom, usePart } from '../../shared/views/use';
import { FUNCTION_KEYS } from './lib_functions';
import { TreeView } from './state_calltree';
import { Functions, initialFunctions } from './state_functions';
import type { FunctionsState } from './state_functions';
import { FunctionCard } from './views_card';
import { FunctionHeadline, FunctionTable, sentence } from './views_table';
import { TreePanel, treeKey } from './views_tree';
import { FunctionsContext } from './views_use';
import type { FunctionsScope } from './views_use';
import './functions.css';
import { committedSpan, viewSpan } from '../../shared/state/actions';
import { copyExact } from '../../shared/views/tables';

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
    ...{ sort: oneOf(sort!, FUNCTION_KEYS, 'self'), isUp: up === 'up' },
    scope: oneOf(get('of'), ['range', 'view', 'whole'], 'range'),
    brush: brush && { min: Number(brush[1]), max: brush[2] === '' ? Infinity : Number(brush[2]) },
    ...{ isSelf: bars.includes('self'), isTime: bars.includes('time') },
    list: bars.includes('threads') ? 'threads' : 'calls',
    scale: (['linear', 'root', 'log'] as const).find(scale => bars.includes(scale)) ?? 'fit',
    pane: oneOf(get('pane'), ['flame', 'tree', 'sandwich'], 'flame'),
    order: oneOf(get('sib'), ['name', 'time'], 'name'),
    ...{ transforms: readTransforms(get('tr')), path: readPath(get('node')), thread: -1 },
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
    const off = scope.screen.watch();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const retheme = (): void => scope.panes.retheme();
    dark.addEventListener('change', retheme);
    onReady(scope.panes);
    return () => {
      off();
      dark.removeEventListener('change', retheme);
    };
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
  digit: 7,
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
