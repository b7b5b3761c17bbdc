// SPDX-License-Identifier: MIT
// Screen 9: what was lost, mended and left out, and what to do about it; and the badge that says so
// on every screen.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Own } from '../../shared/lib/atom';
import { bytes, duration, integer, percent, plural, shortNote } from '../../shared/lib/format';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import type { OnReady, ScreenSpec } from '../../shared/state/screens';
import { Command, Heads } from '../../shared/views/parts';
import { useApp, useAtom, usePart } from '../../shared/views/use';
import { ratio } from '../../shared/lib/numbers';
import { clockRows, findingsOf, verdictOf, Health } from './state';
import type { Finding, HealthClass, Info, Ahead } from './state';

const FIRST_THREADS = 12;

function ThreadCounts({ finding }: { finding: Finding }): JSX.Element | null {
  const [isAll, setAll] = useState(false);
  const { threads } = finding;
  if (threads.length === 0) return null;
  const shown = isAll ? threads : threads.slice(0, FIRST_THREADS);
  return (
    <p class="thread-counts">
      {shown.map(({ tid, name, count }) => (
        <span key={`${tid}${name}`}>
          T{tid} <b>{integer(count)}</b>
        </span>
      ))}
      {threads.length > shown.length && (
        <button class="link" onClick={() => setAll(true)}>
          {plural(threads.length - shown.length, 'more thread')}
        </button>
      )}
    </p>
  );
}

function Row({ finding }: { finding: Finding }): JSX.Element {
  return (
    <tr>
      <td class={`num key count ${finding.class}`}>{finding.count}</td>
      <th scope="row" class="wrap">
        {finding.title}
        {finding.where && <p class="remark">{finding.where}</p>}
        <ThreadCounts finding={finding} />
      </th>
      <td class="wrap">{finding.means}</td>
      <td class="wrap">
        {finding.todo}
        {finding.command && <Command text={finding.command} />}
      </td>
    </tr>
  );
}

const CLASS_WORDS: Record<HealthClass, [title: string, remark: string, none: string]> = {
  lost: ['Lost', 'missing from all results', 'No data loss.'],
  repaired: ['Repaired', 'anomalies that a rule put right', 'Nothing repaired.'],
  info: ['To know', 'no harm, but it changes how numbers read', 'Nothing else is to be known.'],
};

