/* SPDX-License-Identifier: MIT
 *
 * Head and column table of blocks of events, parsed with the format's limits and written. Rows are
 * decoded in store_events.c and collected in event_builder.c. The table at the top states how the
 * value of each kind is encoded; it is part of the file format.
 */
#include "store/event_block.h"

#include "store/chunk.h"

#include <inttypes.h>

_Static_assert(WEFT_EVENT_KINDS <= 32, "kinds are bits of a u32");

const uint8_t weft_event_value_codes[WEFT_EVENT_KINDS] = {
    [WEFT_EVENT_SPAN] = WEFT_VALUE_RUNNING,
    [WEFT_EVENT_INSTANT] = WEFT_VALUE_RUNNING,
    [WEFT_EVENT_COUNTER] = WEFT_VALUE_REVERSED,
    [WEFT_EVENT_PACKET_SENT] = WEFT_VALUE_RUNNING,
    [WEFT_EVENT_PACKET_RECEIVED] = WEFT_VALUE_RUNNING,
    [WEFT_EVENT_FLOW_BEGIN] = WEFT_VALUE_RUNNING,
    [WEFT_EVENT_FLOW_END] = WEFT_VALUE_RUNNING,
    [WEFT_EVENT_FLOW_STEP] = WEFT_VALUE_RUNNING,
    [WEFT_EVENT_CALL_ARGS] = WEFT_VALUE_ROW,
};

/* ---- reading -------------------------------------------------------------------------------- */

/* How many events of each kind; the sum must be n_events. */
static enum weft_code kinds_parse(struct weft_cursor *in, struct weft_event_head *head,
                                  struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t n_kinds = weft_cur_varint_max(in, 32);
    uint64_t kind = 0;
    uint32_t n_left = head->n_events;
    for (uint64_t i = 0; i < n_kinds && !in->fault; i++, kind++) {
        kind += weft_cur_varint_max(in, 31);
        const uint32_t count = (uint32_t)weft_cur_varint_max(in, n_left);
        if (!in->fault && kind >= WEFT_EVENT_KINDS)
            return weft_fail(err, WEFT_E_UNSUPPORTED, at_off,
                             "event kind %" PRIu64 " is newer than this program", kind);
        if (in->fault || count == 0)
            break;
        head->counts[kind] = count;
        head->kinds |= UINT32_C(1) << kind;
        n_left -= count;
    }
    if (in->fault || n_left > 0)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected the kinds of %" PRIu32 " events, found others", head->n_events);
    return WEFT_OK;
}

enum weft_code weft_event_head_parse(struct weft_cursor *in, struct weft_event_head *head,
                                     struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    *head = (struct weft_event_head){ 0 };
    head->thread_id = (uint32_t)weft_cur_varint_max(in, UINT32_MAX - 1);
    head->block = weft_cur_varint_max(in, UINT32_MAX);
    head->n_events = (uint32_t)weft_cur_varint_max(in, WEFT_FORMAT_MAX_BLOCK_EVENTS);
    head->first_ns = weft_cur_varint_max(in, WEFT_FORMAT_MAX_NS);
    head->last_ns = head->first_ns + weft_cur_varint_max(in, WEFT_FORMAT_MAX_NS - head->first_ns);
    head->base_ns = head->first_ns + weft_cur_varint_max(in, head->last_ns - head->first_ns);
    if (in->fault || head->n_events == 0)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected the numbers of a block of events within the format's limits");
    const enum weft_code code = kinds_parse(in, head, err);
    if (code != WEFT_OK || head->counts[WEFT_EVENT_CALL_ARGS] == 0)
        return code;
    head->first_row = weft_cur_varint_max(in, INT64_MAX);
    head->last_row = head->first_row + weft_cur_varint_max(in, INT64_MAX - head->first_row);
    if (in->fault)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected the calls that a block has arguments of");
    return WEFT_OK;
}

/* The most bytes a column can have before compression: bounds what a reader allocates. */
static uint32_t column_limit(uint32_t n_events, int column)
{
    switch ((enum weft_event_column)column) {
    case WEFT_EVENT_COLUMN_KIND:
        return n_events;
    case WEFT_EVENT_COLUMN_TIME:
    case WEFT_EVENT_COLUMN_DURATION:
    case WEFT_EVENT_COLUMN_VALUE:
        return n_events * 10;
    case WEFT_EVENT_COLUMN_NAME:
    case WEFT_EVENT_COLUMN_CATEGORY:
    case WEFT_EVENT_COLUMN_LENGTH:
    case WEFT_EVENT_COLUMN_THREAD:
    case WEFT_EVENT_COLUMN_OBJECT:
    case WEFT_EVENT_COLUMN_STACK:
    case WEFT_EVENT_COLUMN_CPU:
    case WEFT_EVENT_COLUMN_STATE:
        return n_events * 5;
    case WEFT_EVENT_COLUMN_STRINGS:
        return WEFT_FORMAT_MAX_STRINGS_BYTES;
    case WEFT_EVENT_COLUMN_PAYLOAD:
        return WEFT_FORMAT_MAX_PAYLOAD_BYTES;
    case WEFT_EVENT_COLUMNS:
        break;
    }
    return 0;
}

