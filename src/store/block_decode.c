/* SPDX-License-Identifier: MIT */
#include "store/block_decode.h"

#include <inttypes.h>

/* A byte plane with the escaped values beside it. */
struct time_column {
    const uint8_t *plane;
    const uint8_t *ext, *ext_end;
};

/* Rare: a value that did not fit the plane. Too few bytes, or a time after the block's end, is a
 * fault. */
__attribute__((noinline)) static uint64_t escape_take(struct time_column *column, uint8_t marker,
                                                      uint64_t limit_ns, bool *is_bad)
{
    static const uint8_t sizes[4] = { 2, 3, 4, 8 };
    const size_t n_bytes = sizes[marker - WEFT_TIME_ESCAPE_2];
    uint8_t bytes[8] = { 0 };
    if ((size_t)(column->ext_end - column->ext) < n_bytes) {
        *is_bad = true;
        return 0;
    }
    memcpy(bytes, column->ext, n_bytes);
    column->ext += n_bytes;
    const uint64_t delta_ns = weft_load_u64(bytes);
    if (delta_ns > limit_ns) {
        *is_bad = true;
        return 0;
    }
    return delta_ns;
}

static struct time_column time_column_init(const struct weft_block_decode *block,
                                           enum weft_block_column plane)
{
    const uint8_t *ext = block->columns[plane + 1];
    const size_t n_bytes = block->head->columns[plane + 1].raw_bytes;
    return (struct time_column){ block->columns[plane], ext, n_bytes ? ext + n_bytes : ext };
}

/* The loop over rows. Invariants that make the stores safe: depth <= n_open + row, x <= n_exits;
 * every index of a dictionary fits function_ids. Times cannot overflow: a delta below the escapes
 * adds at most 251, and an escaped one is bounded by what is left to last_ns <= 2^63. */
__attribute__((always_inline)) static inline bool rows_decode(struct weft_block_decode *block,
                                                              bool is_wide)
{
    const struct weft_block_head *head = block->head;
    const uint32_t n_rows = head->n_rows;
    const uint32_t n_exits = head->n_exits;
    const uint32_t n_functions = head->n_functions;
    const uint64_t last_ns = head->last_ns;
    const uint8_t *code = block->columns[WEFT_COLUMN_CODE];
    struct weft_cursor more_pops = weft_cur_init(block->columns[WEFT_COLUMN_POPS],
                                                 head->columns[WEFT_COLUMN_POPS].raw_bytes, 0);
    struct time_column gap = time_column_init(block, WEFT_COLUMN_GAP);
    struct time_column tail = time_column_init(block, WEFT_COLUMN_TAIL);
    uint64_t *restrict start_ns = block->start_ns;
    uint64_t *restrict end_ns = block->end_ns;
    uint32_t *restrict function_id = block->function_id;
    uint32_t *restrict depth_of = block->depth;
    uint32_t *restrict stack = block->stack;
    uint64_t now_ns = head->first_event_ns;
    uint32_t depth = block->n_open;
    uint32_t x = 0; /* exits so far */
    bool is_bad = false;
    for (uint32_t row = 0; row <= n_rows; row++) {
        uint64_t pops = n_exits - x; /* after the last row: all that are left */
        uint32_t index = 0;
        if (row < n_rows) {
            index = *code++;
            if (is_wide)
                index |= (uint32_t)*code++ << 8;
            pops = *code++;
            if (__builtin_expect(pops == WEFT_FORMAT_POPS_ESCAPE, 0))
                pops += weft_cur_varint(&more_pops);
        }
        if (__builtin_expect(pops > n_exits - x || pops > depth, 0))
            return false;
        for (; pops > 0; pops--) {
            uint64_t delta_ns = tail.plane[x++];
            if (__builtin_expect(delta_ns >= WEFT_TIME_ESCAPE_2, 0))
                delta_ns = escape_take(&tail, (uint8_t)delta_ns,
                                       now_ns < last_ns ? last_ns - now_ns : 0, &is_bad);
            now_ns += delta_ns;
            end_ns[stack[--depth]] = now_ns;
        }
        if (row == n_rows)
            break;
        uint64_t delta_ns = gap.plane[row];
        if (__builtin_expect(delta_ns >= WEFT_TIME_ESCAPE_2, 0))
            delta_ns = escape_take(&gap, (uint8_t)delta_ns, now_ns < last_ns ? last_ns - now_ns : 0,
                                   &is_bad);
        now_ns += delta_ns;
        is_bad |= index >= n_functions;
        start_ns[row] = now_ns;
        function_id[row] = block->function_ids[index];
        depth_of[row] = depth;
        stack[depth++] = row;
    }
    block->n_left = depth;
    return !is_bad && now_ns == last_ns && !more_pops.fault && gap.ext == gap.ext_end &&
           tail.ext == tail.ext_end && weft_cur_left(&more_pops) == 0;
}

enum weft_code weft_block_decode(struct weft_block_decode *block, uint64_t at_off,
                                 struct weft_err *err)
{
    const struct weft_block_head *head = block->head;
    for (uint32_t i = 0; i < block->n_open; i++) {
        block->stack[i] = head->n_rows + i;
        block->end_ns[head->n_rows + i] = UINT64_MAX;
    }
    const bool is_good = head->n_functions > WEFT_FORMAT_WIDE_DICT ? rows_decode(block, true)
                                                                   : rows_decode(block, false);
    if (!is_good)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected %" PRIu32 " calls and %" PRIu32 " exits from %" PRIu64
                         " to %" PRIu64 " ns, found columns that disagree",
                         head->n_rows, head->n_exits, head->first_event_ns, head->last_ns);
    return WEFT_OK;
}
