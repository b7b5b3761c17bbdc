/* SPDX-License-Identifier: MIT
 *
 * The metric of shapes (paper, Definition 5.5) in half units, so that it is an integer: function
 * distance 0, 1 (to null) or 2, plus the Hausdorff distance of the sets of children.
 */
#ifndef WEFT_ANALYSIS_SHAPE_METRIC_H
#define WEFT_ANALYSIS_SHAPE_METRIC_H

#include "analysis/shape_set.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { WEFT_SHAPE_NULL = UINT32_MAX };

/* Remembers distances by pair of ids, within a fixed amount of memory. Of one worker. */
struct weft_shape_metric;

struct weft_shape_metric *weft_shape_metric_new(const struct weft_shape_set *set);
void weft_shape_metric_free(struct weft_shape_metric *metric);

/* d(a, b) if that is at most `bound_halves`, else bound_halves + 1. Either may be WEFT_SHAPE_NULL.
 * UINT32_MAX - 1 as bound gives every distance: none is more than twice the depth. */
uint32_t weft_shape_distance(struct weft_shape_metric *metric, uint32_t a, uint32_t b,
                             uint32_t bound_halves);

/* Evaluations so far, memoised ones apart: the unit of limits. */
uint64_t weft_shape_metric_work(const struct weft_shape_metric *metric);

/* One node of a Hausdorff matching pair (paper, Theorem 7.1): two trees of the same outline whose
 * stack difference is the distance. Pre-order. */
struct weft_shape_match {
    uint32_t a, b;     /* shapes of the pair, WEFT_SHAPE_NULL for none */
    uint32_t level;    /* 0: the roots */
    uint32_t distance; /* of the pair, half units */
    bool is_critical;  /* on a path that makes up the whole distance */
};

/* The matching pair of a and b. Children are paired with a nearest one of the other side (the
 * lowest id of the nearest, null last), a pair stands once; pairs of equal shapes are not expanded
 * unless `with_equal`. At most `limit` nodes (0: none), then *is_cut. Allocated from `arena`.
 * WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_shape_match(struct weft_shape_metric *metric, uint32_t a,
                                             uint32_t b, bool with_equal, size_t limit,
                                             struct weft_arena *arena,
                                             struct weft_shape_match **nodes, size_t *n_nodes,
                                             bool *is_cut, struct weft_err *err);

struct weft_shape_near {
    uint32_t shape, distance;
};

/* All shapes within `bound_halves` of `shape`, itself apart: nearest first, then by id. */
WEFT_CHECKED enum weft_code weft_shape_near(struct weft_shape_metric *metric, uint32_t shape,
                                            uint32_t bound_halves, struct weft_arena *arena,
                                            struct weft_shape_near **near, size_t *n_near,
                                            struct weft_err *err);

#endif
