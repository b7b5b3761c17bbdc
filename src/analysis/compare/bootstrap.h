/* SPDX-License-Identifier: MIT
 *
 * Bootstrap interval of a difference of two means: what the difference would have been with other
 * executions of the same kinds.
 */
#ifndef WEFT_ANALYSIS_COMPARE_BOOTSTRAP_H
#define WEFT_ANALYSIS_COMPARE_BOOTSTRAP_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Of a group of n_all executions; the others of them have the value 0. */
struct weft_bootstrap_group {
    const double *values;
    size_t n_values;
    uint64_t n_all;
};

enum {
    WEFT_BOOTSTRAP_ROUNDS = 2000,
    /* Up to so many values both groups are drawn anew; of more, the quantiles of what would be
     * drawn are computed from its moments, which are known exactly, and differ less from it than
     * two series of draws from each other. */
    WEFT_BOOTSTRAP_VALUES = 1024,
};

/* 95 % interval of mean B - mean A: the outer ends of three.
 *
 * - Percentiles of the bootstrap distribution (Efron 1979), widened for small groups (Hesterberg
 *   2015, 4.2): each group's draws spread by sqrt(n / (n - 1)), and as far as Student's t with `df`
 *   degrees (of Welch's test) has 95 %. The same seed gives the same interval.
 * - Student's t of the studentised difference without its skew (Hall 1992; of two samples Zhou and
 *   Dinh 2005): percentiles of few or skewed values reach too little towards the long tail.
 * - Student's t with the variance of both groups, if they could be samples of one: a small group
 *   that missed the rare large values of the other has next to none of its own.
 *
 * `low` and `high` are infinite if a group has less than two executions. O(rounds x values), at
 * most some milliseconds. */
WEFT_CHECKED enum weft_code weft_bootstrap_interval(const struct weft_bootstrap_group *a,
                                                    const struct weft_bootstrap_group *b, double df,
                                                    uint64_t seed, double *low, double *high,
                                                    struct weft_err *err);

#endif
