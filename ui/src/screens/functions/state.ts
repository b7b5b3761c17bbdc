// SPDX-License-Identifier: MIT
// The Functions screen: what it shows, of which part of the trace, and its questions to the server.
import type { CallsColumns, NodesColumns } from '../../gen/tables';
import { decodeBins } from '../../shared/api/columns';
import { num, objects, tableOf, text } from '../../shared/api/columns';
import type { Columns, Json } from '../../shared/api/columns';
import { Superseded } from '../../shared/api/source';
import type { Params } from '../../shared/api/source';
import { Atom } from '../../shared/lib/atom';
import { duration, plural, span, messageOf } from '../../shared/lib/format';
import type { Bins, CountScale } from '../../shared/lib/histogram';
import type { Span } from '../../shared/lib/model';
import { matchesThread, parseQuery, matchesName } from '../../shared/lib/search';
import type { Query } from '../../shared/lib/search';
import { makeTree, timesByFunction } from '../../shared/lib/tree';
import type { CallTree, FunctionTime, Transform } from '../../shared/lib/tree';
import { committedSpan, viewSpan } from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { setServed } from '../../shared/state/served';
import type { CallSet, Served } from '../../shared/state/served';

/** An answer of the server; `value` may still be that of an older question. */
export interface Answer<T> {
  key: string;
  value: T | null;
  /** The question that `value` answers. */
  of: string;
  isWaiting: boolean;
  since: number;
  error: string;
}

export interface Calls {
  set: CallSet;
  /** Durations, or self times in the part. */
  length: Float64Array;
  /** Indices into the set, longest first. */
  order: Uint32Array;
}

interface Tree {
  tree: CallTree;
  /** Paths of least time that the server folded into those above them. */
  foldedNodes: number;
}

interface Progress {
  activity: string;
  share: number;
}

interface Answers {
  table: Answer<FunctionRow[]>;
  histogram: Answer<Bins>;
  threadHistogram: Answer<Bins>;
  calls: Answer<Calls>;
  tree: Answer<Tree>;
}

export interface FunctionsState {
  sort: FunctionKey;
  isUp: boolean;
  /** Follows the committed range, or the window as it is, or is of the whole trace. */
  scope: 'range' | 'view' | 'whole';
  isSelf: boolean;
  isTime: boolean;
  scale: CountScale | 'fit';
  /** Durations brushed in the histogram, both ends inclusive. */
  brush: { min: number; max: number } | null;
  list: 'calls' | 'threads';
  /** Whose histogram is drawn over that of all: a thread id, or -1. */
  thread: number;
  pane: 'flame' | 'tree' | 'sandwich';
  order: 'name' | 'time';
  transforms: Transform[];
  /** The selected node of the tree; empty: none. */
  path: number[];
  /** Paths of the call tree that are open, as text; null: those to the heaviest leaf. */
  open: ReadonlySet<string> | null;
  progress: Progress | null;
  answers: Answers;
}

const unasked = <T>(): Answer<T> => ({
  key: '',
  value: null,
  of: '',
  isWaiting: false,
  since: 0,
  error: '',
});

export function initialFunctions(): FunctionsState {
  return {
    sort: 'self',
    isUp: false,
    scope: 'range',
    isSelf: false,
    isTime: false,
    scale: 'fit',
    brush: null,
    list: 'calls',
    thread: -1,
    pane: 'flame',
    order: 'name',
    transforms: [],
    path: [],
    open: null,
    progress: null,
    answers: {
      table: unasked(),
      histogram: unasked(),
      threadHistogram: unasked(),
      calls: unasked(),
      tree: unasked(),
    },
  };
}

export const MOST_CALLS = 100_000; // what the server gives at most
const LISTED_CALLS = 500;
const MOST_NODES = 60_000;

/* ---- which part of the trace ----------------------------------------------------------------- */

interface Part {
  span: Span | null;
  threads: number[] | null; // ids
  params: Params;
  /** "46.4-50.9 ms, 3 of 148 threads" */
  words: string;
}

