/* SPDX-License-Identifier: MIT
 *
 * A counting sort of rows by thread, in arrays that may lie in files. Pages are released after so
 * many rows, since rows of a thread are spread over the whole table.
 */
#include "analysis/executions/threads.h"

#include <stdlib.h>

/* Rows after which what was touched is let go: each may lie on another page, of which the kernel
 * maps some about it. */
enum { MOST_ROWS = 1 << 16, LEAST_ROWS = 1 << 10, PAGES = 1 << 20 };

static size_t rows_at_once(const struct weft_execution_threads *threads)
{
    const size_t n = PAGES / (threads->n + 1);
    return n > MOST_ROWS ? MOST_ROWS : n < LEAST_ROWS ? LEAST_ROWS : n;
}

static void passed(const struct weft_execution_threads *threads, size_t row, size_t at_once)
{
    if (row % at_once == at_once - 1)
        weft_spool_forget(threads->spool);
}

/* `nexts`: n_threads, zeroed; then where the next execution of each thread goes. */
static bool list_threads(struct weft_execution_threads *threads,
                         const struct weft_executions_table *table, uint32_t n_threads,
                         size_t *nexts)
{
    threads->ids = calloc((size_t)n_threads + 1, sizeof *threads->ids);
    threads->starts = calloc((size_t)n_threads + 1, sizeof *threads->starts);
    if (!threads->ids || !threads->starts)
        return false;
    for (size_t i = 0; i < table->n_rows; i++) {
        nexts[table->rows[i].thread_id]++;
        weft_executions_passed(table, i);
    }
    for (uint32_t id = 0; id < n_threads; id++) {
        const size_t n = nexts[id];
        nexts[id] = threads->starts[threads->n];
        if (n == 0)
            continue;
        threads->ids[threads->n++] = id;
        threads->starts[threads->n] = nexts[id] + n;
    }
    return true;
}

static enum weft_code make_arrays(struct weft_execution_threads *threads, struct weft_err *err)
{
    const enum weft_code code = weft_spool_array(threads->spool, threads->n_rows,
                                                 sizeof *threads->spans, &threads->spans, err);
    return code == WEFT_OK ? weft_spool_array(threads->spool, threads->n_rows,
                                              sizeof *threads->places, &threads->places, err)
                           : code;
}

enum weft_code weft_execution_threads_init(struct weft_execution_threads *threads,
                                           const struct weft_executions_table *table,
                                           uint32_t n_threads, struct weft_err *err)
{
    size_t *nexts = calloc((size_t)n_threads + 1, sizeof *nexts);
    *threads = (struct weft_execution_threads){ .spool = table->spool, .n_rows = table->n_rows };
    enum weft_code code = nexts && list_threads(threads, table, n_threads, nexts)
                              ? make_arrays(threads, err)
                              : weft_no_memory(err, "threads of executions");
    const size_t at_once = rows_at_once(threads);
    for (size_t i = 0; code == WEFT_OK && i < table->n_rows; i++) {
        const struct weft_execution_row *row = &table->rows[i];
        const size_t place = nexts[row->thread_id]++;
        threads->spans[place] = (struct weft_execution_span){ row->start_ns, row->end_ns };
        threads->places[i] = place;
        passed(threads, i, at_once);
    }
    free(nexts);
    return code;
}

void weft_execution_threads_fini(struct weft_execution_threads *threads)
{
    weft_spool_drop(threads->spool, threads->spans);
    weft_spool_drop(threads->spool, threads->places);
    free(threads->ids);
    free(threads->starts);
}

void weft_execution_threads_order(const struct weft_execution_threads *threads,
                                  const double *by_place, double *by_row)
{
    const size_t at_once = rows_at_once(threads);
    for (size_t i = 0; i < threads->n_rows; i++) {
        by_row[i] = by_place[threads->places[i]];
        passed(threads, i, at_once);
    }
}
