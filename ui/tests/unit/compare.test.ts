// SPDX-License-Identifier: MIT
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as compare from '../../src/screens/compare/data';
import {
  groundsOf,
  isUnsure,
  pWords,
  stepOf,
  answerOf,
  whereOf,
} from '../../src/screens/compare/data';
import type { Compared, Condition, Group } from '../../src/screens/compare/data';
import {
  valueTicks,
  BinAxis,
  binRange,
  countBins,
  makeBins,
  moveRange,
} from '../../src/screens/compare/draw';
import type { EdgeMove } from '../../src/screens/compare/draw';
import {
  depthOf,
  diffTree,
  treeNode,
  widestOf,
  withoutWidth,
  flameSvg,
} from '../../src/screens/compare/flame';
import { difference } from '../../src/shared/lib/color';
import type { Vision } from '../../src/shared/lib/color';
import { makeCompared, makeExecutions } from '../fixtures/executions';
import { short } from '../../src/shared/lib/numbers';

const executions = makeExecutions(1000);
const metric = (name: string, min: number, max: number): Condition => ({
  kind: 'metric',
  name,
  min,
  max,
});

function chosen(group: Group): number[] {
  const members = new Uint8Array(executions.n);
  const valuesOf: compare.ValuesOf = one =>
    one.kind === 'metric'
      ? (executions.metrics.find(({ name }) => name === one.name)?.values ?? null)
      : Float64Array.from(executions.metrics[2]!.values);
  const n = compare.choose(executions, group, 'b', valuesOf, members);
  const list = [...members.keys()].filter(i => (members[i]! & 2) !== 0);
  expect(n).toBe(list.length);
  return list;
}

describe('groups', () => {
  it('are what all conditions choose, as one by one', () => {
    const group = [
      metric('duration', 2e6, 6e7),
      metric('page_faults', 0, 1),
      { kind: 'tag', text: 'new' } as const,
    ];
    const plain = [...Array(executions.n).keys()].filter(i => {
      const [duration, faults] = [
        executions.metrics[0]!.values[i]!,
        executions.metrics[3]!.values[i]!,
      ];
      return duration >= 2e6 && duration <= 6e7 && faults <= 1 && i >= 500;
    });
    expect(chosen(group)).toEqual(plain);
    expect(chosen([])).toHaveLength(1000);
    expect(chosen([{ kind: 'thread', text: 'nobody' }])).toEqual([]);
  });

  it('a missing metric counts as 0', () => {
    expect(chosen([metric('blocked_lock', 0, 0)])).toHaveLength(900);
    expect(chosen([metric('blocked_lock', 1, Infinity)])).toHaveLength(100);
    expect(chosen([metric('no such metric', 1, 2)])).toHaveLength(1000);
  });

  it('keep the other side as it is', () => {
    const members = new Uint8Array(executions.n).fill(1);
    compare.choose(
      executions,
      [metric('duration', 0, 0)],
      'b',
      () => executions.metrics[0]!.values,
      members,
    );
    expect(members.every(member => member === 1)).toBe(true);
  });

  it('have one condition on a metric', () => {
    const group = compare.withCondition([metric('duration', 1, 2)], metric('duration', 3, 4));
    expect(group).toEqual([metric('duration', 3, 4)]);
    expect(compare.without(group, metric('duration', 0, 0))).toEqual([]);
  });

  it('are written as the server reads them', () => {
    const group: Group = [
      metric('duration', -Infinity, 2e6),
      metric('page_faults', 1, 2),
      { kind: 'context', node: 5, min: 5e6, max: Infinity },
      { kind: 'tag', text: "it's" },
    ];
    expect(compare.filterText(executions, group)).toBe(
      "metric('duration')<=2000000ns and metric('page_faults')>=1 and metric('page_faults')<=2 and " +
        "context('insert;journal;it\\'s; a\\\\lock;blocked: lock')>=5000000ns and tag='it\\'s'",
    );
    expect(compare.filterText(executions, [])).toBe('');
  });

  it('come back from the address; what is not there is left out', () => {
    const group: Group = [
      metric('duration', -Infinity, 2e6),
      { kind: 'context', node: 5, min: 0.5, max: 7 },
      { kind: 'tag', text: 'a;b~c' },
    ];
    expect(compare.readGroup(executions, compare.writeGroup(executions, group))).toEqual(group);
    expect(compare.readGroup(executions, 'm~gone~1~2;c~nowhere~1~;x;;m~duration~a~b')).toEqual([
      metric('duration', -Infinity, Infinity),
    ]);
  });

  it('begin with tags, or with the slow tail', () => {
    const tags = { by: 'tags' as const, a: 'base', b: 'new' };
    const builds = compare.firstGroups(executions, tags);
    expect([builds.a, builds.b]).toEqual([
      [{ kind: 'tag', text: 'base' }],
      [{ kind: 'tag', text: 'new' }],
    ]);
    expect(compare.cutWords(executions, builds, tags)).toContain(
      'base was recorded first: it is A',
    );
    const swapped = { a: builds.b, b: builds.a };
    expect(compare.cutWords(executions, swapped, tags)).toContain('it is B');
    expect(compare.cutWords(executions, { ...builds, a: [] }, tags)).toBe('');
    const sorted = [...executions.metrics[0]!.values].sort((x, y) => x - y);
    const cut = { by: 'durations' as const, aMax: sorted[899]!, bMin: sorted[900]! };
    const { a, b } = compare.firstGroups(executions, cut);
    expect([chosen(a).length, chosen(b).length]).toEqual([900, 100]);
    expect(compare.cutWords(executions, { a, b }, cut)).toContain('weft diagnose');
    const none = compare.firstGroups(executions, { by: 'nothing' });
    expect((none.a[0] as compare.Ranged).max).toBe(sorted[500]);
    expect((none.b[0] as compare.Ranged).min).toBe(sorted[899]);
  });
});

