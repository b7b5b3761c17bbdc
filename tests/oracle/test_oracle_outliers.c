/* SPDX-License-Identifier: MIT
 *
 * weft_outliers_run against its naive twin on random traces.
 */
#include "analysis/calls/calls.h"
#include "naive.h"
#include "random_trace.h"
#include "tap.h"

#include <stdlib.h>

enum { TRACES = 3000 };

static bool rows_equal(const struct weft_outlier_row *a, const struct weft_outlier_row *b)
{
    return a->kind == b->kind && a->thread_id == b->thread_id && a->function_id == b->function_id &&
           a->depth == b->depth && a->flags == b->flags && a->start_ns == b->start_ns &&
           a->end_ns == b->end_ns && a->self_ns == b->self_ns && a->median_ns == b->median_ns &&
           !(a->score < b->score) && !(a->score > b->score) && a->is_own == b->is_own &&
           a->is_long == b->is_long && a->is_deepest == b->is_deepest &&
           (a->depth == 0 || memcmp(a->context, b->context, a->depth * sizeof *a->context) == 0);
}

static void print_row(const char *who, const struct weft_outlier_row *row)
{
    tap_note("%s kind %d thread %u f%d depth %u flags %u [%" PRIu64 ", %" PRIu64 "] self %" PRIu64
             " median %" PRIu64 " score %.17g own %d long %d deepest %d",
             who, (int)row->kind, row->thread_id, (int)row->function_id, row->depth, row->flags,
             row->start_ns, row->end_ns, row->self_ns, row->median_ns, row->score, row->is_own,
             row->is_long, row->is_deepest);
}

static bool compare_tables(const struct weft_outliers_table *table,
                           const struct weft_outlier_row *want, size_t n, uint32_t limit)
{
    size_t n_kept = limit && n > limit ? limit : n, n_own = 0, n_long = 0, n_gaps = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_gap = want[i].kind == WEFT_OUTLIER_GAP;
        n_gaps += is_gap;
        n_own += want[i].is_own;
        n_long += want[i].is_long && !is_gap;
    }
    bool is_ok = table->n_found == n && table->n_rows == n_kept && table->n_own == n_own &&
                 table->n_long == n_long && table->n_gaps == n_gaps;
    for (size_t i = 0; is_ok && i < n_kept; i++) {
        is_ok = rows_equal(&table->rows[i], &want[i]);
        if (!is_ok) {
            print_row("got", &table->rows[i]);
            print_row("want", &want[i]);
        }
    }
    return is_ok;
}

static bool compare(const struct memory_trace *memory, const struct weft_outliers_opts *opts,
                    struct weft_pool *pool)
{
    char path[MEMORY_PATH_BYTES];
    memory_store_path(memory, path);
    struct weft_trace *trace = NULL;
    struct weft_functions_table *functions = NULL;
    struct weft_outliers_table *table = NULL;
    struct weft_run run = { .pool = pool };
    if (weft_trace_open(path, &trace, NULL) ||
        weft_functions_run(trace, NULL, NULL, &run, &functions, NULL) ||
        weft_outliers_run(trace, NULL, functions, opts, &run, &table, NULL))
        return false;
    struct weft_outlier_row *want = NULL;
    struct memory_trace part = clip_trace(memory, opts->window ? opts->window : &WEFT_WINDOW_ALL);
    size_t n = naive_outliers(&part, functions, opts, &want);
    random_trace_free(&part);
    bool is_ok = compare_tables(table, want, n, opts->limit);
    for (size_t i = 0; i < n; i++)
        free(want[i].context);
    free(want);
    weft_result_free(table);
    weft_result_free(functions);
    weft_trace_close(trace);
    return is_ok;
}

int main(void)
{
    struct random_source random = { tap_seed(23) };
    struct weft_pool *pools[] = { weft_pool_new(1), weft_pool_new(3) };
    unsigned n_bad = 0;
    for (unsigned i = 0; i < TRACES && n_bad == 0; i++) {
        struct memory_trace trace = random_trace(&random, i % 50 == 0 ? 400 : 60);
        uint32_t ids[] = { 0, (uint32_t)random_below(&random, 12) };
        struct weft_outliers_opts opts = {
            .outlier_factor = (double)random_below(&random, 12),
            .outlier_min_ns = random_below(&random, 30),
            .duration_fraction = (double)random_below(&random, 30) / 100,
            .gap_fraction = (double)random_below(&random, 30) / 1000,
            .limit = (uint32_t)(random_below(&random, 2) ? 0 : random_below(&random, 9)),
            .with_long = random_below(&random, 4) != 0,
            .function_ids = random_below(&random, 4) ? NULL : ids,
            .min_duration_ns = random_below(&random, 4) ? 0 : random_below(&random, 40),
        };
        opts.n_function_ids = opts.function_ids ? 2 : 0;
        const struct weft_window window = random_window(&random, &trace);
        if (random_below(&random, 2))
            opts.window = &window;
        n_bad += !compare(&trace, &opts, pools[i % 2]);
        if (n_bad)
            random_trace_print(&trace);
        random_trace_free(&trace);
    }
    tap_ok(n_bad == 0, "%d random traces and limits", TRACES);
    weft_pool_free(pools[0]);
    weft_pool_free(pools[1]);
    return tap_done();
}
