// SPDX-License-Identifier: MIT
// What a thread did in an interval, as far as the page knows it. Notable calls, gaps and pauses have
// exact borders. An expression that lies whole in the interval is exact too; of one cut by a border
// only bounds are known, because the order of its calls is folded. Nothing in between is guessed.
import { KIND, PAUSE, overlap } from '../../shared/lib/model';
import type { Span, Thread } from '../../shared/lib/model';

export type State = 'no call' | 'waits' | 'stands still' | 'inside a call' | 'runs' | 'waits, runs';

export interface Did {
  thread: Thread;
  state: State;
  /** Calls that touch the interval: exactly, or at least and at most. */
  callsLeast: number;
  callsMost: number;
  /** Self time known exactly, by function, longest first. */
  self: { fn: number; ns: number }[];
  /** Time in calls that no row resolves: cut expressions, folded nodes, slivers. */
  unresolved: number;
  /** Time in which no call was open. */
  outside: number;
  wait: number;
  still: number;
  /** The innermost notable call open all along, or -1. */
  throughout: number;
  isExact: boolean;
}

interface Tally {
  t0: number;
  t1: number;
  self: Map<number, number>;
  least: number;
  most: number;
  covered: number;
  isExact: boolean;
}

function add(tally: Tally, fn: number, ns: number): void {
  if (ns > 0) tally.self.set(fn, (tally.self.get(fn) ?? 0) + ns);
}

function addBox(thread: Thread, box: number, tally: Tally): void {
  const { rows } = thread;
  const isWhole = rows.start[box]! >= tally.t0 && rows.end[box]! <= tally.t1;
  tally.most += rows.count[box]!;
  if (isWhole) {
    tally.least += rows.count[box]!;
    for (let i = box + 1; i < rows.next[box]!; i++)
      if (rows.kind[i] === KIND.NODE) add(tally, rows.fn[i]!, rows.self[i]!);
  } else {
    tally.least += 1;
    tally.isExact = false;
  }
}

function addCall(thread: Thread, call: number, tally: Tally): void {
  const { rows } = thread;
  tally.least++;
  tally.most++;
  const inside = overlap(rows.start[call]!, rows.end[call]!, tally.t0, tally.t1);
  const isWhole = rows.start[call]! >= tally.t0 && rows.end[call]! <= tally.t1;
  const below = addChildren(thread, call + 1, rows.next[call]!, inside, tally);
  add(tally, rows.fn[call]!, isWhole ? rows.self[call]! : below.n > 0 ? below.gaps : inside);
}

/** Rows under one parent (or at root). Slivers can only lie in what the other rows leave free. */
function addChildren(
  thread: Thread,
  from: number,
  to: number,
  inside: number,
  tally: Tally,
): { n: number; gaps: number } {
  const { rows } = thread;
  const slivers: number[] = [];
  let [n, gaps, covered] = [0, 0, 0];
  for (let c = from; c < to; c = rows.next[c]!) {
    n++;
    if (rows.kind[c] === KIND.SLIVER) {
      slivers.push(c);
      continue;
    }
    const part = overlap(rows.start[c]!, rows.end[c]!, tally.t0, tally.t1);
    covered += part;
    if (rows.kind[c] === KIND.GAP) gaps += part;
    else addRow(thread, c, tally);
  }
  if (covered < inside) for (const c of slivers) addRow(thread, c, tally);
  return { n, gaps };
}

function addRow(thread: Thread, i: number, tally: Tally): void {
  const { rows } = thread;
  const start = rows.start[i]!;
  const end = rows.end[i]!;
  const touches =
    end > start ? start < tally.t1 && end > tally.t0 : start >= tally.t0 && start < tally.t1;
  if (!touches) return;
  if (rows.kind[i] === KIND.CALL) addCall(thread, i, tally);
  else if (rows.kind[i] === KIND.EXPRESSION) addBox(thread, i, tally);
  else if (rows.kind[i] === KIND.SLIVER) {
    const isWhole = start >= tally.t0 && end <= tally.t1;
    tally.most += rows.count[i]!;
    if (isWhole) tally.least += rows.count[i]!;
    else tally.isExact = false;
  }
}

