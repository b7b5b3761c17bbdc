// SPDX-License-Identifier: MIT
// Where B spends its time, against A: the differential flame graph.
import type { JSX } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import type { Pane } from '../../shared/draw/canvas';
import { ECCT_LEVEL } from '../../shared/draw/ecct';
import type { FrameLook } from '../../shared/draw/ecct';
import type { EcctNode, Flame } from '../../shared/lib/flame';
import { duration, integer, plural } from '../../shared/lib/format';
import { commonPrefix, plainName, splitName, stripPrefix } from '../../shared/lib/names';
import { Key, tipStyle } from '../../shared/views/parts';
import {
  contextOf,
  isUnsure,
  lastOf,
  pWords,
  signed,
  stepOf,
  valueWords,
  durationOf,
} from './data';
import type { Executions, Compared } from './data';
import { depthOf, diffTree, foldedNames, nodeAt, treeNode, widestOf, withoutWidth } from './flame';
import type { DiffTree } from './flame';
import { EcctBoxes } from '../../shared/views/ecct';
import { CompareContext, useCompare, useCompareState } from './group';
import type { Compare } from './state';

interface FlameScope {
  compare: Compare;
  executions: Executions;
  compared: Compared;
  diff: DiffTree;
}

/** The place of a box in the answer; -1: it has none. */
function placeAt({ diff }: FlameScope, at: number): number {
  return diff.placeOf[nodeAt(diff, at)] ?? -1;
}

function lookAt(pane: Pane, scope: FlameScope, at: number): FrameLook {
  const { steps } = pane.theme.diff;
  const place = placeAt(scope, at);
  const { kind } = scope.diff.nodes[scope.diff.tree.fn[at]!]!;
  const { self, sum } = scope.diff.tree;
  const look = {
    isThread: kind === 'thread',
    isBold: false,
    ground: steps[2]!,
    share: sum[at]! > 0 ? self[at]! / sum[at]! : 1,
  };
  if (place < 0) return { ...look, fill: steps[2]!, hatch: 'none' };
  const { compared, compare } = scope;
  const { statistic } = compare.state.get();
  const step = stepOf(compared.nodes, place, statistic, durationOf(compared)?.difference ?? 0);
  return {
    ...look,
    fill: steps[step]!,
    hatch: isUnsure(compared, place) ? 'unsure' : 'none',
    isBold: (step === 0 || step === 4) && look.share > 0.5,
  };
}

const VERB: Record<string, string> = {
  lock: 'for ',
};

/** A name from its plain form to what is read of it alone. */
function formsOf({ kind, name, wait = '' }: EcctNode, prefix: string): string[] {
  if (kind === 'thread') return [`continues in thread ${name}`, `in ${name}`, name];
  if (kind === 'state') return wait === '' ? [name] : [name, wait];
  if (kind !== 'function') return [`${VERB[kind]}${name}`];
  const plain = plainName(stripPrefix(name, prefix));
  const [scope, last] = splitName(plain);
  return scope === '' || last.startsWith('+0x') ? [plain] : [plain, last];
}

function labelsAt(scope: FlameScope, at: number, prefix: string): string[] {
  const forms = formsOf(scope.diff.nodes[scope.diff.tree.fn[at]!]!, prefix);
  const mean = duration(scope.diff.tree.sum[at]!);
  const place = placeAt(scope, at);
  const box = scope.diff.tree.fn[at]!;
  const own = scope.diff.difference[box]!;
  const { low, high } = scope.compared.nodes;
  const withAll = (rest: string): string[] => forms.map(words => `${words}  ${mean}${rest}`);
  const isOwn = scope.diff.tree.self[at]! > scope.diff.tree.sum[at]! / 2;
  if (own === 0 || !isOwn || place < 0 || isUnsure(scope.compared, place))
    return [...withAll(''), ...forms];
  const interval = `  95 % ${duration(low[place]!)} to ${duration(high[place]!)}`;
  return [
    ...(scope.diff.folded[box]! > 1 ? [] : withAll(`  ${signed(own)}${interval}`)),
    ...withAll(`  ${signed(own)}`),
    ...withAll(''),
    ...forms,
  ];
}

