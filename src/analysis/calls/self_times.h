/* SPDX-License-Identifier: MIT
 *
 * Self times of single calls, as far as they lie in a window. Calls are shown in pre-order; a
 * call's self time is known when it is left, which is when one begins that it does not call.
 *
 *     while ((level = weft_self_times_leave(&times, call->depth)))
 *         ... level->self_ns is final ...
 *     level = weft_self_times_enter(&times, &window, start_ns, end_ns, depth);
 */
#ifndef WEFT_ANALYSIS_CALLS_SELF_TIMES_H
#define WEFT_ANALYSIS_CALLS_SELF_TIMES_H

#include "model/calls/scan.h"
#include "schema/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An open call. `is_wanted` and `row` are the caller's, which sets them when it is entered. */
struct weft_self_level {
    uint64_t self_ns;
    bool is_wanted;
    struct weft_call_row row;
};

struct weft_self_times {
    struct weft_self_level *levels; /* by depth */
    size_t n_open, cap;
};

/* Room for calls of depths up to `depth_bound`. False without memory. */
bool weft_self_times_ready(struct weft_self_times *times, uint32_t depth_bound);
void weft_self_times_fini(struct weft_self_times *times);

/* Leaves the innermost call if it is at `depth` or deeper; valid until the next is entered. NULL:
 * there is none. */
static inline struct weft_self_level *weft_self_times_leave(struct weft_self_times *times,
                                                            size_t depth)
{
    return times->n_open > depth ? &times->levels[--times->n_open] : NULL;
}

/* A call begins; all that it is not in were left. Callers of one in the window are in the window,
 * but for one of no duration where its callers end as the window begins. */
static inline struct weft_self_level *weft_self_times_enter(struct weft_self_times *times,
                                                            const struct weft_window *window,
                                                            uint64_t start_ns, uint64_t end_ns,
                                                            uint32_t depth)
{
    const uint64_t inside_ns =
        weft_window_clip(window, end_ns) - weft_window_clip(window, start_ns);
    for (; times->n_open < depth; times->n_open++)
        times->levels[times->n_open] = (struct weft_self_level){ 0 };
    if (depth > 0)
        times->levels[depth - 1].self_ns -= inside_ns;
    struct weft_self_level *level = &times->levels[depth];
    level->self_ns = inside_ns;
    level->is_wanted = false;
    times->n_open = (size_t)depth + 1;
    return level;
}

#endif
