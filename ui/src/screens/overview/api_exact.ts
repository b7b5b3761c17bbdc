// SPDX-License-Identifier: MIT
// Answers of `interval` (docs/http-api.md).
import { damaged, num, objects, text } from '../../shared/api/json';
import type { Json } from '../../shared/api/json';
import type { Context, Exact, ExactThread } from './lib_exact';

function decodeContext(json: Json, nFunctions: number): Context {
  const fn = json['fn'];
  if (typeof fn !== 'number' || !(fn >= 0 && fn < nFunctions))
    throw damaged('a context names an unknown function');
  return {
    ...{ depth: num(json, 'depth'), fn, count: num(json, 'count') },
    ...{ sum: num(json, 'sum_ns'), self: num(json, 'self_ns') },
  };
}

/** Functions of one name count together: any of them stands for all. */
function decodeTop(json: Json, byName: ReadonlyMap<string, number>): ExactThread['top'] {
  const fn = byName.get(text(json, 'top_function'));
  return fn === undefined ? null : { fn, ns: num(json, 'top_self_ns') };
}

function decodeThread(
  json: Json,
  nFunctions: number,
  byName: ReadonlyMap<string, number>,
): ExactThread {
  return {
    ...{ thread: num(json, 'thread'), called: num(json, 'called_ns') },
    ...{ noCall: num(json, 'no_call_ns'), outside: num(json, 'outside_ns') },
    ...{ calls: num(json, 'calls'), top: decodeTop(json, byName) },
    contexts: objects(json, 'cct').map(row => decodeContext(row, nFunctions)),
  };
}

/** `names`: of all functions, by id. */
export function decodeExact(json: Json, names: readonly string[]): Exact {
  const byName = new Map(names.map((name, i) => [name, i]));
  return {
    span: { t0: num(json, 'from_ns'), t1: num(json, 'to_ns') },
    threads: objects(json, 'threads').map(thread => decodeThread(thread, names.length, byName)),
  };
}
