/* SPDX-License-Identifier: MIT
 *
 * Intervals of all threads, as a table: contexts in pre-order, the longest first.
 */
#include "model/interval/interval.h"

#include "analysis/calls/calls.h"
#include "base/checked.h"
#include "base/vec.h"
#include "model/calls/scan.h"

#include <stdlib.h>

/* What a context takes until the table is made, with what the search for it takes, and more than
 * that: it is found in one of half as many. */
enum { CONTEXT_BYTES = 640, CONTEXTS_LEAST = 256 };

/* A context while it is put in order. */
struct entry {
    uint32_t parent; /* 0: root, else context + 1 */
    uint32_t context;
    uint64_t sum_ns;
    uint32_t function_id;
};

struct worker {
    struct weft_interval_reader *reader;
    struct {
        struct entry *items; /* by parent, then rank */
        size_t n, cap;
    } entries;
    struct {
        uint32_t *items; /* by context + 1: first of its callees in entries */
        size_t n, cap;
    } first;
    struct {
        uint32_t *items; /* by depth: next entry to emit */
        size_t n, cap;
    } next;
};

struct job {
    const struct weft_trace *trace;
    const struct weft_thread_filter *filter;
    const struct weft_interval_opts *opts;
    size_t max_contexts; /* of a thread; 0: any number */
    struct worker *workers;
    struct weft_interval_thread *threads; /* by item; rows are heap blocks until the end */
};

static int by_rank(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->sum_ns != y->sum_ns)
        return x->sum_ns > y->sum_ns ? -1 : 1;
    return (x->function_id > y->function_id) - (x->function_id < y->function_id);
}

/* Siblings next to each other, the longest first. */
static bool sort_entries(struct worker *worker, const struct weft_interval *interval)
{
    size_t n = interval->n_contexts;
    if (!weft_vec_reserve(&worker->entries.items, &worker->entries.cap, n + 1,
                          sizeof *worker->entries.items) ||
        !weft_vec_reserve(&worker->first.items, &worker->first.cap, n + 2,
                          sizeof *worker->first.items) ||
        !weft_vec_reserve(&worker->next.items, &worker->next.cap, n + 2,
                          sizeof *worker->next.items))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct weft_interval_context *context = &interval->contexts[i];
        worker->entries.items[i] = (struct entry){
            .parent = context->parent == WEFT_ID_NONE ? 0 : context->parent + 1,
            .context = (uint32_t)i,
            .sum_ns = context->sum_ns,
            .function_id = context->function_id,
        };
    }
    qsort(worker->entries.items, n, sizeof *worker->entries.items, by_rank);
    for (size_t parent = 0, at = 0; parent <= n + 1; parent++) {
        worker->first.items[parent] = (uint32_t)at;
        while (at < n && worker->entries.items[at].parent == parent)
            at++;
    }
    return true;
}

/* The rows in pre-order. */
static void emit_rows(struct worker *worker, const struct weft_interval *interval,
                      struct weft_interval_row *rows)
{
    const struct entry *entries = worker->entries.items;
    uint32_t *next = worker->next.items, *first = worker->first.items;
    uint32_t depth = 0, row_above = WEFT_ID_NONE;
    next[0] = first[0];
    uint32_t parent = 0;
    for (uint32_t n = 0; n < interval->n_contexts;) {
        if (next[depth] == first[parent + 1]) { /* all callees of this one are out */
            parent = entries[next[--depth] - 1].parent;
            row_above = rows[row_above].parent;
            continue;
        }
        uint32_t context = entries[next[depth]++].context;
        const struct weft_interval_context *from = &interval->contexts[context];
        rows[n] = (struct weft_interval_row){
            .function_id = from->function_id,
            .depth = depth,
            .parent = row_above,
            .count = from->count,
            .sum_ns = from->sum_ns,
            .self_ns = from->self_ns,
            .folded_calls = from->folded_calls,
            .folded_ns = from->folded_ns,
        };
        row_above = n++;
        parent = context + 1;
        next[++depth] = first[parent];
    }
}

static enum weft_code run_item(void *context, size_t item, unsigned index, struct weft_err *err)
{
    struct job *job = context;
    struct worker *worker = &job->workers[index];
    struct weft_interval_thread *thread = &job->threads[item];
    const struct weft_thread_filter *filter = job->filter;
    thread->thread_id =
        weft_scan_thread_id(filter ? filter->ids : NULL, filter ? filter->n_ids : 0, item);
    if (!worker->reader)
        worker->reader = weft_interval_reader_new(job->trace);
    if (!worker->reader)
        return weft_no_memory(err, "an interval");
    weft_interval_reader_limit(worker->reader, job->max_contexts);
    struct weft_interval interval;
    enum weft_code code = weft_interval_cct(worker->reader, thread->thread_id, job->opts->from_ns,
                                            job->opts->to_ns, &interval, err);
    if (code)
        return code;
    thread->rows = malloc((interval.n_contexts + 1) * sizeof *thread->rows);
    if (!thread->rows || !sort_entries(worker, &interval))
        return weft_no_memory(err, "an interval");
    emit_rows(worker, &interval, thread->rows);
    thread->n_rows = interval.n_contexts;
    thread->calls = interval.calls;
    thread->folded_calls = interval.folded_calls;
    thread->folded_ns = interval.folded_ns;
    thread->no_call_ns = interval.no_call_ns;
    thread->outside_ns = interval.outside_ns;
    return WEFT_OK;
}

