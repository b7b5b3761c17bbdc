// SPDX-License-Identifier: MIT
// Critical paths: what a thread's time depended on, segment by segment, and the words for it.
import { duration, percent, plural } from './format';
import { readSpan, writeSpan } from './fragment';
import type { Span } from './model';
import { isNamed } from './names';
import { LOOK } from './states';

/** Times are ns since the start of the trace; threads and functions are dense ids, -1: none. */
export interface PathSegment {
  start: number;
  end: number;
  thread: number;
  /** Waits between the thread asked for and this one. */
  depth: number;
  state: string;
  reason: string;
  /** Of the system call, interrupt or device; may be empty. */
  name: string;
  fn: number;
  function: string;
  /** Of samples, folded: the outermost frame first; may be empty. */
  stack: string;
  /** Who had the processor, or ended the wait. */
  other: number;
  otherName: string;
  otherFunction: string;
  otherNs: number;
  span: string;
  isInFlight: boolean;
  isUncertain: boolean;
  /** Why it was not followed; '' if it was. */
  notFollowed: '' | 'cycle' | 'too deep' | 'unfinished';
}

export interface PathArrow {
  from: number;
  to: number;
  fromThread: number;
  toThread: number;
  edge: string;
  isUncertain: boolean;
  wait: number;
  lock: string;
}

export interface PathSum {
  name: string;
  /** A thread or a function; -1: none. */
  id: number;
  running: number;
  waiting: number;
}

export interface PathThread {
  thread: number;
  sum: number;
  /** By state, in ns. */
  by: Readonly<Record<PathState, number>>;
}

interface PathReason {
  state: string;
  reason: string;
  sum: number;
  segments: number;
}

interface PathLock {
  edge: string;
  name: string;
  count: number;
  sum: number;
  longest: number;
}

export interface Path {
  thread: number;
  from: number;
  to: number;
  hasKernel: boolean;
  unexplained: number;
  uncertain: number;
  cycles: number;
  tooDeep: number;
  /** All there are; `segments` may be the longest of them. */
  total: number;
  segments: PathSegment[];
  arrows: PathArrow[];
  reasons: PathReason[];
  locks: PathLock[];
  threads: PathThread[];
  functions: PathSum[];
  spans: PathSum[];
}

type PathState = 'running' | 'interrupted' | 'preempted' | 'blocked' | 'unknown';

/** What a stretch of time went to. */
export interface Cause {
  key: string;
  words: string;
  /** How it is drawn (lib/timelinestates). */
  look: number;
  letter: string;
  isUnexplained: boolean;
}

const BLOCKED: Record<string, [string, number, string]> = {
  lock: ['waits for a lock', LOOK.LOCK, 'L'],
  block_device: ['waits for a disk', LOOK.DISK, 'D'],
  network: ['waits for the network', LOOK.NETWORK, 'N'],
  timer: ['waits for a timer', LOOK.TIMER, 'T'],
  device: ['waits for a device', LOOK.UNKNOWN, ''],
  ipi: ['waits for another CPU', LOOK.UNKNOWN, ''],
  thread: ['waits for a thread', LOOK.UNKNOWN, ''],
  task: ['waits for its turn', LOOK.UNKNOWN, ''],
  call: ['waits in a call', LOOK.UNKNOWN, ''],
};

const OTHERS: Record<string, [string, number]> = {
  running: ['running', LOOK.RUN],
  running_user: ['running in user mode', LOOK.RUN],
  running_kernel: ['running in the kernel', LOOK.RUN],
  interrupted: ['interrupted', LOOK.RUN],
  preempted: ['runnable (preempted)', LOOK.READY],
};

const UNEXPLAINED: Cause = {
  key: 'unexplained',
  words: 'unexplained',
  look: LOOK.UNKNOWN,
  letter: '?',
  isUnexplained: true,
};

/** The cause of a state and its reason, as the server names them. */
export function causeOf(state: string, reason: string): Cause {
  if (state === 'blocked') {
    const known = BLOCKED[reason];
    if (!known) return UNEXPLAINED;
    const [words, look, letter] = known;
    return { key: reason, words, look, letter, isUnexplained: false };
  }
  const known = OTHERS[state];
  if (!known) return UNEXPLAINED;
  return { key: state, words: known[0], look: known[1], letter: '', isUnexplained: false };
}

