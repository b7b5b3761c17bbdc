// SPDX-License-Identifier: MIT
// The calls of one occurrence, as a server has them: all, or the longest that can be drawn.
import type { JSX } from 'preact';
import { useEffect, useState, useMemo } from 'preact/hooks';
import type { CallsColumns } from '../../gen/tables';
import { tableOf } from '../../shared/api/columns';
import { unlessSuperseded } from '../../shared/api/source';
import { duration, exact, integer, percent, plural } from '../../shared/lib/format';
import { callsOf, repeatText, treeLines } from '../../shared/lib/shapes';
import type { Calls, ShapeTable } from '../../shared/lib/shapes';
import type { App, Model } from '../../shared/state/app';
import { hueVar, Command } from '../../shared/views/parts';
import { useApp } from '../../shared/views/use';
import {
  compareShapes,
  distanceText,
  missingBelow,
  NULL,
  repeatsDiffer,
  signOf,
} from './shapediff';
import type { Difference, Match, Sign } from './shapediff';
import { usePattern } from './spread';
import * as pat from './state';
import type { Chosen } from './state';

/** Calls in pre-order by start: of one thread, with what lies around them. */
interface CallRows {
  start: Float64Array;
  end: Float64Array;
  depth: Uint16Array;
  /** Function by index of the page's table, -1: not in it. */
  fn: Int32Array;
}

/** The call from `start` to `end` of function `fn`, and its first row behind; null: it is not there. */
function rangeOf(rows: CallRows, start: number, end: number, fn: number): [number, number] | null {
  const n = rows.start.length;
  for (let i = 0; i < n; i++) {
    if (rows.start[i] !== start || rows.end[i] !== end || rows.fn[i] !== fn) continue;
    let to = i + 1;
    while (to < n && rows.depth[to]! > rows.depth[i]!) to++;
    return [i, to];
  }
  return null;
}

/** Of more than `most` calls the longest: a caller is never shorter than its callees, and stands
 * before them, so that none is left without its caller. O(n log n). */
function longest(rows: CallRows, from: number, to: number, most: number): number[] {
  const all = Array.from({ length: to - from }, (_, i) => from + i);
  if (all.length <= most) return all;
  const length = (i: number): number => rows.end[i]! - rows.start[i]!;
  all.sort((a, b) => length(b) - length(a) || rows.depth[a]! - rows.depth[b]! || a - b);
  return all.slice(0, most).sort((a, b) => a - b);
}

/** `all`: how many calls the occurrence has, if the rows are not all of them. */
export function callTree(
  rows: CallRows,
  start: number,
  end: number,
  fn: number,
  most: number,
): Calls | null {
  const range = rangeOf(rows, start, end, fn);
  if (!range) return null;
  const list = longest(rows, range[0], range[1], most);
  const root = rows.depth[range[0]]!;
  return {
    all: range[1] - range[0],
    n: list.length,
    level: Uint16Array.from(list, i => rows.depth[i]! - root),
    fn: Int32Array.from(list, i => rows.fn[i]!),
    start: Float64Array.from(list, i => rows.start[i]!),
    end: Float64Array.from(list, i => rows.end[i]!),
  };
}

/* ---- The calls of the chosen occurrence: from the page's data, or, on a served page, of its server. ---- */

const REST_MS = 120;
const ASKED = 100000; // calls of one occurrence
const DRAWN = 1500;

interface OccurrenceCalls {
  calls: Calls | null;
  /** What the page says meanwhile, or why there are none. */
  word: string;
}

async function ask(app: App, chosen: Chosen): Promise<Calls | null> {
  const { source } = app.served!;
  const { thread, start, end } = chosen.at;
  const params = { thread, from: start, to: Math.max(end, start + 1), limit: ASKED };
  const answer = await source.columns('subtree', params, 'subtree');
  const { functions } = app.model.trace;
  const indexOf = new Map(functions.id.map((id, i) => [id, i]));
  const call = tableOf<CallsColumns>(answer, 'calls');
  const ids = call('function');
  const rows = {
    start: call('start_ns'),
    end: call('end_ns'),
    depth: call('depth'),
    fn: Int32Array.from(ids, id => indexOf.get(id) ?? -1),
  };
  const fn = app.model.behaviours!.list[chosen.cluster]!.cluster.fn;
  return callTree(rows, start, end, fn, DRAWN);
}

