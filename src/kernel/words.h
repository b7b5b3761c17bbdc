/* SPDX-License-Identifier: MIT
 *
 * Parts of texts, without copies.
 */
#ifndef WEFT_KERNEL_WORDS_H
#define WEFT_KERNEL_WORDS_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool kernel_is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* 0 <= from <= to <= text.n_bytes */
static inline struct weft_str kernel_slice(struct weft_str text, size_t from, size_t to)
{
    return (struct weft_str){ text.bytes + from, to - from };
}

static inline struct weft_str kernel_from(struct weft_str text, size_t from)
{
    return kernel_slice(text, from, text.n_bytes);
}

/* Without blanks around it. */
static inline struct weft_str kernel_trim(struct weft_str text)
{
    while (text.n_bytes && kernel_is_blank(text.bytes[0]))
        text = kernel_from(text, 1);
    while (text.n_bytes && kernel_is_blank(text.bytes[text.n_bytes - 1]))
        text.n_bytes--;
    return text;
}

/* Where `part` begins in `text`; SIZE_MAX: nowhere. */
static inline size_t kernel_find(struct weft_str text, const char *part)
{
    const char *at = text.n_bytes ? memmem(text.bytes, text.n_bytes, part, strlen(part)) : NULL;
    return at ? (size_t)(at - text.bytes) : SIZE_MAX;
}

#endif
