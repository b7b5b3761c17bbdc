/* SPDX-License-Identifier: MIT
 *
 * The journal (schema/recording.h): the recorder learns from it of processes that no kernel records
 * and that have no ring. Safe in signal handlers; errno is kept.
 */
#ifndef WEFT_RECORD_RUNTIME_JOURNAL_H
#define WEFT_RECORD_RUNTIME_JOURNAL_H

#include "schema/recording.h"

#include <stdbool.h>
#include <stdint.h>

/* Maps the journal of the recording, if there is one. Each library of a process
 * has it. */
void weft_journal_open(void);

/* In a child of fork: it may be in another pid namespace than its parent. */
void weft_journal_forked(void);

/* False without a journal, or where it has no room. */
bool weft_journal_put(enum weft_journal_kind kind, uint32_t pid, uint32_t parent, uint32_t value);

/* `pid` is about to run the program at `path`; NULL: it is not known. */
bool weft_journal_exec(uint32_t pid, uint32_t parent, const char *path);

/* `pid` was made to run the program at `path`, after `ticks`: its own ring begins later than that,
 * whenever this is written. */
void weft_journal_spawned(uint32_t pid, uint32_t parent, const char *path, uint64_t ticks);

#endif
