/* SPDX-License-Identifier: MIT
 *
 * Answers about parts of a trace, in milliseconds.
 */
#include "base/vec.h"
#include "model/scan.h"
#include "render/lod.h"
#include "render/render.h"
#include "serve/state.h"

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
};

static enum weft_code add_thread(const struct weft_ask *ask, uint32_t thread_id,
                                 struct levels *levels, struct weft_err *err)
{
    struct weft_lod lod;
    enum weft_code code = weft_session_lod(ask->session, thread_id, ask->from_ns, ask->to_ns,
                                           levels->width, &lod, err);
    if (code == WEFT_OK)
        code = weft_ask_fits((levels->items.n + lod.n_items) * sizeof *lod.items, err);
    if (code != WEFT_OK)
        return code;
    struct weft_lod_span *span = WEFT_VEC_PUSH(&levels->threads);
    if (!span || !weft_vec_reserve(&levels->items.items, &levels->items.cap,
                                   levels->items.n + lod.n_items, sizeof *lod.items))
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for levels of detail");
    *span = (struct weft_lod_span){ thread_id, levels->items.n, lod.n_items };
    if (lod.n_items)
        memcpy(levels->items.items + levels->items.n, lod.items, lod.n_items * sizeof *lod.items);
    levels->items.n += lod.n_items;
    levels->pixel_ns = lod.pixel_ns;
    return WEFT_OK;
}

WEFT_ENDPOINT(lod)
{
    uint64_t width = 0;
    enum weft_code code = weft_ask_number(ask, WEFT_PARAM_WIDTH, ask->query->width, 0, 1,
                                          WEFT_LOD_MAX_WIDTH, &width, err);
    if (code != WEFT_OK)
        return code;
    const struct weft_thread_filter filter = weft_session_filter(ask->session);
    const size_t n_threads = weft_scan_n_threads(ask->trace, filter.ids, filter.n_ids);
    struct levels levels = { .width = (uint32_t)width };
    for (size_t i = 0; code == WEFT_OK && i < n_threads; i++) {
        if (weft_progress_is_cancelled(ask->run->progress))
            code = weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
        else
            code = add_thread(ask, weft_scan_thread_id(filter.ids, filter.n_ids, i), &levels, err);
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
    weft_query_discard("interval", &result);
    return code;
}
