// SPDX-License-Identifier: MIT
// The call tree of the Functions screen: what it is after its transforms, and what keys do to it.
import { GREY_HUE } from '../../shared/lib/color';
import { duration, integer, percent, plural } from '../../shared/lib/format';
import * as lib from '../../shared/lib/tree';
import type { CallTree, Transform, TransformKind, Transformed } from '../../shared/lib/tree';
import type { Served } from '../../shared/state/served';
import type { Functions } from './state';

/** What functions are put together by: libraries, or families where no library is known. */
interface Groups {
  word: 'library' | 'family';
  names: string[];
  ofFunction: ArrayLike<number>;
  hues: number[];
}

function libraries({ names }: Served): Groups {
  const all = [...new Set(names.module)];
  const at = new Map(all.map((name, i) => [name, i]));
  return {
    word: 'library',
    names: all.map(name => name || 'no library'),
    ofFunction: names.module.map(name => at.get(name)!),
    hues: all.map(() => GREY_HUE),
  };
}

function groupsOf(served: Served): Groups {
  const { families, names } = served;
  if (names.module.some(name => name !== '')) return libraries(served);
  return {
    word: 'family',
    names: families.list.map(({ title }) => title),
    ofFunction: families.ofFunction,
    hues: families.list.map(({ hue }) => hue),
  };
}

const WORDS: Record<TransformKind, string> = {
  m: 'merge',
  M: 'merge node',
  f: 'focus',
  F: 'focus subtree',
  c: 'collapse',
  C: 'collapse',
  d: 'drop',
  r: 'collapse recursion of',
  i: 'inverted',
};

/** The tree of a Functions screen, transformed; made anew only when something changed. */
export class TreeView {
  readonly groups: Groups;
  private last: { of: readonly unknown[]; made: Transformed } | null = null;
  private lastSandwich: { of: readonly unknown[]; up: CallTree; down: CallTree } | null = null;

  constructor(readonly screen: Functions) {
    this.groups = groupsOf(screen.served);
  }

  /** null: not here yet. */
  now(): Transformed | null {
    const { answers, transforms } = this.screen.state.get();
    const base = answers.tree.value?.tree;
    if (!base) return null;
    if (this.last?.of[0] !== base || this.last.of[1] !== transforms)
      this.last = {
        of: [base, transforms],
        made: lib.applyTransforms(base, transforms, this.groups.ofFunction),
      };
    return this.last.made;
  }

  sandwich(fn: number): { up: CallTree; down: CallTree } | null {
    const tree = this.now()?.tree;
    if (!tree) return null;
    if (this.lastSandwich?.of[0] !== tree || this.lastSandwich.of[1] !== fn)
      this.lastSandwich = {
        of: [tree, fn],
        up: lib.callersOf(tree, fn),
        down: lib.calleesOf(tree, fn),
      };
    return this.lastSandwich;
  }

  /** The selected node; -1: none. */
  node(): number {
    const { path } = this.screen.state.get();
    const tree = this.now()?.tree;
    return tree && path.length > 0 ? lib.nodeAt(tree, path) : -1;
  }

  readonly nameOf = (fn: number): string => {
    if (fn >= 0) return this.screen.name(fn);
    if (fn === lib.ROOT) return 'all calls';
    return `${this.groups.word} ${this.groups.names[lib.groupOfFn(fn)] ?? '?'}`;
  };

  fullName(fn: number): string {
    return fn >= 0 ? this.screen.served.names.name[fn]! : this.nameOf(fn);
  }

  hueOf(fn: number): number {
    if (fn >= 0) return this.screen.served.families.hue[fn] ?? GREY_HUE;
    return this.groups.hues[lib.groupOfFn(fn)] ?? GREY_HUE;
  }

  isWait(fn: number): boolean {
    return fn >= 0 && this.screen.served.names.isWait[fn] === 1;
  }

  get isInverted(): boolean {
    return this.screen.state.get().transforms.some(({ kind }) => kind === 'i');
  }

  /** "focus evict_page": what a chip says. */
  words({ kind, path }: Transform): string {
    if (kind === 'i') return WORDS.i;
    const last = kind === 'C' ? lib.groupFn(path[0]!) : path[path.length - 1]!;
    return `${WORDS[kind]} ${this.nameOf(last)}`;
  }

  /* ---- what people do ------------------------------------------------------------------------ */

  select(tree: CallTree, node: number): void {
    const path = node > 0 ? lib.pathOf(tree, node) : [];
    this.screen.set({ path });
    const fn = path[path.length - 1] ?? lib.ROOT;
    if (fn >= 0) this.screen.selectFunction(fn);
    if (node > 0) this.screen.say(this.sentence(tree, node));
  }

  sentence(tree: CallTree, node: number): string {
    const depth = tree.depth[node]!;
    const total = Math.max(1, tree.sum[0]!);
    return `${this.fullName(tree.fn[node]!)}, ${duration(tree.sum[node]!)} thread-time, ${percent(
      tree.sum[node]! / total,
    )} of what is shown, self ${duration(tree.self[node]!)}, ${plural(tree.count[node]!, 'call')} on this path, depth ${integer(depth)}.`;
  }

