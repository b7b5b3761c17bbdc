// SPDX-License-Identifier: MIT
// Screen 6: two groups of executions, and what differs between them.
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Panes } from '../../shared/draw/canvas';
import { Own } from '../../shared/lib/atom';
import { duration, integer, plural, bare, plainOf, quoted } from '../../shared/lib/format';
import { matchesName, parseQuery } from '../../shared/lib/search';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import type { Command as ScreenCommand, OnReady, ScreenSpec } from '../../shared/state/screens';
import { Key, Sentence, copyExact, Command } from '../../shared/views/parts';
import { useApp, useAtom, useLater } from '../../shared/views/use';
import {
  answerOf,
  contextOf,
  cutWords,
  groundsOf,
  writeGroup,
  writeView,
  methodOf,
  STATISTICS,
  durationOf,
} from './data';
import type { Executions, Side, Statistic } from './data';
import { flameSvg } from './flame';
import { CompareFlame, filterByNode, useDiff } from './flameview';
import {
  GroupColumn,
  chartWords,
  CompareContext,
  metricWords,
  useCompare,
  useCompareState,
} from './group';
import type { CompareScope } from './group';
import { compareOf, whatOf } from './state';
import type { Compare, CompareState, Subject } from './state';
import { ExecutionTable, Ranked } from './tables';
import './compare.css';

/* ---- head ------------------------------------------------------------------------------------ */

function Verdict({ executions }: { executions: Executions }): JSX.Element {
  const compared = useCompareState(s => s.compared);
  const subject = useCompareState(s => s.subject);
  const counts = useCompareState(s => s.counts);
  const isDraft = useCompareState(s => s.isDraft);
  const groups = useCompareState(s => s.groups);
  const cut = useCompareState(s => s.cut);
  const waiting = useCompareState(s => s.waiting);
  const words = cutWords(executions, groups, cut);
  const own = durationOf(compared);
  const hasBoth = compared !== null && compared.nA > 0 && compared.nB > 0;
  const rest = executions.all - counts.a - counts.b + (compared?.both ?? 0);
  return (
    <section class="cmp-verdict" aria-label="Verdict">
      <h2
        class={own && own.difference < 0 ? 'cmp-headline faster' : 'cmp-headline'}
        aria-live="polite"
      >
        {compared ? (
          <Sentence text={answerOf(compared)} />
        ) : (
          `${plural(executions.all, whatOf(subject))}: comparing\u2026`
        )}
      </h2>
      <p class="remark">
        {own && hasBoth && `Mean ${duration(own.meanA)} \u2192 ${duration(own.meanB)}. `}n ={' '}
        {integer(counts.a)} / {integer(counts.b)};{' '}
        <b>{plural(Math.max(0, rest), 'execution')} in neither group</b>
        {compared && compared.both > 0 && `, ${integer(compared.both)} in both`}.{' '}
        {own && Number.isFinite(own.low) && `Interval: 95 %, ${methodOf(compared!)}. `}
        {compared && groundsOf(compared)}
        {words && ` ${words}`}
        {isDraft && ' So far without bootstrap, while you drag.'}
        {waiting === 'compare' && ' Comparing\u2026'}
      </p>
    </section>
  );
}

function save(name: string, type: string, content: BlobPart): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function exportCsv(compare: Compare): Promise<void> {
  const csv = await compare.csv();
  if (csv !== null) save('differences.csv', 'text/csv', csv);
}

function exportSvg(compare: Compare): void {
  const { executions, compared, statistic, focus, by } = compare.state.get();
  if (!executions || !compared) return;
  const title = plainOf(answerOf(compared));
  save(
    'differences.svg',
    'image/svg+xml',
    bare(flameSvg(executions, compared, { statistic, focus, title, by })),
  );
}

const MOST_METRICS = 12; // shown before one asks for all

