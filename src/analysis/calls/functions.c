/* SPDX-License-Identifier: MIT
 *
 * Per function: counts, inclusive and self time, exact percentiles (docs/analyses/functions.md).
 */
#include "analysis/calls/calls.h"
#include "analysis/calls/quantiles.h"
#include "model/calls/scan.h"

#include <stdlib.h>
#include <string.h>

/* What one worker has counted of one function. */
struct tally {
    uint64_t n_closed, sum_ns, self_ns, min_ns;
    uint64_t top_ns;       /* longest closed call + 1, or 0 */
    uint64_t outer_end_ns; /* end of the latest outermost activation in this thread */
    uint64_t inclusive_ns;
    uint32_t n_threads, item; /* item + 1 of the latest thread */
    uint64_t top_start_ns;
    uint64_t open_count, open_ns, open_self_ns;
    uint64_t cut_count, cut_ns, cut_outer_end_ns;
    uint32_t top_thread_id;
};

struct worker {
    struct tally *tallies; /* by function id */
    struct weft_hist_set hist;
    uint64_t **self_at; /* by depth + 1: where the self time of the open call goes */
    size_t cap;
    uint64_t nowhere;
};

struct job {
    const struct weft_trace *trace;
    uint32_t n_functions;
    struct worker *workers;
    unsigned n_workers;
    const struct weft_window *window;
    struct weft_quantiles quantiles;
};

static enum weft_code worker_ready(struct job *job, struct worker *worker, uint32_t depth_bound,
                                   struct weft_err *err)
{
    if (!worker->tallies) {
        worker->tallies = calloc((size_t)job->n_functions + 1, sizeof *worker->tallies);
        if (!worker->tallies)
            return weft_no_memory(err, "the function table");
        enum weft_code code = weft_hist_set_init(&worker->hist, job->n_functions, err);
        if (code)
            return code;
    }
    if (worker->cap < (size_t)depth_bound + 2) {
        free(worker->self_at);
        worker->cap = (size_t)depth_bound + 2;
        worker->self_at = calloc(worker->cap, sizeof *worker->self_at);
        if (!worker->self_at) {
            worker->cap = 0;
            return weft_no_memory(err, "the function table");
        }
    }
    worker->self_at[0] = &worker->nowhere;
    return WEFT_OK;
}

/* First sight of a function in this thread. */
static void tally_thread(struct tally *tally, uint32_t item)
{
    tally->item = item;
    tally->n_threads++;
    tally->outer_end_ns = 0;
    tally->cut_outer_end_ns = 0;
}

static void tally_closed(struct tally *tally, uint64_t start_ns, uint64_t end_ns,
                         uint32_t thread_id)
{
    uint64_t duration_ns = end_ns - start_ns;
    if (tally->n_closed++ == 0 || duration_ns < tally->min_ns)
        tally->min_ns = duration_ns;
    tally->sum_ns += duration_ns;
    tally->self_ns += duration_ns;
    bool is_earlier = start_ns < tally->top_start_ns ||
                      (start_ns == tally->top_start_ns && thread_id < tally->top_thread_id);
    if (duration_ns >= tally->top_ns || (duration_ns + 1 == tally->top_ns && is_earlier)) {
        tally->top_ns = duration_ns + 1;
        tally->top_start_ns = start_ns;
        tally->top_thread_id = thread_id;
    }
    /* A nested activation that begins at its outer one's end lasts 0 ns: no matter. */
    if (start_ns >= tally->outer_end_ns) {
        tally->inclusive_ns += duration_ns;
        tally->outer_end_ns = end_ns;
    }
}

/* The rare calls: returns where the self time goes. */
static uint64_t *tally_edge(struct worker *worker, struct tally *tally, unsigned flags,
                            uint64_t start_ns, uint64_t end_ns)
{
    uint64_t duration_ns = end_ns - start_ns;
    if (flags & WEFT_CALL_CUT_START) {
        tally->cut_count++;
        if (start_ns >= tally->cut_outer_end_ns) {
            tally->cut_ns += duration_ns;
            tally->cut_outer_end_ns = end_ns;
        }
        return &worker->nowhere;
    }
    tally->open_count++;
    tally->open_self_ns += duration_ns;
    if (start_ns >= tally->outer_end_ns) {
        tally->open_ns += duration_ns;
        tally->outer_end_ns = end_ns;
    }
    return &tally->open_self_ns;
}

