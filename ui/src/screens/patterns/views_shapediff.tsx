// SPDX-License-Identifier: MIT
// Two shapes side by side: the matching pair, which says what would have to change to make one the
// other. A is blue, B is orange; signs say the same.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { integer, plural } from '../../shared/lib/format';
import { repeatText } from '../../shared/lib/shapes';
import type { App, Model } from '../../shared/state/app';
import { Command } from '../../shared/views/parts';
import { usePattern } from './views_use';
import { useApp } from '../../shared/views/use';
import {
  compareShapes,
  distanceText,
  missingBelow,
  NULL,
  repeatsDiffer,
  signOf,
} from './lib_shapediff';
import type { Difference, Match, Sign } from './lib_shapediff';
import * as pat from './state_patterns';
import { ShapeGlyph, ShapeSwatch } from './views_trees';

const MOST_PAIRS = 400;

const SIGNS: Record<Sign, [sign: string, word: string]> = {
  same: ['=', 'the same'],
  inside: ['\u2248', 'alike, differs below'],
  function: ['\u2260', 'another function'],
  onlyA: ['A', 'only in A'],
  onlyB: ['B', 'only in B'],
};

function Repeats({ edge, shape }: { edge: number; shape: number }): JSX.Element | null {
  const { shapes: table } = useApp().model.behaviours!.shapes;
  if (edge < 0) return null;
  const count = Math.max(1, table.count[shape]!);
  const [least, most] = [table.least[edge]!, table.most[edge]!];
  const text = repeatText({
    ...{ level: 0, shape: 0, least, most, more: 0, mean: table.sum[edge]! / count },
  });
  return <>{text || '\u00d71'}</>;
}

/** A side of a pair: its name at its level, and how often its caller calls it. */
function Side({
  match,
  side,
  parent,
}: {
  match: Match;
  side: 'a' | 'b';
  parent: number;
}): JSX.Element {
  const { model } = useApp();
  const table = model.behaviours!.shapes.shapes;
  const shape = match[side];
  const sign = signOf(table, match);
  const isAgain = side === 'a' ? match.isAgainA : match.isAgainB;
  const edge = side === 'a' ? match.edgeA : match.edgeB;
  const isOther = repeatsDiffer(table, match);
  const indent = { paddingLeft: `${match.level * 14}px` };
  if (shape === NULL)
    return (
      <>
        <td class="none">
          <span style={indent}>{'\u2013'}</span>
        </td>
        <td />
      </>
    );
  const isMarked = sign !== 'same' && sign !== 'inside';
  return (
    <>
      <td class={isMarked ? `side ${side}` : isAgain ? 'side dim' : 'side'}>
        <span
          style={indent}
          title={`${model.fullName(table.fn[shape]!)}, shape ${table.id[shape]}`}
        >
          <ShapeSwatch table={table} shape={shape} />
          {model.name(table.fn[shape]!)}
        </span>
        {isAgain && <small> again</small>}
      </td>
      <td class={isOther ? `times ${side}` : 'times dim'}>
        {(isOther || isMarked || table.most[edge]! > 1) && <Repeats edge={edge} shape={parent} />}
      </td>
    </>
  );
}

/** The shapes that call each pair: those of the last pair one level up. */
function parentsOf(matches: readonly Match[]): Match[] {
  const path: Match[] = [];
  return matches.map(match => {
    path[match.level] = match;
    return path[Math.max(0, match.level - 1)]!;
  });
}

