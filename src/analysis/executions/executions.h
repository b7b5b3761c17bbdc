/* SPDX-License-Identifier: MIT
 *
 * Executions: what rules (schema/rules.h) say begins and ends again and again
 * (docs/analyses/executions.md).
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_EXECUTIONS_H
#define WEFT_ANALYSIS_EXECUTIONS_EXECUTIONS_H

#include "analysis/analysis.h"
#include "schema/executions.h"
#include "schema/rules.h"

/* How much is in memory at once; the result does not depend on it. */
struct weft_execution_sizes {
    uint64_t spool_bytes; /* of tables: what is more lies in a temporary file */
    size_t run_bytes;     /* that are sorted at once */
    size_t window_rows;   /* of a thread, whose metrics are taken at once */
};

struct weft_executions_opts {
    const struct weft_rules *rules;
    bool of_dependencies; /* not its types, but its dependencies: what is depended on and what
                             depends on it are begin and end; rows that were not ended are left out
                           */
    bool
        without_metrics; /* only "duration" and "start", and the user's that rules and marks give */
    const struct weft_execution_sizes *sizes; /* NULL: as is good */
    struct weft_strtab *labels; /* not NULL: nothing is paired. Each point of a type's begin is a
                                   row, whose key is a text here: the values of the type's metrics
                                   (fields alone), with ", " between */
    bool with_lines;            /* of labels: not ", " is between, but WEFT_LABEL_SEPARATOR */
};

/* A label of so many bytes may be cut. */
enum { WEFT_LABEL_BYTES = 512, WEFT_LABEL_SEPARATOR = '\n' };

/* Main's last loop iteration leads to the end of the program, and that of a thread that ends before
 * the last percent of the trace to its own: they are none. Another one may hang. */
bool weft_execution_thread_is_over(const struct weft_trace *trace, uint32_t thread_id);

/* The executions of the filter's threads: those of the thread where they begin. Of loop iterations
 * (from the exit of a function to the next entry, under the same conditions) the last one of a
 * thread that is over is none. Reads every block that may hold what the rules are for once, and for
 * metrics what else is known of the threads that have executions. The table lies in a temporary
 * file, but for a small one. Memory: 128 MB at most, and what weft_executions_stream needs,
 * whatever the number of executions. WEFT_E_IO where the file cannot be made, or has no room. */
WEFT_CHECKED enum weft_code
weft_executions_run(const struct weft_trace *trace, const struct weft_thread_filter *filter,
                    const struct weft_executions_opts *opts, const struct weft_run *run,
                    struct weft_executions_table **table, struct weft_err *err);

/* The same of several types in one pass: a table for each, as if it were the only one. The types
 * have no metrics of the user's. On failure some tables may be there: all are the caller's. */
WEFT_CHECKED enum weft_code
weft_executions_run_each(const struct weft_trace *trace, const struct weft_thread_filter *filter,
                         const struct weft_executions_opts *opts, const struct weft_run *run,
                         struct weft_executions_table **tables, struct weft_err *err);

/* An execution that ended, or did not; valid during the call. Its flags lack NESTED and LOSSY,
 * which need all executions. */
typedef enum weft_code (*weft_execution_see_fn)(void *context, const struct weft_execution_row *row,
                                                struct weft_err *err);

/* Hands over each execution soon after it ended, on the calling thread, in an order that depends on
 * nothing but the trace, the rules and run->memory_bytes. In one pass. Memory: what is open, and
 * some hundred thousand begins and ends at most, whatever the number of executions; WEFT_E_LIMIT if
 * more are open than run->memory_bytes admits. */
WEFT_CHECKED enum weft_code
weft_executions_stream(const struct weft_trace *trace, const struct weft_thread_filter *filter,
                       const struct weft_executions_opts *opts, const struct weft_run *run,
                       weft_execution_see_fn see, void *context, struct weft_err *err);

#endif
