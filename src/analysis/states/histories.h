/* SPDX-License-Identifier: MIT
 *
 * For analyses of thread states: a history for each worker, and names that they have in common.
 */
#ifndef WEFT_ANALYSIS_STATES_HISTORIES_H
#define WEFT_ANALYSIS_STATES_HISTORIES_H

#include "analysis/analysis.h"
#include "base/str.h"
#include "model/states/states.h"

struct weft_histories {
    const struct weft_trace *trace;
    struct weft_history **items; /* by worker; NULL: not used yet */
    unsigned n;
    uint64_t mem_bytes; /* of each */
    size_t n_items;     /* threads of the filter */
};

/* What an analysis of [from_ns, to_ns) begins with: checks both, counts the threads. After a
 * failure there is nothing to free. */
WEFT_CHECKED enum weft_code weft_histories_init(struct weft_histories *histories,
                                                const struct weft_trace *trace,
                                                const struct weft_thread_filter *filter,
                                                uint64_t from_ns, uint64_t to_ns,
                                                const struct weft_run *run, struct weft_err *err);
void weft_histories_fini(struct weft_histories *histories);

/* The history of a worker. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_histories_get(struct weft_histories *histories, unsigned worker,
                                               struct weft_history **history, struct weft_err *err);

/* Does the file contain what others did to a thread, and when threads ran on a CPU? Without these,
 * states are guesses: a program alone records the threads that it creates, but not that they run or
 * wait. */
bool weft_histories_are_known(const struct weft_trace *trace);

/* A copy of `text` in the arena; the same copy as `*last` if that has the same text. False without
 * memory. */
bool weft_name_copy(struct weft_arena *arena, struct weft_str text, struct weft_str *last);

#endif
