/* SPDX-License-Identifier: MIT */
#include "analysis/execution_metrics.h"

#include "analysis/execution_bytes.h"
#include "analysis/execution_counters.h"
#include "analysis/execution_sums.h"
#include "base/vec.h"
#include "model/events.h"
#include "model/graph_trace.h"
#include "model/states.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    CPU_TIME,
    PREEMPTIONS,
    PAGE_FAULTS,
    BYTES_READ,
    BYTES_WRITTEN,
    LOCK_WAITS,
    LOCK_WAIT,
    N_METRICS,
    LOST = N_METRICS, /* not a metric, but a flag */
    N_SUMS,
};

/* A request of a lock that is granted sooner had not to wait. */
enum { LOCK_WAIT_LEAST_NS = 1000 };

static const struct {
    const char *name;
    enum weft_metric_unit unit;
} metrics[N_METRICS] = {
    [CPU_TIME] = { "cpu_time", WEFT_METRIC_NS },
    [PREEMPTIONS] = { "preemptions", WEFT_METRIC_COUNT },
    [PAGE_FAULTS] = { "page_faults", WEFT_METRIC_COUNT },
    [BYTES_READ] = { "bytes_read", WEFT_METRIC_BYTES },
    [BYTES_WRITTEN] = { "bytes_written", WEFT_METRIC_BYTES },
    [LOCK_WAITS] = { "lock_waits", WEFT_METRIC_COUNT },
    [LOCK_WAIT] = { "lock_wait", WEFT_METRIC_NS },
};

struct job {
    const struct weft_trace *trace;
    struct weft_executions_table *table;
    uint32_t *threads; /* that have executions, ascending */
    size_t n_threads;
    size_t *starts; /* n_threads + 1: their rows are rows[starts[i]] ... */
    size_t *rows;
    double *values[N_METRICS]; /* by row */
    bool has_locks;            /* events of a lock library tell of waits; else futex calls do */
    uint64_t memory_bytes;     /* of a worker's history */
    struct weft_history **histories; /* by worker */
    _Atomic uint32_t known;          /* bit k: something was seen of sum k */
};

/* A lock that was asked for. */
struct request {
    uint32_t object_id;
    uint64_t at_ns;
};

/* The thread in work. */
struct work {
    struct job *job;
    struct weft_err *err;
    uint32_t thread_id;
    struct weft_sum_borders borders;
    struct weft_sums sums[N_SUMS];
    bool has_states;
    bool has_told_bytes; /* calls told of bytes: system calls are the same ones again */
    struct {
        struct request *items;
        size_t n, cap;
    } requests;
};

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for metrics of executions");
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool is_one_of(struct weft_str name, const char *const *names)
{
    for (; *names; names++)
        if (weft_str_equal(name, weft_str_of(*names)))
            return true;
    return false;
}

static enum weft_code add(struct work *work, unsigned sum, uint64_t at_ns, uint64_t amount)
{
    return weft_sums_add(&work->sums[sum], &work->borders, at_ns, amount) ? WEFT_OK
                                                                          : no_memory(work->err);
}

static enum weft_code add_time(struct work *work, unsigned sum, uint64_t start_ns, uint64_t end_ns)
{
    return weft_sums_add_time(&work->sums[sum], &work->borders, start_ns, end_ns)
               ? WEFT_OK
               : no_memory(work->err);
}

static enum weft_code add_bytes(void *context, enum weft_bytes_way way, uint64_t at_ns,
                                uint64_t n_bytes, struct weft_err *err)
{
    (void)err;
    return add(context, way == WEFT_BYTES_READ ? BYTES_READ : BYTES_WRITTEN, at_ns, n_bytes);
}

/* What a call that moves bytes returned is how many. */
static enum weft_code see_syscall(struct work *work, const struct weft_event *event)
{
    const enum weft_bytes_way way = weft_bytes_way_of(event->name);
    const int64_t n_bytes = (int64_t)event->value;
    if (way == WEFT_BYTES_NONE || work->has_told_bytes)
        return WEFT_OK;
    return add_bytes(work, way, event->time_ns, n_bytes > 0 ? (uint64_t)n_bytes : 0, work->err);
}

static bool contains(struct weft_str text, const char *part)
{
    return text.n_bytes && memmem(text.bytes, text.n_bytes, part, strlen(part));
}

