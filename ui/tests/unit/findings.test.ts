// SPDX-License-Identifier: MIT
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  budgetOf,
  decodeDiagnosis,
  headlineOf,
  healthyOf,
  linksOf,
  lookOfKind,
  remarkOf,
  spreadOf,
  stripOf,
} from '../../src/screens/findings/state';
import type { Path, PathSegment } from '../../src/shared/lib/path';
import { LOOK } from '../../src/shared/lib/states';

const plain = (text: string): string => text.replace(/\u00a0/g, ' ');

const card = (more = {}): Record<string, unknown> => ({
  kind: 'lock_contention',
  title: 'Lock contention on m',
  symptom: '4 of 479 get took 22.9 ms instead of 130 µs',
  evidence: '4 of 4 slow ones wait for it',
  critical_path: false,
  of_lock: true,
  type: 'get',
  object: 'm',
  holder: 'flush',
  holder_functions: ['a', 'b'],
  last: null,
  last_functions: [],
  preemptor: null,
  waiter: 'worker',
  waiter_threads: 3,
  waiter_functions: ['get'],
  usual_ns: 130000,
  slow_ns: 22900000,
  usual_here_ns: 0,
  slow_here_ns: 22e6,
  cost_share: 0.42,
  small: false,
  confidence: { value: 0.95, level: 'high', reasons: [] },
  fix: 'hold m for less',
  worst_tid: 7,
  worst_start_ns: 100,
  worst_end_ns: 300,
  ...more,
});

const diagnosis = (findings: unknown[], more = {}) =>
  decodeDiagnosis({
    trace: { file: 'kv.weft', duration_ns: 674e6, threads: 7, lost_records: 0 },
    findings,
    types: [
      { type: 'get', significant: true, executions: 479, summary: null, rule: {} },
      { type: 'put', significant: false, executions: 3, summary: '3 put: too few', rule: {} },
    ],
    omitted: [],
    types_not_examined: 0,
    ...more,
  });

it('the headline names the first finding and its cost, the line below what was looked at', () => {
  const one = diagnosis([card()]);
  expect(plain(headlineOf(one))).toBe('Lock contention on m, 42.0 % of request time');
  expect(plain(remarkOf(one))).toBe('674 ms · 7 threads · 479 get · complete');
  expect(healthyOf(one).map(({ type }) => type)).toEqual(['put']);
});

it('what is slow without one cause is said', () => {
  const types = [
    { type: 'get', significant: true, executions: 9, summary: 'why', unlisted: 'no_one_cause' },
    { type: 'put', significant: true, executions: 9, summary: 'why', unlisted: 'other_programs' },
  ];
  const one = diagnosis([], { types });
  expect(headlineOf(one)).toBe('Slow executions, without one cause');
  expect(spreadOf(one).map(({ type }) => type)).toEqual(['get']);
  expect(healthyOf(one).map(({ type }) => type)).toEqual(['put']);
  expect(decodeDiagnosis({ findings: [card({ also: ['put'] })] }).findings[0]?.also).toEqual([
    'put',
  ]);
});

it('a problem of the whole run says of what its cost is a share', () => {
  const herd = card({
    kind: 'thundering_herd',
    type: null,
    of_lock: false,
    share_of: 'of the run',
  });
  const one = diagnosis([herd]);
  expect(plain(headlineOf(one))).toBe('Lock contention on m, 42.0 % of the run');
  expect(linksOf(one.findings[0]!).map(({ label }) => label)).toEqual(['woken by', 'waiters']);
  expect(budgetOf(one)).toEqual([]);
});

it('losses are said, and a source that does not count them', () => {
  const trace = { file: 'kv.weft', duration_ns: 1e9, threads: 1 };
  const lossy = diagnosis([], { trace: { ...trace, lost_records: 5 }, types: [] });
  expect(remarkOf(lossy)).toContain('5 records lost');
  expect(remarkOf(diagnosis([], { trace: { ...trace, lost_records: null } }))).toContain(
    'not counted',
  );
  expect(headlineOf(lossy)).toBe('Nothing significant was found');
  expect(diagnosis([], { trace: null }).trace).toBeNull();
});

it('a card says what holds up and what is held up', () => {
  const [lock] = diagnosis([card()]).findings;
  expect(linksOf(lock!).map(({ label, thread }) => [label, thread])).toEqual([
    ['holder', 'flush'],
    ['waiters', '3 × worker'],
  ]);
  const [alone] = diagnosis([card({ holder: null, waiter_threads: 1 })]).findings;
  expect(linksOf(alone!).map(({ label }) => label)).toEqual(['where']);
  const [far] = diagnosis([card({ kind: 'network', of_lock: false, last: 'peer' })]).findings;
  expect(linksOf(far!).map(({ label }) => label)).toEqual(['waits for', 'waiting for', 'waiters']);
});

it('the budget is of the first type alone, and sums up to all', () => {
  const one = diagnosis([
    card(),
    card({ type: 'put', cost_share: 0.9 }),
    card({ cost_share: 0.2, kind: 'cpu_saturation' }),
  ]);
  const parts = budgetOf(one);
  expect(parts.map(({ finding }) => finding)).toEqual([0, 2, -1]);
  expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  expect(budgetOf(diagnosis([card({ cost_share: 0.7 }), card({ cost_share: 0.7 })]))).toEqual([]);
  expect(budgetOf(diagnosis([]))).toEqual([]);
});

it('every kind that the program has, the screen has words for', () => {
  const source = readFileSync(new URL('../../../src/schema/problems.c', import.meta.url), 'utf8');
  const kinds = [...source.matchAll(/\[WEFT_PROBLEM_\w+\] = "(\w+)"/g)].map(match => match[1]!);
  expect(kinds.length).toBeGreaterThan(20);
  for (const kind of kinds) {
    const isOfLock = kind.startsWith('lock');
    const [finding] = diagnosis([card({ kind, of_lock: isOfLock })]).findings;
    if (kind !== 'unknown') expect(lookOfKind(finding!).words, kind).not.toBe('in it');
  }
});

it('odd answers are read as far as they go', () => {
  const odd = decodeDiagnosis({ findings: [null, 3, {}], types: 'x' });
  expect(odd.findings).toHaveLength(1);
  expect(odd.findings[0]!.worst.span).toEqual({ t0: 0, t1: 1 });
  expect(odd.types).toEqual([]);
});

it('the worst execution waits while its path is on another thread', () => {
  const segment = (start: number, end: number, thread: number, state: string) =>
    ({ start, end, thread, state, reason: '' }) as PathSegment;
  const path = {
    thread: 1,
    from: 0,
    to: 100,
    segments: [
      segment(0, 10, 1, 'running'),
      segment(10, 90, 2, 'running'),
      segment(90, 100, 1, 'running'),
    ],
  } as unknown as Path;
  const rows = stripOf(path, { words: 'waiting', look: LOOK.LOCK, letter: 'L' });
  expect(rows.map(({ thread }) => thread)).toEqual([1, 2]);
  expect(rows[0]!.parts.map(({ look }) => look)).toEqual([LOOK.RUN, LOOK.LOCK, LOOK.RUN]);
  expect(rows[1]!.parts).toHaveLength(1);
  expect(rows[1]!.parts[0]).toMatchObject({ from: 0.1, to: 0.9, look: LOOK.RUN });
});
