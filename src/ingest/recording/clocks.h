/* SPDX-License-Identifier: MIT
 *
 * From ticks to ns of CLOCK_MONOTONIC: pairs of both, between which ticks run evenly. Before the
 * first pair and behind the last one they run as beside it.
 */
#ifndef WEFT_INGEST_RECORDING_CLOCKS_H
#define WEFT_INGEST_RECORDING_CLOCKS_H

#include "base/u128.h"
#include "ingest/recording/pieces.h"

struct rec_clock_span {
    uint64_t ticks, ns; /* where it begins */
    uint64_t rate;      /* ns a tick, in 2^-32 */
};

struct rec_clocks {
    struct {
        struct rec_clock_span *items; /* by ticks, and so by ns */
        size_t n, cap;
    };
    uint64_t first_ns, first_realtime_ns; /* of the first pair */
    uint64_t n_backward;                  /* pairs that contradict the one before; not used */
};

WEFT_CHECKED enum weft_code rec_clocks_read(const struct rec_pieces *pieces,
                                            struct rec_clocks *clocks, struct weft_err *err);
void rec_clocks_fini(struct rec_clocks *clocks);

/* A caller that goes through ticks in order keeps the span reached in `*at`, 0 at first. */
static inline uint64_t rec_clock_ns(const struct rec_clocks *clocks, size_t *at, uint64_t ticks)
{
    const struct rec_clock_span *spans = clocks->items;
    if (clocks->n == 0)
        return ticks;
    while (*at + 1 < clocks->n && ticks >= spans[*at + 1].ticks)
        ++*at;
    while (*at > 0 && ticks < spans[*at].ticks)
        --*at;
    const struct rec_clock_span *span = &spans[*at];
    if (ticks >= span->ticks)
        return span->ns + (uint64_t)(((weft_u128)(ticks - span->ticks) * span->rate) >> 32);
    const uint64_t before_ns = (uint64_t)(((weft_u128)(span->ticks - ticks) * span->rate) >> 32);
    return before_ns < span->ns ? span->ns - before_ns : 0;
}

#endif
