// SPDX-License-Identifier: MIT
// A tree of frames as boxes that can be pointed at, selected and searched.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Pane, Panes } from '../draw/canvas';
import { ECCT_LEVEL, paintEcct } from '../draw/ecct';
import type { FrameLook } from '../draw/ecct';
import { boxAt, layoutFlame } from '../lib/flame';
import type { Flame } from '../lib/flame';
import { matchesName, parseQuery } from '../lib/search';
import type { CallTree } from '../lib/tree';
import { useClientHeight, useOwnCanvas, usePart } from './use';

export interface EcctProps {
  panes: Panes;
  tree: CallTree;
  /** Of a node of the tree. */
  nameOf: (at: number) => string;
  lookOf: (pane: Pane, at: number) => FrameLook;
  labelsOf: (at: number) => readonly string[];
  selected: number;
  /** A node that is to be in view, or -1. */
  inView?: number;
  /** -1: what is selected is given up. */
  select: (at: number) => void;
  open?: (at: number) => void;
  tip: (at: number, place: { x: number; y: number }) => JSX.Element;
  /** Of the element that scrolls: its classes begin with `kind`, too. */
  kind: 'cmp' | 'path';
  label: string;
  levels: number;
  /** Height until it is known, px. */
  height: number;
  head: (flame: Flame | null, top: number, seen: number) => ComponentChildren;
  children?: ComponentChildren;
}

export function EcctBoxes(props: EcctProps): JSX.Element {
  const { panes, tree, nameOf, lookOf, labelsOf, selected, inView = -1, kind } = props;
  const query = usePart(s => s.query);
  const scroller = useRef<HTMLDivElement>(null);
  const seen = useClientHeight(scroller, props.height);
  const [top, setTop] = useState(0);
  const [over, setOver] = useState<{ at: number; x: number; y: number } | null>(null);
  const asked = useMemo(() => parseQuery(query), [query]);
  const isHit = (at: number): boolean => matchesName(asked, nameOf(at));
  const isSearched = useMemo(() => {
    if (asked.names.length === 0 || asked.error !== '') return false;
    return Array.from({ length: tree.n }, (_, at) => at).some(at => at > 0 && isHit(at)); // else nothing pales
  }, [asked, tree]);
  const shown = useRef<Flame | null>(null);
  const { holder, canvas, width } = useOwnCanvas(panes, pane => {
    if (shown.current)
      paintEcct(pane, {
        tree,
        flame: shown.current,
        scrollTop: top,
        lookOf: at => lookOf(pane, at),
        labelsOf,
        isHit: isSearched ? isHit : null,
        selected,
        hovered: over?.at ?? -1,
      });
  });
  const flame = useMemo(
    () =>
      width > 50 && tree.n > 1 ? layoutFlame(tree, { width, order: 'time', nameOf: String }) : null,
    [tree, width],
  );
  shown.current = flame;
  useEffect(() => setOver(null), [tree]); // what was pointed at is of another tree
  useEffect(() => {
    const view = scroller.current;
    if (!view || !flame || inView < 0) return;
    const y = (tree.depth[inView]! - 1) * ECCT_LEVEL;
    const isSeen = y >= view.scrollTop && y + ECCT_LEVEL <= view.scrollTop + view.clientHeight;
    // its callers above it; below it what there is room for
    if (!isSeen) view.scrollTop = Math.max(0, y + 2 * ECCT_LEVEL - view.clientHeight);
  }, [inView, flame]);
  const at = (event: MouseEvent): number => {
    const box = holder.current!.getBoundingClientRect();
    const level = Math.floor((event.clientY - box.top + top) / ECCT_LEVEL);
    const found = flame && boxAt(flame, event.clientX - box.left, level);
    return found?.kind === 'node' ? found.node : -1;
  };
  return (
    <>
      <h2>{props.head(flame, top, seen)}</h2>
      <div
        ref={scroller}
        id={`${kind}-flame`}
        class={`${kind}-boxes`}
        style={{ '--levels': props.levels }}
        tabIndex={0}
        role="application"
        aria-label={props.label}
        onScroll={() => setTop(scroller.current!.scrollTop)}
      >
        <div style={{ height: `${(flame?.levels ?? 1) * ECCT_LEVEL}px`, minHeight: '100%' }}>
          <div
            ref={holder}
            class={`${kind}-area`}
            style={{ height: `${seen}px` }}
            onMouseMove={event => {
              const found = at(event);
              setOver(found < 0 ? null : { at: found, x: event.clientX, y: event.clientY });
            }}
            onMouseLeave={() => setOver(null)}
            onClick={event => props.select(at(event))}
            onDblClick={event => {
              if (at(event) >= 0) props.open?.(at(event));
            }}
          >
            <canvas ref={canvas} aria-hidden="true" />
            {props.children}
          </div>
        </div>
      </div>
      {over && props.tip(over.at, over)}
    </>
  );
}
