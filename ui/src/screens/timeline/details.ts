// SPDX-License-Identifier: MIT
// What the server says of the selected call: the call itself, and all calls of its function.
import type { CallsColumns, NodesColumns } from '../../gen/tables';
import { isSameCall } from '../../shared/state/served';
import { decodeBins } from '../../shared/api/columns';
import type { Bins } from '../../shared/lib/histogram';
import { list, num, object, objects, tableOf } from '../../shared/api/columns';
import type { Columns, Json } from '../../shared/api/columns';
import { unlessSuperseded } from '../../shared/api/source';
import { Atom, Own } from '../../shared/lib/atom';
import { parsePlain, messageOf } from '../../shared/lib/format';
import type { App } from '../../shared/state/app';
import type { CallAt, CallSet, Served } from '../../shared/state/served';
import { timelineOf } from './state';

export interface Details {
  call: CallAt;
  self: number;
  /** cut_start, cut_end, repaired */
  flags: string[];
  arguments: Argument[];
  ancestors: CallAt[];
  below: Below[];
}

export type Scope = 'trace' | 'thread' | 'range';

/** What it called: directly, or at any depth. */
export type Reach = 'direct' | 'all';

interface DetailState {
  details: Details | null;
  reach: Reach;
  /** At any depth, of the call selected; null: not known yet. */
  deep: Below[] | null;
  bins: Bins | null;
  scope: Scope;
  trouble: string;
}

/** A call of an answer; null if there is none. */
export function callFrom(json: Json, thread: number): CallAt | null {
  if (json['found'] === false) return null;
  return {
    thread,
    depth: num(json, 'depth'),
    start: num(json, 'start_ns'),
    end: num(json, 'end_ns'),
    fn: num(json, 'function'),
  };
}

const readArguments = (json: Json): Argument[] =>
  argumentsOf(list<unknown>(json, 'numbers'), list<unknown>(json, 'texts').map(String));

function detailsFrom(json: Json, call: CallAt): Details {
  const own = callFrom(json, call.thread) ?? call;
  return {
    call: own,
    self: num(json, 'self_ns'),
    flags: list<string>(json, 'flags').map(String),
    arguments: readArguments(object(json, 'arguments')),
    ancestors: objects(json, 'ancestors').flatMap(one => callFrom(one, call.thread) ?? []),
    below: objects(json, 'children').map(one => ({
      fn: num(one, 'function'),
      count: num(one, 'count'),
      sum: num(one, 'sum_ns'),
      self: num(one, 'self_ns'),
    })),
  };
}

/** The calls of an answer to `calls`. */
export function setFrom(answer: Columns, about: Pick<CallSet, 'title' | 'functions'>): CallSet {
  const call = tableOf<CallsColumns>(answer, 'calls');
  const start = call('start_ns');
  const n = start.length;
  return {
    ...about,
    minNs: 0,
    maxNs: Infinity,
    total: Math.max(n, num(answer.meta, 'total')),
    n,
    start,
    end: call('end_ns'),
    thread: call('thread'),
    depth: call('depth'),
    fn: call('function'),
  };
}

const MOST_CONTEXTS = 100_000;

function contextsOf(answer: Columns): Contexts {
  const node = tableOf<NodesColumns>(answer, 'nodes');
  const depth = node('depth');
  return {
    n: depth.length,
    depth,
    fn: node('function'),
    count: node('count'),
    sum: node('sum_ns'),
    self: node('self_ns'),
  };
}

class DetailLoader {
  readonly state = new Atom<DetailState>({
    details: null,
    reach: 'direct',
    deep: null,
    bins: null,
    scope: 'trace',
    trouble: '',
  });
  private binsOf = '';
  private deepOf: CallAt | null = null;
  private readonly served: Served;

  constructor(private readonly app: App) {
    this.served = timelineOf(app).served;
  }

  /** Loads what is selected, now and whenever it changes. */
  start(): () => void {
    const load = (): void => this.load();
    load();
    const off = this.served.state.subscribe((now, before) => {
      if (!isSameCall(now.call, before.call)) load();
    });
    const offRange = this.app.state.subscribe((now, before) => {
      if (now.range !== before.range && !now.isPreview && this.state.get().scope === 'range')
        load();
    });
    return () => {
      off();
      offRange();
    };
  }

