// SPDX-License-Identifier: MIT
// What the Findings screen shows: the server's diagnosis, asked for once, and which card is selected.
import { decodePath, list, num, object, objects, text } from '../../shared/api/columns';
import type { Json } from '../../shared/api/columns';
import { Superseded } from '../../shared/api/source';
import { Atom, Own } from '../../shared/lib/atom';
import { integer, messageOf, plural } from '../../shared/lib/format';
import type { Span } from '../../shared/lib/model';
import { causeOf, threadsInOrder } from '../../shared/lib/path';
import type { Path } from '../../shared/lib/path';
import { nanoseconds, share } from '../../shared/lib/numbers';
import { LOOK } from '../../shared/lib/states';
import type { App } from '../../shared/state/app';
import type { Rule } from '../../shared/state/screens';
import type { Served } from '../../shared/state/served';

/** One problem, as `weft diagnose` has it (docs/analyses/diagnose.md). */
export interface Finding {
  kind: string;
  title: string;
  /** How many took how much longer; '' of a critical path. */
  symptom: string;
  evidence: string;
  type: string;
  /** Other types that are slow for the same. */
  also: string[];
  isPath: boolean;
  isOfLock: boolean;
  object: string;
  holder: string;
  holderFunctions: string[];
  last: string;
  lastFunctions: string[];
  preemptor: string;
  waiter: string;
  waiterThreads: number;
  waiterFunctions: string[];
  /** Of a starved writer: readers that asked after it and got the lock before it. */
  overtakingReaders: number;
  usualNs: number;
  slowNs: number;
  usualHereNs: number;
  slowHereNs: number;
  costNs: number;
  costShare: number;
  /** 'of the run'; '' of executions and of a critical path. */
  shareOf: string;
  isSmall: boolean;
  confidence: string;
  confidenceValue: number;
  reasons: string[];
  fix: string;
  open: string;
  worst: Place;
}

/** An execution that is named: on which thread, and when. */
interface Place {
  tid: number;
  span: Span;
}

/** Executions of one type, and what was said of them. */
export interface TypeSummary {
  type: string;
  isSignificant: boolean;
  executions: number;
  /** Why it has no finding; '' if it has one. */
  summary: string;
  /** It is slow, but nothing explains as much as a tenth of that. */
  isSpread: boolean;
  rule: Rule;
  /** The longest first. */
  slowest: Place[];
}

export interface DeadlockWait {
  cycle: number;
  waiter: string;
  waiterTid: number;
  holder: string;
  holderTid: number;
  lock: string;
  isJoin: boolean;
  /** That asks for the lock; '' if it is not known. */
  fn: string;
  ns: number;
  fix: string;
}

export interface Diagnosis {
  /** null: of a database. `lost`: null if the source does not count what it loses. */
  trace: {
    file: string;
    duration: number;
    threads: number;
    lost: number | null;
    endsEarly: boolean;
  } | null;
  /** Waits of threads for each other where the trace ends, cycle by cycle. */
  deadlocks: DeadlockWait[];
  findings: Finding[];
  types: TypeSummary[];
  /** What most of the critical path of the run is, where nothing is found; else empty. */
  criticalPath: string;
  omitted: { type: string; reason: string }[];
  notExamined: number;
}

const texts = (json: Json, key: string): string[] => list<unknown>(json, key).map(String);

/** An interval has a length. */
const spanOf = (t0: number, t1: number): Span => ({ t0, t1: Math.max(t0 + 1, t1) });

function decodeFinding(json: Json): Finding {
  const confidence = object(json, 'confidence');
  return {
    kind: text(json, 'kind'),
    title: text(json, 'title'),
    symptom: text(json, 'symptom'),
    evidence: text(json, 'evidence'),
    type: text(json, 'type'),
    also: texts(json, 'also'),
    isPath: json['critical_path'] === true,
    isOfLock: json['of_lock'] === true,
    object: text(json, 'object'),
    holder: text(json, 'holder'),
    holderFunctions: texts(json, 'holder_functions'),
    last: text(json, 'last'),
    lastFunctions: texts(json, 'last_functions'),
    preemptor: text(json, 'preemptor'),
    waiter: text(json, 'waiter'),
    waiterThreads: num(json, 'waiter_threads'),
    waiterFunctions: texts(json, 'waiter_functions'),
    overtakingReaders: num(json, 'overtaking_readers'),
    usualNs: num(json, 'usual_ns'),
    slowNs: num(json, 'slow_ns'),
    usualHereNs: num(json, 'usual_here_ns'),
    slowHereNs: num(json, 'slow_here_ns'),
    costNs: num(json, 'cost_ns'),
    costShare: num(json, 'cost_share'),
    shareOf: text(json, 'share_of'),
    isSmall: json['small'] === true,
    confidence: text(confidence, 'level'),
    confidenceValue: num(confidence, 'value'),
    reasons: texts(confidence, 'reasons'),
    fix: text(json, 'fix'),
    open: text(json, 'open'),
    worst: {
      tid: num(json, 'worst_tid'),
      span: spanOf(num(json, 'worst_start_ns'), num(json, 'worst_end_ns')),
    },
  };
}

