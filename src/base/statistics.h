/* SPDX-License-Identifier: MIT
 *
 * Whether a difference is significant: Student's and Welch's t, and p-values of many tests.
 */
#ifndef WEFT_BASE_STATISTICS_H
#define WEFT_BASE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The regularised incomplete beta function I_x(a, b) for a, b > 0; `y` is 1 - x, given apart
 * because near 1 the difference would lose its digits. By its continued fraction (Lentz): relative
 * error below 1e-10, O(sqrt(max(a, b))). */
double weft_incomplete_beta(double a, double b, double x, double y);

/* P(|T| >= |t|) of Student's t with `df` degrees of freedom, which need not be whole; 1 if there is
 * no such number (df not above 0, t not a number). */
double weft_student_p(double t, double df);

/* P(|Z| >= |z|) of the normal distribution. */
double weft_normal_p(double z);

/* How many standard errors a two-sided interval of 95 % reaches from its middle: 1.96 for many
 * degrees of freedom, 12.7 for one; infinity for none. */
double weft_student_95(double df);

/* What is known of a sample. */
struct weft_sample {
    uint64_t n;
    double mean, variance; /* variance of the sample (n - 1); 0 for less than two */
};

struct weft_welch {
    double difference; /* b - a */
    double error;      /* its standard error */
    double t, df, p;
    double low, high; /* 95 % interval of the difference; infinite if there is none */
};

/* Welch's test of two samples whose variances differ (Welch 1947). Without two values in each there
 * is no evidence: t 0, df 0, p 1. Two samples without any variance are equal (p 1), or differ
 * beyond doubt (t infinite, p 0). */
struct weft_welch weft_welch_test(const struct weft_sample *a, const struct weft_sample *b);

/* The larger p of two tests: Welch's, and a normal one with the variance of all values together, as
 * a small sample that missed rare large values has next to none of its own. 1 without two values in
 * each. */
double weft_samples_p(const struct weft_sample *a, const struct weft_sample *b);

/* Hedges' g: the difference in standard deviations of both samples together, corrected for small
 * ones; 0 without a deviation. */
double weft_hedges_g(const struct weft_sample *a, const struct weft_sample *b);

/* Benjamini and Hochberg 1995: the p-values `p` of `n` tests become the least shares of false
 * discoveries at which each would be one, in `adjusted` (which may be `p`). `order` is room for n
 * places. O(n log n). */
void weft_adjust_p(const double *p, size_t n, uint32_t *order, double *adjusted);

/* The value below which the share `q` of `n` ascending values lies, between neighbours linearly (as
 * numpy and R's type 7); 0 of no value. */
double weft_sorted_quantile(const double *ascending, size_t n, double q);

/* splitmix64: the next number of a stream that `*state` begins. */
static inline uint64_t weft_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Ascending; for qsort of doubles without NaN. */
int weft_order_double(const void *a, const void *b);

#endif
