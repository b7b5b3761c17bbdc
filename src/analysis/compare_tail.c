/* SPDX-License-Identifier: MIT */
#include "analysis/compare_tail.h"

#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>

/* A uniform distribution, the least humped of those with one hump, has exactly 75 %. */
static const double SEPARATION = 0.76;
static const double SLOWER = 1.2;
static const double EXCESS = 0.02;

/* The place at which the variance between both sides is greatest, and its share. */
static size_t find_split(const double *logs, size_t n, double *separation)
{
    double mean = 0, squares = 0, sum = 0, most = 0;
    size_t split = 0;
    for (size_t i = 0; i < n; i++)
        mean += logs[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (logs[i] - mean) * (logs[i] - mean);
    for (size_t i = 1; i < n; i++) {
        sum += logs[i - 1] - mean;
        const double below = (double)i, above = (double)(n - i);
        const double between = sum * sum * (1 / below + 1 / above);
        if (i < WEFT_TAIL_EXECUTIONS || n - i < WEFT_TAIL_EXECUTIONS || logs[i] == logs[i - 1] ||
            between <= most)
            continue;
        most = between;
        split = i;
    }
    *separation = squares > 0 ? most / squares : 0;
    return split;
}

/* Between the humps lies the widest gap: of those from the middle of the fast ones up to the split,
 * if it is wider than that of the split, so that a second, smaller hump is not torn apart. */
static size_t find_gap(const double *logs, size_t split)
{
    size_t gap = split;
    for (size_t i = split; i > split / 2 + 1 && i > WEFT_TAIL_EXECUTIONS; i--)
        if (logs[i] - logs[i - 1] > logs[gap] - logs[gap - 1])
            gap = i;
    return gap;
}

static void measure(const double *ns, size_t n, size_t split, struct weft_slow_tail *tail)
{
    double all_ns = 0, excess_ns = 0;
    tail->n_fast = split;
    tail->n_slow = n - split;
    tail->fast_max_ns = (uint64_t)ns[split - 1];
    tail->slow_min_ns = (uint64_t)ns[split];
    tail->fast_median_ns = weft_sorted_quantile(ns, split, 0.5);
    tail->slow_median_ns = weft_sorted_quantile(ns + split, n - split, 0.5);
    for (size_t i = 0; i < n; i++) {
        all_ns += ns[i];
        excess_ns += i >= split ? ns[i] - tail->fast_median_ns : 0;
    }
    tail->excess_share = all_ns > 0 ? excess_ns / all_ns : 0;
    tail->is_worthy =
        tail->slow_median_ns >= SLOWER * tail->fast_median_ns && tail->excess_share >= EXCESS;
    tail->is_found = tail->is_worthy && tail->separation >= SEPARATION;
}

enum weft_code weft_slow_tail_find(const uint64_t *durations_ns, size_t n,
                                   struct weft_slow_tail *tail, struct weft_err *err)
{
    double *ns = calloc(n + 1, sizeof *ns), *logs = calloc(n + 1, sizeof *logs);
    *tail = (struct weft_slow_tail){ .n_fast = n };
    if (!ns || !logs) {
        free(ns);
        free(logs);
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu durations", n);
    }
    for (size_t i = 0; i < n; i++)
        ns[i] = (double)durations_ns[i];
    qsort(ns, n, sizeof *ns, weft_order_double);
    for (size_t i = 0; i < n; i++)
        logs[i] = log(ns[i] > 1 ? ns[i] : 1);
    const size_t split = find_split(logs, n, &tail->separation);
    if (split > 0)
        measure(ns, n, find_gap(logs, split), tail);
    free(ns);
    free(logs);
    return WEFT_OK;
}
