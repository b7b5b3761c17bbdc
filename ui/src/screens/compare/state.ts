// SPDX-License-Identifier: MIT
// The Compare screen: which executions, the two groups, and its questions to the server. A drag is
// followed here at once, and by the server as fast as it answers; what it says in full comes when
// the drag rests.
import type {
  CompareCausesColumns,
  CompareDifferencesColumns,
  CompareMetricsColumns,
  ExecutionsComparedColumns,
  NodesComparedColumns,
} from '../../gen/tables';
import { messageOf } from '../../shared/lib/format';
import { num, objects, tableOf, text, take, list } from '../../shared/api/columns';
import type { Columns, Json } from '../../shared/api/columns';
import { Superseded } from '../../shared/api/source';
import type { Params } from '../../shared/api/source';
import { Atom, Own } from '../../shared/lib/atom';
import type { FrameKind } from '../../shared/lib/flame';
import type { CountScale } from '../../shared/lib/histogram';
import type { Pick } from '../../shared/lib/path';
import type { App } from '../../shared/state/app';
import { pathsOf, showInTimeline, showPaths } from '../../shared/state/paths';
import type { Served } from '../../shared/state/served';
import * as compare from './data';
import type {
  Condition,
  Executions,
  FirstCut,
  Group,
  Ranged,
  Side,
  Compared,
  Frame,
  Metric,
  MetricUnit,
  Source,
  ComparedCause,
  ComparedMetric,
} from './data';
import { makeBins } from './draw';
import type { MetricBins } from './draw';

/** Executions of a database's type; or what rules find in the trace. */
export interface Subject {
  /** -1: of the trace. */
  db: number;
  type: string;
  begin: string;
  end: string;
  match: string;
  within: string;
}

interface Database {
  id: number;
  name: string;
  types: ExecutionType[];
  /** Why nothing is known of it; the others can be compared. */
  error: string;
}

type Groups = Record<Side, Group>;

export interface CompareState extends compare.View {
  /** null: not asked yet. */
  databases: readonly Database[] | null;
  proposals: readonly Proposal[];
  subject: Subject | null;
  executions: Executions | null;
  groups: Groups;
  /** The groups to begin with, as the server has them. */
  cut: FirstCut;
  /** Counts by side, of the groups as they are dragged. */
  counts: Record<Side, number>;
  /** Counts changes of the members, by side. */
  turns: Record<Side, number>;
  /** The server's answer; of a draft, without bootstrap and causes. */
  compared: Compared | null;
  isDraft: boolean;
  /** What there is to compare is asked; and why it is not known. */
  isLooking: boolean;
  lookError: string;
  /** Why the times in a context that a chart or a group asks for are not known. */
  contextError: string;
  /** Something is asked of the executions that were chosen; and why there is no answer. */
  waiting: '' | 'executions' | 'compare';
  error: string;
}

const DRAFT_MS = 30; // between two questions of a drag
const FULL_MS = 250; // of rest before the whole is asked for
const MOST_CHARTS = 6;
const BINS = 48;

function initialCompare(): CompareState {
  return {
    databases: null,
    proposals: [],
    subject: null,
    executions: null,
    groups: { a: [], b: [] },
    counts: { a: 0, b: 0 },
    compared: null,
    turns: { a: 0, b: 0 },
    cut: { by: 'nothing' },
    isLooking: false,
    lookError: '',
    contextError: '',
    waiting: '',
    error: '',
    isDraft: false,
    charts: [],
    linear: new Set(['start']),
    by: 'b',
    scale: 'fit',
    statistic: 'p',
    node: -1,
    focus: -1,
    ticked: [],
    cause: -1,
    list: 'both',
  };
}

/** What the executions are called. */
export function whatOf(subject: Subject | null): string {
  return subject && subject.type !== '' ? subject.type : 'execution';
}

