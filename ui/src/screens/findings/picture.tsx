// SPDX-License-Identifier: MIT
// The pictures of a card: how much longer the slow executions are and which part of that lies here;
// and the worst one, with the threads that it waited for.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { exact } from '../../shared/lib/format';
import { nanoseconds, share as shareWords } from '../../shared/lib/numbers';
import { LOOK } from '../../shared/lib/states';
import { hatchOf, lookVar, LookSwatch } from '../../shared/views/parts';
import { useAtom } from '../../shared/views/use';
import { budgetOf, lookOfKind, stripOf, wholeOf } from './state';
import type { Diagnosis, Finding, Findings, KindLook, StripRow } from './state';

const percentOf = (part: number): string => `${Math.round(part * 1e5) / 1e3}%`;

/* ---- what all the time went to ---- */

export function Budget({ diagnosis }: { diagnosis: Diagnosis }): JSX.Element | null {
  const parts = budgetOf(diagnosis);
  const first = diagnosis.findings[0];
  if (!first || parts.length === 0) return null;
  const named = parts.map(({ finding, share }) => {
    const own = diagnosis.findings[finding];
    const look = own ? lookOfKind(own) : null;
    const words = own && look ? `${finding + 1} ${look.words}` : 'all else';
    return { finding, share, look, words: `${words} ${shareWords(share)}` };
  });
  return (
    <div class="fnd-budget">
      <div
        class="fnd-bar"
        role="img"
        aria-label={`${wholeOf(first)}: ${named.map(({ words }) => words).join(', ')}`}
      >
        {named.map(({ finding, share, look, words }) => (
          <i
            key={finding}
            class={look ? hatchOf(look.look) : 'rest'}
            style={{ width: percentOf(share), ...(look ? { background: lookVar(look.look) } : {}) }}
            title={words}
          />
        ))}
      </div>
      <p class="fnd-legend">
        {named.map(({ finding, look, words }) => (
          <span key={finding}>
            {look ? (
              <LookSwatch look={look.look} letter={look.letter} />
            ) : (
              <span class="fnd-rest" aria-hidden="true" />
            )}
            {words}
          </span>
        ))}
      </p>
    </div>
  );
}

/* ---- usual and slow ---- */

interface Bar {
  label: string;
  ns: number;
  here: number;
}

function barsOf(finding: Finding): Bar[] {
  const { isPath, costNs, costShare, usualNs, usualHereNs, slowNs, slowHereNs } = finding;
  if (isPath) {
    const whole = costShare > 0 ? costNs / costShare : costNs;
    return [{ label: 'path', ns: whole, here: costNs }];
  }
  return [
    { label: 'usual', ns: usualNs, here: Math.min(usualNs, usualHereNs) },
    { label: 'slow', ns: slowNs, here: Math.min(slowNs, slowHereNs) },
  ];
}

export function Bars({ finding }: { finding: Finding }): JSX.Element | null {
  if (finding.shareOf !== '') return null; // nothing is compared
  const bars = barsOf(finding);
  const most = Math.max(1, ...bars.map(({ ns }) => ns));
  const { look, letter, words } = lookOfKind(finding);
  const said = bars.map(
    ({ label, ns, here }) =>
      `${label} ${nanoseconds(Math.round(ns))}, of it here ${nanoseconds(Math.round(here))}`,
  );
  return (
    <figure class="fnd-bars" role="img" aria-label={said.join('; ')}>
      <figcaption>
        {finding.isPath ? 'The critical path' : 'Duration of usual and of slow executions'};{' '}
        <LookSwatch look={look} letter={letter} />
        {words}
      </figcaption>
      {bars.map(({ label, ns, here }) => (
        <div class="fnd-bar-row" key={label}>
          <span>{label}</span>
          <span class="fnd-track">
            <span class="fnd-whole" style={{ width: percentOf(ns / most) }}>
              <i
                class={hatchOf(look)}
                style={{ width: percentOf(ns > 0 ? here / ns : 0), background: lookVar(look) }}
              />
            </span>
          </span>
          <b class="num">{nanoseconds(Math.round(ns))}</b>
        </div>
      ))}
    </figure>
  );
}

/* ---- the worst execution ---- */

function Rows({ findings, rows }: { findings: Findings; rows: StripRow[] }): JSX.Element {
  return (
    <>
      {rows.map(({ thread, parts }) => {
        const own = findings.served.threads[thread];
        const name = own ? `${own.name} ${own.label}`.trim() : 'a thread';
        return (
          <div class="fnd-strip-row" key={thread}>
            <span title={name}>{name}</span>
            <span class="fnd-lane">
              {parts.map(({ from, to, look, words }, i) => (
                <i
                  key={i}
                  class={hatchOf(look)}
                  title={words}
                  style={{
                    left: percentOf(from),
                    width: percentOf(to - from),
                    background: lookVar(look),
                  }}
                />
              ))}
            </span>
          </div>
        );
      })}
    </>
  );
}

/** How the execution's own thread looks while another has to do something first. */
function waitOf(finding: Finding): KindLook {
  const own = lookOfKind(finding);
  const isWait = own.look !== LOOK.RUN && own.look !== LOOK.READY;
  return isWait ? own : { words: 'waiting for another thread', look: LOOK.UNKNOWN, letter: '' };
}

const WORST: Record<string, string> = {
  thundering_herd: 'The costliest broadcast',
  load_imbalance: 'The longest wait',
};

export function WorstStrip({
  findings,
  index,
}: {
  findings: Findings;
  index: number;
}): JSX.Element | null {
  const path = useAtom(findings.state, s => s.paths.get(index));
  const finding = findings.state.get().diagnosis?.findings[index];
  const hasWorst = findings.hasWorst(index);
  useEffect(() => {
    if (hasWorst) findings.askPath(index);
  }, [index, hasWorst]);
  if (!finding || !hasWorst) return null;
  const { t0, t1 } = finding.worst.span;
  const rows = path ? stripOf(path, waitOf(finding)) : [];
  const what = WORST[finding.kind] ?? (finding.isPath ? 'The thread' : 'The worst execution');
  return (
    <figure class="fnd-strip">
      <figcaption>
        {what}: {nanoseconds(t1 - t0)} from {exact(t0)}, and the threads that it depended on
      </figcaption>
      <Rows findings={findings} rows={rows} />
    </figure>
  );
}
