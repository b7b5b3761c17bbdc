// SPDX-License-Identifier: MIT
// The paths, one below the other, from a common start.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { duration, exact, percent } from '../../shared/lib/format';
import { isNamed } from '../../shared/lib/names';
import { causeOf, placeOf, segmentAt, segmentSentence } from '../../shared/lib/path';
import type { Path, PathSegment } from '../../shared/lib/path';
import type { Paths } from '../../shared/state/paths';
import { useClientHeight } from '../../shared/views/canvas';
import { LongName } from '../../shared/views/longname';
import { Key } from '../../shared/views/parts';
import { paintPaths, STRIP_AXIS } from './draw_strip';
import { layoutStrip, LINE, partAt } from './lib_layout';
import type { StripLayout, StripPart } from './lib_layout';
import { usePathCanvas, usePaths, usePathState } from './views_use';
import { LookSwatch, tipStyle } from '../../shared/views/parts';

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
      <th scope="row">{state === 'preempted' ? 'on its processor' : 'ended by'}</th>
      <td>
        {paths.nameOf(segment.other)}
        {otherFunction && isNamed(otherFunction) && `, ${otherFunction}`}
      </td>
    </tr>
  );
}

/** What the tip and the line of the selected segment say. */
export function SegmentFacts({ segment, path }: { segment: PathSegment; path: Path }): JSX.Element {
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
    <div class="tip" role="tooltip" style={tipStyle(over.x, over.y)}>
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
      ...{ layout, view: paths.view(), scrollTop: top, now, segment },
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
