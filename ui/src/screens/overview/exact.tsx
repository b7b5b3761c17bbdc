// SPDX-License-Identifier: MIT
// The table "what each thread did then" of a served page: exact, ranked, each row open to its contexts.
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import {
  duration,
  exact as exactly,
  integer,
  percent,
  span as spanText,
} from '../../shared/lib/format';
import type { Span } from '../../shared/lib/model';
import { parseQuery, matchesName } from '../../shared/lib/search';
import * as act from '../../shared/state/actions';
import { shownThreads } from '../../shared/state/rows';
import type { Served } from '../../shared/state/served';
import { hueVar, SortHead } from '../../shared/views/parts';
import { useApp, useAtom, usePart } from '../../shared/views/use';
import { rank, sortRanked, summarizeExact, overviewOf } from './state';
import type { Context, Exact, Ranked, RankKey } from './state';
import { HueBar } from './bar';

const FIRST = 60;
/** The exact answer for `span` once it is there; null in a report, and until then. */
export function useExact(span: Span): { answer: Exact | null; trouble: string } {
  const own = overviewOf(useApp()).answers;
  if (!own) return { answer: null, trouble: '' }; // it never changes: the hooks below always run
  useAtom(own.arrived, n => n);
  useEffect(() => own.want(span), [own, span.t0, span.t1]);
  return { answer: own.get(span), trouble: own.troubleOf(span) };
}

function FnName({ fn }: { fn: number }): JSX.Element {
  const { served } = useApp();
  const { families, names } = served!;
  return (
    <span title={names.name[fn]}>
      <span class="swatch" style={{ background: hueVar(families.hue[fn]!) }} aria-hidden="true" />
      {families.short[fn]}
    </span>
  );
}

function Bar({ row, length }: { row: Ranked; length: number }): JSX.Element {
  const { families, names } = useApp().served!;
  const times = row.self.map(({ fn, ns }) => ({
    ns,
    hue: families.hue[fn]!,
    isWait: names.isWait[fn] === 1,
  }));
  return <HueBar times={times} rest={row.unlisted} length={length} />;
}

/** The calling contexts of a thread in the interval, as a tree of rows. */
function Contexts({ row, span }: { row: Ranked; span: Span }): JSX.Element {
  const own = overviewOf(useApp()).answers!;
  useAtom(own.arrived, n => n);
  useEffect(() => void own.open(span, row.of.thread).catch(() => undefined), [span.t0, span.t1]);
  const all = own.contextsOf(span, row.of.thread)?.contexts;
  const shown: readonly Context[] = all ?? row.of.contexts;
  const left = row.of.called - shown.reduce((sum, { self }) => sum + self, 0);
  return (
    <>
      {shown.slice(0, 400).map((context, i) => (
        <tr class="sub" key={i}>
          <td class="clip" colSpan={4} style={{ paddingLeft: `${12 + 10 * context.depth}px` }}>
            <FnName fn={context.fn} />
          </td>
          <td class="num">{integer(context.count)}</td>
          <td class="num key">{duration(context.sum)}</td>
          <td class="dim" colSpan={2}>
            {percent(context.sum / Math.max(1, span.t1 - span.t0))} of the interval, self{' '}
            {duration(context.self)}
          </td>
        </tr>
      ))}
      {(shown.length > 400 || !all || left > 0) && (
        <tr class="sub">
          <td class="dim" colSpan={8}>
            {shown.length > 400 && `400 of ${integer(shown.length)} contexts. `}
            {!all && `The rest is asked for: ${duration(Math.max(0, left))}.`}
          </td>
        </tr>
      )}
    </>
  );
}

function Row({
  row,
  length,
  isOpen,
  toggle,
}: {
  row: Ranked;
  length: number;
  isOpen: boolean;
  toggle: () => void;
}): JSX.Element {
  const { model } = useApp();
  const item = usePart(s => s.item);
  const thread = model.trace.threads[row.of.thread]!;
  const { top } = row.of;
  const none = row.of.noCall + row.of.outside;
  return (
    <tr class={item?.thread === thread.index ? 'now' : ''}>
      <th scope="row">
        <button class="row-link" aria-expanded={isOpen} title="Its contexts" onClick={toggle}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {thread.label}
        </button>
      </th>
      <td>{row.state}</td>
      <td class="num">{integer(row.of.calls)}</td>
      <td class="bars">
        <Bar row={row} length={length} />
      </td>
      <td class="clip">{top ? <FnName fn={top.fn} /> : <span class="dim">–</span>}</td>
      <td class="num key">{top ? duration(top.ns) : '–'}</td>
      <td
        class={none > 0 ? 'num' : 'num dim'}
        title={
          none > 0
            ? `${exactly(row.of.noCall)} between its calls, ${exactly(row.of.outside)} before its first or after its last`
            : ''
        }
      >
        {none > 0 ? duration(none) : '–'}
      </td>
      <td class="clip dim">
        {row.throughout ? (
          <>
            <FnName fn={row.throughout.fn} /> depth {row.throughout.depth}
          </>
        ) : (
          '–'
        )}
      </td>
    </tr>
  );
}