static enum weft_code see_point(struct work *work, const struct weft_event *event)
{
    if (contains(event->name, "page_fault") || contains(event->name, "page-fault") ||
        weft_str_equal(event->name, WEFT_STR("page fault")))
        return add(work, PAGE_FAULTS, event->time_ns, 1);
    if (weft_str_equal(event->category, WEFT_STR("recording")) &&
        weft_str_equal(event->name, WEFT_STR("records lost")))
        return add(work, LOST, event->time_ns, 1);
    return WEFT_OK;
}

/* perf's own counters of faults are samples that stand for so many. */
static enum weft_code see_sample(struct work *work, const struct weft_event *event)
{
    static const char *const faults[] = { "page-faults", "minor-faults", "major-faults", "faults",
                                          NULL };
    return is_one_of(event->category, faults)
               ? add(work, PAGE_FAULTS, event->time_ns, event->value ? event->value : 1)
               : WEFT_OK;
}

static enum weft_code wait_for_lock(struct work *work, uint64_t start_ns, uint64_t end_ns)
{
    enum weft_code code = add(work, LOCK_WAITS, start_ns, 1);
    return code == WEFT_OK ? add_time(work, LOCK_WAIT, start_ns, end_ns) : code;
}

/* From a request to what answers it, on one thread. */
static enum weft_code see_lock(struct work *work, const struct weft_event *event)
{
    if (event->kind == WEFT_EVENT_LOCK_REQUEST) {
        struct request *request = WEFT_VEC_PUSH(&work->requests);
        if (!request)
            return no_memory(work->err);
        *request = (struct request){ event->object_id, event->time_ns };
        return WEFT_OK;
    }
    for (size_t i = work->requests.n; i-- > 0;) {
        const struct request request = work->requests.items[i];
        if (request.object_id != event->object_id)
            continue;
        work->requests.n = i; /* what was asked for later and never granted is forgotten */
        return event->time_ns >= request.at_ns + LOCK_WAIT_LEAST_NS
                   ? wait_for_lock(work, request.at_ns, event->time_ns)
                   : WEFT_OK;
    }
    return WEFT_OK;
}

static enum weft_code see_event(struct work *work, const struct weft_event *event)
{
    switch (event->kind) {
    case WEFT_EVENT_SYSCALL_EXIT:
        return see_syscall(work, event);
    case WEFT_EVENT_INSTANT:
        return see_point(work, event);
    case WEFT_EVENT_SAMPLE:
        return see_sample(work, event);
    default:
        return see_lock(work, event);
    }
}

static enum weft_code read_bytes(struct work *work)
{
    if (weft_trace_meta(work->job->trace)->events_of_kind[WEFT_EVENT_CALL_ARGS] == 0)
        return WEFT_OK;
    const enum weft_code code =
        weft_execution_bytes_read(work->job->trace, work->thread_id, add_bytes, work, work->err);
    work->has_told_bytes = work->sums[BYTES_READ].whole || work->sums[BYTES_WRITTEN].whole;
    return code;
}

static enum weft_code read_events(struct work *work)
{
    const uint32_t kinds = 1U << WEFT_EVENT_SYSCALL_EXIT | 1U << WEFT_EVENT_INSTANT |
                           1U << WEFT_EVENT_SAMPLE | 1U << WEFT_EVENT_LOCK_REQUEST |
                           1U << WEFT_EVENT_LOCK_ACQUIRED;
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    enum weft_code code = weft_events_open(work->job->trace, work->thread_id, kinds, 0, UINT64_MAX,
                                           &events, work->err);
    while (code == WEFT_OK && (code = weft_events_next(events, &event, work->err)) == WEFT_OK &&
           event)
        code = see_event(work, event);
    weft_events_close(events);
    return code;
}

/* ---- states ---------------------------------------------------------------------------------- */

static enum weft_code see_state(struct work *work, const struct weft_state *state)
{
    if (state->kind == WEFT_STATE_RUNNING_USER || state->kind == WEFT_STATE_RUNNING_KERNEL)
        return add_time(work, CPU_TIME, state->start_ns, state->end_ns);
    if (state->kind == WEFT_STATE_PREEMPTED && !(state->flags & WEFT_STATE_WOKEN))
        return add(work, PREEMPTIONS, state->start_ns, 1);
    if (state->kind == WEFT_STATE_BLOCKED && !work->job->has_locks &&
        weft_event_is_futex(state->name))
        return wait_for_lock(work, state->start_ns, state->end_ns);
    return WEFT_OK;
}

