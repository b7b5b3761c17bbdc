// SPDX-License-Identifier: MIT
// What a panel says that shows calls, of a trace that has none.
import type { JSX } from 'preact';
import type { Served } from '../state/served';
import { Command } from './parts';

const HOW = 'XRAY_OPTIONS="patch_premain=true xray_mode=xray-fdr" ./PROGRAM';

/** Of a trace without any call: why there are none. */
export function whyNoCalls({ trace, threads }: Served): string {
  if (threads.length === 0) return 'Nothing is in this trace: no thread, no event.';
  return trace.hasStates
    ? 'This trace holds no call: it tells of the kernel alone. When each thread ran, was ready, or waited, and for what, is on the Timeline (2).'
    : 'This trace holds no call, and nothing of the scheduler: only other events, which no screen shows yet.';
}

export function NoCalls({ served }: { served: Served }): JSX.Element {
  return (
    <div class="empty-panel">
      <p>{whyNoCalls(served)}</p>
      <p>
        To have calls, build the program with <code>clang -fxray-instrument</code>, record them, and
        import what it writes: <Command text={HOW} />
      </p>
    </div>
  );
}
