// SPDX-License-Identifier: MIT
// What the parts of the Critical path screen share.
import { createContext } from 'preact';
import type { JSX } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Pane, Panes } from '../../shared/draw/canvas';
import type { FrameLook } from '../../shared/draw/ecct';
import { EcctGrower, framesTo, layTree } from '../../shared/lib/flame';
import type { EcctNode } from '../../shared/lib/flame';
import { duration, exact, percent, plural } from '../../shared/lib/format';
import { isNamed, plainName, splitName } from '../../shared/lib/names';
import { causeOf, framesOf, placeOf, segmentAt, segmentSentence } from '../../shared/lib/path';
import type { Path, PathSegment } from '../../shared/lib/path';
import { LOOK } from '../../shared/lib/states';
import type { CallTree } from '../../shared/lib/tree';
import type { Paths, PathState } from '../../shared/state/paths';
import { LongName, Key, LookSwatch, tipStyle } from '../../shared/views/parts';
import { EcctBoxes } from '../../shared/views/ecct';
import { useOwnCanvas, useAtom, useClientHeight } from '../../shared/views/use';
import type { OwnCanvas } from '../../shared/views/use';
import { paintPaths, STRIP_AXIS, layoutStrip, LINE, partAt } from './draw';
import type { StripLayout, StripPart } from './draw';

export interface PathScope {
  paths: Paths;
  panes: Panes;
}

export const PathContext = createContext<PathScope | null>(null);

export function usePaths(): Paths {
  const scope = useContext(PathContext);
  if (!scope) throw new Error('component outside of the Critical path screen');
  return scope.paths;
}

export function usePathState<T>(choose: (state: PathState) => T): T {
  return useAtom(usePaths().state, choose);
}

function usePathCanvas(draw: (pane: Pane) => void): OwnCanvas {
  return useOwnCanvas(useContext(PathContext)!.panes, draw);
}

/* ---- A critical path as an enhanced calling context tree: below each thread where it was, then what it
 * did; a wait that the path followed continues in the thread that was waited for. ---- */

/** For each segment the threads from the one asked for to its own, one for each depth. */
function chainsOf(segments: readonly PathSegment[], first: number): number[][] {
  const chains: number[][] = new Array<number[]>(segments.length);
  let after: number[] = []; // by depth: the next thread there, before the path comes back above it
  for (let i = segments.length - 1; i >= 0; i--) {
    const { depth, thread } = segments[i]!;
    after = after.slice(0, depth);
    after[depth] = thread;
    chains[i] = Array.from({ length: depth + 1 }, (_, d) => after[d] ?? -1);
  }
  let before: number[] = [first];
  return chains.map((chain, i) => {
    const { depth, thread } = segments[i]!;
    const full = chain.map((known, d) => (known >= 0 ? known : (before[d] ?? first)));
    full[depth] = thread;
    before = full;
    return full;
  });
}

/** Where a segment was: its stack of samples, or its function, or its span. */
function placesOf({ stack, function: name, span }: PathSegment): string[] {
  const frames = framesOf(stack);
  if (frames.length > 0) return frames;
  const place = name !== '' ? name : span;
  return place === '' ? [] : [place];
}

/** Sums to the length of the path, if all its segments are there. */
export function pathTree(path: Path, nameOf: (thread: number) => string): EcctNode[] {
  const grower = new EcctGrower();
  const chains = chainsOf(path.segments, path.thread);
  path.segments.forEach((segment, i) => {
    let node = -1;
    for (const thread of chains[i]!) node = grower.child(node, 'thread', nameOf(thread));
    for (const place of placesOf(segment)) node = grower.child(node, 'function', place);
    const { words, look } = causeOf(segment.state, segment.reason);
    const state = segment.name === '' ? words : `${words}: ${segment.name}`;
    node = grower.child(node, 'state', state, look);
    grower.nodes[node]!.self += segment.end - segment.start;
  });
  return grower.nodes;
}

/* ---- The paths, one below the other, from a common start. ---- */

interface Over {
  index: number;
  segment: number;
  x: number;
  y: number;
}

const CLICK = 4;
const FOOT = 6; // px below the last path

