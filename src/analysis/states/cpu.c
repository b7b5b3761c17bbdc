/* SPDX-License-Identifier: MIT
 *
 * What each CPU did in a window, from the states of all threads (docs/analyses/cpu.md).
 */
#include "analysis/states/histories.h"
#include "analysis/states/run_modes.h"
#include "analysis/states/states.h"
#include "base/checked.h"
#include "base/vec.h"
#include "model/calls/scan.h"

#include <stdlib.h>
#include <string.h>

/* What a thread did on a CPU. */
struct part {
    uint32_t host_id, thread_id;
    int32_t cpu;
    bool is_idle;
    struct weft_run_modes modes;
    uint64_t cpu_ns, interrupted_ns, count, migrations;
};

struct parts {
    struct part *items;
    size_t n, cap;
};

struct job {
    const struct weft_trace *trace;
    const struct weft_cpu_opts *opts;
    const struct weft_thread_filter *filter;
    struct weft_histories histories;
    struct parts *threads;
};

/* The part of the CPU; few threads run on many. */
static struct part *part_get(struct parts *parts, int32_t cpu)
{
    for (size_t i = 0; i < parts->n; i++)
        if (parts->items[i].cpu == cpu)
            return &parts->items[i];
    struct part *part = WEFT_VEC_PUSH(parts);
    if (part)
        part->cpu = cpu;
    return part;
}

/* Where a thread was before. */
struct place {
    int32_t cpu; /* it ran on last; -1: none */
    bool is_on;  /* it ran until now */
};

/* `cpu_ns`: of the part of the state that counts. */
static enum weft_code state_add(struct parts *parts, const struct weft_state *state,
                                uint64_t cpu_ns, struct place *place, struct weft_err *err)
{
    const bool was_on = place->is_on && place->cpu == state->cpu;
    place->is_on = weft_state_is_on_cpu(state->kind);
    if (!place->is_on || state->cpu < 0)
        return WEFT_OK;
    struct part *part = part_get(parts, state->cpu);
    if (!part)
        return weft_no_memory(err, "processors");
    const uint64_t length_ns = state->end_ns - state->start_ns;
    if (state->kind == WEFT_STATE_INTERRUPTED)
        part->interrupted_ns += length_ns;
    weft_modes_add(&part->modes, state->kind, length_ns);
    part->cpu_ns += cpu_ns;
    part->count += !was_on;
    part->migrations += !was_on && place->cpu >= 0 && place->cpu != state->cpu;
    place->cpu = state->cpu;
    return WEFT_OK;
}

static void see_sample(void *context, int32_t cpu, enum weft_sample_mode mode)
{
    struct parts *parts = context;
    for (size_t i = 0; i < parts->n; i++)
        if (parts->items[i].cpu == cpu)
            weft_modes_count(&parts->items[i].modes, mode);
}

static enum weft_code run_item(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    struct job *job = context;
    struct parts *parts = &job->threads[item];
    const uint32_t thread_id = weft_scan_thread_id(job->filter ? job->filter->ids : NULL,
                                                   job->filter ? job->filter->n_ids : 0, item);
    struct place place = { .cpu = -1 };
    struct weft_history *history;
    struct weft_states *states = NULL;
    enum weft_code code = weft_histories_get(&job->histories, worker, &history, err);
    WEFT_THEN(code, weft_states_open(history, thread_id, job->opts->from_ns, job->opts->to_ns,
                                     &states, err));
    while (code == WEFT_OK) {
        const struct weft_state *whole;
        code = weft_states_next(states, &whole, err);
        if (code != WEFT_OK || !whole)
            break;
        struct weft_state state = *whole;
        state.start_ns = weft_max_u64(state.start_ns, job->opts->from_ns);
        state.end_ns = weft_min_u64(state.end_ns, job->opts->to_ns);
        code = state_add(parts, &state, weft_state_cpu_ns(whole, state.start_ns, state.end_ns),
                         &place, err);
    }
    weft_states_close(states);
    WEFT_THEN(code, weft_modes_sample(job->trace, thread_id, job->opts->from_ns, job->opts->to_ns,
                                      see_sample, parts, err));
    const struct weft_thread_info *info = &weft_trace_thread(job->trace, thread_id)->info;
    for (size_t i = 0; i < parts->n; i++) {
        parts->items[i].thread_id = thread_id;
        parts->items[i].host_id = info->host_id;
        parts->items[i].is_idle = info->tid == 0;
    }
    return code;
}

static int compare_parts(const void *a_void, const void *b_void)
{
    const struct part *a = a_void;
    const struct part *b = b_void;
    if (a->host_id != b->host_id)
        return a->host_id < b->host_id ? -1 : 1;
    if (a->cpu != b->cpu)
        return a->cpu < b->cpu ? -1 : 1;
    return (a->thread_id > b->thread_id) - (a->thread_id < b->thread_id);
}

