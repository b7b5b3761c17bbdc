/* SPDX-License-Identifier: MIT
 *
 * From findings to problems: of each significant one the causes within the program, each once, and
 * what it costs (docs/analyses/diagnose.md, "Problems").
 *
 * The time of a tree's nodes that have one key (kinds.h) is one quantity of an execution: the same
 * lock and holder, wherever it is asked for. That quantity is compared between slow and usual
 * executions, so that the number that is tested is the one that is claimed.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_PROBLEMS_H
#define WEFT_ANALYSIS_FINDINGS_PROBLEMS_H

#include "base/error.h"
#include "schema/problems.h"

enum { WEFT_PROBLEMS_OF_TYPE = 8 };

/* Adds those of one more finding, to a table that has room for WEFT_PROBLEMS_OF_TYPE more. */
WEFT_CHECKED enum weft_code weft_problems_add(const struct weft_finding *finding,
                                              struct weft_problems_table *table,
                                              struct weft_err *err);

/* What the program does itself first, of a whole run what it need not wait for; then what costs
 * more: an order of qsort. */
int weft_problem_by_cost(const void *a, const void *b);

/* Was it found that most are slow for other programs? */
bool weft_finding_is_of_other_programs(const struct weft_finding *finding);

#endif
