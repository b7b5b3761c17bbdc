// SPDX-License-Identifier: MIT
// Answers of `interval` (docs/http-api.md).
import type { Context, Exact, ExactThread } from '../lib/exact';
import { damaged, num, objects } from './json';
import type { Json } from './json';

function decodeContext(json: Json, nFunctions: number): Context {
  const fn = json['fn'];
  if (typeof fn !== 'number' || !(fn >= 0 && fn < nFunctions))
    throw damaged('a context names an unknown function');
  return {
    ...{ depth: num(json, 'depth'), fn, count: num(json, 'count') },
    ...{ sum: num(json, 'sum_ns'), self: num(json, 'self_ns') },
  };
}

function decodeThread(json: Json, nFunctions: number): ExactThread {
  return {
    ...{ thread: num(json, 'thread'), called: num(json, 'called_ns') },
    ...{ noCall: num(json, 'no_call_ns'), outside: num(json, 'outside_ns') },
    calls: num(json, 'calls'),
    contexts: objects(json, 'cct').map(row => decodeContext(row, nFunctions)),
  };
}

/** `nFunctions`: every function id is less. */
export function decodeExact(json: Json, nFunctions: number): Exact {
  return {
    span: { t0: num(json, 'from_ns'), t1: num(json, 'to_ns') },
    threads: objects(json, 'threads').map(thread => decodeThread(thread, nFunctions)),
  };
}
