// SPDX-License-Identifier: MIT
// Calling context trees: one node for every path from the outermost call, with the time of all calls
// on it; and what people do to them (Firefox's call tree has the same verbs).
//
// In every tree: sum = self + rest + the sums of the children. `rest` is time of calls whose paths
// are known only in sum. Node 0 is the root, "outside of all calls"; a path lists functions from the
// outermost to the innermost. Numbers below -1 name groups of functions (a library, a family).

export const ROOT = -1;

/** Nodes in pre-order, children by sum. `next` is the first node behind a node's subtree. */
export interface CallTree {
  n: number;
  fn: Int32Array;
  parent: Int32Array;
  next: Int32Array;
  depth: Uint16Array;
  count: Float64Array;
  sum: Float64Array;
  self: Float64Array;
  rest: Float64Array;
}

/** Rows as a server tells them: pre-order, parent -1 for an outermost call. */
export interface TreeRows {
  parent: Int32Array;
  fn: Uint32Array;
  count: Float64Array;
  sum: Float64Array;
  self: Float64Array;
}

export const groupFn = (group: number): number => -2 - group;
export const groupOfFn = (fn: number): number => -2 - fn;

const KEY = 2 ** 26; // functions and groups of a trace are fewer than half of it

/** A tree that grows: children are found by function. */
class Growing {
  readonly fn: number[] = [ROOT];
  readonly parent: number[] = [-1];
  readonly count: number[] = [0];
  readonly self: number[] = [0];
  readonly rest: number[] = [0];
  private readonly children = new Map<number, number>();

  child(parent: number, fn: number): number {
    const key = parent * KEY + fn + KEY / 2;
    let node = this.children.get(key);
    if (node === undefined) {
      node = this.fn.length;
      this.children.set(key, node);
      this.fn.push(fn);
      this.parent.push(parent);
      this.count.push(0);
      this.self.push(0);
      this.rest.push(0);
    }
    return node;
  }

  finish(): CallTree {
    const n = this.fn.length;
    const sum = Float64Array.from(this.self, (self, i) => self + this.rest[i]!);
    for (let i = n - 1; i > 0; i--) sum[this.parent[i]!]! += sum[i]!;
    return this.inOrder(
      sum,
      orderNodes(this.parent, (a, b) => sum[b]! - sum[a]! || this.byFn(a, b)),
    );
  }

  private byFn(a: number, b: number): number {
    return this.fn[a]! - this.fn[b]!;
  }

  private inOrder(sum: Float64Array, order: Int32Array): CallTree {
    const n = order.length;
    const place = new Int32Array(n);
    order.forEach((node, i) => (place[node] = i));
    const pick = (from: ArrayLike<number>): Float64Array =>
      Float64Array.from(order, node => from[node]!);
    const parent = Int32Array.from(order, node => (node === 0 ? -1 : place[this.parent[node]!]!));
    const tree: CallTree = {
      n,
      fn: Int32Array.from(order, node => this.fn[node]!),
      parent,
      next: new Int32Array(n),
      depth: new Uint16Array(n),
      count: pick(this.count),
      sum: pick(sum),
      self: pick(this.self),
      rest: pick(this.rest),
    };
    linkNodes(tree);
    return tree;
  }
}

function linkNodes({ n, parent, next, depth }: CallTree): void {
  for (let i = 1; i < n; i++) depth[i] = depth[parent[i]!]! + 1;
  for (let i = 0; i < n; i++) next[i] = i + 1;
  for (let i = n - 1; i > 0; i--) if (next[i]! > next[parent[i]!]!) next[parent[i]!] = next[i]!;
}

/** All nodes in pre-order, siblings as `compare` has them. Parents stand before children. */
function orderNodes(
  parent: ArrayLike<number>,
  compare: (a: number, b: number) => number,
): Int32Array {
  const children: number[][] = Array.from(parent, () => []);
  for (let i = 1; i < parent.length; i++) children[parent[i]!]!.push(i);
  const order = new Int32Array(parent.length);
  const stack = [0];
  for (let at = 0; stack.length > 0; at++) {
    const node = stack.pop()!;
    order[at] = node;
    const own = children[node]!;
    own.sort(compare);
    for (let i = own.length - 1; i >= 0; i--) stack.push(own[i]!);
  }
  return order;
}

