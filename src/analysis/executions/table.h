/* SPDX-License-Identifier: MIT
 *
 * The table of executions, from those that were found in any order.
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_TABLE_H
#define WEFT_ANALYSIS_EXECUTIONS_TABLE_H

#include "analysis/executions/gather.h"
#include "analysis/executions/plan.h"
#include "base/pool.h"
#include "schema/executions.h"

/* Orders what was found, says which are nested, and adds metrics: times, the user's, and
 * `with_metrics` those that the trace contains. ends_unmatched is left 0. The table takes the spool
 * of `found`. O(n log n). */
WEFT_CHECKED enum weft_code weft_execution_table_make(const struct weft_rule_plan *plan,
                                                      struct weft_execution_gather *found,
                                                      bool with_metrics, const struct weft_run *run,
                                                      struct weft_executions_table **table,
                                                      struct weft_err *err);

#endif
