// SPDX-License-Identifier: MIT
// The path shown as an enhanced calling context tree: what stands for its time, on whichever thread.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ECCT_LEVEL, paintEcct } from '../../shared/draw/ecct';
import type { FrameLook } from '../../shared/draw/ecct';
import type { Pane } from '../../shared/draw/pane';
import { framesTo, layTree } from '../../shared/lib/ecct';
import type { EcctNode } from '../../shared/lib/ecct';
import { boxAt, layoutFlame } from '../../shared/lib/flame';
import { duration, percent, plural } from '../../shared/lib/format';
import { plainName, splitName } from '../../shared/lib/names';
import { matchesName, parseQuery } from '../../shared/lib/search';
import { LOOK } from '../../shared/lib/states';
import type { CallTree } from '../../shared/lib/tree';
import { useClientHeight } from '../../shared/views/canvas';
import { Key } from '../../shared/views/parts';
import { usePart } from '../../shared/views/use';
import { pathTree } from './lib_tree';
import { usePathCanvas, usePaths, usePathState } from './views_use';
import { tipStyle } from '../../shared/views/parts';

/** States by the words that begin them (lib/path). */
const LOOKS: readonly [string, number][] = [
  ['waits for a lock', LOOK.LOCK],
  ['waits for a disk', LOOK.DISK],
  ['waits for the network', LOOK.NETWORK],
  ['waits for a timer', LOOK.TIMER],
  ['ready', LOOK.READY],
  ['running', LOOK.RUN],
  ['interrupted', LOOK.RUN],
];

function lookOf({ theme }: Pane, { kind, name }: EcctNode): FrameLook {
  const plain = {
    ...{ hatch: 'none' as const, isThread: kind === 'thread', isBold: false },
    ...{ share: 1, ground: theme.grid },
  };
  if (kind === 'thread') return { ...plain, fill: theme.panel };
  if (kind !== 'state') return { ...plain, fill: theme.grid };
  const look = LOOKS.find(([words]) => name.startsWith(words))?.[1] ?? LOOK.UNKNOWN;
  const hatch = look === LOOK.READY ? 'back' : look === LOOK.RUN ? 'none' : 'fore';
  return { ...plain, fill: theme.states[look]!, hatch };
}

interface Over {
  node: number;
  x: number;
  y: number;
}

function FlameTip({
  nodes,
  tree,
  over,
}: {
  nodes: EcctNode[];
  tree: CallTree;
  over: Over;
}): JSX.Element {
  const id = tree.fn[over.node]!;
  const { kind, name } = nodes[id]!;
  const sum = tree.sum[over.node]!;
  const frames = framesTo(nodes, id).slice(0, -1);
  return (
    <div class="tip" role="tooltip" style={tipStyle(over.x, over.y)}>
      <div class="line">
        <b class="grow">{kind === 'thread' ? `in thread ${name}` : plainName(name)}</b>
        <b>{duration(sum)}</b>
      </div>
      <p class="remark">
        {frames.map(frame => plainName(frame.name)).join(' \u203a ') || 'whose path it is'}
      </p>
      <table>
        <tbody>
          <tr>
            <th scope="row">share of the path</th>
            <td class="num">{percent(sum / Math.max(1, tree.sum[0]!))}</td>
          </tr>
        </tbody>
      </table>
      <p class="keys">
        <Key>click</Key> select <Key>/</Key> search
      </p>
    </div>
  );
}

function levelsOf(nodes: readonly EcctNode[]): number {
  const depth: number[] = [];
  nodes.forEach(({ parent }, i) => (depth[i] = parent < 0 ? 1 : depth[parent]! + 1));
  return depth.reduce((most, one) => Math.max(most, one), 1);
}

export function PathFlame(): JSX.Element {
  const paths = usePaths();
  const one = usePathState(s => s.asked[s.now]);
  const node = usePathState(s => s.node);
  const query = usePart(s => s.query);
  const scroller = useRef<HTMLDivElement>(null);
  const seen = useClientHeight(scroller, 120);
  const [top, setTop] = useState(0);
  const [over, setOver] = useState<Over | null>(null);
  const path = one?.path ?? null;
  const nodes = useMemo(() => (path ? pathTree(path, paths.nameOf) : []), [path]);
  const tree = useMemo(() => layTree(nodes), [nodes]);
  const asked = useMemo(() => parseQuery(query), [query]);
  const isSearched = useMemo(
    () =>
      asked.names.length > 0 &&
      asked.error === '' &&
      nodes.some(({ name }) => matchesName(asked, name)), // what is nowhere pales nothing
    [asked, nodes],
  );
  const frame = (at: number): EcctNode => nodes[tree.fn[at]!]!;
  const flameRef = useRef<ReturnType<typeof layoutFlame> | null>(null);
  const { holder, canvas, width } = usePathCanvas(pane => {
    if (!flameRef.current) return;
    paintEcct(pane, {
      ...{ tree, flame: flameRef.current, scrollTop: top },
      lookOf: at => lookOf(pane, frame(at)),
      labelsOf: at => {
        const { name, kind } = frame(at);
        const [scope, last] = kind === 'function' ? splitName(name) : ['', name];
        const plain = last.startsWith('+0x') ? name : scope + last;
        const forms = scope === '' || plain === name ? [plain] : [plain, last];
        const sum = duration(tree.sum[at]!);
        return [...forms.map(one => `${one}  ${sum}`), ...forms];
      },
      isHit: isSearched ? at => matchesName(asked, frame(at).name) : null,
      ...{ selected: node, hovered: over?.node ?? -1 },
    });
  });
  const flame = useMemo(
    () =>
      width > 50 && tree.n > 1 ? layoutFlame(tree, { width, order: 'time', nameOf: String }) : null,
    [tree, width],
  );
  flameRef.current = flame;
  useEffect(() => setOver(null), [tree]); // what was pointed at is of another path
  const at = (event: MouseEvent): number => {
    const box = holder.current!.getBoundingClientRect();
    const level = Math.floor((event.clientY - box.top + top) / ECCT_LEVEL);
    const found = flame && boxAt(flame, event.clientX - box.left, level);
    return found?.kind === 'node' ? found.node : -1;
  };
  const isPart = path !== null && path.segments.length < path.total;
  return (
    <section class="path-flame" aria-label="Calling contexts of the path">
      <h2>
        Where the time of path {paths.state.get().now + 1} went{' '}
        <small>
          width: time on the path; below a thread where it was, then what it did; a thick left edge:
          the path goes on in another thread
          {isPart && `; of the ${plural(path.segments.length, 'longest segment')} alone`}
        </small>
      </h2>
      <div
        ref={scroller}
        id="path-flame"
        class="path-boxes"
        style={{ '--levels': levelsOf(nodes) }}
        tabIndex={0}
        role="application"
        aria-label="Flame graph of the path; the tables have its sums"
        onScroll={() => setTop(scroller.current!.scrollTop)}
      >
        <div style={{ height: `${(flame?.levels ?? 1) * ECCT_LEVEL}px`, minHeight: '100%' }}>
          <div
            ref={holder}
            class="path-area"
            style={{ height: `${seen}px` }}
            onMouseMove={event => {
              const found = at(event);
              setOver(found < 0 ? null : { node: found, x: event.clientX, y: event.clientY });
            }}
            onMouseLeave={() => setOver(null)}
            onClick={event => paths.set({ node: at(event) })}
          >
            <canvas ref={canvas} aria-hidden="true" />
          </div>
        </div>
      </div>
      {over && <FlameTip nodes={nodes} tree={tree} over={over} />}
    </section>
  );
}
