/* SPDX-License-Identifier: MIT
 *
 * Sorts each metric once for all questions; a group's ascending values are then picked in O(n).
 * Quantiles, means and, on request, bootstrap intervals of their difference come from these.
 */
#include "analysis/compare/metrics.h"

#include "analysis/compare/bootstrap.h"
#include "analysis/compare/sums.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys are in the order of the values; both zeros have one. */
static uint64_t key_of(double value)
{
    const uint64_t sign = UINT64_C(1) << 63;
    const double plain = value == 0 ? 0 : value;
    uint64_t bits;
    memcpy(&bits, &plain, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

enum weft_code weft_metric_order_init(struct weft_metric_order *order,
                                      const struct weft_metric *metric, size_t n_items,
                                      struct weft_err *err)
{
    struct weft_order sorted = { 0 };
    *order = (struct weft_metric_order){ .items = calloc(n_items + 1, sizeof *order->items),
                                         .values = calloc(n_items + 1, sizeof *order->values),
                                         .n = n_items };
    if (!order->items || !order->values || !weft_order_reserve(&sorted, n_items)) {
        weft_order_fini(&sorted);
        weft_metric_order_fini(order);
        return weft_no_memory(err, "the order of a metric");
    }
    for (size_t i = 0; i < n_items; i++) {
        const double value = isnan(metric->values[i]) ? 0 : metric->values[i];
        sorted.items[i] = (struct weft_order_item){ key_of(value), (uint32_t)i };
    }
    weft_order_sort(&sorted, n_items);
    for (size_t i = 0; i < n_items; i++) {
        const uint32_t item = sorted.items[i].place;
        order->items[i] = item;
        order->values[i] = isnan(metric->values[item]) ? 0 : metric->values[item];
    }
    weft_order_fini(&sorted);
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
