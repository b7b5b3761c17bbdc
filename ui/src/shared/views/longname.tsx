// SPDX-License-Identifier: MIT
// A name in a place that may be too narrow for it: what it is in is cut first, its last part survives.
import type { JSX } from 'preact';
import { splitName } from '../lib/names';

/** Whole in the tool-tip, unless what it stands in has one. */
export function LongName({ name, title = name }: { name: string; title?: string }): JSX.Element {
  const [scope, last] = splitName(name);
  return (
    <span class="long-name" title={title}>
      {scope !== '' && <span class="scope">{scope}</span>}
      <span class="last">{last}</span>
    </span>
  );
}
