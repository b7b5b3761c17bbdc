/* SPDX-License-Identifier: MIT
 *
 * A validator without recursion: nesting is one bit a level, so depth is limited
 * (WEFT_JSON_DEPTH_MAX). It also reads members of an object and unescapes strings, for
 * serve/files.c and the exports.
 */
#include "render/json/text.h"

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* Reads [at, end). */
struct reader {
    const char *at, *end;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(struct reader *in)
{
    while (in->at < in->end && is_blank(*in->at))
        in->at++;
}

static bool take(struct reader *in, char c)
{
    if (in->at >= in->end || *in->at != c)
        return false;
    in->at++;
    return true;
}

static bool take_word(struct reader *in, const char *word)
{
    size_t n_bytes = strlen(word);
    if ((size_t)(in->end - in->at) < n_bytes || memcmp(in->at, word, n_bytes) != 0)
        return false;
    in->at += n_bytes;
    return true;
}

static bool take_digits(struct reader *in)
{
    const char *begin = in->at;
    while (in->at < in->end && is_digit(*in->at))
        in->at++;
    return in->at > begin;
}

static bool take_number(struct reader *in)
{
    (void)take(in, '-');
    if (!take(in, '0') && !take_digits(in))
        return false;
    if (take(in, '.') && !take_digits(in))
        return false;
    if (!take(in, 'e') && !take(in, 'E'))
        return true;
    if (!take(in, '+'))
        (void)take(in, '-');
    return take_digits(in);
}

/* Four hex digits, or -1. */
static int32_t take_hex(struct reader *in)
{
    int32_t value = 0;
    if (in->end - in->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = *in->at++;
        int32_t digit = is_digit(c)            ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* What follows a backslash. Surrogates must come in pairs: strict readers refuse half of one. */
static bool take_escape(struct reader *in)
{
    if (in->at >= in->end)
        return false;
    char c = *in->at++;
    if (c != 'u')
        return c != '\0' && strchr("\"\\/bfnrt", c) != NULL;
    int32_t unit = take_hex(in);
    if (unit < 0xd800 || unit > 0xdfff)
        return unit >= 0;
    if (unit > 0xdbff || !take_word(in, "\\u"))
        return false;
    int32_t low = take_hex(in);
    return low >= 0xdc00 && low <= 0xdfff;
}

/* The rest of a string after its opening quote. */
static bool take_string(struct reader *in)
{
    while (in->at < in->end) {
        uint8_t c = (uint8_t)*in->at;
        if (c == '"') {
            in->at++;
            return true;
        }
        if (c < 0x20)
            return false;
        if (c == '\\') {
            in->at++;
            if (!take_escape(in))
                return false;
        } else if (c < 0x80) {
            in->at++;
        } else {
            size_t n_used;
            if (weft_utf8_next(in->at, (size_t)(in->end - in->at), &n_used) == 0xfffd &&
                n_used == 1)
                return false;
            in->at += n_used;
        }
    }
    return false;
}

static bool take_key(struct reader *in)
{
    skip_blanks(in);
    if (!take(in, '"') || !take_string(in))
        return false;
    skip_blanks(in);
    return take(in, ':');
}

static bool take_scalar(struct reader *in)
{
    if (take(in, '"'))
        return take_string(in);
    if (in->at < in->end && (is_digit(*in->at) || *in->at == '-'))
        return take_number(in);
    return take_word(in, "true") || take_word(in, "false") || take_word(in, "null");
}

/* What is open: one bit a level, 1 for an object. */
struct nesting {
    uint64_t objects;
    unsigned depth;
};

/* After a value: closes what ends, up to the next value or the end of the outermost one. */
static bool take_ends(struct reader *in, struct nesting *open)
{
    while (open->depth > 0) {
        bool is_object = open->objects & 1;
        skip_blanks(in);
        if (take(in, ','))
            return !is_object || take_key(in);
        if (!take(in, is_object ? '}' : ']'))
            return false;
        open->objects >>= 1;
        open->depth--;
    }
    return true;
}

/* One value with all that is in it. */
static bool take_value(struct reader *in)
{
    struct nesting open = { 0 };
    do {
        skip_blanks(in);
        bool is_object = take(in, '{');
        if (!is_object && !take(in, '[')) {
            if (!take_scalar(in) || !take_ends(in, &open))
                return false;
            continue;
        }
        if (open.depth++ == WEFT_JSON_DEPTH_MAX)
            return false;
        open.objects = open.objects << 1 | is_object;
        skip_blanks(in);
        bool is_empty = in->at < in->end && *in->at == (is_object ? '}' : ']');
        if (is_empty ? !take_ends(in, &open) : is_object && !take_key(in))
            return false;
    } while (open.depth > 0);
    return true;
}

bool weft_json_text_is_valid(struct weft_str text)
{
    if (text.n_bytes == 0)
        return false;
    struct reader in = { .at = text.bytes, .end = text.bytes + text.n_bytes };
    if (!take_value(&in))
        return false;
    skip_blanks(&in);
    return in.at == in.end;
}

bool weft_json_text_members(struct weft_str text, struct weft_str *members)
{
    struct reader in = { .at = text.bytes, .end = text.bytes + text.n_bytes };
    *members = (struct weft_str){ 0 };
    skip_blanks(&in);
    if (!take(&in, '{'))
        return false;
    while (*--in.end != '}')
        continue;
    skip_blanks(&in);
    while (in.end > in.at && is_blank(in.end[-1]))
        in.end--;
    if (in.end > in.at)
        *members = (struct weft_str){ .bytes = in.at, .n_bytes = (size_t)(in.end - in.at) };
    return true;
}

bool weft_json_text_member(struct weft_str *members, struct weft_str *key, struct weft_str *value)
{
    if (members->n_bytes == 0)
        return false;
    struct reader in = { .at = members->bytes, .end = members->bytes + members->n_bytes };
    skip_blanks(&in);
    const char *key_at = ++in.at;
    (void)take_string(&in);
    *key = (struct weft_str){ .bytes = key_at, .n_bytes = (size_t)(in.at - 1 - key_at) };
    skip_blanks(&in);
    (void)take(&in, ':');
    skip_blanks(&in);
    const char *value_at = in.at;
    (void)take_value(&in);
    *value = (struct weft_str){ .bytes = value_at, .n_bytes = (size_t)(in.at - value_at) };
    skip_blanks(&in);
    (void)take(&in, ',');
    *members = (struct weft_str){ .bytes = in.at, .n_bytes = (size_t)(in.end - in.at) };
    return true;
}

static char *put_utf8(char *to, uint32_t point)
{
    if (point < 0x80) {
        *to++ = (char)point;
        return to;
    }
    unsigned n_tails = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const uint8_t heads[] = { 0, 0xc0, 0xe0, 0xf0 };
    *to++ = (char)(heads[n_tails] | point >> 6 * n_tails);
    while (n_tails-- > 0)
        *to++ = (char)(0x80 | (point >> 6 * n_tails & 0x3f));
    return to;
}

size_t weft_json_text_unescape(struct weft_str text, char *out)
{
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    struct reader in = { .at = text.bytes, .end = text.bytes + text.n_bytes };
    char *to = out;
    while (in.at != in.end) {
        char c = *in.at++;
        if (c != '\\') {
            *to++ = c;
            continue;
        }
        c = *in.at++;
        const char *letter = strchr(letters, c);
        if (c != 'u') {
            *to++ = letter ? meanings[letter - letters] : c;
            continue;
        }
        uint32_t point = (uint32_t)take_hex(&in);
        if (point >= 0xd800 && point <= 0xdbff && take_word(&in, "\\u"))
            point = 0x10000 + ((point - 0xd800) << 10) + ((uint32_t)take_hex(&in) - 0xdc00);
        to = put_utf8(to, point);
    }
    return (size_t)(to - out);
}