/** The tree of rows that a server sent. What its sums hold beyond their parts is `rest`. */
export function makeTree({ parent, fn, count, sum, self }: TreeRows): CallTree {
  const grown = new Growing();
  const below = new Float64Array(parent.length);
  const node = new Int32Array(parent.length);
  for (let i = 0; i < parent.length; i++) if (parent[i]! >= 0) below[parent[i]!]! += sum[i]!;
  for (let i = 0; i < parent.length; i++) {
    const at = grown.child(parent[i]! < 0 ? 0 : node[parent[i]!]!, fn[i]!);
    node[i] = at;
    grown.count[at]! += count[i]!;
    grown.self[at]! += self[i]!;
    grown.rest[at]! += Math.max(0, sum[i]! - self[i]! - below[i]!);
  }
  return grown.finish();
}

export function pathOf(tree: CallTree, node: number): number[] {
  const path: number[] = [];
  for (let i = node; i > 0; i = tree.parent[i]!) path.unshift(tree.fn[i]!);
  return path;
}

/** The node at the end of a path; -1 if the tree has none there. */
export function nodeAt(tree: CallTree, path: readonly number[]): number {
  let node = 0;
  for (const fn of path) {
    node = childrenOf(tree, node).find(child => tree.fn[child] === fn) ?? -1;
    if (node < 0) return -1;
  }
  return node;
}

export function childrenOf(tree: CallTree, node: number): number[] {
  const children: number[] = [];
  for (let i = node + 1; i < tree.next[node]!; i = tree.next[i]!) children.push(i);
  return children;
}

/** The children by what they are called, so that two trees can be compared by eye. */
export function childrenByName(
  tree: CallTree,
  node: number,
  nameOf: (fn: number) => string,
): number[] {
  const name = (i: number): string => nameOf(tree.fn[i]!);
  return childrenOf(tree, node).sort((a, b) => {
    const [x, y] = [name(a), name(b)];
    return x < y ? -1 : x > y ? 1 : tree.fn[a]! - tree.fn[b]!;
  });
}

export interface FunctionTime {
  fn: number;
  self: number;
  /** Calls inside calls of the same function count too. */
  inclusive: number;
}

/** Times by function, most self time first; of calls that an edge cuts, what lies inside counts. */
export function timesByFunction(tree: CallTree): FunctionTime[] {
  const by = new Map<number, FunctionTime>();
  for (let i = 1; i < tree.n; i++) {
    const fn = tree.fn[i]!;
    let own = by.get(fn);
    if (!own) by.set(fn, (own = { fn, self: 0, inclusive: 0 }));
    own.self += tree.self[i]!;
    own.inclusive += tree.sum[i]!;
  }
  return [...by.values()].sort((a, b) => b.self - a.self || a.fn - b.fn);
}

/* ---- transforms ------------------------------------------------------------------------------ */

/** Where the time of a node goes: a node of the new tree, and whether it stays a call of its own. */
interface Move {
  to: number;
  isOwn: boolean;
}

const GONE: Move = { to: -1, isOwn: false };

/** Builds the tree in which every node went where `move` says, parents first. */
function rebuild(
  tree: CallTree,
  move: (node: number, above: number, grown: Growing) => Move,
): CallTree {
  const grown = new Growing();
  const target = new Int32Array(tree.n).fill(-1);
  target[0] = 0;
  grown.self[0] = tree.self[0]!;
  grown.rest[0] = tree.rest[0]!;
  for (let i = 1; i < tree.n; i++) {
    const { to, isOwn } = move(i, target[tree.parent[i]!]!, grown);
    target[i] = to;
    if (to < 0) continue;
    grown.self[to]! += tree.self[i]!;
    grown.rest[to]! += tree.rest[i]!;
    if (isOwn) grown.count[to]! += tree.count[i]!;
  }
  return grown.finish();
}

