/* SPDX-License-Identifier: MIT
 *
 * Decoding by the rules of Unicode (no overlong forms, no surrogates), and the width of text in
 * terminal columns. The tables of wide and combining ranges are coarse on purpose: they align
 * columns, nothing depends on them for safety.
 */
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

enum { REPLACEMENT = 0xfffd, REPLACEMENT_BYTES = 3, ELLIPSIS_BYTES = 3 };

/* Bytes of a sequence by its first byte, and the smallest code point that needs so many. */
static size_t sequence_bytes(uint8_t first, uint32_t *least)
{
    static const uint32_t least_of[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t n_bytes = first < 0x80                     ? 1
                     : first >= 0xc2 && first <= 0xdf ? 2
                     : (first & 0xf0) == 0xe0         ? 3
                     : first >= 0xf0 && first <= 0xf4 ? 4
                                                      : 0;
    *least = least_of[n_bytes];
    return n_bytes;
}

uint32_t weft_utf8_next(const char *bytes, size_t n_bytes, size_t *n_used)
{
    const uint8_t *in = (const uint8_t *)bytes;
    uint32_t least;
    size_t n_wanted = sequence_bytes(in[0], &least);
    *n_used = 1;
    if (n_wanted == 1)
        return in[0];
    if (n_wanted == 0 || n_wanted > n_bytes)
        return REPLACEMENT;
    uint32_t point = in[0] & (0xffU >> (n_wanted + 1));
    for (size_t i = 1; i < n_wanted; i++) {
        if ((in[i] & 0xc0) != 0x80)
            return REPLACEMENT;
        point = point << 6 | (in[i] & 0x3fU);
    }
    if (point < least || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
        return REPLACEMENT;
    *n_used = n_wanted;
    return point;
}

size_t weft_utf8_valid_prefix(struct weft_str text)
{
    size_t at = 0;
    while (at < text.n_bytes) {
        size_t n_used;
        uint32_t point = weft_utf8_next(text.bytes + at, text.n_bytes - at, &n_used);
        if (!weft_utf8_is_good(point, n_used))
            break;
        at += n_used;
    }
    return at;
}

struct weft_str weft_utf8_clean(struct weft_arena *arena, struct weft_str text)
{
    if (weft_utf8_valid_prefix(text) == text.n_bytes)
        return text;
    char *copy = weft_arena_alloc(arena, text.n_bytes, REPLACEMENT_BYTES);
    size_t n_bytes = 0;
    for (size_t at = 0, n_used; copy && at < text.n_bytes; at += n_used) {
        uint32_t point = weft_utf8_next(text.bytes + at, text.n_bytes - at, &n_used);
        bool stays = weft_utf8_is_good(point, n_used);
        size_t n_out = stays ? n_used : REPLACEMENT_BYTES;
        memcpy(copy + n_bytes, stays ? text.bytes + at : "\xef\xbf\xbd", n_out);
        n_bytes += n_out;
    }
    return (struct weft_str){ .bytes = copy, .n_bytes = copy ? n_bytes : 0 };
}

struct range {
    uint32_t first, last;
};

static bool is_within(uint32_t point, const struct range *ranges, size_t n_ranges)
{
    for (size_t i = 0; i < n_ranges; i++)
        if (point >= ranges[i].first && point <= ranges[i].last)
            return true;
    return false;
}

static size_t point_columns(uint32_t point)
{
    static const struct range combining[] = {
        { 0x300, 0x36f }, { 0x200b, 0x200f }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }
    };
    static const struct range wide[] = { { 0x1100, 0x115f },  { 0x2e80, 0xa4cf },
                                         { 0xac00, 0xd7a3 },  { 0xf900, 0xfaff },
                                         { 0xfe30, 0xfe6f },  { 0xff00, 0xff60 },
                                         { 0xffe0, 0xffe6 },  { 0x1f300, 0x1faff },
                                         { 0x20000, 0x3fffd } };
    if (point < 0x300)
        return 1;
    if (is_within(point, combining, sizeof combining / sizeof *combining))
        return 0;
    return is_within(point, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

size_t weft_utf8_columns(struct weft_str text)
{
    size_t n_columns = 0;
    for (size_t at = 0, n_used; at < text.n_bytes; at += n_used)
        n_columns += point_columns(weft_utf8_next(text.bytes + at, text.n_bytes - at, &n_used));
    return n_columns;
}

/* Offset at which the longest prefix of at most `n_columns` ends. */
static size_t prefix_end(struct weft_str text, size_t n_columns)
{
    size_t at = 0;
    while (at < text.n_bytes) {
        size_t n_used;
        size_t wide = point_columns(weft_utf8_next(text.bytes + at, text.n_bytes - at, &n_used));
        if (wide > n_columns)
            break;
        n_columns -= wide;
        at += n_used;
    }
    return at;
}

struct weft_str weft_utf8_elide(struct weft_arena *arena, struct weft_str text, size_t n_columns)
{
    size_t n_all = weft_utf8_columns(text);
    if (n_all <= n_columns)
        return text;
    size_t n_head = (n_columns - 1) * 2 / 5;
    size_t head_bytes = prefix_end(text, n_head);
    size_t tail_off = prefix_end(text, n_all - (n_columns - 1 - n_head));
    size_t tail_bytes = text.n_bytes - tail_off;
    char *copy = weft_arena_alloc(arena, head_bytes + ELLIPSIS_BYTES + tail_bytes, 1);
    if (!copy)
        return (struct weft_str){ 0 };
    memcpy(copy, text.bytes, head_bytes);
    memcpy(copy + head_bytes, "\xe2\x80\xa6", ELLIPSIS_BYTES);
    memcpy(copy + head_bytes + ELLIPSIS_BYTES, text.bytes + tail_off, tail_bytes);
    return (struct weft_str){ .bytes = copy, .n_bytes = head_bytes + ELLIPSIS_BYTES + tail_bytes };
}
