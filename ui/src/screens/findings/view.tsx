// SPDX-License-Identifier: MIT
// Screen 0: what made the program slow, the costliest first, each with its proof and the way to the
// screen that shows it.
import type { JSX } from 'preact';
import { useEffect, useReducer, useRef } from 'preact/hooks';
import { exact, integer, plural, quoted } from '../../shared/lib/format';
import { nanoseconds, share as shareWords, significant } from '../../shared/lib/numbers';
import { pathWords } from '../../shared/lib/path';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { pathsOf, showPaths } from '../../shared/state/paths';
import type { OnReady, ScreenSpec } from '../../shared/state/screens';
import { Command, LookSwatch, Sentence } from '../../shared/views/parts';
import { useApp, useAtom } from '../../shared/views/use';
import { actionsOf, hasPicture, hasType, showType } from './open';
import { Bars, Budget, WorstStrip } from './picture';
import {
  FINDINGS_STATE,
  findingsOf,
  headlineOf,
  healthyOf,
  linksOf,
  lookOfKind,
  remarkOf,
  spreadOf,
  wholeOf,
} from './state';
import type { Diagnosis, Finding, Findings, Link, TypeSummary } from './state';
import './findings.css';

/* ---- a card ---- */

function ChainRow({ link }: { link: Link }): JSX.Element {
  return (
    <>
      <dt>{link.label}</dt>
      <dd>
        <b>{link.thread}</b>
        {link.functions.length > 0 && (
          <>
            {' in '}
            <code>{link.functions.join(' \u203a ')}</code>
          </>
        )}
        {link.more !== '' && `, ${link.more}`}
      </dd>
    </>
  );
}

function Facts({ finding }: { finding: Finding }): JSX.Element {
  const { confidence, confidenceValue, reasons } = finding;
  return (
    <dl class="fnd-facts">
      {finding.symptom !== '' && (
        <>
          <dt>symptom</dt>
          <dd>{finding.symptom}</dd>
        </>
      )}
      {finding.isPath && (
        <>
          <dt>time</dt>
          <dd>{nanoseconds(Math.round(finding.costNs))}</dd>
        </>
      )}
      {linksOf(finding).map(link => (
        <ChainRow key={link.label} link={link} />
      ))}
      {finding.kind === 'writer_starvation' && (
        <>
          <dt>readers</dt>
          <dd>
            {plural(finding.overtakingReaders, 'read lock')} got after the writer asked, in the
            worst execution
          </dd>
        </>
      )}
      {finding.evidence !== '' && (
        <>
          <dt>evidence</dt>
          <dd>{finding.evidence}</dd>
        </>
      )}
      {confidence !== 'high' && confidence !== '' && (
        <>
          <dt>confidence</dt>
          <dd>
            {confidence} ({significant(confidenceValue, 2)}): {reasons.join('; ')}
          </dd>
        </>
      )}
      {finding.also.length > 0 && (
        <>
          <dt>slows also</dt>
          <dd>{finding.also.join(', ')}</dd>
        </>
      )}
      <dt>fix</dt>
      <dd>{finding.fix}</dd>
    </dl>
  );
}

function Actions({ findings, finding }: { findings: Findings; finding: Finding }): JSX.Element {
  return (
    <p class="fnd-actions">
      {actionsOf(findings, finding).map(({ name, key, title, run }, i) => (
        <button
          key={key}
          class={i === 0 ? 'primary' : ''}
          title={`${title} (${key})`}
          onClick={run}
        >
          {name}
        </button>
      ))}
    </p>
  );
}

function Card({
  findings,
  finding,
  index,
}: {
  findings: Findings;
  finding: Finding;
  index: number;
}): JSX.Element {
  const isSelected = useAtom(findings.state, s => s.selected === index);
  const own = useRef<HTMLElement>(null);
  useEffect(() => {
    const isElsewhere = !own.current?.contains(document.activeElement);
    const isOnCard = document.activeElement?.closest('.fnd-card') !== null;
    if (isSelected && isElsewhere && isOnCard) own.current?.focus();
  }, [isSelected]);
  const { look, letter } = lookOfKind(finding);
  return (
    <article
      ref={own}
      class="fnd-card"
      tabIndex={isSelected ? 0 : -1}
      aria-current={isSelected ? 'true' : undefined}
      aria-labelledby={`fnd-${index}`}
      onFocusCapture={() => findings.set({ selected: index })}
      onClick={() => findings.set({ selected: index })}
    >
      <div class="fnd-text">
        <header>
          <span class="fnd-number">{index + 1}</span>
          <h3 id={`fnd-${index}`}>
            <LookSwatch look={look} letter={letter} />
            {finding.title}
            {finding.confidence !== 'high' && finding.confidence !== '' && (
              <span class="badge warn">{finding.confidence} confidence</span>
            )}
          </h3>
          <p class="fnd-cost">
            <b>{shareWords(finding.costShare)}</b> <small>{wholeOf(finding)}</small>
          </p>
        </header>
        <Facts finding={finding} />
        <Actions findings={findings} finding={finding} />
      </div>
      <div class="fnd-proof">
        <Bars finding={finding} />
        <WorstStrip findings={findings} index={index} />
      </div>
    </article>
  );
}

