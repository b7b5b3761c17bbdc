/* SPDX-License-Identifier: MIT
 *
 * What records calls of functions: the hooks of -finstrument-functions and those of XRay write the
 * same words.
 */
#ifndef WEFT_RECORD_RUNTIME_FUNCTIONS_H
#define WEFT_RECORD_RUNTIME_FUNCTIONS_H

#include "record/runtime/filtered.h"
#include "record/runtime/ring.h"

/* Whether calls go through the filters (filtered.h). */
extern bool weft_functions_are_filtered;

/* The hooks that compilers call. */
void __cyg_profile_func_enter(void *function, void *callsite);
void __cyg_profile_func_exit(void *function, void *callsite);

/* Writes one word, enter or exit of the function at `address`, or what stands for it when it finds
 * no room at once, comes late or is far away. Does not show it. The caller has entered. */
void weft_functions_write(enum weft_word_kind kind, uint64_t address, uint64_t now);

/* What the quick way has no room for. The caller has entered; this leaves. */
void weft_functions_record_slow(enum weft_word_kind kind, uint64_t address, uint64_t now);

/* Installs and patches the sleds of a program with XRay; nothing without. */
void weft_xray_begin(void);

/* Records enter or exit of the function at `address`. */
WEFT_INLINE void weft_functions_record(enum weft_word_kind kind, uint64_t address)
{
    if (!weft_ring_is_on || !weft_ring_enter())
        return;
    if (WEFT_UNLIKELY(weft_functions_are_filtered)) {
        weft_filtered_record(kind, address);
        return;
    }
    const uint64_t now = weft_ring_ticks();
    struct weft_ring *ring = weft_ring_thread.here;
    const uint64_t delta = now - ring->last_ticks;
    const uint64_t head = ring->head;
    if (WEFT_UNLIKELY(delta > WEFT_WORD_DELTA_MAX || head >= ring->limit || address >> 47)) {
        weft_functions_record_slow(kind, address, now);
        return;
    }
    ring->words[head & ring->mask] =
        (uint64_t)kind | address << WEFT_WORD_ADDRESS_SHIFT | delta << WEFT_WORD_DELTA_SHIFT;
    ring->last_ticks = now;
    ring->head = head + 1;
    weft_ring_publish(ring);
    weft_ring_leave();
}

#endif
