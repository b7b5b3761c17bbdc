/* SPDX-License-Identifier: MIT
 *
 * Wait-block analysis: what each thread spent its time on, and what it waited for
 * (docs/analyses/waits.md).
 */
#include "analysis/states/histories.h"
#include "analysis/states/run_modes.h"
#include "analysis/states/states.h"
#include "base/checked.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/calls/scan.h"

#include <stdlib.h>
#include <string.h>

/* A worker's: rows of the thread in work, by their keys. */
struct worker {
    struct weft_map *of_key;
    struct weft_strtab *names;
    struct {
        struct weft_waits_row *items;
        size_t n, cap;
    } rows;
};

struct job {
    const struct weft_trace *trace;
    const struct weft_waits_opts *opts;
    const struct weft_thread_filter *filter;
    struct weft_histories histories;
    struct worker *workers;
    struct weft_waits_thread *threads; /* rows allocated one by one */
};

/* Adds a piece of time. `name` < 2^24; names are the worker's. */
static enum weft_code piece_add(struct worker *worker, const struct weft_state *state,
                                uint32_t other_id, uint64_t start_ns, uint64_t end_ns,
                                struct weft_err *err)
{
    uint32_t name;
    WEFT_TRY(weft_strtab_intern(worker->names, state->name, &name, err));
    const uint64_t key = (uint64_t)other_id << 32 | (uint64_t)(name & 0x3ffffff) << 6 |
                         (uint64_t)state->kind << 3 | state->reason;
    bool is_new;
    const uint32_t id = weft_map_add(worker->of_key, key, &is_new);
    struct weft_waits_row *row = NULL;
    if (id != WEFT_MAP_NONE && is_new)
        row = WEFT_VEC_PUSH(&worker->rows);
    else if (id != WEFT_MAP_NONE)
        row = &worker->rows.items[id];
    if (!row)
        return weft_no_memory(err, "waits");
    if (is_new)
        *row = (struct weft_waits_row){ .kind = state->kind,
                                        .reason = state->reason,
                                        .name = weft_strtab_get(worker->names, name),
                                        .other_id = other_id };
    const uint64_t length_ns = end_ns - start_ns;
    row->sum_ns += length_ns;
    row->count++;
    if (length_ns > row->longest_ns) {
        row->longest_ns = length_ns;
        row->longest_at_ns = start_ns;
    }
    return WEFT_OK;
}

/* The threads that ran on the CPU while this one waited for it: its time is divided among them. */
static enum weft_code preempted_add(struct worker *worker, struct weft_history *history,
                                    uint32_t host_id, uint32_t thread_id, struct weft_state state,
                                    struct weft_err *err)
{
    struct weft_cpu_runs *runs;
    uint64_t at_ns = state.start_ns;
    state.name = WEFT_STR("");
    if (state.cpu < 0)
        return piece_add(worker, &state, WEFT_ID_NONE, at_ns, state.end_ns, err);
    enum weft_code code =
        weft_cpu_runs_open(history, host_id, state.cpu, at_ns, state.end_ns, &runs, err);
    while (code == WEFT_OK) {
        const struct weft_cpu_run *run;
        code = weft_cpu_runs_next(runs, &run, err);
        if (code != WEFT_OK || !run)
            break;
        const uint64_t start_ns = weft_max_u64(run->start_ns, at_ns);
        const uint64_t end_ns = weft_min_u64(run->end_ns, state.end_ns);
        const bool is_told = run->thread_id != thread_id && !run->is_idle;
        if (start_ns > at_ns)
            code = piece_add(worker, &state, WEFT_ID_NONE, at_ns, start_ns, err);
        if (code == WEFT_OK && end_ns > start_ns)
            code = piece_add(worker, &state, is_told ? run->thread_id : WEFT_ID_NONE, start_ns,
                             end_ns, err);
        at_ns = weft_max_u64(at_ns, end_ns);
    }
    weft_cpu_runs_close(runs);
    if (code == WEFT_OK && at_ns < state.end_ns)
        code = piece_add(worker, &state, WEFT_ID_NONE, at_ns, state.end_ns, err);
    return code;
}