describe('a cut between fast and slow', () => {
  it('is round, and between them', () => {
    expect(compare.roundBetween(11.3e6, 60.3e6)).toBe(3e7);
    expect(compare.roundBetween(100, 101)).toBe(100.5);
    expect(compare.roundBetween(5, 5)).toBe(5);
    const cut = { by: 'durations' as const, aMax: 11.3e6, bMin: 60.3e6 };
    const { a, b } = compare.firstGroups(executions, cut);
    const [fast, slow] = [a[0], b[0]] as compare.Ranged[];
    expect(fast!.max).toBe(slow!.min);
  });
});

describe('the view in the address', () => {
  const from = (pairs: [string, string][]) => {
    const map = new Map(pairs);
    return (key: string): string => map.get(key) ?? '';
  };
  const view: compare.View = {
    charts: ['duration', '#3', 'blocked_lock'],
    linear: new Set(['duration', '#3']),
    scale: 'log',
    statistic: 'effect',
    by: 'a',
    node: 3,
    focus: 2,
    ticked: [4, 1],
    cause: 1,
    list: 'all',
  };

  it('comes back as it was', () => {
    const pairs = compare.writeView(executions, view);
    expect(compare.readView(executions, from(pairs), 6)).toEqual(view);
    expect(compare.readView(executions, from(pairs), 2).charts).toEqual(['duration', '#3']);
  });

  it('leaves out what there is not', () => {
    const odd = compare.readView(
      executions,
      from([
        ...([
          ['charts', 'gone,#no;where'],
          ['ccount', 'x'],
          ['cnode', '~99999'],
        ] as const),
        ...([
          ['ctick', '1,99999999,x'],
          ['ccause', '-1'],
          ['clist', 'c'],
        ] as const),
      ] as [string, string][]),
      6,
    );
    expect(odd).toEqual({
      scale: 'fit',
      statistic: 'p',
      by: 'b',
      node: -1,
      focus: -1,
      ticked: [1],
      cause: -1,
      list: 'both',
    });
  });
});