function chosenThreads(app: App, served: Served): { ids: number[] | null; words: string } {
  const { picked, query } = app.state.get();
  const asked = parseQuery(query);
  const isAsked = asked.threads.length > 0 && asked.error === '';
  const all = plural(served.threads.length, 'thread');
  if (picked.size === 0 && !isAsked) return { ids: null, words: `all ${all}` };
  const ids = served.threads
    .filter(({ tid, name }) => !isAsked || matchesThread(asked, tid, name))
    .filter(({ id }) => picked.size === 0 || picked.has(id))
    .map(({ id }) => id);
  const why = [picked.size > 0 && 'ticked', isAsked && 'searched'].filter(Boolean).join(' and ');
  return { ids, words: `${ids.length} of ${all} (${why})` };
}

function partOf(app: App, served: Served, scope: FunctionsState['scope']): Part {
  const own = { range: committedSpan, view: viewSpan, whole: () => null }[scope](app);
  const { ids, words } = chosenThreads(app, served);
  const time = own
    ? `${span(own.t0, own.t1)} (${duration(own.t1 - own.t0)})`
    : `the whole trace, ${duration(served.trace.duration)}`;
  return {
    span: own,
    threads: ids,
    words: `${time}, ${words}`,
    params: { from: own?.t0, to: own?.t1, threads: ids ?? undefined },
  };
}

/* ---- answers --------------------------------------------------------------------------------- */

const orNone = (json: Json, key: string): number =>
  typeof json[key] === 'number' ? num(json, key) : NaN;

export function decodeFunctions(json: Json): FunctionRow[] {
  return objects(json, 'functions').map(row => ({
    id: num(row, 'fn'),
    name: text(row, 'name'),
    module: text(row, 'module'),
    count: num(row, 'count'),
    inclusive: num(row, 'inclusive_ns'),
    self: num(row, 'self_ns'),
    min: orNone(row, 'min_ns'),
    mean: orNone(row, 'mean_ns'),
    p50: orNone(row, 'p50_ns'),
    p90: orNone(row, 'p90_ns'),
    p99: orNone(row, 'p99_ns'),
    p999: orNone(row, 'p999_ns'),
    max: orNone(row, 'max_ns'),
    threads: num(row, 'threads'),
    openCount: num(row, 'open_count'),
    openNs: num(row, 'open_ns'),
    cutCount: num(row, 'cut_count'),
  }));
}

const NO_TIMES = {
  inclusive: NaN,
  min: NaN,
  mean: NaN,
  p50: NaN,
  p90: NaN,
  p99: NaN,
  p999: NaN,
  max: NaN,
};

const timeOf = (time: FunctionTime | undefined): { self: number; inclusive: number } => ({
  self: time?.self ?? 0,
  inclusive: time?.inclusive ?? 0,
});

/** What is known of the whole trace before the server has read all its calls. */
function bareFunctions({ names }: Served): FunctionRow[] {
  return names.name.flatMap((name, id) =>
    names.count[id] === 0
      ? []
      : [
          {
            id,
            name,
            module: names.module[id]!,
            count: names.count[id]!,
            self: names.self[id]!,
            ...NO_TIMES,
            threads: NaN,
            openCount: 0,
            openNs: 0,
            cutCount: 0,
          },
        ],
  );
}

function decodeCalls(
  columns: Columns,
  set: Pick<CallSet, 'title' | 'functions' | 'minNs' | 'maxNs'> & { isSelf: boolean },
): Calls {
  const call = tableOf<CallsColumns>(columns, 'calls');
  const start = call('start_ns');
  const byStart = Uint32Array.from(start, (_, i) => i).sort((a, b) => start[a]! - start[b]!);
  const f64 = (column: Float64Array): Float64Array => Float64Array.from(byStart, i => column[i]!);
  const u32 = (column: Uint32Array): Uint32Array => Uint32Array.from(byStart, i => column[i]!);
  const depth = call('depth');
  const [from, to] = [f64(start), f64(call('end_ns'))];
  const length = set.isSelf ? f64(call('self_ns')) : to.map((end, i) => end - from[i]!);
  return {
    length,
    set: {
      ...set,
      total: num(columns.meta, 'total'),
      n: start.length,
      thread: u32(call('thread')),
      start: from,
      end: to,
      depth: Uint16Array.from(byStart, i => depth[i]!),
      fn: u32(call('function')),
    },
    order: Uint32Array.from(from, (_, i) => i).sort((a, b) => length[b]! - length[a]! || a - b),
  };
}

