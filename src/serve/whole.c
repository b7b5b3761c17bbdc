/* SPDX-License-Identifier: MIT
 *
 * Answers that take a pass over all calls; those of the whole trace are kept.
 */
#include "query/overview.h"
#include "render/columns/calls.h"
#include "render/columns/pack.h"
#include "render/page/page.h"
#include "render/text/render.h"
#include "serve/state.h"

enum {
    GZIP_LEVEL = 6,
    FACTOR_MAX = 1000000000,
    CALLS = 1000,
    CALLS_MAX = 100000,
    OUTLIERS = 1000,
};

#define SHAPES_BYTES UINT64_C(4000000)

static struct weft_window window_of(const struct weft_ask *ask)
{
    return (struct weft_window){ .from_ns = ask->from_ns, .to_ns = ask->to_ns };
}

/* ---- functions ------------------------------------------------------------------------------- */

WEFT_ENDPOINT(functions)
{
    const struct weft_window window = window_of(ask);
    const union weft_request request = { .functions = { .window = &window } };
    const struct weft_functions_table *table = NULL;
    union weft_result result = { 0 };
    const bool is_whole = !ask->has_window && ask->query->threads.n == 0;
    enum weft_code code = is_whole
                              ? weft_session_functions(ask->session, &table, err)
                              : weft_query_run(ask->session, "functions",
                                               ask->has_window ? &request : NULL, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        const struct weft_functions_view how = { .sort = WEFT_SORT_SELF };
        weft_render_functions(&view, is_whole ? table : result.functions, &how);
    }
    weft_result_free(result.any);
    return code;
}

/* ---- the data of the page -------------------------------------------------------------------- */

/* Compresses what `text` holds into the answer. */
static enum weft_code send_packed(const struct weft_ask *ask, struct weft_output *text,
                                  enum weft_code code, struct weft_err *err)
{
    if (code == WEFT_OK && weft_output_has_failed(text)) {
        code = weft_output_close(text, err);
        text = NULL;
    }
    WEFT_THEN(code, weft_gzip(weft_output_held(text), GZIP_LEVEL, ask->answer->body, err));
    ask->answer->is_gzip = code == WEFT_OK;
    weft_output_abort(text);
    return code;
}

/* What the client chose, the rest as the preset has it. */
static enum weft_code settings_of(const struct weft_ask *ask, struct weft_regtime_opts *opts,
                                  struct weft_err *err)
{
    const struct weft_query *query = ask->query;
    uint64_t glyphs = 0, factor = 0;
    *opts = (struct weft_regtime_opts){ 0 };
    (void)weft_regtime_preset(weft_query_presets[query->preset], opts);
    enum weft_code code = weft_ask_number(ask, WEFT_PARAM_GLYPHS, query->glyphs, opts->glyphs, 0,
                                          UINT32_MAX, &glyphs, err);
    WEFT_THEN(code, weft_ask_number(ask, WEFT_PARAM_OUTLIER_FACTOR, query->outlier_factor,
                                    (uint64_t)opts->outlier_factor, 0, FACTOR_MAX, &factor, err));
    opts->glyphs = (uint32_t)glyphs;
    opts->outlier_factor = (double)factor;
    opts->duration_ns = query->duration_ns;
    opts->gap_ns = query->gap_ns;
    opts->span_ns = query->span_ns;
    if (weft_query_has(query, WEFT_PARAM_OUTLIER_MIN_NS))
        opts->outlier_min_ns = query->outlier_min_ns;
    return code;
}

static enum weft_code put_overview(const struct weft_ask *ask, const struct weft_regtime_opts *opts,
                                   struct weft_err *err)
{
    struct weft_overview overview;
    struct weft_output *text = NULL;
    const struct weft_regtime_view how = { .preset = weft_query_presets[ask->query->preset],
                                           .settings = opts,
                                           .window = opts->window };
    enum weft_code code = weft_overview_run(ask->session, opts, &overview, err);
    const struct weft_page page = {
        .trace = ask->trace,
        .name = ask->served->name,
        .functions = overview.functions,
        .regtime = overview.regtime,
        .activity = overview.activity,
        .outliers = overview.outliers,
        .settings = &how,
        .missing = &overview.missing,
    };
    WEFT_THEN(code, weft_output_to_memory(&text, err));
    WEFT_THEN(code, weft_page_data(&page, text, err));
    weft_overview_fini(&overview);
    return send_packed(ask, text, code, err);
}

WEFT_ENDPOINT(regtime)
{
    const struct weft_window window = window_of(ask);
    struct weft_regtime_opts opts;
    WEFT_TRY(settings_of(ask, &opts, err));
    opts.window = ask->has_window ? &window : NULL;
    return put_overview(ask, &opts, err);
}