function NodeTip({
  scope,
  at,
  x,
  y,
}: {
  scope: FlameScope;
  at: number;
  x: number;
  y: number;
}): JSX.Element {
  const { diff, executions, compared } = scope;
  const box = diff.tree.fn[at]!;
  const many = diff.folded[box]! > 1;
  const id = nodeAt(diff, at);
  const place = placeAt(scope, at);
  const path = contextOf(executions, id);
  const { nodes } = compared;
  const rows: [string, string][] =
    place < 0
      ? []
      : [
          ['mean of A, own', duration(nodes.meanA[place]!)],
          ['mean of B, own', duration(nodes.meanB[place]!)],
          ['with all below, A', duration(nodes.totalA[place]!)],
          ['with all below, B', duration(nodes.totalB[place]!)],
          ['difference, own', signed(nodes.difference[place]!)],
          [
            '95 % interval',
            Number.isFinite(nodes.low[place]!)
              ? `${signed(nodes.low[place]!)} to ${signed(nodes.high[place]!)}`
              : 'too few executions',
          ],
          ['p, adjusted', pWords(nodes.pAdjusted[place]!)],
          ['effect size', valueWords(nodes.effect[place]!, 'number')],
          [
            'n that have it',
            `${integer(nodes.nA[place]!)} of ${integer(compared.nA)} in A, ${integer(nodes.nB[place]!)} of ${integer(compared.nB)} in B`,
          ],
        ];
  return (
    <div class="tip" role="tooltip" style={tipStyle({ x, y })}>
      <div class="line">
        <b class="grow cmp-tip-name">{plainName(diff.nodes[box]!.name)}</b>
        <b>{duration(diff.tree.sum[at]!)}</b>
      </div>
      <p class="remark">
        {foldedNames(path.slice(0, -1)).slice(-5).map(plainName).join(' \u203a ')}
        {place >= 0 && isUnsure(compared, place) && '; not significant'}
      </p>
      {many && (
        <p class="remark">
          No symbol names these {diff.folded[box]} contexts; of their own they differ by{' '}
          {signed(diff.difference[box]!)}. The one that differs most, {path.at(-1)?.name}:
        </p>
      )}
      <table>
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="num">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="keys">
        <Key>click</Key> select <Key>f</Key> focus <Key>Alt+A</Key> <Key>Alt+B</Key> filter by it
      </p>
    </div>
  );
}

function Legend(): JSX.Element {
  return (
    <span
      class="cmp-legend"
      aria-label="Colours: blue, B faster; orange, B slower; hatched, not sure"
    >
      <small>B faster</small>
      <span class="cmp-steps" aria-hidden="true">
        {[0, 1, 2, 3, 4].map(step => (
          <i key={step} class={`cmp-step${step}`} />
        ))}
      </span>
      <small>B slower</small>
      <span class="cmp-steps" aria-hidden="true">
        <i class="cmp-unsure" />
      </span>
      <small title="p, adjusted, is at least 0.05; or a group has less than 10 executions; or the interval holds 0">
        not sure
      </small>
    </span>
  );
}

function Context({ scope }: { scope: FlameScope }): JSX.Element | null {
  const { compare, executions, diff } = scope;
  const node = useCompareState(s => s.node);
  const by = useCompareState(s => s.by);
  const isEmpty = useCompareState(s => (s.by === 'b' ? s.compared?.nB : s.compared?.nA) === 0);
  if (node < 1 || isEmpty)
    return (
      <p class="cmp-selected remark">
        {!isEmpty &&
          `Click a box to ${compare.isFixed ? '' : 'filter by its time, or to '}focus it.`}
      </p>
    );
  const path = contextOf(executions, node);
  return (
    <p class="cmp-selected">
      <span class="grow" title={path.map(({ name }) => name).join(' \u203a ')}>
        {foldedNames(path).slice(-4).map(plainName).join(' \u203a ')}
        {!(diff.tree.sum[treeNode(diff, node)]! > 0) && (
          <>
            {' '}
            <small>
              of no width here: {by === 'b' ? 'only A has it' : 'only B has it'}{' '}
              <button class="link" onClick={() => compare.turnWidths()}>
                widths by {by === 'b' ? 'A' : 'B'}
              </button>
            </small>
          </>
        )}
      </span>
      <button class="link" onClick={() => compare.set({ focus: node })}>
        focus <Key>f</Key>
      </button>
      {!compare.isFixed && (
        <>
          <button class="link" onClick={() => compare.toggleChart(`#${node}`)}>
            its time as a chart
          </button>
          <button class="link" onClick={() => filterByNode(compare, 'a', node)}>
            filter A by it <Key>Alt+A</Key>
          </button>
          <button class="link" onClick={() => filterByNode(compare, 'b', node)}>
            filter B by it <Key>Alt+B</Key>
          </button>
        </>
      )}
    </p>
  );
}

/** Those that spend at least as much there as A and B do in the middle; and its chart, to change it. */
export function filterByNode(compare: Compare, side: 'a' | 'b', node: number): void {
  const { compared, charts } = compare.state.get();
  const place = compared?.nodes.node.indexOf(node) ?? -1;
  if (!compared || place < 0) return;
  const { totalA, totalB } = compared.nodes;
  const middle = Math.round((totalA[place]! + totalB[place]!) / 2);
  const isUpper = side === 'b' ? totalB[place]! >= totalA[place]! : totalA[place]! > totalB[place]!;
  if (!charts.includes(`#${node}`)) compare.toggleChart(`#${node}`);
  const [min, max] = isUpper ? [middle, Infinity] : [-Infinity, middle];
  compare.add(side, { kind: 'context', node, min, max });
}

