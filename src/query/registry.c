/* SPDX-License-Identifier: MIT
 *
 * The registry: whoever adds an analysis adds one row to the table below.
 */
#include "query/build.h"
#include "query/match.h"
#include "query/session.h"

#include <stdlib.h>
#include <string.h>

static enum weft_code run_activity(struct weft_session *session, const union weft_request *request,
                                   union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    return weft_activity_run(weft_session_trace(session), &filter, &request->activity,
                             weft_session_run(session), &result->activity, err);
}

static void discard_activity(union weft_result *result)
{
    weft_activity_table_free(result->activity);
}

static enum weft_code run_blocking(struct weft_session *session, const union weft_request *request,
                                   union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    const struct weft_interplay *interplay;
    enum weft_code code = weft_session_interplay(session, request->blocking.to_ns, &interplay, err);
    if (code != WEFT_OK)
        return code;
    return weft_blocking_run(interplay, &filter, &request->blocking, weft_session_run(session),
                             &result->blocking, err);
}

static void discard_blocking(union weft_result *result)
{
    weft_blocking_table_free(result->blocking);
}

static enum weft_code run_call(struct weft_session *session, const union weft_request *request,
                               union weft_result *result, struct weft_err *err)
{
    return weft_call_run(weft_session_trace(session), &request->call, weft_session_run(session),
                         &result->call, err);
}

static void discard_call(union weft_result *result)
{
    weft_call_table_free(result->call);
}

static enum weft_code run_calls(struct weft_session *session, const union weft_request *request,
                                union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    return weft_calls_run(weft_session_trace(session), &filter, &request->calls,
                          weft_session_run(session), &result->calls, err);
}

static void discard_calls(union weft_result *result)
{
    weft_calls_table_free(result->calls);
}

static enum weft_code run_correspondences(struct weft_session *session,
                                          const union weft_request *request,
                                          union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    const struct weft_interplay *interplay;
    enum weft_code code =
        weft_session_interplay(session, request->correspondences.to_ns, &interplay, err);
    if (code != WEFT_OK)
        return code;
    return weft_correspondences_run(interplay, &filter, &request->correspondences,
                                    weft_session_run(session), &result->correspondences, err);
}

static void discard_correspondences(union weft_result *result)
{
    weft_correspondences_table_free(result->correspondences);
}

static enum weft_code run_cpu(struct weft_session *session, const union weft_request *request,
                              union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    return weft_cpus_run(weft_session_trace(session), &filter, &request->cpu,
                         weft_session_run(session), &result->cpu, err);
}

static void discard_cpu(union weft_result *result)
{
    weft_cpu_table_free(result->cpu);
}

static enum weft_code run_ecct(struct weft_session *session, const union weft_request *request,
                               union weft_result *result, struct weft_err *err)
{
    return weft_execution_tree(session, &request->ecct, &result->ecct, err);
}

