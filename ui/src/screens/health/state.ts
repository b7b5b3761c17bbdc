// SPDX-License-Identifier: MIT
// What was lost, mended, left out or folded of a trace: what it means for whoever reads it, and what
// to do about it.
import { list, num, object, objects, text } from '../../shared/api/columns';
import type { Json } from '../../shared/api/columns';
import { Superseded } from '../../shared/api/source';
import { Atom } from '../../shared/lib/atom';
import {
  bytes,
  duration,
  integer,
  plural,
  quoted,
  isBytes,
  messageOf,
} from '../../shared/lib/format';
import type { Served } from '../../shared/state/served';
import { significant } from '../../shared/lib/numbers';

export type HealthClass = 'lost' | 'repaired' | 'info';

/** A note of `weft info`. */
interface HealthNote {
  class: HealthClass;
  kind: string;
  count: number;
  /** Threads concerned; 0: not known. */
  threads: number;
  firstOffset: number | null;
  text: string;
  detail: string;
}

interface HealthThread {
  tid: number;
  name: string;
  calls: number;
  cutCalls: number;
}

interface Clock {
  frequencyHz: number;
  zeroTicks: number;
  monotonicNs: number | null;
  realtimeNs: number | null;
}

/** `weft info --json`. */
export interface Info {
  source: string;
  format: string;
  details: string;
  duration: number;
  calls: number;
  cutCalls: number;
  functions: number;
  unnamed: number;
  events: number;
  /** null: the format of the source does not count what is lost. */
  lost: number | null;
  repaired: number;
  isRecovered: boolean;
  lostBytes: number;
  bytesIn: number;
  bytesOut: number;
  clock: Clock;
  notes: HealthNote[];
  threads: HealthThread[];
}

export interface Finding {
  class: HealthClass;
  kind: string;
  title: string;
  count: string;
  /** "2 threads, from byte 7,838,280" */
  where: string;
  means: string;
  todo: string;
  command: string;
  /** By thread, most first, where it is known. */
  threads: { tid: number; name: string; count: number }[];
}

/** How a recorder is told to lose less. */
interface Recorder {
  name: string;
  fromStart: string;
  moreRoom: string;
  allNames: string;
}

const XRAY: Recorder = {
  name: 'XRay',
  fromStart: 'XRAY_OPTIONS="patch_premain=true xray_mode=xray-fdr" ./PROGRAM',
  moreRoom:
    'XRAY_OPTIONS="patch_premain=true xray_mode=xray-fdr" XRAY_FDR_OPTIONS="buffer_size=65536:buffer_max=4096" ./PROGRAM',
  allNames: 'weft import --binary ./PROGRAM -o TRACE SOURCE',
};

const UFTRACE: Recorder = {
  name: 'uftrace',
  fromStart: 'uftrace record ./PROGRAM',
  moreRoom: 'uftrace record --buffer=8M ./PROGRAM',
  allNames: 'uftrace record --symbols ./PROGRAM',
};

const WEFT: Recorder = {
  name: 'weft record',
  fromStart: 'weft record -o TRACE ./PROGRAM',
  moreRoom: 'weft record --cull 100000 -o TRACE ./PROGRAM',
  allNames: '',
};

const OTHER: Recorder = { name: 'the recorder', fromStart: '', moreRoom: '', allNames: '' };

/** By the name of the format, as importers give it. */
const RECORDERS: Record<string, Recorder> = {
  'xray-fdr': XRAY,
  'xray-basic': XRAY,
  'weft record': WEFT,
  uftrace: UFTRACE,
};

const recorderOf = ({ format }: Info): Recorder => RECORDERS[format] ?? OTHER;

interface Advice {
  means: string;
  todo: string;
  command?: string;
}

const importAgain = (info: Info, trace: string): string =>
  `weft import -o ${quoted(trace)} ${quoted(info.source || 'SOURCE')}`;

type Adviser = (info: Info, trace: string) => Advice;