function PairTable({ found }: { found: Difference }): JSX.Element {
  const { model } = useApp();
  const table = model.behaviours!.shapes.shapes;
  const parents = parentsOf(found.matches);
  return (
    <table class="diff">
      <thead>
        <tr>
          <th scope="col">A</th>
          <th scope="col" class="num">
            calls
          </th>
          <th scope="col" class="mid" colSpan={2}>
            distance
          </th>
          <th scope="col">B</th>
          <th scope="col" class="num">
            calls
          </th>
        </tr>
      </thead>
      <tbody>
        {found.matches.map((match, i) => {
          const sign = signOf(table, match);
          const [letter, word] = SIGNS[sign];
          const times = repeatsDiffer(table, match);
          return (
            <tr key={i} class={`${sign}${match.isCritical ? ' critical' : ''}`}>
              <Side match={match} side="a" parent={parents[i]!.a} />
              <td class="sign" title={`${word}${times ? '; called another number of times' : ''}`}>
                <b>{letter}</b>
                {times && <b> ×</b>}
                <span class="sr">{word}</span>
              </td>
              <td class="distance">
                {match.distance > 0 ? distanceText(match.distance) : ''}
                {match.isCritical ? ' *' : ''}
              </td>
              <Side match={match} side="b" parent={parents[i]!.b} />
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function countWords(app: App, { matches }: Difference): string {
  const table = app.model.behaviours!.shapes.shapes;
  const counts = { same: 0, inside: 0, function: 0, onlyA: 0, onlyB: 0 };
  let repeats = 0;
  for (const match of matches) {
    counts[signOf(table, match)]++;
    if (repeatsDiffer(table, match)) repeats++;
  }
  const parts = [
    counts.onlyA > 0 && `${integer(counts.onlyA)} only in A`,
    counts.onlyB > 0 && `${integer(counts.onlyB)} only in B`,
    counts.function > 0 && `${integer(counts.function)} with another function`,
    repeats > 0 && `${integer(repeats)} called another number of times (no distance)`,
    counts.same > 0 && `${integer(counts.same)} the same, not unfolded`,
  ];
  return parts.filter(Boolean).join(', ');
}

function Choice({ side }: { side: 'a' | 'b' }): JSX.Element {
  const app = useApp();
  const shape = usePattern(s => s[side]);
  const table = app.model.behaviours!.shapes.shapes;
  const letter = side.toUpperCase();
  if (shape < 0)
    return (
      <span class={`choice ${side}`}>
        <b class="letter">{letter}</b>
        <span class="dim">
          none yet: select a behaviour, then <kbd>Alt+{letter}</kbd>
        </span>
      </span>
    );
  return (
    <span class={`choice ${side}`}>
      <b class="letter">{letter}</b>
      <button
        class="row-link"
        title={app.model.fullName(table.fn[shape]!)}
        onClick={() => pat.pickShape(app, shape)}
      >
        <ShapeSwatch table={table} shape={shape} />
        <span>
          {pat.shapeTitle(app.model, shape)}{' '}
          <small>
            shape {table.id[shape]}, {plural(table.count[shape]!, 'call')}
          </small>
        </span>
      </button>
      <button
        class="link"
        aria-label={`Clear ${letter}`}
        onClick={() => pat.put(app, { [side]: -1 })}
      >
        ×
      </button>
    </span>
  );
}

/** With one side chosen: shapes to compare it with. */
function Nearest({ shape, other }: { shape: number; other: 'a' | 'b' }): JSX.Element {
  const app = useApp();
  const table = app.model.behaviours!.shapes.shapes;
  const near = useMemo(() => pat.nearTo(app.model, shape), [shape]);
  if (near.length === 0)
    return (
      <p class="remark">
        No other shape of its function in this page is within 2. Choose {other.toUpperCase()} in the
        table of behaviours.
      </p>
    );
  return (
    <>
      <h3>
        Nearest shapes of the same function <small>click: compare</small>
      </h3>
      <ul class="near">
        {near.slice(0, 40).map(({ shape: one, distance }) => (
          <li key={one}>
            <button class="plain" onClick={() => pat.setSide(app, other, one)}>
              <ShapeGlyph shape={one} width={54} height={28} />
              <small>
                {distanceText(distance)} · shape {table.id[one]} · {integer(table.count[one]!)}
              </small>
            </button>
          </li>
        ))}
      </ul>
      {near.length > 40 && <p class="remark">40 of {integer(near.length)} shown.</p>}
    </>
  );
}

function Compared({ a, b }: { a: number; b: number }): JSX.Element {
  const app = useApp();
  const { model } = app;
  const table = model.behaviours!.shapes.shapes;
  const found = useMemo(
    () => compareShapes(table, pat.metricOf(model), a, b, MOST_PAIRS),
    [a, b, table],
  );
  const command = (
    <Command text={`weft shapes --diff ${table.id[a]} ${table.id[b]} ${model.trace.name}`} />
  );
  if (!found) return <p class="remark">These shapes are too large to compare here. {command}</p>;
  return (
    <>
      <PairTable found={found} />
      <p class="remark">
        {a === b ? 'It is the same shape.' : `* makes up the distance. ${countWords(app, found)}.`}
        {found.isCut && ` Cut after ${integer(MOST_PAIRS)} pairs.`}
        {found.missing > 0 &&
          ` ${plural(found.missing, 'callee')} of these shapes ${found.missing === 1 ? 'is' : 'are'} not in this page, so the distance is of what is here; exact:`}
      </p>
      {(found.missing > 0 || found.isCut) && command}
    </>
  );
}

/** The distance; of shapes that are not wholly in the page it is not known. */
function apart(model: Model, a: number, b: number): string {
  const table = model.behaviours!.shapes.shapes;
  const distance = pat.metricOf(model).distance(a, b);
  if (distance === null) return '';
  const isWhole = missingBelow(table, a) + missingBelow(table, b) === 0;
  return isWhole ? `${distanceText(distance)} apart` : 'distance not known here';
}

export function DiffTab(): JSX.Element {
  const app = useApp();
  const a = usePattern(s => s.a);
  const b = usePattern(s => s.b);
  const { model } = app;
  const words = useMemo(() => (a >= 0 && b >= 0 ? apart(model, a, b) : ''), [a, b, model]);
  return (
    <div class="scroll diff-tab" tabIndex={0} role="region" aria-label="Two shapes compared">
      <div class="choices">
        <Choice side="a" />
        <span class="between">
          {words && <b title="1 for another function, ½ for one that is missing">{words}</b>}
          {(a >= 0 || b >= 0) && (
            <button class="link" onClick={() => pat.swapSides(app)}>
              swap
            </button>
          )}
        </span>
        <Choice side="b" />
      </div>
      {a >= 0 && b >= 0 ? (
        <Compared a={a} b={b} />
      ) : a >= 0 || b >= 0 ? (
        <Nearest shape={a >= 0 ? a : b} other={a >= 0 ? 'b' : 'a'} />
      ) : (
        <p class="remark">
          Select a behaviour, an occurrence, or one of the shapes in the left pane, and make it A or
          B; then the callees of both stand side by side, each beside the one that is nearest to it.
        </p>
      )}
    </div>
  );
}
