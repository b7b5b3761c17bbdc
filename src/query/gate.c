/* SPDX-License-Identifier: MIT
 *
 * Parses a gate and decides it: with several runs by the statistics of runs, in pairs where each
 * run has both groups, and with one run by a bootstrap of its executions, where a quantile is drawn
 * by its rank's beta distribution (gamma draws by Marsaglia and Tsang 2000). The seed is fixed, so
 * that a gate repeats its verdict.
 */
#include "query/gate.h"

#include "analysis/compare/metrics.h"
#include "analysis/compare/sums.h"
#include "base/listing.h"
#include "base/statistics.h"
#include "query/parse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 2000, WORD_BYTES = 64 };
#define SEED UINT64_C(0x67617465) /* any number: fixed, so that the answer is */

/* ---- parsing --------------------------------------------------------------------------------- */

static enum weft_code expected(const char *text, struct weft_err *err)
{
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "expected a metric, mean or a percentile, and how much more is allowed, such "
                     "as 'duration p99 +5%%' or 'duration mean +200us', found '%.60s'",
                     text);
}

static bool read_statistic(const char *word, struct weft_gate *gate)
{
    char *end;
    gate->is_mean = strcmp(word, "mean") == 0;
    gate->share = 0.5;
    if (gate->is_mean || strcmp(word, "median") == 0)
        return true;
    if (word[0] != 'p' || word[1] < '0' || word[1] > '9')
        return false;
    gate->share = strtod(word + 1, &end) / 100;
    return *end == '\0' && gate->share <= 1;
}

/* "+5%", "+200us", "+1kB", "+3". */
static bool read_allowed(const char *word, struct weft_gate *gate)
{
    uint64_t amount;
    char *end;
    if (word[0] != '+' || !((word[1] >= '0' && word[1] <= '9') || word[1] == '.'))
        return false;
    gate->allowed = strtod(word + 1, &end);
    gate->is_relative = strcmp(end, "%") == 0;
    if (gate->is_relative)
        gate->allowed /= 100;
    if (gate->is_relative || *end == '\0')
        return isfinite(gate->allowed);
    gate->has_unit = true;
    gate->unit = WEFT_METRIC_NS;
    if (weft_parse_duration(word + 1, &amount, NULL) != WEFT_OK) {
        gate->unit = WEFT_METRIC_BYTES;
        if (weft_parse_bytes(word + 1, &amount, NULL) != WEFT_OK)
            return false;
    }
    gate->allowed = (double)amount;
    return true;
}

enum weft_code weft_gate_parse(const char *text, struct weft_gate *gate, struct weft_err *err)
{
    char words[3][WORD_BYTES * 2], rest;
    *gate = (struct weft_gate){ 0 };
    const int n = sscanf(text, "%127s %127s %127s %c", words[0], words[1], words[2], &rest);
    if (n != 2 && n != 3)
        return expected(text, err);
    memcpy(gate->metric, words[0], sizeof words[0]);
    if (!read_statistic(n == 3 ? words[1] : "mean", gate) || !read_allowed(words[n - 1], gate))
        return expected(text, err);
    return WEFT_OK;
}

/* ---- statistics of runs ---------------------------------------------------------------------- */

static double statistic_of(const struct weft_gate *gate, const double *ascending, size_t n)
{
    return gate->is_mean ? weft_sample_of(ascending, n).mean
                         : weft_sorted_quantile(ascending, n, gate->share);
}

/* Of one run. */
struct run {
    size_t n[WEFT_GROUPS];
    double value[WEFT_GROUPS];
    double *values[WEFT_GROUPS]; /* ascending */
};

struct check {
    const struct weft_gate *gate;
    const struct weft_ecct_matrix *matrix;
    const struct weft_metric *metric;
    struct weft_gate_result *result;
    struct run *runs; /* by source */
    double *values;   /* of all runs */
};

static enum weft_code find_runs(struct check *check, const uint8_t *members, struct weft_err *err)
{
    const struct weft_ecct_matrix *matrix = check->matrix;
    check->runs = calloc(matrix->n_sources + 1, sizeof *check->runs);
    check->values = calloc(2 * matrix->n_items + 1, sizeof *check->values);
    if (!check->runs || !check->values)
        return weft_no_memory(err, "a gate");
    for (size_t i = 0; i < matrix->n_items; i++)
        for (size_t group = 0; group < WEFT_GROUPS; group++)
            check->runs[matrix->items[i].source].n[group] += members[i] >> group & 1;
    double *at = check->values;
    for (size_t run = 0; run < matrix->n_sources; run++)
        for (size_t group = 0; group < WEFT_GROUPS; group++) {
            check->runs[run].values[group] = at;
            at += check->runs[run].n[group];
            check->runs[run].n[group] = 0;
        }
    for (size_t i = 0; i < matrix->n_items; i++)
        for (size_t group = 0; group < WEFT_GROUPS; group++)
            if (members[i] >> group & 1) {
                struct run *run = &check->runs[matrix->items[i].source];
                const double value = check->metric->values[i];
                run->values[group][run->n[group]++] = isnan(value) ? 0 : value;
            }
    for (size_t run = 0; run < matrix->n_sources; run++)
        for (size_t group = 0; group < WEFT_GROUPS; group++) {
            struct run *of = &check->runs[run];
            qsort(of->values[group], of->n[group], sizeof *of->values[group], weft_order_double);
            of->value[group] = statistic_of(check->gate, of->values[group], of->n[group]);
        }
    return WEFT_OK;
}