function decodeRule(json: Json): Rule {
  const [type, begin, end] = [text(json, 'type'), text(json, 'begin'), text(json, 'end')];
  return { type, begin, end, match: text(json, 'match'), within: text(json, 'within') };
}

export function decodeDiagnosis(json: Json): Diagnosis {
  const trace = object(json, 'trace');
  return {
    trace:
      text(trace, 'file') === ''
        ? null
        : {
            file: text(trace, 'file'),
            duration: num(trace, 'duration_ns'),
            threads: num(trace, 'threads'),
            lost: typeof trace['lost_records'] === 'number' ? trace['lost_records'] : null,
            endsEarly: trace['ends_early'] === true,
          },
    deadlocks: objects(json, 'deadlocks').map(one => ({
      cycle: num(one, 'cycle'),
      waiter: text(one, 'waiter'),
      waiterTid: num(one, 'waiter_tid'),
      holder: text(one, 'holder'),
      holderTid: num(one, 'holder_tid'),
      lock: text(one, 'lock'),
      isJoin: one.join === true,
      fn: text(one, 'function'),
      ns: num(one, 'wait_ns'),
      fix: text(one, 'fix'),
    })),
    findings: objects(json, 'findings').map(decodeFinding),
    types: objects(json, 'types').map(one => ({
      type: text(one, 'type'),
      isSignificant: one['significant'] === true,
      executions: num(one, 'executions'),
      summary: text(one, 'summary'),
      isSpread: one['unlisted'] === 'no_one_cause',
      rule: decodeRule(object(one, 'rule')),
      slowest: objects(one, 'slowest').map(place => ({
        tid: num(place, 'tid'),
        span: spanOf(num(place, 'start_ns'), num(place, 'end_ns')),
      })),
    })),
    criticalPath: text(json, 'critical_path'),
    omitted: objects(json, 'omitted').map(one => ({
      type: text(one, 'type'),
      reason: text(one, 'reason'),
    })),
    notExamined: num(json, 'types_not_examined'),
  };
}

/* ---- words ---- */

/** What a finding's time is, and how it is drawn. */
export interface KindLook {
  words: string;
  look: number;
  letter: string;
}

const LOCK: KindLook = { words: 'waiting for the lock', look: LOOK.LOCK, letter: 'L' };
const DISK: KindLook = { words: 'waiting for a disk', look: LOOK.DISK, letter: 'D' };
const CPU: KindLook = { words: 'waiting for a CPU', look: LOOK.READY, letter: '' };

const KINDS: Record<string, KindLook> = {
  writer_starvation: LOCK,
  memory_allocator: { words: 'in the memory allocator', look: LOOK.LOCK, letter: 'L' },
  spinning: { words: 'spinning', look: LOOK.RUN, letter: '' },
  thundering_herd: { words: 'waking threads', look: LOOK.UNKNOWN, letter: '' },
  load_imbalance: { words: 'waiting at a barrier', look: LOOK.UNKNOWN, letter: '' },
  serial_section: { words: 'waiting for one thread', look: LOOK.UNKNOWN, letter: '' },
  pool_too_small: { words: 'waiting for the pool', look: LOOK.LOCK, letter: 'L' },
  head_of_line: { words: 'waiting for the event loop', look: LOOK.UNKNOWN, letter: '' },
  waiting_for_thread: { words: 'waiting for a thread', look: LOOK.UNKNOWN, letter: '' },
  fsync: { words: 'in fsync', look: LOOK.DISK, letter: 'D' },
  disk_io: DISK,
  page_faults: { words: 'in page faults', look: LOOK.DISK, letter: 'D' },
  minor_page_faults: { words: 'in page faults', look: LOOK.RUN, letter: '' },
  network: { words: 'waiting for the network', look: LOOK.NETWORK, letter: 'N' },
  connect: { words: 'waiting for a connection', look: LOOK.NETWORK, letter: 'N' },
  delayed_ack: { words: 'waiting for an ACK', look: LOOK.NETWORK, letter: 'N' },
  late_wakeup: { words: 'not woken', look: LOOK.TIMER, letter: 'T' },
  time_out: { words: 'waiting for an answer', look: LOOK.NETWORK, letter: 'N' },
  sleep: { words: 'sleeping', look: LOOK.TIMER, letter: 'T' },
  child_process: { words: 'waiting for a child process', look: LOOK.UNKNOWN, letter: '' },
  cpu_saturation: CPU,
  other_program: { words: 'another program had the CPU', look: LOOK.READY, letter: '' },
  interrupts: { words: 'interrupted', look: LOOK.READY, letter: '' },
  more_work: { words: 'in more calls', look: LOOK.RUN, letter: '' },
  slower_code: { words: 'running there', look: LOOK.RUN, letter: '' },
};
const UNKNOWN: KindLook = { words: 'in it', look: LOOK.UNKNOWN, letter: '?' };

