/* SPDX-License-Identifier: MIT
 *
 * Which blocks of threads stay decoded: a few, those used last. What is kept of each is the
 * caller's, by place.
 */
#ifndef WEFT_MODEL_CALLS_SLOTS_H
#define WEFT_MODEL_CALLS_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_SLOTS = 256, WEFT_SLOTS_FEW = 16, WEFT_SLOT_HINTS = 64 };

struct weft_slots {
    struct {
        uint64_t last_use; /* turn; 0: nothing is held */
        uint64_t block;
        uint32_t thread_id;
    } items[WEFT_SLOTS];
    uint16_t hints[WEFT_SLOT_HINTS]; /* by some bits of what is asked for: where it was last */
    uint64_t n_uses;
};

/* How many places there may be of `place_bytes` each: WEFT_SLOTS_FEW or more, WEFT_SLOTS at most.
 * As many as threads that a path goes to and fro between, else each is decoded again and again. */
size_t weft_slots_most(uint64_t memory_bytes, uint64_t place_bytes);

/* The place below `n` that holds the block, which is used now; if none does, the one that was not
 * used for longest, which then holds nothing. */
size_t weft_slots_find(struct weft_slots *slots, size_t n, uint32_t thread_id, uint64_t block,
                       bool *is_held);

/* Whether the place still holds the block, which is used now then. */
static inline bool weft_slots_use(struct weft_slots *slots, size_t place, uint32_t thread_id,
                                  uint64_t block)
{
    const bool is_held = slots->items[place].last_use &&
                         slots->items[place].thread_id == thread_id &&
                         slots->items[place].block == block;
    if (is_held)
        slots->items[place].last_use = ++slots->n_uses;
    return is_held;
}

/* The block is at the place from now on. */
void weft_slots_hold(struct weft_slots *slots, size_t place, uint32_t thread_id, uint64_t block);

/* Memory of places whose blocks differ in size: as many are used as it admits, WEFT_SLOTS_FEW at
 * least. */
struct weft_slots_room {
    uint64_t most_bytes; /* 0: no bound */
    uint64_t n_bytes;    /* of all places */
    uint64_t bytes[WEFT_SLOTS];
    size_t n; /* places that were used; 0 ... n - 1 */
};

/* How many places may be looked at (weft_slots_find) for a block of `n_bytes`: one more than are
 * used if there is room for it. */
size_t weft_slots_room_for(const struct weft_slots_room *room, uint64_t n_bytes);

/* The place, one of those, takes `n_bytes` from now on. */
void weft_slots_room_take(struct weft_slots_room *room, size_t place, uint64_t n_bytes);

/* Is more taken than there is? Then the last place, if it is not one of the `n_recent` used last,
 * is empty now, and the caller frees what it has there. */
bool weft_slots_room_shrink(struct weft_slots_room *room, struct weft_slots *slots,
                            uint64_t n_recent, size_t *place);

#endif
