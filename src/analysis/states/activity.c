/* SPDX-License-Identifier: MIT
 *
 * Activity: what a thread's silence says about it (docs/analyses/activity.md).
 *
 *     events of a thread:  enter a . exit a . enter b . . . enter c . exit c . exit b
 *     innermost call:      | a      | none   | b           | c      | b      |
 *
 * In a window, silences are cut at its borders.
 *
 * Between two events nothing is known but the innermost open call. A silence longer than the
 * threshold is a pause.
 */
#include "analysis/states/states.h"
#include "base/vec.h"
#include "model/calls/scan.h"
#include "model/graph/waiting.h"

#include <stdlib.h>
#include <string.h>

struct pause_vec {
    struct weft_pause_row *items;
    size_t n, cap;
};

struct worker {
    struct level {
        uint64_t end_ns;
        uint32_t function_id;
    } * levels; /* by depth */
    size_t cap;
};

struct job {
    const struct weft_activity_opts *opts;
    const bool *is_wait; /* by function */
    struct worker *workers;
    struct weft_activity_thread *threads; /* by item */
    struct pause_vec *pauses;             /* by item */
};

/* One thread being scanned. */
struct pass {
    const struct job *job;
    struct level *levels;
    struct weft_activity_thread *thread;
    struct pause_vec *pauses;
    uint64_t at_ns; /* the latest event */
    size_t n_open;  /* open calls */
    bool is_failed; /* no memory */
};

/* Longest first, then earliest. */
static int by_duration(const void *a, const void *b)
{
    const struct weft_pause_row *x = a, *y = b;
    uint64_t x_ns = x->end_ns - x->start_ns, y_ns = y->end_ns - y->start_ns;
    if (x_ns != y_ns)
        return x_ns > y_ns ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int by_start(const void *a, const void *b)
{
    const struct weft_pause_row *x = a, *y = b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Keeps the longest `limit` (0: all). Pauses do not overlap and last, so starts differ. */
static void prune(struct pause_vec *pauses, size_t limit)
{
    if (limit == 0 || pauses->n <= limit)
        return;
    qsort(pauses->items, pauses->n, sizeof *pauses->items, by_duration);
    pauses->n = limit;
}

static void add_pause(struct pass *pass, uint64_t end_ns, bool is_wait)
{
    const struct job *job = pass->job;
    bool is_idle = pass->n_open == 0;
    uint64_t silence_ns = end_ns - pass->at_ns;
    struct weft_activity_thread *thread = pass->thread;
    if (job->opts->limit && pass->pauses->n >= 2 * (size_t)job->opts->limit + 1024)
        prune(pass->pauses, job->opts->limit);
    struct weft_pause_row *row = WEFT_VEC_PUSH(pass->pauses);
    if (!row) {
        pass->is_failed = true;
        return;
    }
    row->kind = is_idle ? WEFT_PAUSE_IDLE : is_wait ? WEFT_PAUSE_WAIT : WEFT_PAUSE_STILL;
    row->function_id = is_idle ? WEFT_ID_NONE : pass->levels[pass->n_open - 1].function_id;
    row->depth = (uint32_t)(is_idle ? 0 : pass->n_open - 1);
    row->start_ns = pass->at_ns;
    row->end_ns = end_ns;
    thread->n_pauses_all++;
    thread->idle_ns += is_idle ? silence_ns : 0;
    thread->wait_ns += row->kind == WEFT_PAUSE_WAIT ? silence_ns : 0;
    thread->still_ns += row->kind == WEFT_PAUSE_STILL ? silence_ns : 0;
}

/* The next event is at `to_ns`: what lies before it is silence. */
static inline void silence_until(struct pass *pass, uint64_t to_ns)
{
    uint64_t silence_ns = to_ns - pass->at_ns;
    bool is_wait = pass->n_open && pass->job->is_wait[pass->levels[pass->n_open - 1].function_id];
    if (__builtin_expect(silence_ns > pass->job->opts->threshold_ns, 0))
        add_pause(pass, to_ns, is_wait);
    else if (is_wait)
        pass->thread->short_wait_ns += silence_ns;
    pass->at_ns = to_ns;
}

static void leave_to(struct pass *pass, size_t n_open)
{
    while (pass->n_open > n_open) {
        silence_until(pass, pass->levels[pass->n_open - 1].end_ns);
        pass->n_open--;
    }
}

static void scan_block(struct pass *pass, const struct weft_calls *calls, bool is_cut)
{
    for (size_t i = 0; i < calls->n_rows; i++) {
        size_t depth = calls->depth[i];
        leave_to(pass, depth);
        if (!is_cut) /* the entry of a cut frame was not seen */
            silence_until(pass, calls->start_ns[i]);
        pass->levels[depth].end_ns = calls->end_ns[i];
        pass->levels[depth].function_id = calls->function_id[i];
        pass->n_open = depth + 1;
    }
}

static enum weft_code worker_ready(struct worker *worker, uint32_t depth_bound,
                                   struct weft_err *err)
{
    if (worker->cap > depth_bound)
        return WEFT_OK;
    free(worker->levels);
    worker->cap = (size_t)depth_bound + 1;
    worker->levels = calloc(worker->cap, sizeof *worker->levels);
    if (!worker->levels)
        worker->cap = 0;
    return worker->levels ? WEFT_OK : weft_no_memory(err, "pauses");
}

static enum weft_code run_item(void *context, struct weft_scan *scan, unsigned index,
                               struct weft_err *err)
{
    struct job *job = context;
    struct weft_activity_thread *thread = &job->threads[scan->item];
    thread->thread_id = scan->thread_id;
    const struct weft_model_thread *whole = weft_trace_thread(scan->trace, scan->thread_id);
    bool has_calls = whole->calls || whole->cut_calls;
    thread->first_ns = has_calls ? scan->thread->first_ns : 0;
    thread->last_ns = has_calls ? scan->thread->last_ns : 0;
    enum weft_code code = worker_ready(&job->workers[index], scan->depth_bound, err);
    if (code || !has_calls)
        return code;
    struct pass pass = {
        .job = job,
        .levels = job->workers[index].levels,
        .thread = thread,
        .pauses = &job->pauses[scan->item],
        .at_ns = thread->first_ns,
    };
    const struct weft_calls *calls = NULL;
    while (!pass.is_failed && !(code = weft_scan_next(scan, &calls, err)) && calls)
        scan_block(&pass, calls, scan->is_cut);
    if (!code)
        leave_to(&pass, 0);
    if (!code && pass.at_ns < thread->last_ns)
        silence_until(&pass, thread->last_ns);
    if (pass.is_failed)
        return weft_no_memory(err, "pauses");
    thread->last_ns = pass.at_ns;
    thread->running_ns =
        thread->last_ns - thread->first_ns - thread->wait_ns - thread->still_ns - thread->idle_ns;
    prune(pass.pauses, job->opts->limit);
    if (pass.pauses->n)
        qsort(pass.pauses->items, pass.pauses->n, sizeof *pass.pauses->items, by_start);
    return code;
}

/* Moves the pauses into the table's arena. */
static bool take_pauses(struct weft_activity_table *table, const struct pause_vec *pauses)
{
    for (size_t i = 0; i < table->n_threads; i++) {
        struct weft_activity_thread *thread = &table->threads[i];
        thread->n_pauses = pauses[i].n;
        thread->pauses = WEFT_ARENA_NEW(table->arena, pauses[i].n, struct weft_pause_row);
        if (!thread->pauses)
            return false;
        if (pauses[i].n)
            memcpy(thread->pauses, pauses[i].items, pauses[i].n * sizeof *thread->pauses);
    }
    return true;
}

static struct weft_activity_table *new_table(const struct weft_trace *trace, size_t n_threads,
                                             uint64_t threshold_ns)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_activity_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_activity_table) : NULL;
    if (table) {
        table->arena = arena;
        table->threshold_ns = threshold_ns;
        table->n_threads = n_threads;
        table->n_functions = weft_trace_n_functions(trace);
        table->threads = WEFT_ARENA_NEW(arena, n_threads, struct weft_activity_thread);
        table->is_wait_function = WEFT_ARENA_NEW(arena, table->n_functions, bool);
    }
    if (!table || !table->threads || !table->is_wait_function) {
        if (arena)
            weft_arena_free(arena);
        return NULL;
    }
    for (uint32_t id = 0; id < table->n_functions; id++)
        table->is_wait_function[id] = weft_is_wait_name(weft_trace_function(trace, id)->name);
    return table;
}

