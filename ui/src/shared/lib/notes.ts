// SPDX-License-Identifier: MIT

import { bytes } from './format';
import { integer } from './format';

/** Text that a shell takes as one word. */
export function quoted(word: string): string {
  return /^[\w./+=:@%-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

/** Notes in few words, behind their count. */
export const SHORT: Record<string, string> = {
  truncated: 'cut off',
  bad_record: 'unreadable',
  unknown_record: 'unknown records',
  lost_records: 'lost records',
  not_recorded: 'processes not fully recorded',
  excluded: 'processes excluded',
  depth_limit: 'calls too deep',
  duplicate_buffer: 'events twice',
  clock_set: 'ns of doubt between clocks',
  exit_without_entry: 'exits without entry',
  exit_ignored: 'exits left out',
  missing_exit: 'missing exits',
  open_at_end: 'calls open at the end',
  time_backward: 'steps back in time',
  unnamed_function: 'unnamed functions',
  foreign_map: 'names of another build',
  not_kept: 'events not kept',
};

/** "326 exits without entry" */
export function shortNote(kind: string, count: number): string {
  if (isBytes(kind)) return `${bytes(count)} ${SHORT[kind] ?? 'lost'}`;
  const words = SHORT[kind] ?? kind.replace(/_/g, ' ');
  return `${integer(count)} ${count === 1 ? words.replace(/^(\w+)s\b/, '$1') : words}`;
}

export const isBytes = (kind: string): boolean => kind === 'truncated' || kind === 'bad_record';