function openThroughout(thread: Thread, { t0, t1 }: Span): number {
  const { rows } = thread;
  let found = -1;
  let i = 0;
  while (i < rows.n) {
    const covers = rows.kind[i] === KIND.CALL && rows.start[i]! <= t0 && rows.end[i]! >= t1;
    if (covers) found = i;
    i = covers ? i + 1 : rows.next[i]!;
  }
  return found;
}

/** Time between `t0` and `t1` in which some root call or root expression was open. */
function rootCover(thread: Thread, { t0, t1 }: Span): number {
  const { rows } = thread;
  let covered = 0;
  for (let i = 0; i < rows.n; i = rows.next[i]!)
    if (rows.kind[i] === KIND.CALL || rows.kind[i] === KIND.EXPRESSION)
      covered += overlap(rows.start[i]!, rows.end[i]!, t0, t1);
  return covered;
}

function pauseTime(thread: Thread, kind: number, { t0, t1 }: Span): number {
  const { pauses } = thread;
  let total = 0;
  for (let p = 0; p < pauses.n; p++)
    if (pauses.kind[p] === kind) total += overlap(pauses.start[p]!, pauses.end[p]!, t0, t1);
  return total;
}

function stateOf(did: Omit<Did, 'state'>, length: number): State {
  const { wait, still, outside } = did;
  if (outside >= length * 0.999) return 'no call';
  if (wait + outside >= length * 0.995) return 'waits';
  if (still + outside >= length * 0.995) return 'stands still';
  const isOneCall = did.callsMost <= 64 && did.throughout >= 0 && did.unresolved < length * 0.01;
  if (isOneCall) return 'inside a call';
  return wait > length * 0.05 ? 'waits, runs' : 'runs';
}

export function whatItDid(thread: Thread, span: Span): Did {
  const tally: Tally = {
    ...{ t0: span.t0, t1: span.t1, self: new Map<number, number>(), least: 0, most: 0 },
    ...{ covered: 0, isExact: true },
  };
  addChildren(thread, 0, thread.rows.n, span.t1 - span.t0, tally);
  const inCalls = rootCover(thread, span);
  const self = [...tally.self].map(([fn, ns]) => ({ fn, ns })).sort((a, b) => b.ns - a.ns);
  const known = self.reduce((sum, { ns }) => sum + ns, 0);
  const did = {
    ...{ thread, callsLeast: tally.least, callsMost: tally.most, self },
    unresolved: Math.max(0, inCalls - known),
    outside: Math.max(0, span.t1 - span.t0 - inCalls),
    wait: pauseTime(thread, PAUSE.WAIT, span),
    still: pauseTime(thread, PAUSE.STILL, span),
    throughout: openThroughout(thread, span),
    isExact: tally.isExact && thread.foldedNodes === 0,
  };
  return { ...did, state: stateOf(did, span.t1 - span.t0) };
}

/** One sentence over all threads. */
export function summarize(all: readonly Did[]): string {
  const counts = new Map<State, number>();
  for (const { state } of all) counts.set(state, (counts.get(state) ?? 0) + 1);
  const words: [State, string][] = [
    ['runs', 'ran'],
    ['waits, runs', 'waited and ran'],
    ['waits', 'waited throughout'],
    ['stands still', 'stood still inside a call'],
    ['inside a call', 'were inside one call'],
    ['no call', 'had no call'],
  ];
  const parts = words
    .filter(([state]) => counts.has(state))
    .map(([state, word]) => `${counts.get(state)} ${word}`);
  if (parts.length === 0) return 'No thread.';
  return `${parts[0]!.replace(/^(\d+) /, (_, n: string) => `${n} ${n === '1' ? 'thread' : 'threads'} `)}${
    parts.length > 1 ? `, ${parts.slice(1).join(', ')}` : ''
  }.`;
}
