/* SPDX-License-Identifier: MIT
 *
 * Exact quantiles of the durations of clusters, on each thread and on all together, in bounded
 * memory: those of few calls are collected, for the others histograms are narrowed down
 * (analysis/calls/quantiles.h). What does not fit at once takes further rounds over its threads.
 */
#ifndef WEFT_ANALYSIS_SHAPES_QUANTILES_H
#define WEFT_ANALYSIS_SHAPES_QUANTILES_H

#include "analysis/shapes/bins.h"
#include "analysis/shapes/mine.h"

/* What quantiles, and bins, are wanted of. Rows of the mined thread `item` are first[item] ...
 * first[item+1), of ascending clusters; after those of all threads follow n_clusters rows, those of
 * the clusters over all threads. Counts are known; the quantiles and the bins are filled in. */
struct weft_shape_quantile_rows {
    const uint32_t *cluster_of; /* by shape */
    size_t n_clusters;
    const size_t *first;             /* [n_threads + 1] */
    const uint32_t *cluster_id;      /* [first[n_threads]] */
    struct weft_shape_times **times; /* [first[n_threads] + n_clusters]; NULL: not wanted, of a
                                        cluster that is on one thread alone */
    struct weft_shape_bins *bins;    /* [n_clusters], zeroed; over all threads */
    size_t budget_bytes;             /* a worker's; 0: the default */
};

/* WEFT_E_NOMEM, and what replaying returns. */
WEFT_CHECKED enum weft_code weft_shape_quantiles_run(const struct weft_mined *mined,
                                                     struct weft_shape_replay *replay,
                                                     const struct weft_shape_quantile_rows *rows,
                                                     unsigned n_workers, struct weft_err *err);

#endif