function sameSubject(a: Subject | null, b: Subject | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export class Compare {
  readonly state = new Atom<CompareState>(initialCompare());
  /** Bits of the groups by execution, as they are dragged. */
  members = new Uint8Array();
  /** The groups without the drag under way: a drag is one step in the address, however slow. */
  settled: Groups = { a: [], b: [] };
  private readonly contexts = new Map<number, Float64Array>();
  /** Contexts that were asked for; and those of them that could not be had. */
  private readonly asked = new Set<number>();
  private readonly failed = new Set<number>();
  private readonly bins = new Map<string, MetricBins>();
  private timer = 0;
  /** Counts questions: only the newest may say something. */
  private turn = 0;
  private isDrafting = false;
  private isAgain = false;
  /** What the address says of groups and charts, until the executions are there. */
  private wanted: ((name: string) => string) | null = null;
  private hasBegun = false;

  constructor(
    readonly app: App,
    readonly served: Served,
  ) {}

  /** A report has comparisons of slow with usual executions: other groups cannot be asked for. */
  get isFixed(): boolean {
    return !this.served.source.isWhole;
  }

  set(change: Partial<CompareState>): void {
    this.state.update(now => ({ ...now, ...change }));
  }

  private fail(error: unknown): void {
    if (error instanceof Superseded) return;
    this.set({ waiting: '', error: messageOf(error) });
  }

  /* ---- which executions ---- */

  /**
   * Asks what there is to compare; once. Executions that the address names are asked for beside it,
   * and may be there, or refused, before it begins.
   */
  begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    void this.look();
  }

  private async look(): Promise<void> {
    this.set({ isLooking: true, lookError: '' });
    try {
      await this.findSubjects();
    } catch (error) {
      if (!(error instanceof Superseded)) this.set({ lookError: messageOf(error) });
    }
    this.set({ isLooking: false });
  }

  private async findSubjects(): Promise<void> {
    const { source } = this.served;
    const known = objects(await source.json('traces'), 'databases');
    const databases: Database[] = [];
    for (const one of known) {
      const id = num(one, 'id');
      const database = { id, name: text(one, 'name'), types: [], error: '' };
      try {
        const json = await source.json('types', { trace: undefined, db: id }, '');
        databases.push({ ...database, types: decodeTypes(json).types });
      } catch (error) {
        if (error instanceof Superseded) throw error;
        databases.push({ ...database, error: messageOf(error) });
      }
    }
    this.set({ databases });
    const first = databases.find(({ types }) => types.length > 0);
    if (!this.state.get().subject && first)
      this.choose({ ...NO_RULES, db: first.id, type: first.types[0]!.name });
    if (!this.served.hasTrace) return;
    const { proposals } = decodeTypes(await source.json('types', {}, 'compare.types'));
    this.set({ proposals });
    const own = proposals[0];
    if (this.isFixed && own && !this.state.get().subject)
      this.choose({ ...own, db: -1, type: own.name });
  }

  /** Executions of another type, or by other rules. */
  choose(subject: Subject): void {
    if (sameSubject(subject, this.state.get().subject) && this.state.get().error === '') return;
    this.giveUp();
    this.set({
      subject,
      executions: null,
      compared: null,
      node: -1,
      focus: -1,
      ticked: [],
      cause: -1,
      groups: { a: [], b: [] },
      charts: [],
      waiting: 'executions',
      error: '',
      contextError: '',
    });
    this.load(subject).catch((error: unknown) => this.fail(error));
  }

  /** Forgets what is known and asked of the executions before. */
  private giveUp(): void {
    clearTimeout(this.timer);
    this.served.source.cancel('compare.compare');
    this.turn++;
    this.isDrafting = this.isAgain = false;
    this.wanted = null;
    for (const known of [this.contexts, this.bins, this.asked, this.failed]) known.clear();
  }

  private params({ db, type, begin, end, match, within }: Subject): Params {
    return { ...(db >= 0 ? { trace: undefined, db } : {}), type, begin, end, match, within };
  }

  private async load(subject: Subject): Promise<void> {
    const answer = await this.served.source.columns(
      'executions',
      this.params(subject),
      'compare.executions',
    );
    if (!sameSubject(subject, this.state.get().subject)) return;
    const executions = decodeExecutions(answer);
    const cut = await this.askCut(subject);
    if (!sameSubject(subject, this.state.get().subject)) return;
    this.members = new Uint8Array(executions.n);
    this.set({ executions, cut, waiting: '', charts: firstCharts(executions) });
    const { wanted } = this;
    this.wanted = null;
    if (wanted) this.readPlace(executions, wanted, true);
    else this.setGroups(compare.firstGroups(executions, cut));
  }

  /** Which groups to begin with; without an answer, what can be said of durations alone. */
  private async askCut(subject: Subject): Promise<FirstCut> {
    try {
      return decodeCut(await this.served.source.json('cut', this.params(subject), 'compare.cut'));
    } catch (error) {
      if (error instanceof Superseded) throw error;
      return { by: 'nothing' };
    }
  }

  /** The groups of an address; taken when the executions are there. */
  want(get: (name: string) => string): void {
    const { executions } = this.state.get();
    if (executions) this.readPlace(executions, get, false);
    else this.wanted = get;
  }

  /** What the address said of groups and charts, as long as the executions are not there. */
  wantedPlace(): [string, string][] {
    const { wanted } = this;
    if (!wanted) return [];
    const said = compare.PLACE_KEYS.map((key): [string, string] => [key, wanted(key)]);
    return said.filter(([, value]) => value !== '');
  }

  private readPlace(executions: Executions, get: (name: string) => string, isFirst: boolean): void {
    const isSaid = !this.isFixed && (get('A') !== '' || get('B') !== '');
    const groups = isSaid
      ? {
          a: compare.readGroup(executions, get('A')),
          b: compare.readGroup(executions, get('B')),
        }
      : compare.firstGroups(executions, this.state.get().cut);
    this.set(compare.readView(executions, get, MOST_CHARTS));
    const { charts } = this.state.get();
    if (this.isFixed) this.set({ charts: charts.filter(chart => !chart.startsWith('#')) });
    const before = this.state.get().groups;
    if (!isFirst && JSON.stringify(before) === JSON.stringify(groups)) return;
    const { cause } = this.state.get();
    this.setGroups(groups);
    this.set({ cause });
  }

  /* ---- groups ---- */

  readonly valuesOf = (condition: Ranged): Float64Array | null => {
    const { executions } = this.state.get();
    if (condition.kind === 'context') return this.contextValues(condition.node);
    return executions?.metrics.find(({ name }) => name === condition.name)?.values ?? null;
  };

  /** Time in a context by execution; asked for when it is first wanted. */
  contextValues(node: number): Float64Array | null {
    const known = this.contexts.get(node);
    if (known) return known;
    if (!this.asked.has(node)) {
      this.asked.add(node);
      void this.askContext(node);
    }
    return null;
  }

  private async askContext(node: number): Promise<void> {
    const { subject } = this.state.get();
    if (!subject) return;
    const isOfNow = (): boolean => sameSubject(subject, this.state.get().subject);
    try {
      const params = { ...this.params(subject), node };
      const lane = `compare.context.${node}`;
      const values = decodeContext(await this.served.source.columns('executions', params, lane));
      if (!isOfNow()) return;
      this.contexts.set(node, values);
      this.regroup();
    } catch (error) {
      if (error instanceof Superseded || !isOfNow()) return;
      this.failed.add(node);
      this.set({ contextError: messageOf(error) });
    }
  }

  setGroups(groups: Groups, isDragged = false): void {
    const before = this.state.get().groups;
    if (!isDragged) this.settled = groups;
    this.set({ groups, cause: -1 });
    const changed = compare.SIDES.filter(side => groups[side] !== before[side]);
    this.regroup(isDragged, changed);
  }

  setGroup(side: Side, group: Group, isDragged = false): void {
    this.setGroups({ ...this.state.get().groups, [side]: group }, isDragged);
  }

  add(side: Side, condition: Condition, isDragged = false): void {
    this.setGroup(side, compare.withCondition(this.state.get().groups[side], condition), isDragged);
  }

  remove(side: Side, condition: Condition): void {
    this.setGroup(side, compare.without(this.state.get().groups[side], condition));
  }

  swap(): void {
    const { a, b } = this.state.get().groups;
    this.setGroups({ a: b, b: a });
  }

  /** Members and counts as the conditions have them, then the server's answer. */
  private regroup(isDragged = false, sides: readonly Side[] = compare.SIDES): void {
    const { executions, groups } = this.state.get();
    if (!executions) return;
    const counts = { ...this.state.get().counts };
    const turns = { ...this.state.get().turns };
    for (const side of sides) {
      counts[side] = compare.choose(executions, groups[side], side, this.valuesOf, this.members);
      turns[side]++;
    }
    this.set({ counts, turns });
    this.askSoon(isDragged);
  }

  private askSoon(isDragged: boolean): void {
    clearTimeout(this.timer);
    if (isDragged && !this.isDrafting) void this.ask(true);
    else if (isDragged) this.isAgain = true;
    const full = (): void => void this.ask(false);
    const rest_ms = isDragged ? FULL_MS : DRAFT_MS;
    this.timer = globalThis.setTimeout(full, rest_ms) as unknown as number;
  }

  /** What is asked of the groups that are chosen now. */
  private question(): Params | null {
    const { executions, subject, groups } = this.state.get();
    if (!executions || !subject) return null;
    return {
      ...this.params(subject),
      a: compare.filterText(executions, groups.a),
      b: compare.filterText(executions, groups.b),
    };
  }

  /** All differences, as the command line writes them; null: there are none yet. */
  async csv(): Promise<ArrayBuffer | null> {
    const question = this.question();
    if (!question) return null;
    try {
      return await this.served.source.bytes('compare', { ...question, csv: 1 }, 'compare.csv');
    } catch (error) {
      this.fail(error);
      return null;
    }
  }

  /** One draft at a time: the next begins when it is there. The whole gives up a draft, and a draft
   * the whole of the groups before. */
  private async ask(isDraft: boolean): Promise<void> {
    const question = this.question();
    if (!question) return;
    const turn = ++this.turn;
    const isNewest = (): boolean => turn === this.turn;
    this.isDrafting = isDraft;
    this.isAgain = false;
    this.set({ waiting: 'compare', error: '' });
    try {
      const params = { ...question, draft: isDraft ? 1 : undefined };
      const answer = await this.served.source.columns('compare', params, 'compare.compare');
      if (!isNewest()) return;
      this.set({ compared: decodeCompared(answer), isDraft, waiting: '' });
      if (!isDraft) this.chooseNode();
    } catch (error) {
      if (!isNewest()) return;
      this.fail(error);
    }
    this.isDrafting = false;
    if (isDraft && this.takeAgain()) void this.ask(true);
  }

  /** Was something dragged meanwhile? */
  private takeAgain(): boolean {
    const { isAgain } = this;
    this.isAgain = false;
    return isAgain;
  }

  /** The node ranked first, if none is selected. */
  private chooseNode(): void {
    const { compared, node } = this.state.get();
    const first = compared?.ranked[0];
    if (node < 0 && compared && first !== undefined)
      this.set({ node: compared.nodes.node[first]! });
  }

  again(): void {
    const { subject, executions, lookError, error } = this.state.get();
    this.set({ error: '', contextError: '' });
    if (lookError !== '') void this.look();
    for (const node of this.failed) void this.askContext(node);
    this.failed.clear();
    if (error === '') return;
    if (subject && !executions) {
      this.set({ waiting: 'executions' });
      this.load(subject).catch((trouble: unknown) => this.fail(trouble));
    } else void this.ask(false);
  }

  /* ---- charts ---- */

  /** "#12": a context; else a metric. */
  chartValues(chart: string): Float64Array | null {
    if (chart.startsWith('#')) return this.contextValues(Number(chart.slice(1)));
    const { executions } = this.state.get();
    return executions?.metrics.find(({ name }) => name === chart)?.values ?? null;
  }

  chartBins(chart: string): MetricBins | null {
    const isLog = !this.state.get().linear.has(chart);
    const key = `${chart} ${isLog ? 'log' : 'linear'}`;
    let bins = this.bins.get(key);
    const values = bins ? null : this.chartValues(chart);
    const weights = this.state.get().executions?.weights ?? null;
    if (values) this.bins.set(key, (bins = makeBins(values, BINS, isLog, weights)));
    return bins ?? null;
  }

  chartCondition(chart: string, min: number, max: number): Condition {
    if (chart.startsWith('#')) return { kind: 'context', node: Number(chart.slice(1)), min, max };
    return { kind: 'metric', name: chart, min, max };
  }

  toggleChart(chart: string): void {
    const { charts } = this.state.get();
    const rest = charts.filter(one => one !== chart);
    if (rest.length < charts.length) this.set({ charts: rest });
    else this.set({ charts: [...charts.slice(-MOST_CHARTS + 1), chart] });
  }

  /** A chart of a metric, if it has none. */
  showChart(chart: string): void {
    if (!this.state.get().charts.includes(chart)) this.toggleChart(chart);
  }

  /** How counts become heights: the next after the one that is seen. */
  turnCounts(seen: CountScale): void {
    const next = { linear: 'root', root: 'log', log: 'linear' } as const;
    this.set({ scale: next[seen] });
  }

  turnWidths(): void {
    this.set({ by: this.state.get().by === 'b' ? 'a' : 'b' });
  }

  toggleLinear(chart: string): void {
    const linear = new Set(this.state.get().linear);
    if (!linear.delete(chart)) linear.add(chart);
    this.set({ linear });
  }

  /* ---- executions ---- */

  /** Index of the thread that began an execution, of the trace shown; -1: it is of another. */
  threadOf(i: number): number {
    const { executions } = this.state.get();
    if (!executions) return -1;
    const { trace } = executions.sources[executions.source[i]!] ?? { trace: -1 };
    if (trace !== this.served.source.trace || !this.served.hasTrace) return -1;
    const tid = executions.tid[i]!;
    const start = executions.start[i]!;
    const own = this.served.threads.filter(thread => thread.tid === tid);
    return (own.find(({ first, last }) => first <= start && start <= last) ?? own[0])?.id ?? -1;
  }

  /** The place of an execution, for paths. */
  pickOf(i: number): Pick | null {
    const { executions, subject } = this.state.get();
    const thread = this.threadOf(i);
    if (!executions || thread < 0) return null;
    const [t0, t1] = [executions.start[i]!, executions.end[i]!];
    const label = `${whatOf(subject)} #${compare.numberOf(executions, i)}`;
    return { thread, span: { t0, t1: Math.max(t0 + 1, t1) }, label };
  }

  /** A report has the paths of some. */
  canOpen(i: number): boolean {
    const pick = this.pickOf(i);
    return pick !== null && pathsOf(this.app).has(pick);
  }

  /** Opens an execution in the Timeline, and its critical path on the screen of paths. */
  open(i: number): boolean {
    const pick = this.pickOf(i);
    if (!pick) return false;
    if (this.isFixed) return this.openPaths([i]);
    pathsOf(this.app).pick([pick], false);
    pathsOf(this.app).pin(pick);
    showInTimeline(this.app, pick.thread, pick.span);
    return true;
  }

  /** The paths of some executions, one above the other. */
  openPaths(list: readonly number[]): boolean {
    const picks = list
      .map(i => this.pickOf(i))
      .filter((pick): pick is Pick => pick !== null && pathsOf(this.app).has(pick));
    if (picks.length > 0) showPaths(this.app, picks);
    return picks.length > 0;
  }

  tick(i: number): void {
    const { ticked } = this.state.get();
    this.set({
      ticked: ticked.includes(i)
        ? ticked.filter(one => one !== i)
        : [...ticked.slice(1 - compare.MOST_TICKED), i],
    });
  }
}

