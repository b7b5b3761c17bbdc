/* SPDX-License-Identifier: MIT
 *
 * libweft-functions.so: loaded into a program that was built with -finstrument-functions or
 * -fxray-instrument, it records each call. The way of a call without filters: one time stamp, one
 * word of 8 bytes.
 */
#include "record/runtime/functions.h"

#define WEFT_HOOK __attribute__((visibility("default")))

bool weft_functions_are_filtered;

void weft_functions_write(enum weft_word_kind kind, uint64_t address, uint64_t now)
{
    uint64_t delta;
    const bool is_far = address >> 47;
    struct weft_ring *ring = weft_ring_reserve(is_far ? 2 : 1, now, &delta);
    if (!ring)
        return;
    if (is_far) {
        const enum weft_op op = kind == WEFT_WORD_ENTER ? WEFT_OP_ENTER_FAR : WEFT_OP_EXIT_FAR;
        weft_ring_append(ring, weft_ring_op_word(op, 1, 0, delta));
        weft_ring_append(ring, address);
    } else {
        weft_ring_append(ring, (uint64_t)kind | address << WEFT_WORD_ADDRESS_SHIFT |
                                   delta << WEFT_WORD_DELTA_SHIFT);
    }
}

__attribute__((noinline)) void weft_functions_record_slow(enum weft_word_kind kind,
                                                          uint64_t address, uint64_t now)
{
    weft_functions_write(kind, address, now);
    if (weft_ring_thread.here->slot)
        weft_ring_publish(weft_ring_thread.here);
    weft_ring_leave();
}

WEFT_HOOK void __cyg_profile_func_enter(void *function, void *callsite)
{
    (void)callsite;
    weft_functions_record(WEFT_WORD_ENTER, (uintptr_t)function);
}

WEFT_HOOK void __cyg_profile_func_exit(void *function, void *callsite)
{
    (void)callsite;
    weft_functions_record(WEFT_WORD_EXIT, (uintptr_t)function);
}

const enum weft_ring_library weft_library = WEFT_RING_FUNCTIONS;

void weft_library_begin(void)
{
    weft_filtered_begin();
}

/* As early as a library can: 101 is the first priority that is not the implementation's. */
__attribute__((constructor(101))) static void functions_begin(void)
{
    weft_ring_begin();
    if (weft_ring_is_on)
        weft_xray_begin();
}