  setScope(scope: Scope): void {
    this.state.update(now => ({ ...now, scope }));
    this.load();
  }

  setReach(reach: Reach): void {
    this.state.update(now => ({ ...now, reach }));
    this.load();
  }

  private fail(error: unknown): void {
    const trouble = messageOf(error);
    this.state.update(now => ({ ...now, trouble }));
  }

  /** What goes wrong with one of the questions stays, whatever the others come to. */
  private load(): void {
    const { call } = this.served.state.get();
    this.state.update(now => ({ ...now, details: call && now.details, trouble: '' }));
    if (!call) return;
    const fail = (error: unknown): void => {
      if (isSameCall(call, this.served.state.get().call)) this.fail(error);
    };
    for (const work of [this.loadCall(call), this.loadBins(call), this.loadDeep(call)])
      void unlessSuperseded(work).catch(fail);
  }

  private async loadCall(call: CallAt): Promise<void> {
    const { thread, depth, start } = call;
    const json = await this.served.source.json('item', { thread, at: start, depth }, 'item');
    if (!isSameCall(call, this.served.state.get().call)) return;
    this.state.update(now => ({ ...now, details: detailsFrom(json, call) }));
  }

  private async loadDeep(call: CallAt): Promise<void> {
    if (this.state.get().reach !== 'all' || isSameCall(call, this.deepOf)) return;
    this.deepOf = call;
    this.state.update(now => ({ ...now, deep: null }));
    const { thread, start: from, end: to } = call;
    try {
      const params = { threads: [thread], from, to, limit: MOST_CONTEXTS };
      const answer = await this.served.source.columns('tree', params, 'below');
      this.state.update(now => ({
        ...now,
        deep: allBelow(contextsOf(answer), call.depth, call.fn),
      }));
    } catch (error) {
      if (this.deepOf === call) this.deepOf = null;
      throw error;
    }
  }

  private async loadBins(call: CallAt): Promise<void> {
    const { scope } = this.state.get();
    const { range } = this.app.state.get();
    const threads = scope === 'thread' ? [call.thread] : undefined;
    const part = scope === 'range' && range ? { from: range.t0, to: range.t1 } : {};
    const question = { fn: [call.fn], threads, ...part };
    const key = JSON.stringify(question);
    if (key === this.binsOf) return;
    this.state.update(now => ({ ...now, bins: null }));
    this.binsOf = '';
    const bins = decodeBins(await this.served.source.json('histogram', question, 'histogram'));
    this.binsOf = key;
    this.state.update(now => ({ ...now, bins }));
  }
}

const DETAILS = new Own<App, DetailLoader>('details', app => new DetailLoader(app));
export const detailsOf = (app: App): DetailLoader => DETAILS.of(app);

/* ---- What a call called, at any depth: from the calling context tree of its thread and time. ---- */

interface Below {
  fn: number;
  count: number;
  sum: number;
  self: number;
}

/** Contexts in pre-order. */
interface Contexts {
  n: number;
  depth: ArrayLike<number>;
  fn: ArrayLike<number>;
  count: ArrayLike<number>;
  sum: ArrayLike<number>;
  self: ArrayLike<number>;
}

/** The context of the call: of its depth and function there is no other as long, since its callers
 * are open all the time; one of no duration may begin where it does. */
function contextOf(tree: Contexts, depth: number, fn: number): number {
  let found = -1;
  for (let i = 0; i < tree.n; i++)
    if (tree.depth[i] === depth && tree.fn[i] === fn)
      if (found < 0 || tree.sum[i]! > tree.sum[found]!) found = i;
  return found;
}

/** By function, most time of its own first; `sum` counts recursive calls as often as they are open. */
export function allBelow(tree: Contexts, depth: number, fn: number): Below[] {
  const byFn = new Map<number, Below>();
  const from = contextOf(tree, depth, fn);
  for (let i = from + 1; from >= 0 && i < tree.n && tree.depth[i]! > depth; i++) {
    const own = byFn.get(tree.fn[i]!) ?? { fn: tree.fn[i]!, count: 0, sum: 0, self: 0 };
    own.count += tree.count[i]!;
    own.sum += tree.sum[i]!;
    own.self += tree.self[i]!;
    byFn.set(own.fn, own);
  }
  return [...byFn.values()].sort((a, b) => b.self - a.self || a.fn - b.fn);
}

