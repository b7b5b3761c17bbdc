/* SPDX-License-Identifier: MIT
 *
 * A least-recently-used cache of opened blocks over model/calls/slots.h, for the level-of-detail
 * and interval readers. The part that it returns belongs to the cache and is valid until later
 * requests need its place.
 */
#include "model/calls/parts.h"

#include "store/reader.h"

/* Of one that keeps the times of all rows, by row. */
enum { ROW_BYTES = 32 };

void weft_parts_keep(struct weft_parts *parts, uint64_t n_bytes)
{
    parts->is_kept = true;
    parts->room.most_bytes = n_bytes;
}

void weft_parts_fini(struct weft_parts *parts)
{
    for (size_t i = 0; i < WEFT_SLOTS; i++)
        weft_block_part_free(parts->items[i]);
}

/* Arrays grow to the largest block that was opened in them. */
static void drop_surplus(struct weft_parts *parts)
{
    size_t place;
    while (weft_slots_room_shrink(&parts->room, &parts->uses, WEFT_PARTS, &place)) {
        weft_block_part_free(parts->items[place]);
        parts->items[place] = NULL;
    }
}

enum weft_code weft_parts_open(struct weft_parts *parts, struct weft_store *store,
                               uint32_t thread_id, uint64_t block, struct weft_block_part **part,
                               struct weft_err *err)
{
    bool is_held;
    const uint64_t n_bytes =
        weft_store_block_get(store, thread_id, block)->n_rows * (uint64_t)ROW_BYTES;
    const size_t most = parts->is_kept ? weft_slots_room_for(&parts->room, n_bytes) : WEFT_PARTS;
    const size_t place = weft_slots_find(&parts->uses, most, thread_id, block, &is_held);
    *part = parts->items[place];
    if (is_held)
        return WEFT_OK;
    if (!*part)
        *part = parts->items[place] = weft_block_part_new();
    if (!*part)
        return weft_no_memory(err, "blocks of calls");
    const enum weft_code code = weft_block_part_open(store, thread_id, block, *part, err);
    weft_slots_room_take(&parts->room, place,
                         n_bytes > parts->room.bytes[place] ? n_bytes : parts->room.bytes[place]);
    if (code == WEFT_OK)
        weft_slots_hold(&parts->uses, place, thread_id, block);
    drop_surplus(parts);
    return code;
}
