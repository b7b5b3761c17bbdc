/* SPDX-License-Identifier: MIT
 *
 * Textbook formulas, with their sources at the functions: the incomplete beta function as a
 * continued fraction (Lentz), Student's t, Welch's test with Satterthwaite's degrees of freedom,
 * Hedges' g, the Benjamini-Hochberg adjustment, and SplitMix64 as random numbers. Comparisons and
 * executions use them; no state, no allocation.
 */
#include "base/statistics.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double Z_95 = 1.959963984540054;

/* ln Gamma that writes no global sign: workers call it. */
static double ln_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* The continued fraction of I_x(a, b), by Lentz's method as Thompson and Barnett modified it; it
 * converges fast where x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    enum { STEPS_MAX = 100000 };
    const double tiny = DBL_MIN / DBL_EPSILON;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (double m = 1; m < STEPS_MAX; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        value *= d * c;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        value *= d * c;
        if (fabs(d * c - 1) < 4 * DBL_EPSILON)
            break;
    }
    return value;
}

double weft_incomplete_beta(double a, double b, double x, double y)
{
    if (!(x > 0))
        return 0;
    if (!(y > 0))
        return 1;
    const double ln_x = x < 0.5 ? log(x) : log1p(-y);
    const double ln_y = y < 0.5 ? log(y) : log1p(-x);
    const double front = exp(ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * ln_x + b * ln_y);
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

double weft_normal_p(double z)
{
    return erfc(fabs(z) * M_SQRT1_2);
}

double weft_student_p(double t, double df)
{
    if (!(df > 0) || isnan(t))
        return 1;
    if (isinf(t))
        return 0;
    if (isinf(df))
        return weft_normal_p(t);
    const double square = t * t;
    if (isinf(square))
        return 0;
    return weft_incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square));
}

/* Abramowitz and Stegun 26.7.5: from the normal quantile, in powers of 1 / df. */
static double expanded_95(double df)
{
    const double z = Z_95, z2 = z * z;
    const double g1 = z * (z2 + 1) / 4;
    const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
    const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
    return z + (g1 + (g2 + (g3 + g4 / df) / df) / df) / df;
}

double weft_student_95(double df)
{
    enum { EXPANDED_DF = 15, HALVINGS = 200 };
    if (!(df > 0))
        return (double)INFINITY;
    if (df >= EXPANDED_DF)
        return expanded_95(df);
    double low = 0, high = 1;
    while (weft_student_p(high, df) > 0.05 && high < DBL_MAX / 4)
        high *= 2;
    for (int i = 0; i < HALVINGS && high - low > DBL_EPSILON * high; i++) {
        const double middle = low + (high - low) / 2;
        if (weft_student_p(middle, df) > 0.05)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Degrees of freedom after Satterthwaite, from the squared errors of the two means. */
static double degrees(double error_a, uint64_t n_a, double error_b, uint64_t n_b)
{
    const double sum = error_a + error_b;
    /* shares, so that squares of tiny or huge errors neither vanish nor overflow */
    const double share_a = error_a / sum, share_b = error_b / sum;
    return 1 / (share_a * share_a / (double)(n_a - 1) + share_b * share_b / (double)(n_b - 1));
}

/* All but the interval, which takes most of the time: 50 p-values where df is small. */
static struct weft_welch test_alone(const struct weft_sample *a, const struct weft_sample *b)
{
    struct weft_welch welch = {
        .difference = b->mean - a->mean, .p = 1, .low = -(double)INFINITY, .high = (double)INFINITY
    };
    if (a->n < 2 || b->n < 2)
        return welch;
    const double error_a = a->variance / (double)a->n, error_b = b->variance / (double)b->n;
    if (!(error_a + error_b > 0)) {
        const bool is_equal = welch.difference == 0;
        welch.df = (double)(a->n + b->n - 2);
        welch.t = is_equal ? 0 : copysign((double)INFINITY, welch.difference);
        welch.p = is_equal ? 1 : 0;
        welch.low = welch.high = welch.difference;
        return welch;
    }
    welch.error = sqrt(error_a + error_b);
    welch.t = welch.difference / welch.error;
    welch.df = degrees(error_a, a->n, error_b, b->n);
    welch.p = weft_student_p(welch.t, welch.df);
    return welch;
}

struct weft_welch weft_welch_test(const struct weft_sample *a, const struct weft_sample *b)
{
    struct weft_welch welch = test_alone(a, b);
    if (!(welch.error > 0))
        return welch;
    const double reach = weft_student_95(welch.df) * welch.error;
    welch.low = welch.difference - reach;
    welch.high = welch.difference + reach;
    return welch;
}

double weft_samples_p(const struct weft_sample *a, const struct weft_sample *b)
{
    const struct weft_welch welch = test_alone(a, b);
    const double n_a = (double)a->n, n_b = (double)b->n, n = n_a + n_b;
    if (a->n < 2 || b->n < 2)
        return 1;
    const double squares = a->variance * (n_a - 1) + b->variance * (n_b - 1) +
                           welch.difference * welch.difference * n_a * n_b / n;
    const double error = sqrt(squares / (n - 1) * (1 / n_a + 1 / n_b));
    return error > 0 ? fmax(welch.p, weft_normal_p(welch.difference / error)) : 1;
}

double weft_hedges_g(const struct weft_sample *a, const struct weft_sample *b)
{
    if (a->n < 2 || b->n < 2)
        return 0;
    const double df = (double)(a->n + b->n - 2);
    const double variance =
        ((double)(a->n - 1) * a->variance + (double)(b->n - 1) * b->variance) / df;
    if (!(variance > 0))
        return 0;
    return (b->mean - a->mean) / sqrt(variance) * (1 - 3 / (4 * df - 1));
}

static int order_p(const void *a, const void *b, void *context)
{
    const double *p = context;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (p[i] != p[k])
        return p[i] < p[k] ? -1 : 1;
    return i < k ? -1 : i > k;
}

void weft_adjust_p(const double *p, size_t n, uint32_t *order, double *adjusted)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof *order, order_p, (void *)(uintptr_t)p);
    double least = 1;
    for (size_t rank = n; rank > 0; rank--) {
        const double scaled = p[order[rank - 1]] * (double)n / (double)rank;
        least = scaled < least ? scaled : least;
        adjusted[order[rank - 1]] = least;
    }
}

double weft_sorted_quantile(const double *ascending, size_t n, double q)
{
    if (n == 0)
        return 0;
    const double at = q * (double)(n - 1);
    const size_t below = (size_t)at;
    if (below + 1 >= n)
        return ascending[n - 1];
    return ascending[below] + (ascending[below + 1] - ascending[below]) * (at - (double)below);
}

int weft_order_double(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}
