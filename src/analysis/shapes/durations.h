/* SPDX-License-Identifier: MIT
 *
 * Exact quantiles of the durations of clusters, on each thread and on all together, from durations
 * that mining has kept (analysis/shapes/tape.h): no call is read again. Where they were too many to
 * be kept, analysis/shapes/quantiles.h finds the same by reading.
 *
 *     a tape            7 3 7 7 3 ...    120 131 88 119 90 ...
 *     grouped by cluster, the durations alone:   [131 90 ...] [120 88 119 ...]
 *     a row             the groups of a cluster in one partition, some, or all
 */
#ifndef WEFT_ANALYSIS_SHAPES_DURATIONS_H
#define WEFT_ANALYSIS_SHAPES_DURATIONS_H

#include "analysis/shapes/quantiles.h"

/* Fills in the quantiles of rows->times, and rows->bins; budget_bytes does not count.
 * mined->has_durations; the durations are gone afterwards. O(calls). WEFT_E_NOMEM, WEFT_E_MALFORMED
 * if the counts of the rows are not those of the tapes. */
WEFT_CHECKED enum weft_code weft_shape_durations_run(struct weft_mined *mined,
                                                     const struct weft_shape_quantile_rows *rows,
                                                     struct weft_pool *pool, struct weft_err *err);

#endif
