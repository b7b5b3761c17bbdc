/* SPDX-License-Identifier: MIT
 *
 * Decodes the records of one FDR buffer.
 *
 *   function, 8 bytes:   bit 0: 0 | bits 1-3: kind | bits 4-31: id | u32 ticks since the last
 * record metadata, 16 bytes:  bit 0: 1 | bits 1-7: kind | 15 bytes; events are followed by their
 * payload
 *
 * Nearly all records are functions, so they have a loop of their own that checks once per batch.
 * A record that contradicts the format ends the buffer, because nothing says where the next record
 * begins; the bytes from it on are tallied.
 */
#include "base/cursor.h"
#include "ingest/xray/decode.h"

/* State that starts again with each buffer. */
struct buffer {
    const struct weft_xray_log *log;
    struct weft_xray_out *out;
    struct weft_cursor in;
    uint64_t ticks; /* since the log's zero; valid if has_ticks */
    bool has_ticks;
    bool is_damaged; /* the record at in.at cannot be read */
    bool is_short;   /* because it does not end inside the buffer */
    bool is_ended;   /* EndOfBuffer */
};

enum { FUNCTION_ENTER_ARG = 3 };

/* A function record that the fast loop decodes has none of these bits: it is no metadata, of no
 * kind from 4 on, and its id is below WEFT_XRAY_DENSE_KEYS. */
#define RARE_BITS (UINT64_C(0xffffffff) & ~(((uint64_t)WEFT_XRAY_DENSE_KEYS - 1) << 4 | 6))
#define UNKNOWN_KIND_BIT UINT64_C(8)

static inline uint8_t call_kind(uint64_t word)
{
    unsigned kind = word >> 1 & 3;
    return kind == FUNCTION_ENTER_ARG ? WEFT_CALL_ENTER : (uint8_t)kind;
}

static inline void put_call(const struct weft_tick_scale *scale, uint64_t ticks, uint64_t word,
                            struct weft_call_event *call)
{
    call->time_ns = weft_ticks_to_ns(scale, ticks);
    call->function_key = (uint32_t)word >> 4;
    call->kind = call_kind(word);
}

/* Decodes functions until another record, the end of the buffer, or a full batch. Reads `n_most`
 * whole records at most; `ticks` cannot overflow: limit_ticks leaves room for 2^32 deltas. */
static void decode_functions(struct buffer *buffer)
{
    struct weft_xray_out *out = buffer->out;
    const struct weft_tick_scale scale = buffer->log->scale;
    uint8_t *const is_seen = out->seen.dense;
    size_t n_left = weft_cur_left(&buffer->in) / WEFT_XRAY_FUNCTION_BYTES;
    size_t n_room = WEFT_XRAY_BATCH_CALLS - out->n_calls;
    size_t n_most = n_left < n_room ? n_left : n_room;
    const uint8_t *at = buffer->in.at;
    struct weft_call_event *call = out->calls + out->n_calls;
    uint64_t ticks = buffer->ticks;
    size_t n_done = 0;
    for (; n_done < n_most; n_done++) {
        uint64_t word = weft_load_u64(at);
        if (word & RARE_BITS)
            break;
        ticks += word >> 32;
        put_call(&scale, ticks, word, &call[n_done]);
        is_seen[(uint32_t)word >> 4] = 1;
        at += WEFT_XRAY_FUNCTION_BYTES;
    }
    if (n_done == 0)
        return;
    weft_xray_out_calls(out, n_done);
    buffer->ticks = ticks;
    buffer->in.at = at;
}

/* A function with a large id; room for it is there. */
static enum weft_code decode_sparse_function(struct buffer *buffer, uint64_t word,
                                             struct weft_err *err)
{
    struct weft_xray_out *out = buffer->out;
    buffer->ticks += word >> 32;
    put_call(&buffer->log->scale, buffer->ticks, word, &out->calls[out->n_calls]);
    enum weft_code code = weft_xray_see(out, (uint32_t)word >> 4, err);
    weft_xray_out_calls(out, 1);
    weft_cur_take(&buffer->in, WEFT_XRAY_FUNCTION_BYTES);
    return code;
}

