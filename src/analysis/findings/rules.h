/* SPDX-License-Identifier: MIT
 *
 * Rules are tables, tried in order until one fires; what they compared is kept, so that an answer
 * can name its rule and the numbers that led to it. For analysis/findings.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_RULES_H
#define WEFT_ANALYSIS_FINDINGS_RULES_H

#include "analysis/findings/facts.h"

#include <stdint.h>

/* What a rule needs to be tried. */
enum weft_rule_need {
    WEFT_NEED_COMPARED = 1,       /* two groups that were compared */
    WEFT_NEED_GIVEN = 2,          /* that the user gave */
    WEFT_NEED_CUT = 4,            /* usual and slow executions, separated by their durations */
    WEFT_NEED_PROPOSED = 8,       /* executions that the trace suggests, not asked for */
    WEFT_NEED_CAUSE = 16,         /* a cause within the program */
    WEFT_NEED_TAIL = 32,          /* a gap, or a hump, between usual and slow executions */
    WEFT_NEED_TRACE_NS = 64,      /* how long was recorded */
    WEFT_NEED_SATURATION = 128,   /* what other programs did */
    WEFT_NEED_PERIODS = 256,      /* when threads are due */
    WEFT_NEED_WORK = 512,         /* how often functions are called */
    WEFT_NEED_SINGLES = 1024,     /* all slow executions are single ones */
    WEFT_NEED_NO_SWITCHES = 2048, /* a trace without scheduling events */
};

/* The name of the first of `needs` that the facts do not have; NULL: they have all. */
const char *weft_rule_missing(const struct weft_facts *facts, uint32_t needs, bool has_cause);

/* A rule while it is tried; NULL wherever one is taken: nothing is kept. */
struct weft_rule_try {
    struct weft_rule_number numbers[WEFT_RULE_NUMBERS];
    size_t n;
};

/* Compare and keep: value < limit, value > limit, value >= limit. */
bool weft_rule_above(struct weft_rule_try *tried, const char *name, enum weft_rule_unit unit,
                     double value, double limit);
bool weft_rule_below(struct weft_rule_try *tried, const char *name, enum weft_rule_unit unit,
                     double value, double limit);
bool weft_rule_at_least(struct weft_rule_try *tried, const char *name, enum weft_rule_unit unit,
                        double value, double limit);

/* Rules that were tried; NULL wherever one is taken: they are not kept. */
struct weft_rule_log {
    struct weft_arena *arena;
    struct weft_rules_tried tried;
    bool is_out_of_memory;
};

/* Makes room for `n_most` rules, and forgets those before. */
void weft_rule_log_begin(struct weft_rule_log *log, size_t n_most);

/* `missing`: what it needs and does not have; NULL: it was tried, and has fired or not. */
void weft_rule_log_add(struct weft_rule_log *log, const char *name, const char *why, bool has_fired,
                       const char *missing, const struct weft_rule_try *tried);

#endif
