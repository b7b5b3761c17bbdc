/* SPDX-License-Identifier: MIT
 *
 * One line of characters that shows what a thread did over the whole trace.
 */
#ifndef WEFT_RENDER_STRIP_H
#define WEFT_RENDER_STRIP_H

#include "base/arena.h"
#include "base/str.h"
#include "schema/regtime.h"

#include <stddef.h>
#include <stdint.h>

#define WEFT_STRIP_LEGEND                                                                          \
    "time: \xe2\x96\x81..\xe2\x96\x88 in runs of short calls, \xe2\x94\x80 only long "             \
    "calls, "                                                                                      \
    "\xc2\xb7 less than half in calls, blank: no calls"

/* `n_columns` slices of equal length from 0 to `duration_ns`. A block's height is the share of its
 * slice that lies in expressions; a line stands for a slice that lies in notable calls without
 * expressions. {NULL, 0} without memory. */
struct weft_str weft_strip(struct weft_arena *arena, const struct weft_regtime_thread *thread,
                           uint64_t duration_ns, size_t n_columns);

#endif
