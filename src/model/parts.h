/* SPDX-License-Identifier: MIT
 *
 * Blocks of calls that were opened last: who asks for parts of them goes to and fro.
 */
#ifndef WEFT_MODEL_PARTS_H
#define WEFT_MODEL_PARTS_H

#include "base/error.h"
#include "model/slots.h"
#include "store/block_part.h"

enum { WEFT_PARTS = 8 };

struct weft_parts {
    struct weft_block_part *items[WEFT_PARTS];
    struct weft_slots uses;
};

/* False without memory; weft_parts_fini is right then, too. */
bool weft_parts_init(struct weft_parts *parts);
void weft_parts_fini(struct weft_parts *parts);

/* A block, opened; valid until WEFT_PARTS other blocks were asked for. Fails as loading does. */
WEFT_CHECKED enum weft_code weft_parts_open(struct weft_parts *parts, struct weft_store *store,
                                            uint32_t thread_id, uint64_t block,
                                            struct weft_block_part **part, struct weft_err *err);

#endif
