/* SPDX-License-Identifier: MIT */
#include "analysis/crowd.h"

#include "analysis/analysis.h"

#include <stdlib.h>

static const double FULL =
    0.1; /* of the time, that processors of a full machine are idle at most */

struct weft_crowd weft_crowd_of(const struct weft_cpu_table *table, const bool *is_foreign)
{
    const double window_ns = (double)(table->to_ns - table->from_ns);
    struct weft_crowd crowd = { 0 };
    double sum_ns = 0;
    for (size_t i = 0; i < table->n_rows && window_ns > 0; i++) {
        const struct weft_cpu_row *row = &table->rows[i];
        double own_ns = 0, other_ns = 0;
        for (size_t k = 0; k < row->n_threads; k++)
            *(is_foreign[row->threads[k].thread_id] ? &other_ns : &own_ns) +=
                (double)row->threads[k].run_ns;
        sum_ns += own_ns;
        crowd.own += own_ns * own_ns / window_ns;
        crowd.other += own_ns * other_ns / window_ns;
        crowd.idle += own_ns * (double)row->idle_ns / window_ns;
    }
    if (!(sum_ns > 0))
        return (struct weft_crowd){ 0 };
    return (struct weft_crowd){ .own = crowd.own / sum_ns,
                                .other = crowd.other / sum_ns,
                                .idle = crowd.idle / sum_ns };
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
    bool *is_foreign = calloc((size_t)n_threads + 1, sizeof *is_foreign);
    if (!is_foreign)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %u threads", n_threads);
    for (uint32_t id = 0; id < n_threads; id++)
        is_foreign[id] = weft_trace_thread(trace, id)->info.is_foreign;
    const enum weft_code code = weft_cpus_run(trace, NULL, &opts, run, &table, err);
    if (code == WEFT_OK && table->is_known)
        *crowd = weft_crowd_of(table, is_foreign);
    weft_cpu_table_free(table);
    free(is_foreign);
    return code;
}

bool weft_crowd_is_full(const struct weft_crowd *crowd)
{
    return crowd->other > crowd->own && crowd->idle < FULL;
}
