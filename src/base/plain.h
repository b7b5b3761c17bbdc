/* SPDX-License-Identifier: MIT
 *
 * Foreign text made plain. Names of threads, functions and files, and fields of traces hold any
 * bytes. Printed as they are, they can drive a terminal, hide text, and change the order in which a
 * line reads. Plain text is valid UTF-8 without controls (C0, DEL, C1), without marks of direction
 * or line breaks, and without characters that take no room and cannot be seen. What is not plain is
 * written as an escape: \n \r \t, \x1b for other controls and for bytes that are not UTF-8, \u202e
 * and \U000e0001 for the rest. JSON has escapes of its own, from which readers get the same text.
 */
#ifndef WEFT_BASE_PLAIN_H
#define WEFT_BASE_PLAIN_H

#include "base/arena.h"
#include "base/str.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

enum weft_plain_form { WEFT_PLAIN_TEXT, WEFT_PLAIN_JSON };

enum { WEFT_PLAIN_BYTES = 12 }; /* of the longest escape */

/* True if a code point may be printed as it is. */
bool weft_plain_is(uint32_t point);

/* Length of the longest prefix that is plain. */
size_t weft_plain_prefix(struct weft_str text);

/* Writes the escape of what `text` (n_bytes > 0, not plain) begins with into `out`; returns its
 * bytes, and in `*n_used` those of the text that it stands for. */
size_t weft_plain_escape(struct weft_str text, enum weft_plain_form form,
                         char out[WEFT_PLAIN_BYTES], size_t *n_used);

/* The text with escapes for what is not plain: `text` itself if nothing is, else a copy in the
 * arena; {NULL, 0} without memory. */
struct weft_str weft_plain(struct weft_arena *arena, struct weft_str text);

/* vsnprintf, whose %s and %c arguments are made plain: what the format itself holds stays. Supports
 * the conversions d i u x X o c s p e f g and %, with the lengths hh h l ll z j t. The precision of
 * %s counts bytes of the argument, its width columns of what is printed. Returns the bytes that
 * there would be with room for all; always terminated if n_bytes > 0. */
size_t weft_plain_vprint(char *out, size_t n_bytes, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
size_t weft_plain_print(char *out, size_t n_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
