/* SPDX-License-Identifier: MIT
 *
 * Lock contention: waiters, holders and their activity meanwhile, and the order in which locks are
 * acquired (docs/analyses/locks.md).
 */
#ifndef WEFT_ANALYSIS_LOCKS_LOCKS_H
#define WEFT_ANALYSIS_LOCKS_LOCKS_H

#include "analysis/analysis.h"
#include "schema/locks.h"

/* Operations that ended their wait in [from_ns, to_ns], with all of their times. */
struct weft_locks_opts {
    uint64_t from_ns, to_ns;
    struct weft_str lock; /* only this one: its address ("0x7f00"), or its name; empty: all */
    bool all_processes;   /* without a filter: not only threads of the program */
};

/* The filter chooses the threads that request locks; any thread may have made them wait. Memory:
 * the operations of the trace until to_ns, within half of run->memory_bytes, or WEFT_E_LIMIT. */
WEFT_CHECKED enum weft_code weft_locks_run(const struct weft_trace *trace,
                                           const struct weft_thread_filter *filter,
                                           const struct weft_locks_opts *opts,
                                           const struct weft_run *run,
                                           struct weft_locks_table **table, struct weft_err *err);

#endif
