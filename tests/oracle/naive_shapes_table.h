/* SPDX-License-Identifier: MIT
 *
 * weft_shapes_run a second time: every call a tree of its own, every duration in a list that is
 * sorted, every column asked of every occurrence.
 */
#ifndef WEFT_TESTS_NAIVE_SHAPES_TABLE_H
#define WEFT_TESTS_NAIVE_SHAPES_TABLE_H

#include "analysis/shapes/shapes.h"
#include "memory_store.h"
#include "naive_shapes.h"

struct naive_result {
    struct weft_shapes_table table;
    const struct weft_shape_occurrence *occurrences; /* by thread, in order of entry */
    size_t n_occurrences;
};

/* The table of the threads of `filter` (NULL: all); everything is the memory's. */
struct naive_result naive_shapes(struct naive_memory *memory, const struct memory_trace *trace,
                                 const struct weft_thread_filter *filter,
                                 const struct weft_shapes_opts *opts);

/* What follows from the rest of the table: spikes, drops, surprise, groups (naive_shapes_rank.c).
 */
void naive_shapes_conclude(struct naive_memory *memory, const struct weft_shapes_opts *opts,
                           struct naive_result *result);

#endif
