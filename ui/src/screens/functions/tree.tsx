// SPDX-License-Identifier: MIT
// Where the time of the part at hand goes: flame graph, call tree, and sandwich of the selected
// function; each transform of the tree is a chip that can be taken away.
import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { hitFlame, LEVEL, paintFlame } from '../../shared/draw/flame';
import type { FlamePart } from '../../shared/draw/flame';
import { layoutFlame } from '../../shared/lib/flame';
import type { Box, Flame } from '../../shared/lib/flame';
import { duration, integer, percent, plural } from '../../shared/lib/format';
import { matchesName, parseQuery } from '../../shared/lib/search';
import { childrenByName, childrenOf, pathOf, writePath } from '../../shared/lib/tree';
import type { CallTree, TransformKind } from '../../shared/lib/tree';
import { copyText, Key, Gap, Ns, useRowsInView, Heads } from '../../shared/views/parts';
import { usePart } from '../../shared/views/use';
import { openRows } from './calltree';
import type { TreeView } from './calltree';
import { Choice, FnSwatch, useCanvas, useFunctions, useScreen, useServed, Waiting } from './scope';

/* ---- keys ------------------------------------------------------------------------------------ */

/** A key of the tree; true: it was one. */
export function treeKey(view: TreeView, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const { screen } = view;
  const { path, pane } = screen.state.get();
  const isTable = pane === 'tree';
  const node = view.node();
  const tree = view.now()?.tree;
  const hasBelow = tree !== undefined && node >= 0 && tree.next[node]! > node + 1;
  const isOpen = tree !== undefined && view.opened(tree).has(writePath(path));
  const steps: Record<string, () => void> = {
    s: () => screen.set({ pane: pane === 'sandwich' ? 'flame' : 'sandwich' }),
    y: () => void copyText(view.stackText()),
    '*': () => {
      screen.set({ pane: 'tree' });
      view.open(path, true, true);
    },
    ...(isTable ? tableSteps(view, hasBelow, isOpen) : flameSteps(view)),
  };
  for (const kind of ['m', 'M', 'f', 'F', 'c', 'C', 'd', 'r', 'i'] as const)
    steps[kind] = () => view.transform(kind);
  const step = steps[event.key];
  step?.();
  return step !== undefined;
}

function flameSteps(view: TreeView): Record<string, () => void> {
  return {
    ArrowDown: () => view.walk('down', null),
    ArrowUp: () => view.walk('up', null),
    ArrowLeft: () => view.walk('left', null),
    ArrowRight: () => view.walk('right', null),
    Enter: () => view.transform('F'),
  };
}

function tableSteps(
  view: TreeView,
  hasBelow: boolean,
  isOpen: boolean,
): Record<string, () => void> {
  const { path } = view.screen.state.get();
  return {
    ArrowDown: () => stepRow(view, 1),
    ArrowUp: () => stepRow(view, -1),
    ArrowRight: () => (hasBelow && !isOpen ? view.open(path, true) : view.walk('down', null)),
    ArrowLeft: () => (isOpen ? view.open(path, false) : view.walk('up', null)),
    Enter: () => view.transform('F'),
  };
}

function rowsOf(view: TreeView, tree: CallTree): ReturnType<typeof openRows> {
  const { order } = view.screen.state.get();
  return openRows(tree, view.opened(tree), node =>
    order === 'name' ? childrenByName(tree, node, view.nameOf) : childrenOf(tree, node),
  );
}

function stepRow(view: TreeView, by: 1 | -1): void {
  const tree = view.now()?.tree;
  if (!tree) return;
  const rows = rowsOf(view, tree);
  const at = rows.findIndex(row => row.node === view.node());
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
  if (next) view.select(tree, next.node);
}

/* ---- chips and tools ------------------------------------------------------------------------- */

const VERBS: readonly [TransformKind, string, string][] = [
  ['m', 'merge', 'Its callers take its time, everywhere (m); M: only this node'],
  ['f', 'focus', 'Only what runs inside this function (f); F, Enter: only this node'],
  ['c', 'collapse', 'It takes the time of all that it calls (c); C: its library or family'],
  ['d', 'drop', 'Without the calls of this function (d)'],
  ['r', 'recursion', 'Its calls from inside itself count as the outermost (r)'],
  ['i', 'invert', 'Self time first, callers below (i)'],
];

