/* SPDX-License-Identifier: MIT */
#include "model/parts.h"

bool weft_parts_init(struct weft_parts *parts)
{
    bool is_ok = true;
    *parts = (struct weft_parts){ 0 };
    for (size_t i = 0; i < WEFT_PARTS && is_ok; i++)
        is_ok = (parts->items[i] = weft_block_part_new()) != NULL;
    return is_ok;
}

void weft_parts_fini(struct weft_parts *parts)
{
    for (size_t i = 0; i < WEFT_PARTS; i++)
        weft_block_part_free(parts->items[i]);
}

enum weft_code weft_parts_open(struct weft_parts *parts, struct weft_store *store,
                               uint32_t thread_id, uint64_t block, struct weft_block_part **part,
                               struct weft_err *err)
{
    bool is_held;
    const size_t place = weft_slots_find(&parts->uses, WEFT_PARTS, thread_id, block, &is_held);
    *part = parts->items[place];
    if (is_held)
        return WEFT_OK;
    const enum weft_code code = weft_block_part_open(store, thread_id, block, *part, err);
    if (code == WEFT_OK)
        weft_slots_hold(&parts->uses, place, thread_id, block);
    return code;
}
