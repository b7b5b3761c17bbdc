/* SPDX-License-Identifier: MIT
 *
 * base64(gzip(...)): how the report page carries its data.
 */
#ifndef WEFT_RENDER_PACK_H
#define WEFT_RENDER_PACK_H

#include "base/error.h"
#include "base/str.h"
#include "render/output.h"

/* Compresses `text` (gzip, best ratio, no time stamp: the same bytes every time) and writes it to
 * `out` as base64 on one line. */
WEFT_CHECKED enum weft_code weft_pack(struct weft_str text, struct weft_output *out,
                                      struct weft_err *err);

#endif
