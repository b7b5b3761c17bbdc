/* SPDX-License-Identifier: MIT
 *
 * How long the calls of a function are: log-linear bins of durations or of self times.
 */
#include "model/histogram.h"

#include "analysis/calls/calls.h"
#include "analysis/calls/self_times.h"
#include "model/calls/overlap.h"

#include <stdlib.h>

struct worker {
    struct {
        uint64_t count, sum_ns;
    } bins[WEFT_BINS];
    uint64_t min_ns, max_ns;
    struct weft_self_times times;
};

struct job {
    const struct weft_histogram_opts *opts;
    uint8_t *is_wanted; /* by function id; NULL: all */
    struct worker *workers;
};

static void count(struct worker *worker, uint64_t value_ns)
{
    const uint32_t bin = weft_bin_of(value_ns);
    worker->bins[bin].count++;
    worker->bins[bin].sum_ns += value_ns;
    worker->min_ns = value_ns < worker->min_ns ? value_ns : worker->min_ns;
    worker->max_ns = value_ns > worker->max_ns ? value_ns : worker->max_ns;
}

static bool is_wanted(const struct job *job, uint32_t function_id)
{
    return !job->is_wanted || job->is_wanted[function_id];
}

/* ---- self times ------------------------------------------------------------------------------ */

static void leave_to(struct worker *worker, size_t depth)
{
    const struct weft_self_level *level;
    while ((level = weft_self_times_leave(&worker->times, depth)))
        if (level->is_wanted)
            count(worker, level->self_ns);
}

static void enter(struct worker *worker, const struct job *job, const struct weft_window *window,
                  const struct weft_open_call *call)
{
    leave_to(worker, call->depth);
    weft_self_times_enter(&worker->times, window, call->start_ns, call->end_ns, call->depth)
        ->is_wanted = is_wanted(job, call->function_id);
}

/* ---- a thread -------------------------------------------------------------------------------- */

static void see(struct worker *worker, const struct job *job, const struct weft_window *window,
                const struct weft_open_call *call)
{
    if (job->opts->is_self)
        enter(worker, job, window, call);
    else if (is_wanted(job, call->function_id))
        count(worker, call->end_ns - call->start_ns);
}

static void see_block(struct worker *worker, const struct job *job,
                      const struct weft_window *window, const struct weft_calls *calls,
                      size_t n_rows)
{
    for (size_t i = 0; i < n_rows; i++) {
        const struct weft_open_call call = { .start_ns = calls->start_ns[i],
                                             .end_ns = calls->end_ns[i],
                                             .function_id = calls->function_id[i],
                                             .depth = calls->depth[i] };
        if (weft_overlaps(window, call.start_ns, call.end_ns))
            see(worker, job, window, &call);
    }
}

