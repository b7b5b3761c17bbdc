/* SPDX-License-Identifier: MIT
 *
 * Weighs what each CPU did by how much the program ran on it, from the table of `weft cpu`. Threads
 * that stay on one CPU are summed apart, as idle CPUs do not help them. docs/analyses/diagnose.md
 * explains the thresholds.
 */
#include "analysis/states/saturation.h"

#include "analysis/states/states.h"
#include "base/checked.h"

#include <stdlib.h>

static const double FULL = 0.9;   /* of the time, that threads use of a full machine at least */
static const double BOUND = 0.99; /* of what a thread runs, on one CPU: it stays there */
static const double MOST = 0.5;   /* of what the program runs */

/* Fills what each thread ran; the program's time. */
static double sum_threads(const struct weft_cpu_table *table,
                          struct weft_saturation_thread *threads)
{
    double own_ns = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        for (size_t k = 0; k < table->rows[i].n_threads; k++) {
            const struct weft_cpu_share *share = &table->rows[i].threads[k];
            struct weft_saturation_thread *thread = &threads[share->thread_id];
            thread->run_ns += share->run_ns;
            thread->most_ns = weft_max_u64(thread->most_ns, share->run_ns);
            own_ns += thread->is_foreign ? 0 : (double)share->run_ns;
        }
    return own_ns;
}

static bool is_bound(const struct weft_saturation_thread *thread)
{
    return (double)thread->most_ns >= BOUND * (double)thread->run_ns;
}

static void add_row(struct weft_saturation *saturation, const struct weft_cpu_row *row,
                    const struct weft_saturation_thread *threads)
{
    double own_ns = 0, other_ns = 0;
    for (size_t k = 0; k < row->n_threads; k++) {
        const struct weft_saturation_thread *thread = &threads[row->threads[k].thread_id];
        const double run_ns = (double)row->threads[k].run_ns;
        *(thread->is_foreign ? &other_ns : &own_ns) += run_ns;
        saturation->bound += !thread->is_foreign && is_bound(thread) ? run_ns : 0;
    }
    saturation->own += own_ns * own_ns;
    saturation->other += own_ns * other_ns;
    saturation->idle += own_ns * (double)row->idle_ns;
}

struct weft_saturation weft_saturation_of(const struct weft_cpu_table *table,
                                          struct weft_saturation_thread *threads)
{
    const double window_ns = (double)(table->to_ns - table->from_ns);
    const double own_ns = sum_threads(table, threads);
    struct weft_saturation saturation = { 0 };
    if (!(own_ns > 0 && window_ns > 0))
        return saturation;
    saturation.is_known = true;
    for (size_t i = 0; i < table->n_rows; i++)
        add_row(&saturation, &table->rows[i], threads);
    saturation.own /= own_ns * window_ns;
    saturation.other /= own_ns * window_ns;
    saturation.idle /= own_ns * window_ns;
    saturation.bound /= own_ns;
    return saturation;
}

enum weft_code weft_saturation_find(const struct weft_trace *trace, const struct weft_run *run,
                                    struct weft_saturation *saturation, struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(trace);
    const struct weft_cpu_opts opts = { .to_ns = UINT64_MAX };
    struct weft_cpu_table *table = NULL;
    *saturation = (struct weft_saturation){ 0 };
    if (weft_trace_n_foreign(trace) == 0)
        return WEFT_OK;
    struct weft_saturation_thread *threads = calloc((size_t)n_threads + 1, sizeof *threads);
    if (!threads)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %u threads", n_threads);
    for (uint32_t id = 0; id < n_threads; id++)
        threads[id].is_foreign = weft_trace_thread(trace, id)->info.is_foreign;
    const enum weft_code code = weft_cpus_run(trace, NULL, &opts, run, &table, err);
    if (code == WEFT_OK && table->is_known)
        *saturation = weft_saturation_of(table, threads);
    weft_result_free(table);
    free(threads);
    return code;
}

bool weft_saturation_is_full(const struct weft_saturation *saturation)
{
    return saturation->other > saturation->own && saturation->own + saturation->other > FULL;
}

bool weft_saturation_takes_places(const struct weft_saturation *saturation)
{
    return weft_saturation_is_full(saturation) && saturation->bound < MOST;
}