/* ---- the slowest executions ---- */

function SlowOne({ findings, index }: { findings: Findings; index: number }): JSX.Element {
  const { app, served } = findings;
  const path = useAtom(findings.state, s => s.slowest.get(index));
  const place = findings.slowestOnes()[index]!;
  const thread = findings.threadAt(place);
  const own = served.threads[thread];
  const { t0, t1 } = place.span;
  const pick = { thread, span: place.span, label: '' };
  return (
    <li>
      <b class="num">{nanoseconds(t1 - t0)}</b>
      <span>
        {own ? `${own.name} ${own.label}`.trim() : 'a thread'}, {exact(t0)}
      </span>
      <span>
        {path && `${pathWords(path, pathsOf(app).nameOf)} `}
        {pathsOf(app).has(pick) && (
          <button
            class="link"
            onClick={() => {
              act.set(app, { range: place.span, isPreview: false });
              showPaths(app, [pick]);
            }}
          >
            path
          </button>
        )}
      </span>
    </li>
  );
}

/** Each with what its critical path spends most on. */
function Slowest({ findings }: { findings: Findings }): JSX.Element | null {
  const all = findings.slowestOnes();
  const of = findings.slowestOf();
  useEffect(() => findings.askSlowest(), [findings]);
  if (all.length === 0) return null;
  return (
    <section class="fnd-slowest" aria-label="The slowest executions">
      <h2>
        {all.length === 1 ? 'The slowest' : `The ${all.length} slowest`} of{' '}
        {of ? `${integer(of.executions)} ${of.type}` : 'all executions'}
      </h2>
      <ul>
        {all.map((_, i) => (
          <SlowOne key={i} findings={findings} index={i} />
        ))}
      </ul>
    </section>
  );
}

/* ---- what is no problem ---- */

function TypeLine({
  findings,
  one,
  words,
}: {
  findings: Findings;
  one: TypeSummary;
  words: string;
}): JSX.Element {
  const rule = findings.ruleOf(one.type);
  return (
    <li>
      <span>
        <Sentence text={words} />
      </span>{' '}
      {rule && hasType(findings, rule) && (
        <button class="link" onClick={() => showType(findings.app, rule)}>
          compare
        </button>
      )}
    </li>
  );
}