const NO_RULES = { type: '', begin: '', end: '', match: '', within: '' };

/** Duration, what is blocked most, and when: metrics that say something. */
function firstCharts({ metrics }: Executions): string[] {
  const sum = (values: Float64Array): number =>
    values.reduce((all, value) => all + (Number.isNaN(value) ? 0 : value), 0);
  const told = metrics.filter(
    ({ name, values }) => name !== 'duration' && name !== 'start' && sum(values) > 0,
  );
  const waits = told.filter(({ state }) => state === 'blocked' || state === 'preempted');
  const most = waits.length > 0 ? waits : told;
  most.sort((a, b) => sum(b.values) - sum(a.values) || (a.name < b.name ? -1 : 1));
  const names = [metrics[0]?.name, most[0]?.name, metrics[1]?.name];
  return names.filter((name): name is string => name !== undefined);
}

const COMPARE_STATE = new Own<App, Compare>('compare', app => new Compare(app, app.answers!));
export const compareOf = (app: App): Compare => COMPARE_STATE.of(app);

/* ---- Answers of `types`, `executions` and `compare` (docs/http-api.md). ---- */

/** What executions of a trace may be, as the server proposes it. */
interface Proposal {
  name: string;
  begin: string;
  end: string;
  match: string;
  within: string;
  why: string;
  count: number;
}