function Chips(): JSX.Element {
  const { view } = useFunctions();
  const transforms = useScreen(s => s.transforms);
  useScreen(s => s.answers.tree.value);
  const made = view.now();
  return (
    <span class="chips" role="group" aria-label="Transforms of the call tree">
      {transforms.map((transform, i) => {
        const isIdle = made !== null && made.hasEffect[i] === false;
        return (
          <button
            key={i}
            class={isIdle ? 'crumb' : 'crumb now'}
            title={isIdle ? 'Without effect: it is not in this tree. Take it away' : 'Take it away'}
            onClick={() => view.remove(i)}
          >
            {view.words(transform)}
            {isIdle && ' (no effect)'} {'\u00d7'}
          </button>
        );
      })}
    </span>
  );
}

function TreeTools(): JSX.Element {
  const { screen, view } = useFunctions();
  const pane = useScreen(s => s.pane);
  const order = useScreen(s => s.order);
  return (
    <div class="tools">
      <Choice
        label="Drawn as"
        options={[
          ['flame', 'Flame graph'],
          ['tree', 'Call tree'],
          ['sandwich', 'Sandwich'],
        ]}
        value={pane}
        choose={key => screen.set({ pane: key })}
      />
      <Choice
        label="Order of siblings"
        options={[
          ['name', 'by name'],
          ['time', 'by time'],
        ]}
        value={order}
        choose={key => screen.set({ order: key })}
      />
      <span class="verbs" role="group" aria-label="Transform the tree">
        {VERBS.map(([kind, word, what]) => (
          <button key={kind} class="plain" title={what} onClick={() => view.transform(kind)}>
            <Key>{kind}</Key> {word}
          </button>
        ))}
      </span>
      <Chips />
    </div>
  );
}

/* ---- flame graph and sandwich ---------------------------------------------------------------- */

interface Placed {
  parts: FlamePart[];
  height: number;
  flames: Flame[];
}

const PAD = 4;

function placeFlame(tree: CallTree, flame: Flame): Placed {
  const parts: FlamePart[] = [{ tree, flame, top: PAD, way: 1, from: 0 }];
  return { parts, height: flame.levels * LEVEL + 2 * PAD, flames: [flame] };
}

/** Callers above the function, callees below; it stands between them once. */
function placeSandwich(up: [CallTree, Flame], down: [CallTree, Flame]): Placed {
  const above = Math.max(0, up[1].levels - 1);
  const top = PAD + above * LEVEL;
  return {
    parts: [
      { tree: down[0], flame: down[1], top, way: 1, from: 0 },
      { tree: up[0], flame: up[1], top, way: -1, from: 1 },
    ],
    height: (above + down[1].levels) * LEVEL + 2 * PAD,
    flames: [up[1], down[1]],
  };
}

function usePlaced(width: number): Placed | null {
  const { view } = useFunctions();
  const pane = useScreen(s => s.pane);
  const order = useScreen(s => s.order);
  useServed(s => s.fn); // what fn() tells
  const own = view.screen.fn();
  const tree = view.now()?.tree ?? null;
  return useMemo(() => {
    if (!tree || width < 50) return null;
    const lay = (one: CallTree): Flame => layoutFlame(one, { width, order, nameOf: view.nameOf });
    if (pane !== 'sandwich') return placeFlame(tree, lay(tree));
    const both = view.sandwich(own)!;
    return placeSandwich([both.up, lay(both.up)], [both.down, lay(both.down)]);
  }, [tree, width, order, pane, pane === 'sandwich' ? own : 0]);
}

interface Over {
  part: number;
  box: Box;
  x: number;
  y: number;
}

function FlameTip({ over, placed }: { over: Over; placed: Placed }): JSX.Element {
  const { view } = useFunctions();
  const { tree } = placed.parts[over.part]!;
  const { box } = over;
  const fn = tree.fn[box.node]!;
  const isLeft = over.x + 300 > innerWidth;
  const isUp = over.y + 200 > innerHeight;
  const style = {
    left: isLeft ? 'auto' : `${over.x + 12}px`,
    right: isLeft ? `${innerWidth - over.x + 12}px` : 'auto',
    top: isUp ? 'auto' : `${over.y + 14}px`,
    bottom: isUp ? `${innerHeight - over.y + 14}px` : 'auto',
  };
  const name = {
    node: view.fullName(fn),
    merged: `${plural(box.n, 'path')}, too narrow to draw`,
    rest: `folded below ${view.fullName(fn)}`,
  }[box.kind];
  return (
    <div class="tip" role="tooltip" style={style}>
      <div class="line">
        {box.kind !== 'rest' && <FnSwatch fn={fn} />}
        <b class="grow">{name}</b>
        <b>{duration(box.ns)}</b>
      </div>
      <p class="remark">thread-time, depth {tree.depth[box.node]}</p>
      {box.kind === 'node' && <NodeFacts tree={tree} node={box.node} />}
      {box.kind === 'merged' && (
        <p class="remark">
          Most of it: {view.fullName(fn)}, {duration(tree.sum[box.node]!)}. Focus their caller (F)
          to see them.
        </p>
      )}
      <p class="keys">
        <Key>click</Key> select <Key>Enter</Key> focus it <Key>y</Key> copy stack
      </p>
    </div>
  );
}

