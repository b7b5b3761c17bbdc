/* SPDX-License-Identifier: MIT
 *
 * Weighs what each CPU did by how much the program ran on it, from the table of `weft cpu`. Threads
 * that stay on one CPU are summed apart, as idle CPUs do not help them. docs/analyses/diagnose.md
 * explains the thresholds.
 */
#include "analysis/states/crowd.h"

#include "analysis/states/states.h"
#include "base/checked.h"

#include <stdlib.h>

static const double FULL = 0.9;   /* of the time, that threads use of a full machine at least */
static const double BOUND = 0.99; /* of what a thread runs, on one CPU: it stays there */
static const double MOST = 0.5;   /* of what the program runs */

/* Fills what each thread ran; the program's time. */
static double sum_threads(const struct weft_cpu_table *table, struct weft_crowd_thread *threads)
{
    double own_ns = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        for (size_t k = 0; k < table->rows[i].n_threads; k++) {
            const struct weft_cpu_share *share = &table->rows[i].threads[k];
            struct weft_crowd_thread *thread = &threads[share->thread_id];
            thread->run_ns += share->run_ns;
            thread->most_ns = weft_max_u64(thread->most_ns, share->run_ns);
            own_ns += thread->is_foreign ? 0 : (double)share->run_ns;
        }
    return own_ns;
}

static bool is_bound(const struct weft_crowd_thread *thread)
{
    return (double)thread->most_ns >= BOUND * (double)thread->run_ns;
}

static void add_row(struct weft_crowd *crowd, const struct weft_cpu_row *row,
                    const struct weft_crowd_thread *threads)
{
    double own_ns = 0, other_ns = 0;
    for (size_t k = 0; k < row->n_threads; k++) {
        const struct weft_crowd_thread *thread = &threads[row->threads[k].thread_id];
        const double run_ns = (double)row->threads[k].run_ns;
        *(thread->is_foreign ? &other_ns : &own_ns) += run_ns;
        crowd->bound += !thread->is_foreign && is_bound(thread) ? run_ns : 0;
    }
    crowd->own += own_ns * own_ns;
    crowd->other += own_ns * other_ns;
    crowd->idle += own_ns * (double)row->idle_ns;
}

struct weft_crowd weft_crowd_of(const struct weft_cpu_table *table,
                                struct weft_crowd_thread *threads)
{
    const double window_ns = (double)(table->to_ns - table->from_ns);
    const double own_ns = sum_threads(table, threads);
    struct weft_crowd crowd = { 0 };
    if (!(own_ns > 0 && window_ns > 0))
        return crowd;
    crowd.is_known = true;
    for (size_t i = 0; i < table->n_rows; i++)
        add_row(&crowd, &table->rows[i], threads);
    crowd.own /= own_ns * window_ns;
    crowd.other /= own_ns * window_ns;
    crowd.idle /= own_ns * window_ns;
    crowd.bound /= own_ns;
    return crowd;
}

enum weft_code weft_crowd_find(const struct weft_trace *trace, const struct weft_run *run,
                               struct weft_crowd *crowd, struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(trace);
    const struct weft_cpu_opts opts = { .to_ns = UINT64_MAX };
    struct weft_cpu_table *table = NULL;
    *crowd = (struct weft_crowd){ 0 };
    if (weft_trace_n_foreign(trace) == 0)
        return WEFT_OK;
    struct weft_crowd_thread *threads = calloc((size_t)n_threads + 1, sizeof *threads);
    if (!threads)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %u threads", n_threads);
    for (uint32_t id = 0; id < n_threads; id++)
        threads[id].is_foreign = weft_trace_thread(trace, id)->info.is_foreign;
    const enum weft_code code = weft_cpus_run(trace, NULL, &opts, run, &table, err);
    if (code == WEFT_OK && table->is_known)
        *crowd = weft_crowd_of(table, threads);
    weft_result_free(table);
    free(threads);
    return code;
}

bool weft_crowd_is_full(const struct weft_crowd *crowd)
{
    return crowd->other > crowd->own && crowd->own + crowd->other > FULL;
}

bool weft_crowd_takes_places(const struct weft_crowd *crowd)
{
    return weft_crowd_is_full(crowd) && crowd->bound < MOST;
}