export function lookOfKind({ kind, isOfLock }: Finding): KindLook {
  return KINDS[kind] ?? (isOfLock ? LOCK : UNKNOWN);
}

/** Of what a finding's cost is a share. */
export const wholeOf = ({ isPath, shareOf }: Finding): string =>
  shareOf !== '' ? shareOf : isPath ? 'of the critical path' : 'of request time';

/** "T7 a > b" of a thread and the functions that it is in, and what it is called in a card. */
export interface Link {
  label: string;
  thread: string;
  functions: string[];
  more: string;
}

const HOLDERS: Record<string, string> = {
  pool_too_small: 'holder',
  thundering_herd: 'woken by',
  load_imbalance: 'last',
};

/** Which threads hold up, and which are held up: the rows of a card. */
export function linksOf(finding: Finding): Link[] {
  const { holder, last, waiter, waiterThreads, kind, preemptor } = finding;
  const label = HOLDERS[kind] ?? (finding.isOfLock ? 'holder' : 'waits for');
  const links: Link[] = [];
  if (holder !== '')
    links.push({
      label,
      thread: holder,
      functions: finding.holderFunctions,
      more: preemptor !== '' && label === 'holder' ? `preempted by ${preemptor}` : '',
    });
  if (last !== '')
    links.push({ label: 'waiting for', thread: last, functions: finding.lastFunctions, more: '' });
  links.push({
    label: holder === '' ? 'where' : 'waiters',
    thread: waiterThreads > 1 ? `${integer(waiterThreads)} \u00d7 ${waiter}` : waiter,
    functions: finding.waiterFunctions,
    more: '',
  });
  return links;
}

/** The verdict, in one sentence. */
export function headlineOf({ deadlocks, findings, types }: Diagnosis): string {
  const first = findings[0];
  if (deadlocks.length > 0)
    return `Deadlock: ${deadlocks.filter(({ cycle }) => cycle === 1).length} threads wait for each other to the end`;
  if (!first && types.some(({ isSpread }) => isSpread)) return 'Slow executions, without one cause';
  if (!first) return 'Nothing significant was found';
  if (first.isSmall) return `Only a small finding: ${first.title}`;
  return `${first.title}, ${share(first.costShare)} ${wholeOf(first)}`;
}

/** What was looked at, and whether it is complete; without the name of the file. */
export function remarkOf({ trace, findings, types }: Diagnosis): string {
  if (!trace) return '';
  const first = types[0];
  const path = findings.find(({ isPath }) => isPath);
  return [
    nanoseconds(trace.duration),
    plural(trace.threads, 'thread'),
    first && `${integer(first.executions)} ${first.type}`,
    !first && path && `critical path of ${path.type}`,
    trace.endsEarly && 'the file ends early',
    trace.lost === 0 && !trace.endsEarly && 'complete',
    trace.lost !== null && trace.lost > 0 && `${plural(trace.lost, 'record')} lost`,
    trace.lost === null && 'losses are not counted by this format',
  ]
    .filter(Boolean)
    .join(' \u00b7 ');
}

/** Types without a finding: no problem, or slow without one cause. */
export const healthyOf = ({ types }: Diagnosis): TypeSummary[] =>
  types.filter(({ summary, isSpread }) => summary !== '' && !isSpread);
export const spreadOf = ({ types }: Diagnosis): TypeSummary[] =>
  types.filter(({ isSpread }) => isSpread);