function Tools({ executions }: { executions: Executions }): JSX.Element {
  const compare = useCompare();
  const app = useApp();
  const charts = useCompareState(s => s.charts);
  const subject = useCompareState(s => s.subject);
  const database = useCompareState(s => s.databases?.find(({ id }) => id === subject?.db));
  const [isOpen, setOpen] = useState(false);
  const [hasAll, setAll] = useState(false);
  const told = useMemo(
    () => executions.metrics.filter(({ values }) => values.some(value => value > 0)),
    [executions],
  );
  const shown =
    hasAll || told.length <= MOST_METRICS
      ? told
      : told.filter(({ name }, i) => i < MOST_METRICS || charts.includes(name));
  return (
    <div class="cmp-tools">
      <button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Executions <b>{whatOf(subject)}</b> {integer(executions.all)}
        {database && <small> of {database.name}</small>}
      </button>
      <span class="cmp-metrics" role="group" aria-label="Charts of metrics">
        {shown.map(({ name }) => (
          <button
            key={name}
            class="crumb"
            aria-pressed={charts.includes(name)}
            onClick={() => compare.toggleChart(name)}
          >
            {metricWords(name)}
          </button>
        ))}
        {charts
          .filter(chart => chart.startsWith('#'))
          .map(chart => (
            <button
              key={chart}
              class="crumb"
              aria-pressed="true"
              onClick={() => compare.toggleChart(chart)}
            >
              {chartWords(executions, chart)}
            </button>
          ))}
        {told.length > MOST_METRICS && (
          <button class="link" aria-expanded={hasAll} onClick={() => setAll(!hasAll)}>
            {hasAll ? 'fewer' : `all ${told.length} metrics`}
          </button>
        )}
      </span>
      <span class="cmp-export" role="group" aria-label="Groups, and export">
        {!compare.isFixed && (
          <button class="link" onClick={() => compare.swap()}>
            swap A and B <Key>b</Key>
          </button>
        )}
        <button class="link" onClick={() => exportSvg(compare)}>
          SVG
        </button>
        {!compare.isFixed && (
          <button class="link" onClick={() => void exportCsv(compare)}>
            CSV
          </button>
        )}
        <button class="link" onClick={() => app.copyLink()}>
          link
        </button>
      </span>
      {isOpen && <SubjectList />}
    </div>
  );
}

function Trouble(): JSX.Element | null {
  const compare = useCompare();
  const error = useCompareState(s => s.error);
  const lookError = useCompareState(s => s.lookError);
  const contextError = useCompareState(s => s.contextError);
  const told = [...new Set([error, contextError, lookError])].filter(words => words !== '');
  if (told.length === 0) return null;
  return (
    <p class="cmp-trouble" role="alert">
      {told.join('; ')}.{' '}
      <button class="link" onClick={() => compare.again()}>
        ask again
      </button>
    </p>
  );
}

/* ---- body ------------------------------------------------------------------------------------ */

/** What the server said, each part in a frame of its own: a drag gets an answer every few frames. */
function Flame({ executions }: { executions: Executions }): JSX.Element {
  const compare = useCompare();
  const compared = useLater(useCompareState(s => s.compared));
  const subject = useCompareState(s => s.subject);
  const diff = useDiff(executions, compared);
  if (!compared || !diff) return <div class="cmp-flame" />;
  return <CompareFlame scope={{ compare, executions, compared, diff }} what={whatOf(subject)} />;
}

function Differences({ executions }: { executions: Executions }): JSX.Element | null {
  const compared = useLater(useCompareState(s => s.compared));
  return compared && <Ranked executions={executions} compared={compared} />;
}

function Line(): JSX.Element | null {
  const waiting = useCompareState(s => s.waiting);
  return waiting === 'compare' ? <div class="cmp-line" /> : null;
}

function Body(): JSX.Element {
  const executions = useCompareState(s => s.executions);
  const waiting = useCompareState(s => (s.executions ? '' : s.waiting));
  const subject = useCompareState(s => s.subject);
  if (!executions)
    return (
      <div class="cmp-begin">
        <h2 class="cmp-headline">
          {waiting === 'executions'
            ? `Finding executions of ${whatOf(subject)}, and their critical paths\u2026`
            : 'Why are some executions slow?'}
        </h2>
        {waiting === 'executions' && <div class="cmp-line" role="status" />}
        <p class="remark">
          Choose a repeated operation (requests, iterations); then two groups of it are compared:
          the fast and the slow, or two builds.
        </p>
        <Trouble />
        <SubjectList />
      </div>
    );
  return (
    <>
      <Line />
      <Verdict executions={executions} />
      <Trouble />
      <Tools executions={executions} />
      <div class="cmp-groups">
        <GroupColumn side="a" executions={executions} />
        <GroupColumn side="b" executions={executions} />
      </div>
      <div class="cmp-below">
        <Flame executions={executions} />
        <Differences executions={executions} />
        <ExecutionTable executions={executions} />
      </div>
    </>
  );
}