/** Asks when `chosen` rests; what the page has itself is there at once. */
export function useOccurrence(chosen: Chosen | null): OccurrenceCalls {
  const app = useApp();
  const [got, setGot] = useState<{ of: Chosen; calls: Calls | null; word: string } | null>(null);
  const isExact = chosen !== null && chosen.how !== 'columns';
  const { behaviours } = app.model;
  const own = isExact && behaviours ? callsOf(behaviours.shapes, chosen.cluster, chosen.at) : null;
  const isAsked = isExact && !!app.served && (!own || own.n < own.all);
  useEffect(() => {
    if (!isAsked) return undefined;
    const run = async (): Promise<void> => {
      const calls = await ask(app, chosen);
      setGot({ of: chosen, calls, word: calls ? '' : 'The server has no such call.' });
    };
    const fail = (error: unknown): void =>
      setGot({ of: chosen, calls: null, word: error instanceof Error ? error.message : '' });
    const timer = setTimeout(() => void unlessSuperseded(run()).catch(fail), REST_MS);
    return () => clearTimeout(timer);
  }, [isAsked, chosen]);
  if (!isAsked) return { calls: own, word: '' };
  if (got?.of === chosen) return { calls: got.calls ?? own, word: got.word };
  return { calls: own, word: 'Its calls are asked for.' };
}

/* ---- Drawings of shapes and of calls: indented trees, icicles, small glyphs. ---- */

const LINES = 160;
const LEVEL = 16;
const DEEPEST = 40;

/** A swatch in the hue of a shape's behaviour; hollow for those that are none. */
function ShapeSwatch({ table, shape }: { table: ShapeTable; shape: number }): JSX.Element {
  const { behaviours } = useApp().model;
  const own = behaviours?.list[table.cluster[shape]!];
  return own ? (
    <span class="swatch" style={{ background: hueVar(own.hue) }} aria-hidden="true" />
  ) : (
    <span class="swatch hollow" aria-hidden="true" />
  );
}