static enum weft_code read_states(struct work *work, struct weft_history *history)
{
    const struct weft_sum_borders *borders = &work->borders;
    struct weft_states *states = NULL;
    const struct weft_state *state = NULL;
    uint64_t first_ns, last_ns;
    enum weft_code code =
        weft_history_life(history, work->thread_id, &first_ns, &last_ns, work->err);
    work->has_states = code == WEFT_OK && last_ns > 0 && weft_trace_has_switches(work->job->trace);
    if (!work->has_states)
        return code;
    code = add_time(work, CPU_TIME, 0, 0); /* known, though it may be none */
    if (code == WEFT_OK)
        code = add(work, PREEMPTIONS, UINT64_MAX, 0);
    if (code == WEFT_OK)
        code = weft_states_open(history, work->thread_id, borders->ns[0],
                                borders->ns[borders->n - 1], &states, work->err);
    while (code == WEFT_OK && (code = weft_states_next(states, &state, work->err)) == WEFT_OK &&
           state)
        code = see_state(work, state);
    weft_states_close(states);
    return code;
}

/* ---- a thread -------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool make_borders(struct work *work, const size_t *rows, size_t n_rows)
{
    struct weft_sum_borders *borders = &work->borders;
    borders->ns = calloc(2 * n_rows, sizeof *borders->ns);
    if (!borders->ns)
        return false;
    for (size_t i = 0; i < n_rows; i++) {
        borders->ns[2 * i] = work->job->table->rows[rows[i]].start_ns;
        borders->ns[2 * i + 1] = work->job->table->rows[rows[i]].end_ns;
    }
    qsort(borders->ns, 2 * n_rows, sizeof *borders->ns, by_number);
    for (size_t i = 0; i < 2 * n_rows; i++)
        if (i == 0 || borders->ns[i] != borders->ns[borders->n - 1])
            borders->ns[borders->n++] = borders->ns[i];
    return true;
}

static void put_values(struct work *work, const size_t *rows, size_t n_rows)
{
    struct job *job = work->job;
    uint32_t known = 0;
    for (unsigned m = 0; m < N_SUMS; m++)
        known |= work->sums[m].whole ? 1U << m : 0;
    atomic_fetch_or(&job->known, known);
    for (size_t i = 0; i < n_rows; i++) {
        struct weft_execution_row *row = &job->table->rows[rows[i]];
        for (unsigned m = 0; m < N_METRICS; m++) {
            const uint64_t value =
                weft_sums_get(&work->sums[m], &work->borders, row->start_ns, row->end_ns);
            if (value) /* pages of metrics that nothing tells of stay unused */
                job->values[m][rows[i]] = (double)value;
        }
        if (!work->has_states)
            job->values[CPU_TIME][rows[i]] = job->values[PREEMPTIONS][rows[i]] = (double)NAN;
        if (weft_sums_get(&work->sums[LOST], &work->borders, row->start_ns, row->end_ns))
            row->flags |= WEFT_EXECUTION_LOSSY;
    }
}

static enum weft_code history_of(struct job *job, unsigned worker, struct weft_err *err)
{
    return job->histories[worker]
               ? WEFT_OK
               : weft_history_open(job->trace, job->memory_bytes, &job->histories[worker], err);
}

static enum weft_code run_item(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    struct job *job = context;
    const size_t *rows = job->rows + job->starts[item];
    const size_t n_rows = job->starts[item + 1] - job->starts[item];
    struct work work = { .job = job, .err = err, .thread_id = job->threads[item] };
    enum weft_code code = make_borders(&work, rows, n_rows) ? WEFT_OK : no_memory(err);
    if (code == WEFT_OK)
        code = read_bytes(&work);
    if (code == WEFT_OK)
        code = read_events(&work);
    if (code == WEFT_OK)
        code = history_of(job, worker, err);
    if (code == WEFT_OK)
        code = read_states(&work, job->histories[worker]);
    if (code == WEFT_OK)
        put_values(&work, rows, n_rows);
    for (unsigned m = 0; m < N_SUMS; m++)
        weft_sums_fini(&work.sums[m]);
    WEFT_VEC_FINI(&work.requests);
    free(work.borders.ns);
    return code;
}