function Table({ findings, kind }: { findings: Finding[]; kind: HealthClass }): JSX.Element {
  const own = findings.filter(finding => finding.class === kind);
  const [title, remark, usual] = CLASS_WORDS[kind];
  const hasExcluded = findings.some(finding => finding.kind === 'excluded');
  const none = kind === 'lost' && hasExcluded ? 'Only what options excluded.' : usual;
  return (
    <section aria-label={title}>
      <h2>
        {title} <small>{remark}</small>
      </h2>
      {own.length === 0 ? (
        <p class="none-found">{none}</p>
      ) : (
        <table class="fixed findings">
          <Heads
            of={[['count', 'num c-count'], ['what', 'c-what'], 'what it means', 'what to do']}
          />
          <tbody>
            {own.map(finding => (
              <Row key={`${finding.kind}${finding.title}`} finding={finding} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Facts({ title, rows }: { title: string; rows: [string, string][] }): JSX.Element {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <table>
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="wrap">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** What the pictures leave out, by rule and not by damage. */
function foldedRows(app: App): [string, string][] {
  const { totals } = app.model.trace;
  const rows: [string, string][] = [];
  if (totals.expressionNs > 0)
    rows.push([
      'Overview',
      `${duration(totals.foldedNs)} of ${duration(totals.expressionNs)} of short calls (${percent(
        totals.foldedNs / totals.expressionNs,
      )}) stand in \u201cother\u201d`,
    ]);
  else rows.push(['Overview', 'regimes are not computed yet']);
  const { shapes } = app.model.trace;
  if (shapes) rows.push(['Patterns', `${plural(shapes.totals.shapes, 'shape')} in all`]);
  rows.push(
    [
      'Timeline',
      'calls narrower than a pixel are merged; the longest of them is drawn, with the count',
    ],
    ['Functions', 'paths narrower than 2 px are merged with their count; the footer sums them up'],
  );
  return rows;
}

const AHEAD_WORDS: Record<string, string> = {
  regtime: 'regimes of the Overview',
  functions: 'statistics of functions',
  shapes: 'shapes of Patterns',
};

function aheadRows(ahead: readonly Ahead[]): [string, string][] {
  if (ahead.length === 0) return [['server', 'asked for']];
  const words = ({ state, share }: Ahead): string => {
    if (state === 'ready') return 'ready';
    if (state === 'running') return `being computed, ${percent(share)}`;
    return state === 'waiting' ? 'waits for its turn' : 'computed when first asked for';
  };
  return ahead.map(one => [AHEAD_WORDS[one.name] ?? one.name, words(one)]);
}

function fileRows(info: Info): [string, string][] {
  const times = info.bytesOut > 0 ? info.bytesIn / info.bytesOut : 0;
  return [
    [
      'source',
      `${info.source || 'unknown'} (${info.format}${info.details && `, ${info.details}`})`,
    ],
    [
      'size',
      `${bytes(info.bytesOut)}${info.bytesIn > 0 ? `; ${bytes(info.bytesIn)} when imported (${ratio(times)} times)` : ''}`,
    ],
    [
      'calls',
      `${integer(info.calls)}${info.cutCalls > 0 ? `, and ${integer(info.cutCalls)} from before the trace` : ''}`,
    ],
    ['threads', integer(info.threads.length)],
    [
      'functions',
      `${integer(info.functions)}, ${info.unnamed === 0 ? 'all with names' : `${integer(info.unnamed)} without a name`}`,
    ],
    ['other events', integer(info.events)],
  ];
}

function HealthView({ health, onReady }: { health: Health; onReady: OnReady }): JSX.Element {
  const app = useApp();
  const { info, error, ahead } = useAtom(health.state, s => s);
  usePart(s => s.epoch);
  useEffect(() => {
    health.ask();
    onReady(null);
    void health.look();
    const timer = setInterval(() => void health.look(), 2000);
    return () => clearInterval(timer);
  }, []);
  if (!info)
    return (
      <main class="health" tabIndex={0} aria-label="Health">
        {error ? (
          <p class="trouble" role="alert">
            The facts of the trace could not be read: {error}.{' '}
            <button class="link" onClick={() => health.ask()}>
              Ask again
            </button>
          </p>
        ) : (
          <p class="none-found">Asked for.</p>
        )}
      </main>
    );
  const file = app.served?.trace.name ?? app.model.trace.name;
  const findings = findingsOf(info, file);
  return (
    <main class="health" tabIndex={0} aria-label="Health">
      <h2 class="headline">{verdictOf(info)}</h2>
      <p class="lead">
        {plural(info.calls, 'call')} of {plural(info.threads.length, 'thread')} in{' '}
        {duration(info.duration)} are in the file. The same on the command line:{' '}
        <Command text={`weft info --threads ${file}`} />
      </p>
      {(['lost', 'repaired', 'info'] as const).map(kind => (
        <Table key={kind} findings={findings} kind={kind} />
      ))}
      <div class="health-facts">
        <Facts title="Clock" rows={clockRows(info)} />
        <Facts title="File" rows={fileRows(info)} />
        <Facts title="Folded in pictures" rows={foldedRows(app)} />
        <Facts title="Index and answers kept" rows={aheadRows(ahead)} />
      </div>
    </main>
  );
}

/** Red while anything is lost; leads to the screen. */
function HealthBadge({ health }: { health: Health }): JSX.Element {
  const app = useApp();
  const { info, error } = useAtom(health.state, s => s);
  useEffect(() => health.ask(), []);
  const open = (): void => act.setScreen(app, 'health');
  if (!info)
    return (
      <button class={error ? 'badge bad' : 'badge'} onClick={open}>
        {error ? 'health unknown' : 'health \u2026'}
      </button>
    );
  const of = (kind: HealthClass): string => {
    const own = info.notes.filter(note => note.class === kind);
    const first = own[0];
    if (!first) return '';
    return own.length === 1
      ? shortNote(first.kind, first.count)
      : plural(own.length, `kind`) + ` ${kind}`;
  };
  const lost = of('lost') || (info.isRecovered ? 'the file ends early' : '');
  const repaired = of('repaired');
  return (
    <>
      {lost && (
        <button class="badge bad" title="Lost: what and why (9)" onClick={open}>
          {lost}
        </button>
      )}
      {repaired && (
        <button class="badge warn" title="Repaired: what and why (9)" onClick={open}>
          {repaired}
        </button>
      )}
      {!lost && !repaired && (
        <button class="badge" title="Health (9)" onClick={open}>
          {info.notes.some(note => note.kind === 'excluded') ? 'partly recorded' : 'nothing lost'}
        </button>
      )}
    </>
  );
}

/** Screen 9; what it knows is asked once. */
const HEALTH_STATE = new Own<App, Health>('health', app => new Health(app.served!));

export const HEALTH: ScreenSpec = {
  key: 'health',
  name: 'Health',
  View({ onReady }) {
    return <HealthView health={HEALTH_STATE.of(useApp())} onReady={onReady} />;
  },
  own: HEALTH_STATE,
  kind: () => ' health-page',
  keys: [
    ['Tab', 'next command'],
    ['1', 'Overview'],
  ],
  help: [],
  status: app => {
    const { info } = HEALTH_STATE.of(app).state.get();
    return info ? verdictOf(info) : '';
  },
  Settings: () => <></>,
  Badge: function Badge() {
    return <HealthBadge health={HEALTH_STATE.of(useApp())} />;
  },
};