describe('bins', () => {
  it('are walked by keys: an edge a step, never none', () => {
    const bins = makeBins(
      Float64Array.from({ length: 100 }, (_, i) => i),
      10,
      false,
    );
    const at = (range: { min: number; max: number } | null, which: EdgeMove, by: number) =>
      moveRange(bins, range, which, by);
    const most = at(null, 'high', -1)!;
    expect(most.min).toBe(-Infinity);
    expect(most.max).toBeCloseTo(89.1);
    expect(at(most, 'high', 1)).toBeNull();
    expect(at(most, 'high', -100)!.max).toBeCloseTo(9.9);
    const inner = at(most, 'low', 3)!;
    expect(inner.min).toBeCloseTo(29.7);
    const moved = at(inner, 'both', -2)!;
    expect([moved.min, moved.max].map(Math.round)).toEqual([10, 69]);
    expect(at(moved, 'both', -5)!.min).toBe(-Infinity);
    expect(at(moved, 'low', -Infinity)!.min).toBe(-Infinity);
    expect(at(null, 'low', 1)).toEqual({ min: binRange(bins, 0)[1], max: Infinity });
    const one = makeBins(Float64Array.of(0, 0), 4, true);
    expect(moveRange(one, null, 'high', -10)).toEqual({ min: -Infinity, max: 0 });
  });

  it('have labels on any axis', () => {
    for (const [values, isLog] of [
      [[58e6, 60e6], true],
      [[1e3, 1e9], true],
      [[3e6, 3e6], false],
      [[0, 0], true],
      [[5e9, 5.001e9], false],
    ] as const) {
      const bins = makeBins(Float64Array.from(values), 48, isLog);
      const ticks = valueTicks(bins, new BinAxis(bins), 200);
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks.every(({ x }) => x >= 0 && x <= 200)).toBe(true);
    }
    // of 4.5 s on a chart of 100 px there is more than one value
    const times = makeBins(
      Float64Array.from({ length: 90 }, (_, i) => 5e7 + i * 5e7),
      48,
      false,
    );
    expect(valueTicks(times, new BinAxis(times), 100).length).toBeGreaterThan(1);
    expect(['1.50 ms', '10.0 ms', '500 ms', '2.00e+5', '0 ns'].map(short)).toEqual([
      '1.5 ms',
      '10 ms',
      '500 ms',
      '2e+5',
      '0 ns',
    ]);
  });

  it.each([true, false])('hold every execution once (log: %s)', isLog => {
    for (const { values } of executions.metrics) {
      const bins = makeBins(values, 48, isLog);
      expect(bins.all.reduce((sum, one) => sum + one, 0)).toBe(executions.n);
      const axis = new BinAxis(bins);
      values.forEach((value, i) => {
        const own = Number.isNaN(value) ? 0 : value;
        const [from, to] = binRange(bins, bins.bin[i]!);
        const slack = Math.abs(to) * 1e-9;
        expect(own >= from - slack && own <= to + slack).toBe(true);
        const [left, right] = axis.place(bins.bin[i]!);
        expect(axis.x(own)).toBeGreaterThanOrEqual(left - 1e-6);
        expect(axis.x(own)).toBeLessThanOrEqual(right + 1e-6);
      });
    }
  });

  it('count a side, and go back from place to value', () => {
    const bins = makeBins(executions.metrics[2]!.values, 10, true);
    expect(bins.hasNone).toBe(true);
    const members = Uint8Array.from({ length: executions.n }, (_, i) => (i < 10 ? 2 : 1));
    expect([...countBins(bins, members, 2)].reduce((a, b) => a + b)).toBe(10);
    const axis = new BinAxis(bins);
    expect(axis.value(0)).toBe(0);
    expect(axis.value(1.1)).toBe(Infinity);
    const all = makeBins(executions.metrics[0]!.values, 30, true);
    const back = new BinAxis(all);
    expect(back.value(back.x(5e6))).toBeCloseTo(5e6, -2);
    expect(back.value(-0.1)).toBe(-Infinity);
  });

  it('of nothing, or of one value', () => {
    expect(makeBins(new Float64Array(), 5, true).all).toHaveLength(5);
    expect([...makeBins(Float64Array.of(7, 7), 5, false).all]).toEqual([0, 0, 2, 0, 0]);
    expect([...makeBins(Float64Array.of(0, NaN), 2, true).all]).toEqual([2, 0, 0]);
  });
});

