/* SPDX-License-Identifier: MIT
 *
 * Filters choose executions (docs/filters.md): "duration>20ms and tag=base", "page_faults>=3",
 * "start in 1s-2s", "context('fsync')>1ms", "duration>p95 and not thread=main".
 */
#ifndef WEFT_QUERY_FILTER_H
#define WEFT_QUERY_FILTER_H

#include "base/error.h"
#include "base/str.h"
#include "schema/ecct.h"

#include <stddef.h>
#include <stdint.h>

enum {
    WEFT_FILTER_BYTES_MAX = 16384,
    WEFT_FILTER_TESTS_MAX = 256,
    WEFT_FILTER_DEPTH_MAX = 64,
};

struct weft_filter;

/* An empty text, or "all", chooses all executions. WEFT_E_ARG says at which column what was
 * expected and found; WEFT_E_LIMIT for a text beyond the limits above. */
WEFT_CHECKED enum weft_code weft_filter_parse(struct weft_str text, struct weft_filter **filter,
                                              struct weft_err *err);
/* NULL is allowed. */
void weft_filter_free(struct weft_filter *filter);

/* What filters are applied to: a matrix, and what they asked of it before (times in contexts,
 * sorted values), which is kept. */
struct weft_filter_scope;

/* `matrix` is borrowed, and must live longer. NULL without memory. */
struct weft_filter_scope *weft_filter_scope_new(const struct weft_ecct_matrix *matrix);
/* NULL is allowed. */
void weft_filter_scope_free(struct weft_filter_scope *scope);

/* Sets `bit` in members[item] of each item chosen, and clears it in the others. O(items x tests),
 * and for a context asked for the first time O(values). WEFT_E_ARG: an unknown metric or context,
 * or a value without its unit. */
WEFT_CHECKED enum weft_code weft_filter_apply(const struct weft_filter *filter,
                                              struct weft_filter_scope *scope, uint8_t bit,
                                              uint8_t *members, struct weft_err *err);

#endif