/** A shape as an indented tree with how often each child is repeated. */
export function ShapeTree({
  shape,
  limit = LINES,
}: {
  shape: number;
  limit?: number;
}): JSX.Element {
  const { model } = useApp();
  const table = model.behaviours!.shapes.shapes;
  return (
    <ul class="tree">
      {treeLines(table, shape, limit).map((line, i) => (
        <li key={i} style={{ paddingLeft: `${line.level * 14}px` }}>
          {line.shape < 0 ? (
            <span class="dim">{line.more} more</span>
          ) : (
            <>
              <ShapeSwatch table={table} shape={line.shape} />
              <span
                title={`${model.fullName(table.fn[line.shape]!)}, shape ${table.id[line.shape]}`}
              >
                {model.name(table.fn[line.shape]!)}
              </span>{' '}
              <span class="dim">{repeatText(line)}</span>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** A shape in a few pixels: depth downwards, children side by side; names on hover. */
export function ShapeGlyph({
  shape,
  width,
  height,
}: {
  shape: number;
  width: number;
  height: number;
}): JSX.Element {
  const { model } = useApp();
  const { list, shapes } = model.behaviours!;
  const table = shapes.shapes;
  const boxes: JSX.Element[] = [];
  const level = 7;
  const visit = (s: number, x: number, w: number, depth: number): void => {
    const y = depth * level;
    if (y + level > height || w < 2 || boxes.length > 120) return;
    const own = list[table.cluster[s]!];
    boxes.push(
      <rect
        x={x}
        y={y}
        width={Math.max(1, w - 1)}
        height={level - 1}
        fill={own ? hueVar(own.hue) : 'var(--other)'}
        stroke="var(--edge)"
        stroke-width="0.5"
      >
        <title>{`${model.name(table.fn[s]!)}, shape ${table.id[s]}`}</title>
      </rect>,
    );
    const [from, to] = [table.kidsFrom[s]!, table.kidsFrom[s + 1]!];
    for (let e = from; e < to; e++)
      visit(table.kid[e]!, x + (w * (e - from)) / (to - from), w / (to - from), depth + 1);
  };
  visit(shape, 0, width, 0);
  return (
    <svg
      class="shape-glyph"
      width={width}
      height={height}
      role="img"
      aria-label={`shape of ${model.name(table.fn[shape]!)}`}
    >
      {boxes}
    </svg>
  );
}

interface Box {
  i: number;
  x0: number;
  x1: number;
}

/** Shares of the width: by time, or each call without callees as wide as the others. */
function boxesOf(tree: Calls, byTime: boolean): Box[] {
  const [from, span] = [tree.start[0] ?? 0, Math.max(1, (tree.end[0] ?? 1) - (tree.start[0] ?? 0))];
  if (byTime)
    return Array.from({ length: tree.n }, (_, i) => ({
      i,
      x0: (tree.start[i]! - from) / span,
      x1: (tree.end[i]! - from) / span,
    }));
  const leaves = new Array<number>(tree.n + 1).fill(0);
  const isLeaf = (i: number): boolean => i + 1 >= tree.n || tree.level[i + 1]! <= tree.level[i]!;
  for (let i = 0; i < tree.n; i++) leaves[i + 1] = leaves[i]! + (isLeaf(i) ? 1 : 0);
  const all = Math.max(1, leaves[tree.n]!);
  return Array.from({ length: tree.n }, (_, i) => {
    let end = i + 1;
    while (end < tree.n && tree.level[end]! > tree.level[i]!) end++;
    return { i, x0: leaves[i]! / all, x1: leaves[end]! / all };
  });
}

/** The calls of an occurrence as an icicle, in the order of events or in time. */
export function CallIcicle({
  tree,
  hue,
  byTime,
}: {
  tree: Calls;
  hue: number;
  byTime: boolean;
}): JSX.Element {
  const { model } = useApp();
  const deepest = Math.min(
    DEEPEST,
    tree.level.reduce((most, l) => Math.max(most, l), 0),
  );
  const whole = Math.max(1, tree.end[0]! - tree.start[0]!);
  const isWait = (fn: number): boolean => fn >= 0 && model.trace.functions.isWait[fn] === 1;
  return (
    <div>
      <div class="icicle" style={{ height: `${(deepest + 1) * LEVEL}px` }} role="list">
        {boxesOf(tree, byTime).map(({ i, x0, x1 }) => {
          if (tree.level[i]! > DEEPEST) return null;
          const length = tree.end[i]! - tree.start[i]!;
          const name = model.name(tree.fn[i]!);
          const say = `${name}, ${duration(length)}, ${percent(length / whole)}, starts ${exact(tree.start[i]! - tree.start[0]!)} in`;
          const isWide = x1 - x0 > 0.04;
          return (
            <span
              key={i}
              role="listitem"
              class={isWait(tree.fn[i]!) ? 'wait' : i === 0 ? 'root' : ''}
              title={say}
              style={{
                left: `${x0 * 100}%`,
                width: `max(1px, ${(x1 - x0) * 100}%)`,
                top: `${tree.level[i]! * LEVEL}px`,
                ...(i === 0 ? { background: hueVar(hue), color: `var(--on-h${hue + 1})` } : {}),
              }}
            >
              {isWide && <i>{`${name}\u2002${duration(length)}`}</i>}
            </span>
          );
        })}
      </div>
      <p class="remark">
        {byTime ? 'In time.' : 'In the order of events; widths say nothing of time.'}{' '}
        {tree.n < tree.all
          ? `The ${integer(tree.n)} longest of ${plural(tree.all, 'call')}; ${integer(tree.all - tree.n)} shorter ones are not here.`
          : `All ${plural(tree.all, 'call')}.`}
      </p>
    </div>
  );
}

/* ---- Two shapes side by side: the matching pair, which says what would have to change to make one the
 * other. A is blue, B is orange; signs say the same. ---- */

const MOST_PAIRS = 400;

const SIGNS: Record<Sign, [sign: string, word: string]> = {
  same: ['=', 'the same'],
  inside: ['\u2248', 'similar, differs below'],
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
    level: 0,
    shape: 0,
    least,
    most,
    more: 0,
    mean: table.sum[edge]! / count,
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
