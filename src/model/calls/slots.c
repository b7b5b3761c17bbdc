/* SPDX-License-Identifier: MIT
 *
 * Replacement of the least recently used block. A hint by thread and block finds most places at
 * once; else all places are searched, which are few. Holds no blocks itself: callers keep theirs in
 * arrays of the same places.
 */
#include "model/calls/slots.h"

size_t weft_slots_most(uint64_t memory_bytes, uint64_t place_bytes)
{
    const uint64_t n = memory_bytes ? memory_bytes / place_bytes : WEFT_SLOTS;
    return n < WEFT_SLOTS_FEW ? WEFT_SLOTS_FEW : n < WEFT_SLOTS ? (size_t)n : WEFT_SLOTS;
}

static uint16_t *hint_of(struct weft_slots *slots, uint32_t thread_id, uint64_t block)
{
    return &slots->hints[(thread_id * UINT64_C(5) + block) % WEFT_SLOT_HINTS];
}

static bool holds(const struct weft_slots *slots, size_t place, uint32_t thread_id, uint64_t block)
{
    return slots->items[place].last_use && slots->items[place].thread_id == thread_id &&
           slots->items[place].block == block;
}

size_t weft_slots_find(struct weft_slots *slots, size_t n, uint32_t thread_id, uint64_t block,
                       bool *is_held)
{
    uint16_t *hint = hint_of(slots, thread_id, block);
    size_t place = *hint, oldest = 0;
    *is_held = holds(slots, place, thread_id, block);
    for (size_t i = 0; i < n && !*is_held; i++) {
        *is_held = holds(slots, place = i, thread_id, block);
        if (slots->items[i].last_use < slots->items[oldest].last_use)
            oldest = i;
    }
    if (*is_held)
        slots->items[place].last_use = ++slots->n_uses;
    else
        slots->items[place = oldest].last_use = 0;
    *hint = (uint16_t)place;
    return place;
}

void weft_slots_hold(struct weft_slots *slots, size_t place, uint32_t thread_id, uint64_t block)
{
    slots->items[place].thread_id = thread_id;
    slots->items[place].block = block;
    slots->items[place].last_use = ++slots->n_uses;
}

size_t weft_slots_room_for(const struct weft_slots_room *room, uint64_t n_bytes)
{
    const bool has_room = room->most_bytes == 0 || room->n < WEFT_SLOTS_FEW ||
                          room->n_bytes + n_bytes <= room->most_bytes;
    return room->n < WEFT_SLOTS && has_room ? room->n + 1 : room->n;
}

void weft_slots_room_take(struct weft_slots_room *room, size_t place, uint64_t n_bytes)
{
    room->n = place >= room->n ? place + 1 : room->n;
    room->n_bytes += n_bytes - room->bytes[place];
    room->bytes[place] = n_bytes;
}

bool weft_slots_room_shrink(struct weft_slots_room *room, struct weft_slots *slots,
                            uint64_t n_recent, size_t *place)
{
    if (room->most_bytes == 0 || room->n <= WEFT_SLOTS_FEW || room->n_bytes <= room->most_bytes ||
        slots->items[room->n - 1].last_use + n_recent > slots->n_uses)
        return false;
    *place = --room->n;
    slots->items[*place].last_use = 0;
    room->n_bytes -= room->bytes[*place];
    room->bytes[*place] = 0;
    return true;
}
