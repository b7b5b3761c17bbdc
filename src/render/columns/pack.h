/* SPDX-License-Identifier: MIT
 *
 * gzip, and base64 of it: how the report page carries its data, and the server sends it.
 */
#ifndef WEFT_RENDER_COLUMNS_PACK_H
#define WEFT_RENDER_COLUMNS_PACK_H

#include "base/error.h"
#include "base/pool.h"
#include "base/str.h"
#include "render/output.h"

/* Fast: about a fifth larger in a quarter of the time. */
enum weft_pack_effort { WEFT_PACK_SMALL, WEFT_PACK_FAST };

/* Compresses `text` (one gzip member, no time stamp) and writes it to `out` as base64 on one line.
 * Pieces of it are compressed by the workers of `pool` (NULL: one after the other); the bytes are
 * the same for any number of them. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_pack(struct weft_str text, struct weft_pool *pool,
                                      struct weft_output *out, struct weft_err *err);

/* Compresses `text` (`level` 1 to 9, else as above) into `out`, on the calling thread alone. */
WEFT_CHECKED enum weft_code weft_gzip(struct weft_str text, int level, struct weft_output *out,
                                      struct weft_err *err);

/* How many bytes weft_pack would write; with little effort, more or less. */
WEFT_CHECKED enum weft_code weft_packed_bytes(struct weft_str text, enum weft_pack_effort effort,
                                              struct weft_pool *pool, uint64_t *n_bytes,
                                              struct weft_err *err);

#endif
