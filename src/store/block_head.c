/* SPDX-License-Identifier: MIT
 *
 * Parses and checks the head of a block, and the frames in it that end or stay open. All limits
 * that bound a reader's memory are enforced here, before anything is allocated. The index and
 * recovery read heads with the same functions.
 */
#include "store/block.h"

#include <inttypes.h>

static uint32_t take_u32(struct weft_cursor *in, uint32_t limit)
{
    return (uint32_t)weft_cur_varint_max(in, limit);
}

/* The most bytes a column of the block can have before compression: bounds what a reader allocates
 * for it. */
static uint32_t column_limit(const struct weft_block_head *head, int column)
{
    const uint32_t n_rows = head->n_rows;
    switch ((enum weft_block_column)column) {
    case WEFT_COLUMN_DICT:
        return head->n_functions * 5;
    case WEFT_COLUMN_CODE:
        return n_rows * (head->n_functions > WEFT_FORMAT_WIDE_DICT ? 3 : 2);
    case WEFT_COLUMN_POPS:
        return n_rows * 3;
    case WEFT_COLUMN_GAP:
        return n_rows;
    case WEFT_COLUMN_GAP_EXT:
        return n_rows * 8;
    case WEFT_COLUMN_TAIL:
        return head->n_exits;
    case WEFT_COLUMN_TAIL_EXT:
        return head->n_exits * 8;
    case WEFT_COLUMN_FLAGS:
        return n_rows * 4;
    case WEFT_COLUMN_ARGS:
        return n_rows * WEFT_FORMAT_MAX_CALL_ARGS * 13;
    case WEFT_COLUMN_CONTEXTS:
        return n_rows * WEFT_FORMAT_CONTEXT_BYTES;
    case WEFT_BLOCK_COLUMNS:
        break;
    }
    return 0;
}

/* These have one length only. */
static bool is_exact(int column)
{
    return column == WEFT_COLUMN_CODE || column == WEFT_COLUMN_GAP || column == WEFT_COLUMN_TAIL;
}

static enum weft_code columns_parse(struct weft_cursor *in, struct weft_block_head *head,
                                    struct weft_err *err)
{
    for (int i = 0; i < WEFT_BLOCK_COLUMNS; i++) {
        const uint64_t at_off = weft_cur_offset(in);
        const uint32_t limit = column_limit(head, i);
        struct weft_block_column_entry *column = &head->columns[i];
        column->codec = weft_cur_u8(in);
        column->raw_bytes = take_u32(in, limit);
        column->stored_bytes = take_u32(in, limit);
        if (in->fault || (is_exact(i) && column->raw_bytes != limit))
            return weft_fail(err, WEFT_E_MALFORMED, at_off,
                             "expected column %d of %s %" PRIu32 " bytes, found %" PRIu32, i,
                             is_exact(i) ? "exactly" : "at most", limit, column->raw_bytes);
    }
    return WEFT_OK;
}

static void numbers_parse(struct weft_cursor *in, struct weft_block_head *head)
{
    const uint32_t depth = WEFT_FORMAT_MAX_DEPTH;
    head->thread_id = take_u32(in, UINT32_MAX - 1);
    head->block = weft_cur_varint_max(in, INT64_MAX);
    head->first_row = weft_cur_varint_max(in, INT64_MAX);
    head->n_rows = take_u32(in, WEFT_FORMAT_MAX_BLOCK_ROWS);
    head->n_exits = take_u32(in, WEFT_FORMAT_MAX_BLOCK_ROWS + 2 * depth);
    head->first_event_ns = weft_cur_varint_max(in, WEFT_FORMAT_MAX_NS);
    const uint64_t left_ns = WEFT_FORMAT_MAX_NS - head->first_event_ns;
    head->last_ns = head->first_event_ns + weft_cur_varint_max(in, left_ns);
    const uint64_t span_ns = head->last_ns - head->first_event_ns;
    head->first_ns = head->first_event_ns + weft_cur_varint_max(in, span_ns);
    head->longest_call_ns = weft_cur_varint_max(in, span_ns);
    head->longest_gap_ns = weft_cur_varint_max(in, head->last_ns);
    head->n_carried = take_u32(in, depth);
    head->n_cut_before = take_u32(in, depth);
    head->max_level = (int32_t)take_u32(in, 2 * depth) - (int32_t)depth;
    head->n_functions = take_u32(in, head->n_rows);
    head->n_ended = take_u32(in, head->n_exits);
    head->n_left = take_u32(in, head->n_rows);
}

enum weft_code weft_block_head_parse(struct weft_cursor *in, struct weft_block_head *head,
                                     struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    numbers_parse(in, head);
    if (in->fault)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected the numbers of a block within the format's limits");
    if (head->n_rows == 0 ? head->n_exits == 0 : head->n_functions == 0)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected events and functions in a block, found %" PRIu32
                         " entries, %" PRIu32 " exits, %" PRIu32 " functions",
                         head->n_rows, head->n_exits, head->n_functions);
    return columns_parse(in, head, err);
}

struct weft_block_ended weft_block_ended_parse(struct weft_cursor *in,
                                               const struct weft_block_head *head, uint32_t index,
                                               const struct weft_block_ended *previous)
{
    const uint64_t base_ns = index ? previous->end_ns : head->first_event_ns;
    struct weft_block_ended ended;
    ended.end_ns = base_ns + weft_cur_varint_max(in, head->last_ns - base_ns);
    ended.flags = take_u32(in, UINT8_MAX);
    ended.cut_key = index < head->n_carried ? 0 : take_u32(in, UINT32_MAX);
    return ended;
}

struct weft_block_left weft_block_left_parse(struct weft_cursor *in,
                                             const struct weft_block_head *head, uint32_t index,
                                             const struct weft_block_left *previous)
{
    const uint32_t base_row = index ? previous->row + 1 : 0;
    const uint64_t base_ns = index ? previous->start_ns : head->first_ns;
    struct weft_block_left left = { .row = base_row };
    if (base_row >= head->n_rows)
        in->fault = true;
    else
        left.row += take_u32(in, head->n_rows - 1 - base_row);
    left.start_ns = base_ns + weft_cur_varint_max(in, head->last_ns - base_ns);
    left.function_key = take_u32(in, UINT32_MAX);
    return left;
}