export interface CauseSum {
  cause: Cause;
  sum: number;
  segments: number;
}

/** Where the time went, the longest first; what is unexplained is one of them, and last. */
export function causesOf({ reasons }: Path): CauseSum[] {
  const sums = new Map<string, CauseSum>();
  for (const { state, reason, sum, segments } of reasons) {
    const cause = causeOf(state, reason);
    const now = sums.get(cause.key) ?? { cause, sum: 0, segments: 0 };
    sums.set(cause.key, { cause, sum: now.sum + sum, segments: now.segments + segments });
  }
  return [...sums.values()].sort(
    (a, b) =>
      Number(a.cause.isUnexplained) - Number(b.cause.isUnexplained) ||
      b.sum - a.sum ||
      (a.cause.key < b.cause.key ? -1 : 1),
  );
}

/** Frames by which a kernel is entered: those above them are the program's. */
const ENTRIES = ['entry_SYSCALL', 'entry_SYSENTER', 'asm_', 'el0t_', 'el1h_', '__traceiter'];

/** Frames of a folded stack, the outermost first, without those of the kernel. */
export function framesOf(stack: string): string[] {
  if (stack === '') return [];
  const frames = stack.split(';');
  const isKernel = (frame: string): boolean =>
    !isNamed(frame) || ENTRIES.some(entry => frame.startsWith(entry));
  const at = frames.findIndex(isKernel);
  return at > 0 ? frames.slice(0, at) : frames;
}

/** The function in which a segment was, by its calls or by its samples; '' if nothing tells. */
export function placeOf({ function: name, stack, span }: PathSegment): string {
  if (name !== '' && isNamed(name)) return name;
  const place = framesOf(stack).at(-1) ?? span;
  return place === '' ? name : place;
}

const share = (part: number, whole: number): string => percent(part / Math.max(1, whole));

/** A segment in one sentence, as the tool-tip says it. */
export function segmentSentence(
  segment: PathSegment,
  path: Path,
  nameOf: (thread: number) => string,
): string {
  const { state, reason, start, end, thread, name } = segment;
  const cause = causeOf(state, reason);
  const place = placeOf(segment);
  const words = [`${nameOf(thread)} ${cause.isUnexplained ? 'is not explained' : cause.words}`];
  if (name !== '') words.push(`in ${name}`);
  if (place !== '') words.push(`at ${place}`);
  if (segment.other >= 0)
    words.push(
      state === 'preempted'
        ? `while ${nameOf(segment.other)} had the CPU`
        : `ended by ${nameOf(segment.other)}`,
    );
  const length = end - start;
  return `${words.join(' ')}: ${duration(length)}, ${share(length, path.to - path.from)} of the path.`;
}

/** The largest sums by thread and state; of running, all kinds together. */
function largest(path: Path): { thread: number; words: string; sum: number }[] {
  const sums = path.threads.flatMap(({ thread, by }) => [
    { thread, words: 'running in', sum: by.running + by.interrupted },
    { thread, words: 'preempted in', sum: by.preempted },
    { thread, words: 'blocked in', sum: by.blocked },
  ]);
  return sums.filter(({ sum }) => sum > 0).sort((a, b) => b.sum - a.sum || a.thread - b.thread);
}

/** The first sentence of the screen: where the time went, and what nothing tells. */
export function pathSentence(
  path: Path,
  title: string,
  nameOf: (thread: number) => string,
): string {
  return `${title} took ${duration(path.to - path.from)}: ${pathWords(path, nameOf)}.`;
}

/** On what most of it was spent, and how much nothing explains. */
export function pathWords(path: Path, nameOf: (thread: number) => string): string {
  const whole = path.to - path.from;
  const parts = largest(path)
    .slice(0, 2)
    .map(
      ({ thread, words, sum }) =>
        `${duration(sum)} ${words} ${nameOf(thread)} (${share(sum, whole)})`,
    );
  const rest =
    path.unexplained > 0
      ? `${duration(path.unexplained)} (${share(path.unexplained, whole)}) unexplained`
      : 'nothing unexplained';
  return [...parts, rest].join(', ');
}

