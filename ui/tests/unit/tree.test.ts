// SPDX-License-Identifier: MIT
// Transforms against a slow twin that works on lists of stacks, and the laws that they keep.
import { expect, it } from 'vitest';
import { boxAt, layoutFlame } from '../../src/shared/lib/flame';
import * as tree from '../../src/shared/lib/tree';
import type { CallTree, Transform } from '../../src/shared/lib/tree';

/** A stack, and the time spent at its end. */
interface Sample {
  stack: number[];
  self: number;
}

function random(seed: number): () => number {
  let s = seed;
  return () => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return s / 2 ** 32;
  };
}

const FUNCTIONS = 6;
const GROUPS = [0, 0, 1, 1, 2, 2];

function samples(next: () => number): Sample[] {
  return Array.from({ length: 1 + Math.floor(next() * 30) }, () => ({
    stack: Array.from({ length: 1 + Math.floor(next() * 7) }, () => Math.floor(next() * FUNCTIONS)),
    self: Math.floor(next() * 50),
  }));
}

interface Twin {
  children: Map<number, Twin>;
  sum: number;
  self: number;
}

const leaf = (): Twin => ({ children: new Map(), sum: 0, self: 0 });

function twinOf(list: readonly Sample[]): Twin {
  const root = leaf();
  for (const { stack, self } of list) {
    let at = root;
    at.sum += self;
    for (const fn of stack) {
      let child = at.children.get(fn);
      if (!child) at.children.set(fn, (child = leaf()));
      at = child;
      at.sum += self;
    }
    at.self += self;
  }
  return root;
}

/** As a server sends it. */
function rowsOf(list: readonly Sample[]): tree.TreeRows {
  const [parent, fn, sum, self]: number[][] = [[], [], [], []];
  const put = (twin: Twin, above: number): void => {
    for (const [key, child] of twin.children) {
      const at = parent!.length;
      parent!.push(above);
      fn!.push(key);
      sum!.push(child.sum);
      self!.push(child.self);
      put(child, at);
    }
  };
  put(twinOf(list), -1);
  return {
    parent: Int32Array.from(parent!),
    fn: Uint32Array.from(fn!),
    sum: Float64Array.from(sum!),
    self: Float64Array.from(self!),
    count: Float64Array.from(sum!, () => 1),
  };
}

/** Paths with time: "1.2 sum self", sorted. */
function listTwin(twin: Twin, path: number[] = []): string[] {
  const own = twin.sum > 0 ? [`${path.join('.')} ${twin.sum} ${twin.self}`] : [];
  return [...own, ...[...twin.children].flatMap(([fn, child]) => listTwin(child, [...path, fn]))];
}

function listTree(made: CallTree): string[] {
  const out: string[] = [];
  for (let i = 0; i < made.n; i++)
    if (made.sum[i]! > 0)
      out.push(`${tree.pathOf(made, i).join('.')} ${made.sum[i]} ${made.self[i]}`);
  return out;
}

const startsWith = (stack: number[], path: number[]): boolean =>
  path.every((fn, i) => stack[i] === fn);

/** A transform on stacks: what it makes of one; null: it is dropped. */
function slowly({ kind, path }: Transform, stack: number[]): number[] | null {
  const fn = path[0]!;
  const at = stack.indexOf(fn);
  if (kind === 'i') return [...stack].reverse();
  if (kind === 'm') return stack.filter(one => one !== fn);
  if (kind === 'f') return at < 0 ? null : stack.slice(at);
  if (kind === 'c') return at < 0 ? stack : stack.slice(0, at + 1);
  if (kind === 'd') return at < 0 ? stack : null;
  if (kind === 'r')
    return at < 0 ? stack : [...stack.slice(0, at), ...stack.slice(stack.lastIndexOf(fn))];
  if (kind === 'F') return startsWith(stack, path) ? stack.slice(path.length - 1) : null;
  if (kind === 'M')
    return startsWith(stack, path) ? stack.filter((_, i) => i !== path.length - 1) : stack;
  const name = (one: number): number => (GROUPS[one] === fn ? tree.groupFn(fn) : one);
  return stack.map(name).filter((one, i, all) => one >= 0 || one !== all[i - 1]);
}

