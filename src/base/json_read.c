/* SPDX-License-Identifier: MIT
 *
 * The out-of-line half of the pull reader: values that are not short plain strings, skipping whole
 * objects and arrays, and unescaping. A bit stack of fixed depth (1024) replaces recursion, so that
 * hostile nesting costs neither stack nor time beyond O(bytes). The chrome importer, the options
 * of executions and render/json/text.c read with it.
 */
#include "base/json_read.h"

/* Objects and arrays within each other, in one value: a bit for each says which it is. */
enum { MOST_DEPTH = 1024, WORD_BITS = 64 };

/* ---- strings -------------------------------------------------------------------------------- */

static const char *skip_letters(const char *at, const char *end)
{
    while (end - at >= WEFT_JSON_STRIDE) {
        unsigned n_plain = weft_json_plain16(at);
        at += n_plain;
        if (n_plain < WEFT_JSON_STRIDE)
            return at;
    }
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= ' ')
        at++;
    return at;
}

static int hex_digit(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    letter |= 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Four digits; UINT32_MAX where one is none. */
static uint32_t hex_quad(const char *digits)
{
    uint32_t point = 0;
    for (int k = 0; k < 4; k++) {
        const int digit = hex_digit(digits[k]);
        if (digit < 0)
            return UINT32_MAX;
        point = point << 4 | (uint32_t)digit;
    }
    return point;
}

/* A second escape after half of a pair of surrogates, which `at` is behind. */
static bool skip_low_half(struct weft_json_reader *reader, uint32_t high)
{
    const char *at = reader->at;
    const bool is_pair = high < 0xdc00 && reader->end - at >= 6 && at[0] == '\\' && at[1] == 'u' &&
                         hex_quad(at + 2) >= 0xdc00 && hex_quad(at + 2) <= 0xdfff;
    reader->at += is_pair ? 6 : 0;
    return is_pair || weft_json_fail(reader, "surrogates in pairs");
}

/* An escape; `at` stands on the backslash. */
static bool skip_escape(struct weft_json_reader *reader)
{
    if (reader->end - reader->at < 2) {
        reader->at = reader->end;
        return weft_json_fail(reader, "the rest of a string");
    }
    char letter = reader->at[1];
    if (letter != 'u') {
        if (!memchr("\"\\/bfnrt", letter, 8))
            return weft_json_fail(reader, "an escape: one of \"\\/bfnrtu");
        reader->at += 2;
        return true;
    }
    const char *digits = reader->at + 2;
    for (int k = 0; k < 4; k++) {
        if (digits + k == reader->end) {
            reader->at = reader->end;
            return weft_json_fail(reader, "the rest of a string");
        }
        if (hex_digit(digits[k]) < 0)
            return weft_json_fail(reader, "four hexadecimal digits after \\u");
    }
    reader->at += 6;
    const uint32_t point = reader->is_strict ? hex_quad(digits) : 0;
    return point < 0xd800 || point > 0xdfff || skip_low_half(reader, point);
}

bool weft_json_string_rest(struct weft_json_reader *reader, struct weft_json_value *value)
{
    for (;;) {
        reader->at = skip_letters(reader->at, reader->end);
        if (reader->at == reader->end)
            return weft_json_fail(reader, "the rest of a string");
        if (*reader->at == '"')
            break;
        if (*reader->at != '\\')
            return weft_json_fail(reader, "no control character in a string");
        value->has_escapes = true;
        if (!skip_escape(reader))
            return false;
    }
    value->n_bytes = (size_t)(reader->at - value->bytes);
    reader->at++;
    return true;
}

/* ---- numbers and words ---------------------------------------------------------------------- */

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && (unsigned)(*at - '0') <= 9)
        at++;
    return at;
}

static bool skip_word(struct weft_json_reader *reader, const char *word, size_t n_bytes)
{
    for (size_t k = 0; k < n_bytes; k++, reader->at++)
        if (reader->at == reader->end || *reader->at != word[k])
            return weft_json_fail(reader, "a value");
    return true;
}

/* Digits, at least one. */
static bool take_digits(struct weft_json_reader *reader)
{
    const char *begin = reader->at;
    reader->at = skip_digits(reader->at, reader->end);
    return reader->at > begin || weft_json_fail(reader, "a digit");
}

static bool skip_number(struct weft_json_reader *reader)
{
    const char *end = reader->end;
    reader->at += reader->at < end && *reader->at == '-';
    if (reader->at < end && *reader->at == 'I' && !reader->is_strict)
        return skip_word(reader, "Infinity", 8);
    if (reader->at < end && *reader->at == '0')
        reader->at++;
    else if (!take_digits(reader))
        return false;
    if (reader->at < end && *reader->at == '.') {
        reader->at++;
        if (!take_digits(reader))
            return false;
    }
    if (reader->at < end && (*reader->at == 'e' || *reader->at == 'E')) {
        reader->at++;
        reader->at += reader->at < end && (*reader->at == '+' || *reader->at == '-');
        return take_digits(reader);
    }
    return true;
}

/* ---- values --------------------------------------------------------------------------------- */

