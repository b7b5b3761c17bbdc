/* SPDX-License-Identifier: MIT
 *
 * Answers about parts of a trace, in milliseconds.
 */
#include "base/search.h"
#include "base/vec.h"
#include "render/columns/calls.h"
#include "render/columns/lod.h"
#include "render/columns/state_strips.h"
#include "serve/state.h"

enum {
    TREE_NODES = 20000,
    TREE_NODES_MAX = 1000000,
    SUBTREE_CALLS = 20000,
    SUBTREE_CALLS_MAX = 200000,
    PATH_SEGMENTS = 5000,
    PATH_SEGMENTS_MAX = 100000,
};

/* ---- lod ------------------------------------------------------------------------------------- */

struct levels {
    struct {
        struct weft_lod_span *items;
        size_t n, cap;
    } threads;
    struct {
        struct weft_lod_item *items;
        size_t n, cap;
    } items;
    uint64_t pixel_ns;
    uint32_t width;
    uint64_t depths; /* only so many levels */
};

/* Items of depths below `depths`; they are in order of depth. */
static size_t n_above(const struct weft_lod *lod, uint64_t depths)
{
    size_t place;
    WEFT_SEARCH(place, lod->n_items, lod->items[place].depth < depths);
    return place;
}

static enum weft_code add_thread(const struct weft_ask *ask, uint32_t thread_id,
                                 struct levels *levels, struct weft_err *err)
{
    struct weft_lod lod;
    enum weft_code code = weft_session_lod(ask->session, thread_id, ask->from_ns, ask->to_ns,
                                           levels->width, &lod, err);
    const size_t n_items = code == WEFT_OK ? n_above(&lod, levels->depths) : 0;
    WEFT_THEN(code, weft_ask_fits((levels->items.n + n_items) * sizeof *lod.items, err));
    if (code != WEFT_OK)
        return code;
    struct weft_lod_span *span = WEFT_VEC_PUSH(&levels->threads);
    if (!span || !weft_vec_reserve(&levels->items.items, &levels->items.cap,
                                   levels->items.n + n_items, sizeof *lod.items))
        return weft_no_memory(err, "levels of detail");
    *span = (struct weft_lod_span){ thread_id, levels->items.n, n_items };
    if (n_items)
        memcpy(levels->items.items + levels->items.n, lod.items, n_items * sizeof *lod.items);
    levels->items.n += n_items;
    levels->pixel_ns = lod.pixel_ns;
    return WEFT_OK;
}

WEFT_ENDPOINT(lod)
{
    uint64_t width = 0;
    WEFT_TRY(weft_ask_number(ask, WEFT_PARAM_WIDTH, ask->query->width, 0, 1, WEFT_LOD_MAX_WIDTH,
                             &width, err));
    uint64_t depths = UINT32_MAX;
    enum weft_code code = weft_ask_number(ask, WEFT_PARAM_DEPTHS, ask->query->depths, depths, 1,
                                          UINT32_MAX, &depths, err);
    if (code != WEFT_OK)
        return code;
    const size_t n_threads = weft_session_n_kept(ask->session);
    struct levels levels = { .width = (uint32_t)width, .depths = depths };
    for (size_t i = 0; code == WEFT_OK && i < n_threads; i++) {
        if (weft_progress_is_cancelled(ask->run->progress))
            code = weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
        else
            code = add_thread(ask, weft_session_kept(ask->session, i), &levels, err);
    }
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        const struct weft_lod_view shown = {
            .threads = levels.threads.items,
            .n_threads = levels.threads.n,
            .items = levels.items.items,
            .n_items = levels.items.n,
            .from_ns = ask->from_ns,
            .to_ns = ask->to_ns,
            .pixel_ns = levels.pixel_ns,
            .width = levels.width,
        };
        ask->answer->type = weft_type_columns;
        weft_render_lod(&view, &shown);
    }
    WEFT_VEC_FINI(&levels.threads);
    WEFT_VEC_FINI(&levels.items);
    return code;
}

