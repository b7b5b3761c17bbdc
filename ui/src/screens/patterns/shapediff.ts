// SPDX-License-Identifier: MIT
// How far two shapes are from each other, and why (docs/analyses/shapes.md, "Metric" and "Why two
// shapes differ"): the same answers as `weft shapes --diff`. Distances are in half units. Null, the
// callee that is missing, is -1.
import type { ShapeTable } from '../../shared/lib/shapes';

export const NULL = -1;
const OTHER_FUNCTION = 2;
const MISSING = 1;

/** Pairs of shapes that are looked at before it is given up. */
const MOST_WORK = 1e6;

/** One pair of the matching pair, in pre-order. */
export interface Match {
  a: number; // a shape, or NULL
  b: number;
  level: number;
  distance: number;
  /** On a path that makes up the whole distance. */
  isCritical: boolean;
  /** Edges to them from the shapes of the pair above; -1: the root, or NULL. */
  edgeA: number;
  edgeB: number;
  /** The side's callee stands in an earlier pair of the same callers. */
  isAgainA: boolean;
  isAgainB: boolean;
}

export interface Difference {
  distance: number;
  matches: Match[];
  isCut: boolean;
  /** Callees of either shape, or below it, that the page does not hold. */
  missing: number;
}

function depthsOf({ n, kidsFrom, kid }: ShapeTable): Int32Array {
  const depths = new Int32Array(n);
  for (let s = 0; s < n; s++) {
    let deepest = 0;
    for (let e = kidsFrom[s]!; e < kidsFrom[s + 1]!; e++)
      deepest = Math.max(deepest, depths[kid[e]!]!);
    depths[s] = deepest + 1;
  }
  return depths;
}

/** Distances of the shapes of a table; each pair is worked out once. */
export class ShapeMetric {
  readonly depth: Int32Array;
  private readonly known = new Map<number, number>();
  private work = 0;

  constructor(private readonly table: ShapeTable) {
    this.depth = depthsOf(table);
  }

  /** Half units; null if it is too much work. */
  distance(a: number, b: number): number | null {
    if (a === NULL || b === NULL) return a === b ? 0 : this.depth[a === NULL ? b : a]!;
    this.work = 0;
    const stack = [a, b];
    while (stack.length > 0) {
      const [x, y] = [stack[stack.length - 2]!, stack[stack.length - 1]!];
      const before = stack.length;
      if (this.get(x, y) < 0) {
        const found = this.evaluate(x, y, stack);
        if (this.work > MOST_WORK) return null;
        if (stack.length > before) continue; // callees first
        this.known.set(this.key(x, y), found);
      }
      stack.length -= 2;
    }
    return this.get(a, b);
  }

  kids(s: number): Int32Array {
    return s === NULL
      ? new Int32Array(0)
      : this.table.kid.subarray(this.table.kidsFrom[s], this.table.kidsFrom[s + 1]);
  }

  /** Of the functions alone. */
  ofFunctions(a: number, b: number): number {
    if (a === NULL || b === NULL) return MISSING;
    return this.table.fn[a] === this.table.fn[b] ? 0 : OTHER_FUNCTION;
  }

  private key(a: number, b: number): number {
    return a < b ? a * this.table.n + b : b * this.table.n + a;
  }

  /** What is known, or -1. */
  private get(a: number, b: number): number {
    return a === b ? 0 : (this.known.get(this.key(a, b)) ?? -1);
  }

  /** The distance, if all that it needs is known; else puts the pairs it needs on the stack. */
  private evaluate(a: number, b: number, stack: number[]): number {
    const [ofA, ofB] = [this.kids(a), this.kids(b)];
    const one = this.farthest(ofA, ofB, 0, stack);
    return this.ofFunctions(a, b) + this.farthest(ofB, ofA, one, stack);
  }

  /** The most that a shape of `list` is away from its nearest of `others`; at least `most`. */
  private farthest(list: Int32Array, others: Int32Array, most: number, stack: number[]): number {
    const common = new Set(others);
    const alone = list.filter(x => !common.has(x));
    this.work += list.length + others.length;
    alone.sort((x, y) => this.depth[y]! - this.depth[x]!);
    let far = most;
    for (const x of alone) {
      if (this.depth[x]! <= far) break; // null is as near
      far = Math.max(far, this.nearest(x, others, far, stack));
    }
    return far;
  }

  private nearest(x: number, others: Int32Array, enough: number, stack: number[]): number {
    let best = this.depth[x]!;
    for (const y of others) {
      if (best <= enough) return best;
      this.work++;
      const least = Math.max(Math.abs(this.depth[x]! - this.depth[y]!), this.ofFunctions(x, y));
      if (least >= best) continue;
      const found = this.get(x, y);
      if (found < 0) stack.push(x, y);
      else best = Math.min(best, found);
    }
    return best;
  }
}

/** The nearest of `others`: the first of the nearest, null only if it is nearer than all. */
function partner(
  metric: ShapeMetric,
  x: number,
  others: Int32Array,
): { shape: number; distance: number } | null {
  if (others.includes(x)) return { shape: x, distance: 0 };
  let best = { shape: NULL, distance: metric.depth[x]! };
  for (const y of others) {
    const found = metric.distance(x, y);
    if (found === null) return null;
    if (found < best.distance || (found === best.distance && best.shape === NULL))
      best = { shape: y, distance: found };
  }
  return best;
}

