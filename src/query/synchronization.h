/* SPDX-License-Identifier: MIT
 *
 * What operations on locks say beyond what executions wait for.
 */
#ifndef WEFT_QUERY_SYNCHRONIZATION_H
#define WEFT_QUERY_SYNCHRONIZATION_H

#include "base/arena.h"
#include "base/error.h"
#include "schema/problems.h"

struct weft_session;

/* Calls and events of a trace, at most, for all of its operations on locks to be read. */
#define WEFT_SYNC_OPERATIONS UINT64_C(8000000)

/* Problems of the whole trace, in `arena`: none where the operations are too many for the session's
 * memory, or more than 8 M. Fails as weft_locks_open. */
WEFT_CHECKED enum weft_code weft_syncs_look(struct weft_session *session, struct weft_arena *arena,
                                            struct weft_problems_table *problems,
                                            struct weft_err *err);

/* Problems of locks whose waiter writes while readers that came later get the lock become
 * WEFT_PROBLEM_STARVED: those of the worst execution say so. Fails as weft_locks_open. */
WEFT_CHECKED enum weft_code weft_starved_look(struct weft_session *session,
                                              struct weft_problems_table *problems,
                                              struct weft_err *err);

#endif
