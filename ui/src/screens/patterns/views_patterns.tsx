// SPDX-License-Identifier: MIT
// The chart of the Patterns screen: one block of ribbons a thread.
import type { JSX } from 'preact';
import type { BaseStage } from '../../shared/draw/base';
import { whyNone } from '../../shared/lib/behaviours';
import { duration, integer, plural } from '../../shared/lib/format';
import * as act from '../../shared/state/actions';
import { Frame } from '../../shared/views/frame';
import { bindRuns, ribbonKey } from '../../shared/views/gestures';
import { NoCalls } from '../../shared/views/nocalls';
import { Command } from '../../shared/views/parts';
import { useApp, usePart } from '../../shared/views/use';
import { PatternStage } from './draw_stage';
import * as pat from './state_patterns';
import type { PatternRow } from './state_patterns';

function ThreadLabel({ row }: { row: PatternRow }): JSX.Element {
  const app = useApp();
  const picked = usePart(s => s.picked);
  const thread = row.thread!;
  const n = row.own?.ribbons.length ?? 0;
  const click = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) act.pick(app, thread.index);
    else act.toggleTall(app, thread.index);
  };
  return (
    <div
      class="label"
      role="rowheader"
      style={{ top: `${row.y}px`, height: `${row.height - 1}px` }}
    >
      <button
        class={picked.has(thread.index) ? 'thread picked' : 'thread'}
        aria-expanded={row.isTall}
        title={`${row.isTall ? 'Low ribbons' : 'High ribbons, with names'} (e); Ctrl+click ticks it`}
        onClick={click}
      >
        <b>{thread.label}</b> {thread.name && <span class="tname">{thread.name}</span>}
      </button>
      <small>{n > 0 ? plural(n, 'ribbon') : 'no behaviour'}</small>
    </div>
  );
}

function GroupLabel({ row }: { row: PatternRow }): JSX.Element {
  const { title, remark } = row.group!;
  return (
    <div
      class="label"
      role="rowheader"
      style={{ top: `${row.y}px`, height: `${row.height - 1}px` }}
    >
      <b class="pack-title">{title}</b>
      <small title={remark}>{remark}</small>
    </div>
  );
}

function leftOut(rows: readonly (PatternRow['own'] | null)[]): string {
  const sum = { cut: 0, excluded: 0, limited: 0 };
  for (const own of rows) {
    sum.cut += own?.cut ?? 0;
    sum.excluded += own?.excluded ?? 0;
    sum.limited += own?.limited ?? 0;
  }
  const parts = [
    sum.cut && `${integer(sum.cut)} cut`,
    sum.excluded && `${integer(sum.excluded)} excluded`,
    sum.limited && `${integer(sum.limited)} over a limit`,
  ];
  return parts.filter(Boolean).join(', ') || 'nothing';
}

function Numbers({ row }: { row: PatternRow }): JSX.Element {
  const app = useApp();
  const { threads } = app.model.behaviours!.shapes;
  const style = { top: `${row.y}px`, height: `${row.height - 1}px` };
  if (row.group)
    return (
      <div class="numbers" style={style}>
        <span class="calls" role="cell" />
        <span class="left" role="cell">
          {leftOut(row.group.threads.map(t => threads[t.index] ?? null))}
          <br />
          <button class="link" onClick={() => act.togglePack(app, row.group!.key)}>
            expand ▸
          </button>
        </span>
      </div>
    );
  const own = row.own;
  const title = own
    ? `${plural(own.clusters, 'behaviour')}, ${integer(own.newClusters)} of them on none of the threads before; ${plural(own.shapes, 'shape')}, ${integer(own.newShapes)} new; ${plural(own.calls, 'complete call')}`
    : '';
  return (
    <div class="numbers" style={style} title={title}>
      <span class="calls" role="cell">
        {integer(own?.clusters ?? 0)}
        <br />
        <i>{integer(own?.shapes ?? 0)}</i>
      </span>
      <span class="left" role="cell">
        {own ? `${integer(own.newClusters)} new` : ''}
        <br />
        <i>{own && leftOut([own]) !== 'nothing' ? leftOut([own]) : ''}</i>
      </span>
    </div>
  );
}

function Selected(): JSX.Element {
  const app = useApp();
  const chosen = usePart(s => s.chosen);
  const cluster = usePart(s => s.cluster);
  const text = chosen
    ? pat.chosenSentence(app.model, chosen)
    : cluster >= 0
      ? pat.clusterSentence(app.model, cluster)
      : 'Nothing selected. Arrow keys walk.';
  return (
    <div role="option" id="item-now" aria-selected={chosen !== null}>
      {text}
    </div>
  );
}

