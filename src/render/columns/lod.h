/* SPDX-License-Identifier: MIT
 *
 * Levels of detail of several threads as columns (docs/http-api.md, "lod").
 */
#ifndef WEFT_RENDER_COLUMNS_LOD_H
#define WEFT_RENDER_COLUMNS_LOD_H

#include "model/calls/lod.h"
#include "render/columns/columns.h"
#include "render/text/render.h"

/* The table of them, "threads"; `spans` must outlive it. */
struct weft_columns_table weft_lod_span_table(const struct weft_lod_span *spans, size_t n_spans);

struct weft_lod_view {
    const struct weft_lod_span *threads;
    size_t n_threads;
    const struct weft_lod_item *items;
    size_t n_items;
    uint64_t from_ns, to_ns, pixel_ns;
    uint32_t width;
};

void weft_render_lod(const struct weft_view *view, const struct weft_lod_view *lod);

#endif
