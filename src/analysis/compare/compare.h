/* SPDX-License-Identifier: MIT
 *
 * What differs between two groups of executions (docs/analyses/compare.md; ALGORITHMS.md section 7,
 * TraceCompare 3.4). Input: the matrix of their trees. Kept between questions, because a filter
 * that moves changes few executions.
 */
#ifndef WEFT_ANALYSIS_COMPARE_COMPARE_H
#define WEFT_ANALYSIS_COMPARE_COMPARE_H

#include "analysis/compare/metrics.h"
#include "analysis/compare/sums.h"
#include "base/error.h"
#include "schema/compare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_comparer;

/* `matrix` is borrowed, and must live longer. O(items log items) for each metric. */
WEFT_CHECKED enum weft_code weft_comparer_new(const struct weft_ecct_matrix *matrix,
                                              struct weft_comparer **comparer,
                                              struct weft_err *err);
/* NULL is allowed. */
void weft_comparer_free(struct weft_comparer *comparer);

struct weft_compare_opts {
    const uint8_t *members; /* n_items: WEFT_IN_A, WEFT_IN_B, both or neither */
    uint32_t n_bootstrap;   /* nodes ranked first, and if not 0 all metrics, whose intervals are
                             * those of the bootstrap too */
    bool with_causes;
    uint32_t n_looks; /* how many groups were tried before one is reported: evidence counts for so
                       * much less (Bonferroni); 0 is 1 */
};

/* `*table` is the caller's. O(items x metrics + values of executions that changed groups + nodes).
 * Empty groups are no error: nothing is sure then. */
WEFT_CHECKED enum weft_code weft_comparer_run(struct weft_comparer *comparer,
                                              const struct weft_compare_opts *opts,
                                              struct weft_compare_table **table,
                                              struct weft_err *err);

/* The ordered values of a metric. */
const struct weft_metric_order *weft_comparer_order(const struct weft_comparer *comparer,
                                                    size_t metric);

#endif
