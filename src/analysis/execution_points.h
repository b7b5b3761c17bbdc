/* SPDX-License-Identifier: MIT
 *
 * The begins and ends of executions on one thread, from its calls and events, as rules say.
 */
#ifndef WEFT_ANALYSIS_EXECUTION_POINTS_H
#define WEFT_ANALYSIS_EXECUTION_POINTS_H

#include "analysis/execution_pairs.h"
#include "model/scan.h"
#include "schema/rules.h"

#include <pthread.h>
#include <stdatomic.h>

/* Which part a rule has in its type. */
struct weft_rule_use {
    const struct weft_execution_rule *type;
    const struct weft_rule *rule;
    uint32_t type_id;
    bool is_end;
};

/* Names of user metrics, under numbers that depend on who came first. */
struct weft_metric_names {
    struct weft_strtab *table;
    pthread_mutex_t lock;
};

/* What all threads share: the rules, and which functions they are for. */
struct weft_rule_plan {
    const struct weft_trace *trace;
    const struct weft_execution_rule *types;
    size_t n_types;
    struct weft_rule_use *uses; /* two a type, at most */
    size_t n_uses;
    uint8_t *functions; /* by id: is there a rule for it? NULL: no rule is for calls */
    uint32_t *starts;   /* n_functions + 1: its uses are use_of[starts[id]] ... */
    uint32_t *use_of;
    uint32_t event_kinds;     /* that rules are for */
    bool with_texts;          /* rules ask for arguments of calls that stand in events */
    uint64_t memory_bytes;    /* 0: no bound */
    _Atomic uint64_t n_bytes; /* of points and rows so far */
    struct weft_metric_names names;
};

WEFT_CHECKED enum weft_code weft_rule_plan_init(struct weft_rule_plan *plan,
                                                const struct weft_trace *trace,
                                                const struct weft_execution_rule *types,
                                                size_t n_types, uint64_t memory_bytes,
                                                struct weft_err *err);
void weft_rule_plan_fini(struct weft_rule_plan *plan);

struct weft_metric_value {
    uint32_t name;
    double value;
};

/* What a thread gave. */
struct weft_execution_part {
    struct {
        struct weft_execution_point *items; /* in order of time */
        size_t n, cap;
    } points;
    struct weft_executions_found rows; /* whole executions */
    struct {
        struct weft_metric_value *items;
        size_t n, cap;
    } values;
};

void weft_execution_part_fini(struct weft_execution_part *part);

/* Fails as loading blocks does; WEFT_E_LIMIT where plan->memory_bytes is not enough. */
WEFT_CHECKED enum weft_code weft_execution_part_read(struct weft_rule_plan *plan,
                                                     struct weft_scan *scan,
                                                     struct weft_execution_part *part,
                                                     struct weft_err *err);

#endif