interface ExecutionType {
  name: string;
  count: number;
  unfinished: number;
}

function decodeTypes(json: Json): { types: ExecutionType[]; proposals: Proposal[] } {
  return {
    types: objects(json, 'types').map(one => ({
      name: text(one, 'name'),
      count: num(one, 'count'),
      unfinished: num(one, 'unfinished'),
    })),
    proposals: objects(json, 'proposals').map(one => ({
      name: text(one, 'name'),
      begin: text(one, 'begin'),
      end: text(one, 'end'),
      match: text(one, 'match'),
      within: text(one, 'within'),
      why: text(one, 'why'),
      count: num(one, 'count'),
    })),
  };
}

/** The groups to begin with. */
function decodeCut(json: Json): FirstCut {
  switch (text(json, 'by')) {
    case 'tags':
      return { by: 'tags', a: text(json, 'a'), b: text(json, 'b') };
    case 'durations':
      return { by: 'durations', aMax: num(json, 'a_max_ns'), bMin: num(json, 'b_min_ns') };
    default:
      return { by: 'nothing' };
  }
}

const KINDS = new Set<string>(['function', 'state', 'lock', 'thread']);
const UNITS = new Set<string>(['ns', 'count', 'bytes', 'number']);

function decodeFrame(json: Json): Frame {
  const kind = text(json, 'kind');
  return {
    name: text(json, 'name'),
    module: text(json, 'module'),
    kind: KINDS.has(kind) ? (kind as FrameKind) : 'function',
    wait: text(json, 'wait'),
  };
}

