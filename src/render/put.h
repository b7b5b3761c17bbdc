/* SPDX-License-Identifier: MIT
 *
 * Numbers written by the million: each function writes at `to`, where there must be room, and
 * returns the end.
 */
#ifndef WEFT_RENDER_PUT_H
#define WEFT_RENDER_PUT_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    WEFT_PUT_U64_BYTES = 20,
    WEFT_PUT_US_BYTES = 21,     /* a point and three decimals instead of the last three digits */
    WEFT_PUT_VARINT_BYTES = 10, /* LEB128 */
};

/* The decimal digits of `value`. */
char *weft_put_u64(char *to, uint64_t value);

/* Nanoseconds as microseconds with three decimals: 12345 is "12.345". */
char *weft_put_us(char *to, uint64_t value_ns);

/* LEB128, as protocol buffers have it. */
static inline char *weft_put_varint(char *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (char)(value | 0x80);
    *to++ = (char)value;
    return to;
}

static inline char *weft_put_bytes(char *to, const char *bytes, size_t n_bytes)
{
    memcpy(to, bytes, n_bytes);
    return to + n_bytes;
}

static inline char *weft_put_str(char *to, struct weft_str text)
{
    return text.n_bytes ? weft_put_bytes(to, text.bytes, text.n_bytes) : to;
}

/* A string literal. */
#define WEFT_PUT(to, literal) weft_put_bytes((to), "" literal, sizeof(literal) - 1)

#endif