function CompareView({ scope, onReady }: { scope: CompareScope; onReady: OnReady }): JSX.Element {
  useEffect(() => {
    scope.compare.begin();
    onReady(scope.panes);
  }, []);
  return (
    <CompareContext.Provider value={scope}>
      <main class="cmp-main" onCopy={copyExact}>
        <Body />
      </main>
    </CompareContext.Provider>
  );
}

const COUNTS = [
  ['fit', 'as fits'],
  ['linear', 'linear'],
  ['root', 'square root'],
  ['log', 'log'],
] as const;

function Settings(): JSX.Element {
  const { state } = compareOf(useApp());
  const statistic = useAtom(state, s => s.statistic);
  const scale = useAtom(state, s => s.scale);
  const by = useAtom(state, s => s.by);
  return (
    <>
      <label>
        Counts{' '}
        <select
          value={scale}
          onChange={event =>
            state.update(now => ({
              ...now,
              scale: event.currentTarget.value as CompareState['scale'],
            }))
          }
        >
          {COUNTS.map(([key, word]) => (
            <option key={key} value={key}>
              {word}
            </option>
          ))}
        </select>
      </label>
      <label>
        Width{' '}
        <select
          value={by}
          onChange={event =>
            state.update(now => ({ ...now, by: event.currentTarget.value as Side }))
          }
        >
          <option value="b">mean of B</option>
          <option value="a">mean of A</option>
        </select>
      </label>
      <label>
        Colour{' '}
        <select
          value={statistic}
          onChange={event =>
            state.update(now => ({ ...now, statistic: event.currentTarget.value as Statistic }))
          }
        >
          {STATISTICS.map(([key, word]) => (
            <option key={key} value={key}>
              {word}
            </option>
          ))}
        </select>
      </label>
      <span>
        Hatch{' '}
        <b>
          p {'\u2265'} 0.05 or n {'<'} 10
        </b>
      </span>
    </>
  );
}

/* ---- keys, address --------------------------------------------------------------------------- */

function stepRanked(compare: Compare, by: 1 | -1): void {
  const { compared, node } = compare.state.get();
  if (!compared || compared.ranked.length === 0) return;
  const at = compared.ranked.findIndex(i => compared.nodes.node[i] === node);
  const next = at < 0 ? 0 : Math.max(0, Math.min(compared.ranked.length - 1, at + by));
  compare.set({ node: compared.nodes.node[compared.ranked[next]!]! });
}

/** Up to the caller, down to what is below it. */
function walk(compare: Compare, by: 'up' | 'down' | 'left' | 'right'): void {
  const { executions, compared, node } = compare.state.get();
  if (!executions || !compared) return;
  const { parent } = executions;
  const weight = (i: number): number => {
    const place = compared.nodes.node.indexOf(i);
    return place < 0 ? 0 : compared.nodes.totalB[place]!;
  };
  const children = (of: number): number[] => {
    const own: number[] = [];
    for (let i = of + 1; i < parent.length; i++) if (parent[i] === of && weight(i) > 0) own.push(i);
    return own.sort((a, b) => weight(b) - weight(a) || a - b);
  };
  if (node < 1) return compare.set({ node: children(0)[0] ?? -1 });
  if (by === 'up') return compare.set({ node: Math.max(parent[node]!, 1) });
  if (by === 'down') return compare.set({ node: children(node)[0] ?? node });
  const row = children(parent[node]!);
  const next = row.indexOf(node) + (by === 'right' ? 1 : -1);
  compare.set({ node: row[next] ?? node });
}

function sideFilter(compare: Compare, side: Side): void {
  const { node } = compare.state.get();
  if (node > 0) filterByNode(compare, side, node);
  else act.say(compare.app, 'Select a context in the flame graph or the table first.');
}