describe('an answer', () => {
  const compared = makeCompared();

  it('is coloured by evidence, never by ratio alone', () => {
    const { nodes } = compared;
    expect([0, 1, 4].map(i => stepOf(nodes, i, 'p', 5e7))).toEqual([2, 2, 4]);
    expect([0, 1, 4].map(i => stepOf(nodes, i, 'effect', 5e7))).toEqual([2, 2, 4]);
    expect([0, 1, 4].map(i => isUnsure(compared, i))).toEqual([false, true, false]);
    expect(isUnsure({ ...compared, nB: 9 }, 4)).toBe(true);
  });

  it('is told in a sentence', () => {
    const plain = (text: string): string => text.replace(/\u00a0/g, ' ');
    const of = (answer: string, grounds = ''): Compared => ({ ...compared, answer, grounds });
    expect(answerOf(of('So.'))).toBe('So.');
    expect(plain(answerOf(of('no: -1.84 ms (x 5, 95 % -2 ms to +1 ms) in `f -1`')))).toBe(
      'No: \u22121.84 ms (\u00d7 5, 95 % \u22122 ms to +1 ms) in `f -1`.',
    );
    const small = of('no', 'Runs were compared: 3 of A. A group of fewer than 10 is');
    expect(groundsOf(small)).toBe('Runs were compared: 3 of A. A group of fewer than 10 is.');
    expect(groundsOf(of('no'))).toBe('');
    const frames = ['write', '[kernel]+0xffff81'].map(name => ({
      name,
      module: '',
      kind: 'function' as const,
      wait: '',
    }));
    expect(whereOf(frames).place).toBe('write');
    expect(whereOf([])).toEqual({ place: '', state: '', thread: '', lock: '' });
    expect([1e-12, 0.0004, 0.014, 0.4, NaN].map(pWords)).toEqual([
      '< 0.001',
      '< 0.001',
      '0.014',
      '0.400',
      '\u2013',
    ]);
  });

  it('is a tree as wide as the mean of B', () => {
    const diff = diffTree(executions, compared, -1, 'b');
    expect(diff.tree.sum[0]).toBe(5.16e7);
    expect(diff.tree.sum[treeNode(diff, 3)]).toBe(5e7);
    const focused = diffTree(executions, compared, 3, 'b');
    expect(focused.tree.sum[0]).toBe(5e7);
    expect(diffTree(executions, compared, -1, 'a').tree.sum[0]).toBe(1.5e6);
  });

  it('says what only A has', () => {
    const { nodes } = compared;
    expect(withoutWidth(compared, 'b')).toEqual({ count: 0, ns: 0 });
    const meanB = nodes.meanB.map(() => 0);
    const noneInB = { ...compared, nodes: { ...nodes, meanB } };
    expect(withoutWidth(noneInB, 'b')).toEqual({ count: 1, ns: 1.5e6 });
    expect(withoutWidth(noneInB, 'a')).toEqual({ count: 0, ns: 0 });
  });

  it('shows the nearest caller that has a width', () => {
    const diff = diffTree(executions, compared, -1, 'b');
    const shown = compared.nodes.node[compared.ranked[0]!]!;
    expect(widestOf(executions, diff, shown)).toBe(shown);
    const none = diffTree(executions, { ...compared, nodes: { ...compared.nodes, n: 0 } }, -1, 'b');
    expect(widestOf(executions, none, shown)).toBe(-1);
    expect(depthOf(executions)).toBe(
      Math.max(...[...executions.parent.keys()].map(i => compare.contextOf(executions, i).length)),
    );
  });

  it('is exported whole', () => {
    const svg = flameSvg(executions, compared, {
      statistic: 'p',
      focus: -1,
      by: 'b',
      title: 'A < B & "C"',
    });
    expect(svg).toContain('A &#60; B &#38; &#34;C&#34;');
    expect(svg).toContain('#b85500');
    expect(svg.match(/<g>/g)).toHaveLength(5);
  });
});

it.each(['light', 'dark'] as const)('%s: steps of differences are told from each other', theme => {
  const css = ['style.css', 'screens/compare/compare.css']
    .map(name => readFileSync(new URL(`../../src/${name}`, import.meta.url), 'utf8'))
    .map(text =>
      theme === 'light'
        ? text.split("[data-theme='dark']")[0]!
        : text.split("[data-theme='dark']")[1]!,
    );
  const get = (name: string): string => {
    const found = css
      .map(text => new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(text)?.[1])
      .find(Boolean);
    return found ?? `no ${name}`;
  };
  const steps = ['diff-a', 'cmp-a2', 'cmp-0', 'cmp-b2', 'diff-b'].map(get);
  let least = Infinity;
  for (const vision of ['normal', 'protan', 'deutan', 'tritan'] as Vision[])
    steps.forEach((a, i) =>
      steps.slice(i + 1).forEach(b => (least = Math.min(least, difference(a, b, vision)))),
    );
  expect(least).toBeGreaterThanOrEqual(18);
});
