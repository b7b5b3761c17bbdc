/* SPDX-License-Identifier: MIT
 *
 * What the trace contains of the thread that an execution began on, while it lasted
 * (docs/analyses/executions.md, "Metrics").
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_METRICS_H
#define WEFT_ANALYSIS_EXECUTIONS_METRICS_H

#include "base/pool.h"
#include "model/trace.h"
#include "schema/executions.h"
#include "schema/rules.h"

/* Adds to the table's metrics those that the trace contains: "cpu_time", "preemptions",
 * "page_faults", "bytes_read", "bytes_written", "lock_waits", "lock_wait", and the counters that
 * `types` name; and to rows the flag LOSSY. Of nested or overlapping executions each counts all of
 * its time. Reads each thread that has executions once, in windows of window_rows of them or more.
 * Memory: a window, and what is open, for each worker; time: O(events x log rows of a window). */
WEFT_CHECKED enum weft_code
weft_execution_metrics_add(const struct weft_trace *trace, const struct weft_execution_rule *types,
                           struct weft_executions_table *table, size_t window_rows,
                           const struct weft_run *run, struct weft_err *err);

#endif
