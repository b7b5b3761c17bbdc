// SPDX-License-Identifier: MIT
// The calls of the chosen occurrence: from the page's data, or, on a served page, of its server.
import { useEffect, useState } from 'preact/hooks';
import { take } from '../../shared/api/columns';
import { unlessSuperseded } from '../../shared/api/source';
import { callsOf } from '../../shared/lib/shapes';
import type { Calls } from '../../shared/lib/shapes';
import type { App } from '../../shared/state/app';
import type { Chosen } from './state_patterns';
import { useApp } from '../../shared/views/use';
import { callTree } from './lib_calltree';

const REST_MS = 120;
const ASKED = 100000; // calls of one occurrence
const DRAWN = 1500;

export interface OccurrenceCalls {
  calls: Calls | null;
  /** What the page says meanwhile, or why there are none. */
  word: string;
}

async function ask(app: App, chosen: Chosen): Promise<Calls | null> {
  const { source } = app.served!;
  const { thread, start, end } = chosen.at;
  const params = { thread, from: start, to: Math.max(end, start + 1), limit: ASKED };
  const answer = await source.columns('subtree', params, 'subtree');
  const { functions } = app.model.trace;
  const indexOf = new Map(functions.id.map((id, i) => [id, i]));
  const ids = take<Uint32Array>(answer, 'calls', 'function');
  const rows = {
    start: take<Float64Array>(answer, 'calls', 'start_ns'),
    end: take<Float64Array>(answer, 'calls', 'end_ns'),
    depth: take<Uint16Array>(answer, 'calls', 'depth'),
    fn: Int32Array.from(ids, id => indexOf.get(id) ?? -1),
  };
  const fn = app.model.behaviours!.list[chosen.cluster]!.cluster.fn;
  return callTree(rows, start, end, fn, DRAWN);
}

/** Asks when `chosen` rests; what the page has itself is there at once. */
export function useOccurrence(chosen: Chosen | null): OccurrenceCalls {
  const app = useApp();
  const [got, setGot] = useState<{ of: Chosen; calls: Calls | null; word: string } | null>(null);
  const isExact = chosen !== null && chosen.how !== 'columns';
  const { behaviours } = app.model;
  const own = isExact && behaviours ? callsOf(behaviours.shapes, chosen.cluster, chosen.at) : null;
  const isAsked = isExact && !!app.served && (!own || own.n < own.all);
  useEffect(() => {
    if (!isAsked) return undefined;
    const run = async (): Promise<void> => {
      const calls = await ask(app, chosen);
      setGot({ of: chosen, calls, word: calls ? '' : 'The server has no such call.' });
    };
    const fail = (error: unknown): void =>
      setGot({ of: chosen, calls: null, word: error instanceof Error ? error.message : '' });
    const timer = setTimeout(() => void unlessSuperseded(run()).catch(fail), REST_MS);
    return () => clearTimeout(timer);
  }, [isAsked, chosen]);
  if (!isAsked) return { calls: own, word: '' };
  if (got?.of === chosen) return { calls: got.calls ?? own, word: got.word };
  return { calls: own, word: 'Its calls are asked for.' };
}
