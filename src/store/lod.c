/* SPDX-License-Identifier: MIT
 *
 * Units as bytes.
 */
#include "store/lod.h"

#include "base/checked.h"
#include "schema/event.h"

#include <inttypes.h>

void weft_lod_units_reset(struct weft_lod_units *units)
{
    units->units.n = units->calls.n = units->sums.n = 0;
}

void weft_lod_units_fini(struct weft_lod_units *units)
{
    WEFT_VEC_FINI(&units->units);
    WEFT_VEC_FINI(&units->calls);
    WEFT_VEC_FINI(&units->sums);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_signed(struct weft_bytes *bytes, int64_t value)
{
    weft_bytes_put_varint(bytes, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* Calls that were entered and not yet left, while a unit is written: the next of `open` that ends.
 * A call is left by the time the next one on its depth or above it begins, so those open nest. */
static uint32_t put_ends(const struct weft_lod_call *calls, uint32_t *open, uint32_t n_open,
                         uint64_t until_ns, uint64_t *now_ns, struct weft_bytes *times)
{
    uint32_t n_left = n_open;
    while (n_left > 0 && calls[open[n_left - 1]].end_ns <= until_ns) {
        const uint64_t end_ns = calls[open[--n_left]].end_ns;
        weft_bytes_put_varint(times, end_ns - *now_ns);
        *now_ns = end_ns;
    }
    return n_left;
}

static bool put_calls(const struct weft_lod_call *calls, uint32_t n_calls, uint64_t now_ns,
                      struct weft_bytes *const streams[WEFT_LOD_STREAMS])
{
    struct weft_bytes *codes = streams[WEFT_LOD_CALLS], *times = streams[WEFT_LOD_TIMES];
    uint32_t few[64];
    uint32_t *open = n_calls > 64 ? malloc(n_calls * sizeof *open) : few;
    uint32_t n_open = 0;
    int32_t depth = 0;
    if (!open)
        return false;
    for (uint32_t i = 0; i < n_calls; i++) {
        /* The number of ends stands before their times, for when all streams are one. */
        uint32_t n_left = n_open;
        while (n_left > 0 && calls[open[n_left - 1]].end_ns <= calls[i].start_ns)
            n_left--;
        weft_bytes_put_varint(codes, n_open - n_left);
        put_signed(codes, (int64_t)calls[i].depth - depth);
        weft_bytes_put_varint(codes, calls[i].function);
        n_open = put_ends(calls, open, n_open, calls[i].start_ns, &now_ns, times);
        weft_bytes_put_varint(times, calls[i].start_ns - now_ns);
        now_ns = calls[i].start_ns;
        depth = calls[i].depth;
        open[n_open++] = i;
    }
    (void)put_ends(calls, open, n_open, UINT64_MAX, &now_ns, times);
    if (open != few)
        free(open);
    return true;
}

static void put_sum(const struct weft_lod_sum *sum, int64_t depth_before,
                    struct weft_bytes *const streams[WEFT_LOD_STREAMS])
{
    put_signed(streams[WEFT_LOD_SUMS], sum->depth - depth_before);
    weft_bytes_put_varint(streams[WEFT_LOD_SUMS], sum->function);
    weft_bytes_put_varint(streams[WEFT_LOD_NUMBERS], sum->count);
    weft_bytes_put_varint(streams[WEFT_LOD_LONGEST], sum->longest_ns);
    if (sum->count > 1) {
        const bool is_same = sum->longest_function == sum->function;
        weft_bytes_put_varint(streams[WEFT_LOD_SUMS], is_same ? 0 : sum->longest_function + 1ull);
        weft_bytes_put_varint(streams[WEFT_LOD_COVERED], sum->covered_ns - sum->longest_ns);
    }
    weft_bytes_put_u8(streams[WEFT_LOD_PLACES], (uint8_t)(sum->first << 4 | (sum->end - 1)));
}

void weft_lod_put(const struct weft_lod_units *units, size_t index,
                  struct weft_bytes *const streams[WEFT_LOD_STREAMS])
{
    const struct weft_lod_unit *unit = &units->units.items[index];
    weft_bytes_put_varint(streams[WEFT_LOD_COUNTS], unit->n_calls);
    weft_bytes_put_varint(streams[WEFT_LOD_COUNTS], unit->n_sums);
    weft_bytes_put_varint(streams[WEFT_LOD_COUNTS], unit->end_ns - unit->start_ns);
    if (!put_calls(units->calls.items + unit->first_call, unit->n_calls, unit->start_ns, streams))
        streams[WEFT_LOD_CALLS]->has_failed = true;
    int64_t depth = 0;
    for (uint32_t i = 0; i < unit->n_sums; i++) {
        const struct weft_lod_sum *sum = &units->sums.items[unit->first_sum + i];
        put_sum(sum, depth, streams);
        depth = sum->depth;
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A unit being read; calls that are open form a list through their unused end_ns. */
struct take {
    struct weft_cursor *const *streams;
    const struct weft_lod_names *names;
    struct weft_lod_units *units;
    uint64_t now_ns;
    uint64_t top; /* innermost open call: index + 1, or 0 */
};

static uint64_t take_number(struct take *take, enum weft_lod_stream stream)
{
    return weft_cur_varint(take->streams[stream]);
}

static bool take_time(struct take *take)
{
    const uint64_t delta_ns = take_number(take, WEFT_LOD_TIMES);
    if (delta_ns > take->names->last_ns - take->now_ns)
        return false;
    take->now_ns += delta_ns;
    return true;
}

static bool take_end(struct take *take)
{
    if (take->top == 0 || !take_time(take))
        return false;
    struct weft_lod_call *call = &take->units->calls.items[take->top - 1];
    take->top = call->end_ns;
    call->end_ns = take->now_ns;
    return true;
}

/* A depth of the thread: `depth` is the one before. */
static bool take_depth(struct take *take, enum weft_lod_stream stream, int32_t *depth)
{
    const int64_t level = weft_cur_svarint(take->streams[stream]);
    const int64_t limit = (int64_t)take->names->max_depth;
    if (level < -2 * limit - 2 || level > 2 * limit + 2)
        return false;
    *depth += (int32_t)level;
    return *depth >= 0 && *depth <= limit;
}

static bool take_function(struct take *take, uint64_t number, uint32_t *function)
{
    *function = take->names->function_of(take->names->context, number);
    return *function != WEFT_ID_NONE;
}

static bool take_call(struct take *take, int32_t *depth)
{
    const uint64_t n_ends = take_number(take, WEFT_LOD_CALLS);
    struct weft_lod_call *call = &take->units->calls.items[take->units->calls.n];
    if (!take_depth(take, WEFT_LOD_CALLS, depth) ||
        !take_function(take, take_number(take, WEFT_LOD_CALLS), &call->function))
        return false;
    for (uint64_t i = 0; i < n_ends; i++)
        if (!take_end(take))
            return false;
    if (!take_time(take))
        return false;
    call->depth = *depth;
    call->start_ns = take->now_ns;
    call->end_ns = take->top;
    take->top = ++take->units->calls.n;
    return true;
}

static bool take_sum(struct take *take, struct weft_lod_sum *sum, int32_t *depth)
{
    if (!take_depth(take, WEFT_LOD_SUMS, depth) ||
        !take_function(take, take_number(take, WEFT_LOD_SUMS), &sum->function))
        return false;
    sum->depth = *depth;
    sum->count = take_number(take, WEFT_LOD_NUMBERS);
    sum->longest_ns = sum->covered_ns = take_number(take, WEFT_LOD_LONGEST);
    sum->longest_function = sum->function;
    if (sum->count > 1) {
        const uint64_t other = take_number(take, WEFT_LOD_SUMS);
        if (other > 0 && !take_function(take, other - 1, &sum->longest_function))
            return false;
        sum->covered_ns += take_number(take, WEFT_LOD_COVERED);
    }
    const uint8_t place = weft_cur_u8(take->streams[WEFT_LOD_PLACES]);
    sum->first = place >> 4;
    sum->end = (uint8_t)((place & 15) + 1);
    return sum->count > 0 && sum->first < sum->end;
}

static bool take_all(struct take *take, uint64_t n_calls, uint64_t n_sums)
{
    int32_t depth = (int32_t)take->names->cut_calls;
    for (uint64_t i = 0; i < n_calls; i++)
        if (!take_call(take, &depth))
            return false;
    while (take->top > 0)
        if (!take_end(take))
            return false;
    depth = (int32_t)take->names->cut_calls;
    for (uint64_t i = 0; i < n_sums; i++)
        if (!take_sum(take, &take->units->sums.items[take->units->sums.n++], &depth))
            return false;
    for (int i = 0; i < WEFT_LOD_STREAMS; i++)
        if (take->streams[i]->fault)
            return false;
    return true;
}

static uint64_t longest_of(const struct weft_lod_units *units, size_t first_sum)
{
    uint64_t longest_ns = 0;
    for (size_t i = first_sum; i < units->sums.n; i++)
        longest_ns = weft_max_u64(longest_ns, units->sums.items[i].longest_ns);
    return longest_ns;
}

enum weft_code weft_lod_take(struct weft_cursor *const streams[WEFT_LOD_STREAMS],
                             const struct weft_lod_names *names, uint64_t start_ns,
                             struct weft_lod_units *units, struct weft_err *err)
{
    struct take take = { streams, names, units, .now_ns = start_ns };
    const uint64_t at_off = weft_cur_offset(streams[WEFT_LOD_COUNTS]);
    const uint64_t n_calls = take_number(&take, WEFT_LOD_COUNTS);
    const uint64_t n_sums = take_number(&take, WEFT_LOD_COUNTS);
    const uint64_t length_ns = take_number(&take, WEFT_LOD_COUNTS);
    const size_t first_call = units->calls.n, first_sum = units->sums.n;
    if (start_ns > names->last_ns || length_ns > names->last_ns - start_ns ||
        n_calls > weft_cur_left(streams[WEFT_LOD_CALLS]) ||
        n_sums > weft_cur_left(streams[WEFT_LOD_PLACES]))
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected a unit of a level of detail, found %" PRIu64
                         " calls and %" PRIu64 " sums in fewer bytes, or too long a unit",
                         n_calls, n_sums);
    struct weft_lod_unit *unit = WEFT_VEC_PUSH(&units->units);
    if (!unit ||
        !weft_vec_reserve(&units->calls.items, &units->calls.cap, first_call + n_calls + 1,
                          sizeof *units->calls.items) ||
        !weft_vec_reserve(&units->sums.items, &units->sums.cap, first_sum + n_sums + 1,
                          sizeof *units->sums.items))
        return weft_fail(err, WEFT_E_NOMEM, at_off, "a level of detail");
    *unit = (struct weft_lod_unit){ .start_ns = start_ns,
                                    .end_ns = start_ns + length_ns,
                                    .first_call = (uint32_t)first_call,
                                    .n_calls = (uint32_t)n_calls,
                                    .first_sum = (uint32_t)first_sum,
                                    .n_sums = (uint32_t)n_sums };
    if (!take_all(&take, n_calls, n_sums))
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected %" PRIu64 " calls and %" PRIu64
                         " sums of a level of detail, found others",
                         n_calls, n_sums);
    unit->longest_ns = longest_of(units, first_sum);
    return WEFT_OK;
}