function decodeTree(columns: Columns): Tree {
  const node = tableOf<NodesColumns>(columns, 'nodes');
  const tree = makeTree({
    parent: node('parent'),
    fn: node('function'),
    count: node('count'),
    sum: node('sum_ns'),
    self: node('self_ns'),
  });
  const rows = columns.tables.get('nodes')?.rows ?? 0;
  return { tree, foldedNodes: Math.max(0, num(columns.meta, 'total') - rows) };
}

/** "calls of evict_page >= 10 ms", "calls of evict_page, self 10 ms to 20 ms" */
export function setTitle(name: string, brush: FunctionsState['brush'], isSelf = false): string {
  if (!brush) return `calls of ${name}`;
  const { min, max } = brush;
  const calls = `calls of ${name}${isSelf ? ', self' : ''}`;
  if (!Number.isFinite(max)) return `${calls} \u2265 ${duration(min)}`;
  if (min <= 0) return `${calls} \u2264 ${duration(max)}`;
  return `${calls}${isSelf ? '' : ','} ${duration(min)} to ${duration(max)}`;
}

const NO_ROWS: FunctionRow[] = [];

/* ---- the screen ------------------------------------------------------------------------------ */

interface Ask<K extends keyof Answers> {
  which: K;
  key: string;
  ask: () => Promise<NonNullable<Answers[K]['value']>>;
}

const keyOf = (params: Params): string => JSON.stringify(params);
/** Of a question's key: it is of a window. */
const isOfSpan = (key: string): boolean => 'from' in (JSON.parse(key) as Params);
/** The question for the tree of the same part as a table. */
const treeKey = (key: string): string =>
  keyOf({ ...(JSON.parse(key) as Params), limit: MOST_NODES });

const laneOf = (which: keyof Answers): string => `functions.${which}`;

export class Functions {
  readonly state = new Atom<FunctionsState>(initialFunctions());
  private watched = 0;
  private timer: ReturnType<typeof setInterval> | null = null;
  private lastRows: { of: readonly unknown[]; rows: FunctionRow[] } | null = null;

  constructor(
    readonly app: App,
    readonly served: Served,
  ) {}

  set(change: Partial<FunctionsState>): void {
    this.state.update(now => ({ ...now, ...change }));
  }

  part(): Part {
    return partOf(this.app, this.served, this.state.get().scope);
  }

  /** Rows of the table as they are shown: filtered and sorted. */
  rows(): FunctionRow[] {
    const { sort, isUp } = this.state.get();
    const { query } = this.app.state.get();
    const all = this.allRows();
    const of = [all, sort, isUp, query];
    if (!this.lastRows || this.lastRows.of.some((one, i) => one !== of[i])) {
      const asked = parseQuery(query);
      const found = asked.isEmpty || asked.error ? all : filterFunctions(all, asked);
      this.lastRows = { of, rows: sortFunctions(found, sort, isUp) };
    }
    return this.lastRows.rows;
  }

  private bare: FunctionRow[] | null = null;

  /** All functions that occur; before the first answer, what is known of the whole trace. */
  allRows(): FunctionRow[] {
    const { table, tree } = this.state.get().answers;
    if (!table.value) {
      const { span: own, threads } = this.part();
      this.bare ??= bareFunctions(this.served);
      return own || threads ? NO_ROWS : this.bare;
    }
    if (!isOfSpan(table.of)) return (this.told = table.value);
    if (tree.value && tree.of === treeKey(table.of))
      return (this.told = this.rowsInside(table.value, tree.value.tree));
    const isOnItsWay = table.isWaiting || tree.isWaiting;
    return isOnItsWay && this.told ? this.told : table.value;
  }

