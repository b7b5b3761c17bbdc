/* SPDX-License-Identifier: MIT
 *
 * The slow executions of a type and the usual ones, separated by how long they took.
 */
#ifndef WEFT_SCHEMA_COMPARE_CUT_H
#define WEFT_SCHEMA_COMPARE_CUT_H

#include "schema/compare.h"

enum { WEFT_CUT_FILTER_BYTES = 64 };

/* The usual executions are A, the slow ones B. */
struct weft_compare_cut {
    struct weft_slow_tail tail;       /* without a table: what was found of humps */
    struct weft_compare_table *table; /* the caller's; NULL: nothing is worth to be looked at */
    char a[WEFT_CUT_FILTER_BYTES], b[WEFT_CUT_FILTER_BYTES]; /* filters; without a table: empty */
};

/* Does the second cut tell more than the first, which may have no table? */
struct weft_cut_judge {
    bool (*is_better)(const void *context, const struct weft_compare_cut *first,
                      const struct weft_compare_cut *second);
    const void *context;
};

#endif