static bool tally_block(struct worker *worker, const struct weft_scan *scan,
                        const struct weft_calls *calls)
{
    const unsigned edge = WEFT_CALL_CUT_START | WEFT_CALL_CUT_END;
    uint32_t item = (uint32_t)scan->item + 1;
    uint64_t **self_at = worker->self_at;
    for (size_t i = 0; i < calls->n_rows; i++) {
        uint64_t start_ns = calls->start_ns[i], end_ns = calls->end_ns[i];
        uint32_t id = calls->function_id[i], depth = calls->depth[i];
        struct tally *tally = &worker->tallies[id];
        if (tally->item != item)
            tally_thread(tally, item);
        *self_at[depth] -= end_ns - start_ns;
        if (calls->flags && (calls->flags[i] & edge)) {
            self_at[depth + 1] = tally_edge(worker, tally, calls->flags[i], start_ns, end_ns);
            continue;
        }
        self_at[depth + 1] = &tally->self_ns;
        tally_closed(tally, start_ns, end_ns, scan->thread_id);
        if (!weft_hist_add(&worker->hist, id, end_ns - start_ns))
            return false;
    }
    return true;
}

static enum weft_code tally_item(void *context, struct weft_scan *scan, unsigned index,
                                 struct weft_err *err)
{
    struct job *job = context;
    struct worker *worker = &job->workers[index];
    enum weft_code code = worker_ready(job, worker, scan->depth_bound, err);
    const struct weft_calls *calls = NULL;
    while (!code && !(code = weft_scan_next(scan, &calls, err)) && calls)
        if (!tally_block(worker, scan, calls))
            code = weft_no_memory(err, "the function table");
    return code;
}

static void merge_tally(struct tally *to, const struct tally *from)
{
    if (from->n_closed && (to->n_closed == 0 || from->min_ns < to->min_ns))
        to->min_ns = from->min_ns;
    bool is_earlier = from->top_start_ns != to->top_start_ns
                          ? from->top_start_ns < to->top_start_ns
                          : from->top_thread_id < to->top_thread_id;
    if (from->top_ns > to->top_ns || (from->top_ns && from->top_ns == to->top_ns && is_earlier)) {
        to->top_ns = from->top_ns;
        to->top_start_ns = from->top_start_ns;
        to->top_thread_id = from->top_thread_id;
    }
    to->n_closed += from->n_closed;
    to->sum_ns += from->sum_ns;
    to->self_ns += from->self_ns;
    to->inclusive_ns += from->inclusive_ns;
    to->n_threads += from->n_threads;
    to->open_count += from->open_count;
    to->open_ns += from->open_ns;
    to->open_self_ns += from->open_self_ns;
    to->cut_count += from->cut_count;
    to->cut_ns += from->cut_ns;
}

/* Adds every worker to worker 0. */
static enum weft_code merge_workers(struct job *job, struct weft_err *err)
{
    struct worker *first = &job->workers[0];
    enum weft_code code = worker_ready(job, first, 0, err);
    for (unsigned w = 1; !code && w < job->n_workers; w++) {
        const struct worker *worker = &job->workers[w];
        if (!worker->tallies)
            continue;
        for (uint32_t id = 0; id < job->n_functions; id++)
            merge_tally(&first->tallies[id], &worker->tallies[id]);
        if (worker->hist.page_of)
            code = weft_hist_merge(&first->hist, &worker->hist, err);
    }
    return code;
}