/* Contexts that the selected threads have if each has at most `n_max`; a thread has no more than
 * calls. */
static uint64_t count_contexts(const struct job *job, size_t n_threads, uint64_t n_max)
{
    const struct weft_thread_filter *filter = job->filter;
    uint64_t n = 0;
    for (size_t i = 0; i < n_threads; i++) {
        uint32_t id =
            weft_scan_thread_id(filter ? filter->ids : NULL, filter ? filter->n_ids : 0, i);
        const struct weft_model_thread *thread = weft_trace_thread(job->trace, id);
        n += weft_min_u64(thread->calls + thread->cut_calls, n_max);
    }
    return n;
}

/* The most contexts a thread so that all fit, whatever the number of workers; 0: no limit is
 * needed. */
static size_t share_memory(const struct job *job, size_t n_threads, uint64_t memory_bytes)
{
    const uint64_t n_most = memory_bytes / CONTEXT_BYTES;
    if (memory_bytes == 0 || count_contexts(job, n_threads, UINT32_MAX) <= n_most)
        return 0;
    uint64_t low = CONTEXTS_LEAST, high = UINT32_MAX; /* that fit: in [low, high) */
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (count_contexts(job, n_threads, middle) <= n_most)
            low = middle;
        else
            high = middle;
    }
    return (size_t)low;
}

/* Moves the rows into one arena. */
static enum weft_code make_table(struct job *job, size_t n_threads,
                                 struct weft_interval_table **result, struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_interval_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_interval_table) : NULL;
    struct weft_interval_thread *threads =
        table ? WEFT_ARENA_NEW(arena, n_threads, struct weft_interval_thread) : NULL;
    bool is_ok = threads != NULL;
    for (size_t i = 0; is_ok && i < n_threads; i++) {
        threads[i] = job->threads[i];
        threads[i].rows = WEFT_ARENA_NEW(arena, threads[i].n_rows, struct weft_interval_row);
        is_ok = threads[i].rows != NULL;
        if (is_ok && threads[i].n_rows)
            memcpy(threads[i].rows, job->threads[i].rows,
                   threads[i].n_rows * sizeof *threads[i].rows);
    }
    if (!is_ok) {
        if (arena)
            weft_arena_free(arena);
        return weft_no_memory(err, "an interval");
    }
    *table = (struct weft_interval_table){
        .arena = arena,
        .from_ns = job->opts->from_ns,
        .to_ns = job->opts->to_ns,
        .threads = threads,
        .n_threads = n_threads,
    };
    *result = table;
    return WEFT_OK;
}

static void job_fini(struct job *job, unsigned n_workers, size_t n_threads)
{
    for (unsigned w = 0; job->workers && w < n_workers; w++) {
        weft_interval_reader_free(job->workers[w].reader);
        WEFT_VEC_FINI(&job->workers[w].entries);
        WEFT_VEC_FINI(&job->workers[w].first);
        WEFT_VEC_FINI(&job->workers[w].next);
    }
    for (size_t i = 0; job->threads && i < n_threads; i++)
        free(job->threads[i].rows);
    free(job->workers);
    free(job->threads);
}

enum weft_code weft_interval_run(const struct weft_trace *trace,
                                 const struct weft_thread_filter *filter,
                                 const struct weft_interval_opts *opts, const struct weft_run *run,
                                 struct weft_interval_table **table, struct weft_err *err)
{
    const uint32_t *ids = filter ? filter->ids : NULL;
    size_t n_ids = filter ? filter->n_ids : 0;
    *table = NULL;
    enum weft_code code = weft_scan_check(trace, ids, n_ids, err);
    if (!code && opts->from_ns > opts->to_ns)
        code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected an interval that ends after its start");
    if (code)
        return code;
    unsigned n_workers = weft_pool_workers(run->pool);
    size_t n_threads = weft_scan_n_threads(trace, ids, n_ids);
    struct job job = {
        .trace = trace,
        .filter = filter,
        .opts = opts,
        .workers = calloc(n_workers, sizeof *job.workers),
        .threads = calloc(n_threads + 1, sizeof *job.threads),
    };
    job.max_contexts = share_memory(&job, n_threads, run->memory_bytes);
    if (!job.workers || !job.threads)
        code = weft_no_memory(err, "an interval");
    if (!code)
        code = weft_pool_run(run->pool, n_threads, run_item, &job, run->progress, err);
    if (!code)
        code = make_table(&job, n_threads, table, err);
    job_fini(&job, n_workers, n_threads);
    return code;
}
