/* SPDX-License-Identifier: MIT
 *
 * How far a sentence about executions can be trusted, in words.
 */
#ifndef WEFT_RENDER_TEXT_CONFIDENCE_H
#define WEFT_RENDER_TEXT_CONFIDENCE_H

#include "analysis/compare/confidence.h"
#include "render/json/json.h"
#include "render/output.h"

/* "high", "medium", "low". */
const char *weft_confidence_level_name(enum weft_confidence_level level);

/* "low (0.45): 99 % of the time of these executions is inferred; ..." */
void weft_confidence_put(struct weft_output *out, const struct weft_confidence_basis *basis);
/* The same as a sentence after others; nothing if it is high. */
void weft_confidence_put_remark(struct weft_output *out, const struct weft_confidence_basis *basis);
/* "confidence": an object of value, level, reasons. */
void weft_confidence_json(struct weft_json *json, const struct weft_confidence_basis *basis,
                          struct weft_output *scratch);

#endif
