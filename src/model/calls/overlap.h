/* SPDX-License-Identifier: MIT
 *
 * The calls of a thread that have a part in a window of time, as they are: not cut to it. A call
 * has a part in [from_ns, to_ns) if it begins before to_ns and ends after from_ns; one of no
 * duration if it begins inside. (A scan in a window hands out calls that are cut;
 * model/calls/scan.h.)
 *
 *     struct weft_overlap overlap;            // over a scan without a window
 *     weft_overlap_init(&overlap, scan, &window)
 *     overlap.open.items ...                  // entered before the blocks below, by depth
 *     while (!(code = weft_overlap_next(&overlap, &calls, &n_rows, err)) && calls)
 *         for (size_t i = 0; i < n_rows; i++)
 *             if (weft_overlaps(&window, calls->start_ns[i], calls->end_ns[i])) ...
 */
#ifndef WEFT_MODEL_CALLS_OVERLAP_H
#define WEFT_MODEL_CALLS_OVERLAP_H

#include "model/calls/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which blocks may be left out, because none of their calls is wanted. */
struct weft_overlap_wanted {
    const uint8_t *functions; /* by id; NULL: all */
    uint64_t least_ns;        /* calls are at least this long */
};

struct weft_overlap {
    struct weft_scan *scan;
    struct weft_window window;
    struct weft_overlap_wanted wanted;
    uint64_t next_block;
    struct {
        struct weft_open_call *items; /* that have a part in the window; by depth */
        size_t n, cap;
    } open;
};

static inline bool weft_overlaps(const struct weft_window *window, uint64_t start_ns,
                                 uint64_t end_ns)
{
    return start_ns < window->to_ns && (end_ns > window->from_ns || start_ns >= window->from_ns);
}

/* The last block whose first call begins before `at_ns`; 0 if there is none. O(log blocks). */
uint64_t weft_overlap_block(const struct weft_scan *scan, uint64_t at_ns);

/* Finds the calls open where the window's blocks begin, without decoding any. `window` NULL: the
 * whole thread; `wanted` NULL: all. False without memory. */
bool weft_overlap_init(struct weft_overlap *overlap, struct weft_scan *scan,
                       const struct weft_window *window, const struct weft_overlap_wanted *wanted);
void weft_overlap_fini(struct weft_overlap *overlap);

/* The next block in *calls, of which the first `*n_rows` begin before the window's end; NULL at the
 * end. */
WEFT_CHECKED enum weft_code weft_overlap_next(struct weft_overlap *overlap,
                                              const struct weft_calls **calls, size_t *n_rows,
                                              struct weft_err *err);

#endif
