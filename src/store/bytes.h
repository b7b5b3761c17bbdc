/* SPDX-License-Identifier: MIT
 *
 * A growable byte string for writing: the counterpart of the cursor. A failed growth is sticky, so
 * a record is written whole and the failure tested once.
 */
#ifndef WEFT_STORE_BYTES_H
#define WEFT_STORE_BYTES_H

#include "base/str.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_bytes {
    uint8_t *items;
    size_t n;
    size_t cap;
    bool has_failed; /* an allocation failed: the content is incomplete */
};

enum { WEFT_VARINT_BYTES = 10 };

/* Room for `n_bytes` more, or false and the sticky failure. */
static inline bool weft_bytes_reserve(struct weft_bytes *bytes, size_t n_bytes)
{
    if (n_bytes <= bytes->cap - bytes->n)
        return !bytes->has_failed;
    if (!weft_vec_reserve(&bytes->items, &bytes->cap, bytes->n + n_bytes, 1))
        bytes->has_failed = true;
    return !bytes->has_failed;
}

static inline void weft_bytes_put(struct weft_bytes *bytes, const void *from, size_t n_bytes)
{
    if (n_bytes == 0 || !weft_bytes_reserve(bytes, n_bytes))
        return;
    memcpy(bytes->items + bytes->n, from, n_bytes);
    bytes->n += n_bytes;
}

static inline void weft_bytes_put_u8(struct weft_bytes *bytes, uint8_t value)
{
    weft_bytes_put(bytes, &value, 1);
}

/* LEB128. */
static inline void weft_bytes_put_varint(struct weft_bytes *bytes, uint64_t value)
{
    if (!weft_bytes_reserve(bytes, WEFT_VARINT_BYTES))
        return;
    uint8_t *at = bytes->items + bytes->n;
    while (value > 0x7f) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    bytes->n = (size_t)(at - bytes->items);
}

/* Length and bytes. */
static inline void weft_bytes_put_str(struct weft_bytes *bytes, struct weft_str text)
{
    weft_bytes_put_varint(bytes, text.n_bytes);
    weft_bytes_put(bytes, text.bytes, text.n_bytes);
}

static inline void weft_bytes_fini(struct weft_bytes *bytes)
{
    free(bytes->items);
    *bytes = (struct weft_bytes){ 0 };
}

#endif
