/* SPDX-License-Identifier: MIT
 *
 * Executions for front ends: how they are asked for, dependencies between them, and which rules a
 * trace suggests.
 */
#ifndef WEFT_QUERY_EXECUTIONS_H
#define WEFT_QUERY_EXECUTIONS_H

#include "analysis/executions/executions.h"
#include "base/arena.h"
#include "base/error.h"
#include "schema/executions.h"

#include <stdbool.h>
#include <stddef.h>

struct weft_session;

struct weft_executions_request {
    struct weft_executions_opts opts;
    bool with_paths; /* the critical path of each: "running", "preempted", "blocked_lock" ... */
};

/* Makes the dependencies of the rules edges of the session's execution graph: critical paths that
 * are taken later follow them. Without any, changes nothing. `*n_found` (may be NULL): how many
 * there are. */
WEFT_CHECKED enum weft_code weft_session_depend(struct weft_session *session,
                                                const struct weft_rules *rules, uint64_t *n_found,
                                                struct weft_err *err);

/* Has the trace anything of the rule's kind: calls, spans, system calls? O(functions). */
bool weft_rule_has_kind(const struct weft_trace *trace, const struct weft_rule *rule);

/* Of a rule for calls: is any function called so? If none is, and the name is a part of another one
 * (in any case), `*other` is the shortest such, else empty. True of all other rules. O(functions).
 */
bool weft_rule_has_function(const struct weft_trace *trace, const struct weft_rule *rule,
                            struct weft_str *other);

/* Has the trace a point that the rule names, whatever its conditions, and that has the field (NULL:
 * any point)? Reads until one is found. */
WEFT_CHECKED enum weft_code weft_session_has_point(struct weft_session *session,
                                                   const struct weft_rule *rule,
                                                   const struct weft_rule_field *field,
                                                   bool *has_point, struct weft_err *err);

/* The executions of several rules for one type each, of the session's threads, as the analysis
 * "executions" finds them: those that are whole calls in one pass. tables[i] is NULL where that was
 * not done: of other rules, or where they are too many at once. The caller frees them. */
WEFT_CHECKED enum weft_code weft_session_executions_each(struct weft_session *session,
                                                         struct weft_rules *const *rules, size_t n,
                                                         struct weft_executions_table **tables,
                                                         struct weft_err *err);

enum { WEFT_PROPOSALS_MOST = 32 };

struct weft_execution_proposals {
    struct weft_arena *arena;
    struct weft_execution_proposal *items; /* the most likely first */
    size_t n;
};

/* What repeats in the trace and has a begin and an end: executions that the program marked, pairs
 * of points whose names say begin and end, spans, tasks, and functions that threads call again and
 * again from the outermost level. Reads marks, instants and spans whole, and of calls the outermost
 * ones. At most WEFT_PROPOSALS_MOST. */
WEFT_CHECKED enum weft_code weft_execution_proposals(struct weft_session *session,
                                                     struct weft_execution_proposals **proposals,
                                                     struct weft_err *err);

/* NULL is allowed. */
void weft_execution_proposals_free(struct weft_execution_proposals *proposals);

#endif