WEFT_ENDPOINT(shapes)
{
    union weft_request request;
    union weft_result result;
    struct weft_output *text = NULL;
    struct weft_page page = {
        .trace = ask->trace,
        .name = ask->served->name,
        .shapes_bytes = SHAPES_BYTES,
    };
    weft_overview_shapes(&request.shapes);
    enum weft_code code = weft_session_functions(ask->session, &page.functions, err);
    if (code == WEFT_OK) {
        code = weft_query_run(ask->session, "shapes", &request, &result, err);
        page.shapes = result.shapes;
        WEFT_THEN(code, weft_output_to_memory(&text, err));
        WEFT_THEN(code, weft_page_shapes_data(&page, text, err));
        weft_result_free(result.any);
    }
    return send_packed(ask, text, code, err);
}

/* ---- calls ----------------------------------------------------------------------------------- */

WEFT_ENDPOINT(calls)
{
    const struct weft_query *query = ask->query;
    const struct weft_window window = window_of(ask);
    const bool has_max = weft_query_has(query, WEFT_PARAM_MAX_NS);
    union weft_request request = {
        .calls = { .window = ask->has_window ? &window : NULL,
                   .function_ids = query->fn.n > 0 ? query->fn.items : NULL,
                   .n_function_ids = query->fn.n,
                   .min_ns = query->min_ns,
                   .max_ns = has_max ? query->max_ns : UINT64_MAX,
                   .is_self = query->is_self == 1,
                   .order =
                       query->sort == WEFT_QUERY_TIME ? WEFT_CALLS_EARLIEST : WEFT_CALLS_LONGEST }
    };
    union weft_result result;
    uint64_t limit = 0;
    WEFT_TRY(
        weft_ask_number(ask, WEFT_PARAM_LIMIT, query->limit, CALLS, 1, CALLS_MAX, &limit, err));
    request.calls.limit = (uint32_t)limit;
    enum weft_code code = weft_query_run(ask->session, "calls", &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        ask->answer->type = weft_type_columns;
        weft_render_calls(&view, result.calls);
    }
    weft_result_free(result.any);
    return code;
}

WEFT_ENDPOINT(histogram)
{
    const struct weft_query *query = ask->query;
    const struct weft_window window = window_of(ask);
    const union weft_request request = { .histogram = { .window = ask->has_window ? &window : NULL,
                                                        .function_ids = query->fn.items,
                                                        .n_function_ids = query->fn.n,
                                                        .is_self = query->is_self == 1 } };
    union weft_result result;
    enum weft_code code = weft_query_run(ask->session, "histogram", &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        weft_render_histogram(&view, result.histogram, query->is_self == 1);
    }
    weft_result_free(result.any);
    return code;
}

/* ---- outliers -------------------------------------------------------------------------------- */

WEFT_ENDPOINT(outliers)
{
    const struct weft_query *query = ask->query;
    const struct weft_window window = window_of(ask);
    struct weft_regtime_opts paper = { 0 };
    union weft_result result;
    uint64_t factor = 0, limit = 0;
    (void)weft_regtime_preset("paper", &paper);
    enum weft_code code =
        weft_ask_number(ask, WEFT_PARAM_OUTLIER_FACTOR, query->outlier_factor,
                        (uint64_t)paper.outlier_factor, 0, FACTOR_MAX, &factor, err);
    WEFT_THEN(code, weft_ask_number(ask, WEFT_PARAM_LIMIT, query->limit, OUTLIERS, 1, CALLS_MAX,
                                    &limit, err));
    if (code != WEFT_OK)
        return code;
    /* As `weft outliers`: with a length, that alone decides. */
    const union weft_request request = {
        .outliers = { .window = ask->has_window ? &window : NULL,
                      .outlier_factor = (double)factor,
                      .outlier_min_ns = weft_query_has(query, WEFT_PARAM_OUTLIER_MIN_NS)
                                            ? query->outlier_min_ns
                                            : paper.outlier_min_ns,
                      .duration_fraction = query->min_ns ? 0 : paper.duration_fraction,
                      .gap_fraction = query->min_ns ? 0 : paper.gap_fraction,
                      .limit = (uint32_t)limit,
                      .with_long = true,
                      .function_ids = query->fn.n > 0 ? query->fn.items : NULL,
                      .n_function_ids = query->fn.n,
                      .min_duration_ns = query->min_ns }
    };
    code = weft_query_run(ask->session, "outliers", &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        weft_render_outliers(&view, result.outliers,
                             &(struct weft_outliers_view){ .settings = &request.outliers });
    }
    weft_result_free(result.any);
    return code;
}

WEFT_ENDPOINT(list)
{
    const union weft_request request = {
        .list = { .from_ns = ask->from_ns, .to_ns = ask->to_ns, .limit = ask->query->limit }
    };
    union weft_result result;
    const enum weft_code code =
        weft_query_run(ask->session, ask->list->name, &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        weft_render_list(&view, result.list, ask->list->type);
    }
    weft_result_free(result.any);
    return code;
}
