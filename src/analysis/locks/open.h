/* SPDX-License-Identifier: MIT
 *
 * Waits that had not ended when their thread or the trace did: by which threads, for which locks,
 * their holders, and cycles of waiters and holders.
 */
#ifndef WEFT_ANALYSIS_LOCKS_OPEN_H
#define WEFT_ANALYSIS_LOCKS_OPEN_H

#include "model/locks/locks.h"
#include "schema/locks.h"

struct weft_locks_opens {
    struct weft_locks_open *items;
    size_t n, cap;
};

/* Adds the operation at that place, which must be open. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_locks_open_add(struct weft_locks_opens *opens,
                                                const struct weft_locks *locks, size_t at,
                                                struct weft_err *err);

/* Names the threads that are joined by their handles; numbers the circles, each from the thread
 * with the lowest id on; puts circles first, then the longest waits. `place` says where each lock
 * stands in the table. Reads which thread made which, if a join is open. */
WEFT_CHECKED enum weft_code weft_locks_opens_finish(struct weft_locks_opens *opens,
                                                    const struct weft_trace *trace,
                                                    const struct weft_locks *locks,
                                                    const uint32_t *place, uint32_t *n_deadlocks,
                                                    struct weft_err *err);

#endif
