/* SPDX-License-Identifier: MIT */
#include "query/overview.h"

enum { OUTLIERS_LIMIT = 500, PAUSES_LIMIT = 120, COLUMNS = 1200, MARKS_LIMIT = 400 };

#define PAUSE_THRESHOLD_NS UINT64_C(1500000)

static enum weft_code ask_activity(struct weft_session *session,
                                   const struct weft_regtime_opts *opts,
                                   struct weft_overview *overview, struct weft_err *err)
{
    const union weft_request request = { .activity = { .window = opts->window,
                                                       .threshold_ns = PAUSE_THRESHOLD_NS,
                                                       .limit = PAUSES_LIMIT } };
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

enum weft_code weft_overview_run(struct weft_session *session, const struct weft_regtime_opts *opts,
                                 struct weft_overview *overview, struct weft_err *err)
{
    const union weft_request request = { .regtime = *opts };
    union weft_result result;
    *overview = (struct weft_overview){ 0 };
    /* First: the others have its medians, and need not look for them. */
    enum weft_code code = weft_session_functions(session, &overview->functions, err);
    if (code != WEFT_OK)
        return code;
    code = weft_query_run(session, "regtime", &request, &result, err);
    overview->regtime = result.regtime;
    if (code == WEFT_OK)
        code = ask_activity(session, opts, overview, err);
    if (code == WEFT_OK)
        code = ask_outliers(session, opts, overview, err);
    return code;
}

void weft_overview_fini(struct weft_overview *overview)
{
    weft_regtime_table_free(overview->regtime);
    weft_activity_table_free(overview->activity);
    weft_outliers_table_free(overview->outliers);
    *overview = (struct weft_overview){ 0 };
}

void weft_overview_shapes(struct weft_shapes_opts *opts)
{
    weft_shapes_defaults(opts);
    opts->n_columns = COLUMNS;
    opts->limit = MARKS_LIMIT;
}
