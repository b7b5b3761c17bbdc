/* SPDX-License-Identifier: MIT
 *
 * Comparisons that the server keeps: executions of a type of a database, or what rules find in a
 * trace. A few at a time; the one not used for longest makes room. Used by the heavy worker alone.
 */
#ifndef WEFT_SERVE_COMPARISONS_H
#define WEFT_SERVE_COMPARISONS_H

#include "base/error.h"
#include "query/comparison.h"

#include <stdint.h>

enum { WEFT_COMPARISONS = 4 };

struct weft_comparison_slot {
    char *key; /* what was asked for; NULL: the slot is free */
    struct weft_comparison *comparison;
    uint64_t used; /* by the clock */
};

struct weft_comparisons {
    struct weft_comparison_slot slots[WEFT_COMPARISONS];
    uint64_t clock; /* counts questions */
};

struct weft_ask;

/* The comparison that the question is of, made if it is not kept; valid until the next question.
 * WEFT_E_ARG: rules that cannot be read, a type that is not there; else as databases fail. */
WEFT_CHECKED enum weft_code weft_comparisons_get(const struct weft_ask *ask,
                                                 struct weft_comparison **comparison,
                                                 struct weft_err *err);

void weft_comparisons_fini(struct weft_comparisons *comparisons);

#endif
