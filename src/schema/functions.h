/* SPDX-License-Identifier: MIT
 *
 * Functions: calls, times, percentiles. Times are ns since the start of the trace.
 */
#ifndef WEFT_SCHEMA_FUNCTIONS_H
#define WEFT_SCHEMA_FUNCTIONS_H

#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One function. Three disjoint kinds of calls:
 *   closed: entry and end lie in the trace (the end may be a repair). All times and percentiles
 *           (exact, nearest rank) are over these alone, so that none is a guess;
 *   open:   entered, but still open at the thread's last event: in `count`, and in open_*;
 *   cut:    entered before the trace: only in cut_*.
 * Checked against independent decoders: inclusive and self exclude open calls. */
struct weft_function_row {
    uint32_t function_id;
    uint32_t n_threads;
    uint64_t count;        /* entries seen: closed + open */
    uint64_t inclusive_ns; /* closed; outermost activation only under recursion (gprof, 1982) */
    uint64_t self_ns;      /* closed */
    uint64_t min_ns, mean_ns, max_ns;
    uint64_t p50_ns, p90_ns, p99_ns, p999_ns;
    uint64_t open_count, open_ns; /* open: number, clipped inclusive time (outermost only) */
    uint64_t open_self_ns;
    uint64_t cut_count, cut_ns; /* cut: number, inclusive time seen */
    uint32_t max_thread_id;     /* where the longest closed call is */
    uint64_t max_start_ns;
};

struct weft_functions_table {
    struct weft_arena *arena;
    struct weft_function_row *rows; /* by function_id, only functions that occur */
    size_t n_rows;
    uint32_t *row_of_function; /* function_id -> row, or WEFT_ID_NONE; n_functions elements */
    size_t n_functions;
    uint64_t calls;   /* sum of count */
    uint64_t self_ns; /* of all functions, open calls too */
};

#endif
