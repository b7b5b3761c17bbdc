/* SPDX-License-Identifier: MIT
 *
 * Gates for continuous integration: "duration p99 +5%" says how much worse B may be
 * (docs/analyses/compare.md, "Gates").
 */
#ifndef WEFT_QUERY_GATE_H
#define WEFT_QUERY_GATE_H

#include "base/error.h"
#include "query/comparison.h"
#include "schema/compare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_GATE_METRIC_BYTES = 128, WEFT_GATE_RUNS_MIN = WEFT_RUNS_MIN };

struct weft_gate {
    char metric[WEFT_GATE_METRIC_BYTES]; /* its name, with a NUL */
    bool is_mean;
    double share; /* of a percentile, 0.99 */
    bool is_relative;
    double allowed; /* a share, or in the metric's unit */
    bool has_unit;  /* the limit has one: */
    enum weft_metric_unit unit;
};

/* "METRIC [mean|median|pNN] +LIMIT", the limit being a percentage, a duration, a number of
 * bytes or another number. WEFT_E_ARG. */
WEFT_CHECKED enum weft_code weft_gate_parse(const char *text, struct weft_gate *gate,
                                            struct weft_err *err);

/* Of the groups asked for last. Runs are not pooled: executions of one run are alike for reasons of
 * that run, so that it is runs that have to differ. WEFT_E_ARG: no such metric, a limit that is not
 * in its unit, an empty group. */
WEFT_CHECKED enum weft_code weft_gate_check(const struct weft_gate *gate,
                                            const struct weft_comparison *comparison,
                                            struct weft_gate_result *result, struct weft_err *err);

#endif