/* A new absolute time stamp; one that cannot be true makes the record damaged. */
static void set_time(struct buffer *buffer, uint64_t tsc)
{
    uint64_t ticks;
    if (!weft_xray_time(buffer->log, tsc, &ticks)) {
        buffer->is_damaged = true;
        return;
    }
    buffer->ticks = ticks;
    buffer->has_ticks = true;
}

static enum weft_code decode_cpu(struct buffer *buffer, struct weft_cursor *payload,
                                 struct weft_err *err)
{
    uint16_t cpu = weft_cur_u16(payload);
    set_time(buffer, weft_cur_u64(payload));
    if (buffer->is_damaged)
        return WEFT_OK;
    uint64_t time_ns = weft_ticks_to_ns(&buffer->log->scale, buffer->ticks);
    return weft_xray_out_cpu(buffer->out, cpu, time_ns, err);
}

/* Ticks of a custom or typed event. Before version 5 it holds an absolute time stamp that leaves
 * the running one alone; since then a signed delta that advances it. */
static uint64_t event_ticks(struct buffer *buffer, struct weft_cursor *payload)
{
    uint64_t ticks;
    if (buffer->log->header.version < 5) {
        if (!weft_xray_time(buffer->log, weft_cur_u64(payload), &ticks))
            buffer->is_damaged = true;
        return ticks;
    }
    int64_t delta = (int32_t)weft_cur_u32(payload);
    ticks = delta < 0 && buffer->ticks < (uint64_t)-delta ? 0 : buffer->ticks + (uint64_t)delta;
    if (!buffer->has_ticks)
        buffer->is_damaged = true;
    else
        buffer->ticks = ticks;
    return ticks;
}

static enum weft_code decode_event(struct buffer *buffer, unsigned kind,
                                   struct weft_cursor *payload, struct weft_err *err)
{
    struct weft_event event = {
        .kind = WEFT_EVENT_INSTANT,
        .next_thread_id = WEFT_ID_NONE,
        .object_id = WEFT_ID_NONE,
        .stack_id = WEFT_ID_NONE,
        .cpu = buffer->out->cpu,
        .name = WEFT_STR("custom event"),
        .category = WEFT_STR("xray"),
    };
    uint32_t n_bytes = weft_cur_u32(payload);
    uint64_t ticks = event_ticks(buffer, payload);
    if (kind == WEFT_XRAY_TYPED_EVENT) {
        event.name = WEFT_STR("typed event");
        event.value = weft_cur_u16(payload);
    } else if (buffer->log->header.version == 4) {
        event.cpu = weft_cur_u16(payload);
    }
    buffer->is_short = n_bytes <= INT32_MAX && n_bytes > weft_cur_left(&buffer->in);
    if (n_bytes > INT32_MAX || buffer->is_short)
        buffer->is_damaged = true;
    if (buffer->is_damaged)
        return WEFT_OK;
    const uint8_t *bytes = weft_cur_take(&buffer->in, n_bytes);
    event.payload = (struct weft_str){ .bytes = (const char *)bytes, .n_bytes = n_bytes };
    event.time_ns = weft_ticks_to_ns(&buffer->log->scale, ticks);
    buffer->out->takes_argument = false;
    return weft_xray_out_event(buffer->out, &event, err);
}

static enum weft_code decode_argument(struct buffer *buffer, struct weft_cursor *payload,
                                      uint64_t at_off, struct weft_err *err)
{
    if (buffer->out->takes_argument)
        return weft_xray_out_argument(buffer->out, weft_cur_u64(payload), err);
    weft_xray_tally_add(&buffer->out->losses.bad_bytes, WEFT_XRAY_METADATA_BYTES, at_off);
    return WEFT_OK;
}

