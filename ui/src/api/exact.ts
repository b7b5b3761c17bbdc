// SPDX-License-Identifier: MIT
// Answers of `interval` (docs/http-api.md).
import type { Context, Exact, ExactThread } from '../lib/exact';
import { damaged, num, objects, text } from './json';
import type { Json } from './json';

/** Functions by id; `byName` finds one that a row has no id of. */
export interface FunctionIds {
  n: number;
  byName: (name: string) => number;
}

function decodeContext(json: Json, ids: FunctionIds): Context {
  const fn = typeof json['id'] === 'number' ? num(json, 'id') : ids.byName(text(json, 'function'));
  if (!(fn >= 0 && fn < ids.n)) throw damaged('a context names an unknown function');
  return {
    ...{ depth: num(json, 'depth'), fn, count: num(json, 'count') },
    ...{ sum: num(json, 'sum_ns'), self: num(json, 'self_ns') },
  };
}

function decodeThread(json: Json, ids: FunctionIds): ExactThread {
  return {
    ...{ thread: num(json, 'thread'), called: num(json, 'called_ns') },
    ...{ noCall: num(json, 'no_call_ns'), outside: num(json, 'outside_ns') },
    calls: num(json, 'calls'),
    contexts: objects(json, 'cct').map(row => decodeContext(row, ids)),
  };
}

export function decodeExact(json: Json, ids: FunctionIds): Exact {
  return {
    span: { t0: num(json, 'from_ns'), t1: num(json, 'to_ns') },
    threads: objects(json, 'threads').map(thread => decodeThread(thread, ids)),
  };
}
