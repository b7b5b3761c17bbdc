/* SPDX-License-Identifier: MIT
 *
 * Counts the calls at depth 0 of each thread. The columns are described below, once for all front
 * ends.
 */
#include "analysis/roots/roots.h"

#include "model/calls/scan.h"

#include <stdlib.h>

/* ---- the columns ----------------------------------------------------------------------------- */

#define ROW struct weft_root_row

static WEFT_GET(get_share)
{
    const struct weft_list_table *table = context->of;
    cell->real = weft_share_of(((const ROW *)row)->sum_ns, table->to_ns - table->from_ns);
}

static const struct weft_field fields[] = {
    WEFT_FIELD_THREAD("tid", "tid", "thread", "thread", thread_id, "the thread"),
    WEFT_FIELD("count", "calls", COUNT, count, "root calls that start in the window"),
    WEFT_FIELD("open", "open", COUNT, open, "root calls open at its start"),
    WEFT_FIELD("sum_ns", "time", NS, sum_ns, "time of both in the window"),
    WEFT_GETTER("share", "of window", SHARE, get_share, "share of the window"),
    WEFT_FIELD("longest_ns", "longest", NS, longest_ns,
               "the longest call, as much of it as lies in the window"),
    WEFT_FIELD("longest_at_ns", "at", AT, longest_at_ns, "its start there"),
    WEFT_FIELD("longest_function", "function", TEXT, longest_function_id, "its function",
               .as = WEFT_AS_FUNCTION),
};

const struct weft_table_type weft_roots_type =
    WEFT_TABLE_TYPE("roots", "root calls of each thread", fields, ROW);

/* ---- the analysis ---------------------------------------------------------------------------- */

static void see_block(ROW *row, const struct weft_scan *scan, const struct weft_calls *calls)
{
    for (size_t i = 0; i < calls->n_rows; i++) {
        if (calls->depth[i] != 0)
            continue;
        const uint64_t length_ns = calls->end_ns[i] - calls->start_ns[i];
        const bool is_first = row->count + row->open == 0;
        row->sum_ns += length_ns;
        row->count += !scan->is_cut;
        row->open += scan->is_cut;
        if (is_first || length_ns > row->longest_ns) {
            row->longest_ns = length_ns;
            row->longest_at_ns = calls->start_ns[i];
            row->longest_function_id = calls->function_id[i];
        }
    }
}

/* One thread, on one worker: each has a row of its own. */
static enum weft_code run_thread(void *context, struct weft_scan *scan, unsigned worker,
                                 struct weft_err *err)
{
    ROW *row = (ROW *)context + scan->item;
    const struct weft_calls *calls;
    enum weft_code code;
    (void)worker;
    row->thread_id = scan->thread_id;
    row->longest_function_id = WEFT_ID_NONE;
    while ((code = weft_scan_next(scan, &calls, err)) == WEFT_OK && calls)
        see_block(row, scan, calls);
    return code;
}

static int most_time_first(const void *a, const void *b)
{
    const ROW *x = a, *y = b;
    if (x->sum_ns != y->sum_ns)
        return x->sum_ns > y->sum_ns ? -1 : 1;
    return (x->thread_id > y->thread_id) - (x->thread_id < y->thread_id);
}

enum weft_code weft_roots_run(const struct weft_trace *trace,
                              const struct weft_thread_filter *filter,
                              const struct weft_window *window, const struct weft_run *run,
                              struct weft_list_table **table, struct weft_err *err)
{
    const size_t n_threads = weft_scan_n_threads(trace, filter->ids, filter->n_ids);
    struct weft_list_table *list = weft_list_new(window, n_threads, sizeof(ROW), err);
    if (!list)
        return WEFT_E_NOMEM;
    ROW *rows = list->rows;
    list->none = "no thread has a function call in the window";
    const enum weft_code code =
        weft_scan_threads(trace, filter->ids, filter->n_ids, window, run, run_thread, rows, err);
    for (size_t i = 0; i < n_threads; i++)
        if (rows[i].count || rows[i].open)
            rows[list->n_rows++] = rows[i];
    qsort(rows, list->n_rows, sizeof *rows, most_time_first);
    return weft_list_end(list, code, table);
}
