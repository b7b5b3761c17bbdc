/* SPDX-License-Identifier: MIT
 *
 * Bootstrap intervals where groups allow them, and closed forms where resampling is known to be too
 * narrow: by draws of the rare values of a group, else by the cumulants of its mean (Cornish and
 * Fisher). Then widened for skew (Hall 1992) and for small groups (Cox's method, Olsson 2005; Zou,
 * Huo and Taleban 2009). The seed is fixed, so that answers repeat.
 */
#include "analysis/compare/bootstrap.h"

#include "base/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* How much further intervals reach than theory asks for: what it leaves out, such as rounds of
 * draws that are few, and nodes that were chosen for their difference, costs them up to half a per
 * cent. */
static const double SAFETY = 1.05;

/* Executions of a group that does not show the tail of its times. */
enum { SMALL_LEAST = 5, SMALL_MOST = 30 };

static const double FAR = 1000; /* times the mean, beyond which no tail is taken to reach */

/* ---- by draws -------------------------------------------------------------------------------- */

/* How many of n_all draws hit one of the values: a binomial number, by the table of its cumulative
 * probabilities from `first` on. */
struct hits {
    double *cumulative;
    size_t n;
    uint64_t first;
};

static bool hits_init(struct hits *hits, const struct weft_bootstrap_group *group)
{
    enum { DEVIATIONS = 9 };
    const double n = (double)group->n_all, share = (double)group->n_values / n;
    const double mean = (double)group->n_values, reach = DEVIATIONS * sqrt(mean * (1 - share)) + 40;
    const double low = floor(fmax(0, mean - reach)), high = ceil(fmin(n, mean + reach));
    hits->first = (uint64_t)low;
    hits->n = (size_t)(high - low) + 1;
    hits->cumulative = calloc(hits->n, sizeof *hits->cumulative);
    if (!hits->cumulative)
        return false;
    int sign;
    double sum = 0;
    for (size_t i = 0; i < hits->n; i++) {
        const double k = low + (double)i;
        const double ln = lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) -
                          lgamma_r(n - k + 1, &sign) + k * log(share) + (n - k) * log1p(-share);
        hits->cumulative[i] = sum += exp(ln);
    }
    for (size_t i = 0; i < hits->n; i++)
        hits->cumulative[i] /= sum;
    return true;
}

/* From 0 to 1, without 1. */
static double uniform(uint64_t *state)
{
    return (double)(weft_random(state) >> 11) * 0x1p-53;
}