/** For a focus: what is outside of the chosen nodes belongs to nobody. */
function emptied(tree: CallTree): CallTree {
  const [self, rest] = [tree.self.slice(), tree.rest.slice()];
  self[0] = rest[0] = 0;
  return { ...tree, self, rest };
}

const own = (to: number): Move => ({ to, isOwn: true });
const into = (to: number): Move => ({ to, isOwn: false });

/** Its callers take the time of the nodes chosen; what those called, they now call. */
function merge(tree: CallTree, isChosen: (node: number) => boolean): CallTree {
  return rebuild(tree, (i, above, grown) =>
    isChosen(i) ? into(above) : own(grown.child(above, tree.fn[i]!)),
  );
}

/** Only what runs below the outermost nodes chosen, which become roots. */
function focus(tree: CallTree, isChosen: (node: number) => boolean): CallTree {
  return rebuild(emptied(tree), (i, above, grown) => {
    if (above > 0) return own(grown.child(above, tree.fn[i]!));
    return isChosen(i) ? own(grown.child(0, tree.fn[i]!)) : GONE;
  });
}

/** The nodes of a function take the time of all below them. */
function collapse(tree: CallTree, fn: number): CallTree {
  const isInside = new Uint8Array(tree.n);
  return rebuild(tree, (i, above, grown) => {
    isInside[i] = isInside[tree.parent[i]!] || tree.fn[tree.parent[i]!] === fn ? 1 : 0;
    return isInside[i] ? into(above) : own(grown.child(above, tree.fn[i]!));
  });
}

/** Calls among the functions of a group become one node, named after the group. */
function collapseGroup(tree: CallTree, group: number, groupOf: ArrayLike<number>): CallTree {
  const isIn = (i: number): boolean => {
    const fn = tree.fn[i]!;
    return fn >= 0 ? groupOf[fn] === group : fn === groupFn(group);
  };
  return rebuild(tree, (i, above, grown) => {
    if (!isIn(i)) return own(grown.child(above, tree.fn[i]!));
    return isIn(tree.parent[i]!) ? into(above) : own(grown.child(above, groupFn(group)));
  });
}

/** Neither the nodes of a function nor anything below them. */
function drop(tree: CallTree, fn: number): CallTree {
  return rebuild(tree, (i, above, grown) =>
    above < 0 || tree.fn[i] === fn ? GONE : own(grown.child(above, tree.fn[i]!)),
  );
}

/** Calls of a function from inside itself count as that, outermost, call. */
function collapseRecursion(tree: CallTree, fn: number): CallTree {
  const outer = new Int32Array(tree.n).fill(-1);
  return rebuild(tree, (i, above, grown) => {
    const from = outer[tree.parent[i]!]!;
    outer[i] = from;
    if (tree.fn[i] === fn && from >= 0) return into(from);
    const to = grown.child(above, tree.fn[i]!);
    if (tree.fn[i] === fn) outer[i] = to;
    return own(to);
  });
}

/** Adds the path from a node up to the outermost call, the node first. */
function growUp(tree: CallTree, grown: Growing, node: number, count: number): number {
  let to = 0;
  for (let i = node; i > 0; i = tree.parent[i]!) {
    to = grown.child(to, tree.fn[i]!);
    grown.count[to]! += count;
  }
  return to;
}

/** Functions by self time, and below them who called them. */
function invert(tree: CallTree): CallTree {
  const grown = new Growing();
  grown.self[0] = tree.self[0]!;
  grown.rest[0] = tree.rest[0]!;
  for (let i = 1; i < tree.n; i++) {
    const to = growUp(tree, grown, i, tree.count[i]!);
    grown.self[to]! += tree.self[i]!;
    grown.rest[0] += tree.rest[i]!;
  }
  return grown.finish();
}

