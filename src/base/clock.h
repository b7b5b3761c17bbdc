/* SPDX-License-Identifier: MIT
 *
 * Exact conversion of ticks to nanoseconds, and the monotonic clock.
 */
#ifndef WEFT_BASE_CLOCK_H
#define WEFT_BASE_CLOCK_H

#include "base/u128.h"

#include <stdbool.h>
#include <stdint.h>

/* ns = floor(ticks * 1e9 / frequency_hz), exactly, for every ticks whose result fits 64 bits.
 * The map is monotone, so nesting survives it. */
struct weft_tick_scale {
    uint64_t frequency_hz;
    uint64_t whole_ns; /* floor(1e9 / frequency) */
    uint64_t fraction; /* floor(2^64 * (1e9 mod frequency) / frequency) */
};

/* frequency_hz: 1 to 2^63. */
struct weft_tick_scale weft_tick_scale_init(uint64_t frequency_hz);

static inline uint64_t weft_ticks_to_ns(const struct weft_tick_scale *scale, uint64_t ticks)
{
    uint64_t ns = ticks * scale->whole_ns + (uint64_t)(((weft_u128)ticks * scale->fraction) >> 64);
    /* The truncated factor loses less than one: the remainder modulo 2^64 decides. */
    uint64_t rest = ticks * UINT64_C(1000000000) - ns * scale->frequency_hz;
    return rest >= scale->frequency_hz ? ns + 1 : ns;
}

uint64_t weft_clock_now_ns(void); /* CLOCK_MONOTONIC */

#endif
