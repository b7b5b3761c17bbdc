/* SPDX-License-Identifier: MIT
 *
 * Problems of all types of executions: each cause once, in the order in which they are read.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_RANK_H
#define WEFT_ANALYSIS_FINDINGS_RANK_H

#include "base/error.h"
#include "schema/problems.h"

/* Problems of all findings, that a cause has in several being one: with the type that it costs
 * most. The table borrows from the findings. O(types x values of their matrices). */
WEFT_CHECKED enum weft_code weft_problems_run(const struct weft_findings_table *findings,
                                              struct weft_problems_table **table,
                                              struct weft_err *err);

/* Rows of one cause of several types become one, and all are in the order in which they are read;
 * again after rows were added. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_problems_rank(struct weft_problems_table *table, size_t n_types,
                                               struct weft_err *err);

#endif