  /** The rows are not those of the part: the table or, in a window, the tree that their times are of
   * is on its way. */
  get isTableWaiting(): boolean {
    const { table, tree } = this.state.get().answers;
    return table.isWaiting || (tree.isWaiting && table.value !== null && isOfSpan(table.of));
  }

  /** The rows that were shown last. */
  private told: FunctionRow[] | null = null;
  private inside: { of: readonly unknown[]; rows: FunctionRow[] } | null = null;

  /** In a window, times are what lies inside: functions whose calls all reach over its edges have
   * such times too, though no call of theirs is timed. */
  private rowsInside(rows: FunctionRow[], tree: CallTree): FunctionRow[] {
    if (this.inside?.of[0] === rows && this.inside.of[1] === tree) return this.inside.rows;
    const times = new Map(timesByFunction(tree).map(one => [one.fn, one]));
    const known = new Set(rows.map(row => row.id));
    const timed = rows.map(row => ({ ...row, ...timeOf(times.get(row.id)) }));
    for (const time of times.values())
      if (!known.has(time.fn)) timed.push({ ...this.untimed(time.fn), ...timeOf(time) });
    this.inside = { of: [rows, tree], rows: timed };
    return timed;
  }

  private untimed(id: number): FunctionRow {
    const { names } = this.served;
    return {
      id,
      name: names.name[id] ?? '?',
      module: names.module[id] ?? '',
      count: 0,
      self: 0,
      ...NO_TIMES,
      threads: NaN,
      openCount: 0,
      openNs: 0,
      cutCount: 0,
    };
  }

  /** Nothing is known of the functions yet. */
  get isUnknown(): boolean {
    return this.state.get().answers.table.value === null && this.allRows().length === 0;
  }

  /** The function of the histogram: the one selected, or the first of the table. */
  fn(): number {
    const { fn } = this.served.state.get();
    return fn >= 0 ? fn : (this.rows()[0]?.id ?? -1);
  }

  row(fn: number): FunctionRow | null {
    return this.allRows().find(row => row.id === fn) ?? null;
  }

  name(fn: number): string {
    return this.served.families.short[fn] ?? 'no function';
  }

  say(said: string): void {
    this.app.state.update(now => ({ ...now, said }));
  }

  selectFunction(fn: number): void {
    if (fn === this.served.state.get().fn) return;
    this.dropSet();
    this.set({ brush: null, thread: -1 });
    setServed(this.served, { fn });
  }

  setBrush(brush: FunctionsState['brush']): void {
    if (!brush) this.dropSet();
    else if (this.served.state.get().fn < 0) setServed(this.served, { fn: this.fn() });
    this.set({ brush });
  }

  private dropSet(): void {
    const { value } = this.state.get().answers.calls;
    const { set } = this.served.state.get();
    if (set && set === value?.set) setServed(this.served, { set: null, isSetOnly: false });
  }

  /** Asks for what is shown and not there; called whenever something may have changed. */
  refresh(): void {
    if (this.watched === 0 || this.app.state.get().screen !== 'functions') return;
    const { params } = this.part();
    const { isSelf, brush, list, thread } = this.state.get();
    const { source } = this.served;
    this.want('table', params, async query =>
      decodeFunctions(await source.json('functions', query, laneOf('table'))),
    );
    this.want('tree', { ...params, limit: MOST_NODES }, async query =>
      decodeTree(await source.columns('tree', query, laneOf('tree'))),
    );
    const fn = this.fn();
    if (fn < 0) return;
    const self = isSelf ? 1 : undefined;
    this.want('histogram', { ...params, fn, self }, async query =>
      decodeBins(await source.json('histogram', query, laneOf('histogram'))),
    );
    if (thread >= 0)
      this.want('threadHistogram', { ...params, fn, self, threads: [thread] }, async query =>
        decodeBins(await source.json('histogram', query, laneOf('threadHistogram'))),
      );
    const isAll = brush !== null || list === 'threads';
    const [min, max] = [brush?.min ?? 0, brush?.max ?? Infinity];
    const limits = {
      min_ns: min > 0 ? Math.ceil(min) : undefined,
      max_ns: Number.isFinite(max) ? Math.floor(max) : undefined,
      self,
      sort: 'longest',
      limit: isAll ? MOST_CALLS : LISTED_CALLS,
    };
    this.want('calls', { ...params, fn, ...limits }, async query => {
      const columns = await source.columns('calls', query, laneOf('calls'));
      const title = setTitle(this.name(fn), brush, isSelf);
      const limits = { minNs: min, maxNs: max, isSelf };
      const calls = decodeCalls(columns, { title, functions: [fn], ...limits });
      const isStill = this.state.get().brush === brush; // nothing else was selected meanwhile
      if (brush && isStill) setServed(this.served, { set: calls.set });
      return calls;
    });
  }

