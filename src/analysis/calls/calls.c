/* SPDX-License-Identifier: MIT
 *
 * Calls chosen by function, duration (or self time) and time: the longest, or the earliest.
 */
#include "analysis/calls/calls.h"

#include "analysis/calls/self_times.h"
#include "base/vec.h"
#include "model/calls/overlap.h"

#include <stdlib.h>

/* A worker's best calls so far, as a heap with the worst on top. */
struct heap {
    struct weft_call_row *items;
    size_t n, cap;
};

struct worker {
    struct heap heap;
    uint64_t n_found, sum_ns;
    bool is_partial;
    struct weft_self_times times;
};

struct job {
    const struct weft_calls_opts *opts;
    uint8_t *is_wanted; /* by function id; NULL: all */
    struct worker *workers;
};

/* ---- the order ------------------------------------------------------------------------------- */

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Negative if `a` comes first. No two calls are equal. */
static int compare(const struct weft_call_row *a, const struct weft_call_row *b,
                   enum weft_calls_order order)
{
    int result = order == WEFT_CALLS_LONGEST ? compare_u64(b->length_ns, a->length_ns) : 0;
    if (result == 0)
        result = compare_u64(a->start_ns, b->start_ns);
    if (result == 0)
        result = compare_u64(a->thread_id, b->thread_id);
    return result ? result : compare_u64(a->number, b->number);
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const enum weft_calls_order *order = context;
    return compare(a, b, *order);
}

static void sift_down(struct heap *heap, enum weft_calls_order order)
{
    for (size_t at = 0;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < heap->n && compare(&heap->items[child + 1], &heap->items[child], order) > 0)
            child++;
        if (child >= heap->n || compare(&heap->items[child], &heap->items[at], order) < 0)
            return;
        const struct weft_call_row row = heap->items[at];
        heap->items[at] = heap->items[child];
        heap->items[child] = row;
        at = child;
    }
}

static void sift_up(struct heap *heap, enum weft_calls_order order)
{
    for (size_t at = heap->n - 1; at > 0;) {
        size_t above = (at - 1) / 2;
        if (compare(&heap->items[at], &heap->items[above], order) < 0)
            return;
        const struct weft_call_row row = heap->items[at];
        heap->items[at] = heap->items[above];
        heap->items[above] = row;
        at = above;
    }
}

/* False without memory. */
static bool see(struct worker *worker, const struct weft_calls_opts *opts,
                const struct weft_call_row *row)
{
    struct heap *heap = &worker->heap;
    worker->n_found++;
    worker->sum_ns += row->length_ns;
    if (heap->n < opts->limit) {
        struct weft_call_row *item = WEFT_VEC_PUSH(heap);
        if (!item)
            return false;
        *item = *row;
        sift_up(heap, opts->order);
    } else if (compare(row, &heap->items[0], opts->order) < 0) {
        heap->items[0] = *row;
        sift_down(heap, opts->order);
    }
    return true;
}

/* ---- a thread -------------------------------------------------------------------------------- */

static bool is_wanted(const struct job *job, uint32_t function_id)
{
    return !job->is_wanted || job->is_wanted[function_id];
}

static bool is_match(const struct weft_calls_opts *opts, uint64_t length_ns)
{
    return length_ns >= opts->min_ns && length_ns <= opts->max_ns;
}

/* Calls at `depth` and deeper are over. False without memory. */
static bool leave_to(const struct job *job, struct worker *worker, size_t depth)
{
    struct weft_self_level *level;
    while ((level = weft_self_times_leave(&worker->times, depth))) {
        level->row.length_ns = level->self_ns;
        if (level->is_wanted && is_match(job->opts, level->self_ns) &&
            !see(worker, job->opts, &level->row))
            return false;
    }
    return true;
}

static bool see_self(const struct job *job, struct worker *worker, const struct weft_window *window,
                     const struct weft_call_row *row)
{
    if (!leave_to(job, worker, row->depth))
        return false;
    struct weft_self_level *level =
        weft_self_times_enter(&worker->times, window, row->start_ns, row->end_ns, row->depth);
    level->is_wanted = is_wanted(job, row->function_id);
    if (level->is_wanted)
        level->row = *row;
    return true;
}

static bool see_open(const struct job *job, struct worker *worker,
                     const struct weft_overlap *overlap)
{
    const uint64_t n_cut = overlap->scan->thread->cut_calls;
    bool is_ok = true;
    for (size_t i = 0; is_ok && i < overlap->open.n; i++) {
        const struct weft_open_call *call = &overlap->open.items[i];
        const bool is_cut = call->row == UINT64_MAX;
        const struct weft_call_row row = {
            .start_ns = call->start_ns,
            .end_ns = call->end_ns,
            .length_ns = call->end_ns - call->start_ns,
            .number = is_cut ? call->depth : n_cut + call->row,
            .thread_id = overlap->scan->thread_id,
            .function_id = call->function_id,
            .depth = call->depth,
            .flags = call->flags | (is_cut ? WEFT_CALL_CUT_START : 0),
        };
        if (job->opts->is_self)
            is_ok = see_self(job, worker, &overlap->window, &row);
        else if (is_match(job->opts, row.length_ns) && is_wanted(job, call->function_id))
            is_ok = see(worker, job->opts, &row);
    }
    return is_ok;
}

