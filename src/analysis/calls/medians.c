/* SPDX-License-Identifier: MIT
 *
 * The medians that decide which calls are outliers for their own function.
 */
#include "analysis/calls/medians.h"

#include "analysis/calls/calls.h"
#include "base/checked.h"

#include <stdlib.h>

/* ---- step 1: histograms ---------------------------------------------------------------------- */

enum weft_code weft_median_tally_ready(struct weft_median_tally *tally, uint32_t n_functions,
                                       struct weft_err *err)
{
    if (tally->top_ns)
        return WEFT_OK;
    tally->top_ns = calloc((size_t)n_functions + 1, sizeof *tally->top_ns);
    return tally->top_ns ? weft_hist_set_init(&tally->hist, n_functions, err)
                         : weft_no_memory(err, "medians");
}

void weft_median_tally_fini(struct weft_median_tally *tally)
{
    free(tally->top_ns);
    weft_hist_set_fini(&tally->hist);
    tally->top_ns = NULL;
}

bool weft_median_tally_block(struct weft_median_tally *tally, const struct weft_calls *calls)
{
    const unsigned edge = WEFT_CALL_CUT_START | WEFT_CALL_CUT_END;
    uint64_t *top_ns = tally->top_ns;
    for (size_t i = 0; i < calls->n_rows; i++) {
        uint32_t id = calls->function_id[i];
        uint64_t duration_ns = calls->end_ns[i] - calls->start_ns[i];
        top_ns[id] = weft_max_u64(top_ns[id], duration_ns);
        if (calls->flags && (calls->flags[i] & edge))
            continue;
        if (!weft_hist_add(&tally->hist, id, duration_ns))
            return false;
    }
    return true;
}

struct tally_job {
    struct weft_median_tally *tallies; /* by worker */
    uint32_t n_functions;
};

static enum weft_code tally_item(void *context, struct weft_scan *scan, unsigned index,
                                 struct weft_err *err)
{
    const struct tally_job *job = context;
    struct weft_median_tally *tally = &job->tallies[index];
    enum weft_code code = weft_median_tally_ready(tally, job->n_functions, err);
    const struct weft_calls *calls = NULL;
    while (!code && !(code = weft_scan_next(scan, &calls, err)) && calls)
        if (!weft_median_tally_block(tally, calls))
            code = weft_no_memory(err, "medians");
    return code;
}

enum weft_code weft_median_tally_threads(struct weft_median_tally *tallies,
                                         const struct weft_trace *trace, const uint32_t *ids,
                                         size_t n_ids, const struct weft_run *run,
                                         struct weft_err *err)
{
    struct tally_job job = { tallies, weft_trace_n_functions(trace) };
    weft_progress_start(run->progress, "medians", "calls", weft_scan_calls(trace, ids, n_ids));
    return weft_scan_threads(trace, ids, n_ids, NULL, run, tally_item, &job, err);
}

/* ---- step 2: medians ------------------------------------------------------------------------- */

/* Adds every worker to worker 0. */
static enum weft_code merge_tallies(struct weft_median_tally *tallies, unsigned n_tallies,
                                    uint32_t n_functions, struct weft_err *err)
{
    struct weft_median_tally *first = &tallies[0];
    enum weft_code code = weft_median_tally_ready(first, n_functions, err);
    for (unsigned w = 1; !code && w < n_tallies; w++) {
        const struct weft_median_tally *tally = &tallies[w];
        if (!tally->top_ns)
            continue;
        for (uint32_t id = 0; id < n_functions; id++)
            first->top_ns[id] = weft_max_u64(first->top_ns[id], tally->top_ns[id]);
        code = weft_hist_merge(&first->hist, &tally->hist, err);
    }
    return code;
}

static enum weft_code copy_medians(const struct weft_quantiles *quantiles, uint64_t **medians_ns,
                                   struct weft_err *err)
{
    uint64_t *medians = calloc((size_t)quantiles->n_functions + 1, sizeof *medians);
    if (!medians)
        return weft_no_memory(err, "medians");
    for (uint32_t id = 0; id < quantiles->n_functions; id++)
        medians[id] = quantiles->value_ns[id][0];
    *medians_ns = medians;
    return WEFT_OK;
}

enum weft_code weft_medians_of(struct weft_median_tally *tallies, unsigned n_tallies,
                               const struct weft_trace *trace, double factor, uint64_t least_ns,
                               const struct weft_run *run, uint64_t **medians_ns,
                               struct weft_err *err)
{
    *medians_ns = NULL;
    enum weft_code code = merge_tallies(tallies, n_tallies, weft_trace_n_functions(trace), err);
    if (code)
        return code;
    const struct weft_quantile_marks marks = {
        .top_ns = tallies[0].top_ns,
        .factor = factor,
        .least_ns = least_ns,
    };
    struct weft_quantiles quantiles;
    code = weft_quantiles_init(&quantiles, &tallies[0].hist, &marks, err);
    if (!code)
        code = weft_quantiles_run(&quantiles, trace, NULL, 0, NULL, run, err);
    if (!code)
        code = copy_medians(&quantiles, medians_ns, err);
    weft_quantiles_fini(&quantiles);
    return code;
}

enum weft_code weft_medians_run(const struct weft_trace *trace, double factor, uint64_t least_ns,
                                const struct weft_run *run, uint64_t **medians_ns,
                                struct weft_err *err)
{
    unsigned n_workers = weft_pool_workers(run->pool);
    struct weft_median_tally *tallies = calloc(n_workers, sizeof *tallies);
    *medians_ns = NULL;
    if (!tallies)
        return weft_no_memory(err, "medians");
    enum weft_code code = weft_median_tally_threads(tallies, trace, NULL, 0, run, err);
    if (!code)
        code = weft_medians_of(tallies, n_workers, trace, factor, least_ns, run, medians_ns, err);
    for (unsigned w = 0; w < n_workers; w++)
        weft_median_tally_fini(&tallies[w]);
    free(tallies);
    return code;
}
