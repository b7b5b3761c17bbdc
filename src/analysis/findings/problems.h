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

/* Problems of all findings, that a cause has in several being one: with the type that it costs
 * most. The table borrows from the findings. O(types x values of their matrices). */
WEFT_CHECKED enum weft_code weft_problems_run(const struct weft_findings_table *findings,
                                              struct weft_problems_table **table,
                                              struct weft_err *err);

/* Adds those of one more finding, to a table that has room for WEFT_PROBLEMS_OF_TYPE more. */
WEFT_CHECKED enum weft_code weft_problems_add(const struct weft_finding *finding,
                                              struct weft_problems_table *table,
                                              struct weft_err *err);

/* Rows of one cause of several types become one, and all are in the order in which they are read;
 * again after rows were added. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_problems_rank(struct weft_problems_table *table, size_t n_types,
                                               struct weft_err *err);

#endif
