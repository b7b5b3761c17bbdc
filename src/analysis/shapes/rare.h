/* SPDX-License-Identifier: MIT
 *
 * Behaviours that are rare: shapes that occur once, shapes of one thread alone, and calls far
 * longer than others of the same shape (docs/analyses/shapes.md, "Rare").
 */
#ifndef WEFT_ANALYSIS_SHAPES_RARE_H
#define WEFT_ANALYSIS_SHAPES_RARE_H

#include "base/arena.h"
#include "base/error.h"
#include "schema/shapes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_shape_rare {
    uint32_t shape_id;
    bool is_once;       /* one occurrence, of a function with several calls */
    bool is_one_thread; /* on one thread, of a function that several threads call */
    bool is_slow;       /* its longest call takes many times the mean of its others */
    bool is_deepest;    /* no listed child of it carries most (>= 90 %) of the time */
    double surprise;    /* bits */
    uint64_t time_ns;
    double score; /* surprise x time: the rank */
    struct weft_shape_occurrence at;
    uint64_t typical_ns;     /* mean of the other occurrences; 0: none */
    uint64_t function_calls; /* with a shape, of its function */
};

/* Best score first; ties by shape. `slow_factor`: how many times the others' mean is slow. A shape
 * of n among N calls of its function has a surprise of log2(N / n) bits, and its time is that of
 * all its occurrences; a slow call of log2(times) bits, and its time is what exceeds the mean. The
 * greater score counts. O(shapes log shapes). Allocated from `arena`. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_shape_rare_find(const struct weft_shapes_table *table,
                                                 double slow_factor, struct weft_arena *arena,
                                                 struct weft_shape_rare **rare, size_t *n_rare,
                                                 struct weft_err *err);

#endif