/* ---- How long one call is among all of its function: bins of a logarithmic histogram. ---- */

/** The duration below which `share` of the calls are: the upper border of its bin. */
export function quantile(bins: Bins, share: number): number {
  let left = share * bins.total;
  for (let i = 0; i < bins.n; i++) {
    left -= bins.count[i]!;
    if (left <= 1e-9) return bins.to[i]!;
  }
  return bins.n > 0 ? bins.to[bins.n - 1]! : 0;
}

/** Share of the calls that are shorter than `ns`, 0 to 1; calls of its bin count by half. */
export function rankOf(bins: Bins, ns: number): number {
  let below = 0;
  for (let i = 0; i < bins.n; i++) {
    if (bins.to[i]! <= ns) below += bins.count[i]!;
    else {
      if (bins.from[i]! <= ns) below += bins.count[i]! / 2;
      break;
    }
  }
  return bins.total > 0 ? below / bins.total : 0;
}

/** The first bin with calls that are longer than `ns`; -1: there is none. */
export function binBehind(bins: Bins, ns: number): number {
  for (let i = 0; i < bins.n; i++) if (bins.count[i]! > 0 && bins.from[i]! > ns) return i;
  return -1;
}

export interface BarColumn {
  from: number;
  to: number;
  count: number;
}

/** At most `most` columns of equal width on a logarithmic axis, from the first to the last bin. */
export function columnsOf(bins: Bins, most: number): BarColumn[] {
  if (bins.n === 0) return [];
  const low = Math.log(Math.max(1, bins.from[0]!));
  const high = Math.log(Math.max(2, bins.to[bins.n - 1]!));
  const n = Math.max(1, Math.min(most, Math.ceil((high - low) / 0.12)));
  const step = (high - low) / n;
  const columns = Array.from({ length: n }, (_, i) => ({
    from: Math.exp(low + i * step),
    to: Math.exp(low + (i + 1) * step),
    count: 0,
  }));
  for (let i = 0; i < bins.n; i++) {
    const middle = (Math.log(Math.max(1, bins.from[i]!)) + Math.log(Math.max(1, bins.to[i]!))) / 2;
    const at = Math.min(n - 1, Math.max(0, Math.floor((middle - low) / Math.max(1e-9, step))));
    columns[at]!.count += bins.count[i]!;
  }
  return columns;
}

/* ---- Arguments of a call as names and values: some sources tell them as one JSON text. ---- */

interface Argument {
  name: string;
  value: string;
}

const MOST = 40; // of one call

function parsed(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return text;
  try {
    return parsePlain(text);
  } catch {
    return text; // cut, or no JSON after all
  }
}

/** "data.url" of {data: {url: ...}}; a list of plain values stays one value. */
function flatten(name: string, value: unknown): Argument[] {
  if (typeof value !== 'object' || value === null) return [{ name, value: String(value) }];
  const isPlain = (one: unknown): boolean => typeof one !== 'object' || one === null;
  if (Array.isArray(value) && value.every(isPlain))
    return [{ name, value: value.map(String).join(', ') }];
  const own = Object.entries(value).flatMap(([key, one]) =>
    flatten(name === '' ? key : `${name}.${key}`, one),
  );
  return own.length > 0 ? own : [{ name, value: 'none' }];
}

/** Numbers first, then texts; those without a name are counted. */
export function argumentsOf(numbers: readonly unknown[], texts: readonly string[]): Argument[] {
  const all: unknown[] = [...numbers, ...texts.map(parsed)];
  const rows = all.flatMap((value, i) => {
    const isNamed = typeof value === 'object' && value !== null && !Array.isArray(value);
    return flatten(isNamed ? '' : `Argument ${i + 1}`, value);
  });
  const named = rows.map(({ name, value }) => ({ name: name || 'Arguments', value }));
  if (named.length <= MOST) return named;
  return [...named.slice(0, MOST), { name: 'More', value: `${named.length - MOST} omitted` }];
}
