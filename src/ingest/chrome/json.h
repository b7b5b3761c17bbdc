/* SPDX-License-Identifier: MIT
 *
 * A pull reader of JSON text in memory (RFC 8259): no tree, no allocation, no recursion. Values are
 * views of the text. Besides the RFC it takes the numbers NaN, Infinity and -Infinity, which
 * writers of traces produce; it does not check that strings are valid UTF-8.
 *
 * A function that returns false has set `expected`; `at` then is the place of the mistake, or the
 * end if the text ends too early.
 */
#ifndef WEFT_INGEST_CHROME_JSON_H
#define WEFT_INGEST_CHROME_JSON_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_json_reader {
    const char *begin, *at, *end;
    const char *expected; /* static text */
};

enum weft_json_type {
    WEFT_JSON_STRING,
    WEFT_JSON_NUMBER,
    WEFT_JSON_OBJECT,
    WEFT_JSON_ARRAY,
    WEFT_JSON_TRUE,
    WEFT_JSON_FALSE,
    WEFT_JSON_NULL,
};

/* A value and the text that it was: of a string what is between the quotes, escapes as they are. */
struct weft_json_value {
    const char *bytes;
    size_t n_bytes;
    uint8_t type; /* enum weft_json_type */
    bool has_escapes;
};

static inline struct weft_json_reader weft_json_reader_of(const void *bytes, size_t n_bytes)
{
    const char *begin = bytes;
    return (struct weft_json_reader){ .begin = begin,
                                      .at = begin,
                                      .end = begin ? begin + n_bytes : NULL };
}

static inline bool weft_json_fail(struct weft_json_reader *reader, const char *expected)
{
    reader->expected = expected;
    return false;
}

static inline void weft_json_blanks(struct weft_json_reader *reader)
{
    while (
        reader->at < reader->end && (unsigned char)*reader->at <= ' ' &&
        (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\r' || *reader->at == '\t'))
        reader->at++;
}

/* The first byte that is no blank, or 0 at the end. */
static inline char weft_json_peek(struct weft_json_reader *reader)
{
    weft_json_blanks(reader);
    return reader->at < reader->end ? *reader->at : '\0';
}

/* Takes `letter` after blanks. */
static inline bool weft_json_take(struct weft_json_reader *reader, char letter)
{
    if (weft_json_peek(reader) != letter || reader->at == reader->end)
        return false;
    reader->at++;
    return true;
}

/* A string; `at` stands on its opening quote. */
bool weft_json_string(struct weft_json_reader *reader, struct weft_json_value *value);

/* The next value after blanks, checked to its end: objects and arrays too. */
bool weft_json_value(struct weft_json_reader *reader, struct weft_json_value *value);

/* The next member of an object, up to its value; `*is_end` when the object ends instead. `is_first`
 * right after "{". */
bool weft_json_member(struct weft_json_reader *reader, bool is_first, struct weft_json_value *key,
                      bool *is_end);

/* The next element of an array, up to the element; `*is_end` when the array ends instead. */
bool weft_json_element(struct weft_json_reader *reader, bool is_first, bool *is_end);

/* Writes the string with its escapes resolved, at most value->n_bytes bytes; returns how many.
 * A lone surrogate becomes U+FFFD. */
size_t weft_json_unescape(const struct weft_json_value *value, char *out);

#endif