static enum weft_code state_add(struct worker *worker, struct weft_history *history,
                                uint32_t host_id, const struct weft_state *state,
                                struct weft_waits_thread *thread, struct weft_err *err)
{
    const uint64_t length_ns = state->end_ns - state->start_ns;
    if (thread->last_ns == 0)
        thread->first_ns = state->start_ns;
    thread->last_ns = state->end_ns;
    thread->kind_ns[state->kind] += length_ns;
    thread->kind_count[state->kind]++;
    thread->reason_ns[state->reason] += length_ns;
    weft_modes_add(&thread->modes, state->kind, length_ns);
    if (state->kind == WEFT_STATE_PREEMPTED)
        return preempted_add(worker, history, host_id, thread->thread_id, *state, err);
    const bool is_blocked = state->kind == WEFT_STATE_BLOCKED;
    if (is_blocked && weft_event_is_futex(state->name))
        thread->futex_ns += length_ns;
    const bool is_by_thread = is_blocked && state->reason == WEFT_WAIT_THREAD;
    return piece_add(worker, state, is_by_thread ? state->waker_thread_id : WEFT_ID_NONE,
                     state->start_ns, state->end_ns, err);
}

static int compare_rows(const void *a_void, const void *b_void)
{
    const struct weft_waits_row *a = a_void;
    const struct weft_waits_row *b = b_void;
    if (a->sum_ns != b->sum_ns)
        return a->sum_ns > b->sum_ns ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->reason != b->reason)
        return a->reason < b->reason ? -1 : 1;
    const int by_name = weft_str_compare(a->name, b->name);
    if (by_name != 0)
        return by_name;
    return (a->other_id > b->other_id) - (a->other_id < b->other_id);
}

static bool worker_begin(struct worker *worker)
{
    if (!worker->of_key)
        worker->of_key = weft_map_new();
    if (!worker->names)
        worker->names = weft_strtab_new();
    if (!worker->of_key || !worker->names)
        return false;
    weft_map_reset(worker->of_key);
    worker->rows.n = 0;
    return true;
}

static void see_sample(void *context, int32_t cpu, enum weft_sample_mode mode)
{
    (void)cpu;
    weft_modes_count(context, mode);
}

static enum weft_code thread_run(struct job *job, struct worker *worker,
                                 struct weft_history *history, struct weft_waits_thread *thread,
                                 struct weft_err *err)
{
    const uint32_t host_id = weft_trace_thread(job->trace, thread->thread_id)->info.host_id;
    struct weft_states *states;
    enum weft_code code = weft_states_open(history, thread->thread_id, job->opts->from_ns,
                                           job->opts->to_ns, &states, err);
    while (code == WEFT_OK) {
        const struct weft_state *whole;
        code = weft_states_next(states, &whole, err);
        if (code != WEFT_OK || !whole)
            break;
        struct weft_state state = *whole;
        state.start_ns = weft_max_u64(state.start_ns, job->opts->from_ns);
        state.end_ns = weft_min_u64(state.end_ns, job->opts->to_ns);
        const uint64_t cpu_ns = weft_state_cpu_ns(whole, state.start_ns, state.end_ns);
        thread->cpu_ns += cpu_ns;
        thread->clocked_ns += state.flags & WEFT_STATE_CLOCKED ? cpu_ns : 0;
        code = state_add(worker, history, host_id, &state, thread, err);
    }
    weft_states_close(states);
    return code == WEFT_OK ? weft_modes_sample(job->trace, thread->thread_id, job->opts->from_ns,
                                               job->opts->to_ns, see_sample, &thread->modes, err)
                           : code;
}