enum weft_code weft_event_columns_parse(struct weft_cursor *in, const struct weft_event_head *head,
                                        struct weft_event_columns *columns, struct weft_err *err)
{
    const uint64_t table_off = weft_cur_offset(in);
    const uint64_t mask = weft_cur_varint_max(in, (1u << WEFT_EVENT_COLUMNS) - 1);
    for (int i = 0; i < WEFT_EVENT_COLUMNS; i++) {
        struct weft_block_column_entry *column = &columns->items[i];
        *column = (struct weft_block_column_entry){ 0 };
        if (!(mask >> i & 1))
            continue;
        const uint32_t limit = column_limit(head->n_events, i);
        const uint64_t at_off = weft_cur_offset(in);
        column->codec = weft_cur_u8(in);
        column->raw_bytes = (uint32_t)weft_cur_varint_max(in, limit);
        column->stored_bytes = (uint32_t)weft_cur_varint_max(in, limit);
        if (in->fault || column->raw_bytes == 0)
            return weft_fail(err, WEFT_E_MALFORMED, at_off,
                             "expected column %d of 1 to %" PRIu32 " bytes, found other sizes", i,
                             limit);
    }
    const bool is_mixed = (head->kinds & (head->kinds - 1)) != 0;
    const uint32_t kind_bytes = columns->items[WEFT_EVENT_COLUMN_KIND].raw_bytes;
    if (in->fault || kind_bytes != (is_mixed ? head->n_events : 0))
        return weft_fail(err, WEFT_E_MALFORMED, table_off,
                         "expected a column of kinds of %" PRIu32 " bytes, found %" PRIu32,
                         is_mixed ? head->n_events : 0, kind_bytes);
    return WEFT_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

void weft_event_head_put(struct weft_bytes *out, const struct weft_event_head *head)
{
    weft_bytes_put_varint(out, head->thread_id);
    weft_bytes_put_varint(out, head->block);
    weft_bytes_put_varint(out, head->n_events);
    weft_bytes_put_varint(out, head->first_ns);
    weft_bytes_put_varint(out, head->last_ns - head->first_ns);
    weft_bytes_put_varint(out, head->base_ns - head->first_ns);
    weft_bytes_put_varint(out, (uint64_t)__builtin_popcount(head->kinds));
    uint32_t next = 0;
    for (uint32_t kind = 0; kind < WEFT_EVENT_KINDS; kind++) {
        if (head->counts[kind] == 0)
            continue;
        weft_bytes_put_varint(out, kind - next);
        weft_bytes_put_varint(out, head->counts[kind]);
        next = kind + 1;
    }
    if (head->counts[WEFT_EVENT_CALL_ARGS] == 0)
        return;
    weft_bytes_put_varint(out, head->first_row);
    weft_bytes_put_varint(out, head->last_row - head->first_row);
}

/* Packs the columns into encoder->packed and says in `table` how. */
static void columns_put(struct weft_block_encoder *encoder, bool is_mixed,
                        const struct weft_bytes *columns, struct weft_bytes *table)
{
    uint32_t mask = 0;
    for (int i = 0; i < WEFT_EVENT_COLUMNS; i++)
        if (columns[i].n > 0 && (i != WEFT_EVENT_COLUMN_KIND || is_mixed))
            mask |= 1u << i;
    weft_bytes_put_varint(table, mask);
    encoder->packed.n = 0;
    for (int i = 0; i < WEFT_EVENT_COLUMNS; i++) {
        if (!(mask >> i & 1))
            continue;
        const size_t start = encoder->packed.n;
        const enum weft_codec codec =
            weft_column_encode(encoder->columns, WEFT_COLUMN_REPETITIVE, columns[i].items,
                               columns[i].n, &encoder->packed);
        weft_bytes_put_u8(table, (uint8_t)codec);
        weft_bytes_put_varint(table, columns[i].n);
        weft_bytes_put_varint(table, encoder->packed.n - start);
    }
}

static bool is_mixed(const struct weft_event_head *head)
{
    return (head->kinds & (head->kinds - 1)) != 0;
}

/* Table and columns behind what the payload has, and the chunk around all. */
static enum weft_code chunk_finish(struct weft_block_encoder *encoder, uint32_t id,
                                   const struct weft_event_head *head,
                                   const struct weft_bytes *columns, struct weft_bytes *out,
                                   struct weft_err *err)
{
    struct weft_bytes *payload = &encoder->payload;
    bool has_failed = payload->has_failed;
    for (int i = 0; i < WEFT_EVENT_COLUMNS; i++)
        has_failed |= columns[i].has_failed;
    if (!has_failed) {
        columns_put(encoder, is_mixed(head), columns, payload);
        weft_bytes_put(payload, encoder->packed.items, encoder->packed.n);
        weft_chunk_build(id, WEFT_CHUNK_REQUIRED, payload, NULL, out);
    }
    if (has_failed || encoder->packed.has_failed || out->has_failed)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "a block of %" PRIu32 " events",
                         head->n_events);
    return WEFT_OK;
}

enum weft_code weft_event_encode(struct weft_block_encoder *encoder,
                                 const struct weft_event_head *head,
                                 const struct weft_bytes *columns, struct weft_bytes *out,
                                 size_t *head_bytes, struct weft_err *err)
{
    encoder->payload.n = 0;
    weft_event_head_put(&encoder->payload, head);
    *head_bytes = encoder->payload.n;
    return chunk_finish(encoder, WEFT_CHUNK_EVENTS, head, columns, out, err);
}

enum weft_code weft_event_encode_shared(struct weft_block_encoder *encoder, uint32_t id,
                                        size_t n_runs, const struct weft_bytes *heads,
                                        const struct weft_event_head *all,
                                        const struct weft_bytes *columns, struct weft_bytes *out,
                                        struct weft_err *err)
{
    encoder->payload.n = 0;
    weft_bytes_put_varint(&encoder->payload, n_runs);
    weft_bytes_put(&encoder->payload, heads->items, heads->n);
    encoder->payload.has_failed |= heads->has_failed;
    return chunk_finish(encoder, id, all, columns, out, err);
}