/* ---- all threads ----------------------------------------------------------------------------- */

/* The rows of each thread. */
static bool list_rows(struct job *job)
{
    const struct weft_executions_table *table = job->table;
    const uint32_t n_all = weft_trace_n_threads(job->trace);
    size_t *counts = calloc((size_t)n_all + 1, sizeof *counts);
    job->threads = calloc((size_t)n_all + 1, sizeof *job->threads);
    job->starts = calloc((size_t)n_all + 2, sizeof *job->starts);
    job->rows = calloc(table->n_rows + 1, sizeof *job->rows);
    const bool is_ok = counts && job->threads && job->starts && job->rows;
    for (size_t i = 0; is_ok && i < table->n_rows; i++)
        counts[table->rows[i].thread_id]++;
    for (uint32_t id = 0; is_ok && id < n_all; id++) {
        const size_t n = counts[id];
        counts[id] = job->starts[job->n_threads];
        if (n == 0)
            continue;
        job->threads[job->n_threads++] = id;
        job->starts[job->n_threads] = counts[id] + n;
    }
    for (size_t i = 0; is_ok && i < table->n_rows; i++)
        job->rows[counts[table->rows[i].thread_id]++] = i;
    free(counts);
    return is_ok;
}

static enum weft_code job_init(struct job *job, const struct weft_run *run, struct weft_err *err)
{
    const unsigned n_workers = weft_pool_workers(run->pool);
    const uint64_t *of_kind = weft_trace_meta(job->trace)->events_of_kind;
    job->memory_bytes = run->memory_bytes / 4 / n_workers;
    job->has_locks = of_kind[WEFT_EVENT_LOCK_REQUEST] > 0;
    job->histories = calloc(n_workers, sizeof *job->histories);
    bool is_ok = job->histories && list_rows(job);
    for (unsigned m = 0; m < N_METRICS && is_ok; m++)
        is_ok = (job->values[m] = calloc(job->table->n_rows + 1, sizeof **job->values)) != NULL;
    return is_ok ? WEFT_OK : no_memory(err);
}

static void job_fini(struct job *job, unsigned n_workers)
{
    for (unsigned w = 0; job->histories && w < n_workers; w++)
        weft_history_close(job->histories[w]);
    for (unsigned m = 0; m < N_METRICS; m++)
        free(job->values[m]);
    free(job->histories);
    free(job->threads);
    free(job->starts);
    free(job->rows);
}

/* Metrics of which nothing is known anywhere are left out. */
static enum weft_code keep_values(struct job *job, struct weft_err *err)
{
    struct weft_executions_table *table = job->table;
    for (unsigned m = 0; m < N_METRICS; m++) {
        if (!(job->known >> m & 1))
            continue;
        double *values =
            weft_executions_add_metric(table, weft_str_of(metrics[m].name), metrics[m].unit);
        if (!values)
            return no_memory(err);
        if (table->n_rows)
            memcpy(values, job->values[m], table->n_rows * sizeof *values);
        free(job->values[m]);
        job->values[m] = NULL;
    }
    return WEFT_OK;
}

enum weft_code weft_execution_metrics_add(const struct weft_trace *trace,
                                          const struct weft_execution_rule *types,
                                          struct weft_executions_table *table,
                                          const struct weft_run *run, struct weft_err *err)
{
    struct job job = { .trace = trace, .table = table };
    if (weft_trace_meta(trace)->events == 0 || table->n_rows == 0)
        return WEFT_OK;
    enum weft_code code = job_init(&job, run, err);
    weft_progress_start(run->progress, "metrics", "threads", job.n_threads);
    if (code == WEFT_OK)
        code = weft_pool_run(run->pool, job.n_threads, run_item, &job, run->progress, err);
    if (code == WEFT_OK)
        code = keep_values(&job, err);
    job_fini(&job, weft_pool_workers(run->pool));
    return code == WEFT_OK ? weft_execution_counters_add(trace, types, table, run, err) : code;
}