/* Values whose means are compared: of ratios their logarithms. */
static double scaled(const struct check *check, double value)
{
    return check->gate->is_relative ? log(value) : value;
}

static double unscaled(const struct check *check, double change)
{
    return check->gate->is_relative ? expm1(change) : change;
}

static bool is_paired(const struct check *check)
{
    for (size_t run = 0; run < check->matrix->n_sources; run++) {
        const size_t *n = check->runs[run].n;
        if ((n[WEFT_GROUP_A] > 0) != (n[WEFT_GROUP_B] > 0))
            return false;
    }
    return true;
}

static void set_change(struct check *check, double change, double low, double high)
{
    check->result->change = unscaled(check, change);
    check->result->low = unscaled(check, low);
    check->result->high = unscaled(check, high);
}

static void check_pairs(struct check *check, double *changes)
{
    size_t n = 0;
    for (size_t run = 0; run < check->matrix->n_sources; run++) {
        const struct run *of = &check->runs[run];
        if (of->n[WEFT_GROUP_A] > 0)
            changes[n++] =
                scaled(check, of->value[WEFT_GROUP_B]) - scaled(check, of->value[WEFT_GROUP_A]);
    }
    const struct weft_sample sample = weft_sample_of(changes, n);
    const double reach = weft_student_95((double)n - 1) * sqrt(sample.variance / (double)n);
    set_change(check, sample.mean, sample.mean - reach, sample.mean + reach);
}

static void check_runs(struct check *check, double *scratch)
{
    struct weft_sample samples[WEFT_GROUPS];
    for (size_t group = 0; group < WEFT_GROUPS; group++) {
        size_t n = 0;
        for (size_t run = 0; run < check->matrix->n_sources; run++)
            if (check->runs[run].n[group] > 0)
                scratch[n++] = scaled(check, check->runs[run].value[group]);
        samples[group] = weft_sample_of(scratch, n);
    }
    const struct weft_welch welch = weft_welch_test(&samples[WEFT_GROUP_A], &samples[WEFT_GROUP_B]);
    set_change(check, welch.difference, welch.low, welch.high);
}

/* ---- executions of one run ------------------------------------------------------------------- */

static double uniform(uint64_t *state)
{
    return ((double)(weft_random(state) >> 11) + 0.5) * 0x1p-53;
}

/* Marsaglia and Tsang 2000; shape >= 1. */
static double gamma_draw(double shape, uint64_t *state)
{
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double radius = sqrt(-2 * log(uniform(state)));
        const double x = radius * cos(2 * M_PI * uniform(state)), root = 1 + c * x;
        const double v = root * root * root;
        if (v > 0 && log(uniform(state)) < x * x / 2 + d - d * v + d * log(v))
            return d * v;
    }
}

/* A bootstrap draw of the statistic. For a quantile no draw of all values is needed: the rank at
 * which it falls has a beta distribution, as the order statistics of uniform numbers have. */
static double draw(const struct weft_gate *gate, const double *ascending, size_t n, uint64_t *state)
{
    if (gate->is_mean) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += ascending[(size_t)(uniform(state) * (double)n)];
        return sum / (double)n;
    }
    const double rank = gate->share * (double)(n - 1) + 1;
    const double below = gamma_draw(rank, state), above = gamma_draw((double)n - rank + 1, state);
    return ascending[(size_t)fmin((double)n * below / (below + above), (double)n - 1)];
}

static enum weft_code check_executions(struct check *check, const struct run *run,
                                       struct weft_err *err)
{
    double *rounds = calloc(ROUNDS, sizeof *rounds);
    uint64_t state = SEED;
    if (!rounds)
        return weft_no_memory(err, "a gate");
    for (size_t i = 0; i < ROUNDS; i++) {
        const double a = draw(check->gate, run->values[WEFT_GROUP_A], run->n[WEFT_GROUP_A], &state);
        const double b = draw(check->gate, run->values[WEFT_GROUP_B], run->n[WEFT_GROUP_B], &state);
        rounds[i] = scaled(check, b) - scaled(check, a);
    }
    qsort(rounds, ROUNDS, sizeof *rounds, weft_order_double);
    set_change(
        check, scaled(check, run->value[WEFT_GROUP_B]) - scaled(check, run->value[WEFT_GROUP_A]),
        weft_sorted_quantile(rounds, ROUNDS, 0.025), weft_sorted_quantile(rounds, ROUNDS, 0.975));
    free(rounds);
    return WEFT_OK;
}

/* ---- the gate -------------------------------------------------------------------------------- */

