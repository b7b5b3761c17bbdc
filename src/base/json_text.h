/* SPDX-License-Identifier: MIT
 *
 * A text of JSON that grows: what a trace's own fields become. The caller sees to commas and
 * brackets. A lack of memory is sticky: test `has_failed` once, at the end.
 */
#ifndef WEFT_BASE_JSON_TEXT_H
#define WEFT_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty text; weft_json_fini frees it. */
struct weft_json_text {
    char *bytes;
    size_t n_bytes, cap;
    bool has_failed; /* no memory */
};

/* Empty again; memory is kept. */
static inline void weft_json_reset(struct weft_json_text *text)
{
    text->n_bytes = 0;
    text->has_failed = false;
}

void weft_json_fini(struct weft_json_text *text);

/* Appends the bytes as they are. Amortised O(n_bytes), as all that follow. */
void weft_json_put(struct weft_json_text *text, const char *bytes, size_t n_bytes);
void weft_json_byte(struct weft_json_text *text, char byte);

void weft_json_unsigned(struct weft_json_text *text, uint64_t number);
/* `number` is two's complement if signed. */
void weft_json_integer(struct weft_json_text *text, uint64_t number, bool is_signed);
/* null for infinities and "not a number", which JSON does not have. */
void weft_json_double(struct weft_json_text *text, double number);
/* In quotes, escaped. Bytes that are no UTF-8 stay as they are. */
void weft_json_string(struct weft_json_text *text, const char *bytes, uint64_t n_bytes);

#endif