function drawnWords({ flames }: Placed): string {
  const sum = (pick: (flame: Flame) => number): number =>
    flames.reduce((n, one) => n + pick(one), 0);
  const [drawn, merged, hidden] = [sum(f => f.drawn), sum(f => f.merged), sum(f => f.hidden)];
  const words = [`${plural(drawn, 'path')} drawn`];
  if (merged > 0)
    words.push(
      `${integer(merged)} too narrow, merged (\u00d7n, ${duration(sum(f => f.mergedNs))})`,
    );
  if (hidden > 0)
    words.push(`${integer(hidden)} under half a pixel (${duration(sum(f => f.hiddenNs))})`);
  return words.join('; ');
}

function FlamePane(): JSX.Element {
  const { screen, view } = useFunctions();
  useScreen(s => s.path);
  useServed(s => s.fn);
  const pane = useScreen(s => s.pane);
  const query = usePart(s => s.query);
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [over, setOver] = useState<Over | null>(null);
  const placedRef = useRef<Placed | null>(null);
  const asked = useMemo(() => parseQuery(query), [query]);
  const isSearched = asked.names.length > 0 && asked.error === '';
  const node = view.node();
  const { holder, canvas, width } = useCanvas(pane => {
    const placed = placedRef.current;
    if (!placed) return;
    paintFlame(pane, {
      parts: placed.parts,
      scrollTop: top,
      nameOf: view.nameOf,
      hueOf: fn => view.hueOf(fn),
      isWait: fn => view.isWait(fn),
      isHit: isSearched ? fn => matchesName(asked, view.fullName(fn)) : null,
      selected: node > 0 && placed.parts.length === 1 ? { part: 0, node } : null,
      hovered: over,
      fn: screen.fn(),
    });
  });
  const placed = usePlaced(width);
  placedRef.current = placed;
  const point = (
    event: MouseEvent & { currentTarget: HTMLElement },
  ): ReturnType<typeof hitFlame> => {
    const box = event.currentTarget.getBoundingClientRect();
    return (
      placed && hitFlame(placed.parts, event.clientX - box.left, event.clientY - box.top + top)
    );
  };
  const choose = (event: MouseEvent & { currentTarget: HTMLElement }): void => {
    const hit = point(event);
    if (!hit || hit.box.kind === 'rest') return;
    const { tree } = placed!.parts[hit.part]!;
    const fn = tree.fn[hit.box.node]!;
    if (pane === 'flame') view.select(tree, hit.box.node);
    else if (fn >= 0) screen.selectFunction(fn);
  };
  return (
    <>
      <div
        ref={scroller}
        id="flame"
        class="flame"
        tabIndex={0}
        role="application"
        aria-label={
          pane === 'flame'
            ? 'Flame graph; arrows walk callers and callees, the call tree has the same as a table'
            : 'Callers above, callees below the selected function'
        }
        aria-describedby="said"
        onScroll={() => setTop(scroller.current!.scrollTop)}
        onKeyDown={event => treeKey(view, event) && event.preventDefault()}
      >
        <div style={{ height: `${placed?.height ?? 0}px`, minHeight: '100%' }}>
          <div
            ref={holder}
            class="flame-area"
            onMouseMove={event => {
              const hit = point(event);
              setOver(hit && { ...hit, x: event.clientX, y: event.clientY });
            }}
            onMouseLeave={() => setOver(null)}
            onClick={choose}
            onDblClick={() => pane === 'flame' && view.transform('F')}
          >
            <canvas ref={canvas} aria-hidden="true" />
          </div>
        </div>
      </div>
      {over && placed && <FlameTip over={over} placed={placed} />}
      <TreeFooter words={placed ? drawnWords(placed) : ''} />
    </>
  );
}

