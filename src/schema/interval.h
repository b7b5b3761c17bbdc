/* SPDX-License-Identifier: MIT
 *
 * What threads did in an interval (ALGORITHMS.md section 2): calling contexts of each thread, or
 * of all together. Times are ns since the start of the trace.
 */
#ifndef WEFT_SCHEMA_INTERVAL_H
#define WEFT_SCHEMA_INTERVAL_H

#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A calling context of a thread in the interval. A call counts if it begins before the interval's
 * end and ends after its begin; times are of the part inside. */
struct weft_interval_row {
    uint32_t function_id;
    uint32_t depth;
    uint32_t parent; /* row of the caller, or WEFT_ID_NONE */
    uint64_t count;
    uint64_t sum_ns;                  /* inclusive */
    uint64_t self_ns;                 /* without callees */
    uint64_t folded_calls, folded_ns; /* of what it called, in contexts that are left out */
};

/* Where memory does not hold all contexts, those of least time are left out, and their calls and
 * time counted by the nearest caller that is there: sum = self + folded + sums of its callees. */
struct weft_interval_thread {
    uint32_t thread_id;
    struct weft_interval_row *rows; /* pre-order; of one caller, the longest first */
    size_t n_rows;
    uint64_t calls;                   /* those folded too */
    uint64_t folded_calls, folded_ns; /* in contexts that are left out, together */
    uint64_t no_call_ns; /* between the thread's first and last event, but in no call */
    uint64_t outside_ns; /* before its first event, after its last */
};

struct weft_interval_table {
    struct weft_arena *arena;
    uint64_t from_ns, to_ns;
    struct weft_interval_thread *threads;
    size_t n_threads;
};

struct weft_tree_row {
    uint32_t parent; /* row of the caller, or WEFT_ID_NONE */
    uint32_t function_id;
    uint32_t depth;
    uint64_t count, sum_ns, self_ns; /* as weft_interval_row, over all threads */
};

struct weft_tree_table {
    struct weft_arena *arena;
    struct weft_tree_row *rows; /* pre-order; of one caller, the longest first */
    size_t n_rows;
    uint64_t n_found;        /* contexts in all; rows may be fewer (limit) */
    uint64_t folded_self_ns; /* self time of those left out */
    uint64_t from_ns, to_ns;
    uint64_t called_ns, no_call_ns, outside_ns; /* of all threads together */
};

#endif
