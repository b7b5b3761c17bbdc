/* SPDX-License-Identifier: MIT
 *
 * What records calls of functions: the hooks of -finstrument-functions and those of XRay write the
 * same words.
 */
#ifndef WEFT_RECORD_RUNTIME_FUNCTIONS_H
#define WEFT_RECORD_RUNTIME_FUNCTIONS_H

#include "record/runtime/filtered.h"
#include "record/runtime/numbers.h"
#include "record/runtime/ring.h"

/* Whether calls go through the filters (filtered.h). */
extern bool weft_functions_are_filtered;

/* The hooks that compilers call. */
void __cyg_profile_func_enter(void *function, void *callsite);
void __cyg_profile_func_exit(void *function, void *callsite);

/* Writes enter or exit of the function at `address`, whether there is room at once or not, whether
 * it has a number or not, however late it comes. Does not show it. The caller has entered. */
void weft_functions_write(enum weft_unit_kind kind, uint64_t address, uint64_t now);

WEFT_INLINE uint32_t weft_functions_unit(enum weft_unit_kind kind, uint64_t number_bits,
                                         uint64_t delta)
{
    return (uint32_t)(kind | number_bits | delta << WEFT_UNIT_DELTA_SHIFT);
}

/* What the quick way has no room for. The caller has entered; this leaves. */
void weft_functions_record_slow(enum weft_unit_kind kind, uint64_t address, uint64_t now);

/* With filters, or without the time stamp counter; likewise. */
void weft_functions_record_odd(enum weft_unit_kind kind, uint64_t address);

/* What a handler of a signal calls while a record is being written below it, or was left. */
void weft_functions_record_nested(enum weft_unit_kind kind, uint64_t address, uintptr_t frame);

/* Installs and patches the sleds of a program with XRay; nothing without. */
void weft_xray_begin(void);

/* Records enter or exit of the function at `address`. What is rare is a call at the very end, so
 * that nothing has to be saved on the way here. */
WEFT_INLINE void weft_functions_record(enum weft_unit_kind kind, uint64_t address)
{
    if (!weft_ring_is_on)
        return;
    const uintptr_t frame = weft_ring_stack();
    if (WEFT_UNLIKELY(weft_ring_thread.busy != 0)) {
        weft_functions_record_nested(kind, address, frame);
        return;
    }
    weft_ring_begin_record(frame);
    if (WEFT_UNLIKELY(weft_functions_are_filtered || weft_clock_is_odd)) {
        weft_functions_record_odd(kind, address);
        return;
    }
    const uint64_t now = weft_ring_counter();
    struct weft_ring *ring = weft_ring_thread.here;
    const uint64_t delta = now - ring->last_ticks;
    const uint64_t head = ring->head;
    uint64_t number = UINT64_MAX;
    if (WEFT_LIKELY(head < ring->limit)) /* there are places */
        number = weft_number_bits(address);
    if (WEFT_UNLIKELY(delta > WEFT_DELTA_MAX || number > WEFT_NUMBER_BITS_MAX)) {
        weft_functions_record_slow(kind, address, now);
        return;
    }
    ring->units[head & ring->mask] = weft_functions_unit(kind, number, delta);
    ring->last_ticks = now;
    ring->head = head + 1;
    weft_ring_publish(ring);
    weft_ring_leave();
}

#endif
