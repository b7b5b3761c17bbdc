/* SPDX-License-Identifier: MIT
 *
 * Which blocks of threads stay decoded: a few, those used last. What is kept of each is the
 * caller's, by place.
 */
#ifndef WEFT_MODEL_SLOTS_H
#define WEFT_MODEL_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_SLOTS = 16 };

struct weft_slots {
    struct {
        uint64_t last_use; /* turn; 0: nothing is held */
        uint64_t block;
        uint32_t thread_id;
    } items[WEFT_SLOTS];
    uint64_t n_uses;
};

/* The place below `n` that holds the block, which is used now; if none does, the one that was not
 * used for longest, which then holds nothing. */
size_t weft_slots_find(struct weft_slots *slots, size_t n, uint32_t thread_id, uint64_t block,
                       bool *is_held);

/* The block is at the place from now on. */
void weft_slots_hold(struct weft_slots *slots, size_t place, uint32_t thread_id, uint64_t block);

#endif