function PartLabel({ part, top }: { part: StripPart; top: number }): JSX.Element {
  const paths = usePaths();
  const one = usePathState(s => s.asked[part.index]);
  const now = usePathState(s => s.now);
  if (!one) return <></>;
  const { span } = one.pick;
  const whole = one.pick.label || paths.nameOf(one.pick.thread);
  const number = /#\d+$/.exec(whole)?.[0] ?? ''; // it is not cut
  const name = whole.slice(0, whole.length - number.length);
  return (
    <li style={{ top: `${part.top - top + STRIP_AXIS}px`, height: `${part.height}px` }}>
      <p class="path-title">
        <button
          class="plain grow"
          aria-pressed={part.index === now}
          title={`${paths.title(one)}, from ${exact(span.t0)}`}
          onClick={() => paths.choose(part.index)}
        >
          <span class="clip">
            <b>{part.index + 1}</b> <LongName name={name} title="" />
          </span>{' '}
          {number && <span>{number}</span>} <small>{duration(span.t1 - span.t0)}</small>
        </button>
        <button
          class="link"
          aria-label={`Take path ${part.index + 1} away`}
          onClick={() => paths.drop(part.index)}
        >
          {'\u00d7'}
        </button>
      </p>
      {part.lines.map(({ thread }) => (
        <p
          key={thread}
          class="path-line clip"
          style={{ height: `${LINE}px` }}
          title={paths.nameOf(thread)}
        >
          {paths.nameOf(thread)}
        </p>
      ))}
      {one.isWaiting && <p class="remark">asking{'\u2026'}</p>}
      {one.error && (
        <p class="remark bad" role="alert">
          {one.error}{' '}
          <button class="link" onClick={() => paths.again(part.index)}>
            ask again
          </button>
        </p>
      )}
    </li>
  );
}

function Other({ segment }: { segment: PathSegment }): JSX.Element | null {
  const paths = usePaths();
  if (segment.other < 0) return null;
  const { state, otherFunction } = segment;
  return (
    <tr>
      <th scope="row">{state === 'preempted' ? 'on its CPU' : 'ended by'}</th>
      <td>
        {paths.nameOf(segment.other)}
        {otherFunction && isNamed(otherFunction) && `, ${otherFunction}`}
      </td>
    </tr>
  );
}

