/* SPDX-License-Identifier: MIT
 *
 * Problems of threads that wait for each other at conditions and barriers, of a whole trace.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_SYNCHRONIZATION_H
#define WEFT_ANALYSIS_FINDINGS_SYNCHRONIZATION_H

#include "base/arena.h"
#include "model/locks/locks.h"
#include "model/trace.h"
#include "schema/problems.h"

/* May the trace have any? Looks at the names of its functions only. */
bool weft_syncs_may_be(const struct weft_trace *trace);

/* `locks` is of the whole trace. The rows and their texts live in `arena`; none is no error. O(n)
 * in operations and signals. WEFT_E_NOMEM only. */
WEFT_CHECKED enum weft_code weft_syncs_find(const struct weft_trace *trace,
                                            const struct weft_locks *locks,
                                            struct weft_arena *arena,
                                            struct weft_sync_problem **rows, size_t *n_rows,
                                            struct weft_err *err);

#endif
