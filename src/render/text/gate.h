/* SPDX-License-Identifier: MIT
 *
 * What a gate found, for people and for the pages of continuous integration.
 */
#ifndef WEFT_RENDER_TEXT_GATE_H
#define WEFT_RENDER_TEXT_GATE_H

#include "render/text/compare.h"
#include "schema/compare.h"

struct weft_gate_view {
    const struct weft_gate_result *result;
    const char *text; /* as it was given */
    enum weft_metric_unit unit;
};

/* "gate 'duration p99 +5%': B is worse: ...", and a line end. */
void weft_render_gate(struct weft_output *out, const struct weft_gate_view *gate);

/* The object "gate" of a comparison. */
void weft_render_gate_json(struct weft_json *json, const struct weft_gate_view *gate);

/* A report in Markdown: the gate, the verdict, differences, causes, examples. */
void weft_render_gate_report(struct weft_output *out, const struct weft_gate_view *gate,
                             const struct weft_comparison_view *comparison);

#endif