/* A value that holds no others, and is no string. */
static bool scalar(struct weft_json_reader *reader, struct weft_json_value *value)
{
    value->bytes = reader->at;
    value->has_escapes = false;
    bool is_good;
    switch (*reader->at) {
    case 't':
        value->type = WEFT_JSON_TRUE;
        is_good = skip_word(reader, "true", 4);
        break;
    case 'f':
        value->type = WEFT_JSON_FALSE;
        is_good = skip_word(reader, "false", 5);
        break;
    case 'n':
        value->type = WEFT_JSON_NULL;
        is_good = skip_word(reader, "null", 4);
        break;
    case 'N':
        value->type = WEFT_JSON_NUMBER;
        is_good =
            reader->is_strict ? weft_json_fail(reader, "a value") : skip_word(reader, "NaN", 3);
        break;
    default:
        value->type = WEFT_JSON_NUMBER;
        if (*reader->at != '-' && *reader->at != 'I' && (unsigned)(*reader->at - '0') > 9)
            return weft_json_fail(reader, "a value");
        is_good = skip_number(reader);
        break;
    }
    value->n_bytes = (size_t)(reader->at - value->bytes);
    return is_good;
}

/* What stands open around the place that is read. */
struct nesting {
    uint64_t is_object[MOST_DEPTH / WORD_BITS];
    unsigned depth;
};

static bool nesting_push(struct weft_json_reader *reader, struct nesting *nesting, bool is_object)
{
    if (reader->is_strict && nesting->depth == WEFT_JSON_STRICT_DEPTH)
        return weft_json_fail(reader, "at most 64 objects and arrays within each other");
    if (nesting->depth == MOST_DEPTH)
        return weft_json_fail(reader, "at most 1024 objects and arrays within each other");
    uint64_t bit = UINT64_C(1) << nesting->depth % WORD_BITS;
    uint64_t *word = &nesting->is_object[nesting->depth++ / WORD_BITS];
    *word = is_object ? *word | bit : *word & ~bit;
    reader->at++;
    return true;
}

static bool nesting_top(const struct nesting *nesting)
{
    unsigned place = nesting->depth - 1;
    return nesting->is_object[place / WORD_BITS] >> place % WORD_BITS & 1;
}

/* After a value, or after a bracket that opened: goes to the next value, closing what closes.
 * Depth 0: the value is complete. */
static bool next_value(struct weft_json_reader *reader, struct nesting *nesting, bool is_first)
{
    while (nesting->depth > 0) {
        bool is_end;
        struct weft_json_value key;
        if (!(nesting_top(nesting) ? weft_json_member(reader, is_first, &key, &is_end)
                                   : weft_json_element(reader, is_first, &is_end)))
            return false;
        if (!is_end)
            return true;
        nesting->depth--;
        is_first = false;
    }
    return true;
}

/* Apart from the rest because of the room that it takes on the stack. */
__attribute__((noinline)) static bool composite(struct weft_json_reader *reader,
                                                struct weft_json_value *value)
{
    struct nesting nesting;
    nesting.depth = 0;
    value->bytes = reader->at;
    value->has_escapes = false;
    value->type = *reader->at == '{' ? WEFT_JSON_OBJECT : WEFT_JSON_ARRAY;
    do {
        char letter = weft_json_peek(reader);
        bool is_first = letter == '{' || letter == '[';
        struct weft_json_value inner;
        if (reader->at == reader->end)
            return weft_json_fail(reader, "a value");
        if (!(is_first        ? nesting_push(reader, &nesting, letter == '{')
              : letter == '"' ? weft_json_string(reader, &inner)
                              : scalar(reader, &inner)))
            return false;
        if (!next_value(reader, &nesting, is_first))
            return false;
    } while (nesting.depth > 0);
    value->n_bytes = (size_t)(reader->at - value->bytes);
    return true;
}

bool weft_json_other_value(struct weft_json_reader *reader, struct weft_json_value *value)
{
    if (reader->at == reader->end)
        return weft_json_fail(reader, "a value");
    return *reader->at == '{' || *reader->at == '[' ? composite(reader, value)
                                                    : scalar(reader, value);
}

bool weft_json_element(struct weft_json_reader *reader, bool is_first, bool *is_end)
{
    char letter = weft_json_peek(reader);
    *is_end = letter == ']';
    if (*is_end) {
        reader->at++;
        return true;
    }
    if (is_first)
        return reader->at < reader->end || weft_json_fail(reader, "a value or ']'");
    if (letter != ',')
        return weft_json_fail(reader, "',' or ']'");
    reader->at++;
    return true;
}

/* ---- escapes -------------------------------------------------------------------------------- */

static size_t put_utf8(uint32_t point, char *out)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xc0 | point >> 6);
        out[1] = (char)(0x80 | (point & 0x3f));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (char)(0xe0 | point >> 12);
        out[1] = (char)(0x80 | (point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (point & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | point >> 18);
    out[1] = (char)(0x80 | (point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (point & 0x3f));
    return 4;
}

/* A \u escape, two for a pair of surrogates; `*at` behind it. Six bytes give at most three. */
static size_t put_point(const char **at, const char *end, char *out)
{
    uint32_t point = hex_quad(*at + 2);
    *at += 6;
    if (point < 0xd800 || point > 0xdfff)
        return put_utf8(point, out);
    bool is_pair = point < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u';
    uint32_t low = is_pair ? hex_quad(*at + 2) : 0;
    if (low < 0xdc00 || low > 0xdfff)
        return put_utf8(0xfffd, out);
    *at += 6;
    return put_utf8(0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00), out);
}

size_t weft_json_unescape(const struct weft_json_value *value, char *out)
{
    static const char plain[] = "\"\"\\\\//b\bf\fn\nr\rt\t"; /* letter, what it means, ... */
    const char *at = value->bytes;
    const char *end = at + value->n_bytes;
    size_t n = 0;
    while (at < end) {
        if (*at != '\\') {
            out[n++] = *at++;
        } else if (at[1] == 'u') {
            n += put_point(&at, end, out + n);
        } else {
            size_t k = 0;
            while (plain[k] != at[1])
                k += 2;
            out[n++] = plain[k + 1];
            at += 2;
        }
    }
    return n;
}
