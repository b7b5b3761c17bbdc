/* SPDX-License-Identifier: MIT
 *
 * Runs RegTime, activity and outliers for the page and for `weft serve`, with limits that keep one
 * page small. A part that fails leaves an empty table and a note of the cause, so that the page
 * still shows the others.
 */
#include "query/overview.h"

#include "analysis/regtime/regtime.h"
#include "base/arena.h"
#include "schema/activity.h"
#include "schema/outliers.h"

enum { OUTLIERS_LIMIT = 500, COLUMNS = 1200, MARKS_LIMIT = 400, PARTS = 4 };
enum { PAUSES_LIMIT = 120, PAUSES_LEAST = 5, PAUSES_IN_ALL = 16000 };

#define PAUSE_THRESHOLD_NS UINT64_C(1500000)

/* Of each thread: all together they take no more than so many, but a few are of each. */
static uint32_t pauses_of(const struct weft_session *session)
{
    const size_t n = PAUSES_IN_ALL / (weft_session_n_kept(session) + 1);
    return n > PAUSES_LIMIT ? PAUSES_LIMIT : n < PAUSES_LEAST ? PAUSES_LEAST : (uint32_t)n;
}

static enum weft_code ask_activity(struct weft_session *session,
                                   const struct weft_regtime_opts *opts,
                                   struct weft_overview *overview, struct weft_err *err)
{
    const union weft_request request = { .activity = { .window = opts->window,
                                                       .threshold_ns = PAUSE_THRESHOLD_NS,
                                                       .limit = pauses_of(session) } };
    union weft_result result;
    enum weft_code code = weft_query_run(session, "activity", &request, &result, err);
    overview->activity = result.activity;
    return code;
}

static enum weft_code ask_outliers(struct weft_session *session,
                                   const struct weft_regtime_opts *opts,
                                   struct weft_overview *overview, struct weft_err *err)
{
    const union weft_request request = { .outliers = { .window = opts->window,
                                                       .outlier_factor = opts->outlier_factor,
                                                       .outlier_min_ns = opts->outlier_min_ns,
                                                       .duration_fraction = opts->duration_fraction,
                                                       .gap_fraction = opts->gap_fraction,
                                                       .with_long = true,
                                                       .limit = OUTLIERS_LIMIT } };
    union weft_result result;
    enum weft_code code = weft_query_run(session, "outliers", &request, &result, err);
    overview->outliers = result.outliers;
    return code;
}

/* ---- in place of parts that failed -------------------------------------------------------------
 */

/* The threads that the tables are of: all, or those of the filter. */
static uint32_t thread_at(const struct weft_thread_filter *filter, size_t i)
{
    return filter->ids ? filter->ids[i] : (uint32_t)i;
}

static size_t n_threads_of(const struct weft_session *session,
                           const struct weft_thread_filter *filter)
{
    return filter->ids ? filter->n_ids : weft_trace_n_threads(weft_session_trace(session));
}

static enum weft_code no_regtime(struct weft_session *session, struct weft_overview *overview,
                                 struct weft_err *err)
{
    const struct weft_thread_filter filter = weft_session_filter(session);
    const size_t n = n_threads_of(session, &filter);
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_regtime_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_regtime_table) : NULL;
    struct weft_regtime_thread *threads =
        table ? WEFT_ARENA_NEW(arena, n, struct weft_regtime_thread) : NULL;
    if (!threads) {
        weft_arena_free(arena);
        return weft_no_memory(err, "an empty table");
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = thread_at(&filter, i);
        const struct weft_model_thread *thread = weft_trace_thread(weft_session_trace(session), id);
        threads[i] = (struct weft_regtime_thread){
            .thread_id = id, .start_ns = thread->first_ns, .end_ns = thread->last_ns, .factor = 1
        };
    }
    *table = (struct weft_regtime_table){ .arena = arena, .threads = threads, .n_threads = n };
    overview->regtime = table;
    return WEFT_OK;
}

static enum weft_code no_activity(struct weft_session *session, struct weft_overview *overview,
                                  struct weft_err *err)
{
    const struct weft_thread_filter filter = weft_session_filter(session);
    const size_t n = n_threads_of(session, &filter);
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_activity_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_activity_table) : NULL;
    struct weft_activity_thread *threads =
        table ? WEFT_ARENA_NEW(arena, n, struct weft_activity_thread) : NULL;
    if (!threads) {
        weft_arena_free(arena);
        return weft_no_memory(err, "an empty table");
    }
    for (size_t i = 0; i < n; i++)
        threads[i].thread_id = thread_at(&filter, i);
    *table = (struct weft_activity_table){
        .arena = arena, .threads = threads, .n_threads = n, .threshold_ns = PAUSE_THRESHOLD_NS
    };
    overview->activity = table;
    return WEFT_OK;
}

static enum weft_code no_outliers(struct weft_overview *overview, struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    overview->outliers = arena ? WEFT_ARENA_NEW(arena, 1, struct weft_outliers_table) : NULL;
    if (!overview->outliers) {
        weft_arena_free(arena);
        return weft_no_memory(err, "an empty table");
    }
    overview->outliers->arena = arena;
    return WEFT_OK;
}

/* ---- all parts ---------------------------------------------------------------------------------
 */

static enum weft_code ask_regtime(struct weft_session *session,
                                  const struct weft_regtime_opts *opts,
                                  struct weft_overview *overview, struct weft_err *err)
{
    const union weft_request request = { .regtime = *opts };
    union weft_result result;
    const enum weft_code code = weft_query_run(session, "regtime", &request, &result, err);
    overview->regtime = result.regtime;
    return code;
}

enum weft_code weft_overview_run(struct weft_session *session, const struct weft_regtime_opts *opts,
                                 struct weft_overview *overview, struct weft_err *err)
{
    struct weft_missing *missing = &overview->missing;
    *overview = (struct weft_overview){ 0 };
    /* First: the others have its medians, and need not look for them. */
    enum weft_code code = weft_session_functions(session, &overview->functions, err);
    if (weft_missing_add(missing, WEFT_MISSING_FUNCTIONS, code, err)) {
        overview->functions = &overview->no_functions;
        code = WEFT_OK;
    }
    WEFT_THEN(code, ask_regtime(session, opts, overview, err));
    if (weft_missing_add(missing, WEFT_MISSING_CALLS, code, err))
        code = no_regtime(session, overview, err);
    WEFT_THEN(code, ask_activity(session, opts, overview, err));
    if (weft_missing_add(missing, WEFT_MISSING_PAUSES, code, err))
        code = no_activity(session, overview, err);
    WEFT_THEN(code, ask_outliers(session, opts, overview, err));
    if (weft_missing_add(missing, WEFT_MISSING_OUTLIERS, code, err))
        code = no_outliers(overview, err);
    if (code != WEFT_OK || missing->n < PARTS)
        return code;
    if (err)
        *err = missing->parts[0].reason;
    return missing->parts[0].reason.code;
}

void weft_overview_fini(struct weft_overview *overview)
{
    weft_result_free(overview->regtime);
    weft_result_free(overview->activity);
    weft_result_free(overview->outliers);
    *overview = (struct weft_overview){ 0 };
}

void weft_overview_shapes(struct weft_shapes_opts *opts)
{
    weft_shapes_defaults(opts);
    opts->n_columns = COLUMNS;
    opts->limit = MARKS_LIMIT;
}