function keyOn(app: App, event: KeyboardEvent): boolean {
  const compare = compareOf(app);
  const { executions, node, ticked } = compare.state.get();
  const { isFixed } = compare;
  if (!executions || (isFixed && (event.altKey || event.key === 'b'))) return false;
  if (event.altKey && /^[ab]$/i.test(event.key)) {
    sideFilter(compare, event.key.toLowerCase() as Side);
    return true;
  }
  if (event.altKey) return false;
  const isControl =
    event.target instanceof HTMLElement &&
    event.target.closest('button, a, summary, select, input');
  if (isControl && /^(Enter| |Arrow.*)$/.test(event.key)) return false;
  const isFlame = document.activeElement?.id === 'cmp-flame';
  const arrows: Record<string, () => void> = {
    ArrowDown: () => walk(compare, 'down'),
    ArrowUp: () => walk(compare, 'up'),
    ArrowLeft: () => walk(compare, 'left'),
    ArrowRight: () => walk(compare, 'right'),
  };
  const steps: Record<string, () => void> = {
    '.': () => stepRanked(compare, 1),
    ',': () => stepRanked(compare, -1),
    f: () => compare.set({ focus: node }),
    F: () => compare.set({ focus: node }),
    Home: () => compare.set({ focus: -1 }),
    Enter: () => openPair(compare, ticked),
    b: () => compare.swap(),
    ...(isFlame ? arrows : {}),
  };
  const run = steps[event.key];
  run?.();
  return run !== undefined;
}

/** The ticked ones; without, the slowest of each group. */
function openPair(compare: Compare, ticked: readonly number[]): void {
  const { executions } = compare.state.get();
  if (!executions) return;
  const slowest = (bit: number): number => {
    let best = -1;
    for (let i = 0; i < executions.n; i++) {
      const length = executions.end[i]! - executions.start[i]!;
      if ((compare.members[i]! & bit) === 0) continue;
      if (best < 0 || length > executions.end[best]! - executions.start[best]!) best = i;
    }
    return best;
  };
  const list = ticked.length > 0 ? ticked : [slowest(1), slowest(2)].filter(i => i >= 0);
  if (compare.openPaths(list)) return;
  const why = compare.isFixed
    ? 'The report has no critical path of them: weft serve shows it.'
    : 'Their trace is not the one shown.';
  act.say(compare.app, why);
}

function clearTop(app: App): boolean {
  const compare = compareOf(app);
  const { focus, cause, ticked, node } = compare.state.get();
  if (focus > 0) compare.set({ focus: -1 });
  else if (cause >= 0) compare.set({ cause: -1 });
  else if (ticked.length > 0) compare.set({ ticked: [] });
  else if (node > 0) compare.set({ node: -1 });
  else return false;
  return true;
}

const SUBJECT_KEYS = ['type', 'begin', 'end', 'match', 'within'] as const;

function writeState(app: App): [string, string][] {
  const { settled: groups, state: atom } = compareOf(app);
  const state = atom.get();
  const { subject, executions } = state;
  if (!subject) return [['cx', '']];
  const cx = [subject.db, ...SUBJECT_KEYS.map(key => encodeURIComponent(subject[key]))].join('|');
  if (!executions) return [['cx', cx], ...compareOf(app).wantedPlace()];
  return [
    ['cx', cx],
    ['A', writeGroup(executions, groups.a)],
    ['B', writeGroup(executions, groups.b)],
    ...writeView(executions, state),
  ];
}

function readState(app: App, get: (key: string) => string): void {
  const compare = compareOf(app);
  const match = /^(-1|\d{1,6})\|(.*)$/.exec(get('cx'));
  if (!match) return;
  const parts = match[2]!.split('|').map(part => {
    try {
      return decodeURIComponent(part);
    } catch {
      return '';
    }
  });
  const [type = '', begin = '', end = '', own = '', within = ''] = parts;
  compare.choose({ db: Number(match[1]), type, begin, end, match: own, within });
  compare.want(get);
}

