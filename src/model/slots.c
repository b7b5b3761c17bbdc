/* SPDX-License-Identifier: MIT */
#include "model/slots.h"

size_t weft_slots_find(struct weft_slots *slots, size_t n, uint32_t thread_id, uint64_t block,
                       bool *is_held)
{
    size_t oldest = 0;
    for (size_t i = 0; i < n; i++) {
        *is_held = slots->items[i].last_use && slots->items[i].thread_id == thread_id &&
                   slots->items[i].block == block;
        if (*is_held) {
            slots->items[i].last_use = ++slots->n_uses;
            return i;
        }
        if (slots->items[i].last_use < slots->items[oldest].last_use)
            oldest = i;
    }
    slots->items[oldest].last_use = 0;
    return oldest;
}

void weft_slots_hold(struct weft_slots *slots, size_t place, uint32_t thread_id, uint64_t block)
{
    slots->items[place].thread_id = thread_id;
    slots->items[place].block = block;
    slots->items[place].last_use = ++slots->n_uses;
}