function decodeSource(json: Json): Source {
  return {
    path: text(json, 'path'),
    host: text(json, 'host'),
    tag: text(json, 'tag'),
    trace: typeof json['trace'] === 'number' ? num(json, 'trace') : -1,
  };
}

function decodeExecutions(columns: Columns): Executions {
  const { meta } = columns;
  const one = tableOf<ExecutionsComparedColumns>(columns, 'executions');
  const node = tableOf<NodesComparedColumns>(columns, 'nodes');
  const id = one('id');
  const metrics = objects(meta, 'metrics').map((metric, i): Metric => {
    const unit = text(metric, 'unit');
    return {
      name: text(metric, 'name'),
      values: take<Float64Array>(columns, `metric_${i}`, 'value'),
      unit: UNITS.has(unit) ? (unit as MetricUnit) : 'number',
      state: text(metric, 'state'),
      reason: text(metric, 'reason'),
    };
  });
  const hasWeights = objects(meta, 'tables').some(table => text(table, 'name') === 'weights');
  return {
    n: id.length,
    all: hasWeights ? num(meta, 'executions') : id.length,
    weights: hasWeights ? take<Float64Array>(columns, 'weights', 'value') : null,
    id,
    source: one('source'),
    tid: one('tid'),
    thread: one('thread'),
    start: one('start_ns'),
    end: one('end_ns'),
    flags: one('flags'),
    threads: list<string>(meta, 'threads').map(String),
    sources: objects(meta, 'sources').map(decodeSource),
    metrics,
    frames: objects(meta, 'frames').map(decodeFrame),
    parent: node('parent'),
    frame: node('frame'),
    confidence: node('confidence'),
    damaged: num(meta, 'damaged'),
    partialRuns: num(meta, 'partial_runs'),
  };
}