function statusOf(app: App): string {
  const { executions, counts, compared } = compareOf(app).state.get();
  if (!executions) return '';
  const rest = executions.all - counts.a - counts.b + (compared?.both ?? 0);
  return `${integer(counts.a)} in A \u00b7 ${integer(counts.b)} in B \u00b7 ${integer(Math.max(0, rest))} in neither`;
}

function hits(app: App, query: string): string {
  const asked = parseQuery(query);
  if (asked.isEmpty) return '';
  if (asked.error) return asked.error;
  const frames = compareOf(app).state.get().executions?.frames ?? [];
  return plural(frames.filter(({ name }) => matchesName(asked, name)).length, 'frame');
}

/** The next node of the ranking whose context has a frame that is searched for. */
function stepHit(app: App, direction: 1 | -1): void {
  const compare = compareOf(app);
  const { executions, compared, node } = compare.state.get();
  const asked = parseQuery(app.state.get().query);
  if (!executions || !compared || asked.isEmpty || asked.error) return;
  const found = [...compared.ranked].filter(i =>
    contextOf(executions, compared.nodes.node[i]!).some(({ name }) => matchesName(asked, name)),
  );
  if (found.length === 0) return;
  const at = found.findIndex(i => compared.nodes.node[i] === node);
  const next = at < 0 ? 0 : (at + direction + found.length) % found.length;
  compare.set({ node: compared.nodes.node[found[next]!]! });
}

/** What a report cannot do. */
const groupCommands: readonly ScreenCommand[] = [
  { name: 'Compare: swap A and B', key: 'b', run: app => compareOf(app).swap() },
  { name: 'Compare: save the differences as CSV', run: app => void exportCsv(compareOf(app)) },
  {
    name: 'Compare: filter A by the selected context',
    key: 'Alt+a',
    run: app => sideFilter(compareOf(app), 'a'),
  },
  {
    name: 'Compare: filter B by the selected context',
    key: 'Alt+b',
    run: app => sideFilter(compareOf(app), 'b'),
  },
];

const SCOPE = new Own<App, CompareScope>('compare screen', app => ({
  compare: compareOf(app),
  panes: new Panes(),
}));

export const COMPARE: ScreenSpec = {
  key: 'compare',
  name: 'Compare',
  View({ onReady }) {
    return <CompareView scope={SCOPE.of(useApp())} onReady={onReady} />;
  },
  own: SCOPE,
  kind: () => ' compare-page',
  keys: [
    ['b', 'swap A and B'],
    ['Alt+A', 'filter A'],
    ['Alt+B', 'filter B'],
    ['. ,', 'next difference'],
    ['f', 'focus'],
    ['Home', 'whole tree'],
    ['Enter', 'open a pair side by side'],
  ],
  help: [
    ['b', 'Compare: what was A is B, and the other way round'],
    ['Alt+A Alt+B', 'Compare: group A, B by the time in the selected context'],
    ['. ,', 'Compare: next, previous difference'],
    ['\u2190 \u2192', 'Compare: on a histogram, its upper edge by a bin; with Shift the lower one'],
    ['PgUp PgDn', 'Compare: on a histogram, both edges; Del takes the condition away'],
    ['f Home', 'Compare: focus the tree below the selected box; the whole tree'],
    ['Enter', 'Compare: the ticked executions, or the slowest of A and B, side by side'],
  ],
  status: statusOf,
  onKey: keyOn,
  commands: app => [
    ...(compareOf(app).isFixed ? [] : groupCommands),
    {
      name: 'Compare: counts linear, square root, log',
      run: () => {
        const { scale } = compareOf(app).state.get();
        compareOf(app).turnCounts(scale === 'fit' ? 'linear' : scale);
      },
    },
    {
      name: 'Compare: axis of the first chart linear, log',
      run: () => {
        const { charts } = compareOf(app).state.get();
        if (charts[0] !== undefined) compareOf(app).toggleLinear(charts[0]);
      },
    },
    {
      name: 'Compare: widths by the mean of A, of B',
      run: () => compareOf(app).turnWidths(),
    },
    { name: 'Compare: save the flame graph as SVG', run: () => exportSvg(compareOf(app)) },
  ],
  search: { text: hits, step: stepHit },
  clear: clearTop,
  showRule(app, rule) {
    compareOf(app).choose({ db: -1, ...rule });
    act.setScreen(app, 'compare');
  },
  Settings,
  write: writeState,
  read: readState,
  watch: (app, changed) => compareOf(app).state.subscribe(changed),
  steps: ['A', 'B', 'cx'],
};

