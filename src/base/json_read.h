/* SPDX-License-Identifier: MIT
 *
 * A pull reader of JSON text in memory (RFC 8259): no tree, no allocation, no recursion. Values are
 * views of the text. Besides the RFC it takes the numbers NaN, Infinity and -Infinity, which
 * writers of traces produce, unless it is strict; it does not check that strings are valid UTF-8.
 *
 * A function that returns false has set `expected`; `at` then is the place of the mistake, or the
 * end if the text ends too early.
 */
#ifndef WEFT_BASE_JSON_READ_H
#define WEFT_BASE_JSON_READ_H

#include "base/cursor.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { WEFT_JSON_STRICT_DEPTH = 64 };

struct weft_json_reader {
    const char *begin, *at, *end;
    const char *expected; /* static text */
    bool is_strict; /* what every reader takes: the RFC, surrogates in pairs, and values nested
                     * no deeper than WEFT_JSON_STRICT_DEPTH */
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

/* Nearly always there is no blank, or one space. */
static inline const char *weft_json_skip_blanks(const char *at, const char *end)
{
    if (end - at >= 2) {
        at += *at == ' ';
        if ((unsigned char)*at > ' ')
            return at;
    }
    const uint64_t blanks =
        UINT64_C(1) << ' ' | UINT64_C(1) << '\t' | UINT64_C(1) << '\n' | UINT64_C(1) << '\r';
    while (at < end && (unsigned char)*at <= ' ' && blanks >> *at & 1)
        at++;
    return at;
}

static inline void weft_json_blanks(struct weft_json_reader *reader)
{
    reader->at = weft_json_skip_blanks(reader->at, reader->end);
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

/* ---- strings ----------------------------------------------------------------------------------
 */

#define WEFT_JSON_ONES (UINT64_MAX / 255)
enum { WEFT_JSON_STRIDE = 16 }; /* letters that are looked at together */

/* High bits of the bytes that end a stretch of plain letters: quote, backslash, control. The lowest
 * is exact; a borrow may set others above it. */
static inline uint64_t weft_json_special8(const char *at)
{
    uint64_t word = weft_load_u64((const uint8_t *)at);
    uint64_t quote = word ^ (WEFT_JSON_ONES * '"');
    uint64_t backslash = word ^ (WEFT_JSON_ONES * '\\');
    return (((quote - WEFT_JSON_ONES) & ~quote) | ((backslash - WEFT_JSON_ONES) & ~backslash) |
            ((word - WEFT_JSON_ONES * ' ') & ~word)) &
           (WEFT_JSON_ONES << 7);
}

/* How many of the next 16 letters are plain. */
static inline unsigned weft_json_plain16(const char *at)
{
#ifdef __SSE2__
    __m128i letters;
    memcpy(&letters, at, sizeof letters);
    __m128i is_quote = _mm_cmpeq_epi8(letters, _mm_set1_epi8('"'));
    __m128i is_backslash = _mm_cmpeq_epi8(letters, _mm_set1_epi8('\\'));
    __m128i is_control = _mm_cmpeq_epi8(_mm_min_epu8(letters, _mm_set1_epi8(0x1f)), letters);
    __m128i is_special = _mm_or_si128(_mm_or_si128(is_quote, is_backslash), is_control);
    return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(is_special) | 1u << 16);
#else
    uint64_t low = weft_json_special8(at);
    uint64_t high = low ? 0 : weft_json_special8(at + 8);
    return low    ? (unsigned)__builtin_ctzll(low) / 8
           : high ? 8 + (unsigned)__builtin_ctzll(high) / 8
                  : 16;
#endif
}

/* The rest of a string whose letters until `at` are plain; value->bytes is set. */
bool weft_json_string_rest(struct weft_json_reader *reader, struct weft_json_value *value);

/* A string; `at` stands on its opening quote. */
static inline bool weft_json_string(struct weft_json_reader *reader, struct weft_json_value *value)
{
    const char *begin = ++reader->at;
    value->bytes = begin;
    value->type = WEFT_JSON_STRING;
    value->has_escapes = false;
    if (reader->end - begin >= WEFT_JSON_STRIDE) {
        unsigned n_plain = weft_json_plain16(begin);
        reader->at += n_plain;
        if (n_plain < WEFT_JSON_STRIDE && *reader->at == '"') {
            value->n_bytes = n_plain;
            reader->at++;
            return true;
        }
    }
    return weft_json_string_rest(reader, value);
}

/* The next value, at which `at` stands: any but a string. */
bool weft_json_other_value(struct weft_json_reader *reader, struct weft_json_value *value);

/* The next value after blanks, checked to its end: objects and arrays too. */
static inline bool weft_json_value(struct weft_json_reader *reader, struct weft_json_value *value)
{
    if (weft_json_peek(reader) == '"')
        return weft_json_string(reader, value);
    return weft_json_other_value(reader, value);
}

/* The next member of an object, up to its value; `*is_end` when the object ends instead. `is_first`
 * right after "{". */
static inline bool weft_json_member(struct weft_json_reader *reader, bool is_first,
                                    struct weft_json_value *key, bool *is_end)
{
    char letter = weft_json_peek(reader);
    *is_end = letter == '}';
    if (*is_end) {
        reader->at++;
        return true;
    }
    if (!is_first) {
        if (letter != ',')
            return weft_json_fail(reader, "',' or '}'");
        reader->at++;
        letter = weft_json_peek(reader);
    }
    if (letter != '"')
        return weft_json_fail(reader, "a name in quotes");
    if (!weft_json_string(reader, key))
        return false;
    return weft_json_take(reader, ':') || weft_json_fail(reader, "':'");
}

/* The next element of an array, up to the element; `*is_end` when the array ends instead. */
bool weft_json_element(struct weft_json_reader *reader, bool is_first, bool *is_end);

/* Writes the string with its escapes resolved, at most value->n_bytes bytes; returns how many.
 * A lone surrogate becomes U+FFFD. */
size_t weft_json_unescape(const struct weft_json_value *value, char *out);

#endif