  /** Gives up what is under way; the answer before stays. */
  cancel(which: keyof Answers): void {
    this.served.source.cancel(laneOf(which));
    this.put(which, { isWaiting: false, error: 'given up' });
  }

  retry(which: keyof Answers): void {
    this.put(which, { key: '', error: '' });
    this.refresh();
  }

  private want<K extends keyof Answers>(
    which: K,
    params: Params,
    ask: (params: Params) => Promise<NonNullable<Answers[K]['value']>>,
  ): void {
    const key = keyOf(params);
    if (this.state.get().answers[which].key === key) return;
    void this.answer({ which, key, ask: () => ask(params) });
  }

  private async answer<K extends keyof Answers>({ which, key, ask }: Ask<K>): Promise<void> {
    this.put(which, { key, isWaiting: true, since: Date.now(), error: '' } as Partial<Answers[K]>);
    const isLatest = (): boolean => this.state.get().answers[which].key === key;
    try {
      const value = await ask();
      if (isLatest()) this.put(which, { value, of: key, isWaiting: false } as Partial<Answers[K]>);
    } catch (error) {
      if (error instanceof Superseded || !isLatest()) return;
      const why = messageOf(error);
      this.put(which, { isWaiting: false, error: why } as Partial<Answers[K]>);
    }
  }

  private put<K extends keyof Answers>(which: K, change: Partial<Answers[K]>): void {
    this.state.update(now => ({
      ...now,
      answers: { ...now.answers, [which]: { ...now.answers[which], ...change } },
    }));
  }

  /** Keeps the answers up to date until the returned function is called. */
  watch(): () => void {
    this.watched++;
    const again = (): void => this.refresh();
    const off = [
      this.app.state.subscribe((now, before) => {
        const keys = ['range', 'isPreview', 'window', 'crumbs', 'picked', 'query'] as const;
        if (keys.some(key => now[key] !== before[key])) again();
      }),
      this.served.state.subscribe((now, before) => now.fn !== before.fn && again()),
      this.state.subscribe((now, before) => {
        const isAsked =
          now.answers.table.value !== before.answers.table.value ||
          now.answers.tree.value !== before.answers.tree.value ||
          (['sort', 'isUp', 'scope', 'isSelf', 'brush', 'list', 'thread'] as const).some(
            key => now[key] !== before[key],
          );
        if (isAsked) again();
      }),
    ];
    this.timer ??= setInterval(() => void this.pollProgress(), 500);
    this.refresh();
    return () => {
      for (const end of off) end();
      this.watched--;
      if (this.watched > 0 || !this.timer) return;
      clearInterval(this.timer);
      this.timer = null;
    };
  }

  /** How far the server is with the functions of the whole trace. */
  private async pollProgress(): Promise<void> {
    const { answers, progress } = this.state.get();
    if (!answers.table.isWaiting) {
      if (progress) this.set({ progress: null });
      return;
    }
    try {
      const json = await this.served.source.json(
        'progress',
        { of: 'functions' },
        'functions.progress',
      );
      const total = num(json, 'total');
      const share = total > 0 ? num(json, 'done') / total : 0;
      if (this.state.get().answers.table.isWaiting)
        this.set({ progress: { activity: text(json, 'activity'), share } });
    } catch (error) {
      if (error instanceof Superseded) return;
      this.set({ progress: null }); // it is no matter: the answer itself is on its way
    }
  }
}

