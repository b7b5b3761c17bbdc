/* SPDX-License-Identifier: MIT
 *
 * weft_functions_run against its naive twin on random traces.
 */
#include "analysis/calls/calls.h"
#include "naive.h"
#include "random_trace.h"
#include "tap.h"

#include <stdlib.h>

enum { TRACES = 3000 };

static bool rows_equal(const struct weft_function_row *a, const struct weft_function_row *b)
{
    return a->function_id == b->function_id && a->n_threads == b->n_threads &&
           a->count == b->count && a->inclusive_ns == b->inclusive_ns && a->self_ns == b->self_ns &&
           a->min_ns == b->min_ns && a->mean_ns == b->mean_ns && a->max_ns == b->max_ns &&
           a->p50_ns == b->p50_ns && a->p90_ns == b->p90_ns && a->p99_ns == b->p99_ns &&
           a->p999_ns == b->p999_ns && a->open_count == b->open_count && a->open_ns == b->open_ns &&
           a->open_self_ns == b->open_self_ns && a->cut_count == b->cut_count &&
           a->cut_ns == b->cut_ns && a->max_thread_id == b->max_thread_id &&
           a->max_start_ns == b->max_start_ns;
}

static void print_row(const char *who, const struct weft_function_row *row)
{
    tap_note("%s: f%u threads %u count %" PRIu64 " incl %" PRIu64 " self %" PRIu64 " min %" PRIu64
             " mean %" PRIu64 " max %" PRIu64 " p50 %" PRIu64 " p90 %" PRIu64 " p99 %" PRIu64
             " p999 %" PRIu64 " open %" PRIu64 "/%" PRIu64 "/%" PRIu64 " cut %" PRIu64 "/%" PRIu64
             " at %u/%" PRIu64,
             who, row->function_id, row->n_threads, row->count, row->inclusive_ns, row->self_ns,
             row->min_ns, row->mean_ns, row->max_ns, row->p50_ns, row->p90_ns, row->p99_ns,
             row->p999_ns, row->open_count, row->open_ns, row->open_self_ns, row->cut_count,
             row->cut_ns, row->max_thread_id, row->max_start_ns);
}

/* The medians made for marks, against the exact ones: every call of the trace gets the same mark.
 */
static bool marks_equal(const struct memory_trace *memory, const struct weft_trace *trace,
                        const struct weft_functions_table *table, const struct weft_run *run,
                        double factor, uint64_t least_ns)
{
    uint64_t *medians = NULL;
    if (weft_medians_run(trace, factor, least_ns, run, &medians, NULL))
        return false;
    bool is_ok = true;
    for (uint32_t t = 0; t < memory->n_threads; t++)
        for (size_t i = 0; i < memory->threads[t].n_calls; i++) {
            const struct memory_call *call = &memory->threads[t].calls[i];
            uint64_t duration_ns = call->end_ns - call->start_ns;
            uint64_t exact_ns = table->rows[table->row_of_function[call->function_id]].p50_ns;
            bool want = duration_ns >= least_ns && exact_ns &&
                        (double)duration_ns > factor * (double)exact_ns;
            bool got = duration_ns >= least_ns && medians[call->function_id] &&
                       (double)duration_ns > factor * (double)medians[call->function_id];
            is_ok = is_ok && got == want;
        }
    free(medians);
    return is_ok;
}

/* In a window: as in a trace that is no longer. */
static bool compare(const struct memory_trace *memory, const struct weft_window *window,
                    struct weft_pool *pool)
{
    const struct weft_functions_opts opts = { .window = window };
    char path[MEMORY_PATH_BYTES];
    memory_store_path(memory, path);
    struct weft_trace *trace = NULL;
    struct weft_functions_table *table = NULL;
    struct weft_run run = { .pool = pool };
    struct weft_function_row want[16];
    struct memory_trace part = clip_trace(memory, window ? window : &WEFT_WINDOW_ALL);
    size_t n = naive_functions(&part, want);
    random_trace_free(&part);
    if (weft_trace_open(path, &trace, NULL) ||
        weft_functions_run(trace, NULL, &opts, &run, &table, NULL))
        return false;
    bool is_ok = table->n_rows == n && table->n_functions == memory->n_functions;
    for (size_t i = 0; is_ok && i < n; i++) {
        is_ok = rows_equal(&table->rows[i], &want[i]) &&
                table->row_of_function[want[i].function_id] == i;
        if (!is_ok) {
            print_row("got", &table->rows[i]);
            print_row("want", &want[i]);
        }
    }
    is_ok = is_ok && (window || (marks_equal(memory, trace, table, &run, 1.003, 0) &&
                                 marks_equal(memory, trace, table, &run, 3, 20)));
    weft_result_free(table);
    weft_trace_close(trace);
    return is_ok;
}

/* Many values in few slots: percentiles need refinement more than once. */
static struct memory_trace crowded_trace(struct random_source *random, uint64_t scale_ns)
{
    struct memory_trace trace = { .n_threads = 2, .n_functions = 3, .block_rows = 5000 };
    trace.threads = calloc(2, sizeof *trace.threads);
    for (uint32_t t = 0; t < 2; t++) {
        struct memory_thread *thread = &trace.threads[t];
        thread->n_calls = 20000;
        thread->calls = calloc(thread->n_calls, sizeof *thread->calls);
        uint64_t at_ns = 0;
        for (size_t i = 0; i < thread->n_calls; i++) {
            uint64_t duration_ns = scale_ns + random_below(random, scale_ns / 100 + 1);
            thread->calls[i] =
                (struct memory_call){ .start_ns = at_ns,
                                      .end_ns = at_ns + duration_ns,
                                      .function_id = (uint32_t)random_below(random, 3) };
            at_ns += duration_ns + 1;
        }
        thread->last_ns = at_ns;
    }
    return trace;
}

int main(void)
{
    struct random_source random = { tap_seed(11) };
    struct weft_pool *pools[] = { weft_pool_new(1), weft_pool_new(3) };
    unsigned n_bad = 0;
    for (unsigned i = 0; i < TRACES && n_bad == 0; i++) {
        struct memory_trace trace = random_trace(&random, i % 100 == 0 ? 3000 : 60);
        const struct weft_window window = random_window(&random, &trace);
        n_bad += !compare(&trace, NULL, pools[i % 2]) || !compare(&trace, &window, pools[i % 2]);
        if (n_bad)
            tap_note("window [%" PRIu64 ", %" PRIu64 ")", window.from_ns, window.to_ns);
        if (n_bad && trace.threads[0].n_calls < 100)
            random_trace_print(&trace);
        random_trace_free(&trace);
    }
    tap_ok(n_bad == 0, "%d random traces, whole and in windows", TRACES);
    static const uint64_t scales_ns[] = { 100, 300, 1000, 1000000, 3000000000 };
    for (size_t i = 0; i < sizeof scales_ns / sizeof *scales_ns; i++) {
        struct memory_trace trace = crowded_trace(&random, scales_ns[i]);
        tap_ok(compare(&trace, NULL, pools[1]), "exact percentiles around %" PRIu64 " ns",
               scales_ns[i]);
        random_trace_free(&trace);
    }
    weft_pool_free(pools[0]);
    weft_pool_free(pools[1]);
    return tap_done();
}
