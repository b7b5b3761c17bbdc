/* SPDX-License-Identifier: MIT
 *
 * The one way to read hostile bytes: a bounds-checked little-endian cursor with a sticky fault.
 *
 *     start            at                 end
 *       |--- consumed --|------ left ------|
 *
 * A read that does not fit sets `fault`, returns zero, and every later read returns zero: read the
 * whole record, then test `fault` once. `base_off` is the offset of `start` in the file, so errors
 * name bytes of the file even from a sub-cursor. A sub-cursor cannot leave its bounds.
 */
#ifndef WEFT_BASE_CURSOR_H
#define WEFT_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct weft_cursor {
    const uint8_t *start;
    const uint8_t *at;
    const uint8_t *end;
    uint64_t base_off;
    bool fault;
};

static inline struct weft_cursor weft_cur_init(const void *bytes, size_t n_bytes, uint64_t base_off)
{
    const uint8_t *start = bytes;
    return (struct weft_cursor){
        .start = start, .at = start, .end = start ? start + n_bytes : NULL, .base_off = base_off
    };
}

static inline size_t weft_cur_left(const struct weft_cursor *cur)
{
    return (size_t)(cur->end - cur->at);
}

/* Offset in the file of the next byte. */
static inline uint64_t weft_cur_offset(const struct weft_cursor *cur)
{
    return cur->base_off + (uint64_t)(cur->at - cur->start);
}

/* The next `n_bytes`, consumed; NULL and a fault when they are not there. */
static inline const uint8_t *weft_cur_take(struct weft_cursor *cur, size_t n_bytes)
{
    if (cur->fault || n_bytes > weft_cur_left(cur)) {
        cur->fault = true;
        return NULL;
    }
    const uint8_t *bytes = cur->at;
    cur->at += n_bytes;
    return bytes;
}

static inline uint16_t weft_load_u16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t weft_load_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static inline uint64_t weft_load_u64(const uint8_t *bytes)
{
    return (uint64_t)weft_load_u32(bytes) | (uint64_t)weft_load_u32(bytes + 4) << 32;
}

static inline uint8_t weft_cur_u8(struct weft_cursor *cur)
{
    const uint8_t *bytes = weft_cur_take(cur, 1);
    return bytes ? *bytes : 0;
}

static inline uint16_t weft_cur_u16(struct weft_cursor *cur)
{
    const uint8_t *bytes = weft_cur_take(cur, 2);
    return bytes ? weft_load_u16(bytes) : 0;
}

static inline uint32_t weft_cur_u32(struct weft_cursor *cur)
{
    const uint8_t *bytes = weft_cur_take(cur, 4);
    return bytes ? weft_load_u32(bytes) : 0;
}

static inline uint64_t weft_cur_u64(struct weft_cursor *cur)
{
    const uint8_t *bytes = weft_cur_take(cur, 8);
    return bytes ? weft_load_u64(bytes) : 0;
}

/* Use weft_cur_varint. */
uint64_t weft_cur_varint_long(struct weft_cursor *cur);

/* LEB128, at most ten bytes; an over-long or overflowing encoding is a fault. */
static inline uint64_t weft_cur_varint(struct weft_cursor *cur)
{
    if (__builtin_expect(!cur->fault && cur->at < cur->end && *cur->at < 0x80, 1))
        return *cur->at++;
    return weft_cur_varint_long(cur);
}

/* The same without a branch on the length, for numbers that may be short or long. */
static inline uint64_t weft_cur_varint_any(struct weft_cursor *cur)
{
    if (__builtin_expect(cur->fault || weft_cur_left(cur) < 8, 0))
        return weft_cur_varint_long(cur);
    uint64_t word = weft_load_u64(cur->at);
    const uint64_t stops = ~word & UINT64_C(0x8080808080808080);
    const uint64_t last = stops & -stops; /* the high bit of the last byte */
    const bool is_overlong = last > 0x80 && (word & (last - (last >> 7))) == 0;
    if (__builtin_expect(last == 0 || is_overlong, 0))
        return weft_cur_varint_long(cur);
    word &= last - 1;
    cur->at += (__builtin_ctzll(last) + 1) / 8;
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (word & UINT64_C(0x0fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* A varint that must not exceed `limit`: a larger one is a fault, and 0. */
static inline uint64_t weft_cur_varint_max(struct weft_cursor *cur, uint64_t limit)
{
    const uint64_t value = weft_cur_varint(cur);
    if (value > limit)
        cur->fault = true;
    return value > limit ? 0 : value;
}

/* Zigzag-coded signed LEB128. */
static inline int64_t weft_cur_svarint(struct weft_cursor *cur)
{
    uint64_t raw = weft_cur_varint(cur);
    return (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1);
}

/* A cursor over the next `n_bytes`, which are consumed here; empty and faulty if they do not fit.
 */
static inline struct weft_cursor weft_cur_sub(struct weft_cursor *cur, size_t n_bytes)
{
    uint64_t at_off = weft_cur_offset(cur);
    const uint8_t *bytes = weft_cur_take(cur, n_bytes);
    struct weft_cursor sub = weft_cur_init(bytes, bytes ? n_bytes : 0, at_off);
    sub.fault = bytes == NULL;
    return sub;
}

#endif
