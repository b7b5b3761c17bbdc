/* SPDX-License-Identifier: MIT
 *
 * What Shapes concludes from its counts: drops of throughput, how surprising a cluster is, and
 * which threads behave alike (docs/analyses/shapes.md).
 */
#ifndef WEFT_ANALYSIS_SHAPES_RANK_H
#define WEFT_ANALYSIS_SHAPES_RANK_H

#include "base/error.h"
#include "model/window.h"
#include "schema/shapes.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WEFT_DROP_REACH = 10,       /* windows on either side of one that its median is of */
    WEFT_DROP_LEAST_MEDIAN = 10 /* occurrences in a window: else it is too few to say */
};

struct weft_drop_search {
    struct weft_window window;
    uint32_t n_windows;
    double fraction;
};

struct weft_drop_list {
    struct weft_shape_drop *items;
    size_t n, cap;
};

/* Appends the drops of a cluster, in order of time, of which begun[w] occurrences begin in window
 * `w`. False without memory. O(n_windows). */
WEFT_CHECKED bool weft_drops_find(const struct weft_drop_search *search, uint32_t cluster_id,
                                  const uint32_t *begun, struct weft_drop_list *list);

/* Sorts by loss of time, the largest first: (expected - count) x mean duration of the cluster.
 * False without memory. */
WEFT_CHECKED bool weft_drops_sort(struct weft_drop_list *list,
                                  const struct weft_shape_cluster *clusters);

/* Fills cluster.surprise: everything else of clusters and presences is known. False without
 * memory. */
WEFT_CHECKED bool weft_shapes_surprise(struct weft_shapes_table *table, uint32_t n_functions);

/* Fills thread.group. False without memory. */
WEFT_CHECKED bool weft_shapes_group(struct weft_shapes_table *table);

#endif