function edgeTo(table: ShapeTable, parent: number, kid: number): number {
  if (parent === NULL || kid === NULL) return -1;
  for (let e = table.kidsFrom[parent]!; e < table.kidsFrom[parent + 1]!; e++)
    if (table.kid[e] === kid) return e;
  return -1;
}

/** The pairs of the callees of a pair: a's, then those of b's that are new. */
function below(table: ShapeTable, metric: ShapeMetric, match: Match): Match[] | null {
  const [ofA, ofB] = [metric.kids(match.a), metric.kids(match.b)];
  const rest = match.distance - metric.ofFunctions(match.a, match.b);
  const out: Match[] = [];
  const nearestOfA = new Map<number, number>();
  const [seenA, seenB] = [new Set<number>(), new Set<number>()];
  const put = (a: number, b: number, distance: number): void => {
    out.push({
      a,
      b,
      level: match.level + 1,
      distance,
      isCritical: match.isCritical && distance > 0 && distance === rest,
      edgeA: edgeTo(table, match.a, a),
      edgeB: edgeTo(table, match.b, b),
      isAgainA: seenA.has(a),
      isAgainB: seenB.has(b),
    });
    if (a !== NULL) seenA.add(a);
    if (b !== NULL) seenB.add(b);
  };
  for (const a of ofA) {
    const found = partner(metric, a, ofB);
    if (!found) return null;
    nearestOfA.set(a, found.shape);
    put(a, found.shape, found.distance);
  }
  for (const b of ofB) {
    const found = partner(metric, b, ofA);
    if (!found) return null;
    if (found.shape === NULL || nearestOfA.get(found.shape) !== b)
      put(found.shape, b, found.distance);
  }
  return out;
}

/** Callees that were not sent, of a shape and all below it. */
export function missingBelow(table: ShapeTable, shape: number): number {
  const seen = new Set([shape]);
  let missing = 0;
  for (const s of seen) {
    missing += table.more[s]!;
    for (let e = table.kidsFrom[s]!; e < table.kidsFrom[s + 1]!; e++) seen.add(table.kid[e]!);
  }
  return missing;
}

/** Two shapes side by side, at most `limit` pairs; null if they are too large to compare. */
export function compareShapes(
  table: ShapeTable,
  metric: ShapeMetric,
  a: number,
  b: number,
  limit: number,
): Difference | null {
  const distance = metric.distance(a, b);
  if (distance === null) return null;
  const root: Match = {
    a,
    b,
    level: 0,
    distance,
    isCritical: distance > 0,
    edgeA: -1,
    edgeB: -1,
    isAgainA: false,
    isAgainB: false,
  };
  const pending = [root];
  const matches: Match[] = [];
  while (pending.length > 0 && matches.length < limit) {
    const match = pending.pop()!;
    matches.push(match);
    if (match.a === match.b) continue;
    const next = below(table, metric, match);
    if (!next) return null;
    pending.push(...next.reverse());
  }
  return {
    distance,
    matches,
    isCut: pending.length > 0,
    missing: missingBelow(table, a) + (a === b ? 0 : missingBelow(table, b)),
  };
}

export interface Near {
  shape: number;
  distance: number;
}

/** The shapes at most `bound` half units from one, nearest first; those of its function alone. */
export function nearShapes(
  table: ShapeTable,
  metric: ShapeMetric,
  shape: number,
  bound: number,
): Near[] {
  const out: Near[] = [];
  for (let other = 0; other < table.n; other++) {
    if (other === shape || table.fn[other] !== table.fn[shape]) continue;
    if (Math.abs(metric.depth[other]! - metric.depth[shape]!) > bound) continue;
    const distance = metric.distance(shape, other);
    if (distance !== null && distance <= bound) out.push({ shape: other, distance });
  }
  return out.sort((x, y) => x.distance - y.distance || x.shape - y.shape);
}

/** "1", "1\u00bd", "\u00bd". */
export function distanceText(halves: number): string {
  const whole = Math.floor(halves / 2);
  if (halves % 2 === 0) return String(whole);
  return `${whole > 0 ? whole : ''}\u00bd`;
}

export type Sign = 'same' | 'inside' | 'function' | 'onlyA' | 'onlyB';

/** What a pair is: the same, alike but for what is below, of other functions, or on one side. */
export function signOf(table: ShapeTable, { a, b }: Match): Sign {
  if (a === b) return 'same';
  if (b === NULL) return 'onlyA';
  if (a === NULL) return 'onlyB';
  return table.fn[a] === table.fn[b] ? 'inside' : 'function';
}

/** How often the callers call the two is not the same. */
export function repeatsDiffer(table: ShapeTable, { edgeA, edgeB }: Match): boolean {
  if (edgeA < 0 || edgeB < 0) return false;
  return table.least[edgeA] !== table.least[edgeB] || table.most[edgeA] !== table.most[edgeB];
}
