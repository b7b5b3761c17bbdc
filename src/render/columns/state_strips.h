/* SPDX-License-Identifier: MIT
 *
 * States of several threads as columns (docs/http-api.md, "states").
 */
#ifndef WEFT_RENDER_COLUMNS_STATE_STRIPS_H
#define WEFT_RENDER_COLUMNS_STATE_STRIPS_H

#include "render/columns/lod.h"
#include "schema/states.h"

/* A state longer than a pixel, or several that follow each other: kind, reason and name are those
 * of the longest. */
struct weft_strip_item {
    uint64_t start_ns, end_ns;
    uint64_t longest_ns;
    uint64_t running_ns; /* of it, on a CPU; an idle task's idling is not */
    uint32_t count;
    uint32_t kind, reason; /* enum weft_state_kind, enum weft_wait_reason */
    uint32_t name;         /* index into the names */
};

struct weft_strips_view {
    const struct weft_lod_span *threads;
    size_t n_threads;
    const struct weft_strip_item *items;
    size_t n_items;
    const struct weft_str *names;
    size_t n_names;
    uint64_t from_ns, to_ns, pixel_ns;
    bool is_known; /* as weft_states_table */
};

void weft_render_strips(const struct weft_view *view, const struct weft_strips_view *strips);

#endif
