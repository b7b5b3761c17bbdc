/* SPDX-License-Identifier: MIT
 *
 * weft_activity_run against its naive twin on random traces.
 */
#include "analysis/states/states.h"
#include "naive.h"
#include "random_trace.h"
#include "tap.h"

#include <stdlib.h>

enum { TRACES = 3000 };

static bool totals_equal(const struct weft_activity_thread *a, const struct weft_activity_thread *b)
{
    return a->thread_id == b->thread_id && a->n_pauses_all == b->n_pauses_all &&
           a->wait_ns == b->wait_ns && a->still_ns == b->still_ns && a->idle_ns == b->idle_ns &&
           a->short_wait_ns == b->short_wait_ns && a->running_ns == b->running_ns &&
           a->first_ns == b->first_ns && a->last_ns == b->last_ns;
}

static bool pauses_equal(const struct weft_pause_row *a, const struct weft_pause_row *b)
{
    return a->kind == b->kind && a->function_id == b->function_id && a->depth == b->depth &&
           a->start_ns == b->start_ns && a->end_ns == b->end_ns;
}

/* The i-th of `want` is among the longest `limit`: fewer are longer, or as long and earlier. */
static bool is_kept(const struct weft_activity_thread *want, size_t i, uint32_t limit)
{
    size_t n_before = 0;
    uint64_t ns = want->pauses[i].end_ns - want->pauses[i].start_ns;
    for (size_t j = 0; j < want->n_pauses; j++) {
        uint64_t other_ns = want->pauses[j].end_ns - want->pauses[j].start_ns;
        n_before += other_ns > ns || (other_ns == ns && j < i);
    }
    return limit == 0 || n_before < limit;
}

static bool compare_thread(const struct weft_activity_thread *got,
                           const struct weft_activity_thread *want, uint32_t limit)
{
    bool is_ok = totals_equal(got, want);
    size_t n = 0;
    for (size_t i = 0; is_ok && i < want->n_pauses; i++)
        if (is_kept(want, i, limit))
            is_ok = n < got->n_pauses && pauses_equal(&got->pauses[n++], &want->pauses[i]);
    is_ok = is_ok && n == got->n_pauses;
    if (!is_ok)
        tap_note("thread %u: got %zu pauses wait %" PRIu64 " still %" PRIu64 " idle %" PRIu64
                 " short %" PRIu64 " run %" PRIu64 " life [%" PRIu64 ", %" PRIu64
                 "], want %zu pauses wait %" PRIu64 " still %" PRIu64 " idle %" PRIu64
                 " short %" PRIu64 " run %" PRIu64 " life [%" PRIu64 ", %" PRIu64 "]",
                 got->thread_id, got->n_pauses, got->wait_ns, got->still_ns, got->idle_ns,
                 got->short_wait_ns, got->running_ns, got->first_ns, got->last_ns, want->n_pauses,
                 want->wait_ns, want->still_ns, want->idle_ns, want->short_wait_ns,
                 want->running_ns, want->first_ns, want->last_ns);
    return is_ok;
}

static bool compare(const struct memory_trace *memory, const struct weft_activity_opts *opts,
                    struct weft_pool *pool)
{
    char path[MEMORY_PATH_BYTES];
    memory_store_path(memory, path);
    struct weft_trace *trace = NULL;
    struct weft_activity_table *table = NULL;
    struct weft_run run = { .pool = pool };
    if (weft_trace_open(path, &trace, NULL) ||
        weft_activity_run(trace, NULL, opts, &run, &table, NULL))
        return false;
    bool is_ok = table->n_threads == memory->n_threads;
    for (uint32_t t = 0; is_ok && t < memory->n_threads; t++) {
        struct weft_activity_thread want =
            naive_activity(memory, t, table->is_wait_function, opts->threshold_ns, opts->window);
        is_ok = compare_thread(&table->threads[t], &want, opts->limit);
        free(want.pauses);
    }
    weft_result_free(table);
    weft_trace_close(trace);
    return is_ok;
}

int main(void)
{
    const struct weft_store_function functions[16] = {
        { .name = WEFT_STR("cond_wait"), .key = 0 },
        { .name = WEFT_STR("work"), .key = 1 },
        { .name = WEFT_STR("usleep"), .key = 2 },
        { .key = 3 },
        { .key = 4 },
        { .key = 5 },
        { .name = WEFT_STR("poll"), .key = 6 },
    };
    struct random_source random = { tap_seed(31) };
    struct weft_pool *pools[] = { weft_pool_new(1), weft_pool_new(3) };
    unsigned n_bad = 0;
    for (unsigned i = 0; i < TRACES && n_bad == 0; i++) {
        struct memory_trace trace = random_trace(&random, i % 50 == 0 ? 400 : 60);
        trace.functions = functions;
        struct weft_activity_opts opts = {
            .threshold_ns = random_below(&random, 60),
            .limit = (uint32_t)(random_below(&random, 2) ? 0 : 1 + random_below(&random, 9)),
        };
        const struct weft_window window = random_window(&random, &trace);
        if (random_below(&random, 2))
            opts.window = &window;
        n_bad += !compare(&trace, &opts, pools[i % 2]);
        if (n_bad && opts.window)
            tap_note("window [%" PRIu64 ", %" PRIu64 ")", window.from_ns, window.to_ns);
        if (n_bad)
            random_trace_print(&trace);
        random_trace_free(&trace);
    }
    tap_ok(n_bad == 0, "%d random traces and thresholds", TRACES);
    weft_pool_free(pools[0]);
    weft_pool_free(pools[1]);
    return tap_done();
}
