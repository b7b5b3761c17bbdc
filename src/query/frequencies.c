/* SPDX-License-Identifier: MIT
 *
 * Builds the intervals of executions, or of the segments of their critical paths, and counts what a
 * rule finds within them; analysis/executions/frequencies.h has the counting and the tests. Each
 * execution is visited twice, in order.
 */
#include "query/frequencies.h"

#include "analysis/executions/executions.h"
#include "analysis/executions/frequencies.h"
#include "analysis/path/critical_path.h"
#include "query/session.h"
#include "schema/result.h"

#include <stdlib.h>

struct counting {
    struct weft_session *session;
    const struct weft_frequencies_request *request;
    struct weft_frequencies *frequencies;
    struct weft_strtab *labels;
    struct weft_frequencies_table *table;
    uint32_t execution; /* the number of the one that is added */
};

/* Of paths the thread; else the process, as far as processes are known. */
static uint64_t scope_of(const struct counting *counting, uint32_t thread_id)
{
    const struct weft_thread_info *info =
        &weft_trace_thread(weft_session_trace(counting->session), thread_id)->info;
    return counting->request->of_paths ? thread_id : (uint64_t)info->host_id << 48 ^ info->pid;
}

static enum weft_code add_interval(struct counting *counting, uint32_t thread_id,
                                   enum weft_frequency_group group, uint64_t start_ns,
                                   uint64_t end_ns, struct weft_err *err)
{
    return weft_frequencies_interval(counting->frequencies, scope_of(counting, thread_id),
                                     counting->execution, group, start_ns, end_ns, err);
}

/* Segments of a thread that follow each other are one. */
static enum weft_code add_path(struct counting *counting, const struct weft_execution_row *row,
                               enum weft_frequency_group group, struct weft_err *err)
{
    const struct weft_path_opts opts = { .thread_id = row->thread_id,
                                         .from_ns = row->start_ns,
                                         .to_ns = row->end_ns };
    struct weft_path_table *path = NULL;
    enum weft_code code = weft_path_run(weft_session_trace(counting->session), &opts,
                                        weft_session_run(counting->session), &path, err);
    for (size_t i = 0, end; code == WEFT_OK && i < path->n_segments; i = end) {
        const uint32_t thread_id = path->segments[i].thread_id;
        for (end = i + 1; end < path->n_segments && path->segments[end].thread_id == thread_id;)
            end++;
        code = add_interval(counting, thread_id, group, path->segments[i].start_ns,
                            path->segments[end - 1].end_ns, err);
    }
    weft_result_free(path);
    return code;
}

static enum weft_code see_execution(void *context, const struct weft_execution_row *row,
                                    struct weft_err *err)
{
    struct counting *counting = context;
    const uint64_t slower_than_ns = counting->request->slower_than_ns;
    const enum weft_frequency_group group =
        row->end_ns - row->start_ns >= slower_than_ns ? WEFT_FREQUENCY_SLOW : WEFT_FREQUENCY_OTHERS;
    if (row->flags & (WEFT_EXECUTION_CUT_START | WEFT_EXECUTION_UNFINISHED))
        return WEFT_OK;
    counting->table->n_executions[group]++;
    counting->execution++;
    return counting->request->of_paths
               ? add_path(counting, row, group, err)
               : add_interval(counting, row->thread_id, group, row->start_ns, row->end_ns, err);
}

static enum weft_code see_counted(void *context, const struct weft_execution_row *row,
                                  struct weft_err *err)
{
    struct counting *counting = context;
    return weft_frequencies_count(counting->frequencies, scope_of(counting, row->thread_id),
                                  (uint32_t)row->key, row->start_ns, row->end_ns, err);
}

static enum weft_code count_all(struct counting *counting, struct weft_err *err)
{
    const struct weft_trace *trace = weft_session_trace(counting->session);
    const struct weft_run *run = weft_session_run(counting->session);
    const struct weft_thread_filter filter = weft_session_filter(counting->session);
    const struct weft_executions_opts executions = { .rules = counting->request->executions,
                                                     .without_metrics = true },
                                      counted = { .rules = counting->request->counted,
                                                  .without_metrics = true,
                                                  .labels = counting->labels };
    enum weft_code code =
        weft_executions_stream(trace, &filter, &executions, run, see_execution, counting, err);
    WEFT_THEN(code, weft_frequencies_seal(counting->frequencies, err));
    WEFT_THEN(code, weft_executions_stream(trace, NULL, &counted, run, see_counted, counting, err));
    return code == WEFT_OK ? weft_frequencies_finish(counting->frequencies, counting->labels,
                                                     counting->table, err)
                           : code;
}

static struct weft_frequencies_table *table_new(const struct weft_frequencies_request *request)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_frequencies_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_frequencies_table) : NULL;
    if (!table) {
        weft_arena_free(arena);
        return NULL;
    }
    table->arena = arena;
    table->slower_than_ns = request->slower_than_ns;
    table->is_of_paths = request->of_paths;
    return table;
}

enum weft_code weft_session_frequencies(struct weft_session *session,
                                        const struct weft_frequencies_request *request,
                                        struct weft_frequencies_table **table, struct weft_err *err)
{
    struct counting counting = { .session = session,
                                 .request = request,
                                 .frequencies = weft_frequencies_new(
                                     weft_session_run(session)->memory_bytes, 0),
                                 .labels = weft_strtab_new(),
                                 .table = table_new(request) };
    *table = NULL;
    enum weft_code code = counting.frequencies && counting.labels && counting.table
                              ? count_all(&counting, err)
                              : weft_no_memory(err, "frequencies");
    if (code == WEFT_OK)
        *table = counting.table;
    else
        weft_result_free(counting.table);
    weft_frequencies_free(counting.frequencies);
    weft_strtab_free(counting.labels);
    return code;
}
