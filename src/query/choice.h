/* SPDX-License-Identifier: MIT
 *
 * Which of the executions that a trace suggests are looked at for what made some of them slow
 * (docs/analyses/diagnose.md, "What is looked at").
 */
#ifndef WEFT_QUERY_CHOICE_H
#define WEFT_QUERY_CHOICE_H

#include "base/arena.h"
#include "base/error.h"
#include "query/executions.h"
#include "query/rules.h"

#include <stdbool.h>
#include <stddef.h>

enum { WEFT_PROPOSAL_EXECUTIONS = 10 }; /* fewer say nothing */

/* Is it a function that repeats? */
bool weft_proposal_is_call(const struct weft_execution_proposal *proposal);

/* Its rules, as options give them: the texts live in `arena`. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_proposal_rule(const struct weft_execution_proposal *proposal,
                                               struct weft_arena *arena,
                                               struct weft_rule_options *rule,
                                               struct weft_err *err);

/* Those of `type`, or, NULL, of the best kind that there is: neither connections of which each
 * carries many requests, nor threads of a runtime, nor calls that only move bytes if there are
 * others. Their number; `chosen` has room for all. None if all that repeats is calls of a library.
 */
size_t weft_proposals_choose(const struct weft_trace *trace,
                             const struct weft_execution_proposals *proposals, const char *type,
                             const struct weft_execution_proposal **chosen);

/* Fails: nothing is detected that repeats. */
WEFT_CHECKED enum weft_code weft_proposals_none(struct weft_err *err);

/* Fails: none of that type is detected; names those that are. */
WEFT_CHECKED enum weft_code weft_proposals_no_type(const struct weft_execution_proposals *proposals,
                                                   const char *type, struct weft_err *err);

#endif