/** Who called a function, and for how much of its inclusive time; recursive calls count once. */
export function callersOf(tree: CallTree, fn: number): CallTree {
  const grown = new Growing();
  for (let i = 1; i < tree.n; ) {
    if (tree.fn[i] !== fn) {
      i++;
      continue;
    }
    grown.self[growUp(tree, grown, i, tree.count[i]!)]! += tree.sum[i]!;
    i = tree.next[i]!;
  }
  return grown.finish();
}

/** What a function called: the counterpart of callersOf, of the same sum. */
export function calleesOf(tree: CallTree, fn: number): CallTree {
  return focus(tree, i => tree.fn[i] === fn);
}

export const TRANSFORMS = ['m', 'M', 'f', 'F', 'c', 'C', 'd', 'r', 'i'] as const;
export type TransformKind = (typeof TRANSFORMS)[number];

/** `path`: one function for m f c d r, one group for C, the whole path for M and F, none for i. */
export interface Transform {
  kind: TransformKind;
  path: number[];
}

function applyOne(tree: CallTree, { kind, path }: Transform, groups: ArrayLike<number>): CallTree {
  const fn = path[0] ?? ROOT;
  const isFn = (i: number): boolean => tree.fn[i] === fn;
  if (kind === 'i') return invert(tree);
  if (kind === 'm') return merge(tree, isFn);
  if (kind === 'f') return focus(tree, isFn);
  if (kind === 'c') return collapse(tree, fn);
  if (kind === 'd') return drop(tree, fn);
  if (kind === 'r') return collapseRecursion(tree, fn);
  if (kind === 'C') return collapseGroup(tree, fn, groups);
  const node = nodeAt(tree, path);
  return kind === 'M' ? merge(tree, i => i === node) : focus(tree, i => i === node);
}

function concerns(tree: CallTree, { kind, path }: Transform, groups: ArrayLike<number>): boolean {
  if (kind === 'i') return true;
  if (kind === 'M' || kind === 'F') return nodeAt(tree, path) > 0;
  const wanted = path[0]!;
  if (kind === 'C') return tree.fn.some(fn => fn >= 0 && groups[fn] === wanted);
  return tree.fn.includes(wanted);
}

export interface Transformed {
  tree: CallTree;
  /** By transform: it found what it names. One that did not is without effect. */
  hasEffect: boolean[];
}

/** Applies transforms in turn. `groups` has the library (or family) of every function. */
export function applyTransforms(
  tree: CallTree,
  transforms: readonly Transform[],
  groups: ArrayLike<number>,
): Transformed {
  const hasEffect: boolean[] = [];
  let now = tree;
  for (const transform of transforms) {
    const has = concerns(now, transform, groups);
    hasEffect.push(has);
    if (has) now = applyOne(now, transform, groups);
  }
  return { tree: now, hasEffect };
}

const writeFn = (fn: number): string => (fn < ROOT ? `g${groupOfFn(fn)}` : String(fn));

function readFn(text: string): number {
  if (/^g\d{1,7}$/.test(text)) return groupFn(Number(text.slice(1)));
  return /^\d{1,7}$/.test(text) ? Number(text) : ROOT;
}

export function writePath(path: readonly number[]): string {
  return path.map(writeFn).join('.');
}

export function readPath(text: string): number[] {
  return text === ''
    ? []
    : text
        .split('.')
        .map(readFn)
        .filter(fn => fn !== ROOT);
}

/** As an address holds them: "m12,F1.5.7,i". */
export function writeTransforms(transforms: readonly Transform[]): string {
  return transforms.map(({ kind, path }) => kind + writePath(path)).join(',');
}

export function readTransforms(text: string): Transform[] {
  return text.split(',').flatMap(part => {
    const kind = TRANSFORMS.find(one => one === part[0]);
    const path = readPath(part.slice(1));
    if (!kind || (kind !== 'i' && path.length === 0)) return [];
    return [{ kind, path: kind === 'i' ? [] : path }];
  });
}
