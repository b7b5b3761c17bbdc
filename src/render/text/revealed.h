/* SPDX-License-Identifier: MIT
 *
 * What a trace would reveal, as a list.
 */
#ifndef WEFT_RENDER_TEXT_REVEALED_H
#define WEFT_RENDER_TEXT_REVEALED_H

#include "analysis/executions/revealed.h"
#include "render/text/render.h"

/* As text, the first rows of each kind. */
void weft_render_revealed(const struct weft_view *view, const struct weft_revealed *revealed);

#endif
