/* SPDX-License-Identifier: MIT
 *
 * Reads UTF-8 that may be damaged, and measures it. What is safe to print: base/plain.h.
 */
#ifndef WEFT_BASE_UTF8_H
#define WEFT_BASE_UTF8_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads one code point at `bytes` (n_bytes > 0) and says in `*n_used` how many bytes it took.
 * Bytes that are not UTF-8 (over-long, surrogate, beyond U+10FFFF, cut) give U+FFFD, one byte. */
uint32_t weft_utf8_next(const char *bytes, size_t n_bytes, size_t *n_used);

/* True if what weft_utf8_next gave stands for itself rather than for bad bytes. */
static inline bool weft_utf8_is_good(uint32_t point, size_t n_used)
{
    return point != 0xfffd || n_used == 3;
}

/* Length of the longest prefix that is valid UTF-8. */
size_t weft_utf8_valid_prefix(struct weft_str text);

/* The text as valid UTF-8, bad bytes as U+FFFD: `text` itself if it is valid, else a copy in the
 * arena; {NULL, 0} without memory. */
struct weft_str weft_utf8_clean(struct weft_arena *arena, struct weft_str text);

/* Terminal columns that printable text takes: wide characters two, combining ones none. */
size_t weft_utf8_columns(struct weft_str text);

/* Printable text in at most `n_columns` (>= 4): unchanged if it fits, else elided in the middle (40
 * % head, 60 % tail, U+2026 between). {NULL, 0} without memory. */
struct weft_str weft_utf8_elide(struct weft_arena *arena, struct weft_str text, size_t n_columns);

#endif
