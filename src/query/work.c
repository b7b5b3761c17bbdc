/* SPDX-License-Identifier: MIT
 *
 * One scan over the calls of the wanted functions, each assigned to its execution by binary search;
 * counters are atomic, as threads are scanned in parallel. `weft diagnose` compares the counts of
 * slow and usual executions.
 */
#include "query/work.h"

#include "base/search.h"
#include "model/calls/scan.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* An execution, in order of thread and begin. Threads of several hosts may share a tid: then the
 * name tells them apart, if they have different ones. */
struct place {
    uint64_t tid;
    struct weft_str name;
    uint64_t start_ns, end_ns;
    size_t item;
};

struct sums {
    _Atomic uint64_t calls, ns; /* threads may share a number, one after the other */
};

struct work_job {
    struct place *places;
    size_t n_places;
    bool *is_wanted; /* by function */
    struct sums *sums;
};

static int by_thread(const struct place *x, const struct place *y)
{
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return weft_str_compare(x->name, y->name);
}

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    const int order = by_thread(x, y);
    if (order)
        return order;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* Executions of a thread. */
struct own {
    const struct place *items;
    size_t n;
};

static struct own places_of(const struct work_job *job, const struct weft_thread_info *info)
{
    const struct place asked = { .tid = info->tid, .name = info->name };
    size_t first, end;
    WEFT_SEARCH(first, job->n_places, by_thread(&job->places[first], &asked) < 0);
    WEFT_SEARCH(end, job->n_places, by_thread(&job->places[end], &asked) <= 0);
    return (struct own){ job->places + first, end - first };
}

/* The last execution that begins at `start_ns` or before; NULL: none does. */
static const struct place *place_of(const struct own *own, uint64_t start_ns)
{
    size_t next;
    WEFT_SEARCH(next, own->n, own->items[next].start_ns <= start_ns);
    return next > 0 ? &own->items[next - 1] : NULL;
}

static void count_call(const struct work_job *job, const struct own *own, uint64_t start_ns,
                       uint64_t end_ns)
{
    const struct place *place = place_of(own, start_ns);
    if (!place || end_ns > place->end_ns)
        return;
    (void)atomic_fetch_add_explicit(&job->sums[place->item].calls, 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&job->sums[place->item].ns, end_ns - start_ns,
                                    memory_order_relaxed);
}

static enum weft_code count_thread(void *context, struct weft_scan *scan, unsigned worker,
                                   struct weft_err *err)
{
    const struct work_job *job = context;
    const struct own own = places_of(job, &weft_trace_thread(scan->trace, scan->thread_id)->info);
    const struct weft_calls *calls = NULL;
    enum weft_code code = WEFT_OK;
    (void)worker;
    while (code == WEFT_OK && (code = weft_scan_next(scan, &calls, err)) == WEFT_OK && calls)
        for (size_t i = 0; i < calls->n_rows; i++)
            if (job->is_wanted[calls->function_id[i]])
                count_call(job, &own, calls->start_ns[i], calls->end_ns[i]);
    return code;
}

static bool job_init(struct work_job *job, const struct weft_trace *trace,
                     const struct weft_ecct_matrix *matrix, struct weft_str function)
{
    const uint32_t n_functions = weft_trace_n_functions(trace);
    *job = (struct work_job){ .places = calloc(matrix->n_items + 1, sizeof *job->places),
                              .n_places = matrix->n_items,
                              .is_wanted = calloc((size_t)n_functions + 1, sizeof(bool)),
                              .sums = calloc(matrix->n_items + 1, sizeof *job->sums) };
    if (!job->places || !job->is_wanted || !job->sums)
        return false;
    for (uint32_t f = 0; f < n_functions; f++)
        job->is_wanted[f] = weft_str_equal(weft_trace_function(trace, f)->name, function);
    for (size_t i = 0; i < matrix->n_items; i++) {
        const struct weft_execution_item *item = &matrix->items[i];
        job->places[i] = (struct place){ item->tid, item->thread, item->start_ns, item->end_ns, i };
    }
    qsort(job->places, job->n_places, sizeof *job->places, by_place);
    return true;
}

static void job_fini(struct work_job *job)
{
    free(job->places);
    free(job->is_wanted);
    free(job->sums);
}

enum weft_code weft_work_count(const struct weft_trace *trace,
                               const struct weft_ecct_matrix *matrix, struct weft_str function,
                               const struct weft_run *run, struct weft_work_done **done,
                               struct weft_err *err)
{
    struct work_job job;
    struct weft_work_done *counted = calloc(matrix->n_items + 1, sizeof *counted);
    enum weft_code code = job_init(&job, trace, matrix, function) && counted
                              ? WEFT_OK
                              : weft_no_memory(err, "counts of calls");
    WEFT_THEN(code, weft_scan_threads(trace, NULL, 0, NULL, run, count_thread, &job, err));
    for (size_t i = 0; code == WEFT_OK && i < matrix->n_items; i++) {
        counted[i].calls = atomic_load_explicit(&job.sums[i].calls, memory_order_relaxed);
        counted[i].ns = atomic_load_explicit(&job.sums[i].ns, memory_order_relaxed);
    }
    job_fini(&job);
    if (code != WEFT_OK) {
        free(counted);
        counted = NULL;
    }
    *done = counted;
    return code;
}
