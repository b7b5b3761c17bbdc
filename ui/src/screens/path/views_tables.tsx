// SPDX-License-Identifier: MIT
// Sums of the paths, a column for each: by cause, by thread, by function, by lock.
import type { JSX } from 'preact';
import { duration, percent } from '../../shared/lib/format';
import { causesOf, placeSums } from '../../shared/lib/path';
import type { Cause, Path } from '../../shared/lib/path';
import { LongName } from '../../shared/views/longname';
import { usePaths, usePathState } from './views_use';
import { LookSwatch } from '../../shared/views/parts';

const MOST_ROWS = 40;
const NONE = '\u2013';

interface Row {
  key: string;
  head: JSX.Element;
  sums: number[];
}

/** Rows of all paths by key, those of most time in the path shown first. */
function merge(
  paths: (Path | null)[],
  now: number,
  rowsOf: (path: Path) => { key: string; head: JSX.Element; sum: number; isLast?: boolean }[],
): Row[] {
  const rows = new Map<string, Row & { isLast: boolean }>();
  paths.forEach((path, i) => {
    for (const { key, head, sum, isLast } of path ? rowsOf(path) : []) {
      let row = rows.get(key);
      if (!row)
        rows.set(key, (row = { key, head, sums: paths.map(() => 0), isLast: isLast ?? false }));
      row.sums[i]! += sum;
    }
  });
  const most = (row: Row): number => Math.max(...row.sums);
  return [...rows.values()].sort(
    (a, b) =>
      Number(a.isLast) - Number(b.isLast) ||
      b.sums[now]! - a.sums[now]! ||
      most(b) - most(a) ||
      (a.key < b.key ? -1 : 1),
  );
}

function SumTable({
  title,
  remark,
  rows,
}: {
  title: string;
  remark: string;
  rows: Row[];
}): JSX.Element {
  const asked = usePathState(s => s.asked);
  const now = usePathState(s => s.now);
  const isOne = asked.length === 1; // else each time has its share as a tool-tip
  const wholes = asked.map(({ pick: { span } }) => Math.max(1, span.t1 - span.t0));
  return (
    <section class="path-table" aria-label={title}>
      <h2>
        {title} <small>{remark}</small>
      </h2>
      <table class="fixed">
        <thead>
          <tr>
            <th scope="col">what</th>
            {asked.map((_, i) => (
              <th
                scope="col"
                key={i}
                class="num path-time"
                aria-sort={i === now ? 'descending' : undefined}
              >
                {asked.length > 1 ? `path ${i + 1}` : 'time'}
              </th>
            ))}
            {isOne && (
              <th scope="col" class="num path-share">
                share
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map(row => (
            <tr key={row.key}>
              <th scope="row" class="clip">
                {row.head}
              </th>
              {row.sums.map((sum, i) => (
                <td
                  key={i}
                  class={i === now ? 'num key' : 'num'}
                  data-ns={String(Math.round(sum))}
                  title={sum > 0 ? `${percent(sum / (wholes[i] ?? 1))} of path ${i + 1}` : ''}
                >
                  {sum > 0 ? duration(sum) : NONE}
                </td>
              ))}
              {isOne && (
                <td class="num dim">
                  {row.sums[0]! > 0 ? percent(row.sums[0]! / (wholes[0] ?? 1)) : NONE}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="remark">none</p>}
      {rows.length > MOST_ROWS && (
        <p class="remark">
          {MOST_ROWS} of {rows.length} shown, most time first
        </p>
      )}
    </section>
  );
}

function CauseHead({ cause }: { cause: Cause }): JSX.Element {
  return (
    <span class={cause.isUnexplained ? 'path-unexplained' : ''} title={cause.words}>
      <LookSwatch look={cause.look} letter={cause.letter} /> {cause.words}
    </span>
  );
}

export function PathTables(): JSX.Element {
  const paths = usePaths();
  const asked = usePathState(s => s.asked);
  const now = usePathState(s => s.now);
  const all = asked.map(({ path }) => path);
  const causes = merge(all, now, path =>
    causesOf(path).map(({ cause, sum }) => ({
      ...{ key: cause.key, head: <CauseHead cause={cause} />, sum, isLast: cause.isUnexplained },
    })),
  );
  const threads = merge(all, now, path =>
    path.threads.map(({ thread, sum }) => ({
      ...{
        key: String(thread),
        head: <span title={paths.nameOf(thread)}>{paths.nameOf(thread)}</span>,
        sum,
      },
    })),
  );
  const functions = merge(all, now, path =>
    placeSums(path).map(({ name, running, waiting }) => ({
      ...{ key: name, head: <LongName name={name} />, sum: running + waiting },
    })),
  );
  const locks = merge(all, now, path =>
    path.locks.map(({ name, edge, sum }) => ({
      ...{
        key: `${edge} ${name}`,
        head: <span title={`${edge} of ${name}`}>{`${edge} of ${name}`}</span>,
        sum,
      },
    })),
  );
  return (
    <div
      class="path-tables scroll"
      style={{ '--columns': Math.max(2, asked.length) }}
      tabIndex={0}
      role="region"
      aria-label="Sums of the paths"
    >
      <SumTable title="By cause" remark="unexplained is what nothing tells" rows={causes} />
      <SumTable title="By thread" remark="on whichever the path was" rows={threads} />
      <SumTable title="By function and span" remark="a span holds its functions" rows={functions} />
      <SumTable
        title="By lock and wake-up"
        remark="waits that the path went through"
        rows={locks}
      />
    </div>
  );
}
