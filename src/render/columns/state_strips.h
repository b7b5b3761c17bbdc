/* SPDX-License-Identifier: MIT
 *
 * States of several threads as columns (docs/http-api.md, "states").
 */
#ifndef WEFT_RENDER_COLUMNS_STATE_STRIPS_H
#define WEFT_RENDER_COLUMNS_STATE_STRIPS_H

#include "query/strips.h"
#include "render/text/render.h"

void weft_render_strips(const struct weft_view *view, const struct weft_strips *strips);

#endif