static bool see_block(const struct job *job, struct worker *worker,
                      const struct weft_overlap *overlap, const struct weft_calls *calls,
                      size_t n_rows)
{
    const struct weft_window window = overlap->window;
    const bool is_self = job->opts->is_self;
    for (size_t i = 0; i < n_rows; i++) {
        const uint64_t start_ns = calls->start_ns[i], end_ns = calls->end_ns[i];
        if ((!is_self &&
             (!is_match(job->opts, end_ns - start_ns) || !is_wanted(job, calls->function_id[i]))) ||
            !weft_overlaps(&window, start_ns, end_ns))
            continue;
        const struct weft_call_row row = {
            .start_ns = start_ns,
            .end_ns = end_ns,
            .length_ns = end_ns - start_ns,
            .number = overlap->scan->first_call + i,
            .thread_id = overlap->scan->thread_id,
            .function_id = calls->function_id[i],
            .depth = calls->depth[i],
            .flags = calls->flags ? calls->flags[i] : 0,
        };
        if (job->opts->ends_at_limit && worker->heap.n == job->opts->limit) {
            worker->is_partial = true;
            return true;
        }
        if (!(is_self ? see_self(job, worker, &window, &row) : see(worker, job->opts, &row)))
            return false;
    }
    return true;
}

static enum weft_code run_item(void *context, struct weft_scan *scan, unsigned index,
                               struct weft_err *err)
{
    struct job *job = context;
    struct worker *worker = &job->workers[index];
    struct weft_overlap overlap;
    const struct weft_overlap_wanted wanted = { .functions = job->is_wanted,
                                                .least_ns = job->opts->min_ns };
    const struct weft_calls *calls = NULL;
    size_t n_rows = 0;
    enum weft_code code = WEFT_OK;
    const bool is_self = job->opts->is_self; /* then all calls matter, as callees of others */
    if (!weft_overlap_init(&overlap, scan, job->opts->window, is_self ? NULL : &wanted) ||
        (is_self && !weft_self_times_ready(&worker->times, scan->depth_bound)) ||
        !see_open(job, worker, &overlap))
        code = weft_no_memory(err, "calls");
    while (!code && !worker->is_partial &&
           !(code = weft_overlap_next(&overlap, &calls, &n_rows, err)) && calls)
        if (!see_block(job, worker, &overlap, calls, n_rows))
            code = weft_no_memory(err, "calls");
    if (!code && !leave_to(job, worker, 0))
        code = weft_no_memory(err, "calls");
    weft_overlap_fini(&overlap);
    return code;
}

/* ---- the table ------------------------------------------------------------------------------- */

static enum weft_code make_table(struct job *job, unsigned n_workers,
                                 struct weft_calls_table **result, struct weft_err *err)
{
    enum weft_calls_order order = job->opts->order;
    size_t n_all = 0, n = 0;
    for (unsigned w = 0; w < n_workers; w++)
        n_all += job->workers[w].heap.n;
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_calls_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_calls_table) : NULL;
    struct weft_call_row *rows = table ? WEFT_ARENA_NEW(arena, n_all, struct weft_call_row) : NULL;
    if (!rows) {
        if (arena)
            weft_arena_free(arena);
        return weft_no_memory(err, "calls");
    }
    *table =
        (struct weft_calls_table){ .arena = arena, .rows = rows, .is_self = job->opts->is_self };
    for (unsigned w = 0; w < n_workers; w++) {
        const struct worker *worker = &job->workers[w];
        if (worker->heap.n)
            memcpy(rows + n, worker->heap.items, worker->heap.n * sizeof *rows);
        n += worker->heap.n;
        table->n_found += worker->n_found;
        table->sum_ns += worker->sum_ns;
        table->is_partial = table->is_partial || worker->is_partial;
    }
    qsort_r(rows, n, sizeof *rows, compare_rows, &order);
    table->n_rows = n < job->opts->limit ? n : job->opts->limit;
    *result = table;
    return WEFT_OK;
}

static bool job_init(struct job *job, const struct weft_calls_opts *opts, uint32_t n_functions,
                     unsigned n_workers)
{
    *job = (struct job){ .opts = opts, .workers = calloc(n_workers, sizeof *job->workers) };
    if (opts->function_ids)
        job->is_wanted = calloc((size_t)n_functions + 1, 1);
    for (size_t i = 0; job->is_wanted && i < opts->n_function_ids; i++)
        if (opts->function_ids[i] < n_functions)
            job->is_wanted[opts->function_ids[i]] = 1;
    return job->workers && (job->is_wanted || !opts->function_ids);
}

enum weft_code weft_calls_run(const struct weft_trace *trace,
                              const struct weft_thread_filter *filter,
                              const struct weft_calls_opts *opts, const struct weft_run *run,
                              struct weft_calls_table **table, struct weft_err *err)
{
    const uint32_t *ids = filter ? filter->ids : NULL;
    const size_t n_ids = filter ? filter->n_ids : 0;
    const unsigned n_workers = weft_pool_workers(run->pool);
    struct job job;
    *table = NULL;
    enum weft_code code = weft_scan_check(trace, ids, n_ids, err);
    if (code == WEFT_OK &&
        (opts->limit == 0 || (opts->ends_at_limit && (n_ids != 1 || opts->is_self))))
        code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected a limit, and one thread");
    if (code != WEFT_OK)
        return code;
    if (!job_init(&job, opts, weft_trace_n_functions(trace), n_workers))
        code = weft_no_memory(err, "calls");
    weft_progress_start(run->progress, "calls", "calls", weft_scan_calls(trace, ids, n_ids));
    WEFT_THEN(code, weft_scan_threads(trace, ids, n_ids, NULL, run, run_item, &job, err));
    WEFT_THEN(code, make_table(&job, n_workers, table, err));
    for (unsigned w = 0; job.workers && w < n_workers; w++) {
        WEFT_VEC_FINI(&job.workers[w].heap);
        weft_self_times_fini(&job.workers[w].times);
    }
    free(job.workers);
    free(job.is_wanted);
    return code;
}