function transformSlowly(list: readonly Sample[], transform: Transform): Sample[] {
  return list.flatMap(({ stack, self }) => {
    const made = slowly(transform, stack);
    return made ? [{ stack: made, self }] : [];
  });
}

function someTransform(next: () => number, list: readonly Sample[]): Transform {
  const kind = tree.TRANSFORMS[Math.floor(next() * tree.TRANSFORMS.length)]!;
  const { stack } = list[Math.floor(next() * list.length)]!;
  if (kind === 'i') return { kind, path: [] };
  if (kind === 'C') return { kind, path: [Math.floor(next() * 3)] };
  if (kind === 'M' || kind === 'F')
    return { kind, path: stack.slice(0, 1 + Math.floor(next() * stack.length)) };
  return { kind, path: [Math.floor(next() * FUNCTIONS)] };
}

function troubleOf(made: CallTree): string {
  const below = new Float64Array(made.n);
  for (let i = 1; i < made.n; i++) below[made.parent[i]!]! += made.sum[i]!;
  for (let i = 0; i < made.n; i++) {
    if (made.sum[i] !== made.self[i]! + made.rest[i]! + below[i]!) return `sum of ${i}`;
    if (made.next[i]! <= i) return `subtree of ${i}`;
    const above = made.parent[i]!;
    if (i > 0 && (above >= i || made.depth[i] !== made.depth[above]! + 1)) return `place of ${i}`;
    const sums = tree.childrenOf(made, i).map(child => made.sum[child]!);
    if (sums.some((sum, at) => at > 0 && sum > sums[at - 1]!)) return `order below ${i}`;
  }
  return '';
}

const isSound = (made: CallTree): void => expect(troubleOf(made)).toBe('');

it('transforms do to trees what they do to stacks', () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 3000; seed++) {
    const next = random(seed);
    const list = samples(next);
    const made = tree.makeTree(rowsOf(list));
    const transform = someTransform(next, list);
    const { tree: now, hasEffect } = tree.applyTransforms(made, [transform], GROUPS);
    isSound(now);
    const wanted = hasEffect[0] ? transformSlowly(list, transform) : list;
    expect(listTree(now).sort(), JSON.stringify(transform)).toEqual(
      listTwin(twinOf(wanted)).sort(),
    );
    seen.add(transform.kind);
  }
  expect(seen.size).toBe(tree.TRANSFORMS.length);
});

it('merging, collapsing and inverting keep the time; focus and drop share it', () => {
  for (let seed = 1; seed <= 1000; seed++) {
    const next = random(seed);
    const made = tree.makeTree(rowsOf(samples(next)));
    const whole = made.sum[0]!;
    const fn = made.fn[1 + Math.floor(next() * (made.n - 1))]!;
    const total = (kind: Transform['kind'], path = [fn]): number =>
      tree.applyTransforms(made, [{ kind, path }], GROUPS).tree.sum[0]!;
    for (const kind of ['m', 'c', 'r', 'i'] as const) expect(total(kind)).toBe(whole);
    expect(total('C', [GROUPS[fn]!])).toBe(whole);
    expect(total('f') + total('d')).toBe(whole);
  }
});

it('a focus is a subset: no function gains time', () => {
  const selves = (made: CallTree): number[] => {
    const by = new Array<number>(FUNCTIONS).fill(0);
    for (let i = 1; i < made.n; i++) by[made.fn[i]!]! += made.self[i]!;
    return by;
  };
  for (let seed = 1; seed <= 500; seed++) {
    const next = random(seed);
    const made = tree.makeTree(rowsOf(samples(next)));
    const node = 1 + Math.floor(next() * (made.n - 1));
    const before = selves(made);
    for (const transform of [
      { kind: 'f', path: [made.fn[node]!] },
      { kind: 'F', path: tree.pathOf(made, node) },
    ] as const) {
      const { tree: now } = tree.applyTransforms(
        made,
        [{ ...transform, path: [...transform.path] }],
        GROUPS,
      );
      selves(now).forEach((self, fn) => expect(self).toBeLessThanOrEqual(before[fn]!));
      expect(now.sum[0]).toBeGreaterThanOrEqual(made.sum[node]!);
    }
  }
});

