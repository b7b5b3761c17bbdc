/* SPDX-License-Identifier: MIT
 *
 * Single executions that are far slower than the others, in sentences. For diagnose.c.
 */
#ifndef WEFT_RENDER_TEXT_DIAGNOSE_SINGLES_H
#define WEFT_RENDER_TEXT_DIAGNOSE_SINGLES_H

#include "render/output.h"
#include "schema/findings.h"

/* Where nothing else is slow: how many, and each with its start, its thread, and where its path is
 * longer than usual. */
void weft_singles_put_only(struct weft_output *out, const struct weft_finding *finding);

/* The same of those among the slow ones whose reason nothing else shares: before it is said that
 * nothing else is significant, and after other causes (nothing if there are none). */
void weft_singles_put_before(struct weft_output *out, const struct weft_finding *finding);
void weft_singles_put_after(struct weft_output *out, const struct weft_finding *finding);

/* What the path of each holds more of than usual, and the command that opens it. */
void weft_singles_put_evidence(struct weft_output *out, const struct weft_finding *finding);

#endif
