/* SPDX-License-Identifier: MIT
 *
 * Each thread is read in windows of time (execution_window.h), and its values are written one after
 * the other, thread by thread; in the end they are brought to the order of the table.
 */
#include "analysis/executions/metrics.h"

#include "analysis/executions/bytes.h"
#include "analysis/executions/counters.h"
#include "analysis/executions/window.h"
#include "base/checked.h"
#include "base/sort.h"
#include "base/vec.h"
#include "model/events.h"
#include "model/graph/trace.h"
#include "model/states/states.h"
#include "model/trace.h"
#include "schema/executions.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- waits ----------------------------------------------------------------------------------- */

/* Waits for locks of one thread, as a lock library records them: from a request to what answers
 * it. In order of their start, where events record them at their end: those between lie in a
 * sorter. Pairs lock requests with their acquisitions or failures; a stack of open requests
 * suffices, as a thread awaits one lock at a time. Waits go through a bounded external sorter,
 * because events record them at their end. */

/* A request of a lock that is granted sooner had not to wait. */
enum { WEFT_LOCK_WAIT_LEAST_NS = 1000 };

struct weft_lock_wait {
    uint64_t start_ns, end_ns;
};

/* All zero has none. */
struct weft_execution_waits {
    struct weft_sorter *sorter;
    struct weft_sort_reader *reader;
    const struct weft_sort_record *records;
    size_t n_records, at;
};

enum { SORTER_BYTES = 4 << 20 };

/* A lock that was asked for. */
struct request {
    uint32_t object_id;
    uint64_t at_ns;
};

struct requests {
    struct request *items;
    size_t n, cap;
};

static void weft_execution_waits_fini(struct weft_execution_waits *waits)
{
    weft_sort_reader_close(waits->reader);
    weft_sorter_free(waits->sorter);
    *waits = (struct weft_execution_waits){ 0 };
}

static enum weft_code add_wait(struct weft_execution_waits *waits, uint64_t start_ns,
                               uint64_t end_ns, struct weft_err *err)
{
    const struct weft_sort_record record = { .key = start_ns, .words = { end_ns } };
    if (!waits->sorter)
        waits->sorter = weft_sorter_new(SORTER_BYTES);
    return waits->sorter ? weft_sorter_add(waits->sorter, 0, &record, err)
                         : weft_no_memory(err, "waits of executions");
}

static enum weft_code see_lock(struct weft_execution_waits *waits, struct requests *requests,
                               const struct weft_event *event, struct weft_err *err)
{
    if (event->kind == WEFT_EVENT_LOCK_REQUEST) {
        struct request *request = WEFT_VEC_PUSH(requests);
        if (!request)
            return weft_no_memory(err, "waits of executions");
        *request = (struct request){ event->object_id, event->time_ns };
        return WEFT_OK;
    }
    for (size_t i = requests->n; i-- > 0;) {
        const struct request request = requests->items[i];
        if (request.object_id != event->object_id)
            continue;
        requests->n = i; /* what was asked for later and never granted is forgotten */
        return event->time_ns >= request.at_ns + WEFT_LOCK_WAIT_LEAST_NS
                   ? add_wait(waits, request.at_ns, event->time_ns, err)
                   : WEFT_OK;
    }
    return WEFT_OK;
}

/* Reads the thread's events of locks. Memory: requests that are open, and 4 MB of waits. Fails as
 * loading blocks does, and sorting. */
static enum weft_code weft_execution_waits_read(struct weft_execution_waits *waits,
                                                const struct weft_trace *trace, uint32_t thread_id,
                                                struct weft_err *err)
{
    const uint32_t kinds = UINT32_C(1) << WEFT_EVENT_LOCK_REQUEST |
                           UINT32_C(1) << WEFT_EVENT_LOCK_ACQUIRED |
                           UINT32_C(1) << WEFT_EVENT_LOCK_FAILED;
    struct requests requests = { 0 };
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    *waits = (struct weft_execution_waits){ 0 };
    if (weft_trace_meta(trace)->events_of_kind[WEFT_EVENT_LOCK_REQUEST] == 0)
        return WEFT_OK;
    enum weft_code code = weft_events_open(trace, thread_id, kinds, 0, UINT64_MAX, &events, err);
    while (code == WEFT_OK && (code = weft_events_next(events, &event, err)) == WEFT_OK && event)
        code = see_lock(waits, &requests, event, err);
    weft_events_close(events);
    WEFT_VEC_FINI(&requests);
    return code == WEFT_OK && waits->sorter
               ? weft_sort_reader_open(waits->sorter, 0, &waits->reader, err)
               : code;
}