/** A part of a bar: 0 to 1 of its length. */
export interface Part {
  /** Place of the finding, or -1: all else. */
  finding: number;
  share: number;
}

/** What the time of the first finding's executions was spent on; empty if the parts overlap. */
export function budgetOf({ findings }: Diagnosis): Part[] {
  const type = findings[0]?.type;
  const parts = findings
    .map(({ type: own, costShare }, finding) => ({ finding, share: costShare, own }))
    .filter(({ own, share: part }) => own === type && part > 0);
  const sum = parts.reduce((all, one) => all + one.share, 0);
  if (!type || parts.length === 0 || sum > 1.001) return [];
  const rest = Math.max(0, 1 - sum);
  const own = parts.map(({ finding, share: part }) => ({ finding, share: part }));
  return rest > 0.001 ? [...own, { finding: -1, share: rest }] : own;
}

/* ---- the worst execution: which threads were on its critical path, and when ---- */

interface StripPart {
  from: number;
  to: number;
  look: number;
  words: string;
}

export interface StripRow {
  thread: number;
  /** In the order of time, in shares of the execution's. */
  parts: StripPart[];
}

const MOST_ROWS = 4;
const LEAST = 0.0004; // of the width: less is not seen

/** Rows of threads: what each did while it was on the path; the execution's own thread waits while
 * the path is on another, as `waits` looks. */
export function stripOf(path: Path, waits: KindLook): StripRow[] {
  const length = Math.max(1, path.to - path.from);
  const at = (t: number): number => Math.max(0, Math.min(1, (t - path.from) / length));
  const order = [path.thread, ...threadsInOrder(path).filter(one => one !== path.thread)];
  return order.slice(0, MOST_ROWS).map(thread => {
    const parts: StripPart[] = [];
    for (const one of path.segments) {
      const isOwn = one.thread === thread;
      if (!isOwn && thread !== path.thread) continue;
      const cause = isOwn ? causeOf(one.state, one.reason) : waits;
      const { look, words } = cause;
      const [from, to] = [at(one.start), at(one.end)];
      const before = parts[parts.length - 1];
      if (before?.look === look && from - before.to < LEAST) before.to = to;
      else parts.push({ from, to, look, words });
    }
    return { thread, parts: parts.filter(({ from, to }) => to - from >= LEAST) };
  });
}

/* ---- state ---- */

interface FindingsState {
  diagnosis: Diagnosis | null;
  error: string;
  /** `performance.now()` of the question under way; 0: there is none. */
  since: number;
  /** The card at hand. */
  selected: number;
  /** The small ones are shown, too. */
  isAll: boolean;
  /** By card: the critical path of its worst execution. */
  paths: ReadonlyMap<number, Path>;
  /** By place in the list: those of the slowest executions. */
  slowest: ReadonlyMap<number, Path>;
}

/** Of a path, so many segments are drawn in a card: the longest. */
const MOST_SEGMENTS = 2000;

export class Findings {
  readonly state = new Atom<FindingsState>({
    diagnosis: null,
    error: '',
    since: 0,
    selected: 0,
    isAll: false,
    paths: new Map(),
    slowest: new Map(),
  });
  /** Cards whose paths were asked for. */
  private readonly paths = new Set<number>();
  private isSlowestAsked = false;

  constructor(
    readonly app: App,
    readonly served: Served,
  ) {}

  set(change: Partial<FindingsState>): void {
    this.state.update(now => ({ ...now, ...change }));
  }

  /** Asks, unless the answer is there or on its way. */
  ask(): void {
    const { diagnosis, since } = this.state.get();
    if (diagnosis || since > 0) return;
    void this.load();
  }

  private async load(): Promise<void> {
    this.set({ error: '', since: Math.max(1, performance.now()) });
    try {
      const diagnosis = decodeDiagnosis(await this.served.source.json('diagnose', {}, 'diagnose'));
      const { selected, isAll } = this.state.get();
      const isThere = selected < diagnosis.findings.length;
      this.set({ diagnosis, since: 0, selected: isThere ? selected : 0, isAll });
    } catch (error) {
      const why = error instanceof Superseded ? 'it was cancelled' : messageOf(error);
      this.set({ error: why, since: 0 });
    }
  }

  cancel(): void {
    this.served.source.cancel('diagnose');
  }

