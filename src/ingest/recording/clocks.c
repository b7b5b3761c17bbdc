/* SPDX-License-Identifier: MIT
 *
 * Reads the pairs of clocks that the recorder writes from time to time; between two of them time is
 * interpolated linearly, with rates of 32 fractional bits. Pairs in which a clock steps back are
 * ignored and counted.
 */
#include "ingest/recording/clocks.h"

#include "base/cursor.h"
#include "base/vec.h"

#include <stddef.h>

static uint64_t rate_between(const struct rec_clock_span *from, uint64_t ticks, uint64_t ns)
{
    const weft_u128 rate = ((weft_u128)(ns - from->ns) << 32) / (ticks - from->ticks);
    return rate > UINT64_MAX ? UINT64_MAX : (uint64_t)rate;
}

/* A pair ends the span before it and begins one. Both clocks must have gone on. */
static bool pair_add(struct rec_clocks *clocks, const uint8_t *bytes)
{
    const uint64_t ticks = weft_load_u64(bytes + offsetof(struct weft_clock_pair, ticks));
    const uint64_t ns = weft_load_u64(bytes + offsetof(struct weft_clock_pair, monotonic_ns));
    struct rec_clock_span *last = clocks->n ? &clocks->items[clocks->n - 1] : NULL;
    if (last && (ticks <= last->ticks || ns < last->ns)) {
        clocks->n_backward += ticks < last->ticks || ns < last->ns;
        return true;
    }
    if (last)
        last->rate = rate_between(last, ticks, ns);
    else
        clocks->first_realtime_ns =
            weft_load_u64(bytes + offsetof(struct weft_clock_pair, realtime_ns));
    const uint64_t rate = last ? last->rate : UINT64_C(1) << 32;
    struct rec_clock_span *span = WEFT_VEC_PUSH(clocks);
    if (!span)
        return false;
    *span = (struct rec_clock_span){ .ticks = ticks, .ns = ns, .rate = rate };
    clocks->first_ns = clocks->items[0].ns;
    return true;
}

enum weft_code rec_clocks_read(const struct rec_pieces *pieces, struct rec_clocks *clocks,
                               struct weft_err *err)
{
    struct rec_room room = { 0 };
    bool is_good = true;
    *clocks = (struct rec_clocks){ 0 };
    for (size_t k = 0; is_good && k < pieces->n; k++) {
        struct weft_str pairs = { 0 };
        if (pieces->items[k].kind != WEFT_PIECE_CLOCK)
            continue;
        is_good = rec_piece_read(pieces, &pieces->items[k], &room, &pairs);
        for (size_t at = 0; is_good && at + sizeof(struct weft_clock_pair) <= pairs.n_bytes;
             at += sizeof(struct weft_clock_pair))
            is_good = pair_add(clocks, (const uint8_t *)pairs.bytes + at);
    }
    rec_room_fini(&room);
    return is_good ? WEFT_OK : weft_no_memory(err, "clocks");
}

void rec_clocks_fini(struct rec_clocks *clocks)
{
    WEFT_VEC_FINI(clocks);
}
