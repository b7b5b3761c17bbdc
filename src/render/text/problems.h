/* SPDX-License-Identifier: MIT
 *
 * Problems (schema/problems.h) in words: the first screen of `weft diagnose`.
 */
#ifndef WEFT_RENDER_TEXT_PROBLEMS_H
#define WEFT_RENDER_TEXT_PROBLEMS_H

#include "render/json/json.h"
#include "render/text/render.h"
#include "schema/problems.h"

#include <stdbool.h>

/* What the trace is about, and whether it is complete: one line. Nothing of a database. */
void weft_problems_put_head(const struct weft_view *view,
                            const struct weft_findings_table *findings);

/* A card each, the first `most` that are not small (0: all), and how many there are besides. Their
 * number. */
size_t weft_problems_put(struct weft_output *out, const struct weft_problems_table *problems,
                         size_t most);

/* "trace": what the first line says of it; null of a database. */
void weft_problems_json_trace(struct weft_json *json, const struct weft_view *view);

/* "findings": an array. */
void weft_problems_json(struct weft_json *json, const struct weft_problems_table *problems,
                        struct weft_output *scratch);

#endif
