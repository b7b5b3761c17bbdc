/* SPDX-License-Identifier: MIT
 *
 * The metric of shapes (paper, Definition 5.5) in half units, so that it is an integer: function
 * distance 0, 1 (to null) or 2, plus the Hausdorff distance of the sets of children.
 */
#ifndef WEFT_ANALYSIS_SHAPES_METRIC_H
#define WEFT_ANALYSIS_SHAPES_METRIC_H

#include "analysis/shapes/set.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* In place of a shape: none. */
#define WEFT_SHAPE_NULL UINT32_MAX

/* Remembers distances by pair of ids, within a fixed amount of memory. Of one worker. */
struct weft_shape_metric;

/* Borrows the set. NULL without memory. At most 32 MiB besides 32 bytes a shape, and 64 bytes for
 * each level of the deepest shape. */
struct weft_shape_metric *weft_shape_metric_new(const struct weft_shape_set *set);
void weft_shape_metric_free(struct weft_shape_metric *metric);

const struct weft_shape_set *weft_shape_metric_set(const struct weft_shape_metric *metric);

/* Forgets what is remembered, sets the work to 0, and allows `max_work` (0: 1 << 30, as new). What
 * follows costs the same whatever came before. */
void weft_shape_metric_limit(struct weft_shape_metric *metric, uint64_t max_work);

/* Pairs of shapes looked at so far: the unit of limits. */
uint64_t weft_shape_metric_work(const struct weft_shape_metric *metric);

/* True once an answer was given up because the work reached the limit. */
bool weft_shape_metric_is_spent(const struct weft_shape_metric *metric);

/* Adds the work of the caller's own. */
void weft_shape_metric_spend(struct weft_shape_metric *metric, uint64_t work);

/* d(a, b) if that is at most `bound_halves`, else bound_halves + 1. Either may be WEFT_SHAPE_NULL.
 * UINT32_MAX - 1 as bound gives every distance: none is more than the greater depth, plus 1. When
 * the limit is reached: bound_halves + 1, and the metric is spent. No recursion: two stacks of
 * calls 65,535 deep are compared like others. */
uint32_t weft_shape_distance(struct weft_shape_metric *metric, uint32_t a, uint32_t b,
                             uint32_t bound_halves);

/* Whether d(a, b) is at most `bound_halves`: as weft_shape_distance, but faster. Neither is null.
 * False once the metric is spent. */
bool weft_shape_is_near(struct weft_shape_metric *metric, uint32_t a, uint32_t b,
                        uint32_t bound_halves);

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
 * unless `with_equal`. Order: the children of a by id, then those pairs of b's that do not stand
 * yet; null with null is left out. At most `limit` nodes (0: 1 << 20), then *is_cut. Allocated from
 * `arena`. WEFT_E_NOMEM; WEFT_E_LIMIT when the metric is spent. */
WEFT_CHECKED enum weft_code weft_shape_match(struct weft_shape_metric *metric, uint32_t a,
                                             uint32_t b, bool with_equal, size_t limit,
                                             struct weft_arena *arena,
                                             struct weft_shape_match **nodes, size_t *n_nodes,
                                             bool *is_cut, struct weft_err *err);

struct weft_shape_near {
    uint32_t shape, distance;
};

/* All shapes within `bound_halves` of `shape`, itself apart: nearest first, then by id. In `arena`.
 * WEFT_E_NOMEM; WEFT_E_LIMIT when the metric is spent. */
WEFT_CHECKED enum weft_code weft_shape_near(struct weft_shape_metric *metric, uint32_t shape,
                                            uint32_t bound_halves, struct weft_arena *arena,
                                            struct weft_shape_near **near, size_t *n_near,
                                            struct weft_err *err);

#endif