enum weft_code weft_activity_run(const struct weft_trace *trace,
                                 const struct weft_thread_filter *filter,
                                 const struct weft_activity_opts *opts, const struct weft_run *run,
                                 struct weft_activity_table **table, struct weft_err *err)
{
    const uint32_t *ids = filter ? filter->ids : NULL;
    size_t n_ids = filter ? filter->n_ids : 0;
    *table = NULL;
    enum weft_code code = weft_scan_check(trace, ids, n_ids, err);
    if (code)
        return code;
    unsigned n_workers = weft_pool_workers(run->pool);
    size_t n_items = weft_scan_n_threads(trace, ids, n_ids);
    struct weft_activity_table *made = new_table(trace, n_items, opts->threshold_ns);
    struct job job = {
        .opts = opts,
        .is_wait = made ? made->is_wait_function : NULL,
        .workers = calloc(n_workers, sizeof *job.workers),
        .threads = made ? made->threads : NULL,
        .pauses = calloc(n_items + 1, sizeof *job.pauses),
    };
    if (!made || !job.workers || !job.pauses)
        code = weft_no_memory(err, "pauses");
    weft_progress_start(run->progress, "activity", "calls", weft_scan_calls(trace, ids, n_ids));
    if (!code)
        code = weft_scan_threads(trace, ids, n_ids, opts->window, run, run_item, &job, err);
    if (!code && !take_pauses(made, job.pauses))
        code = weft_no_memory(err, "pauses");
    for (unsigned w = 0; job.workers && w < n_workers; w++)
        free(job.workers[w].levels);
    for (size_t i = 0; job.pauses && i < n_items; i++)
        free(job.pauses[i].items);
    free(job.workers);
    free(job.pauses);
    if (code)
        weft_result_free(made);
    else
        *table = made;
    return code;
}