static void fill_row(struct weft_function_row *row, uint32_t id, const struct tally *tally,
                     const uint64_t *quantiles)
{
    *row = (struct weft_function_row){
        .function_id = id,
        .n_threads = tally->n_threads,
        .count = tally->n_closed + tally->open_count,
        .inclusive_ns = tally->inclusive_ns,
        .self_ns = tally->self_ns,
        .min_ns = tally->min_ns,
        .mean_ns = tally->n_closed ? tally->sum_ns / tally->n_closed : 0,
        .max_ns = tally->top_ns ? tally->top_ns - 1 : 0,
        .p50_ns = quantiles[0],
        .p90_ns = quantiles[1],
        .p99_ns = quantiles[2],
        .p999_ns = quantiles[3],
        .open_count = tally->open_count,
        .open_ns = tally->open_ns,
        .open_self_ns = tally->open_self_ns,
        .cut_count = tally->cut_count,
        .cut_ns = tally->cut_ns,
        .max_thread_id = tally->n_closed ? tally->top_thread_id : WEFT_ID_NONE,
        .max_start_ns = tally->top_start_ns,
    };
}

static enum weft_code make_table(struct job *job, struct weft_functions_table **result,
                                 struct weft_err *err)
{
    const struct tally *tallies = job->workers[0].tallies;
    size_t n_rows = 0;
    for (uint32_t id = 0; id < job->n_functions; id++)
        n_rows += tallies[id].n_threads > 0;
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_functions_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_functions_table) : NULL;
    if (table) {
        table->arena = arena;
        table->rows = WEFT_ARENA_NEW(arena, n_rows, struct weft_function_row);
        table->row_of_function = WEFT_ARENA_NEW(arena, job->n_functions, uint32_t);
    }
    if (!table || !table->rows || !table->row_of_function) {
        if (arena)
            weft_arena_free(arena);
        return weft_no_memory(err, "the function table");
    }
    table->n_functions = job->n_functions;
    for (uint32_t id = 0; id < job->n_functions; id++) {
        table->row_of_function[id] = WEFT_ID_NONE;
        if (!tallies[id].n_threads)
            continue;
        table->row_of_function[id] = (uint32_t)table->n_rows;
        struct weft_function_row *row = &table->rows[table->n_rows++];
        fill_row(row, id, &tallies[id], job->quantiles.value_ns[id]);
        table->calls += row->count;
        table->self_ns += row->self_ns + row->open_self_ns;
    }
    *result = table;
    return WEFT_OK;
}

static enum weft_code run_passes(struct job *job, const struct weft_thread_filter *filter,
                                 const struct weft_run *run, struct weft_err *err)
{
    const uint32_t *ids = filter ? filter->ids : NULL;
    size_t n_ids = filter ? filter->n_ids : 0;
    enum weft_code code =
        weft_scan_threads(job->trace, ids, n_ids, job->window, run, tally_item, job, err);
    if (!code)
        code = merge_workers(job, err);
    if (!code)
        code = weft_quantiles_init(&job->quantiles, &job->workers[0].hist, NULL, err);
    if (!code)
        code = weft_quantiles_run(&job->quantiles, job->trace, ids, n_ids, job->window, run, err);
    return code;
}

enum weft_code weft_functions_run(const struct weft_trace *trace,
                                  const struct weft_thread_filter *filter,
                                  const struct weft_functions_opts *opts,
                                  const struct weft_run *run, struct weft_functions_table **table,
                                  struct weft_err *err)
{
    struct job job = {
        .trace = trace,
        .n_functions = weft_trace_n_functions(trace),
        .n_workers = weft_pool_workers(run->pool),
        .window = opts ? opts->window : NULL,
    };
    *table = NULL;
    enum weft_code code =
        weft_scan_check(trace, filter ? filter->ids : NULL, filter ? filter->n_ids : 0, err);
    if (code)
        return code;
    job.workers = calloc(job.n_workers, sizeof *job.workers);
    if (!job.workers)
        return weft_no_memory(err, "the function table");
    uint64_t n_calls = filter ? weft_scan_calls(trace, filter->ids, filter->n_ids)
                              : weft_scan_calls(trace, NULL, 0);
    weft_progress_start(run->progress, "functions", "calls", 2 * n_calls);
    code = run_passes(&job, filter, run, err);
    if (!code)
        code = make_table(&job, table, err);
    weft_quantiles_fini(&job.quantiles);
    for (unsigned w = 0; w < job.n_workers; w++) {
        free(job.workers[w].tallies);
        free(job.workers[w].self_at);
        weft_hist_set_fini(&job.workers[w].hist);
    }
    free(job.workers);
    return code;
}