  /** Resolves when there is an answer, or none to be had, or another screen is shown. */
  hasShown(): Promise<void> {
    return new Promise(resolve => {
      const offs: (() => void)[] = [];
      const look = (): void => {
        const { diagnosis, error } = this.state.get();
        const isOther = this.app.state.get().screen !== 'findings';
        if (!diagnosis && error === '' && !isOther) return;
        offs.forEach(off => off());
        resolve();
      };
      offs.push(this.state.subscribe(look), this.app.state.subscribe(look));
      look();
    });
  }

  /** Places of the cards in view: all that matter, the first of all, and the small ones if asked. */
  shown(): number[] {
    const { diagnosis, isAll } = this.state.get();
    const all = diagnosis?.findings ?? [];
    return all.map((_, i) => i).filter(i => isAll || i === 0 || !all[i]!.isSmall);
  }

  current(): Finding | null {
    const { diagnosis, selected } = this.state.get();
    return diagnosis?.findings[selected] ?? null;
  }

  /** To the card before or behind the one at hand. */
  step(by: 1 | -1): void {
    const shown = this.shown();
    const at = shown.indexOf(this.state.get().selected);
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + by))];
    if (next !== undefined) this.set({ selected: next });
  }

  showAll(isAll: boolean): void {
    this.set({ isAll });
    const shown = this.shown();
    if (!shown.includes(this.state.get().selected)) this.set({ selected: shown[0] ?? 0 });
  }

  /** Whether a card has a picture of its worst execution: of several that have the same, the first. */
  hasWorst(index: number): boolean {
    const all = this.state.get().diagnosis?.findings ?? [];
    const own = all[index];
    if (!own || this.threadOf(own) < 0) return false;
    const isSame = ({ worst }: Finding): boolean =>
      worst.tid === own.worst.tid && worst.span.t0 === own.worst.span.t0;
    return all.findIndex(isSame) === index;
  }

  /** Asks for the critical path of a finding's worst execution, once. */
  askPath(index: number): void {
    const finding = this.state.get().diagnosis?.findings[index];
    if (!finding || this.paths.has(index)) return;
    this.paths.add(index);
    void this.loadPath(index, finding);
  }

  private async pathAt(place: Place, lane: string): Promise<Path> {
    const params = {
      thread: this.threadAt(place),
      from: Math.round(place.span.t0),
      to: Math.round(place.span.t1),
      limit: MOST_SEGMENTS,
    };
    return decodePath(await this.served.source.json('path', params, `diagnose.${lane}`));
  }

  /** The type of the first finding, or the first type. */
  slowestOf(): TypeSummary | undefined {
    const { diagnosis } = this.state.get();
    const of = diagnosis?.findings.find(({ isPath, shareOf }) => !isPath && shareOf === '')?.type;
    const types = diagnosis?.types ?? [];
    return types.find(({ type }) => type === of) ?? types[0];
  }

  slowestOnes(): Place[] {
    return (this.slowestOf()?.slowest ?? []).filter(place => this.threadAt(place) >= 0);
  }

  /** Asks for the critical paths of the slowest executions, once. */
  askSlowest(): void {
    if (this.isSlowestAsked) return;
    this.isSlowestAsked = true;
    for (const [i, place] of this.slowestOnes().entries())
      this.pathAt(place, `slowest.${i}`).then(
        path => this.set({ slowest: new Map(this.state.get().slowest).set(i, path) }),
        () => undefined, // its line goes without; the Path screen says why
      );
  }

  private async loadPath(index: number, finding: Finding): Promise<void> {
    try {
      const path = await this.pathAt(finding.worst, `path.${index}`);
      const paths = new Map(this.state.get().paths).set(index, path);
      this.set({ paths });
    } catch {
      this.paths.delete(index); // the card goes without; the Path screen says why
    }
  }

  /** The thread of a finding's worst execution; -1: the page does not know it. */
  threadOf({ worst }: Finding): number {
    return this.threadAt(worst);
  }

  threadAt({ tid, span }: Place): number {
    const own = this.served.threads.filter(thread => thread.tid === tid);
    const found = own.find(({ first, last }) => first <= span.t0 && span.t0 <= last) ?? own[0];
    return found?.id ?? -1;
  }

  /** The rule by which Compare finds the executions of a type; null: there is none. */
  ruleOf(type: string): Rule | null {
    const rule = this.state.get().diagnosis?.types.find(one => one.type === type)?.rule;
    return rule && (rule.begin !== '' || rule.type !== '') ? rule : null;
  }
}

export const FINDINGS_STATE = new Own<App, Findings>(
  'findings',
  app => new Findings(app, app.answers!),
);
export const findingsOf = (app: App): Findings => FINDINGS_STATE.of(app);