  /** Parent, first child, or a neighbour of the selected node. */
  walk(way: 'up' | 'down' | 'left' | 'right', order: readonly number[] | null): void {
    const tree = this.now()?.tree;
    if (!tree) return;
    const node = this.node();
    const siblings = (of: number): readonly number[] =>
      this.screen.state.get().order === 'name'
        ? lib.childrenByName(tree, of, this.nameOf)
        : lib.childrenOf(tree, of);
    const visible = (list: readonly number[]): readonly number[] => {
      const shown = order ? list.filter(child => order.includes(child)) : list;
      return shown.length > 0 ? shown : list;
    };
    const heaviest = (list: readonly number[]): number =>
      list.reduce(
        (best, child) => (tree.sum[child]! > tree.sum[best]! ? child : best),
        list[0] ?? -1,
      );
    if (node < 0) return this.pick(tree, heaviest(siblings(0)));
    if (way === 'up') return this.pick(tree, tree.parent[node]!);
    if (way === 'down') return this.pick(tree, heaviest(siblings(node)));
    const list = visible(siblings(tree.parent[node]!));
    const at = list.indexOf(node) + (way === 'right' ? 1 : -1);
    this.pick(tree, list[Math.max(0, Math.min(list.length - 1, at))] ?? -1);
  }

  private pick(tree: CallTree, node: number): void {
    if (node > 0) this.select(tree, node);
  }

  /** Adds a transform of what is selected; inverting twice takes it back. */
  transform(kind: TransformKind): void {
    const { transforms, path } = this.screen.state.get();
    if (kind === 'i' && this.isInverted)
      return this.setTransforms(transforms.filter(one => one.kind !== 'i'));
    const made = this.makeTransform(kind, path);
    if (!made) return this.screen.say('Select a function or a node of the tree first.');
    this.setTransforms([...transforms, made]);
    this.screen.say(`Call tree: ${this.words(made)}.`);
  }

  private makeTransform(kind: TransformKind, path: number[]): Transform | null {
    if (kind === 'i') return { kind, path: [] };
    const last = path[path.length - 1] ?? this.screen.fn();
    if (kind === 'M' || kind === 'F') return this.node() > 0 ? { kind, path } : null;
    if (last === lib.ROOT) return null;
    if (kind !== 'C') return { kind, path: [last] };
    return last >= 0 ? { kind, path: [this.groups.ofFunction[last]!] } : null;
  }

  remove(index: number): void {
    const { transforms } = this.screen.state.get();
    this.setTransforms(transforms.filter((_, i) => i !== index));
  }

  /** The selection stays where it can: at its path, or at its function as an outermost one. */
  private setTransforms(transforms: Transform[]): void {
    const { path } = this.screen.state.get();
    this.screen.set({ transforms, open: null });
    const tree = this.now()?.tree;
    if (!tree || path.length === 0 || lib.nodeAt(tree, path) > 0) return;
    const fn = path[path.length - 1]!;
    const at = tree.fn.indexOf(fn);
    this.screen.set({ path: at > 0 ? lib.pathOf(tree, at) : [] });
  }

  /** Keys of the nodes of the call tree that are open: those above the selected one always are. */
  opened(tree: CallTree): ReadonlySet<string> {
    const { open, path } = this.screen.state.get();
    const keys = open ?? spineOf(tree);
    const above = path.slice(1).map((_, i) => lib.writePath(path.slice(0, i + 1)));
    return above.every(key => keys.has(key)) ? keys : new Set([...keys, ...above]);
  }

  /** Opens (or closes) nodes of the call tree; `deep`: all below, as far as a table can hold. What
   * was selected inside a node that closes gives the selection to it. */
  open(path: readonly number[], isOpen: boolean, deep = false): void {
    const tree = this.now()?.tree;
    const open = new Set(tree ? this.opened(tree) : []);
    const node = tree ? lib.nodeAt(tree, path) : -1;
    if (!tree || node < 0) return;
    const end = deep ? Math.min(tree.next[node]!, node + MOST_OPENED) : node + 1;
    for (let i = node; i < end; i++) {
      if (tree.next[i] === i + 1) continue;
      const key = lib.writePath(lib.pathOf(tree, i));
      if (isOpen) open.add(key);
      else open.delete(key);
    }
    const selected = this.node();
    if (!isOpen && selected > node && selected < tree.next[node]!) this.select(tree, node);
    this.screen.set({ open });
  }

  /** The selected stack, outermost call first, with its time in ns: for the clipboard. */
  stackText(): string {
    const tree = this.now()?.tree;
    const node = this.node();
    if (!tree || node <= 0) {
      const fn = this.screen.fn();
      return fn >= 0 ? `${this.fullName(fn)}\n` : '';
    }
    const names = lib.pathOf(tree, node).map(fn => this.fullName(fn));
    const facts = `sum_ns ${tree.sum[node]}\tself_ns ${tree.self[node]}\tcalls ${tree.count[node]}`;
    return `${names.join('\n')}\n${facts}\n`;
  }
}

const MOST_OPENED = 5000;

/** Keys of the first path of the tree, down to its leaf. */
function spineOf(tree: CallTree): Set<string> {
  const keys = new Set<string>();
  for (let node = 1; node < tree.n && tree.next[node]! > node + 1; node++)
    keys.add(lib.writePath(lib.pathOf(tree, node)));
  return keys;
}

/** Rows of the call tree as a table: what is open, in order. */
export function openRows(
  tree: CallTree,
  open: ReadonlySet<string>,
  childrenOf: (node: number) => number[],
): { node: number; key: string; isOpen: boolean; hasMore: boolean }[] {
  const rows: { node: number; key: string; isOpen: boolean; hasMore: boolean }[] = [];
  const put = (node: number, above: string): void => {
    for (const child of childrenOf(node)) {
      const own = lib.writePath([tree.fn[child]!]);
      const key = above === '' ? own : `${above}.${own}`;
      const hasMore = tree.next[child]! > child + 1;
      const isOpen = hasMore && open.has(key);
      rows.push({ node: child, key, isOpen, hasMore });
      if (isOpen) put(child, key);
    }
  };
  put(0, '');
  return rows;
}
