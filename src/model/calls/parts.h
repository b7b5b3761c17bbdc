/* SPDX-License-Identifier: MIT
 *
 * Blocks of calls that were opened last: readers of parts of them go to and fro.
 */
#ifndef WEFT_MODEL_CALLS_PARTS_H
#define WEFT_MODEL_CALLS_PARTS_H

#include "base/error.h"
#include "model/calls/slots.h"
#include "store/block_part.h"

enum { WEFT_PARTS = 8 };

/* Zeroed: none is open, and no more than WEFT_PARTS will be. */
struct weft_parts {
    struct weft_block_part *items[WEFT_SLOTS];
    struct weft_slots uses;
    struct weft_slots_room room;
    bool is_kept; /* as many as there is room for; else WEFT_PARTS */
};

/* As many as `n_bytes` admit stay open, WEFT_PARTS at least. */
void weft_parts_keep(struct weft_parts *parts, uint64_t n_bytes);
void weft_parts_fini(struct weft_parts *parts);

/* A block, opened; valid until WEFT_PARTS other blocks were asked for. Fails as loading does, or
 * without memory. */
WEFT_CHECKED enum weft_code weft_parts_open(struct weft_parts *parts, struct weft_store *store,
                                            uint32_t thread_id, uint64_t block,
                                            struct weft_block_part **part, struct weft_err *err);

#endif