/* One metadata record; the cursor stands behind it when it could be read, else before it. */
static enum weft_code decode_metadata(struct buffer *buffer, struct weft_err *err)
{
    const struct weft_cursor before = buffer->in;
    uint64_t at_off = weft_cur_offset(&before);
    struct weft_cursor payload = weft_cur_sub(&buffer->in, WEFT_XRAY_METADATA_BYTES);
    unsigned kind = weft_cur_u8(&payload) >> 1;
    enum weft_code code = WEFT_OK;
    switch (kind) {
    case WEFT_XRAY_NEW_BUFFER: /* only at the start, where the index has read it */
        buffer->is_damaged = before.at != before.start;
        break;
    case WEFT_XRAY_END_OF_BUFFER:
        buffer->is_ended = true;
        break;
    case WEFT_XRAY_NEW_CPU:
        code = decode_cpu(buffer, &payload, err);
        break;
    case WEFT_XRAY_TSC_WRAP:
        set_time(buffer, weft_cur_u64(&payload));
        break;
    case WEFT_XRAY_WALL_TIME:
    case WEFT_XRAY_PID:
        break;
    case WEFT_XRAY_CUSTOM_EVENT:
    case WEFT_XRAY_TYPED_EVENT:
        code = decode_event(buffer, kind, &payload, err);
        break;
    case WEFT_XRAY_CALL_ARGUMENT:
        code = decode_argument(buffer, &payload, at_off, err);
        break;
    default: /* versions 1 to 5 have no other; extents do not stand inside a buffer */
        buffer->is_damaged = true;
        break;
    }
    if (buffer->is_damaged)
        buffer->in = before;
    return code;
}

/* The record at the cursor, which is not a function that decode_functions could read. */
static enum weft_code decode_other(struct buffer *buffer, struct weft_err *err)
{
    size_t n_left = weft_cur_left(&buffer->in);
    bool is_metadata = *buffer->in.at & 1;
    if (n_left < (is_metadata ? WEFT_XRAY_METADATA_BYTES : WEFT_XRAY_FUNCTION_BYTES)) {
        buffer->is_damaged = buffer->is_short = true;
        return WEFT_OK;
    }
    if (is_metadata)
        return decode_metadata(buffer, err);
    uint64_t word = weft_load_u64(buffer->in.at);
    if (word & UNKNOWN_KIND_BIT) {
        buffer->is_damaged = true;
        return WEFT_OK;
    }
    if (buffer->has_ticks)
        return decode_sparse_function(buffer, word, err);
    /* A function before any time stamp: its length is known, so only it is lost. */
    weft_xray_tally_add(&buffer->out->losses.bad_bytes, WEFT_XRAY_FUNCTION_BYTES,
                        weft_cur_offset(&buffer->in));
    weft_cur_take(&buffer->in, WEFT_XRAY_FUNCTION_BYTES);
    return WEFT_OK;
}

enum weft_code weft_xray_decode_fdr(const struct weft_xray_log *log,
                                    const struct weft_xray_piece *piece, struct weft_xray_out *out,
                                    struct weft_err *err)
{
    struct buffer buffer = { .log = log, .out = out };
    buffer.in = weft_cur_init(log->file->bytes + piece->at_off, piece->n_bytes, piece->at_off);
    out->takes_argument = false;
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK && weft_cur_left(&buffer.in) > 0 && !buffer.is_damaged &&
           !buffer.is_ended) {
        bool is_call = buffer.has_ticks && !(*buffer.in.at & 1);
        const uint8_t *before = buffer.in.at;
        if (is_call) {
            code = weft_xray_out_room(out, err);
            if (code == WEFT_OK)
                decode_functions(&buffer);
        }
        if (code == WEFT_OK && buffer.in.at == before)
            code = decode_other(&buffer, err);
    }
    /* In version 1 a buffer is padded behind its end with what was in memory. */
    if (code != WEFT_OK || (buffer.is_ended && log->header.version == 1))
        return code;
    bool is_cut = buffer.is_short && piece->is_truncated;
    weft_xray_tally_add(is_cut ? &out->losses.missing_bytes : &out->losses.bad_bytes,
                        weft_cur_left(&buffer.in), weft_cur_offset(&buffer.in));
    return WEFT_OK;
}
