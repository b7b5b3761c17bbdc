/* SPDX-License-Identifier: MIT
 *
 * Metrics of two groups of executions beside each other.
 */
#ifndef WEFT_ANALYSIS_COMPARE_METRICS_H
#define WEFT_ANALYSIS_COMPARE_METRICS_H

#include "base/error.h"
#include "base/statistics.h"
#include "schema/compare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values of a metric in ascending order: what lacks it counts as 0 (TC-67). */
struct weft_metric_order {
    uint32_t *items; /* ascending by value, then by place */
    double *values;
    size_t n;
};

WEFT_CHECKED enum weft_code weft_metric_order_init(struct weft_metric_order *order,
                                                   const struct weft_metric *metric, size_t n_items,
                                                   struct weft_err *err);
void weft_metric_order_fini(struct weft_metric_order *order);

/* Mean and variance of values. */
struct weft_sample weft_sample_of(const double *values, size_t n);

/* Compares one metric; `scratch` has room for two values an item. p_adjusted is left to the caller.
 */
WEFT_CHECKED enum weft_code weft_compare_metric(const struct weft_metric_order *order,
                                                const uint8_t *members, bool with_bootstrap,
                                                uint64_t seed, double *scratch,
                                                struct weft_compare_metric *result,
                                                struct weft_err *err);

#endif