/** The function that the search names alone, or -1: threads are ranked by their time in it. */
function soughtFunction(served: Served, query: string): number {
  if (query.trim() === '') return -1;
  const parsed = parseQuery(query);
  if (!parsed.asksFunction || parsed.error) return -1;
  const found = served.names.name.flatMap((name, i) => (matchesName(parsed, name) ? [i] : []));
  return found.length === 1 ? found[0]! : -1;
}

export function ExactTable({ answer, what }: { answer: Exact; what: string }): JSX.Element {
  const app = useApp();
  const { model, state } = app;
  const served = app.served!;
  const [limit, setLimit] = useState(FIRST);
  const [sort, setSort] = useState<RankKey>('calls');
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const hidden = usePart(s => s.hidden);
  const isFiltered = usePart(s => s.isFiltered);
  const query = usePart(s => s.query);
  const fn = soughtFunction(served, query);
  const { span } = answer;
  const length = Math.max(1, span.t1 - span.t0);
  const all = useMemo(() => {
    const shown = new Set(shownThreads(model, state.get()).map(thread => thread.index));
    return answer.threads
      .filter(({ thread }) => shown.has(thread))
      .map(thread => rank(thread, span, served.names.isWait));
  }, [answer, model, hidden, isFiltered, isFiltered ? query : '']);
  const sorted = useMemo(() => sortRanked(all, sort, fn), [all, sort, fn]);
  const unlisted = Math.max(0, ...all.map(row => row.unlisted));
  const toggle = (thread: number): void => {
    const next = new Set(open);
    if (!next.delete(thread)) next.add(thread);
    setOpen(next);
  };
  const by =
    fn >= 0
      ? `most time in ${served.families.short[fn]} first`
      : {
          calls: 'most calls',
          top: 'longest self time',
          none: 'longest without a call',
          thread: 'threads',
        }[sort] + ' first';
  const head = (by: RankKey, name: string, kind: string): JSX.Element => (
    <SortHead name={name} now={by === sort} kind={kind} sort={() => setSort(by)} />
  );
  return (
    <div class="interval exact">
      <h2>
        {spanText(span.t0, span.t1)}: {what}{' '}
        <small>
          {summarizeExact(all)} Exact, calls cut at the borders.
          {fn >= 0 && unlisted > 0 && ' Ranked by the heaviest contexts of each thread.'}
        </small>
      </h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="What each thread did">
        <table class="fixed wide">
          <thead>
            <tr>
              {head('thread', 'Thread', 'c-thread')}
              <th scope="col" class="c-state">
                State
              </th>
              {head('calls', 'Calls', 'num c-calls')}
              <th scope="col" class="c-bar">
                Time by function ({duration(length)})
              </th>
              <th scope="col">Most self time in</th>
              {head('top', 'there', 'num c-time')}
              {head('none', 'no call', 'num c-time')}
              <th scope="col">On the stack throughout</th>
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, limit).map(row => (
              <>
                <Row
                  key={row.of.thread}
                  row={row}
                  length={length}
                  isOpen={open.has(row.of.thread)}
                  toggle={() => toggle(row.of.thread)}
                />
                {open.has(row.of.thread) && <Contexts row={row} span={span} />}
              </>
            ))}
          </tbody>
        </table>
        <p class="remark">
          {Math.min(limit, all.length)} of {all.length} shown, {by}.{' '}
          {all.length > limit && (
            <button class="link" onClick={() => setLimit(all.length)}>
              show all
            </button>
          )}{' '}
          {all.length < answer.threads.length && (
            <button class="link" onClick={() => act.showAll(app)}>
              {answer.threads.length - all.length} hidden
            </button>
          )}
        </p>
      </div>
    </div>
  );
}
