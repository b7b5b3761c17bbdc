/* SPDX-License-Identifier: MIT
 *
 * Threads that wait for each other where a trace ends.
 */
#ifndef WEFT_QUERY_DEADLOCKS_H
#define WEFT_QUERY_DEADLOCKS_H

#include "base/arena.h"
#include "base/error.h"
#include "schema/problems.h"

struct weft_session;

/* Waits of cycles, those of a cycle together, in `arena`; none is no error. Locks are looked at
 * only if the last operation of a thread of the program is a request; none where they do not fit
 * the memory. Fails as "locks" otherwise. */
WEFT_CHECKED enum weft_code weft_deadlocks_find(struct weft_session *session,
                                                struct weft_arena *arena,
                                                struct weft_deadlock_wait **waits, size_t *n_waits,
                                                struct weft_err *err);

#endif