static enum weft_code run_item(void *context, size_t item, unsigned index, struct weft_err *err)
{
    struct job *job = context;
    struct worker *worker = &job->workers[index];
    struct weft_waits_thread *thread = &job->threads[item];
    struct weft_history *history;
    thread->thread_id = weft_scan_thread_id(job->filter ? job->filter->ids : NULL,
                                            job->filter ? job->filter->n_ids : 0, item);
    enum weft_code code = weft_histories_get(&job->histories, index, &history, err);
    if (code == WEFT_OK && !worker_begin(worker))
        code = weft_no_memory(err, "waits");
    WEFT_THEN(code, thread_run(job, worker, history, thread, err));
    if (code != WEFT_OK || worker->rows.n == 0)
        return code;
    qsort(worker->rows.items, worker->rows.n, sizeof *worker->rows.items, compare_rows);
    thread->rows = malloc(worker->rows.n * sizeof *thread->rows);
    if (!thread->rows)
        return weft_no_memory(err, "waits");
    memcpy(thread->rows, worker->rows.items, worker->rows.n * sizeof *thread->rows);
    thread->n_rows = worker->rows.n;
    return WEFT_OK;
}

static bool rows_copy(struct weft_arena *arena, const struct weft_waits_thread *from,
                      struct weft_waits_thread *to)
{
    struct weft_str name = WEFT_STR("");
    *to = *from;
    to->rows = WEFT_ARENA_NEW(arena, from->n_rows, struct weft_waits_row);
    for (size_t i = 0; to->rows && i < from->n_rows; i++) {
        to->rows[i] = from->rows[i];
        if (!weft_name_copy(arena, from->rows[i].name, &name))
            return false;
        to->rows[i].name = name;
    }
    return to->rows != NULL;
}

static enum weft_code make_table(const struct job *job, size_t n_items,
                                 struct weft_waits_table **result, struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_waits_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_waits_table) : NULL;
    if (table)
        table->threads = WEFT_ARENA_NEW(arena, n_items, struct weft_waits_thread);
    bool is_ok = table && table->threads;
    for (size_t i = 0; is_ok && i < n_items; i++)
        if (job->threads[i].last_ns > 0)
            is_ok = rows_copy(arena, &job->threads[i], &table->threads[table->n_threads++]);
    if (!is_ok) {
        if (arena)
            weft_arena_free(arena);
        return weft_no_memory(err, "waits");
    }
    table->arena = arena;
    table->from_ns = job->opts->from_ns;
    table->to_ns = job->opts->to_ns;
    table->is_known = weft_histories_are_known(job->trace);
    *result = table;
    return WEFT_OK;
}

static void job_fini(struct job *job, unsigned n_workers, size_t n_items)
{
    for (unsigned i = 0; job->workers && i < n_workers; i++) {
        weft_map_free(job->workers[i].of_key);
        weft_strtab_free(job->workers[i].names);
        WEFT_VEC_FINI(&job->workers[i].rows);
    }
    for (size_t i = 0; job->threads && i < n_items; i++)
        free(job->threads[i].rows);
    free(job->workers);
    free(job->threads);
    weft_histories_fini(&job->histories);
}

enum weft_code weft_waits_run(const struct weft_trace *trace,
                              const struct weft_thread_filter *filter,
                              const struct weft_waits_opts *opts, const struct weft_run *run,
                              struct weft_waits_table **table, struct weft_err *err)
{
    struct job job = { .trace = trace, .opts = opts, .filter = filter };
    *table = NULL;
    enum weft_code code =
        weft_histories_init(&job.histories, trace, filter, opts->from_ns, opts->to_ns, run, err);
    if (code != WEFT_OK)
        return code;
    const size_t n_items = job.histories.n_items;
    const unsigned n_workers = weft_pool_workers(run->pool);
    job.workers = calloc(n_workers, sizeof *job.workers);
    job.threads = calloc(n_items + 1, sizeof *job.threads);
    if (!job.workers || !job.threads)
        code = weft_no_memory(err, "waits");
    WEFT_THEN(code, weft_pool_run(run->pool, n_items, run_item, &job, run->progress, err));
    WEFT_THEN(code, make_table(&job, n_items, table, err));
    job_fini(&job, n_workers, n_items);
    return code;
}
