// SPDX-License-Identifier: MIT
// Flame graphs of waits, of critical sections, and of what was done meanwhile.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { hitFlame, LEVEL, paintFlame } from '../../shared/draw/flame';
import type { FlamePart } from '../../shared/draw/flame';
import { PanePainter } from '../../shared/draw/pane';
import { layoutFlame } from '../../shared/lib/flame';
import { duration, integer, percent } from '../../shared/lib/format';
import { GREY_HUE } from '../../shared/lib/palette';
import { makeTree } from '../../shared/lib/tree';
import type { LockTree } from './api_interplay';
import type { Interplay } from './state_interplay';

/** Nodes are told apart by their names: functions of samples and threads have no number. */
function numbered(tree: LockTree): { fn: Uint32Array; names: string[]; of: number[] } {
  const places = new Map<string, number>();
  const of: number[] = [];
  const fn = Uint32Array.from(tree.names, (name, i) => {
    let place = places.get(name);
    if (place === undefined) {
      places.set(name, (place = places.size));
      of.push(tree.fn[i]!);
    }
    return place;
  });
  return { fn, names: [...places.keys()], of };
}

export function LockFlame({
  screen,
  tree,
  trouble,
  why,
}: {
  screen: Interplay;
  tree: LockTree | null;
  trouble: string;
  /** Why there is nothing, if there is. */
  why: string;
}): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<PanePainter | null>(null);
  const latest = useRef<FlamePart[]>([]);
  const [width, setWidth] = useState(300);
  const [over, setOver] = useState<ReturnType<typeof hitFlame>>(null);
  const made = useMemo(() => {
    if (!tree || tree.n === 0) return null;
    const names = numbered(tree);
    const { parent, count, sum, self } = tree;
    const calls = makeTree({ parent, count, sum, self, fn: names.fn });
    const flame = layoutFlame(calls, { width, order: 'time', nameOf: fn => names.names[fn] ?? '' });
    return { names, calls, flame };
  }, [tree, width]);
  latest.current = made ? [{ tree: made.calls, flame: made.flame, top: 0, way: 1, from: 0 }] : [];
  const draw = useRef<() => void>(() => undefined);
  const { families, names } = screen.served;
  useLayoutEffect(() => {
    const own = new PanePainter(canvas.current!, pane => {
      const fnOf = (fn: number): number => scene.current?.names.of[fn] ?? -1;
      paintFlame(pane, {
        ...{ parts: latest.current, scrollTop: 0, isHit: null, selected: null, fn: -1 },
        nameOf: fn => (fn < 0 ? 'all' : (scene.current?.names.names[fn] ?? '')),
        hueOf: fn => (fnOf(fn) >= 0 ? (families.hue[fnOf(fn)] ?? GREY_HUE) : GREY_HUE),
        isWait: fn => fnOf(fn) >= 0 && names.isWait[fnOf(fn)] === 1,
        hovered: hovered.current,
      });
    });
    painter.current = own;
    draw.current = () => own.markBase();
    const measure = (): void => setWidth(Math.max(100, holder.current!.clientWidth));
    const observer = new ResizeObserver(measure);
    observer.observe(holder.current!);
    measure();
    const off = screen.app.state.subscribe((now, before) => {
      if (now.theme !== before.theme) own.retheme();
    });
    return () => {
      observer.disconnect();
      off();
      own.end();
    };
  }, []);
  const scene = useRef(made);
  const hovered = useRef(over);
  scene.current = made;
  hovered.current = over;
  const height = Math.max(LEVEL, (made?.flame.levels ?? 1) * LEVEL);
  useEffect(() => {
    painter.current?.resize(width, height);
    draw.current();
  });
  const point = (event: MouseEvent & { currentTarget: HTMLElement }): void => {
    const box = event.currentTarget.getBoundingClientRect();
    setOver(hitFlame(latest.current, event.clientX - box.left, event.clientY - box.top));
  };
  const node = over?.box.kind === 'node' ? over.box.node : -1;
  const said =
    made && node >= 0
      ? `${node === 0 ? 'all' : made.names.names[made.calls.fn[node]!]}: ${duration(made.calls.sum[node]!)}, ${percent(made.calls.sum[node]! / Math.max(1, made.calls.sum[0]!))}, ${integer(made.calls.count[node]!)} times`
      : '';
  return (
    <div class="lock-flame">
      {trouble && <p class="bad-text">{trouble}</p>}
      {!made && !trouble && <p class="remark">{tree ? why : '\u2026'}</p>}
      <div ref={holder} class="flame-holder" onMouseMove={point} onMouseLeave={() => setOver(null)}>
        <canvas ref={canvas} aria-hidden="true" hidden={!made} />
      </div>
      {made && (
        <p class="remark" aria-live="polite">
          {said ||
            `${duration(tree!.sumNs)} thread-time${tree!.unknownNs > 0 ? `, of which ${duration(tree!.unknownNs)} without a known place` : ''}; ${integer(tree!.n)} of ${integer(tree!.total)} call paths`}
        </p>
      )}
      {made && (
        <table class="sr">
          <caption>The same as a table</caption>
          <tbody>
            {tree!.names.slice(0, 60).map((name, i) => (
              <tr key={i}>
                <th scope="row">
                  {'\u2003'.repeat(tree!.depth[i]!)}
                  {name}
                </th>
                <td>{duration(tree!.sum[i]!)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
