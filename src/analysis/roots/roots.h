/* SPDX-License-Identifier: MIT
 *
 * Root calls: calls without a caller, a row for each thread that has any (docs/analyses/roots.md).
 */
#ifndef WEFT_ANALYSIS_ROOTS_ROOTS_H
#define WEFT_ANALYSIS_ROOTS_ROOTS_H

#include "analysis/list.h"

struct weft_root_row {
    uint32_t thread_id;
    uint32_t longest_function_id;       /* of the longest call */
    uint64_t count;                     /* calls that start in the window */
    uint64_t open;                      /* calls open at its start */
    uint64_t sum_ns;                    /* time of both in the window */
    uint64_t longest_ns, longest_at_ns; /* of both, in the window: of equals the first */
};

extern const struct weft_table_type weft_roots_type; /* of the list */

/* Most time first; of equals the lower thread id. O(calls). */
weft_list_fn weft_roots_run;

#endif