/* ---- Which executions are compared: those of a database, or what rules find in the trace. ---- */

const NONE: Subject = { db: -1, type: '', begin: '', end: '', match: '', within: '' };
const FIELDS = [
  ['type', 'Name', 'request'],
  ['begin', 'Begins with', 'call:handle_request'],
  ['end', 'Ends with', 'empty: the whole call'],
  ['match', 'Same', 'id; empty: none'],
  ['within', 'Within', 'thread, process, trace'],
] as const;

function RuleForm(): JSX.Element {
  const compare = useCompare();
  const subject = useCompareState(s => s.subject);
  const [rule, setRule] = useState<Subject>(subject?.db === -1 ? subject : NONE);
  return (
    <form
      class="cmp-rules"
      onSubmit={event => {
        event.preventDefault();
        compare.choose(rule);
      }}
    >
      {FIELDS.map(([key, word, example]) => (
        <label key={key}>
          {word}
          <input
            value={rule[key]}
            placeholder={example}
            onInput={event => setRule({ ...rule, [key]: event.currentTarget.value })}
          />
        </label>
      ))}
      <button type="submit" disabled={rule.begin.trim() === ''}>
        Find executions
      </button>
    </form>
  );
}

function OwnRules({ name }: { name: string }): JSX.Element {
  return (
    <>
      <h2>By rules of your own</h2>
      <RuleForm />
      <p class="remark">
        Into a database, to compare builds and runs:{' '}
        <Command text={`weft executions ${quoted(name)} --begin RULE --db runs.db --tag base`} />
      </p>
    </>
  );
}

/** What there is to compare: a click takes it. */
function SubjectList(): JSX.Element {
  const compare = useCompare();
  const databases = useCompareState(s => s.databases);
  const proposals = useCompareState(s => s.proposals);
  const isLooking = useCompareState(s => s.isLooking);
  const { hasTrace, trace } = compare.served;
  const { isFixed } = compare;
  return (
    <div class="cmp-subjects">
      {(databases ?? []).map(({ id, name, types, error }) => (
        <section key={id} aria-label={`Database ${name}`}>
          <h2>
            {name} <small>database</small>
          </h2>
          {error !== '' && (
            <p class="cmp-trouble" role="alert">
              {error}.
            </p>
          )}
          <ul>
            {types.map(type => (
              <li key={type.name}>
                <button
                  class="row-link"
                  onClick={() => compare.choose({ ...NONE, db: id, type: type.name })}
                >
                  <b>{type.name}</b> <small>{plural(type.count, 'execution')}</small>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {hasTrace && (
        <section aria-label="Executions of the trace">
          <h2>
            {isFixed ? 'Comparisons in this report' : `Repeated operations of ${trace.name}`}{' '}
            {!isFixed && <small>proposed from its marks, probes, spans and calls</small>}
          </h2>
          <ul>
            {proposals.slice(0, 12).map((one, i) => (
              <li key={i}>
                <button
                  class="row-link"
                  onClick={() =>
                    compare.choose({
                      db: -1,
                      type: one.name,
                      begin: one.begin,
                      end: one.end,
                      match: one.match,
                      within: one.within,
                    })
                  }
                >
                  <b>{one.name}</b>{' '}
                  <small>
                    {isFixed
                      ? plural(one.count, 'execution')
                      : `${plural(one.count, 'begin')}; ${one.why}`}
                  </small>
                </button>
              </li>
            ))}
          </ul>
          {proposals.length === 0 && isLooking && <p class="remark">looking{'\u2026'}</p>}
          {proposals.length === 0 && !isLooking && (
            <p class="remark">
              Nothing repeats that could be proposed: say what begins and ends an execution.
            </p>
          )}
          {isFixed ? (
            <p class="remark">
              Other executions and other groups:{' '}
              <Command text={`weft serve ${quoted(trace.name)}`} />
            </p>
          ) : (
            <OwnRules name={trace.name} />
          )}
        </section>
      )}
    </div>
  );
}
