/* SPDX-License-Identifier: MIT
 *
 * Numbers of either byte order: what a kernel records has that of its machine.
 */
#ifndef WEFT_KERNEL_BYTES_H
#define WEFT_KERNEL_BYTES_H

#include "base/cursor.h"
#include "base/str.h"

static inline uint16_t kernel_load_u16(const uint8_t *bytes, bool is_big)
{
    const uint16_t number = weft_load_u16(bytes);
    return is_big ? __builtin_bswap16(number) : number;
}

static inline uint32_t kernel_load_u32(const uint8_t *bytes, bool is_big)
{
    const uint32_t number = weft_load_u32(bytes);
    return is_big ? __builtin_bswap32(number) : number;
}

static inline uint64_t kernel_load_u64(const uint8_t *bytes, bool is_big)
{
    const uint64_t number = weft_load_u64(bytes);
    return is_big ? __builtin_bswap64(number) : number;
}

static inline uint16_t kernel_cur_u16(struct weft_cursor *cur, bool is_big)
{
    const uint8_t *bytes = weft_cur_take(cur, 2);
    return bytes ? kernel_load_u16(bytes, is_big) : 0;
}

static inline uint32_t kernel_cur_u32(struct weft_cursor *cur, bool is_big)
{
    const uint8_t *bytes = weft_cur_take(cur, 4);
    return bytes ? kernel_load_u32(bytes, is_big) : 0;
}

static inline uint64_t kernel_cur_u64(struct weft_cursor *cur, bool is_big)
{
    const uint8_t *bytes = weft_cur_take(cur, 8);
    return bytes ? kernel_load_u64(bytes, is_big) : 0;
}

/* The text up to a NUL, which is consumed too; a fault without one. */
static inline struct weft_str kernel_cur_text(struct weft_cursor *cur)
{
    const size_t n_left = cur->fault ? 0 : weft_cur_left(cur);
    const uint8_t *end = n_left ? memchr(cur->at, 0, n_left) : NULL;
    if (!end) {
        cur->fault = true;
        return (struct weft_str){ 0 };
    }
    const size_t n_text = (size_t)(end - cur->at);
    const char *text = (const char *)weft_cur_take(cur, n_text + 1);
    return (struct weft_str){ text, n_text };
}

/* The next `n_bytes` as a text. */
static inline struct weft_str kernel_cur_bytes(struct weft_cursor *cur, uint64_t n_bytes)
{
    const size_t n_most = weft_cur_left(cur);
    const char *bytes =
        (const char *)weft_cur_take(cur, n_bytes <= n_most ? (size_t)n_bytes : SIZE_MAX);
    return (struct weft_str){ bytes, bytes ? (size_t)n_bytes : 0 };
}

/* What stands in a field of a fixed size: up to its NUL, or all of it. */
static inline struct weft_str kernel_text_in(const uint8_t *bytes, size_t n_bytes)
{
    const uint8_t *end = n_bytes ? memchr(bytes, 0, n_bytes) : NULL;
    return (struct weft_str){ (const char *)bytes, end ? (size_t)(end - bytes) : n_bytes };
}

#endif
