/* SPDX-License-Identifier: MIT
 *
 * gzip, and base64 of it: how the report page carries its data, and the server sends it.
 */
#ifndef WEFT_RENDER_PACK_H
#define WEFT_RENDER_PACK_H

#include "base/error.h"
#include "base/str.h"
#include "render/output.h"

/* Compresses `text` (gzip, `level` 1 to 9, no time stamp: the same bytes every time) into `out`. */
WEFT_CHECKED enum weft_code weft_gzip(struct weft_str text, int level, struct weft_output *out,
                                      struct weft_err *err);

/* Compresses `text` (gzip, best ratio, no time stamp: the same bytes every time) and writes it to
 * `out` as base64 on one line. */
WEFT_CHECKED enum weft_code weft_pack(struct weft_str text, struct weft_output *out,
                                      struct weft_err *err);

#endif
