// SPDX-License-Identifier: MIT

export interface WaitObject {
  /** The same in all answers. */
  id: string;
  name: string;
  kind: string;
  /** Threads that ever waited for it, and that ever released it. */
  waiters: number;
  releasers: number;
  waits: number;
  ns: number;
  /** Acquisitions that did not wait. */
  free: number;
  isNeverReleased: boolean;
  isReused: boolean;
}

/* ---- objects ---- */

export const LOCKS = /^(mutex|rwlock|spin|condition|semaphore|barrier|once|join)/;

/** An address or a variable's name alone does not say what is there. */
export function objectName(object: Pick<WaitObject, 'name' | 'kind'> | undefined): string {
  if (!object) return 'object not told';
  const { name, kind } = object;
  const isBare = name.startsWith('0x') || (LOCKS.test(kind) && !name.includes(kind));
  return isBare ? `${kind} ${name}` : name;
}