static uint64_t hits_draw(const struct hits *hits, uint64_t *state)
{
    const double at = uniform(state);
    size_t low = 0, high = hits->n - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (hits->cumulative[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return hits->first + low;
}

/* How far the mean of as many draws as the group has executions lies from its mean. */
static double drawn_deviation(const struct weft_bootstrap_group *group, const struct hits *hits,
                              double mean, uint64_t *state)
{
    if (group->n_values == 0)
        return 0;
    const uint64_t n_hits = group->n_values == group->n_all ? group->n_all : hits_draw(hits, state);
    const uint64_t n_values = group->n_values;
    double sum = 0;
    for (uint64_t i = 0; i < n_hits; i++)
        sum += group->values[(weft_random(state) >> 32) * n_values >> 32];
    return sum / (double)group->n_all - mean;
}

static double mean_of(const struct weft_bootstrap_group *group)
{
    double sum = 0;
    for (size_t i = 0; i < group->n_values; i++)
        sum += group->values[i];
    return sum / (double)group->n_all;
}

/* What small groups lack in spread. */
static double widening(const struct weft_bootstrap_group *group)
{
    return sqrt((double)group->n_all / (double)(group->n_all - 1));
}

static bool is_mixed(const struct weft_bootstrap_group *group)
{
    return group->n_values > 0 && group->n_values < group->n_all;
}

static bool draw_rounds(const struct weft_bootstrap_group *a, const struct weft_bootstrap_group *b,
                        uint64_t seed, double *rounds)
{
    struct hits hits_a = { 0 }, hits_b = { 0 };
    const bool has_memory =
        (!is_mixed(a) || hits_init(&hits_a, a)) && (!is_mixed(b) || hits_init(&hits_b, b));
    const double mean_a = mean_of(a), mean_b = mean_of(b);
    uint64_t state = seed;
    for (size_t i = 0; has_memory && i < WEFT_BOOTSTRAP_ROUNDS; i++)
        rounds[i] = mean_b - mean_a + widening(b) * drawn_deviation(b, &hits_b, mean_b, &state) -
                    widening(a) * drawn_deviation(a, &hits_a, mean_a, &state);
    free(hits_a.cumulative);
    free(hits_b.cumulative);
    return has_memory;
}

static bool by_draws(const struct weft_bootstrap_group *a, const struct weft_bootstrap_group *b,
                     double reach, uint64_t seed, double *low, double *high)
{
    double *rounds = calloc(WEFT_BOOTSTRAP_ROUNDS, sizeof *rounds);
    const bool has_memory = rounds && draw_rounds(a, b, seed, rounds);
    if (has_memory) {
        const double tail = weft_normal_p(reach) / 2;
        qsort(rounds, WEFT_BOOTSTRAP_ROUNDS, sizeof *rounds, weft_order_double);
        *low = weft_sorted_quantile(rounds, WEFT_BOOTSTRAP_ROUNDS, tail);
        *high = weft_sorted_quantile(rounds, WEFT_BOOTSTRAP_ROUNDS, 1 - tail);
    }
    free(rounds);
    return has_memory;
}

/* ---- by cumulants --------------------------------------------------------------------------- */

/* The cumulants of the mean of as many draws as there are executions. */
struct cumulants {
    double mean, k2, k3, k4;
};

static struct cumulants cumulants_of(const struct weft_bootstrap_group *group)
{
    const double n = (double)group->n_all, mean = mean_of(group),
                 rest = n - (double)group->n_values;
    double m2 = rest * mean * mean, m3 = -rest * mean * mean * mean, m4 = m2 * mean * mean;
    for (size_t i = 0; i < group->n_values; i++) {
        const double d = group->values[i] - mean, square = d * d;
        m2 += square;
        m3 += square * d;
        m4 += square * square;
    }
    m2 /= n, m3 /= n, m4 /= n;
    const double wide = widening(group), wide2 = wide * wide;
    return (struct cumulants){ .mean = mean,
                               .k2 = wide2 * m2 / n,
                               .k3 = wide2 * wide * m3 / (n * n),
                               .k4 = wide2 * wide2 * (m4 - 3 * m2 * m2) / (n * n * n) };
}

/* Cornish and Fisher 1938: the quantile of a distribution from its cumulants, and the normal one's.
 */
static double quantile(const struct cumulants *c, double z)
{
    const double deviation = sqrt(c->k2);
    const double skew = c->k3 / (c->k2 * deviation), excess = c->k4 / (c->k2 * c->k2);
    const double w = z + (z * z - 1) * skew / 6 + (z * z - 3) * z * excess / 24 -
                     (2 * z * z - 5) * z * skew * skew / 36;
    return c->mean + deviation * w;
}

static void by_moments(const struct weft_bootstrap_group *a, const struct weft_bootstrap_group *b,
                       double reach, double *low, double *high)
{
    const struct cumulants from = cumulants_of(a), to = cumulants_of(b);
    const struct cumulants both = { .mean = to.mean - from.mean,
                                    .k2 = to.k2 + from.k2,
                                    .k3 = to.k3 - from.k3,
                                    .k4 = to.k4 + from.k4 };
    *low = *high = both.mean;
    if (!(both.k2 > 0))
        return;
    *low = quantile(&both, -reach);
    *high = quantile(&both, reach);
}

/* ---- widened -----------------------------------------------------------------------------------
 */

/* Sums of squares and of cubes around the mean. */
struct spread {
    double n, mean, squares, cubes;
};

static struct spread spread_of(const struct weft_bootstrap_group *group)
{
    struct spread spread = { .n = (double)group->n_all, .mean = mean_of(group) };
    const double rest = spread.n - (double)group->n_values, mean = spread.mean;
    spread.squares = rest * mean * mean;
    spread.cubes = -rest * mean * mean * mean;
    for (size_t i = 0; i < group->n_values; i++) {
        const double d = group->values[i] - mean;
        spread.squares += d * d;
        spread.cubes += d * d * d;
    }
    return spread;
}

/* The third cumulant of a mean, n - 1 and n - 2 for what small groups lack. */
static double third_of(const struct spread *spread)
{
    const double n = spread->n;
    return n > 2 ? spread->cubes / (n * (n - 1) * (n - 2)) : 0;
}

/* Hall 1992: g(t) = t + skew t^2 / 3 + skew^2 t^3 / 27 + skew / 6 of a studentised mean has next to
 * no skew, and rises everywhere: the t at which it is `g`. */
static double untransformed(double g, double skew)
{
    const double small = 1e-8;
    return fabs(skew) < small ? g : 3 / skew * (cbrt(1 + skew * (g - skew / 6)) - 1);
}

static void widen_by_skew(const struct spread *a, const struct spread *b, double reach, double *low,
                          double *high)
{
    const double square = a->squares / (a->n * (a->n - 1)) + b->squares / (b->n * (b->n - 1));
    const double difference = b->mean - a->mean, error = sqrt(square);
    if (!(square > 0))
        return;
    const double skew = (third_of(b) - third_of(a)) / (square * error);
    *low = fmin(*low, difference - error * untransformed(reach, skew));
    *high = fmax(*high, difference - error * untransformed(-reach, skew));
}

/* Could both groups be samples of one? Then the spread that one of them lacks is that of the other.
 */
static void widen_together(const struct spread *a, const struct spread *b, double *low,
                           double *high)
{
    const double difference = b->mean - a->mean, weight = 1 / a->n + 1 / b->n;
    const double df = a->n + b->n - 2, within = a->squares + b->squares;
    const double of_one = (within + difference * difference / weight) / (df + 1);
    if (fabs(difference) > weft_student_95(df + 1) * sqrt(of_one * weight))
        return;
    const double reach = SAFETY * weft_student_95(df) * sqrt(within / df * weight);
    *low = fmin(*low, difference - reach);
    *high = fmax(*high, difference + reach);
}

/* How far the mean of a group may lie below and above that of its sample. */
struct reach {
    double below, above;
};

/* Of `t` standard errors; and, of a small group of times that are all above 0, as far as the mean
 * of log-normal times may lie (Cox's method with Student's t: Olsson 2005): so few values do not
 * show the tail that they are from, but their logarithms do. */
static struct reach reach_of(const struct weft_bootstrap_group *group, const struct spread *spread,
                             double t)
{
    const double n = spread->n, error = sqrt(spread->squares / (n * (n - 1)));
    struct reach reach = { .below = t * error, .above = t * error };
    double mean = 0, squares = 0;
    if (n < SMALL_LEAST || n > SMALL_MOST || group->n_values != group->n_all)
        return reach;
    for (size_t i = 0; i < group->n_values; i++) {
        if (!(group->values[i] > 0))
            return reach;
        mean += log(group->values[i]) / n;
    }
    for (size_t i = 0; i < group->n_values; i++)
        squares += (log(group->values[i]) - mean) * (log(group->values[i]) - mean);
    const double variance = squares / (n - 1), middle = mean + variance / 2;
    const double half = t * sqrt(variance / n + variance * variance / (2 * (n - 1)));
    const double most = log(spread->mean) + log(FAR);
    reach.below = fmax(reach.below, spread->mean - exp(middle - half));
    reach.above = fmax(reach.above, exp(fmin(middle + half, most)) - spread->mean);
    return reach;
}

/* The reaches of both means make that of their difference (Zou, Huo and Taleban 2009). */
static void widen_small(const struct weft_bootstrap_group *a, const struct spread *from,
                        const struct weft_bootstrap_group *b, const struct spread *to, double t,
                        double *low, double *high)
{
    const double difference = to->mean - from->mean;
    const struct reach of_a = reach_of(a, from, t), of_b = reach_of(b, to, t);
    *low = fmin(*low, difference - hypot(of_b.below, of_a.above));
    *high = fmax(*high, difference + hypot(of_b.above, of_a.below));
}

enum weft_code weft_bootstrap_interval(const struct weft_bootstrap_group *a,
                                       const struct weft_bootstrap_group *b, double df,
                                       uint64_t seed, double *low, double *high,
                                       struct weft_err *err)
{
    const double reach = SAFETY * weft_student_95(df);
    *low = -(double)INFINITY;
    *high = (double)INFINITY;
    if (a->n_all < 2 || b->n_all < 2 || !isfinite(reach))
        return WEFT_OK;
    if (a->n_values + b->n_values > WEFT_BOOTSTRAP_VALUES)
        by_moments(a, b, reach, low, high);
    else if (!by_draws(a, b, reach, seed, low, high))
        return weft_no_memory(err, "a bootstrap");
    const struct spread from = spread_of(a), to = spread_of(b);
    widen_by_skew(&from, &to, reach, low, high);
    widen_together(&from, &to, low, high);
    widen_small(a, &from, b, &to, reach, low, high);
    return WEFT_OK;
}
