/* SPDX-License-Identifier: MIT */
#include "analysis/execution_metrics.h"

enum weft_code weft_execution_metrics_add(const struct weft_trace *trace,
                                          const struct weft_execution_rule *types,
                                          struct weft_executions_table *table,
                                          const struct weft_run *run, struct weft_err *err)
{
    (void)trace;
    (void)types;
    (void)table;
    (void)run;
    (void)err;
    return WEFT_OK;
}
