/* SPDX-License-Identifier: MIT
 *
 * The medians that decide which calls are outliers for their own function.
 */
#include "analysis/analysis.h"
#include "analysis/quantiles.h"
#include "base/checked.h"

#include <stdlib.h>

struct worker {
    struct weft_hist_set hist; /* of closed calls */
    uint64_t *top_ns;          /* by function id: longest call of any kind */
};

struct job {
    uint32_t n_functions;
    struct worker *workers;
    unsigned n_workers;
};

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for medians");
}

static enum weft_code worker_ready(const struct job *job, struct worker *worker,
                                   struct weft_err *err)
{
    if (worker->top_ns)
        return WEFT_OK;
    worker->top_ns = calloc((size_t)job->n_functions + 1, sizeof *worker->top_ns);
    return worker->top_ns ? weft_hist_set_init(&worker->hist, job->n_functions, err)
                          : no_memory(err);
}

static bool tally_block(struct worker *worker, const struct weft_calls *calls)
{
    const unsigned edge = WEFT_CALL_CUT_START | WEFT_CALL_CUT_END;
    uint64_t *top_ns = worker->top_ns;
    for (size_t i = 0; i < calls->n_rows; i++) {
        uint32_t id = calls->function_id[i];
        uint64_t duration_ns = calls->end_ns[i] - calls->start_ns[i];
        top_ns[id] = weft_max_u64(top_ns[id], duration_ns);
        if (calls->flags && (calls->flags[i] & edge))
            continue;
        if (!weft_hist_add(&worker->hist, id, duration_ns))
            return false;
    }
    return true;
}

static enum weft_code tally_item(void *context, struct weft_scan *scan, unsigned index,
                                 struct weft_err *err)
{
    struct job *job = context;
    struct worker *worker = &job->workers[index];
    enum weft_code code = worker_ready(job, worker, err);
    const struct weft_calls *calls = NULL;
    while (!code && !(code = weft_scan_next(scan, &calls, err)) && calls)
        if (!tally_block(worker, calls))
            code = no_memory(err);
    return code;
}

/* Adds every worker to worker 0. */
static enum weft_code merge_workers(struct job *job, struct weft_err *err)
{
    struct worker *first = &job->workers[0];
    enum weft_code code = worker_ready(job, first, err);
    for (unsigned w = 1; !code && w < job->n_workers; w++) {
        const struct worker *worker = &job->workers[w];
        if (!worker->top_ns)
            continue;
        for (uint32_t id = 0; id < job->n_functions; id++)
            first->top_ns[id] = weft_max_u64(first->top_ns[id], worker->top_ns[id]);
        code = weft_hist_merge(&first->hist, &worker->hist, err);
    }
    return code;
}

static enum weft_code copy_medians(const struct weft_quantiles *quantiles, uint64_t **medians_ns,
                                   struct weft_err *err)
{
    uint64_t *medians = calloc((size_t)quantiles->n_functions + 1, sizeof *medians);
    if (!medians)
        return no_memory(err);
    for (uint32_t id = 0; id < quantiles->n_functions; id++)
        medians[id] = quantiles->value_ns[id][0];
    *medians_ns = medians;
    return WEFT_OK;
}

static enum weft_code find_medians(const struct weft_trace *trace, const struct job *job,
                                   double factor, uint64_t least_ns, const struct weft_run *run,
                                   uint64_t **medians_ns, struct weft_err *err)
{
    const struct weft_quantile_marks marks = {
        .top_ns = job->workers[0].top_ns,
        .factor = factor,
        .least_ns = least_ns,
    };
    struct weft_quantiles quantiles;
    enum weft_code code = weft_quantiles_init(&quantiles, &job->workers[0].hist, &marks, err);
    if (!code)
        code = weft_quantiles_run(&quantiles, trace, NULL, 0, run, err);
    if (!code)
        code = copy_medians(&quantiles, medians_ns, err);
    weft_quantiles_fini(&quantiles);
    return code;
}

enum weft_code weft_medians_run(const struct weft_trace *trace, double factor, uint64_t least_ns,
                                const struct weft_run *run, uint64_t **medians_ns,
                                struct weft_err *err)
{
    struct job job = {
        .n_functions = weft_trace_n_functions(trace),
        .n_workers = weft_pool_workers(run->pool),
    };
    *medians_ns = NULL;
    job.workers = calloc(job.n_workers, sizeof *job.workers);
    if (!job.workers)
        return no_memory(err);
    weft_progress_start(run->progress, "medians", "calls", weft_scan_calls(trace, NULL, 0));
    enum weft_code code = weft_scan_threads(trace, NULL, 0, run, tally_item, &job, err);
    if (!code)
        code = merge_workers(&job, err);
    if (!code)
        code = find_medians(trace, &job, factor, least_ns, run, medians_ns, err);
    for (unsigned w = 0; w < job.n_workers; w++) {
        free(job.workers[w].top_ns);
        weft_hist_set_fini(&job.workers[w].hist);
    }
    free(job.workers);
    return code;
}
