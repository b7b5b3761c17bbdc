// SPDX-License-Identifier: MIT
// Time of a thread by function, as a bar of the colours of their groups: waits first, then the longest.
import type { JSX } from 'preact';
import { hueVar } from '../../shared/views/parts';

interface HueTime {
  hue: number;
  ns: number;
  isWait: boolean;
}

export function HueBar({
  times,
  rest,
  length,
  title,
}: {
  times: readonly HueTime[];
  /** Of no function. */
  rest: number;
  /** What the whole bar stands for, ns. */
  length: number;
  title?: string;
}): JSX.Element {
  const byHue = new Map<string, HueTime>();
  for (const { hue, ns, isWait } of times) {
    const key = `${hue}.${isWait}`;
    byHue.set(key, { hue, isWait, ns: ns + (byHue.get(key)?.ns ?? 0) });
  }
  const parts = [...byHue.values()].sort(
    (a, b) => Number(b.isWait) - Number(a.isWait) || b.ns - a.ns,
  );
  const share = (ns: number): string => `${(100 * ns) / length}%`;
  return (
    <span class="bar" title={title}>
      {parts.map(part => (
        <i
          key={`${part.hue}.${part.isWait}`}
          class={part.isWait ? 'wait' : ''}
          style={{ width: share(part.ns), background: hueVar(part.hue) }}
        />
      ))}
      <i class="unresolved" style={{ width: share(rest) }} />
    </span>
  );
}
