/* SPDX-License-Identifier: MIT
 *
 * The interplay of threads as columns, for the screens that draw it (docs/http-api.md).
 */
#ifndef WEFT_RENDER_COLUMNS_INTERPLAY_H
#define WEFT_RENDER_COLUMNS_INTERPLAY_H

#include "base/error.h"
#include "render/columns/columns.h"
#include "render/text/render.h"
#include "schema/interplay.h"

/* Each writes one document; failures go to the output. Those that must gather parts of their table
 * first give WEFT_E_NOMEM. */
void weft_render_interplay_columns(const struct weft_view *view,
                                   const struct weft_interplay_table *table);
void weft_render_correspondences(const struct weft_view *view,
                                 const struct weft_correspondences_table *table);
void weft_render_locktree(const struct weft_view *view, const struct weft_lock_tree_table *table);
WEFT_CHECKED enum weft_code weft_render_blocking(const struct weft_view *view,
                                                 const struct weft_blocking_table *table,
                                                 struct weft_err *err);
WEFT_CHECKED enum weft_code weft_render_lanes(const struct weft_view *view,
                                              const struct weft_lock_lanes_table *table,
                                              struct weft_err *err);

#endif
