// SPDX-License-Identifier: MIT

import type { Json } from './json';
import type { WaitObject } from '../lib/waits';
import { objects } from './json';
import { text } from './json';
import { num } from './json';

export function decodeObjects(meta: Json): WaitObject[] {
  return objects(meta, 'objects').map(row => ({
    ...{ id: text(row, 'id'), name: text(row, 'name'), kind: text(row, 'kind') },
    ...{ waiters: num(row, 'n_waiters'), releasers: num(row, 'n_releasers') },
    ...{ waits: num(row, 'waits'), ns: num(row, 'wait_ns'), free: num(row, 'uncontended') },
    isNeverReleased: row['is_never_released'] === true,
    isReused: row['is_reused'] === true,
  }));
}