const ADVICE: Record<string, Adviser> = {
  truncated: (info, trace) => ({
    means:
      'The input ends in the middle: what came after is in no number here. Often the copy was cut, the disk was full, or the program was killed before it wrote its buffers.',
    todo: 'Compare the sizes of the source and its copy, then import it again.',
    command: importAgain(info, trace),
  }),
  unwritten: () => ({
    means:
      'The file of the recording could take no more (the disk was full, or files may not be larger): what came after is in no number here.',
    todo: 'Record again where there is room, or less: with --function, --depth, or for a shorter time.',
    command: 'man weft-record',
  }),
  bad_record: (info, trace) => ({
    means:
      'Bytes contradict the format and were skipped up to the next place that makes sense. Calls that stood there are missing; callers may seem longer in themselves than they were.',
    todo: 'If the file was copied, compare checksums. If the recorder wrote it so, the offset below helps its maintainers.',
    command: importAgain(info, trace),
  }),
  unknown_record: () => ({
    means:
      'Records of a kind that this version does not know were skipped; calls are only missing if they stood in those.',
    todo: 'A newer version may know them.',
    command: 'weft --version',
  }),
  formless: () => ({
    means:
      'The file lacks the formats of these events, as one that is cut off: they are kept as instants without name and fields. Switches of threads may be among them, so no analysis of CPU time or waits sees them.',
    todo: 'Record again, and end the recorder with Ctrl-C: it writes the formats last.',
    command: 'perf record -e sched:sched_switch',
  }),
  lost_records: info => ({
    means:
      'The recorder itself says that it lost records, as a rule because its buffers were full. Calls are missing there, and times of callers hold them.',
    todo: `Record again with more room in the buffers, or with fewer functions instrumented.`,
    command: recorderOf(info).moreRoom,
  }),
  depth_limit: () => ({
    means:
      'Calls nested deeper than the limit were dropped: their time stands in the deepest caller kept.',
    todo: 'Look for a recursion without end; leave the recursive function out of the instrumentation.',
  }),
  duplicate_buffer: () => ({
    means:
      'The recorder wrote some buffers twice. The second copies were dropped; no data is missing.',
    todo: 'Nothing to be done.',
  }),
  exit_without_entry: info => ({
    means:
      'These calls ran before the recording began. They are drawn from the start of their thread with a dashed edge; they are neither counted nor timed.',
    todo: 'To have them, record from the start of the program.',
    command: recorderOf(info).fromStart,
  }),
  exit_ignored: () => ({
    means:
      'Exits without an open call are omitted: their entries are missing, and so are the calls.',
    todo: 'If there are many, the recorder lost entries: record with more room in its buffers.',
  }),
  missing_exit: () => ({
    means:
      'Calls never said that they ended (longjmp, an exception, a lost exit). Each was closed when its caller returned, so it may seem longer than it was.',
    todo: 'Doubt the longest calls of functions that leave by longjmp or exceptions; all others are exact.',
  }),
  open_at_end: () => ({
    means:
      'These calls were running when the recording ended. They are drawn to the last event of their thread with a dashed edge, counted, but not in minima, means and percentiles.',
    todo: 'Normal for threads that wait for ever. To see their ends, record until the program has ended.',
  }),
  time_backward: () => ({
    means:
      'Time stamps stepped back inside a thread and were raised to the one before: durations there are 0 or too short.',
    todo: 'Check that the time-stamp counters of the CPUs agree (constant_tsc, nonstop_tsc).',
    command: 'grep -m1 -o -w -e constant_tsc -e nonstop_tsc /proc/cpuinfo',
  }),
  unnamed_function: (info, trace) => ({
    means: 'These functions are known by their number alone and are shown as #number.',
    todo: 'Import again with the program that was recorded, or a table of its names.',
    command: `weft import --binary ./PROGRAM -o ${quoted(trace)} ${quoted(info.source || 'SOURCE')}`,
  }),
  foreign_map: (info, trace) => ({
    means:
      'Functions have numbers beyond those of the names given: the names are of another build, and others may be wrong too.',
    todo: 'Import again with the very program that was recorded.',
    command: `weft import --binary ./PROGRAM -o ${quoted(trace)} ${quoted(info.source || 'SOURCE')}`,
  }),
  not_kept: () => ({
    means:
      'Events of this kind were understood, but the file has no place for them. Calls are all there.',
    todo: 'Nothing to be done.',
  }),
  excerpt: () => ({
    means:
      'This file is a part that was cut out of a longer trace; what lies outside is not lost, but elsewhere.',
    todo: 'Open the whole trace for what came before and after.',
  }),
  not_aligned: () => ({
    means:
      'The traces that were merged share no clock: each begins at time 0. Order and overlap between their threads say nothing.',
    todo: 'Record with a common clock, or compare times only inside one source.',
  }),
  not_recorded: () => ({
    means:
      'Processes of the program, or parts of them, were not recorded, for the reason given here: what they did is in no number.',
    todo: 'weft info lists each process, how much of it was recorded, and why not the rest.',
    command: 'man weft-record',
  }),
  excluded: () => ({
    means:
      'Options of the recording excluded processes, or parts of their time: what they did is in no number.',
    todo: 'weft info lists these processes.',
  }),
  clock_set: () => ({
    means:
      'The clock of a host was set by packets that it exchanged with another: each left before it came. Times of the two may differ by as much as is said here.',
    todo: 'Doubt the order of events on different hosts that lie closer together. To set it otherwise, import with --offset.',
  }),
  threads_named: () => ({
    means:
      'These threads have no name of their own. They are called after the function of the program that they begin with.',
    todo: 'To give them other names, call pthread_setname_np in the program.',
  }),
  jit_unnamed: () => ({
    means:
      'These frames of stacks lie in code that a runtime compiled while the program ran, and the recording has no names for it. They are shown as [jit].',
    todo: 'To give them names, have the runtime write a perf map or a jitdump, as the note says, and record again.',
  }),
  contended_only: () => ({
    means:
      'Waits for locks are seen as futex calls of the kernel. Only waits that are long enough are recorded, and no lock that is acquired at once.',
    todo: 'To see every operation on locks, start the program with weft record.',
  }),
  // Switches that the kernel's side missed: no call is missing, and nothing was recorded too much.
  lost_switches: () => ({
    means:
      'Some events of a thread imply a switch that is not recorded. It was inserted; until then the state of the thread is unknown, hatched red on the Timeline. No calls are missing.',
    todo: 'A few at the ends of a recording, or on a busy machine, are nothing to mind. Of many: record fewer events of the kernel.',
  }),
};

