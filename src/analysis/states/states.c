/* SPDX-License-Identifier: MIT
 *
 * The states of threads in a window, or at one moment (docs/analyses/states.md).
 */
#include "analysis/states/states.h"

#include "analysis/states/histories.h"
#include "base/checked.h"
#include "base/vec.h"
#include "model/calls/scan.h"

#include <stdlib.h>
#include <string.h>

struct found {
    struct weft_state *items;
    size_t n, cap;
    uint64_t n_found;
};

struct job {
    const struct weft_states_opts *opts;
    const struct weft_thread_filter *filter;
    struct weft_histories histories;
    struct found *threads;
};

static enum weft_code state_add(const struct job *job, struct found *found,
                                const struct weft_state *state, struct weft_err *err)
{
    found->n_found++;
    if (job->opts->limit > 0 && found->n >= job->opts->limit)
        return WEFT_OK;
    struct weft_state *place = WEFT_VEC_PUSH(found);
    if (!place)
        return weft_no_memory(err, "states");
    *place = *state;
    return WEFT_OK;
}

/* The state that holds at the moment, if the thread lives. */
static enum weft_code moment_add(const struct job *job, struct weft_history *history,
                                 uint32_t thread_id, struct found *found, struct weft_err *err)
{
    struct weft_state state;
    uint64_t first_ns, last_ns;
    const uint64_t at_ns = job->opts->from_ns;
    enum weft_code code = weft_history_life(history, thread_id, &first_ns, &last_ns, err);
    if (code != WEFT_OK || at_ns < first_ns || at_ns >= last_ns)
        return code;
    code = weft_history_before(history, thread_id, weft_add_sat_u64(at_ns, 1), &state, err);
    return code == WEFT_OK ? state_add(job, found, &state, err) : code;
}

static enum weft_code run_item(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    struct job *job = context;
    struct found *found = &job->threads[item];
    struct weft_history *history;
    struct weft_states *states;
    const uint32_t thread_id = weft_scan_thread_id(job->filter ? job->filter->ids : NULL,
                                                   job->filter ? job->filter->n_ids : 0, item);
    enum weft_code code = weft_histories_get(&job->histories, worker, &history, err);
    if (code != WEFT_OK || job->opts->is_moment)
        return code == WEFT_OK ? moment_add(job, history, thread_id, found, err) : code;
    code = weft_states_open(history, thread_id, job->opts->from_ns, job->opts->to_ns, &states, err);
    if (code != WEFT_OK)
        return code;
    const struct weft_state *state;
    do {
        code = weft_states_next(states, &state, err);
        if (code == WEFT_OK && state)
            code = state_add(job, found, state, err);
    } while (code == WEFT_OK && state);
    weft_states_close(states);
    return code;
}

/* Moves the rows, up to the limit, into one arena. */
static enum weft_code make_table(const struct job *job, size_t n_threads,
                                 struct weft_states_table **result, struct weft_err *err)
{
    size_t n_rows = 0;
    for (size_t i = 0; i < n_threads; i++)
        n_rows += job->threads[i].n;
    if (job->opts->limit > 0 && n_rows > job->opts->limit)
        n_rows = (size_t)job->opts->limit;
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_states_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_states_table) : NULL;
    struct weft_states_row *rows =
        table ? WEFT_ARENA_NEW(arena, n_rows, struct weft_states_row) : NULL;
    struct weft_str name = WEFT_STR("");
    bool is_ok = rows != NULL;
    size_t n = 0;
    for (size_t i = 0; is_ok && i < n_threads; i++) {
        table->n_found += job->threads[i].n_found;
        for (size_t k = 0; is_ok && k < job->threads[i].n && n < n_rows; k++) {
            rows[n].thread_id = weft_scan_thread_id(job->filter ? job->filter->ids : NULL,
                                                    job->filter ? job->filter->n_ids : 0, i);
            rows[n].state = job->threads[i].items[k];
            is_ok = weft_name_copy(arena, rows[n].state.name, &name);
            rows[n++].state.name = name;
        }
    }
    if (!is_ok) {
        if (arena)
            weft_arena_free(arena);
        return weft_no_memory(err, "states");
    }
    table->arena = arena;
    table->from_ns = job->opts->from_ns;
    table->to_ns = job->opts->to_ns;
    table->rows = rows;
    table->n_rows = n_rows;
    table->is_known = weft_histories_are_known(job->histories.trace);
    *result = table;
    return WEFT_OK;
}

enum weft_code weft_states_run(const struct weft_trace *trace,
                               const struct weft_thread_filter *filter,
                               const struct weft_states_opts *opts, const struct weft_run *run,
                               struct weft_states_table **table, struct weft_err *err)
{
    struct job job = { .opts = opts, .filter = filter };
    *table = NULL;
    enum weft_code code =
        weft_histories_init(&job.histories, trace, filter, opts->from_ns, opts->to_ns, run, err);
    if (code != WEFT_OK)
        return code;
    const size_t n_threads = job.histories.n_items;
    job.threads = calloc(n_threads + 1, sizeof *job.threads);
    if (!job.threads)
        code = weft_no_memory(err, "states");
    WEFT_THEN(code, weft_pool_run(run->pool, n_threads, run_item, &job, run->progress, err));
    WEFT_THEN(code, make_table(&job, n_threads, table, err));
    for (size_t i = 0; job.threads && i < n_threads; i++)
        WEFT_VEC_FINI(&job.threads[i]);
    free(job.threads);
    weft_histories_fini(&job.histories);
    return code;
}