function decodeContext(columns: Columns): Float64Array {
  return take<Float64Array>(columns, 'context', 'value');
}

function decodeMetrics(columns: Columns): ComparedMetric[] {
  const column = tableOf<CompareMetricsColumns>(columns, 'metrics');
  const metric = column('metric');
  const [meanA, meanB, p50A, p50B] = [
    column('mean_a'),
    column('mean_b'),
    column('p50_a'),
    column('p50_b'),
  ];
  const [p99A, p99B, difference] = [column('p99_a'), column('p99_b'), column('difference')];
  const [low, high, p, effect] = [column('low'), column('high'), column('p'), column('effect')];
  return [...metric].map((one, i) => ({
    metric: one,
    meanA: meanA[i]!,
    meanB: meanB[i]!,
    p50A: p50A[i]!,
    p50B: p50B[i]!,
    p99A: p99A[i]!,
    p99B: p99B[i]!,
    difference: difference[i]!,
    low: low[i]!,
    high: high[i]!,
    p: p[i]!,
    effect: effect[i]!,
  }));
}

function decodeCauses(columns: Columns): ComparedCause[] {
  const cause = tableOf<CompareCausesColumns>(columns, 'causes');
  const [node, context] = [cause('node'), cause('context')];
  const [n, example] = [cause('n_items'), cause('example')];
  const [difference, duration] = [cause('difference_ns'), cause('duration_ns')];
  return [...node].map((one, i) => ({
    node: one,
    n: n[i]!,
    difference: difference[i]!,
    duration: duration[i]!,
    example: example[i]!,
    context: context[i]!,
  }));
}