/* ---- interval -------------------------------------------------------------------------------- */

WEFT_ENDPOINT(interval)
{
    const union weft_request request = { .interval = { .from_ns = ask->from_ns,
                                                       .to_ns = ask->to_ns } };
    union weft_result result;
    enum weft_code code = weft_query_run(ask->session, "interval", &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        const struct weft_interval_view how = { .with_contexts = true, .limit = ask->query->limit };
        weft_render_interval(&view, result.interval, &how);
    }
    weft_result_free(result.any);
    return code;
}

/* ---- tree ------------------------------------------------------------------------------------ */

WEFT_ENDPOINT(tree)
{
    union weft_request request = { .tree = { .from_ns = ask->from_ns, .to_ns = ask->to_ns } };
    union weft_result result;
    uint64_t limit = 0;
    WEFT_TRY(weft_ask_number(ask, WEFT_PARAM_LIMIT, ask->query->limit, TREE_NODES, 1,
                             TREE_NODES_MAX, &limit, err));
    request.tree.limit = (uint32_t)limit;
    enum weft_code code = weft_query_run(ask->session, "tree", &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        ask->answer->type = weft_type_columns;
        weft_render_tree(&view, result.tree);
    }
    weft_result_free(result.any);
    return code;
}

/* ---- one call -------------------------------------------------------------------------------- */

/* The call, and what it was called with. */
static enum weft_code put_item(const struct weft_ask *ask, const struct weft_call_table *table,
                               struct weft_err *err)
{
    struct weft_call_args args = { .arena = weft_arena_new(0) };
    enum weft_code code = WEFT_OK;
    if (args.arena && table->is_found)
        code = weft_session_arguments(ask->session, &table->call, weft_call_args_see, &args, err);
    if (!args.arena || args.is_failed)
        code = weft_no_memory(err, "arguments");
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        weft_render_call(&view, table,
                         &(struct weft_call_view){ .with_callees = true, .args = &args });
    }
    if (args.arena)
        weft_arena_free(args.arena);
    return code;
}

WEFT_ENDPOINT(item)
{
    const struct weft_query *query = ask->query;
    const union weft_request request = { .call = { .which = WEFT_CALL_AT,
                                                   .thread_id = (uint32_t)query->thread,
                                                   .at_ns = query->at_ns,
                                                   .depth = (uint32_t)query->depth } };
    union weft_result result;
    enum weft_code code = weft_query_run(ask->session, "call", &request, &result, err);
    WEFT_THEN(code, put_item(ask, result.call, err));
    weft_result_free(result.any);
    return code;
}

WEFT_ENDPOINT(step)
{
    const struct weft_query *query = ask->query;
    const bool has_depth = weft_query_has(query, WEFT_PARAM_DEPTH);
    const union weft_request request = {
        .call = { .which =
                      query->direction == WEFT_QUERY_PREVIOUS ? WEFT_CALL_PREVIOUS : WEFT_CALL_NEXT,
                  .thread_id = (uint32_t)query->thread,
                  .at_ns = query->at_ns,
                  .depth = has_depth ? (uint32_t)query->depth : WEFT_CALL_ANY_DEPTH,
                  .function_ids = query->fn.n > 0 ? query->fn.items : NULL,
                  .n_function_ids = query->fn.n,
                  .min_ns = query->min_ns }
    };
    union weft_result result;
    enum weft_code code = weft_query_run(ask->session, "call", &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        weft_render_call(&view, result.call, &(struct weft_call_view){ 0 });
    }
    weft_result_free(result.any);
    return code;
}

/* ---- critical path --------------------------------------------------------------------------- */