const UNKNOWN: Advice = {
  means: 'A note of a kind that this page does not know.',
  todo: 'The manual of weft-info may say more.',
  command: 'man weft-info',
};

function placeWords({ threads, firstOffset }: HealthNote): string {
  const parts = [
    threads > 0 && plural(threads, 'thread'),
    firstOffset !== null && `from byte ${integer(firstOffset)}`,
  ];
  return parts.filter(Boolean).join(', ');
}

function findingOf(note: HealthNote, info: Info, trace: string): Finding {
  const advice = ADVICE[note.kind]?.(info, trace) ?? UNKNOWN;
  const isCut = note.kind === 'exit_without_entry';
  const threads = isCut ? info.threads.filter(({ cutCalls }) => cutCalls > 0) : [];
  return {
    class: note.class,
    kind: note.kind,
    where: placeWords(note),
    title: note.detail ? `${note.text} (${note.detail})` : note.text,
    count: isBytes(note.kind) ? bytes(note.count) : integer(note.count),
    means: advice.means,
    todo: advice.todo,
    command: advice.command ?? '',
    threads: threads
      .map(({ tid, name, cutCalls }) => ({ tid, name, count: cutCalls }))
      .sort((a, b) => b.count - a.count || a.tid - b.tid),
  };
}

/** A file without its end is said once, even if its notes do not say it. */
function recovered(info: Info, trace: string): Finding[] {
  if (!info.isRecovered || info.notes.some(({ kind }) => kind === 'truncated')) return [];
  return [
    {
      class: 'lost',
      kind: 'recovered',
      count: bytes(info.lostBytes),
      where: '',
      threads: [],
      title: 'the trace file ends early: bytes in no whole block',
      means: 'The file was not written to its end. What followed its last whole block is missing.',
      todo: 'Import the source again.',
      command: importAgain(info, trace),
    },
  ];
}

function unnamed(info: Info, trace: string): Finding[] {
  if (info.unnamed === 0 || info.notes.some(({ kind }) => kind === 'unnamed_function')) return [];
  const advice = ADVICE['unnamed_function']!(info, trace);
  return [
    {
      class: 'info',
      kind: 'unnamed_function',
      where: '',
      threads: [],
      title: 'functions without a name, shown as #number',
      count: `${integer(info.unnamed)} of ${integer(info.functions)}`,
      means: advice.means,
      todo: advice.todo,
      command: advice.command ?? '',
    },
  ];
}

const RANK: Record<HealthClass, number> = { lost: 0, repaired: 1, info: 2 };

/** Everything that is to be known, losses first. `trace`: the file that is shown. */
export function findingsOf(info: Info, trace: string): Finding[] {
  const notes = info.notes.map(note => findingOf(note, info, trace));
  const all = [...recovered(info, trace), ...notes, ...unnamed(info, trace)];
  return all.sort((a, b) => RANK[a.class] - RANK[b.class]);
}

/** The sentence that the screen begins with. */
export function verdictOf(info: Info): string {
  const lost = info.notes.filter(note => note.class === 'lost');
  const repaired = info.notes.filter(note => note.class === 'repaired');
  if (lost.length > 0 || info.isRecovered) {
    const kinds = Math.max(1, lost.length);
    return `Something was lost: ${plural(kinds, 'kind')} of loss below; what is shown is what was left.`;
  }
  const excluded = info.notes.filter(note => note.kind === 'excluded');
  if (excluded.length > 0) {
    const count = excluded.reduce((sum, note) => sum + note.count, 0);
    return `Recorded as asked for: options excluded ${plural(count, 'process', 'processes')}, or parts of their time.`;
  }
  const anomalies =
    repaired.length > 0
      ? `${plural(repaired.length, 'kind')} of anomaly repaired`
      : 'nothing repaired';
  return info.lost === null
    ? `This format does not count losses; ${anomalies}.`
    : `No data loss; ${anomalies}.`;
}