/** What the ribbons do not show, in one line. */
export function leftOutWords(app: ReturnType<typeof useApp>): string {
  const { shapes } = app.model.behaviours!;
  const { totals, columns, cell } = shapes;
  const width = ((shapes.to - shapes.from) / columns) * cell;
  const parts = [`Resolution ${duration(width)}`];
  if (cell > 1) parts.push(`${integer(totals.runsSent)} of ${plural(totals.runs, 'run')}, merged`);
  if (totals.bareRuns > 0)
    parts.push(
      `${integer(totals.bareRuns)} of ${plural(totals.runsSent, 'run')} without the time of their longest call`,
    );
  parts.push(`the calls of ${plural(shapes.calls.length, 'occurrence')} are here`);
  parts.push(`${plural(totals.trivialClusters, 'trivial behaviour')} (calls nothing) not drawn`);
  if (totals.rareClusters > 0)
    parts.push(`${integer(totals.rareClusters)} rarer than ${integer(totals.rareBelow)} not drawn`);
  if (totals.cutCalls > 0) parts.push(`${plural(totals.cutCalls, 'call')} cut by the edges`);
  if (totals.limitedCalls > 0)
    parts.push(`${plural(totals.limitedCalls, 'call')} beyond the limits of shapes`);
  if (totals.undrawn > 0)
    parts.push(
      `${plural(totals.undrawn, 'behaviour')} of little time on a thread not drawn: too many`,
    );
  if (totals.bareThreads > 0)
    parts.push(`${plural(totals.bareThreads, 'thread')} of few calls without ribbons here`);
  return parts.join('; ');
}

function Totals({ rows }: { rows: readonly PatternRow[] }): JSX.Element {
  const app = useApp();
  const isRare = usePart(s => s.patterns.isRare);
  const unpacked = usePart(s => s.unpacked);
  const { totals } = app.model.behaviours!.shapes;
  const n = rows.reduce((sum, row) => sum + (row.group?.threads.length ?? 1), 0);
  const groups = [...unpacked].filter(key => /^g\d+$/.test(key));
  return (
    <div class="totals">
      <span class="grow" title={leftOutWords(app)}>
        {integer(n)} of {plural(app.model.trace.threads.length, 'thread')} shown.{' '}
        {isRare && <b>Rare behaviours are favoured: pixels do not show shares of time. </b>}
        {leftOutWords(app)}.
        {groups.length > 0 && (
          <>
            {' '}
            <button class="link" onClick={() => groups.forEach(key => act.togglePack(app, key))}>
              pack alike threads
            </button>
          </>
        )}
      </span>
      <b>
        {plural(totals.shapes, 'shape')} {'\u2192'} {plural(totals.clusters, 'behaviour')}{' '}
        {'\u2192'} {plural(totals.ribbons, 'ribbon')}
      </b>
    </div>
  );
}

function Empty(): JSX.Element {
  const app = useApp();
  return (
    <p class="empty">
      {app.model.trace.threads.length > 0
        ? 'Every thread is hidden or filtered. '
        : 'This trace holds no call. '}
      <button
        class="link"
        onClick={() => {
          act.showAll(app);
          act.setQuery(app, '');
        }}
      >
        Show all
      </button>
    </p>
  );
}

const LISTED = ['epoch', 'only', 'sort', 'hidden', 'open', 'unpacked', 'isFiltered'] as const;
const PAINTED = ['window', 'query', 'isRegime', 'hasMarks', 'patterns', 'hidden'] as const;

export function PatternChart({ onReady }: { onReady: (stage: BaseStage) => void }): JSX.Element {
  return (
    <Frame<PatternRow, PatternStage>
      label="Behaviours over time"
      listLabel="Ribbons of all threads. Left and right walk in time, up and down between ribbons."
      heads={['behaviours', 'new \u00b7 left out']}
      make={(app, canvases) => new PatternStage(app, canvases)}
      bind={bindRuns}
      onKey={ribbonKey}
      painted={PAINTED}
      listed={LISTED}
      threadOf={(now, before) =>
        now.chosen && (now.chosen !== before.chosen || now.open !== before.open)
          ? now.chosen.at.thread
          : null
      }
      holds={(row, thread) =>
        row.thread?.index === thread || row.group?.threads.some(t => t.index === thread) === true
      }
      row={row => (
        <>
          {row.thread ? <ThreadLabel row={row} /> : <GroupLabel row={row} />}
          <Numbers row={row} />
        </>
      )}
      selected={() => <Selected />}
      totals={rows => <Totals rows={rows} />}
      empty={() => <Empty />}
      onReady={onReady}
    />
  );
}

/** Instead of the chart, if there is nothing to draw. */
export function NoPatterns(): JSX.Element {
  const { model, served } = useApp();
  const { shapes } = model.trace;
  if (served?.trace.calls === 0)
    return (
      <section class="chart none" aria-label="Behaviours over time">
        <NoCalls served={served} />
      </section>
    );
  return (
    <section class="chart none" aria-label="Behaviours over time">
      <p class="empty">
        {shapes ? whyNone(shapes) : 'This page was written without shapes.'}
        <br />
        {shapes ? 'What the trace holds of shapes, in words: ' : 'To have them, write it again: '}
        <Command
          text={
            shapes
              ? `weft shapes ${model.trace.name}`
              : `weft report ${model.trace.name} -o PAGE.html`
          }
        />
      </p>
    </section>
  );
}