/* The next wait, if it begins before before_ns. */
static enum weft_code weft_execution_waits_next(struct weft_execution_waits *waits,
                                                uint64_t before_ns, struct weft_lock_wait *wait,
                                                bool *is_there, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    *is_there = false;
    if (waits->reader && waits->at == waits->n_records) {
        waits->at = 0;
        code = weft_sort_reader_next(waits->reader, &waits->records, &waits->n_records, err);
    }
    if (code != WEFT_OK || waits->at == waits->n_records ||
        waits->records[waits->at].key >= before_ns)
        return code;
    *wait = (struct weft_lock_wait){ waits->records[waits->at].key,
                                     waits->records[waits->at].words[0] };
    waits->at++;
    *is_there = true;
    return WEFT_OK;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* The executions of a table thread by thread, and values of them from that order back to the
 * table's: so that all of a thread are read, and written, one after the other. A counting sort of
 * rows by thread, in arrays that may lie in files. Pages are released after so many rows, since
 * rows of a thread are spread over the whole table. */

struct weft_execution_threads {
    struct weft_spool *spool; /* the table's */
    size_t n_rows;
    uint32_t *ids; /* that have executions, ascending */
    size_t n;
    size_t *starts;                    /* n + 1: those of ids[i] are at places starts[i] ... */
    struct weft_execution_span *spans; /* by place: of a thread in order of start */
    uint64_t *places;                  /* by row of the table */
};

/* Rows after which what was touched is let go: each may lie on another page, of which the kernel
 * maps some about it. */
enum { MOST_ROWS = 1 << 16, LEAST_ROWS = 1 << 10, PAGES = 1 << 20 };

static size_t rows_at_once(const struct weft_execution_threads *threads)
{
    const size_t n = PAGES / (threads->n + 1);
    return n > MOST_ROWS ? MOST_ROWS : n < LEAST_ROWS ? LEAST_ROWS : n;
}

static void passed(const struct weft_execution_threads *threads, size_t row, size_t at_once)
{
    if (row % at_once == at_once - 1)
        weft_spool_forget(threads->spool);
}

/* `nexts`: n_threads, zeroed; then where the next execution of each thread goes. */
static bool list_threads(struct weft_execution_threads *threads,
                         const struct weft_executions_table *table, uint32_t n_threads,
                         size_t *nexts)
{
    threads->ids = calloc((size_t)n_threads + 1, sizeof *threads->ids);
    threads->starts = calloc((size_t)n_threads + 1, sizeof *threads->starts);
    if (!threads->ids || !threads->starts)
        return false;
    for (size_t i = 0; i < table->n_rows; i++) {
        nexts[table->rows[i].thread_id]++;
        weft_executions_passed(table, i);
    }
    for (uint32_t id = 0; id < n_threads; id++) {
        const size_t n = nexts[id];
        nexts[id] = threads->starts[threads->n];
        if (n == 0)
            continue;
        threads->ids[threads->n++] = id;
        threads->starts[threads->n] = nexts[id] + n;
    }
    return true;
}

static enum weft_code make_arrays(struct weft_execution_threads *threads, struct weft_err *err)
{
    const enum weft_code code = weft_spool_array(threads->spool, threads->n_rows,
                                                 sizeof *threads->spans, &threads->spans, err);
    return code == WEFT_OK ? weft_spool_array(threads->spool, threads->n_rows,
                                              sizeof *threads->places, &threads->places, err)
                           : code;
}

/* `n_threads` of the trace. Fails as weft_spool_array does; to be finished in any case. */
static enum weft_code weft_execution_threads_init(struct weft_execution_threads *threads,
                                                  const struct weft_executions_table *table,
                                                  uint32_t n_threads, struct weft_err *err)
{
    size_t *nexts = calloc((size_t)n_threads + 1, sizeof *nexts);
    *threads = (struct weft_execution_threads){ .spool = table->spool, .n_rows = table->n_rows };
    enum weft_code code = nexts && list_threads(threads, table, n_threads, nexts)
                              ? make_arrays(threads, err)
                              : weft_no_memory(err, "threads of executions");
    const size_t at_once = rows_at_once(threads);
    for (size_t i = 0; code == WEFT_OK && i < table->n_rows; i++) {
        const struct weft_execution_row *row = &table->rows[i];
        const size_t place = nexts[row->thread_id]++;
        threads->spans[place] = (struct weft_execution_span){ row->start_ns, row->end_ns };
        threads->places[i] = place;
        passed(threads, i, at_once);
    }
    free(nexts);
    return code;
}

static void weft_execution_threads_fini(struct weft_execution_threads *threads)
{
    weft_spool_drop(threads->spool, threads->spans);
    weft_spool_drop(threads->spool, threads->places);
    free(threads->ids);
    free(threads->starts);
}

/* Values by place to values by row. */
static void weft_execution_threads_order(const struct weft_execution_threads *threads,
                                         const double *by_place, double *by_row)
{
    const size_t at_once = rows_at_once(threads);
    for (size_t i = 0; i < threads->n_rows; i++) {
        by_row[i] = by_place[threads->places[i]];
        passed(threads, i, at_once);
    }
}

/* ---- metrics --------------------------------------------------------------------------------- */

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

/* States are read in order of time: little of what was read is asked for again. */
enum { HISTORY_BYTES = 16 << 20 };

_Static_assert((int)N_SUMS == (int)WEFT_EXECUTION_SUMS, "all that are taken at once");

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

/* Values of a sum by place, made when there is one that is not 0. */
struct column {
    double *values;
};

struct job {
    const struct weft_trace *trace;
    struct weft_executions_table *table;
    struct weft_execution_threads threads;
    size_t window_rows;
    struct column columns[N_SUMS];
    pthread_mutex_t lock; /* of columns */
    bool has_switches;
    bool has_locks;        /* waits come from events of a lock library; else from futex calls */
    uint64_t memory_bytes; /* of a worker's history */
    struct weft_history **histories; /* by worker */
    _Atomic uint32_t known;          /* bit k: something was seen of sum k */
};

/* The thread in work. */
struct work {
    struct job *job;
    struct weft_err *err;
    uint32_t thread_id;
    size_t first; /* place of its first execution */
    struct weft_execution_window window;
    struct column columns[N_SUMS]; /* as far as it has asked for them */
    struct weft_execution_waits waits;
    struct {
        struct weft_lock_wait *items; /* that go on behind the window */
        size_t n, cap;
    } waiting;
    bool has_states;
    bool has_bytes; /* bytes came from calls: system calls are the same ones again */
};

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
    return weft_execution_window_add(&work->window, sum, at_ns, amount, work->err);
}