/** What the clock is, as rows. */
export function clockRows({ clock, duration: length }: Info): [name: string, value: string][] {
  const mega = clock.frequencyHz / 1e6;
  const step = clock.frequencyHz > 0 ? 1e9 / clock.frequencyHz : 1;
  const rows: [string, string][] = [
    ['length', `${duration(length)}, from the first to the last event`],
    ['ticks', `${significant(mega, 6)} MHz: one is ${significant(step, 3)} ns`],
    ['time 0', `tick ${integer(clock.zeroTicks)}`],
  ];
  if (clock.monotonicNs !== null)
    rows.push(['time 0 since boot', `${integer(clock.monotonicNs)} ns (CLOCK_MONOTONIC)`]);
  rows.push([
    'time of day',
    clock.realtimeNs === null
      ? 'not recorded: the trace cannot be set beside logs by it'
      : new Date(clock.realtimeNs / 1e6).toISOString().replace('T', ' ').replace('Z', ' UTC'),
  ]);
  return rows;
}

/* ---- What the Health screen and the badge know: asked for once, when the page opens. ---- */

/** Of what a server computes ahead of any question. */
export interface Ahead {
  name: string;
  state: string;
  share: number;
}

interface HealthState {
  info: Info | null;
  error: string;
  ahead: Ahead[];
}

const orNull = (json: Json, key: string): number | null =>
  typeof json[key] === 'number' ? num(json, key) : null;

const CLASSES: readonly HealthClass[] = ['lost', 'repaired', 'info'];

export function decodeInfo(json: Json): Info {
  const clock = object(json, 'clock');
  return {
    source: text(json, 'source'),
    format: text(json, 'format'),
    details: text(json, 'details'),
    duration: num(json, 'duration_ns'),
    calls: num(json, 'calls'),
    cutCalls: num(json, 'cut_calls'),
    functions: num(json, 'functions'),
    unnamed: num(json, 'unnamed_functions'),
    events: num(json, 'events'),
    lost: json['lost'] === null ? null : num(json, 'lost'),
    repaired: num(json, 'repaired'),
    isRecovered: json['recovered'] === true,
    lostBytes: num(json, 'lost_bytes'),
    bytesIn: num(json, 'bytes_in'),
    bytesOut: num(json, 'bytes_out'),
    clock: {
      frequencyHz: num(clock, 'frequency_hz'),
      zeroTicks: num(clock, 'zero_ticks'),
      monotonicNs: orNull(clock, 'monotonic_ns'),
      realtimeNs: orNull(clock, 'realtime_ns'),
    },
    notes: objects(json, 'notes').map(note => ({
      class: CLASSES.find(one => one === text(note, 'class')) ?? 'info',
      kind: text(note, 'kind'),
      count: num(note, 'count'),
      threads: num(note, 'threads'),
      firstOffset: orNull(note, 'first_offset'),
      text: text(note, 'text'),
      detail: text(note, 'detail'),
    })),
    threads: list<Json>(json, 'thread_list').map(thread => ({
      tid: num(thread, 'tid'),
      name: text(thread, 'name'),
      calls: num(thread, 'calls'),
      cutCalls: num(thread, 'cut_calls'),
    })),
  };
}

const AHEAD = ['regtime', 'functions', 'shapes'] as const;

export class Health {
  readonly state = new Atom<HealthState>({ info: null, error: '', ahead: [] });
  private isAsked = false;

  constructor(private readonly served: Served) {}

  /** Asks for the facts, unless they are there or on their way. */
  ask(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    void this.load();
  }

  private async load(): Promise<void> {
    try {
      const info = decodeInfo(await this.served.source.json('info'));
      this.state.update(now => ({ ...now, info, error: '' }));
    } catch (error) {
      this.isAsked = false;
      const why = messageOf(error);
      this.state.update(now => ({ ...now, error: why }));
    }
  }

  /** How far the server is with what it computes ahead. */
  async look(): Promise<void> {
    const look = Promise.all(
      AHEAD.map(async name => {
        const json = await this.served.source.json('progress', { of: name }, `health.${name}`);
        const total = num(json, 'total');
        return {
          name,
          state: text(json, 'state'),
          share: total > 0 ? num(json, 'done') / total : 0,
        };
      }),
    );
    const before = this.state.get().ahead;
    const ahead = await look.catch((error: unknown) => (error instanceof Superseded ? before : []));
    this.state.update(now => ({ ...now, ahead }));
  }
}
