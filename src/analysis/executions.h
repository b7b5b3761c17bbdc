/* SPDX-License-Identifier: MIT
 *
 * Executions: what rules (schema/rules.h) say begins and ends again and again
 * (docs/analyses/executions.md).
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_H
#define WEFT_ANALYSIS_EXECUTIONS_H

#include "analysis/analysis.h"
#include "schema/executions.h"
#include "schema/rules.h"

struct weft_executions_opts {
    const struct weft_rules *rules;
    bool of_dependencies; /* not its types, but its dependencies: what is depended on and what
                             depends on it are begin and end; rows that were not ended are left out
                           */
    bool
        without_metrics; /* only "duration" and "start", and the user's that rules and marks give */
};

/* The executions of the filter's threads: those of the thread where they begin. Reads every block
 * that may hold what the rules are for once, and for metrics what else is known of the threads that
 * have executions. Memory: the result, those that have not ended yet, and while they are looked for
 * 56 bytes for each begin and end; WEFT_E_LIMIT if that is more than run->memory_bytes. */
WEFT_CHECKED enum weft_code
weft_executions_run(const struct weft_trace *trace, const struct weft_thread_filter *filter,
                    const struct weft_executions_opts *opts, const struct weft_run *run,
                    struct weft_executions_table **table, struct weft_err *err);

#endif
