/* SPDX-License-Identifier: MIT
 *
 * Single executions that are far slower than the others, in sentences.
 */
#ifndef WEFT_RENDER_TEXT_DIAGNOSE_ALONE_H
#define WEFT_RENDER_TEXT_DIAGNOSE_ALONE_H

#include "render/text/diagnose.h"

/* Where nothing else is slow: how many, and each with its start, its thread, and where its path is
 * longer than usual. */
void weft_alone_put_only(struct weft_output *out, const struct weft_diagnosis *diagnosis);

/* Where nothing else is significant: the same, before that is said, of those among the slow ones
 * whose reason nothing else shares, if one lasts so long that somebody notices. Did it tell of
 * them? */
bool weft_alone_put_noticed(struct weft_output *out, const struct weft_diagnosis *diagnosis);

/* Those among the slow ones whose reason nothing else shares; nothing if there are none. */
void weft_alone_put_too(struct weft_output *out, const struct weft_diagnosis *diagnosis);

/* What the path of each holds more of than usual, and the command that opens it. */
void weft_alone_put_evidence(struct weft_output *out, const struct weft_diagnosis *diagnosis);

#endif