function Healthy({
  findings,
  diagnosis,
}: {
  findings: Findings;
  diagnosis: Diagnosis;
}): JSX.Element | null {
  const healthy = healthyOf(diagnosis);
  const { criticalPath, omitted, notExamined } = diagnosis;
  const has = diagnosis.findings.length > 0;
  if (healthy.length + criticalPath.length + omitted.length + notExamined === 0) return null;
  return (
    <section class="fnd-healthy" aria-label={has ? 'Not a problem' : 'What was looked at'}>
      {healthy.length > 0 && (
        <>
          <h2>{has ? 'Not a problem' : 'What was looked at'}</h2>
          <ul>
            {healthy.map(one => (
              <TypeLine key={one.type} findings={findings} one={one} words={one.summary} />
            ))}
          </ul>
        </>
      )}
      {criticalPath && <p>{criticalPath}</p>}
      {omitted.length > 0 && (
        <details>
          <summary>{plural(omitted.length, 'type')} that cannot be judged</summary>
          <ul>
            {omitted.map(({ type, reason }) => (
              <li key={type}>
                {type}: {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
      {notExamined > 0 && (
        <p class="remark">{plural(notExamined, 'more type')} of executions not examined.</p>
      )}
    </section>
  );
}

function Spread({
  findings,
  diagnosis,
}: {
  findings: Findings;
  diagnosis: Diagnosis;
}): JSX.Element | null {
  const slow = spreadOf(diagnosis);
  if (slow.length === 0) return null;
  return (
    <section class="fnd-healthy" aria-label="Slow, without one cause">
      <h2>Slow, without one cause</h2>
      <ul class="fnd-slow">
        {slow.map(one => (
          <TypeLine key={one.type} findings={findings} one={one} words={one.summary} />
        ))}
      </ul>
    </section>
  );
}

/** Each wait of a cycle, with its lock and its holder. */
function Deadlocks({ diagnosis }: { diagnosis: Diagnosis }): JSX.Element | null {
  if (diagnosis.deadlocks.length === 0) return null;
  return (
    <section class="fnd-healthy" aria-label="Deadlock">
      <h2>Deadlock</h2>
      <ul class="fnd-slow">
        {diagnosis.deadlocks.map(one => (
          <li key={one.waiterTid}>
            <b>{one.waiter}</b> ({one.waiterTid}) waits {nanoseconds(one.ns)} for{' '}
            {one.isJoin ? 'the end of' : <b>{one.lock}</b>}
            {!one.isJoin && ', held by'} <b>{one.holder}</b> ({one.holderTid})
            {one.fn !== '' && `, in ${one.fn}`}
          </li>
        ))}
      </ul>
      <p class="remark">{diagnosis.deadlocks[0]?.fix}</p>
    </section>
  );
}

/** Where to go on, if nothing stands out. */
function Onward(): JSX.Element {
  const app = useApp();
  const ways = [
    ['overview', 'Overview', 'what each thread did, and when'],
    ['interplay', 'Interplay', 'which threads wait for which'],
    ['functions', 'Functions', 'where the time goes'],
    ['path', 'Path', 'on what the slowest executions depended'],
    ['patterns', 'Patterns', 'which calls repeat, and how they differ'],
  ] as const;
  const has = (key: string): boolean =>
    app.screens.some(one => one.key === key) && (key !== 'overview' || hasPicture(app));
  return (
    <p class="fnd-onward">
      {ways
        .filter(([key]) => has(key))
        .slice(0, 3)
        .map(([key, name, what]) => (
          <button key={key} onClick={() => act.setScreen(app, key)}>
            <b>{name}</b> <small>{what}</small>
          </button>
        ))}
    </p>
  );
}

/* ---- the screen ---- */

function SmallOnes({ findings }: { findings: Findings }): JSX.Element | null {
  const isAll = useAtom(findings.state, s => s.isAll);
  const diagnosis = useAtom(findings.state, s => s.diagnosis);
  const n = (diagnosis?.findings ?? []).filter(({ isSmall }, i) => isSmall && i > 0).length;
  if (n === 0) return null;
  return (
    <button class="fnd-more" aria-expanded={isAll} onClick={() => findings.showAll(!isAll)}>
      {isAll ? 'Hide' : 'Show'} {plural(n, 'smaller finding')}
    </button>
  );
}

function NoKernel({ findings }: { findings: Findings }): JSX.Element | null {
  if (findings.served.trace.hasStates) return null;
  return (
    <p class="remark">
      The trace has no scheduling events: a thread that is longer in a function may have run there,
      or waited for a CPU. With the kernel{'\u2019'}s events this is told apart:{' '}
      <Command text={`weft record -o ${quoted('trace.weft')} -- PROGRAM`} />
    </p>
  );
}

/** Parts of a report that failed. */
function Missing(): JSX.Element | null {
  const own = useApp().model.trace.notes.filter(({ kind }) => kind === 'missing_part');
  if (own.length === 0) return null;
  return <p class="fnd-trouble">Missing here: {own.map(({ detail }) => detail).join('; ')}</p>;
}

function Answer({
  findings,
  diagnosis,
}: {
  findings: Findings;
  diagnosis: Diagnosis;
}): JSX.Element {
  useAtom(findings.state, s => s.isAll);
  const file = diagnosis.trace?.file ?? findings.served.trace.name;
  return (
    <>
      <header class="fnd-head">
        <h2 class="fnd-headline">{headlineOf(diagnosis)}</h2>
        <p class="fnd-about">
          <b>{file}</b> {'\u00b7'} {remarkOf(diagnosis)}
        </p>
        <Missing />
        <Budget diagnosis={diagnosis} />
      </header>
      <Deadlocks diagnosis={diagnosis} />
      {findings.shown().map(i => (
        <Card key={i} findings={findings} finding={diagnosis.findings[i]!} index={i} />
      ))}
      <SmallOnes findings={findings} />
      <Slowest findings={findings} />
      <Spread findings={findings} diagnosis={diagnosis} />
      <Healthy findings={findings} diagnosis={diagnosis} />
      {diagnosis.findings.length === 0 && <Onward />}
      <footer class="fnd-foot">
        <NoKernel findings={findings} />
        <p class="remark">
          How it was found: <Command text={`weft diagnose --explain ${quoted(file)}`} />
        </p>
      </footer>
    </>
  );
}

function Waiting({ findings }: { findings: Findings }): JSX.Element {
  const since = useAtom(findings.state, s => s.since);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const timer = setInterval(() => redraw(undefined), 500);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor((performance.now() - since) / 1000);
  return (
    <div class="fnd-waiting" role="status">
      <div class="progress unknown">
        <i />
      </div>
      <h2 class="fnd-headline">Looking for what made it slow{'\u2026'}</h2>
      <p>
        Operations that repeat are found, and the slow ones compared with the usual ones.
        {seconds > 0 && ` ${integer(seconds)} s so far.`}
        {seconds > 1 && (
          <>
            {' '}
            <button class="link" onClick={() => findings.cancel()}>
              Cancel
            </button>
          </>
        )}
      </p>
      {seconds > 1 && (
        <>
          <p class="remark">The other screens remain usable.</p>
          <Onward />
        </>
      )}
    </div>
  );
}

function Failed({ findings, error }: { findings: Findings; error: string }): JSX.Element {
  const { name } = findings.served.trace;
  return (
    <div class="fnd-failed">
      <h2 class="fnd-headline">There is no diagnosis</h2>
      <p class="fnd-trouble" role="alert">
        The server did not answer: {error.replace(/\.$/, '')}.{' '}
        <button class="link" onClick={() => findings.ask()}>
          Ask again
        </button>
      </p>
      <p>
        The same on the command line: <Command text={`weft diagnose ${quoted(name)}`} />. The other
        screens show the trace all the same.
      </p>
      <Onward />
    </div>
  );
}

function FindingsView({
  findings,
  onReady,
}: {
  findings: Findings;
  onReady: OnReady;
}): JSX.Element {
  const { diagnosis, error, since } = useAtom(findings.state, s => s);
  useEffect(() => {
    if (findings.state.get().error === '') findings.ask();
    onReady(null);
  }, []);
  return (
    <main class="fnd" tabIndex={-1} aria-label="Findings" aria-busy={since > 0}>
      {diagnosis ? (
        <Answer findings={findings} diagnosis={diagnosis} />
      ) : error !== '' ? (
        <Failed findings={findings} error={error} />
      ) : (
        <Waiting findings={findings} />
      )}
    </main>
  );
}

/* ---- keys ---- */

function keyOn(app: App, event: KeyboardEvent): boolean {
  const findings = findingsOf(app);
  const finding = findings.current();
  if (!finding || event.altKey) return false;
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    focusCard();
    findings.step(event.key === 'ArrowDown' ? 1 : -1);
    return true;
  }
  if (event.key === 'm') {
    findings.showAll(!findings.state.get().isAll);
    return true;
  }
  const isControl =
    event.target instanceof HTMLElement && event.target.closest('button, a, summary');
  if (event.key === 'Enter' && isControl) return false;
  const key = event.key === 'x' ? 'Enter' : event.key; // "x" is the path on every screen
  const action = actionsOf(findings, finding).find(one => one.key === key);
  action?.run();
  return action !== undefined;
}

/** The focus follows the selection from card to card. */
function focusCard(): void {
  if (document.activeElement?.closest('.fnd-card')) return;
  document.querySelector<HTMLElement>('.fnd-card[aria-current]')?.focus();
}

function readState(app: App, get: (key: string) => string): void {
  const at = /^\d{1,3}$/.exec(get('fi'));
  findingsOf(app).set({
    selected: at ? Math.max(0, Number(at[0]) - 1) : 0,
    isAll: get('fiall') === '1',
  });
}

export const FINDINGS: ScreenSpec = {
  key: 'findings',
  name: 'Findings',
  View({ onReady }) {
    return <FindingsView findings={findingsOf(useApp())} onReady={onReady} />;
  },
  own: FINDINGS_STATE,
  kind: () => ' findings-page',
  keys: [
    ['\u2191 \u2193', 'finding'],
    ['Enter', 'path of the worst'],
    ['t', 'Timeline'],
    ['c', 'compare'],
    ['i', 'Interplay'],
    ['m', 'smaller ones'],
  ],
  help: [
    ['\u2191 \u2193', 'Findings: the finding before, the next one'],
    ['Enter', 'Findings: critical path of the worst execution'],
    ['t c i l', 'Findings: the finding in the Timeline, in Compare, in Interplay; its lock'],
    ['m', 'Findings: also the smaller ones'],
  ],
  status: app => findingsOf(app).current()?.title ?? '',
  onKey: keyOn,
  focus: app => findingsOf(app).current()?.worst.span ?? null,
  Settings: () => <></>,
  write: app => {
    const { selected, isAll } = findingsOf(app).state.get();
    return [
      ['fi', selected > 0 ? String(selected + 1) : ''],
      ['fiall', isAll ? '1' : ''],
    ];
  },
  read: readState,
  watch: (app, changed) =>
    findingsOf(app).state.subscribe((now, before) => {
      if (now.selected !== before.selected || now.isAll !== before.isAll) changed();
    }),
};