/** What the tip and the line of the selected segment say. */
function SegmentFacts({ segment, path }: { segment: PathSegment; path: Path }): JSX.Element {
  const length = segment.end - segment.start;
  const flags = [
    segment.isInFlight && 'under way from another thread',
    segment.isUncertain && 'inferred',
    segment.notFollowed && `not followed: ${segment.notFollowed}`,
  ];
  const arrow = path.arrows.find(
    ({ to, toThread }) => to === segment.start && toThread === segment.thread,
  );
  return (
    <table>
      <tbody>
        <tr>
          <th scope="row">share of the path</th>
          <td class="num">{percent(length / Math.max(1, path.to - path.from))}</td>
        </tr>
        {segment.name && (
          <tr>
            <th scope="row">in</th>
            <td>{segment.name}</td>
          </tr>
        )}
        {placeOf(segment) && (
          <tr>
            <th scope="row">function</th>
            <td>{placeOf(segment)}</td>
          </tr>
        )}
        <Other segment={segment} />
        {arrow && (
          <tr>
            <th scope="row">reached by</th>
            <td>
              {arrow.edge}
              {arrow.lock && ` of ${arrow.lock}`}
              {arrow.isUncertain && ' (inferred)'}
            </td>
          </tr>
        )}
        {flags.some(Boolean) && (
          <tr>
            <th scope="row">note</th>
            <td>{flags.filter(Boolean).join('; ')}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function StripTip({ over }: { over: Over }): JSX.Element | null {
  const paths = usePaths();
  const { path } = paths.state.get().asked[over.index] ?? {};
  const segment = path?.segments[over.segment];
  if (!path || !segment) return null;
  const cause = causeOf(segment.state, segment.reason);
  return (
    <div class="tip" role="tooltip" style={tipStyle(over)}>
      <div class="line">
        <LookSwatch look={cause.look} letter={cause.letter} />
        <b class="grow">{cause.words}</b>
        <b>{duration(segment.end - segment.start)}</b>
      </div>
      <p class="remark">
        {paths.nameOf(segment.thread)}, {exact(segment.start)}, depth {segment.depth}
      </p>
      <SegmentFacts segment={segment} path={path} />
      <p class="keys">
        <Key>click</Key> select <Key>double click</Key> show in the Timeline
      </p>
    </div>
  );
}

/** The segment on a line, or of the path at that time. */
function hit(
  paths: Paths,
  layout: StripLayout,
  width: number,
  x: number,
  y: number,
): { index: number; segment: number } | null {
  const part = partAt(layout, y);
  if (!part?.path) return null;
  const { t0, t1 } = paths.view();
  const per = (t1 - t0) / Math.max(1, width);
  const t = part.path.from + t0 + x * per;
  if (t > part.path.to + per) return null;
  let segment = segmentAt(part.path, t);
  const line = part.lines.find(one => y >= one.y && y < one.y + LINE);
  const { segments } = part.path;
  if (line && segments[segment]?.thread !== line.thread)
    for (const near of [-1, 1])
      for (
        let i = segment + near;
        segments[i] && Math.abs(segments[i]![near < 0 ? 'end' : 'start'] - t) <= 2 * per;
        i += near
      )
        if (segments[i]!.thread === line.thread) segment = i;
  return { index: part.index, segment };
}

export function select(paths: Paths, index: number, segment: number): void {
  paths.choose(index, segment);
  const one = paths.state.get().asked[index];
  const own = one?.path?.segments[segment];
  if (!own) return;
  const said = segmentSentence(own, one.path!, paths.nameOf);
  paths.app.state.update(now => ({ ...now, said }));
}

interface Press {
  x: number;
  isPan: boolean;
  isDrag: boolean;
  to: number;
}

export function PathStrip({ onOpen }: { onOpen: () => void }): JSX.Element {
  const paths = usePaths();
  const asked = usePathState(s => s.asked);
  const now = usePathState(s => s.now);
  const segment = usePathState(s => s.segment);
  usePathState(s => s.view);
  const scroller = useRef<HTMLDivElement>(null);
  const seen = useClientHeight(scroller, 200);
  const [top, setTop] = useState(0);
  const [over, setOver] = useState<Over | null>(null);
  const [press, setPress] = useState<Press | null>(null);
  const layout = useMemo(() => layoutStrip(asked.map(({ path }) => path)), [asked]);
  const { holder, canvas, width, height } = usePathCanvas(pane =>
    paintPaths(pane, {
      layout,
      view: paths.view(),
      scrollTop: top,
      now,
      segment,
      hovered: over && { index: over.index, segment: over.segment },
    }),
  );
  const place = (event: MouseEvent): { x: number; y: number } => {
    const box = holder.current!.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top - STRIP_AXIS + top };
  };
  const found = (event: MouseEvent): ReturnType<typeof hit> => {
    const { x, y } = place(event);
    return event.clientY - holder.current!.getBoundingClientRect().top < STRIP_AXIS
      ? null
      : hit(paths, layout, width, x, y);
  };
  const move = (event: PointerEvent): void => {
    const { x } = place(event);
    if (!press) {
      const at = found(event);
      return setOver(at && { ...at, x: event.clientX, y: event.clientY });
    }
    const isDrag = press.isDrag || Math.abs(x - press.x) > CLICK;
    if (press.isPan && isDrag) paths.pan((press.x - x) / Math.max(1, width));
    setPress({ ...press, isDrag, to: x, x: press.isPan && isDrag ? x : press.x });
    if (isDrag) setOver(null);
  };
  const isPressed = press !== null;
  useEffect(() => {
    if (!isPressed) return;
    const giveUp = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      setPress(null);
    };
    addEventListener('keydown', giveUp, true);
    return () => removeEventListener('keydown', giveUp, true);
  }, [isPressed]);
  const up = (event: PointerEvent): void => {
    if (!press) return;
    setPress(null);
    if (!press.isDrag) {
      const at = found(event);
      if (at) select(paths, at.index, at.segment);
    } else if (!press.isPan) {
      const { t0, t1 } = paths.view();
      const [a, b] = [Math.min(press.x, press.to), Math.max(press.x, press.to)];
      const per = (t1 - t0) / Math.max(1, width);
      paths.show(t0 + a * per, (b - a) * per);
    }
  };
  return (
    <section
      class="path-strip"
      aria-label="Paths"
      style={{ height: `${layout.height + STRIP_AXIS + FOOT}px` }}
    >
      <ul class="path-labels" aria-label="Threads of each path">
        {layout.parts.map(part => (
          <PartLabel key={part.index} part={part} top={top} />
        ))}
      </ul>
      <div
        ref={scroller}
        id="path-strip"
        class="path-scroll"
        tabIndex={0}
        role="application"
        aria-label="Critical paths; arrows and . , walk their segments, Enter shows one in the Timeline"
        aria-describedby="said"
        onScroll={() => setTop(scroller.current!.scrollTop)}
      >
        <div style={{ height: `${layout.height + STRIP_AXIS}px`, minHeight: '100%' }}>
          <div
            ref={holder}
            class="path-area"
            style={{ height: `${seen}px` }}
            onPointerDown={event => {
              if (event.button > 1) return;
              event.currentTarget.setPointerCapture(event.pointerId);
              const { x } = place(event);
              setPress({ x, to: x, isDrag: false, isPan: event.button === 1 || event.shiftKey });
            }}
            onPointerMove={move}
            onPointerUp={up}
            onPointerCancel={() => setPress(null)}
            onPointerLeave={() => setOver(null)}
            onWheel={event => {
              if (!event.ctrlKey) return;
              event.preventDefault();
              paths.zoom(event.deltaY > 0 ? 1.25 : 0.8, place(event).x / Math.max(1, width));
            }}
            onDblClick={onOpen}
          >
            <canvas ref={canvas} aria-hidden="true" />
            {press?.isDrag && !press.isPan && (
              <div
                class="path-brush"
                style={{
                  left: `${Math.min(press.x, press.to)}px`,
                  width: `${Math.abs(press.to - press.x)}px`,
                  height: `${height}px`,
                }}
              />
            )}
          </div>
        </div>
      </div>
      {over && <StripTip over={over} />}
    </section>
  );
}

/* ---- The path shown as an enhanced calling context tree: what stands for its time, on whichever thread. ---- */

function lookOf({ theme }: Pane, { kind, look = LOOK.UNKNOWN }: EcctNode): FrameLook {
  const plain = {
    hatch: 'none' as const,
    isThread: kind === 'thread',
    isBold: false,
    share: 1,
    ground: theme.grid,
  };
  if (kind === 'thread') return { ...plain, fill: theme.panel };
  if (kind !== 'state') return { ...plain, fill: theme.grid };
  const hatch = look === LOOK.READY ? 'back' : look === LOOK.RUN ? 'none' : 'fore';
  return { ...plain, fill: theme.states[look]!, hatch };
}

function FlameTip({
  nodes,
  tree,
  at,
  place,
}: {
  nodes: EcctNode[];
  tree: CallTree;
  at: number;
  place: { x: number; y: number };
}): JSX.Element {
  const id = tree.fn[at]!;
  const { kind, name } = nodes[id]!;
  const sum = tree.sum[at]!;
  const frames = framesTo(nodes, id).slice(0, -1);
  return (
    <div class="tip" role="tooltip" style={tipStyle(place)}>
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
  const { panes } = useContext(PathContext)!;
  const one = usePathState(s => s.asked[s.now]);
  const node = usePathState(s => s.node);
  const path = one?.path ?? null;
  const nodes = useMemo(() => (path ? pathTree(path, paths.nameOf) : []), [path]);
  const tree = useMemo(() => layTree(nodes), [nodes]);
  const frame = (at: number): EcctNode => nodes[tree.fn[at]!]!;
  const labelsOf = (at: number): string[] => {
    const { name, kind } = frame(at);
    const [scope, last] = kind === 'function' ? splitName(name) : ['', name];
    const plain = last.startsWith('+0x') ? name : scope + last;
    const forms = scope === '' || plain === name ? [plain] : [plain, last];
    const sum = duration(tree.sum[at]!);
    return [...forms.map(one => `${one}  ${sum}`), ...forms];
  };
  const isPart = path !== null && path.segments.length < path.total;
  return (
    <section class="path-flame" aria-label="Calling contexts of the path">
      <EcctBoxes
        panes={panes}
        tree={tree}
        nameOf={at => frame(at).name}
        lookOf={(pane, at) => lookOf(pane, frame(at))}
        labelsOf={labelsOf}
        selected={node}
        select={at => paths.set({ node: at })}
        tip={(at, place) => <FlameTip nodes={nodes} tree={tree} at={at} place={place} />}
        kind="path"
        label="Flame graph of the path; the tables have its sums"
        levels={levelsOf(nodes)}
        height={120}
        head={() => (
          <>
            Where the time of path {paths.state.get().now + 1} went{' '}
            <small>
              width: time on the path; below a thread where it was, then what it did; a thick left
              edge: the path goes on in another thread
              {isPart && `; of the ${plural(path.segments.length, 'longest segment')} alone`}
            </small>
          </>
        )}
      />
    </section>
  );
}
