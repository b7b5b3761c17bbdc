/* SPDX-License-Identifier: MIT
 *
 * Parts of a page that failed: it is written without them, and says which are missing and why.
 */
#ifndef WEFT_SCHEMA_MISSING_H
#define WEFT_SCHEMA_MISSING_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { WEFT_MISSING_MAX = 8 };

struct weft_missing {
    struct weft_missing_part {
        const char *name; /* static */
        struct weft_err reason;
    } parts[WEFT_MISSING_MAX];
    size_t n;
};

/* Whether the page is written without a part that failed so: then it is kept, and `err` forgets it.
 * Not of what the user asked to stop, or asked wrongly. */
bool weft_missing_add(struct weft_missing *missing, const char *name, enum weft_code code,
                      struct weft_err *err);

#endif
