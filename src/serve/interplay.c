/* SPDX-License-Identifier: MIT
 *
 * Answers about threads that wait for each other.
 */

#include "render/columns/interplay.h"

#include "serve/state.h"

enum {
    LISTED = 1000,
    LISTED_MAX = 100000,
    ROWS = 20000,
    ROWS_MAX = 400000,
    LANES = 256,
    LANES_MAX = 4096,
    CONTEXTS = 20000,
    CONTEXTS_MAX = 1000000,
};

static uint64_t object_of(const struct weft_ask *ask)
{
    return weft_query_has(ask->query, WEFT_PARAM_OBJECT) ? ask->query->object : UINT64_MAX;
}

static enum weft_code limit_of(const struct weft_ask *ask, uint64_t otherwise, uint64_t max,
                               uint64_t *limit, struct weft_err *err)
{
    return weft_ask_number(ask, WEFT_PARAM_LIMIT, ask->query->limit, otherwise, 1, max, limit, err);
}

/* Columns; of 0, nothing is merged. */
static enum weft_code width_of(const struct weft_ask *ask, uint64_t least, uint32_t *width,
                               struct weft_err *err)
{
    uint64_t wide = 0;
    enum weft_code code = weft_ask_number(ask, WEFT_PARAM_WIDTH, ask->query->width, 0, least,
                                          WEFT_LOD_MAX_WIDTH, &wide, err);
    *width = (uint32_t)wide;
    return code;
}

/* Unless threads are named, or all asked for: those of the recorded program, as the command line
 * has it. How many are not asked about. */
static enum weft_code keep_program(const struct weft_ask *ask, uint32_t *n_left_out,
                                   struct weft_err *err)
{
    const uint32_t n_foreign = weft_trace_n_foreign(ask->trace);
    *n_left_out = 0;
    if (ask->query->is_all == 1 || ask->query->threads.n > 0)
        return WEFT_OK;
    if (n_foreign < weft_trace_n_threads(ask->trace))
        *n_left_out = n_foreign;
    return weft_session_keep_program(ask->session, err);
}

WEFT_ENDPOINT(interplay)
{
    union weft_request request = { .interplay = { .from_ns = ask->from_ns,
                                                  .to_ns = ask->to_ns,
                                                  .all_processes = ask->query->is_all == 1 } };
    union weft_result result;
    uint32_t n_left_out = 0;
    enum weft_code code = limit_of(ask, LISTED, LISTED_MAX, &request.interplay.limit, err);
    WEFT_THEN(code, keep_program(ask, &n_left_out, err));
    if (code != WEFT_OK)
        return code;
    code = weft_query_run(ask->session, "interplay", &request, &result, err);
    if (code == WEFT_OK) {
        struct weft_view view = weft_ask_view(ask);
        view.n_left_out = n_left_out;
        ask->answer->type = weft_type_columns;
        weft_render_interplay_columns(&view, result.interplay);
    }
    weft_result_free(result.any);
    return code;
}

WEFT_ENDPOINT(correspondences)
{
    const struct weft_query *query = ask->query;
    union weft_request request = {
        .correspondences = { .from_ns = ask->from_ns,
                             .to_ns = ask->to_ns,
                             .object_id = object_of(ask),
                             .releasers = query->releasers.n > 0 ? query->releasers.items : NULL,
                             .n_releasers = query->releasers.n }
    };
    union weft_result result;
    uint64_t limit = 0;
    enum weft_code code = limit_of(ask, ROWS, ROWS_MAX, &limit, err);
    WEFT_THEN(code, width_of(ask, 0, &request.correspondences.width, err));
    if (code != WEFT_OK)
        return code;
    request.correspondences.limit = (uint32_t)limit;
    code = weft_query_run(ask->session, "correspondences", &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        ask->answer->type = weft_type_columns;
        weft_render_correspondences(&view, result.correspondences);
    }
    weft_result_free(result.any);
    return code;
}

WEFT_ENDPOINT(blocking)
{
    union weft_request request = { .blocking = { .from_ns = ask->from_ns, .to_ns = ask->to_ns } };
    union weft_result result;
    WEFT_TRY(width_of(ask, 1, &request.blocking.width, err));
    enum weft_code code = weft_query_run(ask->session, "blocking", &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        ask->answer->type = weft_type_columns;
        code = weft_render_blocking(&view, result.blocking, err);
        weft_result_free(result.any);
    }
    return code;
}

WEFT_ENDPOINT(lanes)
{
    union weft_request request = {
        .lock_lanes = { .from_ns = ask->from_ns, .to_ns = ask->to_ns, .object_id = object_of(ask) }
    };
    union weft_result result;
    uint64_t limit = 0;
    enum weft_code code = limit_of(ask, LANES, LANES_MAX, &limit, err);
    WEFT_THEN(code, width_of(ask, 0, &request.lock_lanes.width, err));
    if (code != WEFT_OK)
        return code;
    request.lock_lanes.limit = (uint32_t)limit;
    code = weft_query_run(ask->session, "lock_lanes", &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        ask->answer->type = weft_type_columns;
        code = weft_render_lanes(&view, result.lock_lanes, err);
        weft_result_free(result.any);
    }
    return code;
}

WEFT_ENDPOINT(locktree)
{
    static const enum weft_lock_tree_kind kinds[] = {
        [WEFT_QUERY_WAITS] = WEFT_LOCK_TREE_WAITS,
        [WEFT_QUERY_SECTIONS] = WEFT_LOCK_TREE_SECTIONS,
        [WEFT_QUERY_MEANWHILE] = WEFT_LOCK_TREE_MEANWHILE,
    };
    union weft_request request = { .lock_tree = { .from_ns = ask->from_ns,
                                                  .to_ns = ask->to_ns,
                                                  .kind = kinds[ask->query->kind],
                                                  .object_id = object_of(ask) } };
    union weft_result result;
    uint64_t limit = 0;
    WEFT_TRY(limit_of(ask, CONTEXTS, CONTEXTS_MAX, &limit, err));
    request.lock_tree.limit = (uint32_t)limit;
    enum weft_code code = weft_query_run(ask->session, "lock_tree", &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        ask->answer->type = weft_type_columns;
        weft_render_locktree(&view, result.lock_tree);
    }
    weft_result_free(result.any);
    return code;
}
