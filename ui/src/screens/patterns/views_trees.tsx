// SPDX-License-Identifier: MIT
// Drawings of shapes and of calls: indented trees, icicles, small glyphs.
import type { JSX } from 'preact';
import { duration, exact, integer, percent, plural } from '../../shared/lib/format';
import { repeatText, treeLines } from '../../shared/lib/shapes';
import type { Calls, ShapeTable } from '../../shared/lib/shapes';
import { hueVar } from '../../shared/views/parts';
import { useApp } from '../../shared/views/use';

const LINES = 160;
const LEVEL = 16;
const DEEPEST = 40;

/** A swatch in the hue of a shape's behaviour; hollow for those that are none. */
export function ShapeSwatch({ table, shape }: { table: ShapeTable; shape: number }): JSX.Element {
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
