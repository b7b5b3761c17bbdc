/* SPDX-License-Identifier: MIT
 *
 * Sorts each metric once for all questions; a group's ascending values are then picked in O(n).
 * Quantiles, means and, on request, bootstrap intervals of their difference come from these.
 */
#include "analysis/compare/metrics.h"

#include "analysis/compare/bootstrap.h"
#include "analysis/compare/sums.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b, void *context)
{
    const double *values = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (values[x] != values[y])
        return values[x] < values[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

enum weft_code weft_metric_order_init(struct weft_metric_order *order,
                                      const struct weft_metric *metric, size_t n_items,
                                      struct weft_err *err)
{
    double *plain = calloc(n_items + 1, sizeof *plain);
    *order = (struct weft_metric_order){ .items = calloc(n_items + 1, sizeof *order->items),
                                         .values = calloc(n_items + 1, sizeof *order->values),
                                         .n = n_items };
    if (!plain || !order->items || !order->values) {
        free(plain);
        weft_metric_order_fini(order);
        return weft_no_memory(err, "the order of a metric");
    }
    for (size_t i = 0; i < n_items; i++) {
        plain[i] = isnan(metric->values[i]) ? 0 : metric->values[i];
        order->items[i] = (uint32_t)i;
    }
    qsort_r(order->items, n_items, sizeof *order->items, by_value, plain);
    for (size_t i = 0; i < n_items; i++)
        order->values[i] = plain[order->items[i]];
    free(plain);
    return WEFT_OK;
}

void weft_metric_order_fini(struct weft_metric_order *order)
{
    free(order->items);
    free(order->values);
    *order = (struct weft_metric_order){ 0 };
}

/* The values of one group, ascending, into `values` (room for all); their number. O(items). */
static size_t pick_group(const struct weft_metric_order *order, const uint8_t *members, uint8_t bit,
                         double *values)
{
    size_t n = 0;
    for (size_t i = 0; i < order->n; i++) {
        values[n] = order->values[i];
        n += (members[order->items[i]] & bit) != 0;
    }
    return n;
}

struct weft_sample weft_sample_of(const double *values, size_t n)
{
    struct weft_sample sample = { .n = n };
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    sample.mean = n > 0 ? sum / (double)n : 0;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - sample.mean) * (values[i] - sample.mean);
    sample.variance = n > 1 ? squares / (double)(n - 1) : 0;
    return sample;
}

static enum weft_code widen(const double *values_a, size_t n_a, const double *values_b, size_t n_b,
                            uint64_t seed, struct weft_compare_metric *result, struct weft_err *err)
{
    const struct weft_bootstrap_group a = { .values = values_a, .n_values = n_a, .n_all = n_a };
    const struct weft_bootstrap_group b = { .values = values_b, .n_values = n_b, .n_all = n_b };
    double low, high;
    const enum weft_code code = weft_bootstrap_interval(&a, &b, result->df, seed, &low, &high, err);
    if (code == WEFT_OK) {
        result->low = fmin(result->low, low);
        result->high = fmax(result->high, high);
    }
    return code;
}

enum weft_code weft_compare_metric(const struct weft_metric_order *order, const uint8_t *members,
                                   bool with_bootstrap, uint64_t seed, double *scratch,
                                   struct weft_compare_metric *result, struct weft_err *err)
{
    double *values_a = scratch, *values_b = scratch + order->n + 1;
    const size_t n_a = pick_group(order, members, WEFT_IN_A, values_a);
    const size_t n_b = pick_group(order, members, WEFT_IN_B, values_b);
    const struct weft_sample a = weft_sample_of(values_a, n_a), b = weft_sample_of(values_b, n_b);
    const struct weft_welch welch = weft_welch_test(&a, &b);
    *result = (struct weft_compare_metric){
        .metric = result->metric,
        .mean_a = a.mean,
        .mean_b = b.mean,
        .sd_a = sqrt(a.variance),
        .sd_b = sqrt(b.variance),
        .p50_a = weft_sorted_quantile(values_a, n_a, 0.5),
        .p50_b = weft_sorted_quantile(values_b, n_b, 0.5),
        .p99_a = weft_sorted_quantile(values_a, n_a, 0.99),
        .p99_b = weft_sorted_quantile(values_b, n_b, 0.99),
        .difference = welch.difference,
        .low = welch.low,
        .high = welch.high,
        .t = welch.t,
        .df = welch.df,
        .p = welch.p,
        .p_adjusted = welch.p,
        .effect = weft_hedges_g(&a, &b),
    };
    return with_bootstrap ? widen(values_a, n_a, values_b, n_b, seed, result, err) : WEFT_OK;
}
