/* SPDX-License-Identifier: MIT
 *
 * The registry: adding an analysis is adding one row to the table below.
 */
#include "analysis/calls/calls.h"
#include "analysis/regtime/regtime.h"
#include "analysis/roots/roots.h"
#include "analysis/states/states.h"
#include "query/build.h"
#include "query/match.h"
#include "query/session.h"

#include <stdlib.h>
#include <string.h>

/* ---- list ------------------------------------------------------------------------------------ */

/* Analyses that answer with a plain list, for all front ends: the window, the order, the limit.
 * Rows are sorted by any of their fields, as the descriptor reads it. */

/* What a row is sorted by. */
struct sorted {
    struct weft_cell cell;
    bool is_text, is_real;
    size_t place;
};

/* The unknown last; texts in the order of the alphabet, numbers the largest first. */
static int compare_sorted(const void *a_ptr, const void *b_ptr)
{
    const struct sorted *a = a_ptr, *b = b_ptr;
    int order = a->cell.is_null - b->cell.is_null;
    if (order == 0 && a->is_text)
        order = weft_str_compare(a->cell.text, b->cell.text);
    else if (order == 0 && a->is_real)
        order = (a->cell.real < b->cell.real) - (a->cell.real > b->cell.real);
    else if (order == 0)
        order = (a->cell.number < b->cell.number) - (a->cell.number > b->cell.number);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static const struct weft_field *find_field(const struct weft_table_type *type, const char *key)
{
    for (size_t i = 0; i < type->n_fields; i++)
        if (type->fields[i].key && strcmp(type->fields[i].key, key) == 0)
            return &type->fields[i];
    return NULL;
}

static enum weft_code sort_rows(const struct weft_trace *trace, const struct weft_table_type *type,
                                const char *key, struct weft_list_table *table,
                                struct weft_err *err)
{
    const struct weft_field *field = find_field(type, key);
    if (!field)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "sort: no column is called '%.60s'", key);
    const size_t n = table->n_rows;
    struct sorted *sorted = WEFT_ARENA_NEW(table->arena, n, struct sorted);
    char *rows = weft_arena_alloc(table->arena, (n + 1) * type->row_bytes, _Alignof(max_align_t));
    if (!sorted || !rows)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory to sort %zu rows", n);
    struct weft_table_context context = weft_trace_context(trace, table);
    context.arena = table->arena;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (struct sorted){ .place = context.place = i,
                                     .is_text = field->unit == WEFT_UNIT_TEXT,
                                     .is_real = weft_unit_is_real(field->unit) };
        weft_field_cell(field, &context, (const char *)table->rows + i * type->row_bytes,
                        &sorted[i].cell);
    }
    qsort(sorted, n, sizeof *sorted, compare_sorted);
    for (size_t i = 0; i < n; i++)
        memcpy(rows + i * type->row_bytes,
               (const char *)table->rows + sorted[i].place * type->row_bytes, type->row_bytes);
    table->rows = rows;
    return WEFT_OK;
}

/* WEFT_E_ARG names a key to sort by that the rows do not have. */
static enum weft_code weft_list_run(struct weft_session *session,
                                    const struct weft_analysis *analysis,
                                    const struct weft_list_request *request,
                                    struct weft_list_table **table, struct weft_err *err)
{
    const struct weft_trace *trace = weft_session_trace(session);
    const struct weft_thread_filter filter = weft_session_filter(session);
    const struct weft_window window = { request->from_ns, request->to_ns };
    enum weft_code code =
        analysis->list(trace, &filter, &window, weft_session_run(session), table, err);
    if (code == WEFT_OK && request->sort)
        code = sort_rows(trace, analysis->type, request->sort, *table, err);
    if (code == WEFT_OK && request->limit && request->limit < (*table)->n_rows)
        (*table)->n_rows = (size_t)request->limit;
    if (code != WEFT_OK) {
        weft_result_free(*table);
        *table = NULL;
    }
    return code;
}

/* ---- registry -------------------------------------------------------------------------------- */

/* An analysis of calls or states: of the trace, for the session's threads. */
#define OF_TRACE(member, function)                                                                 \
    static enum weft_code run_##member(struct weft_session *session,                               \
                                       const union weft_request *request,                          \
                                       union weft_result *result, struct weft_err *err)            \
    {                                                                                              \
        const struct weft_thread_filter filter = weft_session_filter(session);                     \
        return function(weft_session_trace(session), &filter, &request->member,                    \
                        weft_session_run(session), &result->member, err);                          \
    }