/** Remarks that qualify a path. */
export function pathRemarks(path: Path): string {
  const words = [
    `${plural(path.total, 'segment')} on ${plural(path.threads.length, 'thread')}`,
    path.hasKernel
      ? 'states as the kernel recorded them'
      : 'states inferred from calls, locks and flows',
  ];
  if (path.segments.length < path.total)
    words.push(`the ${plural(path.segments.length, 'longest segment')} drawn, totals of all`);
  if (path.uncertain > 0)
    words.push(`${duration(path.uncertain)} reached over inferred edges (dotted)`);
  if (path.cycles > 0) words.push(`${plural(path.cycles, 'circular wait')} not followed`);
  if (path.tooDeep > 0) words.push(`${plural(path.tooDeep, 'wait')} too deep to follow`);
  return `${words.join('; ')}.`;
}

/** Threads of a path in the order in which it meets them. */
export function threadsInOrder({ segments }: Path): number[] {
  return [...new Set(segments.map(({ thread }) => thread))];
}

/** The segment at a time (since the start of the trace), or the next one; -1: none. */
export function segmentAt({ segments }: Path, t: number): number {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (segments[middle]!.end <= t) low = middle + 1;
    else high = middle;
  }
  return low < segments.length ? low : segments.length - 1;
}

/** Time by function and span; where the trace has no calls, by the innermost frame of samples. */
export function placeSums(path: Path): PathSum[] {
  const told = [...path.functions, ...path.spans];
  const isWhole = path.segments.length >= path.total;
  if (told.length > 0 && (!isWhole || told.every(({ name }) => isNamed(name)))) return told;
  const sums = new Map<string, PathSum>();
  for (const segment of path.segments) {
    const name = placeOf(segment);
    if (name === '') continue;
    const length = segment.end - segment.start;
    const isRunning = segment.state !== 'blocked' && segment.state !== 'preempted';
    const now = sums.get(name) ?? { name, id: -1, running: 0, waiting: 0 };
    sums.set(name, {
      ...now,
      running: now.running + (isRunning ? length : 0),
      waiting: now.waiting + (isRunning ? 0 : length),
    });
  }
  return [...sums.values()].sort(
    (a, b) => b.running + b.waiting - a.running - a.waiting || (a.name < b.name ? -1 : 1),
  );
}

/* ---- What a critical path is asked of: a thread and a time; and how the address names several of them. ---- */

/** At most so many paths are stacked. */
export const MOST_PICKS = 8;

export interface Pick {
  /** A dense id. */
  thread: number;
  span: Span;
  /** What it is: "remap_view", "range", "insert #237". */
  label: string;
}

const LABEL_BYTES = 80;

/** "t24522.2854.9-2931.9~insert;t3.0-1": tids, ms, and labels without ; and ~. */
export function writePicks(picks: readonly Pick[], tidOf: (thread: number) => number): string {
  return picks
    .map(({ thread, span, label }) => {
      const name = label.replace(/[;~]/g, ' ').slice(0, LABEL_BYTES);
      return `t${tidOf(thread)}.${writeSpan(span)}${name ? `~${name}` : ''}`;
    })
    .join(';');
}

/** Odd parts, and threads that the trace does not have, are left out. */
export function readPicks(text: string, threadOf: (tid: number) => number): Pick[] {
  return text
    .split(';')
    .flatMap(part => {
      const match = /^t(\d{1,15})\.([\d.]+-[\d.]+)(?:~(.*))?$/.exec(part);
      const span = readSpan(match?.[2]);
      const thread = match && span ? threadOf(Number(match[1])) : -1;
      return thread < 0
        ? []
        : [{ thread, span: span!, label: (match![3] ?? '').slice(0, LABEL_BYTES) }];
    })
    .slice(0, MOST_PICKS);
}

export function samePick(a: Pick, b: Pick): boolean {
  return a.thread === b.thread && a.span.t0 === b.span.t0 && a.span.t1 === b.span.t1;
}