function decodeCompared(columns: Columns): Compared {
  const { meta } = columns;
  const column = tableOf<CompareDifferencesColumns>(columns, 'nodes');
  const node = column('node');
  return {
    nA: num(meta, 'a'),
    nB: num(meta, 'b'),
    neither: num(meta, 'neither'),
    both: num(meta, 'both'),
    answer: text(meta, 'answer'),
    grounds: text(meta, 'grounds'),
    isByRuns: meta['by_runs'] === true,
    nodes: {
      n: node.length,
      node,
      nA: column('n_a'),
      nB: column('n_b'),
      isSure: column('is_sure'),
      meanA: column('mean_a_ns'),
      meanB: column('mean_b_ns'),
      totalA: column('total_a_ns'),
      totalB: column('total_b_ns'),
      difference: column('difference_ns'),
      low: column('low_ns'),
      high: column('high_ns'),
      t: column('t'),
      p: column('p'),
      pAdjusted: column('p_adjusted'),
      effect: column('effect'),
    },
    ranked: take<Uint32Array>(columns, 'ranked', 'value'),
    metrics: decodeMetrics(columns),
    causes: decodeCauses(columns),
    causeOf: take<Uint32Array>(columns, 'cause_of', 'value'),
    members: take<Uint8Array>(columns, 'members', 'value'),
  };
}