static int compare_shares(const void *a_void, const void *b_void)
{
    const struct weft_cpu_share *a = a_void;
    const struct weft_cpu_share *b = b_void;
    if (a->run_ns != b->run_ns)
        return a->run_ns > b->run_ns ? -1 : 1;
    return (a->thread_id > b->thread_id) - (a->thread_id < b->thread_id);
}

/* The row of one CPU from its `n` parts. */
static bool row_make(struct weft_arena *arena, const struct part *parts, size_t n,
                     uint64_t window_ns, struct weft_cpu_row *row)
{
    *row = (struct weft_cpu_row){ .host_id = parts->host_id, .cpu = parts->cpu };
    row->threads = WEFT_ARENA_NEW(arena, n, struct weft_cpu_share);
    if (!row->threads)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct part *part = &parts[i];
        row->interrupted_ns += part->interrupted_ns;
        if (part->is_idle) {
            row->has_idle_task = true;
            row->idle_ns += weft_modes_ns(&part->modes);
            continue;
        }
        weft_modes_join(&row->modes, &part->modes);
        row->count += part->count;
        row->migrations += part->migrations;
        row->threads[row->n_threads++] = (struct weft_cpu_share){
            .thread_id = part->thread_id,
            .run_ns = weft_modes_ns(&part->modes) + part->interrupted_ns,
            .cpu_ns = part->cpu_ns,
            .count = part->count,
        };
    }
    qsort(row->threads, row->n_threads, sizeof *row->threads, compare_shares);
    const uint64_t told_ns = weft_modes_ns(&row->modes) + row->interrupted_ns + row->idle_ns;
    row->unknown_ns = weft_sub_sat_u64(window_ns, told_ns);
    return true;
}

/* All parts, by CPU. */
static bool parts_collect(const struct job *job, size_t n_items, struct parts *all)
{
    for (size_t i = 0; i < n_items; i++)
        for (size_t k = 0; k < job->threads[i].n; k++) {
            struct part *part = WEFT_VEC_PUSH(all);
            if (!part)
                return false;
            *part = job->threads[i].items[k];
        }
    if (all->n > 0)
        qsort(all->items, all->n, sizeof *all->items, compare_parts);
    return true;
}

static bool rows_make(const struct parts *all, struct weft_cpu_table *table)
{
    const uint64_t window_ns = table->to_ns - table->from_ns;
    table->rows = WEFT_ARENA_NEW(table->arena, all->n, struct weft_cpu_row);

    for (size_t first = 0, end; table->rows && first < all->n; first = end) {
        for (end = first + 1; end < all->n && all->items[end].cpu == all->items[first].cpu &&
                              all->items[end].host_id == all->items[first].host_id;)
            end++;
        if (!row_make(table->arena, &all->items[first], end - first, window_ns,
                      &table->rows[table->n_rows++]))
            return false;
    }
    return table->rows != NULL;
}

static enum weft_code make_table(const struct job *job, size_t n_items,
                                 struct weft_cpu_table **result, struct weft_err *err)
{
    struct parts all = { 0 };
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_cpu_table *table = arena ? WEFT_ARENA_NEW(arena, 1, struct weft_cpu_table) : NULL;
    bool is_ok = table && parts_collect(job, n_items, &all);
    if (is_ok) {
        const uint64_t end_ns = weft_trace_meta(job->trace)->duration_ns;
        table->arena = arena;
        table->from_ns = weft_min_u64(job->opts->from_ns, end_ns);
        table->to_ns = weft_min_u64(job->opts->to_ns, end_ns);
        table->is_known = weft_histories_are_known(job->trace);
        is_ok = rows_make(&all, table);
    }
    WEFT_VEC_FINI(&all);
    if (!is_ok) {
        if (arena)
            weft_arena_free(arena);
        return weft_no_memory(err, "processors");
    }
    *result = table;
    return WEFT_OK;
}

enum weft_code weft_cpus_run(const struct weft_trace *trace,
                             const struct weft_thread_filter *filter,
                             const struct weft_cpu_opts *opts, const struct weft_run *run,
                             struct weft_cpu_table **table, struct weft_err *err)
{
    struct job job = { .trace = trace, .opts = opts, .filter = filter };
    *table = NULL;
    enum weft_code code =
        weft_histories_init(&job.histories, trace, filter, opts->from_ns, opts->to_ns, run, err);
    if (code != WEFT_OK)
        return code;
    const size_t n_items = job.histories.n_items;
    job.threads = calloc(n_items + 1, sizeof *job.threads);
    if (!job.threads)
        code = weft_no_memory(err, "processors");
    WEFT_THEN(code, weft_pool_run(run->pool, n_items, run_item, &job, run->progress, err));
    WEFT_THEN(code, make_table(&job, n_items, table, err));
    for (size_t i = 0; job.threads && i < n_items; i++)
        WEFT_VEC_FINI(&job.threads[i]);
    free(job.threads);
    weft_histories_fini(&job.histories);
    return code;
}