/* One of waits: of the session's interplay, which is made once. */
#define OF_INTERPLAY(member, function)                                                             \
    static enum weft_code run_##member(struct weft_session *session,                               \
                                       const union weft_request *request,                          \
                                       union weft_result *result, struct weft_err *err)            \
    {                                                                                              \
        const struct weft_thread_filter filter = weft_session_filter(session);                     \
        const struct weft_interplay *interplay;                                                    \
        const enum weft_code code = weft_session_interplay(session, &interplay, err);              \
        return code == WEFT_OK ? function(interplay, &filter, &request->member,                    \
                                          weft_session_run(session), &result->member, err)         \
                               : code;                                                             \
    }

/* clang-format off */
OF_TRACE(activity, weft_activity_run)
OF_TRACE(calls, weft_calls_run)
OF_TRACE(cpu, weft_cpus_run)
OF_TRACE(histogram, weft_histogram_run)
OF_TRACE(interval, weft_interval_run)
OF_TRACE(locks, weft_locks_run)
OF_TRACE(shapes, weft_shapes_run)
OF_TRACE(states, weft_states_run)
OF_TRACE(tree, weft_tree_run)
OF_TRACE(waits, weft_waits_run)
OF_INTERPLAY(blocking, weft_blocking_run)
OF_INTERPLAY(correspondences, weft_correspondences_run)
OF_INTERPLAY(interplay, weft_interplay_run)
OF_INTERPLAY(lock_lanes, weft_lock_lanes_run)
OF_INTERPLAY(lock_tree, weft_lock_tree_run)
/* clang-format on */

static enum weft_code run_call(struct weft_session *session, const union weft_request *request,
                               union weft_result *result, struct weft_err *err)
{
    return weft_call_run(weft_session_trace(session), &request->call, weft_session_run(session),
                         &result->call, err);
}

static enum weft_code run_ecct(struct weft_session *session, const union weft_request *request,
                               union weft_result *result, struct weft_err *err)
{
    return weft_execution_tree(session, &request->ecct, &result->ecct, err);
}

static enum weft_code run_executions(struct weft_session *session,
                                     const union weft_request *request, union weft_result *result,
                                     struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    enum weft_code code =
        weft_executions_run(weft_session_trace(session), &filter, &request->executions.opts,
                            weft_session_run(session), &result->executions, err);
    if (code == WEFT_OK && request->executions.with_paths)
        code = weft_executions_add_paths(session, result->executions, err);
    return code;
}

static enum weft_code run_findings(struct weft_session *session, const union weft_request *request,
                                   union weft_result *result, struct weft_err *err)
{
    return weft_findings_of_trace(session, &request->findings, &result->findings, err);
}

static enum weft_code run_frequencies(struct weft_session *session,
                                      const union weft_request *request, union weft_result *result,
                                      struct weft_err *err)
{
    return weft_session_frequencies(session, &request->frequencies, &result->frequencies, err);
}

static enum weft_code run_functions(struct weft_session *session, const union weft_request *request,
                                    union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    return weft_functions_run(weft_session_trace(session), &filter,
                              request ? &request->functions : NULL, weft_session_run(session),
                              &result->functions, err);
}

/* What is unusual for a function is measured against the whole trace, whatever threads are kept. */
static enum weft_code run_outliers(struct weft_session *session, const union weft_request *request,
                                   union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    const struct weft_functions_table *functions;
    WEFT_TRY(weft_session_functions(session, &functions, err));
    return weft_outliers_run(weft_session_trace(session), &filter, functions, &request->outliers,
                             weft_session_run(session), &result->outliers, err);
}

static enum weft_code run_path(struct weft_session *session, const union weft_request *request,
                               union weft_result *result, struct weft_err *err)
{
    return weft_path_run(weft_session_trace(session), &request->path, weft_session_run(session),
                         &result->path, err);
}

static enum weft_code run_regtime(struct weft_session *session, const union weft_request *request,
                                  union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    struct weft_regtime_opts opts = request->regtime;
    if (!opts.medians_ns && opts.outlier_factor > 0) {
        WEFT_TRY(weft_session_medians(session, &opts.medians_ns, err));
    }
    return weft_regtime_run(weft_session_trace(session), &filter, &opts, weft_session_run(session),
                            &result->regtime, err);
}

