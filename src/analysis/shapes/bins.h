/* SPDX-License-Identifier: MIT
 *
 * How the durations of a cluster are distributed: a histogram in the bins of model/histogram.h, of
 * which only those that hold calls are kept.
 */
#ifndef WEFT_ANALYSIS_SHAPES_BINS_H
#define WEFT_ANALYSIS_SHAPES_BINS_H

#include "base/error.h"
#include "model/histogram.h"
#include "schema/shapes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* While calls are counted. Neighbours go to different tables: most calls of a cluster are alike,
 * and to count up one word again and again is slow. */
enum { WEFT_SHAPE_BIN_WAYS = 2 };
struct weft_shape_bin_counts {
    uint64_t of[WEFT_SHAPE_BIN_WAYS][WEFT_BINS];
};

/* Those of a cluster, ascending. The items are the owner's, to be freed with free(). */
struct weft_shape_bins {
    struct weft_shape_bin *items;
    size_t n;
};

/* Makes the bins of what was counted. False without memory. */
WEFT_CHECKED bool weft_shape_bins_make(const struct weft_shape_bin_counts *counts,
                                       struct weft_shape_bins *bins);

/* Moves the bins of all clusters to the arena, and frees theirs. False without memory. */
WEFT_CHECKED bool weft_shape_bins_move(struct weft_shape_bins *bins, struct weft_arena *arena,
                                       struct weft_shape_cluster *clusters, size_t n_clusters);

/* Frees what was not moved, and the array. */
void weft_shape_bins_free(struct weft_shape_bins *bins, size_t n_clusters);

#endif
