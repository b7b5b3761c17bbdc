/* SPDX-License-Identifier: MIT
 *
 * libweft-functions.so: loaded into a program that was built with -finstrument-functions or
 * -fxray-instrument, it records each call. The way of a call without filters: for its entry and its
 * exit, one time stamp and one unit of 4 bytes each.
 */
#include "record/runtime/functions.h"

#include "record/runtime/reach.h"

#define WEFT_HOOK __attribute__((visibility("default")))

bool weft_functions_are_filtered;

void weft_functions_write(enum weft_unit_kind kind, uint64_t address, uint64_t now)
{
    uint64_t delta;
    /* Room first, for either way: the process may have no file before, and no numbers. */
    struct weft_ring *ring = weft_ring_reserve(2 * WEFT_WORD_UNITS, now, &delta);
    const uint64_t number = ring ? weft_number_find(address) : 0;
    if (!ring)
        return;
    if (WEFT_LIKELY(number <= WEFT_NUMBER_BITS_MAX)) {
        ring->units[ring->head & ring->mask] = weft_functions_unit(kind, number, delta);
        ring->head++;
    } else {
        const enum weft_op op = kind == WEFT_UNIT_ENTER ? WEFT_OP_ENTER_FAR : WEFT_OP_EXIT_FAR;
        weft_ring_append(ring, weft_ring_op_word(op, 1, 0, delta));
        weft_ring_append(ring, address);
    }
}

__attribute__((noinline)) void weft_functions_record_slow(enum weft_unit_kind kind,
                                                          uint64_t address, uint64_t now)
{
    weft_functions_write(kind, address, now);
    if (weft_ring_thread.here->slot)
        weft_ring_publish(weft_ring_thread.here);
    weft_ring_leave();
}

__attribute__((noinline)) void weft_functions_record_odd(enum weft_unit_kind kind, uint64_t address)
{
    if (weft_functions_are_filtered)
        weft_filtered_record(kind, address);
    else
        weft_functions_record_slow(kind, address, weft_ring_ticks());
}

__attribute__((noinline)) void weft_functions_record_nested(enum weft_unit_kind kind,
                                                            uint64_t address, uintptr_t frame)
{
    if (!weft_ring_nested(frame))
        return;
    weft_ring_begin_record(frame);
    weft_functions_record_odd(kind, address);
}

WEFT_HOOK void __cyg_profile_func_enter(void *function, void *callsite)
{
    (void)callsite;
    weft_functions_record(WEFT_UNIT_ENTER, (uintptr_t)function);
}

WEFT_HOOK void __cyg_profile_func_exit(void *function, void *callsite)
{
    (void)callsite;
    weft_functions_record(WEFT_UNIT_EXIT, (uintptr_t)function);
}

const enum weft_ring_library weft_library = WEFT_RING_FUNCTIONS;

void weft_library_begin(void)
{
    if (!weft_numbers_begin()) {
        weft_ring_is_on = false;
        weft_reach_report(WEFT_REACH_MEMORY);
    }
    weft_filtered_begin();
}

/* As early as a library can: 101 is the first priority that is not the implementation's. */
__attribute__((constructor(101))) static void functions_begin(void)
{
    weft_ring_begin();
    if (weft_ring_is_on)
        weft_xray_begin();
}