static const struct weft_analysis analyses[] = {
    { .name = "activity",
      .summary = "when each thread ran, waited, stalled or was idle (inferred)",
      .run = run_activity },
    { .name = "blocking",
      .summary = "how long each thread waited, read and wrote, by columns of time",
      .run = run_blocking },
    { .name = "call",
      .summary = "one call: at a point of time, or the next or previous of its function",
      .run = run_call },
    { .name = "calls",
      .summary = "the longest or the earliest calls of functions",
      .run = run_calls },
    { .name = "correspondences",
      .summary = "waits and what ended them, bundled by columns of time",
      .run = run_correspondences },
    { .name = "cpu", .summary = "time of each CPU: running, interrupts, idle", .run = run_cpu },
    { .name = "ecct",
      .summary = "calling context tree of a thread's critical path, across threads",
      .run = run_ecct },
    { .name = "executions",
      .summary = "repeated operations of a program (requests, iterations)",
      .run = run_executions },
    { .name = "findings", .summary = "why executions are slow", .run = run_findings },
    { .name = "frequencies",
      .summary = "what happens during executions, in slow ones and in others",
      .run = run_frequencies },
    { .name = "functions",
      .summary = "calls, times and percentiles of every function",
      .run = run_functions },
    { .name = "histogram",
      .summary = "durations or self times of the calls of functions, in bins",
      .run = run_histogram },
    { .name = "interplay",
      .summary = "thread interaction: waits, and which thread ended them",
      .run = run_interplay },
    { .name = "interval",
      .summary = "time of each thread in a time range, by function",
      .run = run_interval },
    { .name = "lock_lanes",
      .summary = "when each thread held or waited for each lock",
      .run = run_lock_lanes },
    { .name = "lock_tree",
      .summary = "calling contexts of waits, of holds, or of holders while others waited",
      .run = run_lock_tree },
    { .name = "locks",
      .summary = "lock contention: blame, waiters, holders, hold times",
      .run = run_locks },
    { .name = "outliers",
      .summary = "calls and gaps that are unusual for their function or thread",
      .run = run_outliers },
    { .name = "path",
      .summary = "critical path of a thread, request or call across threads",
      .run = run_path },
    { .name = "regtime",
      .summary = "each thread's calls compressed to a few rows, outliers kept",
      .run = run_regtime },
    { .name = "roots",
      .summary = "calls without a caller: how many and how long on each thread",
      .list = weft_roots_run,
      .type = &weft_roots_type,
      .about = "A root call has no caller in the trace: the entry of a thread, a callback, a "
               "request.\nTimes are those in the window." },
    { .name = "shapes",
      .summary = "call patterns: calls grouped by their callees",
      .run = run_shapes },
    { .name = "states",
      .summary = "thread states: running, runnable, blocked, and the reason",
      .run = run_states },
    { .name = "tree",
      .summary = "the calling contexts of an interval, over all threads",
      .run = run_tree },
    { .name = "waits",
      .summary = "wait analysis: time of each thread by state and cause",
      .run = run_waits },
};

const struct weft_analysis *weft_analyses(size_t *n_analyses)
{
    *n_analyses = sizeof analyses / sizeof *analyses;
    return analyses;
}

const struct weft_analysis *weft_analysis_find(const char *name)
{
    for (size_t i = 0; i < sizeof analyses / sizeof *analyses; i++)
        if (strcmp(analyses[i].name, name) == 0)
            return &analyses[i];
    return NULL;
}

enum weft_code weft_query_run(struct weft_session *session, const char *name,
                              const union weft_request *request, union weft_result *result,
                              struct weft_err *err)
{
    const struct weft_analysis *analysis = weft_analysis_find(name);
    *result = (union weft_result){ 0 };
    if (!analysis)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "no analysis is called '%.60s'", name);
    if (analysis->list)
        return weft_list_run(session, analysis, &request->list, &result->list, err);
    return analysis->run(session, request, result, err);
}

enum weft_code weft_session_find_functions(const struct weft_session *session, const char *pattern,
                                           uint32_t **ids, size_t *n_ids, struct weft_err *err)
{
    const struct weft_trace *trace = weft_session_trace(session);
    uint32_t n_functions = weft_trace_n_functions(trace);
    struct weft_matcher *matcher;
    *ids = NULL;
    *n_ids = 0;
    enum weft_code code = weft_matcher_new(pattern, &matcher, err);
    if (code != WEFT_OK)
        return code;
    *ids = calloc((size_t)n_functions + 1, sizeof **ids);
    if (!*ids)
        code = weft_no_memory(err, "functions");
    for (uint32_t id = 0; code == WEFT_OK && id < n_functions; id++) {
        bool is_match = false;
        code = weft_matcher_matches(matcher, weft_trace_function(trace, id)->name, &is_match, err);
        if (is_match)
            (*ids)[(*n_ids)++] = id;
    }
    weft_matcher_free(matcher);
    if (code != WEFT_OK) {
        free(*ids);
        *ids = NULL;
        *n_ids = 0;
    }
    return code;
}
