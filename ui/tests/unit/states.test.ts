// SPDX-License-Identifier: MIT
import { describe, expect, it } from 'vitest';
import { layoutTracks, LOW_STRIP, STRIP } from '../../src/screens/timeline/tracks';
import type { Thread } from '../../src/shared/lib/model';
import { inferredStrip, LOOK, lookOf, stateAt, stateWords } from '../../src/shared/lib/states';
import type { Strip } from '../../src/shared/lib/states';

function strip(rows: [number, number, number, number][]): Strip {
  return {
    from: 0,
    to: 100,
    pixel: 1,
    n: rows.length,
    notes: ['', 'read'],
    by: '',
    start: Float64Array.from(rows, ([start]) => start),
    end: Float64Array.from(rows, ([, end]) => end),
    look: Uint8Array.from(rows, ([, , look]) => look),
    count: Uint32Array.from(rows, ([, , , count]) => count),
    running: Float64Array.from(rows, ([start, end, look]) => (look === LOOK.RUN ? end - start : 0)),
    note: Uint32Array.from(rows, ([, , look]) => (look === LOOK.DISK ? 1 : 0)),
  };
}

describe('states of threads', () => {
  it('have the look of what they wait for', () => {
    const look = (state: string, reason = 'none', name = ''): number => lookOf(state, reason, name);
    expect(look('running_user')).toBe(LOOK.RUN);
    expect(look('interrupted', 'none', 'irq')).toBe(LOOK.RUN);
    expect(look('preempted')).toBe(LOOK.READY);
    expect(look('blocked', 'thread', 'futex')).toBe(LOOK.LOCK);
    expect(look('blocked', 'thread', 'poll')).toBe(LOOK.UNKNOWN);
    expect(look('blocked', 'block_device')).toBe(LOOK.DISK);
    expect(look('blocked', 'network')).toBe(LOOK.NETWORK);
    expect(look('blocked', 'timer', 'futex')).toBe(LOOK.TIMER);
    expect(look('unknown')).toBe(LOOK.LOST);
  });

  it('are found by time, and told in words', () => {
    const own = strip([
      [10, 20, LOOK.RUN, 1],
      [20, 50, LOOK.DISK, 1],
      [50, 60, LOOK.READY, 7],
    ]);
    expect([5, 10, 19, 20, 49, 59, 60].map(t => stateAt(own, t))).toEqual([-1, 0, 0, 1, 1, 2, -1]);
    expect(stateWords(own, 1)).toBe('waits for a disk, in read, 30\u00a0ns');
    expect(stateWords(own, 2)).toMatch(/^7 short states, 10\u00a0ns; the longest: ready/);
  });

  it('are inferred from pauses where no kernel tells', () => {
    const pauses = {
      n: 3,
      kind: Uint8Array.of(0, 2, 1),
      fn: Int32Array.of(4, -1, 5),
      start: Float64Array.of(20, 50, 80),
      end: Float64Array.of(50, 60, 100),
    };
    const thread = { pauses, pausesAll: 9, first: 10, last: 100 } as unknown as Thread;
    const own = inferredStrip(thread, 8, fn => `f${fn}`);
    expect([...own.start]).toEqual([10, 20, 50, 60, 80]);
    expect([...own.end]).toEqual([20, 50, 60, 80, 100]);
    const { RAN, WAITED, IDLE, STILL } = LOOK;
    expect([...own.look]).toEqual([RAN, WAITED, IDLE, RAN, STILL]);
    expect(stateWords(own, 1)).toBe('waited, in f4, 30\u00a0ns');
    expect(stateWords(own, 2)).toBe('no call open, 10\u00a0ns');
    expect(own.by).toMatch(/silences of 8.ns or more, the 3 longest of 9$/);
  });

  it('take their room over the calls, if there are any', () => {
    const threads = [
      { id: 0, tid: 1, pid: 1, name: '', calls: 1, events: 0, first: 0, maxDepth: 8 },
    ];
    const base = {
      threads,
      hidden: new Set<number>(),
      only: null,
      pins: [],
      sort: 'first' as const,
      modes: new Map(),
      closed: new Set<number>(),
      busy: null,
    };
    const of = (mode: 'few' | 'compact', hasStrip: boolean): { height: number; strip: number } =>
      layoutTracks({ ...base, mode, hasStrip }).tracks[0]!;
    expect(of('few', true).strip).toBe(STRIP);
    expect(of('few', true).height - of('few', false).height).toBe(STRIP);
    expect(of('compact', true).height - of('compact', false).height).toBe(LOW_STRIP);
  });
});