function TreeFooter({ words }: { words: string }): JSX.Element {
  const answer = useScreen(s => s.answers.tree);
  const folded = answer.value?.foldedNodes ?? 0;
  return (
    <p class="foot">
      <span>
        {words}
        {folded > 0 &&
          `; ${plural(folded, 'path')} of least time folded by the server into those above them`}
        {words !== '' && '. '}Width: thread-time; calls cut by an edge count for what is seen of
        them.
      </span>
    </p>
  );
}

/* ---- call tree as a table -------------------------------------------------------------------- */

function TreeTable({ tree }: { tree: CallTree }): JSX.Element {
  const { view } = useFunctions();
  const open = useScreen(s => s.open);
  const order = useScreen(s => s.order);
  const path = useScreen(s => s.path);
  const rows = useMemo(() => rowsOf(view, tree), [tree, open, order, path]);
  const node = view.node();
  const total = Math.max(1, tree.sum[0]!);
  const at = rows.findIndex(row => row.node === node);
  const { scroller, onScroll, first, end } = useRowsInView(rows.length, at, [path, open, order]);
  return (
    <>
      <div
        ref={scroller}
        class="scroll"
        tabIndex={0}
        role="region"
        aria-label="Call tree; arrows walk and open, * opens all below"
        onScroll={onScroll}
        onKeyDown={event => treeKey(view, event) && event.preventDefault()}
      >
        <table class="fixed tree-table" role="treegrid" aria-rowcount={rows.length + 1}>
          <Heads
            of={[
              ['time', 'num c-time'],
              ['share', 'num c-share'],
              ['self', 'num c-time'],
              ['calls', 'num c-calls'],
              view.isInverted ? 'function, called by' : 'function',
            ]}
          />
          <tbody>
            <Gap rows={first} columns={5} />
            {rows.slice(first, end).map((row, i) => (
              <tr
                key={row.key}
                class={row.node === node ? 'now' : ''}
                aria-level={tree.depth[row.node]}
                aria-expanded={row.hasMore ? row.isOpen : undefined}
                aria-rowindex={first + i + 2}
                onClick={() => view.select(tree, row.node)}
              >
                <td class="num key">
                  <Ns ns={tree.sum[row.node]!}>{duration(tree.sum[row.node]!)}</Ns>
                </td>
                <td class="num">{percent(tree.sum[row.node]! / total)}</td>
                <td class="num">
                  <Ns ns={tree.self[row.node]!}>{duration(tree.self[row.node]!)}</Ns>
                </td>
                <td class="num">{integer(tree.count[row.node]!)}</td>
                <th scope="row" class="clip">
                  <span style={{ paddingLeft: `${(tree.depth[row.node]! - 1) * 12}px` }}>
                    <button
                      class="plain twisty"
                      tabIndex={-1}
                      aria-label={row.isOpen ? 'close' : 'open'}
                      disabled={!row.hasMore}
                      onClick={() => view.open(pathOf(tree, row.node), !row.isOpen)}
                    >
                      {row.hasMore ? (row.isOpen ? '\u25be' : '\u25b8') : ''}
                    </button>
                    <FnSwatch fn={tree.fn[row.node]!} />
                    {view.nameOf(tree.fn[row.node]!)}
                  </span>
                </th>
              </tr>
            ))}
            <Gap rows={rows.length - end} columns={5} />
          </tbody>
        </table>
      </div>
      <TreeFooter
        words={`${integer(rows.length)} of ${plural(tree.n - 1, 'path')} open, most time first`}
      />
    </>
  );
}

/* ---- the selected node ----------------------------------------------------------------------- */

type Fact = [name: string, own: number, all: number, isTime: boolean];

/** This path against all calls of its function: the same in tool-tip and details. */
function NodeFacts({ tree, node }: { tree: CallTree; node: number }): JSX.Element {
  const { screen, view } = useFunctions();
  const fn = tree.fn[node]!;
  const row = fn >= 0 ? screen.row(fn) : null;
  const count = tree.count[node]!;
  const total = Math.max(1, tree.sum[0]!);
  const calls: Fact = ['calls', count, row?.count ?? NaN, false];
  if (view.isInverted) {
    const root = pathOf(tree, node)[0]!;
    const self = root >= 0 ? (screen.row(root)?.self ?? NaN) : NaN;
    return (
      <Facts
        heads={['by this path', 'in all']}
        facts={[
          [`self of ${view.nameOf(root)}`, tree.sum[node]!, self, true],
          ['its calls', count, root >= 0 ? (screen.row(root)?.count ?? NaN) : NaN, false],
        ]}
        share={tree.sum[node]! / total}
      />
    );
  }
  const facts: Fact[] = [
    ['time', tree.sum[node]!, row?.inclusive ?? NaN, true],
    ['self', tree.self[node]!, row?.self ?? NaN, true],
    calls,
    ['mean', count > 0 ? tree.sum[node]! / count : NaN, row?.mean ?? NaN, true],
  ];
  return <Facts heads={['this path', 'all calls']} facts={facts} share={tree.sum[node]! / total} />;
}

