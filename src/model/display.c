/* SPDX-License-Identifier: MIT
 *
 * Replaces what is not UTF-8.
 */
#include "model/display.h"

#include <stdint.h>

static bool is_tail(uint8_t byte)
{
    return (byte & 0xc0U) == 0x80U;
}

/* Bytes of the well-formed sequence at `at`, or 0. */
static size_t sequence_bytes(const uint8_t *at, size_t n_left)
{
    if (at[0] < 0x80)
        return at[0] != 0;
    if (at[0] >= 0xc2 && at[0] <= 0xdf)
        return n_left >= 2 && is_tail(at[1]) ? 2 : 0;
    if ((at[0] & 0xf0U) == 0xe0U) {
        uint8_t low = at[0] == 0xe0 ? 0xa0 : 0x80;
        uint8_t high = at[0] == 0xed ? 0x9f : 0xbf;
        return n_left >= 3 && at[1] >= low && at[1] <= high && is_tail(at[2]) ? 3 : 0;
    }
    if (at[0] >= 0xf0 && at[0] <= 0xf4) {
        uint8_t low = at[0] == 0xf0 ? 0x90 : 0x80;
        uint8_t high = at[0] == 0xf4 ? 0x8f : 0xbf;
        bool is_whole = n_left >= 4 && at[1] >= low && at[1] <= high;
        return is_whole && is_tail(at[2]) && is_tail(at[3]) ? 4 : 0;
    }
    return 0;
}

struct weft_str weft_display_copy(struct weft_arena *arena, struct weft_str text)
{
    static const char replacement[3] = { '\xef', '\xbf', '\xbd' };
    const uint8_t *bytes = (const uint8_t *)text.bytes;
    size_t n_bad = 0;
    for (size_t i = 0; i < text.n_bytes;) {
        size_t n = sequence_bytes(bytes + i, text.n_bytes - i);
        n_bad += n == 0;
        i += n ? n : 1;
    }
    if (n_bad == 0)
        return weft_arena_copy(arena, text);
    size_t n_out = text.n_bytes + 2 * n_bad;
    char *out = weft_arena_alloc(arena, n_out + 1, 1);
    if (!out)
        return (struct weft_str){ 0 };
    char *to = out;
    for (size_t i = 0; i < text.n_bytes;) {
        size_t n = sequence_bytes(bytes + i, text.n_bytes - i);
        memcpy(to, n ? text.bytes + i : replacement, n ? n : sizeof replacement);
        to += n ? n : sizeof replacement;
        i += n ? n : 1;
    }
    return (struct weft_str){ .bytes = out, .n_bytes = n_out };
}