static void discard_ecct(union weft_result *result)
{
    weft_ecct_matrix_free(result->ecct);
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

static void discard_executions(union weft_result *result)
{
    weft_executions_table_free(result->executions);
}

static enum weft_code run_findings(struct weft_session *session, const union weft_request *request,
                                   union weft_result *result, struct weft_err *err)
{
    return weft_findings_of_trace(session, &request->findings, &result->findings, err);
}

static void discard_findings(union weft_result *result)
{
    weft_findings_free(result->findings);
}

static enum weft_code run_frequencies(struct weft_session *session,
                                      const union weft_request *request, union weft_result *result,
                                      struct weft_err *err)
{
    return weft_session_frequencies(session, &request->frequencies, &result->frequencies, err);
}

static void discard_frequencies(union weft_result *result)
{
    weft_frequencies_table_free(result->frequencies);
}

static enum weft_code run_functions(struct weft_session *session, const union weft_request *request,
                                    union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    return weft_functions_run(weft_session_trace(session), &filter,
                              request ? &request->functions : NULL, weft_session_run(session),
                              &result->functions, err);
}

static void discard_functions(union weft_result *result)
{
    weft_functions_table_free(result->functions);
}

static enum weft_code run_histogram(struct weft_session *session, const union weft_request *request,
                                    union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    return weft_histogram_run(weft_session_trace(session), &filter, &request->histogram,
                              weft_session_run(session), &result->histogram, err);
}

static void discard_histogram(union weft_result *result)
{
    weft_histogram_table_free(result->histogram);
}

static enum weft_code run_interplay(struct weft_session *session, const union weft_request *request,
                                    union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    const struct weft_interplay *interplay;
    enum weft_code code =
        weft_session_interplay(session, request->interplay.to_ns, &interplay, err);
    if (code != WEFT_OK)
        return code;
    return weft_interplay_run(interplay, &filter, &request->interplay, weft_session_run(session),
                              &result->interplay, err);
}

static void discard_interplay(union weft_result *result)
{
    weft_interplay_table_free(result->interplay);
}

static enum weft_code run_interval(struct weft_session *session, const union weft_request *request,
                                   union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    return weft_interval_run(weft_session_trace(session), &filter, &request->interval,
                             weft_session_run(session), &result->interval, err);
}

static void discard_interval(union weft_result *result)
{
    weft_interval_table_free(result->interval);
}

static enum weft_code run_lock_lanes(struct weft_session *session,
                                     const union weft_request *request, union weft_result *result,
                                     struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    const struct weft_interplay *interplay;
    enum weft_code code =
        weft_session_interplay(session, request->lock_lanes.to_ns, &interplay, err);
    if (code != WEFT_OK)
        return code;
    return weft_lock_lanes_run(interplay, &filter, &request->lock_lanes, weft_session_run(session),
                               &result->lock_lanes, err);
}

static void discard_lock_lanes(union weft_result *result)
{
    weft_lock_lanes_table_free(result->lock_lanes);
}

static enum weft_code run_lock_tree(struct weft_session *session, const union weft_request *request,
                                    union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    const struct weft_interplay *interplay;
    enum weft_code code =
        weft_session_interplay(session, request->lock_tree.to_ns, &interplay, err);
    if (code != WEFT_OK)
        return code;
    return weft_lock_tree_run(interplay, &filter, &request->lock_tree, weft_session_run(session),
                              &result->lock_tree, err);
}

static void discard_lock_tree(union weft_result *result)
{
    weft_lock_tree_table_free(result->lock_tree);
}

static enum weft_code run_locks(struct weft_session *session, const union weft_request *request,
                                union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    return weft_locks_run(weft_session_trace(session), &filter, &request->locks,
                          weft_session_run(session), &result->locks, err);
}

static void discard_locks(union weft_result *result)
{
    weft_locks_table_free(result->locks);
}

/* What is unusual for a function is measured against the whole trace, whatever threads are kept. */
static enum weft_code run_outliers(struct weft_session *session, const union weft_request *request,
                                   union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    const struct weft_functions_table *functions;
    enum weft_code code = weft_session_functions(session, &functions, err);
    if (code != WEFT_OK)
        return code;
    return weft_outliers_run(weft_session_trace(session), &filter, functions, &request->outliers,
                             weft_session_run(session), &result->outliers, err);
}

static void discard_outliers(union weft_result *result)
{
    weft_outliers_table_free(result->outliers);
}

static enum weft_code run_path(struct weft_session *session, const union weft_request *request,
                               union weft_result *result, struct weft_err *err)
{
    return weft_path_run(weft_session_trace(session), &request->path, weft_session_run(session),
                         &result->path, err);
}

static void discard_path(union weft_result *result)
{
    weft_path_table_free(result->path);
}

static enum weft_code run_regtime(struct weft_session *session, const union weft_request *request,
                                  union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    struct weft_regtime_opts opts = request->regtime;
    if (!opts.medians_ns && opts.outlier_factor > 0) {
        enum weft_code code = weft_session_medians(session, &opts.medians_ns, err);
        if (code != WEFT_OK)
            return code;
    }
    return weft_regtime_run(weft_session_trace(session), &filter, &opts, weft_session_run(session),
                            &result->regtime, err);
}

static void discard_regtime(union weft_result *result)
{
    weft_regtime_table_free(result->regtime);
}

static enum weft_code run_shapes(struct weft_session *session, const union weft_request *request,
                                 union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    return weft_shapes_run(weft_session_trace(session), &filter, &request->shapes,
                           weft_session_run(session), &result->shapes, err);
}

static void discard_shapes(union weft_result *result)
{
    weft_shapes_table_free(result->shapes);
}

static enum weft_code run_states(struct weft_session *session, const union weft_request *request,
                                 union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    return weft_states_run(weft_session_trace(session), &filter, &request->states,
                           weft_session_run(session), &result->states, err);
}

static void discard_states(union weft_result *result)
{
    weft_states_table_free(result->states);
}

static enum weft_code run_tree(struct weft_session *session, const union weft_request *request,
                               union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    return weft_tree_run(weft_session_trace(session), &filter, &request->tree,
                         weft_session_run(session), &result->tree, err);
}

static void discard_tree(union weft_result *result)
{
    weft_tree_table_free(result->tree);
}

static enum weft_code run_waits(struct weft_session *session, const union weft_request *request,
                                union weft_result *result, struct weft_err *err)
{
    struct weft_thread_filter filter = weft_session_filter(session);
    return weft_waits_run(weft_session_trace(session), &filter, &request->waits,
                          weft_session_run(session), &result->waits, err);
}

static void discard_waits(union weft_result *result)
{
    weft_waits_table_free(result->waits);
}

static const struct weft_analysis analyses[] = {
    { "activity", "where each thread ran, waited, stood still or was idle (inferred)", run_activity,
      discard_activity },
    { "blocking", "how long each thread waited, read and wrote, by columns of time", run_blocking,
      discard_blocking },
    { "call", "one call: at a point of time, or the next or previous of its kind", run_call,
      discard_call },
    { "calls", "the longest or the earliest calls of functions", run_calls, discard_calls },
    { "correspondences", "waits and what ended them, bundled by columns of time",
      run_correspondences, discard_correspondences },
    { "cpu", "what each processor did", run_cpu, discard_cpu },
    { "ecct", "the tree of where a thread's time went, on whatever thread", run_ecct,
      discard_ecct },
    { "executions", "what a program does again and again, each from a begin to an end",
      run_executions, discard_executions },
    { "findings", "why executions are slow, or that nothing is", run_findings, discard_findings },
    { "frequencies", "what happens during executions, in slow ones and in others", run_frequencies,
      discard_frequencies },
    { "functions", "calls, times and percentiles of every function", run_functions,
      discard_functions },
    { "histogram", "durations or self times of the calls of functions, in bins", run_histogram,
      discard_histogram },
    { "interplay", "who waits for whom, and what lets them go on", run_interplay,
      discard_interplay },
    { "interval", "what every thread did from one point of time to another", run_interval,
      discard_interval },
    { "lock_lanes", "when each thread had which lock, and waited for it", run_lock_lanes,
      discard_lock_lanes },
    { "lock_tree", "calling contexts of waits, of holds, or of what holders did meanwhile",
      run_lock_tree, discard_lock_tree },
    { "locks", "who waited for which lock, and who had it meanwhile", run_locks, discard_locks },
    { "outliers", "calls and gaps that are unusual for their function or thread", run_outliers,
      discard_outliers },
    { "path", "what a thread's time depended on, on whatever thread", run_path, discard_path },
    { "regtime", "each thread's calls compressed to a few rows, outliers kept", run_regtime,
      discard_regtime },
    { "shapes", "calls grouped by what they call, and where that breaks", run_shapes,
      discard_shapes },
    { "states", "whether threads ran or waited, and for what", run_states, discard_states },
    { "tree", "the calling contexts of an interval, over all threads", run_tree, discard_tree },
    { "waits", "what each thread spent its time on, and what it waited for", run_waits,
      discard_waits },
};

const struct weft_analysis *weft_analyses(size_t *n_analyses)
{
    *n_analyses = sizeof analyses / sizeof *analyses;
    return analyses;
}

static const struct weft_analysis *find_analysis(const char *name)
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
    const struct weft_analysis *analysis = find_analysis(name);
    *result = (union weft_result){ 0 };
    if (!analysis)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "no analysis is called '%.60s'", name);
    return analysis->run(session, request, result, err);
}

void weft_query_discard(const char *name, union weft_result *result)
{
    const struct weft_analysis *analysis = find_analysis(name);
    if (analysis)
        analysis->discard(result);
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
        code = weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for functions");
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
