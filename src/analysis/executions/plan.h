/* SPDX-License-Identifier: MIT
 *
 * What rules of executions ask of a trace: which functions, which kinds of events, which names of
 * metrics. Shared by all threads that are read.
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_PLAN_H
#define WEFT_ANALYSIS_EXECUTIONS_PLAN_H

#include "base/error.h"
#include "base/str.h"
#include "model/trace.h"
#include "schema/rules.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which part a rule has in its type. */
struct weft_rule_use {
    const struct weft_execution_rule *type;
    const struct weft_rule *rule;
    enum weft_rule_kind kind; /* the rule's; ENTER and EXIT of system calls that are operations */
    bool of_operations;
    uint32_t type_id;
    bool is_end;
    bool turns; /* the same point may begin one and end another: the end comes first, and its use
                   stands before the begin's */
};

/* Names of user metrics, under numbers that depend on which came first. */
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
    uint32_t event_kinds; /* that rules are for */
    bool with_texts;      /* rules ask for arguments of calls that stand in events */
    bool keeps_arguments; /* rules for exits ask for arguments */
    bool keeps_entries;   /* rules for ends of system calls ask for arguments */
    struct weft_metric_names names;
    struct weft_strtab *labels; /* of points that are not paired; under the same lock; or NULL */
    bool with_lines;            /* of labels, as in weft_executions_opts */
    uint64_t labels_bytes, labels_most_bytes; /* what labels take, with the rows of the answer */
};

WEFT_CHECKED enum weft_code weft_rule_plan_init(struct weft_rule_plan *plan,
                                                const struct weft_trace *trace,
                                                const struct weft_execution_rule *types,
                                                size_t n_types, struct weft_err *err);
void weft_rule_plan_fini(struct weft_rule_plan *plan);

/* Is it for calls of functions, and not for events? */
bool weft_rule_use_is_of_calls(const struct weft_rule_use *use);

/* Is the function one that the use, which is of calls, is for? */
bool weft_rule_use_is_of_function(const struct weft_trace *trace, const struct weft_rule_use *use,
                                  uint32_t function_id);

#endif
