/* SPDX-License-Identifier: MIT
 *
 * Allocation of the open levels only; entering and leaving calls is inline in the header, since
 * calls.c and histogram.c do both for every call of a trace.
 */
#include "analysis/calls/self_times.h"

#include <stdlib.h>

bool weft_self_times_ready(struct weft_self_times *times, uint32_t depth_bound)
{
    if (times->cap > depth_bound)
        return true;
    weft_self_times_fini(times);
    times->levels = calloc((size_t)depth_bound + 1, sizeof *times->levels);
    times->cap = times->levels ? (size_t)depth_bound + 1 : 0;
    return times->levels != NULL;
}

void weft_self_times_fini(struct weft_self_times *times)
{
    free(times->levels);
    *times = (struct weft_self_times){ 0 };
}
