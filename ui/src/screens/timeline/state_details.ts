// SPDX-License-Identifier: MIT
// What the server says of the selected call: the call itself, and all calls of its function.
import { take } from '../../shared/api/columns';
import type { Column, Columns } from '../../shared/api/columns';
import { list, num, object, objects } from '../../shared/api/json';
import type { Json } from '../../shared/api/json';
import { unlessSuperseded } from '../../shared/api/source';
import { argumentsOf } from '../../shared/lib/arguments';
import type { Argument } from '../../shared/lib/arguments';
import { Atom } from '../../shared/lib/atom';
import { Own } from '../../shared/lib/own';
import type { App } from '../../shared/state/app';
import type { CallAt, CallSet, Served } from '../../shared/state/served';
import { allBelow } from './lib_below';
import type { Below, Contexts } from './lib_below';
import type { Bins } from './lib_histogram';
import { isSameCall, timelineOf } from './state_timeline';

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

export interface DetailState {
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
    ...{ thread, depth: num(json, 'depth'), start: num(json, 'start_ns') },
    ...{ end: num(json, 'end_ns'), fn: num(json, 'function') },
  };
}

const readArguments = (json: Json): Argument[] =>
  argumentsOf(list<unknown>(json, 'numbers'), list<unknown>(json, 'texts').map(String));

function detailsFrom(json: Json, call: CallAt): Details {
  const own = callFrom(json, call.thread) ?? call;
  return {
    call: own,
    ...{ self: num(json, 'self_ns'), flags: list<string>(json, 'flags').map(String) },
    arguments: readArguments(object(json, 'arguments')),
    ancestors: objects(json, 'ancestors').flatMap(one => callFrom(one, call.thread) ?? []),
    below: objects(json, 'children').map(one => ({
      ...{ fn: num(one, 'function'), count: num(one, 'count') },
      ...{ sum: num(one, 'sum_ns'), self: num(one, 'self_ns') },
    })),
  };
}

export function binsFrom(json: Json): Bins {
  const bins = list<Json>(json, 'bins');
  const get = (key: string): Float64Array => Float64Array.from(bins, bin => num(bin, key));
  return {
    ...{ n: bins.length, from: get('from_ns'), to: get('to_ns'), count: get('count') },
    ...{ sums: get('sum_ns'), total: num(json, 'count'), sum: num(json, 'sum_ns') },
    longest: num(json, 'max_ns'),
  };
}

/** The calls of an answer to `calls`. */
export function setFrom(answer: Columns, about: Pick<CallSet, 'title' | 'functions'>): CallSet {
  const get = <T extends Float64Array | Uint32Array | Uint16Array>(name: string): T =>
    take<T>(answer, [...answer.tables.keys()][0] ?? '', name);
  const start = get<Float64Array>('start_ns');
  const n = start.length;
  return {
    ...about,
    ...{ minNs: 0, maxNs: Infinity, total: Math.max(n, num(answer.meta, 'total')), n, start },
    ...{ end: get<Float64Array>('end_ns'), thread: get<Uint32Array>('thread') },
    ...{ depth: get<Uint16Array>('depth'), fn: get<Uint32Array>('function') },
  };
}

const MOST_CONTEXTS = 100_000;

function contextsOf(answer: Columns): Contexts {
  const get = (name: string): Column => take<Column>(answer, 'nodes', name);
  const depth = get('depth');
  return {
    ...{ n: depth.length, depth, fn: get('function'), count: get('count') },
    ...{ sum: get('sum_ns'), self: get('self_ns') },
  };
}

export function callOfSet(set: CallSet, i: number): CallAt {
  return {
    ...{ thread: set.thread[i]!, depth: set.depth[i]!, start: set.start[i]!, end: set.end[i]! },
    fn: set.fn[i]!,
  };
}

export class DetailLoader {
  readonly state = new Atom<DetailState>({
    ...{ details: null, reach: 'direct', deep: null, bins: null, scope: 'trace', trouble: '' },
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
    const trouble = error instanceof Error ? error.message : String(error);
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
    const bins = binsFrom(await this.served.source.json('histogram', question, 'histogram'));
    this.binsOf = key;
    this.state.update(now => ({ ...now, bins }));
  }
}

const DETAILS = new Own<App, DetailLoader>('details', app => new DetailLoader(app));
export const detailsOf = (app: App): DetailLoader => DETAILS.of(app);
