/* SPDX-License-Identifier: MIT
 *
 * Findings in sentences (docs/analyses/diagnose.md). All judgement is in analysis/findings.
 */
#ifndef WEFT_RENDER_TEXT_DIAGNOSE_H
#define WEFT_RENDER_TEXT_DIAGNOSE_H

#include "render/json/json.h"
#include "render/text/render.h"
#include "schema/findings.h"

#include <stdbool.h>

struct weft_findings_view {
    bool with_rules;   /* which rules were tried, and which one fired */
    bool with_all;     /* text: problems that are small, too */
    bool with_details; /* text: all that is known of each type, in sentences, with the evidence */
};

/* Problems first, then types that have none. */
void weft_render_findings(const struct weft_view *view, const struct weft_findings_table *findings,
                          const struct weft_findings_view *how);

/* The rules of a finding and of its causes. For diagnose.c. */
void weft_explain_put(struct weft_output *out, const struct weft_finding *finding);
void weft_explain_json(struct weft_json *json, const struct weft_rules_tried *tried);

#endif
