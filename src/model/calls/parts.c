/* SPDX-License-Identifier: MIT
 *
 * A least-recently-used cache of opened blocks over model/calls/slots.h, for the level-of-detail
 * and interval readers. The part that it returns belongs to the cache and is valid until later
 * requests need its place.
 */
#include "model/calls/parts.h"

#include "store/format.h"

/* Of one that keeps the times of all rows. */
enum { PART_BYTES = 32 * WEFT_FORMAT_BLOCK_ROWS };

void weft_parts_keep(struct weft_parts *parts, uint64_t n_bytes)
{
    parts->most = weft_slots_most(n_bytes, PART_BYTES);
}

void weft_parts_fini(struct weft_parts *parts)
{
    for (size_t i = 0; i < WEFT_SLOTS; i++)
        weft_block_part_free(parts->items[i]);
}

enum weft_code weft_parts_open(struct weft_parts *parts, struct weft_store *store,
                               uint32_t thread_id, uint64_t block, struct weft_block_part **part,
                               struct weft_err *err)
{
    bool is_held;
    const size_t most = parts->most ? parts->most : WEFT_PARTS;
    const size_t place = weft_slots_find(&parts->uses, most, thread_id, block, &is_held);
    *part = parts->items[place];
    if (is_held)
        return WEFT_OK;
    if (!*part)
        *part = parts->items[place] = weft_block_part_new();
    if (!*part)
        return weft_no_memory(err, "blocks of calls");
    const enum weft_code code = weft_block_part_open(store, thread_id, block, *part, err);
    if (code == WEFT_OK)
        weft_slots_hold(&parts->uses, place, thread_id, block);
    return code;
}
