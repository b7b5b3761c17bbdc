/* SPDX-License-Identifier: MIT
 *
 * Decoding in two passes: first functions and depths, which proves that the stack never underflows;
 * then times, which needs no further checks. The two loops are the hot part of every scan over
 * calls. It sees columns only; chunks and checksums are the business of reader_load.c.
 */
#include "store/block_decode.h"

#include <inttypes.h>

/* A byte plane with the escaped values beside it. */
struct time_column {
    const uint8_t *plane;
    const uint8_t *ext, *ext_end;
};

#define BAD_DELTA UINT64_MAX

/* Rare: a value that did not fit the plane. BAD_DELTA if bytes are missing or `last_ns` is passed.
 */
__attribute__((noinline)) static uint64_t escape_take(struct time_column *column, uint64_t marker,
                                                      uint64_t now_ns, uint64_t last_ns)
{
    const size_t n_bytes = weft_time_escape_bytes(marker);
    if ((size_t)(column->ext_end - column->ext) < n_bytes || now_ns > last_ns)
        return BAD_DELTA;
    const uint64_t delta_ns = weft_time_escape(marker, column->ext);
    column->ext += n_bytes;
    return delta_ns <= last_ns - now_ns ? delta_ns : BAD_DELTA;
}

static struct time_column time_column_init(const struct weft_block_decode *block,
                                           enum weft_block_column plane)
{
    const uint8_t *ext = block->columns[plane + 1];
    const size_t n_bytes = block->head->columns[plane + 1].raw_bytes;
    return (struct time_column){ block->columns[plane], ext, n_bytes ? ext + n_bytes : ext };
}

/* First pass: functions and depths. Afterwards every depth is one that the stack can have, and the
 * exits before rows are at most those of the block; so the second pass needs no checks. */
__attribute__((always_inline)) static inline bool codes_decode(struct weft_block_decode *block,
                                                               bool is_wide)
{
    const struct weft_block_head *head = block->head;
    const uint32_t n_rows = head->n_rows;
    const uint8_t *code = block->columns[WEFT_COLUMN_CODE];
    const uint32_t *restrict ids = block->function_ids;
    uint32_t *restrict function_id = block->function_id;
    uint32_t *restrict depth_of = block->depth;
    struct weft_cursor more = weft_cur_init(block->columns[WEFT_COLUMN_POPS],
                                            head->columns[WEFT_COLUMN_POPS].raw_bytes, 0);
    uint32_t max_index = 0;
    int64_t depth = block->n_open;
    int64_t sign = 0; /* negative once a depth was */
    for (uint32_t row = 0; row < n_rows; row++) {
        uint32_t index = *code++;
        if (is_wide)
            index |= (uint32_t)*code++ << 8;
        uint32_t pops = *code++;
        if (__builtin_expect(pops == WEFT_FORMAT_POPS_ESCAPE, 0)) {
            const uint64_t beyond = weft_cur_varint(&more);
            if (beyond > head->n_exits)
                return false;
            pops += (uint32_t)beyond;
        }
        max_index = index > max_index ? index : max_index;
        depth -= pops;
        sign |= depth;
        function_id[row] = ids[index];
        depth_of[row] = (uint32_t)depth++;
    }
    const int64_t n_pops = (int64_t)block->n_open + n_rows - depth;
    return sign >= 0 && n_pops <= head->n_exits && depth >= head->n_exits - n_pops &&
           (n_rows == 0 || max_index < head->n_functions) && !more.fault &&
           weft_cur_left(&more) == 0;
}

/* Second pass: times. Each row ends the calls above its depth. They cannot overflow: a delta below
 * the escapes adds at most 251, and an escaped one is bounded by what is left to last_ns < 2^63. */
static bool times_decode(struct weft_block_decode *block)
{
    const struct weft_block_head *head = block->head;
    const uint32_t n_rows = head->n_rows;
    const uint64_t last_ns = head->last_ns;
    struct time_column gap = time_column_init(block, WEFT_COLUMN_GAP);
    struct time_column tail = time_column_init(block, WEFT_COLUMN_TAIL);
    const uint8_t *tail_at = tail.plane;
    const uint8_t *const tail_end = tail.plane + head->n_exits;
    uint64_t *restrict start_ns = block->start_ns;
    uint64_t *restrict end_ns = block->end_ns;
    const uint32_t *restrict depth_of = block->depth;
    uint32_t *restrict stack = block->stack;
    uint64_t now_ns = head->first_event_ns;
    size_t depth = block->n_open;
    for (size_t row = 0; row < n_rows; row++) {
        for (const size_t target = depth_of[row]; depth > target;) {
            uint64_t delta_ns = *tail_at++;
            if (__builtin_expect(delta_ns >= WEFT_TIME_ESCAPE_2, 0)) {
                delta_ns = escape_take(&tail, delta_ns, now_ns, last_ns);
                if (delta_ns == BAD_DELTA)
                    return false;
            }
            now_ns += delta_ns;
            end_ns[stack[--depth]] = now_ns;
        }
        uint64_t delta_ns = gap.plane[row];
        if (__builtin_expect(delta_ns >= WEFT_TIME_ESCAPE_2, 0)) {
            delta_ns = escape_take(&gap, delta_ns, now_ns, last_ns);
            if (delta_ns == BAD_DELTA)
                return false;
        }
        now_ns += delta_ns;
        start_ns[row] = now_ns;
        stack[depth++] = (uint32_t)row;
    }
    while (tail_at < tail_end) {
        uint64_t delta_ns = *tail_at++;
        if (delta_ns >= WEFT_TIME_ESCAPE_2)
            delta_ns = escape_take(&tail, delta_ns, now_ns, last_ns);
        if (delta_ns == BAD_DELTA)
            return false;
        now_ns += delta_ns;
        end_ns[stack[--depth]] = now_ns;
    }
    block->n_left = (uint32_t)depth;
    return now_ns == last_ns && gap.ext == gap.ext_end && tail.ext == tail.ext_end;
}

enum weft_code weft_block_decode(struct weft_block_decode *block, uint64_t at_off,
                                 struct weft_err *err)
{
    const struct weft_block_head *head = block->head;
    for (uint32_t i = 0; i < block->n_open; i++) {
        block->stack[i] = head->n_rows + i;
        block->end_ns[head->n_rows + i] = UINT64_MAX;
    }
    const bool is_good = head->n_functions > WEFT_FORMAT_WIDE_DICT ? codes_decode(block, true)
                                                                   : codes_decode(block, false);
    if (!is_good || !times_decode(block))
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected %" PRIu32 " calls and %" PRIu32 " exits from %" PRIu64
                         " to %" PRIu64 " ns, found columns that disagree",
                         head->n_rows, head->n_exits, head->first_event_ns, head->last_ns);
    return WEFT_OK;
}