/* Of a thread and a part of the trace, or of a span: its thread and its time. */
static enum weft_code path_request(const struct weft_ask *ask, struct weft_path_opts *opts,
                                   struct weft_found_span *found, struct weft_err *err)
{
    const struct weft_query *query = ask->query;
    const bool has_span = weft_query_has(query, WEFT_PARAM_SPAN);
    const bool has_depth = weft_query_has(query, WEFT_PARAM_DEPTH);
    *opts = (struct weft_path_opts){ .thread_id = (uint32_t)query->thread,
                                     .from_ns = ask->from_ns,
                                     .to_ns = ask->to_ns,
                                     .call_depth =
                                         has_depth ? (uint32_t)query->depth : WEFT_PATH_INNERMOST };
    if (has_span == weft_query_has(query, WEFT_PARAM_THREAD) || (has_span && ask->has_window))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected thread, with from and to if only a part is wanted; or span");
    if (!has_span)
        return WEFT_OK;
    enum weft_code code = weft_session_find_span(ask->session, query->span.bytes, found, err);
    if (code == WEFT_OK) {
        opts->thread_id = found->thread_id;
        opts->from_ns = found->start_ns;
        opts->to_ns = found->end_ns;
    }
    return code;
}

WEFT_ENDPOINT(path)
{
    const struct weft_query *query = ask->query;
    union weft_request request;
    union weft_result result;
    struct weft_found_span found;
    struct weft_path_view how = {
        .span = weft_query_has(query, WEFT_PARAM_SPAN) ? &found : NULL,
    };
    enum weft_code code = weft_ask_number(ask, WEFT_PARAM_LIMIT, query->limit, PATH_SEGMENTS, 1,
                                          PATH_SEGMENTS_MAX, &how.limit, err);
    WEFT_THEN(code, path_request(ask, &request.path, &found, err));
    if (code != WEFT_OK)
        return code;
    code = weft_query_run(ask->session, "path", &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        weft_render_path(&view, result.path, &how);
    }
    weft_result_free(result.any);
    return code;
}

/* ---- states ---------------------------------------------------------------------------------- */

WEFT_ENDPOINT(states)
{
    uint64_t width = 0;
    struct weft_strips strips;
    WEFT_TRY(weft_ask_number(ask, WEFT_PARAM_WIDTH, ask->query->width, 0, 1, WEFT_LOD_MAX_WIDTH,
                             &width, err));
    enum weft_code code =
        weft_strips_init(&strips, ask->session, ask->from_ns, ask->to_ns, width, err);
    for (size_t i = 0; code == WEFT_OK && i < weft_session_n_kept(ask->session); i++) {
        code = weft_strips_add(&strips, ask->session, weft_session_kept(ask->session, i), err);
        WEFT_THEN(code, weft_ask_fits(strips.items.n * sizeof *strips.items.items, err));
    }
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        ask->answer->type = weft_type_columns;
        weft_render_strips(&view, &strips);
    }
    weft_strips_fini(&strips);
    return code;
}

/* ---- calls of one thread --------------------------------------------------------------------- */

WEFT_ENDPOINT(subtree)
{
    const struct weft_window window = { ask->from_ns, ask->to_ns };
    const uint32_t thread_id = (uint32_t)ask->query->thread;
    union weft_request request = { .calls = { .window = ask->has_window ? &window : NULL,
                                              .max_ns = UINT64_MAX,
                                              .order = WEFT_CALLS_EARLIEST,
                                              .ends_at_limit = true } };
    union weft_result result;
    uint64_t limit = 0;
    enum weft_code code = weft_ask_number(ask, WEFT_PARAM_LIMIT, ask->query->limit, SUBTREE_CALLS,
                                          1, SUBTREE_CALLS_MAX, &limit, err);
    WEFT_THEN(code, weft_session_keep_threads(ask->session, &thread_id, 1, err));
    if (code != WEFT_OK)
        return code;
    request.calls.limit = (uint32_t)limit;
    code = weft_query_run(ask->session, "calls", &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        ask->answer->type = weft_type_columns;
        weft_render_calls(&view, result.calls);
    }
    weft_result_free(result.any);
    return code;
}