static enum weft_code add_bytes(struct work *work, enum weft_bytes_way way, uint64_t at_ns,
                                uint64_t n_bytes)
{
    return add(work, way == WEFT_BYTES_READ ? BYTES_READ : BYTES_WRITTEN, at_ns, n_bytes);
}

/* What a call that moves bytes returned is how many. */
static enum weft_code see_syscall(struct work *work, const struct weft_event *event)
{
    const enum weft_bytes_way way = weft_bytes_way_of(event->name);
    const int64_t n_bytes = (int64_t)event->value;
    if (way == WEFT_BYTES_NONE || work->has_bytes)
        return WEFT_OK;
    return add_bytes(work, way, event->time_ns, n_bytes > 0 ? (uint64_t)n_bytes : 0);
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

static enum weft_code see_event(struct work *work, const struct weft_event *event)
{
    switch (event->kind) {
    case WEFT_EVENT_SYSCALL_EXIT:
        return see_syscall(work, event);
    case WEFT_EVENT_INSTANT:
        return see_point(work, event);
    default:
        return see_sample(work, event);
    }
}

static enum weft_code read_events(struct work *work)
{
    const uint32_t kinds = UINT32_C(1) << WEFT_EVENT_SYSCALL_EXIT |
                           UINT32_C(1) << WEFT_EVENT_INSTANT | UINT32_C(1) << WEFT_EVENT_SAMPLE;
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    enum weft_code code =
        weft_events_open(work->job->trace, work->thread_id, kinds, work->window.from_ns,
                         work->window.to_ns, &events, work->err);
    while (code == WEFT_OK && (code = weft_events_next(events, &event, work->err)) == WEFT_OK &&
           event)
        code = see_event(work, event);
    weft_events_close(events);
    return code;
}

/* Reads texts until to_ns, or until something is found if it is only asked whether there is
 * anything. */
static enum weft_code read_told(struct work *work, uint64_t from_ns, uint64_t to_ns, bool is_asked)
{
    struct weft_bytes_reader *reader = NULL;
    struct weft_bytes_moved moved = { WEFT_BYTES_NONE, 0, 0 };
    enum weft_code code = weft_bytes_reader_open(work->job->trace, work->thread_id, from_ns, to_ns,
                                                 &reader, work->err);
    while (code == WEFT_OK &&
           (code = weft_bytes_reader_next(reader, &moved, work->err)) == WEFT_OK &&
           moved.way != WEFT_BYTES_NONE && !is_asked)
        code = add_bytes(work, moved.way, moved.at_ns, moved.n_bytes);
    work->has_bytes |= moved.way != WEFT_BYTES_NONE;
    weft_bytes_reader_close(reader);
    return code;
}

static enum weft_code read_bytes(struct work *work)
{
    return work->has_bytes ? read_told(work, work->window.from_ns, work->window.to_ns, false)
                           : WEFT_OK;
}

/* ---- locks ----------------------------------------------------------------------------------- */

static enum weft_code wait_for_lock(struct work *work, uint64_t start_ns, uint64_t end_ns)
{
    const enum weft_code code = add(work, LOCK_WAITS, start_ns, 1);
    return code == WEFT_OK ? weft_execution_window_add_time(&work->window, LOCK_WAIT, start_ns,
                                                            end_ns, work->err)
                           : code;
}

/* Those of former windows that are not over. */
static enum weft_code wait_on(struct work *work)
{
    enum weft_code code = WEFT_OK;
    size_t n = 0;
    for (size_t i = 0; i < work->waiting.n && code == WEFT_OK; i++) {
        const struct weft_lock_wait wait = work->waiting.items[i];
        code = wait_for_lock(work, wait.start_ns, wait.end_ns);
        if (wait.end_ns > work->window.to_ns)
            work->waiting.items[n++] = wait;
    }
    work->waiting.n = n;
    return code;
}

static enum weft_code read_locks(struct work *work)
{
    struct weft_lock_wait wait;
    bool is_there = true;
    enum weft_code code = wait_on(work);
    while (code == WEFT_OK &&
           (code = weft_execution_waits_next(&work->waits, work->window.to_ns, &wait, &is_there,
                                             work->err)) == WEFT_OK &&
           is_there) {
        struct weft_lock_wait *waiting =
            wait.end_ns > work->window.to_ns ? WEFT_VEC_PUSH(&work->waiting) : &wait;
        if (!waiting)
            return weft_no_memory(work->err, "metrics of executions");
        *waiting = wait;
        code = wait_for_lock(work, wait.start_ns, wait.end_ns);
    }
    return code;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* By the thread's own clock, if the trace has that: what it is ahead of the state counts at its
 * end, and what it is behind is left out there. */
static enum weft_code run_on_cpu(struct work *work, const struct weft_state *state)
{
    const uint64_t length_ns = state->end_ns - state->start_ns;
    const uint64_t cpu_ns = weft_state_cpu_ns(state, state->start_ns, state->end_ns);
    const uint64_t end_ns = state->start_ns + weft_min_u64(cpu_ns, length_ns);
    enum weft_code code = WEFT_OK;
    if (end_ns > state->start_ns)
        code = weft_execution_window_add_time(&work->window, CPU_TIME, state->start_ns, end_ns,
                                              work->err);
    return code == WEFT_OK && cpu_ns > length_ns
               ? add(work, CPU_TIME, state->end_ns - 1, cpu_ns - length_ns)
               : code;
}

static enum weft_code see_state(struct work *work, const struct weft_state *state)
{
    if (weft_state_is_on_cpu(state->kind))
        return run_on_cpu(work, state);
    if (state->kind == WEFT_STATE_PREEMPTED && !(state->flags & WEFT_STATE_WOKEN))
        return add(work, PREEMPTIONS, state->start_ns, 1);
    if (state->kind == WEFT_STATE_BLOCKED && !work->job->has_locks &&
        weft_event_is_futex(state->name))
        return wait_for_lock(work, state->start_ns, state->end_ns);
    return WEFT_OK;
}

static enum weft_code read_states(struct work *work, struct weft_history *history)
{
    const struct weft_execution_window *window = &work->window;
    struct weft_states *states = NULL;
    const struct weft_state *state = NULL;
    if (!work->has_states)
        return WEFT_OK;
    enum weft_code code = weft_states_open(history, work->thread_id, window->first_ns,
                                           window->last_ns, &states, work->err);
    while (code == WEFT_OK && (code = weft_states_next(states, &state, work->err)) == WEFT_OK &&
           state)
        code = see_state(work, state);
    weft_states_close(states);
    return code;
}

/* ---- a thread -------------------------------------------------------------------------------- */

/* When a thread without kernel events ran is unknown. */
static double value_of(const struct work *work, unsigned sum, uint64_t total)
{
    const bool is_of_states = sum == CPU_TIME || sum == PREEMPTIONS;
    return is_of_states && !work->has_states && work->job->has_switches ? (double)NAN
                                                                        : (double)total;
}

static enum weft_code make_column(struct work *work, unsigned sum)
{
    struct job *job = work->job;
    enum weft_code code = WEFT_OK;
    (void)pthread_mutex_lock(&job->lock);
    if (!job->columns[sum].values)
        code = weft_spool_array(job->table->spool, job->table->n_rows, sizeof(double),
                                &job->columns[sum].values, work->err);
    work->columns[sum] = job->columns[sum];
    (void)pthread_mutex_unlock(&job->lock);
    return code;
}

static enum weft_code put_totals(void *context, size_t place,
                                 const struct weft_execution_totals *totals, struct weft_err *err)
{
    struct work *work = context;
    enum weft_code code = WEFT_OK;
    (void)err;
    for (unsigned k = 0; k < N_SUMS && code == WEFT_OK; k++) {
        const double value = value_of(work, k, totals->of[k]);
        if (value == 0)
            continue;
        if (!work->columns[k].values)
            code = make_column(work, k);
        if (code == WEFT_OK)
            work->columns[k].values[work->first + place] = value;
    }
    return code;
}

static enum weft_code read_window(struct work *work, struct weft_history *history)
{
    const struct weft_execution_window *window = &work->window;
    enum weft_code code = WEFT_OK;
    if (window->from_ns < window->to_ns) {
        code = read_bytes(work);
        WEFT_THEN(code, read_events(work));
        WEFT_THEN(code, read_locks(work));
        WEFT_THEN(code, read_states(work, history));
    }
    WEFT_THEN(code, weft_execution_window_end(&work->window, put_totals, work, work->err));
    weft_spool_forget(work->job->table->spool);
    return code;
}

/* What is to be known of all of the thread beforehand. */
static enum weft_code look_ahead(struct work *work, struct weft_history *history)
{
    const struct weft_trace *trace = work->job->trace;
    uint64_t first_ns = 0, last_ns = 0;
    enum weft_code code = WEFT_OK;
    if (work->job->has_switches)
        code = weft_history_life(history, work->thread_id, &first_ns, &last_ns, work->err);
    if (code != WEFT_OK)
        return code;
    work->has_states = last_ns > 0;
    if (work->has_states) /* known, though it may be none */
        work->window.seen |= UINT32_C(1) << CPU_TIME | UINT32_C(1) << PREEMPTIONS;
    if (weft_trace_meta(trace)->events_of_kind[WEFT_EVENT_CALL_ARGS])
        code = read_told(work, 0, UINT64_MAX, true);
    return code == WEFT_OK
               ? weft_execution_waits_read(&work->waits, trace, work->thread_id, work->err)
               : code;
}

static enum weft_code read_thread(struct work *work, struct weft_history *history)
{
    enum weft_code code = look_ahead(work, history);
    for (bool is_there = true; code == WEFT_OK;) {
        code =
            weft_execution_window_next(&work->window, work->job->window_rows, &is_there, work->err);
        if (!is_there)
            break;
        WEFT_THEN(code, read_window(work, history));
    }
    return code;
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
    const struct weft_execution_threads *threads = &job->threads;
    struct work work = {
        .job = job, .err = err, .thread_id = threads->ids[item], .first = threads->starts[item]
    };
    weft_execution_window_init(&work.window, threads->spans + work.first,
                               threads->starts[item + 1] - work.first);
    enum weft_code code = history_of(job, worker, err);
    WEFT_THEN(code, read_thread(&work, job->histories[worker]));
    atomic_fetch_or(&job->known, work.window.seen);
    weft_execution_window_fini(&work.window);
    weft_execution_waits_fini(&work.waits);
    WEFT_VEC_FINI(&work.waiting);
    return code;
}

/* ---- all threads ----------------------------------------------------------------------------- */

static enum weft_code job_init(struct job *job, const struct weft_run *run, struct weft_err *err)
{
    const unsigned n_workers = weft_pool_workers(run->pool);
    const uint64_t *of_kind = weft_trace_meta(job->trace)->events_of_kind;
    (void)pthread_mutex_init(&job->lock, NULL);
    job->memory_bytes = weft_min_u64(run->memory_bytes / 4 / n_workers, HISTORY_BYTES);
    job->has_switches = weft_trace_has_switches(job->trace);
    job->has_locks = of_kind[WEFT_EVENT_LOCK_REQUEST] > 0;
    job->histories = calloc(n_workers, sizeof(struct weft_history *));
    return job->histories ? weft_execution_threads_init(&job->threads, job->table,
                                                        weft_trace_n_threads(job->trace), err)
                          : weft_no_memory(err, "metrics of executions");
}

static void job_fini(struct job *job, unsigned n_workers)
{
    for (unsigned w = 0; job->histories && w < n_workers; w++)
        weft_history_close(job->histories[w]);
    free(job->histories);
    for (unsigned k = 0; k < N_SUMS; k++)
        weft_spool_drop(job->table->spool, job->columns[k].values);
    weft_execution_threads_fini(&job->threads);
    (void)pthread_mutex_destroy(&job->lock);
}

/* Values that are not 0 come from a column; where there is none they all are. */
static enum weft_code keep_values(struct job *job, unsigned sum, struct weft_err *err)
{
    double *values;
    if (!(job->known >> sum & 1))
        return WEFT_OK;
    const enum weft_code code = weft_executions_add_metric(
        job->table, weft_str_of(metrics[sum].name), metrics[sum].unit, &values, err);
    for (size_t i = 0; code == WEFT_OK && !job->columns[sum].values && i < job->table->n_rows;
         i++) {
        values[i] = 0;
        weft_executions_passed(job->table, i);
    }
    if (code == WEFT_OK && job->columns[sum].values)
        weft_execution_threads_order(&job->threads, job->columns[sum].values, values);
    weft_spool_drop(job->table->spool, job->columns[sum].values);
    job->columns[sum].values = NULL;
    return code;
}

static void mark_lossy(const struct job *job)
{
    const struct weft_executions_table *table = job->table;
    const double *values = job->columns[LOST].values;
    for (size_t i = 0; values && i < table->n_rows; i++) {
        if (values[job->threads.places[i]] != 0)
            table->rows[i].flags |= WEFT_EXECUTION_LOSSY;
        weft_executions_passed(table, i);
    }
}

enum weft_code weft_execution_metrics_add(const struct weft_trace *trace,
                                          const struct weft_execution_rule *types,
                                          struct weft_executions_table *table, size_t window_rows,
                                          const struct weft_run *run, struct weft_err *err)
{
    struct job job = { .trace = trace, .table = table, .window_rows = window_rows };
    if (weft_trace_meta(trace)->events == 0 || table->n_rows == 0)
        return WEFT_OK;
    enum weft_code code = job_init(&job, run, err);
    weft_progress_start(run->progress, "metrics", "threads", job.threads.n);
    weft_events_keep(trace, run->memory_bytes);
    WEFT_THEN(code, weft_pool_run(run->pool, job.threads.n, run_item, &job, run->progress, err));
    for (unsigned k = 0; k < N_METRICS && code == WEFT_OK; k++)
        code = keep_values(&job, k, err);
    if (code == WEFT_OK)
        mark_lossy(&job);
    job_fini(&job, weft_pool_workers(run->pool));
    weft_events_drop(trace);
    return code == WEFT_OK ? weft_execution_counters_add(trace, types, table, err) : code;
}
