/* SPDX-License-Identifier: MIT
 *
 * What one call spent its time on: self time, and its direct callees by function.
 */
#ifndef WEFT_ANALYSIS_CALLS_CALL_PARTS_H
#define WEFT_ANALYSIS_CALLS_CALL_PARTS_H

#include "model/calls/scan.h"
#include "schema/calls.h"

/* A call with its callers: stack[n_stack - 1] is the call, those before it its callers by depth. */
struct weft_call_stack {
    const struct weft_open_call *items;
    size_t n;
};

/* Fills self_ns, callees and n_callees of the table, in its arena. */
WEFT_CHECKED enum weft_code weft_call_parts(struct weft_scan *scan,
                                            const struct weft_call_stack *stack,
                                            struct weft_call_table *table, struct weft_err *err);

#endif
