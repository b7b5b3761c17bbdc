// SPDX-License-Identifier: MIT
export interface MadeCall {
  start: number;
  end: number;
  depth: number;
  fn: number;
}
export interface MadeTrace {
  name: string;
  duration: number;
  threads: { id: number; tid: number; calls: MadeCall[]; maxDepth: number }[];
}
export function makeTrace(nThreads?: number, seed?: number, duration?: number): MadeTrace;
export function encodeLod(
  trace: MadeTrace,
  part: { threads: number[]; from: number; to: number; width: number },
): Buffer;
