/* SPDX-License-Identifier: MIT
 *
 * Executions that were found, in any order, on their way to a table: rows are sorted in runs, what
 * their user metrics are lies beside them, both in a file if they are many.
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_GATHER_H
#define WEFT_ANALYSIS_EXECUTIONS_GATHER_H

#include "analysis/executions/executions.h"
#include "analysis/executions/pairs.h"
#include "base/spool.h"

#include <stddef.h>
#include <stdint.h>

/* As it is sorted: by start, the longer ones first, then by the rest of the row. */
struct weft_execution_gathered {
    struct weft_execution_row row;
    uint64_t sequence;                          /* in which it was added */
    const struct weft_execution_values *values; /* of the begin, then of the end; NULL: none */
};

struct weft_execution_gather;

/* NULL without memory. `sizes` are copied. */
struct weft_execution_gather *weft_execution_gather_new(const struct weft_execution_sizes *sizes);

/* NULL is allowed. */
void weft_execution_gather_free(struct weft_execution_gather *gather);

/* The values stay the caller's. Fails as weft_spool_array does. */
WEFT_CHECKED enum weft_code weft_execution_gather_add(struct weft_execution_gather *gather,
                                                      const struct weft_execution_found *found,
                                                      struct weft_err *err);

const struct weft_execution_sizes *
weft_execution_gather_sizes(const struct weft_execution_gather *gather);
size_t weft_execution_gather_count(const struct weft_execution_gather *gather);
bool weft_execution_gather_has_values(const struct weft_execution_gather *gather);

/* Nothing is added any more. */
WEFT_CHECKED enum weft_code weft_execution_gather_seal(struct weft_execution_gather *gather,
                                                       struct weft_err *err);

/* Where rows and values lie; the gather's, until it is taken after the last one was read. */
struct weft_spool *weft_execution_gather_spool(const struct weft_execution_gather *gather);
struct weft_spool *weft_execution_gather_take_spool(struct weft_execution_gather *gather);

/* The next one in order, valid until the next call; NULL at the end. */
const struct weft_execution_gathered *
weft_execution_gather_next(struct weft_execution_gather *gather);

#endif