/* ---- The table of functions: rows as the server tells them, in order, filtered, and as text. ---- */

/** Times in ns; NaN where no call both began and ended, and where it is not known yet. */
export interface FunctionRow {
  id: number;
  name: string;
  module: string;
  count: number;
  inclusive: number;
  self: number;
  min: number;
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
  threads: number;
  /** Calls without an end, and calls that began before the trace: counted, not timed; neither. */
  openCount: number;
  openNs: number;
  cutCount: number;
}

export type FunctionKey =
  | 'name'
  | 'count'
  | 'self'
  | 'inclusive'
  | 'min'
  | 'mean'
  | 'p50'
  | 'p99'
  | 'p999'
  | 'max'
  | 'threads';

export const FUNCTION_KEYS: readonly FunctionKey[] = [
  ...(['name', 'count', 'self', 'inclusive', 'min', 'mean'] as const),
  ...(['p50', 'p99', 'p999', 'max', 'threads'] as const),
];

/** What sorts by a column, in words. */
export const SORT_WORDS: Record<FunctionKey, [down: string, up: string]> = {
  name: ['names from Z', 'names from A'],
  count: ['most calls first', 'fewest calls first'],
  self: ['most self time first', 'least self time first'],
  inclusive: ['most inclusive time first', 'least inclusive time first'],
  min: ['longest minimum first', 'shortest minimum first'],
  mean: ['longest mean first', 'shortest mean first'],
  p50: ['longest median first', 'shortest median first'],
  p99: ['longest p99 first', 'shortest p99 first'],
  p999: ['longest p99.9 first', 'shortest p99.9 first'],
  max: ['longest call first', 'shortest longest call first'],
  threads: ['most threads first', 'fewest threads first'],
};

function compareNumbers(a: number, b: number): number {
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : -1;
  return Number.isNaN(b) ? 1 : a - b;
}

/** A new list, in order; equal rows by name and id, whatever the direction. Unknown values last. */
export function sortFunctions(
  rows: readonly FunctionRow[],
  key: FunctionKey,
  isUp: boolean,
): FunctionRow[] {
  const byName = (a: FunctionRow, b: FunctionRow): number =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : a.id - b.id;
  if (key === 'name') return [...rows].sort((a, b) => (isUp ? byName(a, b) : byName(b, a)));
  return [...rows].sort((a, b) => {
    const [x, y] = [a[key], b[key]];
    if (Number.isNaN(x) || Number.isNaN(y)) return compareNumbers(y, x) || byName(a, b);
    return (isUp ? x - y : y - x) || byName(a, b);
  });
}

/** Rows whose name matches, and which have a call as long as asked for. */
export function filterFunctions(rows: readonly FunctionRow[], query: Query): FunctionRow[] {
  const asksTime = query.min > 0 || query.max < Infinity;
  return rows.filter(
    row =>
      matchesName(query, row.name) && (!asksTime || (row.max >= query.min && row.min <= query.max)),
  );
}

/** Tab-separated, times in whole ns: what "copy" puts on the clipboard. */
export function functionsText(rows: readonly FunctionRow[]): string {
  const heads = [
    'function',
    'calls',
    'self_ns',
    'inclusive_ns',
    'min_ns',
    'mean_ns',
    'p50_ns',
    'p99_ns',
    'p999_ns',
    'max_ns',
    'threads',
  ];
  const number = (value: number): string => (Number.isNaN(value) ? '' : String(Math.round(value)));
  const lines = rows.map(row =>
    [
      row.name,
      ...[row.count, row.self, row.inclusive, row.min, row.mean, row.p50, row.p99].map(number),
      ...[row.p999, row.max, row.threads].map(number),
    ].join('\t'),
  );
  return [heads.join('\t'), ...lines].join('\n') + '\n';
}
