/* SPDX-License-Identifier: MIT
 *
 * Single calls, histograms of them, and trees: columns and JSON (docs/http-api.md).
 */
#ifndef WEFT_RENDER_COLUMNS_CALLS_H
#define WEFT_RENDER_COLUMNS_CALLS_H

#include "model/calls/walk.h"
#include "render/text/render.h"
#include "schema/calls.h"
#include "schema/interval.h"

/* Columns. */
void weft_render_calls(const struct weft_view *view, const struct weft_calls_table *table);
void weft_render_tree(const struct weft_view *view, const struct weft_tree_table *table);

/* JSON. */
void weft_render_histogram(const struct weft_view *view, const struct weft_histogram_table *table,
                           bool is_self);

/* A call's arguments, collected before it is rendered. */
struct weft_call_args {
    struct weft_arena *arena;
    uint64_t *numbers;
    struct weft_str *texts;
    size_t n_numbers, n_texts;
    bool is_failed; /* no memory */
};

/* Collects; `context` is a struct weft_call_args with an arena. For weft_session_arguments. */
void weft_call_args_see(void *context, const struct weft_walk_call *call);

struct weft_call_view {
    bool with_callees;
    const struct weft_call_args *args; /* NULL: not asked for */
};

/* {found: false}, or the call. */
void weft_render_call(const struct weft_view *view, const struct weft_call_table *table,
                      const struct weft_call_view *opts);

#endif
