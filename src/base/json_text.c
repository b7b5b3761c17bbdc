/* SPDX-License-Identifier: MIT
 *
 * Appends JSON values to one growing buffer. Strings are escaped by the byte and not checked for
 * UTF-8, as they come from traces; numbers that JSON cannot express become null. For payloads of
 * events; answers to clients are written by render/json.
 */
#include "base/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct weft_json_text *text, size_t n_bytes)
{
    if (text->has_failed || n_bytes <= text->cap - text->n_bytes)
        return !text->has_failed;
    size_t cap = text->cap ? text->cap * 2 : 1024;
    while (cap - text->n_bytes < n_bytes)
        cap *= 2;
    char *bytes = realloc(text->bytes, cap);
    text->has_failed = bytes == NULL;
    if (!bytes)
        return false;
    text->bytes = bytes;
    text->cap = cap;
    return true;
}

void weft_json_fini(struct weft_json_text *text)
{
    free(text->bytes);
    *text = (struct weft_json_text){ 0 };
}

void weft_json_put(struct weft_json_text *text, const char *bytes, size_t n_bytes)
{
    if (n_bytes == 0 || !reserve(text, n_bytes))
        return;
    memcpy(text->bytes + text->n_bytes, bytes, n_bytes);
    text->n_bytes += n_bytes;
}

void weft_json_byte(struct weft_json_text *text, char byte)
{
    weft_json_put(text, &byte, 1);
}

void weft_json_unsigned(struct weft_json_text *text, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    weft_json_put(text, digits + at, sizeof digits - at);
}

void weft_json_integer(struct weft_json_text *text, uint64_t number, bool is_signed)
{
    const bool is_minus = is_signed && (int64_t)number < 0;
    if (is_minus)
        weft_json_byte(text, '-');
    weft_json_unsigned(text, is_minus ? 0 - number : number);
}

void weft_json_double(struct weft_json_text *text, double number)
{
    char digits[40];
    const int n_digits = isfinite(number) ? snprintf(digits, sizeof digits, "%.17g", number)
                                          : snprintf(digits, sizeof digits, "null");
    weft_json_put(text, digits, (size_t)n_digits);
}

void weft_json_string(struct weft_json_text *text, const char *bytes, uint64_t n_bytes)
{
    static const char digits[] = "0123456789abcdef";
    weft_json_byte(text, '"');
    uint64_t plain = 0;
    for (uint64_t k = 0; k < n_bytes; k++) {
        const unsigned char byte = (unsigned char)bytes[k];
        if (byte >= 32 && byte != '"' && byte != '\\')
            continue;
        weft_json_put(text, bytes + plain, (size_t)(k - plain));
        plain = k + 1;
        if (byte >= 32) {
            const char escaped[] = { '\\', (char)byte };
            weft_json_put(text, escaped, sizeof escaped);
        } else {
            const char escaped[] = { '\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15] };
            weft_json_put(text, escaped, sizeof escaped);
        }
    }
    if (n_bytes > plain) /* an empty text may be nowhere */
        weft_json_put(text, bytes + plain, (size_t)(n_bytes - plain));
    weft_json_byte(text, '"');
}
