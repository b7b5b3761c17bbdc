/* SPDX-License-Identifier: MIT
 *
 * Counts calls by depth and function on each worker, takes a thread's outermost level with enough
 * repetition, and marks functions that occur only within those. Deeper levels than MOST_DEPTH are
 * not considered.
 */
#include "query/repeated_functions.h"

#include "model/calls/scan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_CALLS = 10, /* of a function on a thread, to be repeated */
    MOST_DEPTH = 8,   /* levels that are looked at */
    PART_DEPTH = 16,  /* parts of what repeats that are: std::thread puts six calls around all */
};

/* Of one thread; all_calls of all threads that the worker had. */
struct calls_of_thread {
    uint64_t *counts, *sums_ns; /* by depth and function */
    uint64_t *outer;            /* of calls that no other call of the function is around; the last
                                 * depth has all deeper ones */
    uint64_t *all_calls;        /* by function, at whatever depth */
};

struct calls_job {
    struct calls_of_thread *workers;
    struct weft_repeated_function *functions; /* of all threads */
    const bool *is_whole;                     /* by function: has parts */
    uint32_t n_functions;
    pthread_mutex_t lock;
};

/* Calls from `depth` on: parts of what repeats above. */
static void take_below(struct calls_job *job, const struct calls_of_thread *calls, size_t depth)
{
    for (; depth <= MOST_DEPTH; depth++)
        for (uint32_t f = 0; f < job->n_functions; f++)
            job->functions[f].n_below += calls->outer[depth * job->n_functions + f];
}

/* The outermost level at which a function is called again and again. */
static void take_level(struct calls_job *job, const struct calls_of_thread *calls)
{
    bool is_found = false, has_whole = false;
    (void)pthread_mutex_lock(&job->lock);
    for (size_t depth = 0; depth < MOST_DEPTH && !is_found; depth++) {
        for (uint32_t f = 0; f < job->n_functions; f++) {
            const size_t at = depth * job->n_functions + f;
            if (calls->counts[at] < LEAST_CALLS)
                continue;
            is_found = true;
            has_whole |= job->is_whole[f];
            job->functions[f].is_repeated = true;
            job->functions[f].sum_ns += calls->sums_ns[at];
            job->functions[f].n_at += calls->counts[at];
        }
        if (has_whole)
            take_below(job, calls, depth + 1);
    }
    (void)pthread_mutex_unlock(&job->lock);
}

/* Places for the counts of another thread. */
static enum weft_code begin_counts(const struct calls_job *job, struct calls_of_thread *counted,
                                   struct weft_err *err)
{
    const size_t n = (size_t)job->n_functions * MOST_DEPTH + 1;
    const size_t n_outer = n + job->n_functions;
    if (!counted->counts)
        counted->counts = malloc(n * sizeof *counted->counts);
    if (!counted->sums_ns)
        counted->sums_ns = malloc(n * sizeof *counted->sums_ns);
    if (!counted->outer)
        counted->outer = malloc(n_outer * sizeof *counted->outer);
    if (!counted->all_calls)
        counted->all_calls = calloc((size_t)job->n_functions + 1, sizeof *counted->all_calls);
    if (!counted->counts || !counted->sums_ns || !counted->outer || !counted->all_calls)
        return weft_no_memory(err, "functions that repeat");
    memset(counted->counts, 0, n * sizeof *counted->counts);
    memset(counted->sums_ns, 0, n * sizeof *counted->sums_ns);
    memset(counted->outer, 0, n_outer * sizeof *counted->outer);
    return WEFT_OK;
}

/* Is none of the calls around it, those of `around` by depth, of the same function? */
static bool is_outermost(const uint32_t *around, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++)
        if (around[i] == around[depth])
            return false;
    return true;
}

/* `around` has the calls around by depth; calls that began before the trace are only put there. */
static void count_call(const struct calls_job *job, struct calls_of_thread *counted,
                       const struct weft_calls *calls, size_t i, bool is_cut, uint32_t *around)
{
    const uint32_t f = calls->function_id[i], depth = calls->depth[i];
    const size_t row = depth < MOST_DEPTH ? depth : MOST_DEPTH;
    counted->all_calls[f]++;
    if (depth >= PART_DEPTH)
        return;
    around[depth] = f;
    if (is_cut)
        return;
    counted->outer[row * job->n_functions + f] += is_outermost(around, depth);
    if (depth >= MOST_DEPTH)
        return;
    counted->counts[row * job->n_functions + f]++;
    counted->sums_ns[row * job->n_functions + f] += calls->end_ns[i] - calls->start_ns[i];
}

static enum weft_code count_calls(void *context, struct weft_scan *scan, unsigned worker,
                                  struct weft_err *err)
{
    struct calls_job *job = context;
    struct calls_of_thread *counted = &job->workers[worker];
    const struct weft_calls *calls = NULL;
    uint32_t around[PART_DEPTH] = { 0 };
    enum weft_code code = begin_counts(job, counted, err);
    while (code == WEFT_OK && (code = weft_scan_next(scan, &calls, err)) == WEFT_OK && calls)
        for (size_t i = 0; i < calls->n_rows; i++)
            count_call(job, counted, calls, i, scan->is_cut, around);
    if (code == WEFT_OK)
        take_level(job, counted);
    return code;
}

static void end_counts(struct calls_job *job, unsigned n_workers)
{
    for (unsigned w = 0; job->workers && w < n_workers; w++) {
        for (uint32_t f = 0; job->workers[w].all_calls && f < job->n_functions; f++)
            job->functions[f].n_calls += job->workers[w].all_calls[f];
        free(job->workers[w].counts);
        free(job->workers[w].sums_ns);
        free(job->workers[w].outer);
        free(job->workers[w].all_calls);
    }
    free(job->workers);
}

enum weft_code weft_repeated_functions(const struct weft_trace *trace, const bool *is_whole,
                                       const struct weft_run *run,
                                       struct weft_repeated_function **functions,
                                       struct weft_err *err)
{
    const unsigned n_workers = weft_pool_workers(run->pool);
    struct calls_job job = { .is_whole = is_whole,
                             .n_functions = weft_trace_n_functions(trace),
                             .workers = calloc(n_workers, sizeof *job.workers) };
    job.functions = calloc((size_t)job.n_functions + 1, sizeof *job.functions);
    (void)pthread_mutex_init(&job.lock, NULL);
    enum weft_code code =
        job.workers && job.functions ? WEFT_OK : weft_no_memory(err, "functions that repeat");
    if (code == WEFT_OK && job.n_functions)
        code = weft_scan_threads(trace, NULL, 0, NULL, run, count_calls, &job, err);
    if (job.functions)
        end_counts(&job, n_workers);
    (void)pthread_mutex_destroy(&job.lock);
    *functions = code == WEFT_OK ? job.functions : NULL;
    if (code != WEFT_OK)
        free(job.functions);
    return code;
}
