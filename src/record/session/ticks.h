/* SPDX-License-Identifier: MIT
 *
 * The clock of rings: the time stamp counter, else CLOCK_MONOTONIC.
 */
#ifndef WEFT_RECORD_SESSION_TICKS_H
#define WEFT_RECORD_SESSION_TICKS_H

#include "schema/recording.h"

#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

static inline uint64_t session_clock_ns(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t session_ticks(void)
{
#ifdef __x86_64__
    return __rdtsc();
#else
    return session_clock_ns(CLOCK_MONOTONIC);
#endif
}

/* CLOCK_MONOTONIC at any number of ticks, those that a program made up as well: within 64 bits. */
static inline uint64_t session_ns_of_ticks(const struct weft_clock_pair *pair, double ns_per_tick,
                                           uint64_t ticks)
{
    const double ns = ((double)ticks - (double)pair->ticks) * ns_per_tick;
    const double at_ns = (double)pair->monotonic_ns + ns;
    return !(at_ns > 0) ? 0 : at_ns < 0x1p64 ? (uint64_t)at_ns : UINT64_MAX;
}

/* Both clocks at one moment: of a few tries the one that took the least time. */
static inline struct weft_clock_pair session_clock_pair(void)
{
    struct weft_clock_pair best = { 0 };
    uint64_t least = UINT64_MAX;
    for (int k = 0; k < 5; k++) {
        const uint64_t before = session_ticks();
        const uint64_t ns = session_clock_ns(CLOCK_MONOTONIC);
        const uint64_t took = session_ticks() - before;
        if (took >= least)
            continue;
        least = took;
        best = (struct weft_clock_pair){ .ticks = before + took / 2, .monotonic_ns = ns };
    }
    best.realtime_ns =
        session_clock_ns(CLOCK_REALTIME) - (session_clock_ns(CLOCK_MONOTONIC) - best.monotonic_ns);
    return best;
}

#endif