it('an inverted tree has the self time of functions as its roots', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const list = samples(random(seed));
    const { tree: now } = tree.applyTransforms(
      tree.makeTree(rowsOf(list)),
      [{ kind: 'i', path: [] }],
      GROUPS,
    );
    for (const child of tree.childrenOf(now, 0)) {
      const self = list.filter(({ stack }) => stack[stack.length - 1] === now.fn[child]);
      expect(now.sum[child]).toBe(self.reduce((sum, one) => sum + one.self, 0));
    }
  }
});

it('callers and callees have the inclusive time, recursion once', () => {
  for (let seed = 1; seed <= 500; seed++) {
    const list = samples(random(seed));
    const made = tree.makeTree(rowsOf(list));
    for (let fn = 0; fn < FUNCTIONS; fn++) {
      const wanted = list
        .filter(({ stack }) => stack.includes(fn))
        .reduce((n, one) => n + one.self, 0);
      const [up, down] = [tree.callersOf(made, fn), tree.calleesOf(made, fn)];
      isSound(up);
      isSound(down);
      expect([up.sum[0], down.sum[0]]).toEqual([wanted, wanted]);
      if (up.n > 1) expect([up.fn[1], down.fn[1], up.count[1]]).toEqual([fn, fn, down.count[1]]);
    }
  }
});

it('what a server folded stays as a rest', () => {
  const made = tree.makeTree({
    parent: Int32Array.of(-1, 0, -1),
    fn: Uint32Array.of(3, 4, 5),
    count: Float64Array.of(1, 2, 1),
    sum: Float64Array.of(100, 30, 7),
    self: Float64Array.of(50, 30, 7),
  });
  isSound(made);
  expect([made.sum[0], made.rest[1], made.rest[2]]).toEqual([107, 20, 0]);
  for (const kind of ['m', 'c', 'i'] as const) {
    const { tree: now } = tree.applyTransforms(made, [{ kind, path: [3] }], GROUPS);
    isSound(now);
    expect(now.sum[0]).toBe(107);
  }
});

it('addresses hold transforms and paths', () => {
  const list: Transform[] = [
    { kind: 'm', path: [12] },
    { kind: 'F', path: [1, tree.groupFn(5), 7] },
    { kind: 'i', path: [] },
    { kind: 'C', path: [0] },
  ];
  const text = tree.writeTransforms(list);
  expect(text).toBe('m12,F1.g5.7,i,C0');
  expect(tree.readTransforms(text)).toEqual(list);
  expect(tree.readTransforms('q1,,m,mx,M1.-4,i9')).toEqual([
    { kind: 'M', path: [1] },
    { kind: 'i', path: [] },
  ]);
  expect(tree.readTransforms('')).toEqual([]);
});

it('paths lead to their node and back', () => {
  const made = tree.makeTree(rowsOf(samples(random(5))));
  for (let i = 0; i < made.n; i++) expect(tree.nodeAt(made, tree.pathOf(made, i))).toBe(i);
  expect(tree.nodeAt(made, [99])).toBe(-1);
});

it('a flame graph shows or counts all time', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const next = random(seed);
    const made = tree.makeTree(rowsOf(samples(next)));
    const width = 5 + Math.floor(next() * 300);
    const order = seed % 2 ? 'name' : 'time';
    const flame = layoutFlame(made, { width, order, nameOf: fn => `f${9 - fn}` });
    expect(flame.drawn + flame.merged + flame.hidden).toBe(made.n - 1);
    const outermost = flame.boxes.filter(box => box.level === 0);
    const shown = outermost.reduce((sum, box) => sum + box.ns, 0);
    expect(shown).toBeLessThanOrEqual(made.sum[0]!);
    expect(shown + flame.hiddenNs + made.self[0]!).toBeGreaterThanOrEqual(made.sum[0]!);
    flame.boxes.forEach((box, i) => {
      const before = flame.boxes[i - 1];
      if (before?.level === box.level) expect(box.x0).toBeGreaterThanOrEqual(before.x1 - 1e-6);
      expect(box.x1).toBeLessThanOrEqual(width + 1e-6);
      if (box.x1 - box.x0 >= 1) expect(boxAt(flame, (box.x0 + box.x1) / 2, box.level)).toBe(box);
    });
  }
});