function Facts({
  heads,
  facts,
  share,
}: {
  heads: [own: string, all: string];
  facts: Fact[];
  share: number;
}): JSX.Element {
  const show = (value: number, isTime: boolean): JSX.Element | string => {
    if (Number.isNaN(value)) return '\u2013';
    return isTime ? <Ns ns={value}>{duration(value)}</Ns> : integer(value);
  };
  return (
    <table class="facts-table">
      <thead>
        <tr>
          <th scope="col">
            <span class="sr">fact</span>
          </th>
          <th scope="col" class="num">
            {heads[0]}
          </th>
          <th scope="col" class="num">
            {heads[1]}
          </th>
        </tr>
      </thead>
      <tbody>
        {facts.map(([name, own, all, isTime]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="num key">{show(own, isTime)}</td>
            <td class="num">{show(all, isTime)}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">share</th>
          <td class="num key">{percent(share)}</td>
          <td class="num dim">of what is shown</td>
        </tr>
      </tbody>
    </table>
  );
}

function NodeDetails({ tree }: { tree: CallTree }): JSX.Element | null {
  const { view } = useFunctions();
  const path = useScreen(s => s.path);
  const node = view.node();
  if (node <= 0) return null;
  return (
    <aside class="node-facts" aria-label="Selected path" tabIndex={0}>
      <h2 class="title">
        <FnSwatch fn={tree.fn[node]!} />
        <span class="grow" title={view.fullName(tree.fn[node]!)}>
          {view.nameOf(tree.fn[node]!)}
        </span>
        <b>{duration(tree.sum[node]!)}</b>
      </h2>
      <NodeFacts tree={tree} node={node} />
      <h2>
        {view.isInverted ? 'Called by' : 'Stack'}{' '}
        <button class="link right" onClick={() => void copyText(view.stackText())}>
          copy (y)
        </button>
      </h2>
      <ol class="call-stack">
        {path.map((fn, i) => (
          <li key={i}>
            <button
              class="row-link"
              onClick={() => view.screen.set({ path: path.slice(0, i + 1) })}
            >
              <FnSwatch fn={fn} />
              <span>{view.nameOf(fn)}</span>
            </button>
          </li>
        ))}
      </ol>
    </aside>
  );
}

export function TreePanel(): JSX.Element {
  const { screen, view } = useFunctions();
  const answer = useScreen(s => s.answers.tree);
  const transforms = useScreen(s => s.transforms);
  const pane = useScreen(s => s.pane);
  useServed(s => s.fn);
  const tree = view.now()?.tree ?? null;
  const isEmpty = tree !== null && tree.n === 1;
  const shownNs = (pane === 'sandwich' ? view.sandwich(screen.fn())?.up : tree)?.sum[0] ?? 0;
  const title = { flame: 'Flame graph', tree: 'Call tree', sandwich: 'Callers and callees' }[pane];
  return (
    <section class="tree-panel" aria-label={title}>
      <Waiting answer={answer} which="tree" what="Call tree" />
      <h2>
        {title}{' '}
        <small>
          {pane === 'sandwich' && `of ${screen.name(screen.fn())}, recursive calls once; `}
          {screen.part().words}; thread-time, paths of all threads together
          {shownNs > 0 && `, ${duration(shownNs)}`}
        </small>
      </h2>
      <TreeTools />
      <div class="tree-body">
        <div class="tree-main">
          {isEmpty && (
            <p class="empty-panel">
              {transforms.length > 0
                ? 'The transforms above leave nothing: take one away.'
                : `No call runs in ${screen.part().words}.`}
            </p>
          )}
          {!isEmpty && pane === 'tree' && tree && <TreeTable tree={tree} />}
          {!isEmpty && pane !== 'tree' && <FlamePane key={pane} />}
        </div>
        {tree && pane !== 'sandwich' && <NodeDetails tree={tree} />}
      </div>
    </section>
  );
}
