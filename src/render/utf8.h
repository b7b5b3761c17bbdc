/* SPDX-License-Identifier: MIT
 *
 * Names come from foreign files and may hold any bytes: this makes them safe to print.
 */
#ifndef WEFT_RENDER_UTF8_H
#define WEFT_RENDER_UTF8_H

#include "base/arena.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

/* Reads one code point at `bytes` (n_bytes > 0) and says in `*n_used` how many bytes it took.
 * Bytes that are not UTF-8 (over-long, surrogate, beyond U+10FFFF, cut) give U+FFFD, one byte. */
uint32_t weft_utf8_next(const char *bytes, size_t n_bytes, size_t *n_used);

/* Length of the longest prefix that is valid UTF-8. */
size_t weft_utf8_valid_prefix(struct weft_str text);

/* The text as valid UTF-8, bad bytes as U+FFFD: `text` itself if it is valid, else a copy in the
 * arena; {NULL, 0} without memory. */
struct weft_str weft_utf8_clean(struct weft_arena *arena, struct weft_str text);

/* As weft_utf8_clean, and control characters become U+FFFD too: nothing that a terminal obeys. */
struct weft_str weft_utf8_printable(struct weft_arena *arena, struct weft_str text);

/* Terminal columns that printable text takes: wide characters two, combining ones none. */
size_t weft_utf8_columns(struct weft_str text);

/* Printable text in at most `n_columns` (>= 4): unchanged if it fits, else elided in the middle (40
 * % head, 60 % tail, U+2026 between). {NULL, 0} without memory. */
struct weft_str weft_utf8_elide(struct weft_arena *arena, struct weft_str text, size_t n_columns);

#endif
