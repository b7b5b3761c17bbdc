/* SPDX-License-Identifier: MIT
 *
 * Single calls, and histograms of many. Times are ns since the start of the trace.
 */
#ifndef WEFT_SCHEMA_CALLS_H
#define WEFT_SCHEMA_CALLS_H

#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call as it is in the trace, whatever part was asked for. */
struct weft_call_row {
    uint64_t start_ns, end_ns;
    uint64_t length_ns; /* end_ns - start_ns; in a table of self times, self time in the part */
    uint64_t number;    /* in the thread, in pre-order, from 0; cut frames first */
    uint32_t thread_id, function_id, depth;
    uint32_t flags; /* enum weft_call_flag */
};

/* Calls that match, in the order asked for. */
struct weft_calls_table {
    struct weft_arena *arena;
    struct weft_call_row *rows;
    size_t n_rows;
    uint64_t n_found; /* all that match; rows may be fewer (limit) */
    uint64_t sum_ns;  /* their length_ns together */
    bool is_self;     /* length_ns is self time */
    bool is_partial;  /* the search ended at the limit: n_found and sum_ns are of the rows */
};

/* What the calls of one function below a call took of it, all children of that function together.
 */
struct weft_callee_row {
    uint32_t function_id;
    uint64_t count, sum_ns, self_ns;
};

/* One call, or none (is_found). */
struct weft_call_table {
    struct weft_arena *arena;
    bool is_found;
    struct weft_call_row call;
    uint64_t self_ns;
    struct weft_call_row *callers;   /* by depth: call.depth of them */
    struct weft_callee_row *callees; /* most time first, then by function id */
    size_t n_callees;
};

/* A call found by its rank (weft_session_find_call). */
struct weft_found_call {
    uint64_t start_ns, end_ns;
    uint32_t thread_id, function_id, depth;
    uint32_t flags;   /* enum weft_call_flag */
    uint64_t n_calls; /* of the function on the thread */
};

/* A span found by its name (weft_session_find_span). */
struct weft_found_span {
    uint64_t start_ns, end_ns;
    uint32_t thread_id;
    uint64_t n_spans; /* of such a name */
    char name[128];   /* cut off there */
};

/* Calls whose duration (or self time) is from from_ns to before to_ns. */
struct weft_bin_row {
    uint64_t from_ns, to_ns, count, sum_ns;
};

struct weft_histogram_table {
    struct weft_arena *arena;
    struct weft_bin_row *rows; /* ascending; only bins that hold calls (model/histogram.h) */
    size_t n_rows;
    uint64_t count, sum_ns, min_ns, max_ns; /* of all; 0 if there are none */
};

#endif