static enum weft_code check_positive(const struct check *check, struct weft_err *err)
{
    for (size_t run = 0; run < check->matrix->n_sources; run++)
        for (size_t group = 0; group < WEFT_GROUPS; group++)
            if (check->gate->is_relative && check->runs[run].n[group] > 0 &&
                !(check->runs[run].value[group] > 0))
                return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                                 "%.60s is %g in a run, which no percentage is more than: give the "
                                 "limit in its own unit, such as +3",
                                 check->gate->metric, check->runs[run].value[group]);
    return WEFT_OK;
}

/* The mean of the runs' statistics, as which the gate shows a group. */
static void show_values(struct check *check, const size_t *n_runs)
{
    double *shown[WEFT_GROUPS] = { &check->result->value_a, &check->result->value_b };
    for (size_t group = 0; group < WEFT_GROUPS; group++)
        for (size_t run = 0; run < check->matrix->n_sources; run++)
            if (check->runs[run].n[group] > 0)
                *shown[group] += check->runs[run].value[group] / (double)n_runs[group];
}

static enum weft_code decide(struct check *check, struct weft_err *err)
{
    struct weft_gate_result *result = check->result;
    size_t n_runs[WEFT_GROUPS] = { 0 };
    const struct run *last = NULL;
    for (size_t run = 0; run < check->matrix->n_sources; run++)
        for (size_t group = 0; group < WEFT_GROUPS; group++)
            if (check->runs[run].n[group] > 0) {
                last = &check->runs[run];
                n_runs[group]++;
            }
    if (n_runs[WEFT_GROUP_A] == 0 || n_runs[WEFT_GROUP_B] == 0)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "a gate needs executions in both groups: group %s has none",
                         n_runs[WEFT_GROUP_A] == 0 ? "A" : "B");
    enum weft_code code = check_positive(check, err);
    if (code != WEFT_OK)
        return code;
    show_values(check, n_runs);
    result->n_a = n_runs[WEFT_GROUP_A];
    result->n_b = n_runs[WEFT_GROUP_B];
    result->n_needed = WEFT_GATE_RUNS_MIN;
    double *scratch = calloc(check->matrix->n_sources + 1, sizeof *scratch);
    if (!scratch)
        return weft_no_memory(err, "a gate");
    if (is_paired(check) && n_runs[WEFT_GROUP_A] == 1) {
        result->units = WEFT_GATE_EXECUTIONS;
        result->n_a = last->n[WEFT_GROUP_A];
        result->n_b = last->n[WEFT_GROUP_B];
        result->n_needed = 10;
        code = check_executions(check, last, err);
    } else if (is_paired(check)) {
        result->units = WEFT_GATE_PAIRS;
        check_pairs(check, scratch);
    } else {
        result->units = WEFT_GATE_RUNS;
        check_runs(check, scratch);
    }
    free(scratch);
    result->is_decided = result->n_a >= result->n_needed && result->n_b >= result->n_needed;
    result->is_worse = result->is_decided && result->change > result->allowed && result->low > 0;
    return code;
}

/* A time without a unit says too little, as in filters; another unit is none of the metric. */
static enum weft_code check_unit(const struct weft_gate *gate, const struct weft_metric *metric,
                                 struct weft_err *err)
{
    const bool is_time = metric->unit == WEFT_METRIC_NS;
    if (gate->is_relative || gate->allowed == 0 ||
        (gate->has_unit ? gate->unit == metric->unit : !is_time))
        return WEFT_OK;
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "%.60s is %s: expected a limit such as %s, or in per cent", gate->metric,
                     is_time                             ? "a time"
                     : metric->unit == WEFT_METRIC_BYTES ? "a number of bytes"
                                                         : "a number",
                     is_time                             ? "+200us"
                     : metric->unit == WEFT_METRIC_BYTES ? "+64kB"
                                                         : "+3");
}

/* Says which metrics there are. */
static enum weft_code no_metric(const struct weft_gate *gate, const struct weft_ecct_matrix *matrix,
                                struct weft_err *err)
{
    struct weft_listing names = { 0 };
    for (size_t i = 0; i < matrix->n_metrics; i++)
        weft_listing_add(&names, matrix->metrics[i].name);
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "the executions have no metric '%.60s' for the gate; there are %s",
                     gate->metric, names.text);
}

enum weft_code weft_gate_check(const struct weft_gate *gate,
                               const struct weft_comparison *comparison,
                               struct weft_gate_result *result, struct weft_err *err)
{
    const struct weft_ecct_matrix *matrix = weft_comparison_matrix(comparison);
    struct check check = { .gate = gate, .matrix = matrix, .result = result };
    *result =
        (struct weft_gate_result){ .is_relative = gate->is_relative, .allowed = gate->allowed };
    for (size_t i = 0; i < matrix->n_metrics; i++)
        if (weft_str_equal(matrix->metrics[i].name, weft_str_of(gate->metric)))
            check.metric = &matrix->metrics[i];
    if (!check.metric)
        return no_metric(gate, matrix, err);
    enum weft_code code = check_unit(gate, check.metric, err);
    WEFT_THEN(code, find_runs(&check, weft_comparison_members(comparison), err));
    WEFT_THEN(code, decide(&check, err));
    free(check.runs);
    free(check.values);
    return code;
}
