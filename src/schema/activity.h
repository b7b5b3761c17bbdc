/* SPDX-License-Identifier: MIT
 *
 * What can be inferred from silence: pauses of threads. Times are ns since the start of the
 * trace.
 */
#ifndef WEFT_SCHEMA_ACTIVITY_H
#define WEFT_SCHEMA_ACTIVITY_H

#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_pause_kind {
    WEFT_PAUSE_WAIT,  /* inside a function that waits by its name */
    WEFT_PAUSE_STILL, /* inside any other call: stood still (inferred) */
    WEFT_PAUSE_IDLE,  /* no call open */
};

/* A time longer than the threshold in which a thread neither entered nor left a call. */
struct weft_pause_row {
    enum weft_pause_kind kind;
    uint32_t function_id; /* innermost open call, or WEFT_ID_NONE */
    uint32_t depth;
    uint64_t start_ns, end_ns;
};

struct weft_activity_thread {
    uint32_t thread_id;
    struct weft_pause_row *pauses; /* in time order; the longest `limit` ones */
    size_t n_pauses;
    uint64_t n_pauses_all;
    uint64_t wait_ns, still_ns, idle_ns; /* all pauses, exact; idle only within the thread's life */
    uint64_t short_wait_ns;              /* self time in waiting functions below the threshold */
    uint64_t running_ns;                 /* life - wait - still - idle */
    uint64_t first_ns, last_ns;
};

struct weft_activity_table {
    struct weft_arena *arena;
    struct weft_activity_thread *threads;
    size_t n_threads;
    uint64_t threshold_ns;
    bool *is_wait_function; /* by function id */
    size_t n_functions;
};

#endif
