// SPDX-License-Identifier: MIT
// What a call called, at any depth: from the calling context tree of its thread and time.

export interface Below {
  fn: number;
  count: number;
  sum: number;
  self: number;
}

/** Contexts in pre-order. */
export interface Contexts {
  n: number;
  depth: ArrayLike<number>;
  fn: ArrayLike<number>;
  count: ArrayLike<number>;
  sum: ArrayLike<number>;
  self: ArrayLike<number>;
}

/** The context of the call: of its depth and function there is no other as long, since its callers
 * are open all the time; one of no duration may begin where it does. */
function contextOf(tree: Contexts, depth: number, fn: number): number {
  let found = -1;
  for (let i = 0; i < tree.n; i++)
    if (tree.depth[i] === depth && tree.fn[i] === fn)
      if (found < 0 || tree.sum[i]! > tree.sum[found]!) found = i;
  return found;
}

/** By function, most time of its own first; `sum` counts recursive calls as often as they are open. */
export function allBelow(tree: Contexts, depth: number, fn: number): Below[] {
  const byFn = new Map<number, Below>();
  const from = contextOf(tree, depth, fn);
  for (let i = from + 1; from >= 0 && i < tree.n && tree.depth[i]! > depth; i++) {
    const own = byFn.get(tree.fn[i]!) ?? { fn: tree.fn[i]!, count: 0, sum: 0, self: 0 };
    own.count += tree.count[i]!;
    own.sum += tree.sum[i]!;
    own.self += tree.self[i]!;
    byFn.set(own.fn, own);
  }
  return [...byFn.values()].sort((a, b) => b.self - a.self || a.fn - b.fn);
}
