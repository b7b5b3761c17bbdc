/* SPDX-License-Identifier: MIT
 *
 * Parts of a page that failed, or for which it has no room: it is written without them, and says
 * which are missing and why.
 */
#ifndef WEFT_SCHEMA_MISSING_H
#define WEFT_SCHEMA_MISSING_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum weft_missing_kind {
    WEFT_MISSING_FUNCTIONS,
    WEFT_MISSING_CALLS,
    WEFT_MISSING_PAUSES,
    WEFT_MISSING_OUTLIERS,
    WEFT_MISSING_FINDINGS,
    WEFT_MISSING_SOME_PATHS,
    WEFT_MISSING_SOME_COMPARISONS,
    WEFT_MISSING_SHAPES,
    WEFT_MISSING_SOME_ROWS,
    WEFT_MISSING_SOME_THREADS,
    WEFT_MISSING_KINDS,
};

struct weft_missing {
    struct weft_missing_part {
        enum weft_missing_kind kind;
        struct weft_err reason;
    } parts[WEFT_MISSING_KINDS]; /* each kind once */
    size_t n;
};

/* "functions", "some comparisons". */
const char *weft_missing_name(enum weft_missing_kind kind);

/* Whether the page is written without a part that failed so: then it is kept, and `err` forgets it.
 * Not of what the user asked to stop, or asked wrongly. Of a kind the last reason is kept. */
bool weft_missing_add(struct weft_missing *missing, enum weft_missing_kind kind,
                      enum weft_code code, struct weft_err *err);

#endif
