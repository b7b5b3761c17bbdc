/* SPDX-License-Identifier: MIT
 *
 * The part of clock.h that is not inline: the factors of a tick scale, made once for each clock so
 * that a conversion needs no division, and CLOCK_MONOTONIC. Importers and the recorders use it;
 * nothing here depends on a trace.
 */
#include "base/clock.h"

#include <assert.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

struct weft_tick_scale weft_tick_scale_init(uint64_t frequency_hz)
{
    assert(frequency_hz != 0 && frequency_hz <= UINT64_C(1) << 63);
    uint64_t rest = NS_PER_S % frequency_hz;
    return (struct weft_tick_scale){
        .frequency_hz = frequency_hz,
        .whole_ns = NS_PER_S / frequency_hz,
        .fraction = (uint64_t)(((weft_u128)rest << 64) / frequency_hz),
    };
}

uint64_t weft_clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}
