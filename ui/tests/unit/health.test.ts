// SPDX-License-Identifier: MIT
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { clockRows, findingsOf, verdictOf, decodeInfo } from '../../src/screens/health/state';
import type { Info } from '../../src/screens/health/state';
import { quoted } from '../../src/shared/lib/format';

const note = (kind: string, className: string, count = 3): Record<string, unknown> => ({
  class: className,
  kind,
  count,
  threads: 2,
  first_offset: 4096,
  text: `${kind} text`,
  detail: '',
});

const infoOf = (notes: Record<string, unknown>[], more = {}): Info =>
  decodeInfo({
    source: "it's.fdr",
    format: 'xray-fdr',
    duration_ns: 1e9,
    functions: 5,
    notes,
    clock: { frequency_hz: 2700000000, zero_ticks: 12, monotonic_ns: null, realtime_ns: 1e18 },
    thread_list: [
      { tid: 7, name: 'T7', calls: 1, cut_calls: 1 },
      { tid: 8, name: 'T8', calls: 1, cut_calls: 5 },
    ],
    ...more,
  });

it('every kind of note that a trace can hold has its own advice', () => {
  const source = readFileSync(new URL('../../../src/schema/event.c', import.meta.url), 'utf8');
  const kinds = [...source.matchAll(/\[WEFT_NOTE_\w+\] = \{\s*"(\w+)"/g)].map(match => match[1]!);
  expect(kinds.length).toBeGreaterThan(10);
  for (const kind of kinds) {
    const [finding] = findingsOf(infoOf([note(kind, 'info')]), 't.weft');
    expect(finding!.means, kind).not.toContain('this page does not know');
    expect(finding!.todo.length, kind).toBeGreaterThan(5);
  }
});

it('losses come first, and make the verdict', () => {
  const info = infoOf([
    note('open_at_end', 'info'),
    note('missing_exit', 'repaired'),
    note('truncated', 'lost', 5000),
  ]);
  const findings = findingsOf(info, 't.weft');
  expect(findings.map(({ class: one }) => one)).toEqual(['lost', 'repaired', 'info']);
  expect(findings[0]!.count).toMatch(/^5\.00.kB$/);
  expect(findings[0]!.where).toBe('2 threads, from byte 4,096');
  expect(findings[0]!.command).toBe("weft import -o t.weft 'it'\\''s.fdr'");
  expect(verdictOf(info)).toContain('lost');
  expect(verdictOf(infoOf([note('missing_exit', 'repaired')]))).toContain('No data loss');
  expect(verdictOf(infoOf([]))).toContain('No data loss');
  expect(verdictOf(infoOf([], { lost: null }))).toContain('does not count losses');
});

it('a recording that leaves something out never says that nothing was lost', () => {
  const verdicts = ['lost', 'info'].map(kind =>
    verdictOf(
      infoOf([note(kind === 'lost' ? 'not_recorded' : 'excluded', kind as 'lost' | 'info')]),
    ),
  );
  expect(verdicts[0]).toContain('Something was lost');
  expect(verdicts[1]).toContain('excluded');
  for (const verdict of verdicts) expect(verdict.toLowerCase()).not.toContain('nothing was lost');
});

it('switches that were missed are no calls that were lost', () => {
  const [finding] = findingsOf(infoOf([note('lost_switches', 'lost')]), 't.weft');
  expect(finding!.means).toContain('No calls are missing');
  expect(finding!.command).toBe('');
});

it('says by thread what is known by thread', () => {
  const [finding] = findingsOf(infoOf([note('exit_without_entry', 'repaired')]), 't.weft');
  expect(finding!.threads.map(({ tid, count }) => [tid, count])).toEqual([
    [8, 5],
    [7, 1],
  ]);
});

it('a file that ends early and functions without names are said without a note', () => {
  const info = infoOf([], { recovered: true, lost_bytes: 2e6, unnamed_functions: 2 });
  expect(findingsOf(info, 't.weft').map(({ kind }) => kind)).toEqual([
    'recovered',
    'unnamed_function',
  ]);
  expect(verdictOf(info)).toContain('lost');
});

it('tells the clock', () => {
  const rows = new Map(clockRows(infoOf([])));
  expect(rows.get('ticks')).toContain('2700 MHz: one is 0.37 ns');
  expect(rows.get('time of day')).toBe('2001-09-09 01:46:40.000 UTC');
  expect(rows.has('time 0 since boot')).toBe(false);
});

it('quotes for a shell', () => {
  expect([quoted('a.weft'), quoted('a b'), quoted('-x;y')]).toEqual(['a.weft', "'a b'", "'-x;y'"]);
});