/** Which levels are seen, of a tree that is higher than its place. */
function Levels({
  all,
  top,
  seen,
}: {
  all: number;
  top: number;
  seen: number;
}): JSX.Element | null {
  const first = Math.round(top / ECCT_LEVEL);
  const last = Math.min(all, Math.floor((top + seen) / ECCT_LEVEL));
  if (first === 0 && last >= all) return null;
  return (
    <small class="cmp-levels" title="Scroll for the others; f takes the selected box as the first">
      levels {first + 1}
      {'\u2013'}
      {last} of {all}
    </small>
  );
}

/** Why there is no tree, and how to have one. */
function NoBoxes({ one, other }: { one: string; other: string }): JSX.Element {
  const compare = useCompare();
  return (
    <p class="remark cmp-no-boxes">
      Nothing fulfils the conditions of {one}: drag over its histograms, or take one of its
      conditions away.
      {other !== '' && (
        <>
          {' '}
          <button class="link" onClick={() => compare.turnWidths()}>
            widths by {other}
          </button>{' '}
          shows where {other} spends its time.
        </>
      )}
    </p>
  );
}

export function CompareFlame({ scope, what }: { scope: FlameScope; what: string }): JSX.Element {
  const { compare, diff, compared, executions } = scope;
  const { panes } = useContext(CompareContext)!;
  const node = useCompareState(s => s.node);
  const focus = useCompareState(s => s.focus);
  useCompareState(s => s.statistic);
  const by = useCompareState(s => s.by);
  const lost = useMemo(() => withoutWidth(compared, by), [compared, by]);
  const levels = useMemo(() => depthOf(executions), [executions]);
  const prefix = useMemo(
    () =>
      commonPrefix(
        executions.frames.filter(({ kind }) => kind === 'function').map(({ name }) => name),
      ),
    [executions],
  );
  const widest = useMemo(() => widestOf(executions, diff, node), [executions, diff, node]);
  const own = durationOf(compared);
  const mean = (by === 'b' ? own?.meanB : own?.meanA) ?? 0;
  const [one, other] = by === 'b' ? ['B', 'A'] : ['A', 'B'];
  const [n, nOther] = by === 'b' ? [compared.nB, compared.nA] : [compared.nA, compared.nB];
  const remarkOf = (flame: Flame | null): string =>
    [
      n > 0
        ? `width: mean of ${one}; colour: exclusive difference B \u2212 A`
        : `widths are the means of ${one}`,
      lost.count > 0 &&
        `${plural(lost.count, 'context')} only ${other} has, ${duration(lost.ns)}: in the ranking`,
      flame && flame.merged > 0 && `${plural(flame.merged, 'node')} too narrow, merged`,
      prefix !== '' && `prefix \u201c${prefix}\u201d hidden`,
      `critical path of ${what}`,
    ]
      .filter(Boolean)
      .join('; ');
  return (
    <section class="cmp-flame" aria-label="Differential flame graph">
      <EcctBoxes
        panes={panes}
        tree={diff.tree}
        nameOf={at => diff.nodes[diff.tree.fn[at]!]!.name}
        lookOf={(pane, at) => lookAt(pane, scope, at)}
        labelsOf={at => labelsAt(scope, at, prefix)}
        selected={treeNode(diff, node)}
        inView={widest < 1 ? -1 : treeNode(diff, widest)}
        select={at => compare.set({ node: at < 0 ? -1 : nodeAt(diff, at) })}
        open={at => compare.set({ focus: nodeAt(diff, at) })}
        tip={(at, place) => <NodeTip scope={scope} at={at} {...place} />}
        kind="cmp"
        label="Differential flame graph; the ranked differences are the same as a table"
        levels={levels}
        height={160}
        head={(flame, top, seen) => (
          <>
            <span class="grow" title={remarkOf(flame)}>
              {n === 0
                ? `Group ${one} has no executions`
                : `Where ${one} spends its ${duration(mean)}${nOther > 0 ? `, against ${other}` : ''}`}{' '}
              <small>{remarkOf(flame)}</small>
            </span>
            <Levels all={flame?.levels ?? 0} top={top} seen={seen} />
            {focus > 0 && (
              <button
                class="crumb now"
                title={contextOf(executions, focus).at(-1)?.name}
                onClick={() => compare.set({ focus: -1 })}
              >
                focused: {lastOf(contextOf(executions, focus).at(-1)?.name ?? '')} {'\u00d7'}
              </button>
            )}
            {n > 0 && <Legend />}
          </>
        )}
      >
        {n === 0 && <NoBoxes one={one} other={nOther > 0 ? other : ''} />}
      </EcctBoxes>
      <Context scope={scope} />
    </section>
  );
}

export function useDiff(executions: Executions, compared: Compared | null): DiffTree | null {
  const focus = useCompareState(s => s.focus);
  const by = useCompareState(s => s.by);
  return useMemo(
    () => compared && diffTree(executions, compared, focus, by),
    [executions, compared, focus, by],
  );
}
