/* SPDX-License-Identifier: MIT
 *
 * Counters as metrics of executions: the value at the end, and how much it changed meanwhile.
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_COUNTERS_H
#define WEFT_ANALYSIS_EXECUTIONS_COUNTERS_H

#include "base/pool.h"
#include "model/trace.h"
#include "schema/executions.h"
#include "schema/rules.h"

/* Adds "NAME" and "NAME_change" for each counter that a type names, of that type's executions.
 * Counters are of processes: of host and pid of the thread that records them. 32 bytes for each
 * of their events, beyond the limit on memory in a file (base/room.h). */
WEFT_CHECKED enum weft_code weft_execution_counters_add(const struct weft_trace *trace,
                                                        const struct weft_execution_rule *types,
                                                        struct weft_executions_table *table,
                                                        struct weft_err *err);

#endif
