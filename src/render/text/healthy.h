/* SPDX-License-Identifier: MIT
 *
 * Types of executions that no problem is found in: a line each, with the reason.
 */
#ifndef WEFT_RENDER_TEXT_HEALTHY_H
#define WEFT_RENDER_TEXT_HEALTHY_H

#include "render/output.h"
#include "schema/findings.h"
#include "schema/problems.h"

/* "180,000 get: none is slow by more than their spread"; `why` is WEFT_LISTED but of findings that
 * are significant. */
void weft_healthy_put(struct weft_output *out, const struct weft_finding *finding,
                      enum weft_unlisted why);

#endif
