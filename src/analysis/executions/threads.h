/* SPDX-License-Identifier: MIT
 *
 * The executions of a table thread by thread, and values of them from that order back to the
 * table's: so that all of a thread are read, and written, one after the other.
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_THREADS_H
#define WEFT_ANALYSIS_EXECUTIONS_THREADS_H

#include "analysis/executions/window.h"
#include "schema/executions.h"

#include <stddef.h>
#include <stdint.h>

struct weft_execution_threads {
    struct weft_spool *spool; /* the table's */
    size_t n_rows;
    uint32_t *ids; /* that have executions, ascending */
    size_t n;
    size_t *starts;                    /* n + 1: those of ids[i] are at places starts[i] ... */
    struct weft_execution_span *spans; /* by place: of a thread in order of start */
    uint64_t *places;                  /* by row of the table */
};

/* `n_threads` of the trace. Fails as weft_spool_array does; to be finished in any case. */
WEFT_CHECKED enum weft_code weft_execution_threads_init(struct weft_execution_threads *threads,
                                                        const struct weft_executions_table *table,
                                                        uint32_t n_threads, struct weft_err *err);
void weft_execution_threads_fini(struct weft_execution_threads *threads);

/* Values by place to values by row. */
void weft_execution_threads_order(const struct weft_execution_threads *threads,
                                  const double *by_place, double *by_row);

#endif
