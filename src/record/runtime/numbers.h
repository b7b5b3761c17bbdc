/* SPDX-License-Identifier: MIT
 *
 * Numbers of functions, by which calls are recorded in 4 bytes (schema/recording.h). A number is
 * given at a function's first call and stands in the file of the process; where it is found again
 * is memory of our own:
 *
 *     place of an address ----> address << 17 | number << 2
 *
 * A place is filled once and never changes. What finds its place taken lies a few steps on, where
 * `weft_number_find` looks, but `weft_number_bits` does not. Fork gives the child places of zeros,
 * as it gives it no file.
 */
#ifndef WEFT_RECORD_RUNTIME_NUMBERS_H
#define WEFT_RECORD_RUNTIME_NUMBERS_H

#include "record/runtime/ring.h"

/* Twice as many places as there are numbers. */
enum {
    WEFT_NUMBER_PLACES = 1 << 16,
    WEFT_NUMBER_BITS_MAX = (1 << WEFT_UNIT_DELTA_SHIFT) - 1,
};

/* WEFT_NUMBER_PLACES; NULL: there is no memory for them, and nothing is recorded. */
extern _Atomic uint64_t *weft_number_places;

/* Once, before the first record. False without memory. */
bool weft_numbers_begin(void);

/* The function's number, which it gets if it has none, in its bits of a unit; UINT64_MAX: it can
 * have none. */
uint64_t weft_number_find(uint64_t address);

/* Functions that lie together have places that lie together: they begin at multiples of 16, mostly,
 * and a MiB of them has as many as there are. */
WEFT_INLINE uint64_t weft_number_home(uint64_t address)
{
    return (address ^ address >> 16) >> 4 & (WEFT_NUMBER_PLACES - 1);
}

/* The function's number in its bits of a unit, if its own place holds it and the address has no
 * more than 47 bits; otherwise more than WEFT_NUMBER_BITS_MAX. */
WEFT_INLINE uint64_t weft_number_bits(uint64_t address)
{
    const uint64_t held =
        atomic_load_explicit(&weft_number_places[weft_number_home(address)], memory_order_acquire);
    return (held ^ address << WEFT_UNIT_DELTA_SHIFT) | (address >> 47 << WEFT_UNIT_DELTA_SHIFT);
}

#endif
