// SPDX-License-Identifier: MIT
// Answers of `path` (docs/http-api.md).
import type { Path, PathArrow, PathSegment, PathSum, PathThread } from '../lib/path';
import { num, objects, text } from './json';
import type { Json } from './json';

const idOf = (json: Json, key: string): number =>
  typeof json[key] === 'number' ? num(json, key) : -1;

function decodeSegment(json: Json): PathSegment {
  const is = (key: string): boolean => json[key] === true;
  const notFollowed = is('cycle') ? 'cycle' : is('too_deep') ? 'too deep' : '';
  return {
    ...{ start: num(json, 'start_ns'), end: num(json, 'end_ns'), thread: num(json, 'thread_id') },
    ...{ depth: num(json, 'depth'), state: text(json, 'state'), reason: text(json, 'reason') },
    ...{ name: text(json, 'name'), fn: idOf(json, 'fn'), function: text(json, 'function') },
    ...{ stack: text(json, 'stack'), other: idOf(json, 'other_thread_id') },
    ...{ otherName: text(json, 'other_thread'), otherFunction: text(json, 'other_function') },
    ...{ otherNs: num(json, 'other_ns'), span: text(json, 'span') },
    ...{ isInFlight: is('in_flight'), isUncertain: is('uncertain') },
    notFollowed: is('unfinished') ? 'unfinished' : notFollowed,
  };
}

function decodeArrow(locks: readonly Json[]): (json: Json) => PathArrow {
  return json => ({
    ...{ from: num(json, 'from_ns'), to: num(json, 'to_ns') },
    ...{ fromThread: num(json, 'from_thread_id'), toThread: num(json, 'to_thread_id') },
    ...{ edge: text(json, 'edge'), isUncertain: json['uncertain'] === true },
    wait: num(json, 'wait_ns'),
    lock: text(locks[idOf(json, 'lock_id')] ?? {}, 'lock'),
  });
}

function decodeThread(json: Json): PathThread {
  return {
    ...{ thread: num(json, 'thread_id'), sum: num(json, 'sum_ns') },
    by: {
      running: num(json, 'running_ns'),
      ...{ interrupted: num(json, 'interrupted_ns'), preempted: num(json, 'preempted_ns') },
      ...{ blocked: num(json, 'blocked_ns'), unknown: num(json, 'unknown_ns') },
    },
  };
}

const decodeSum =
  (name: string) =>
  (json: Json): PathSum => ({
    ...{ name: text(json, name), id: idOf(json, 'fn') },
    ...{ running: num(json, 'running_ns'), waiting: num(json, 'waiting_ns') },
  });

export function decodePath(json: Json): Path {
  const locks = objects(json, 'locks');
  const segments = objects(json, 'segments').map(decodeSegment);
  return {
    ...{ thread: num(json, 'thread_id'), from: num(json, 'from_ns'), to: num(json, 'to_ns') },
    ...{ hasKernel: json['has_kernel'] === true, unexplained: num(json, 'unexplained_ns') },
    ...{ uncertain: num(json, 'uncertain_ns'), cycles: num(json, 'cycles') },
    ...{ tooDeep: num(json, 'too_deep'), total: num(json, 'segments_total'), segments },
    arrows: objects(json, 'arrows').map(decodeArrow(locks)),
    reasons: objects(json, 'reasons').map(one => ({
      ...{ state: text(one, 'state'), reason: text(one, 'reason') },
      ...{ sum: num(one, 'sum_ns'), segments: num(one, 'segments') },
    })),
    locks: locks.map(one => ({
      ...{ edge: text(one, 'edge'), name: text(one, 'lock'), count: num(one, 'count') },
      ...{ sum: num(one, 'sum_ns'), longest: num(one, 'longest_ns') },
    })),
    threads: objects(json, 'threads').map(decodeThread),
    functions: objects(json, 'functions').map(decodeSum('function')),
    spans: objects(json, 'spans').map(decodeSum('span')),
  };
}