static enum weft_code run_item(void *context, struct weft_scan *scan, unsigned index,
                               struct weft_err *err)
{
    struct job *job = context;
    struct worker *worker = &job->workers[index];
    struct weft_overlap overlap;
    const struct weft_overlap_wanted wanted = { .functions = job->is_wanted };
    const struct weft_calls *calls = NULL;
    size_t n_rows = 0;
    enum weft_code code = WEFT_OK;
    if (!weft_overlap_init(&overlap, scan, job->opts->window,
                           job->opts->is_self ? NULL : &wanted) ||
        !weft_self_times_ready(&worker->times, scan->depth_bound))
        code = weft_no_memory(err, "a histogram");
    for (size_t i = 0; !code && i < overlap.open.n; i++)
        see(worker, job, &overlap.window, &overlap.open.items[i]);
    while (!code && !(code = weft_overlap_next(&overlap, &calls, &n_rows, err)) && calls)
        see_block(worker, job, &overlap.window, calls, n_rows);
    leave_to(worker, 0);
    weft_overlap_fini(&overlap);
    return code;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Adds every worker to the first; the number of bins that hold calls. */
static size_t merge(struct worker *workers, unsigned n_workers)
{
    struct worker *first = &workers[0];
    size_t n_bins = 0;
    for (unsigned w = 1; w < n_workers; w++) {
        for (uint32_t bin = 0; bin < WEFT_BINS; bin++) {
            first->bins[bin].count += workers[w].bins[bin].count;
            first->bins[bin].sum_ns += workers[w].bins[bin].sum_ns;
        }
        first->min_ns = workers[w].min_ns < first->min_ns ? workers[w].min_ns : first->min_ns;
        first->max_ns = workers[w].max_ns > first->max_ns ? workers[w].max_ns : first->max_ns;
    }
    for (uint32_t bin = 0; bin < WEFT_BINS; bin++)
        n_bins += first->bins[bin].count > 0;
    return n_bins;
}

static enum weft_code make_table(const struct worker *worker, size_t n_bins,
                                 struct weft_histogram_table **result, struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_histogram_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_histogram_table) : NULL;
    struct weft_bin_row *rows = table ? WEFT_ARENA_NEW(arena, n_bins, struct weft_bin_row) : NULL;
    if (!rows) {
        if (arena)
            weft_arena_free(arena);
        return weft_no_memory(err, "a histogram");
    }
    *table = (struct weft_histogram_table){ .arena = arena, .rows = rows };
    for (uint32_t bin = 0; bin < WEFT_BINS; bin++) {
        if (worker->bins[bin].count == 0)
            continue;
        rows[table->n_rows++] = (struct weft_bin_row){
            .from_ns = weft_bin_floor(bin),
            .to_ns = bin + 1 < WEFT_BINS ? weft_bin_floor(bin + 1) : UINT64_MAX,
            .count = worker->bins[bin].count,
            .sum_ns = worker->bins[bin].sum_ns,
        };
        table->count += worker->bins[bin].count;
        table->sum_ns += worker->bins[bin].sum_ns;
    }
    table->min_ns = table->count ? worker->min_ns : 0;
    table->max_ns = worker->max_ns;
    *result = table;
    return WEFT_OK;
}

static bool job_init(struct job *job, const struct weft_histogram_opts *opts, uint32_t n_functions,
                     unsigned n_workers)
{
    *job = (struct job){ .opts = opts, .workers = calloc(n_workers, sizeof *job->workers) };
    for (unsigned w = 0; job->workers && w < n_workers; w++)
        job->workers[w].min_ns = UINT64_MAX;
    if (opts->function_ids)
        job->is_wanted = calloc((size_t)n_functions + 1, 1);
    for (size_t i = 0; job->is_wanted && i < opts->n_function_ids; i++)
        if (opts->function_ids[i] < n_functions)
            job->is_wanted[opts->function_ids[i]] = 1;
    return job->workers && (job->is_wanted || !opts->function_ids);
}

enum weft_code weft_histogram_run(const struct weft_trace *trace,
                                  const struct weft_thread_filter *filter,
                                  const struct weft_histogram_opts *opts,
                                  const struct weft_run *run, struct weft_histogram_table **table,
                                  struct weft_err *err)
{
    const uint32_t *ids = filter ? filter->ids : NULL;
    const size_t n_ids = filter ? filter->n_ids : 0;
    const unsigned n_workers = weft_pool_workers(run->pool);
    struct job job;
    *table = NULL;
    enum weft_code code = weft_scan_check(trace, ids, n_ids, err);
    if (code != WEFT_OK)
        return code;
    if (!job_init(&job, opts, weft_trace_n_functions(trace), n_workers))
        code = weft_no_memory(err, "a histogram");
    weft_progress_start(run->progress, "histogram", "calls", weft_scan_calls(trace, ids, n_ids));
    WEFT_THEN(code, weft_scan_threads(trace, ids, n_ids, NULL, run, run_item, &job, err));
    WEFT_THEN(code, make_table(&job.workers[0], merge(job.workers, n_workers), table, err));
    for (unsigned w = 0; job.workers && w < n_workers; w++)
        weft_self_times_fini(&job.workers[w].times);
    free(job.workers);
    free(job.is_wanted);
    return code;
}
