/* SPDX-License-Identifier: MIT
 *
 * Lines of text, as pieces of a recording hold them.
 */
#ifndef WEFT_INGEST_RECORDING_LINES_H
#define WEFT_INGEST_RECORDING_LINES_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Takes the next line, without its end; false: there is none. */
static inline bool rec_next_line(struct weft_str *text, struct weft_str *line)
{
    if (text->n_bytes == 0)
        return false;
    const char *end = memchr(text->bytes, '\n', text->n_bytes);
    const size_t n_line = end ? (size_t)(end - text->bytes) : text->n_bytes;
    *line = (struct weft_str){ text->bytes, n_line };
    text->bytes += n_line + (end != NULL);
    text->n_bytes -= n_line + (end != NULL);
    return true;
}

static inline bool rec_take_byte(struct weft_str *text, char byte)
{
    if (text->n_bytes == 0 || *text->bytes != byte)
        return false;
    text->bytes++;
    text->n_bytes--;
    return true;
}

static inline int rec_hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Digits of the base, at least one; what does not fit 64 bits is false. */
static inline bool rec_take_digits(struct weft_str *text, unsigned base, uint64_t *number)
{
    const size_t n_before = text->n_bytes;
    *number = 0;
    while (text->n_bytes) {
        const int digit = rec_hex_digit(*text->bytes);
        if (digit < 0 || (unsigned)digit >= base)
            break;
        if (__builtin_mul_overflow(*number, base, number) ||
            __builtin_add_overflow(*number, (uint64_t)digit, number))
            return false;
        text->bytes++;
        text->n_bytes--;
    }
    return text->n_bytes < n_before;
}

static inline bool rec_take_hex(struct weft_str *text, uint64_t *number)
{
    return rec_take_digits(text, 16, number);
}

static inline bool rec_take_decimal(struct weft_str *text, uint64_t *number)
{
    return rec_take_digits(text, 10, number);
}

/* "KEY=VALUE" */
static inline bool rec_key_value(struct weft_str line, struct weft_str *key, struct weft_str *value)
{
    const char *equals = line.n_bytes ? memchr(line.bytes, '=', line.n_bytes) : NULL;
    if (!equals)
        return false;
    *key = (struct weft_str){ line.bytes, (size_t)(equals - line.bytes) };
    *value = (struct weft_str){ equals + 1, line.n_bytes - key->n_bytes - 1 };
    return true;
}

#endif
