/* SPDX-License-Identifier: MIT
 *
 * A parser of its own for the metadata of CTF 2, which needs a tree: nodes and unescaped strings
 * lie in the metadata's arena, depth is limited. Texts follow each other, separated by RS (RFC
 * 7464). Events are never read with it; for those of Chrome see base/json_read.h.
 */
#include "ingest/ctf/json_tree.h"

#include <string.h>

static enum weft_code fail(const struct ctf_json_reader *reader, const char *expected,
                           struct weft_err *err)
{
    const uint64_t at_off = (uint64_t)(reader->at - reader->start);
    if (reader->at == reader->end)
        return weft_fail(err, WEFT_E_TRUNCATED, at_off,
                         "expected %s, found the end of the metadata", expected);
    return weft_fail(err, WEFT_E_MALFORMED, at_off, "expected %s, found byte 0x%02x", expected,
                     (uint8_t)*reader->at);
}

static void skip_space(struct ctf_json_reader *reader)
{
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t' ||
                                        *reader->at == '\n' || *reader->at == '\r'))
        reader->at++;
}

static bool take(struct ctf_json_reader *reader, char byte)
{
    skip_space(reader);
    const bool is_there = reader->at < reader->end && *reader->at == byte;
    reader->at += is_there;
    return is_there;
}

/* ---- strings -------------------------------------------------------------------------------- */

static int hex_of(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte = (char)(byte | 0x20);
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Four digits; -1: they are not there. */
static int32_t take_unit(struct ctf_json_reader *reader)
{
    int32_t unit = 0;
    if (reader->end - reader->at < 4)
        return -1;
    for (int k = 0; k < 4; k++) {
        const int digit = hex_of(*reader->at++);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static size_t put_utf8(char *out, uint32_t point)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    const size_t n_more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const uint8_t heads[] = { 0, 0xc0, 0xe0, 0xf0 };
    out[0] = (char)(heads[n_more] | point >> 6 * n_more);
    for (size_t k = 1; k <= n_more; k++)
        out[k] = (char)(0x80 | (point >> 6 * (n_more - k) & 0x3f));
    return n_more + 1;
}

/* "\uXXXX", also two of them that are one character. */
static bool take_escaped_point(struct ctf_json_reader *reader, uint32_t *point)
{
    const int32_t first = take_unit(reader);
    if (first < 0)
        return false;
    *point = (uint32_t)first;
    if (first < 0xd800 || first > 0xdbff)
        return true;
    if (reader->end - reader->at < 2 || reader->at[0] != '\\' || reader->at[1] != 'u')
        return false;
    reader->at += 2;
    const int32_t second = take_unit(reader);
    *point = 0x10000 + ((uint32_t)first - 0xd800) * 0x400 + ((uint32_t)second - 0xdc00);
    return second >= 0xdc00 && second <= 0xdfff;
}

/* Behind a backslash; `*n_out` grows by at most what the escape took. */
static bool take_escape(struct ctf_json_reader *reader, char *out, size_t *n_out)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    if (reader->at == reader->end)
        return false;
    const char letter = *reader->at++;
    uint32_t point;
    if (letter == 'u') {
        if (!take_escaped_point(reader, &point))
            return false;
        *n_out += put_utf8(out + *n_out, point);
        return true;
    }
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (known)
        out[(*n_out)++] = meanings[known - letters];
    return known != NULL;
}

static enum weft_code take_string(struct ctf_json_reader *reader, struct weft_str *text,
                                  struct weft_err *err)
{
    const char *first = reader->at;
    while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\\')
        reader->at++;
    if (reader->at < reader->end && *reader->at == '"') {
        *text = (struct weft_str){ first, (size_t)(reader->at++ - first) };
        return WEFT_OK;
    }
    const char *end = reader->at; /* of the string: its length bounds the copy */
    while (end < reader->end && *end != '"')
        end += *end == '\\' && end + 1 < reader->end ? 2 : 1;
    char *out = WEFT_ARENA_NEW(reader->arena, (size_t)(end - first) + 4, char);
    size_t n_out = (size_t)(reader->at - first);
    if (!out)
        return weft_no_memory(err, "the metadata");
    memcpy(out, first, n_out);
    while (reader->at < reader->end && *reader->at != '"') {
        const char byte = *reader->at++;
        if (byte != '\\')
            out[n_out++] = byte;
        else if (!take_escape(reader, out, &n_out))
            return fail(reader, "an escape in a string", err);
    }
    if (reader->at == reader->end)
        return fail(reader, "the end of a string", err);
    reader->at++;
    *text = (struct weft_str){ out, n_out };
    return WEFT_OK;
}

/* ---- numbers, words -------------------------------------------------------------------------- */

static bool is_number_byte(char byte)
{
    return (byte >= '0' && byte <= '9') || byte == '-' || byte == '+' || byte == '.' ||
           byte == 'e' || byte == 'E';
}

static enum weft_code take_number(struct ctf_json_reader *reader, struct ctf_json *value,
                                  struct weft_err *err)
{
    const char *first = reader->at;
    value->is_negative = *first == '-';
    value->kind = CTF_JSON_INTEGER;
    for (; reader->at < reader->end && is_number_byte(*reader->at); reader->at++) {
        const char byte = *reader->at;
        const bool is_digit = byte >= '0' && byte <= '9';
        if ((!is_digit && (byte != '-' || reader->at > first)) ||
            (is_digit &&
             (__builtin_mul_overflow(value->number, 10, &value->number) ||
              __builtin_add_overflow(value->number, (uint64_t)(byte - '0'), &value->number))))
            value->kind = CTF_JSON_REAL;
    }
    value->text = (struct weft_str){ first, (size_t)(reader->at - first) };
    if (value->text.n_bytes == value->is_negative)
        return fail(reader, "a digit", err);
    if (value->is_negative && value->number > UINT64_C(1) << 63)
        value->kind = CTF_JSON_REAL;
    if (value->is_negative)
        value->number = 0 - value->number;
    return WEFT_OK;
}

static enum weft_code take_word(struct ctf_json_reader *reader, struct ctf_json *value,
                                struct weft_err *err)
{
    static const struct {
        const char *word;
        enum ctf_json_kind kind;
    } words[] = { { "null", CTF_JSON_NULL },
                  { "true", CTF_JSON_TRUE },
                  { "false", CTF_JSON_FALSE } };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const size_t n_word = strlen(words[k].word);
        if ((size_t)(reader->end - reader->at) < n_word ||
            memcmp(reader->at, words[k].word, n_word) != 0)
            continue;
        reader->at += n_word;
        value->kind = words[k].kind;
        return WEFT_OK;
    }
    return fail(reader, "a JSON value", err);
}

/* ---- values --------------------------------------------------------------------------------- */

static enum weft_code take_value(struct ctf_json_reader *reader, unsigned depth,
                                 struct ctf_json **value, struct weft_err *err);

static enum weft_code take_key(struct ctf_json_reader *reader, struct weft_str *key,
                               struct weft_err *err)
{
    if (!take(reader, '"'))
        return fail(reader, "a key", err);
    const enum weft_code code = take_string(reader, key, err);
    if (code != WEFT_OK || take(reader, ':'))
        return code;
    return fail(reader, "\":\"", err);
}

/* The parts of an object or array, behind its opening bracket. */
static enum weft_code take_parts(struct ctf_json_reader *reader, unsigned depth,
                                 struct ctf_json *value, struct weft_err *err)
{
    const bool is_object = value->kind == CTF_JSON_OBJECT;
    const char close = is_object ? '}' : ']';
    const struct ctf_json **place = &value->first;
    if (take(reader, close))
        return WEFT_OK;
    do {
        struct weft_str key = { 0 };
        struct ctf_json *part;
        enum weft_code code = is_object ? take_key(reader, &key, err) : WEFT_OK;
        WEFT_THEN(code, take_value(reader, depth + 1, &part, err));
        if (code != WEFT_OK)
            return code;
        part->key = key;
        *place = part;
        place = &part->next;
    } while (take(reader, ','));
    return take(reader, close) ? WEFT_OK : fail(reader, is_object ? "\"}\"" : "\"]\"", err);
}

static enum weft_code take_value(struct ctf_json_reader *reader, unsigned depth,
                                 struct ctf_json **result, struct weft_err *err)
{
    skip_space(reader);
    struct ctf_json *value = *result = WEFT_ARENA_NEW(reader->arena, 1, struct ctf_json);
    if (!value)
        return weft_no_memory(err, "the metadata");
    value->at_off = (uint64_t)(reader->at - reader->start);
    if (depth > CTF_JSON_MOST_DEPTH)
        return weft_fail(err, WEFT_E_LIMIT, value->at_off, "expected JSON nested at most %d deep",
                         CTF_JSON_MOST_DEPTH);
    if (reader->at == reader->end)
        return fail(reader, "a JSON value", err);
    const char byte = *reader->at;
    if (byte == '{' || byte == '[') {
        reader->at++;
        value->kind = byte == '{' ? CTF_JSON_OBJECT : CTF_JSON_ARRAY;
        return take_parts(reader, depth, value, err);
    }
    if (byte == '"') {
        reader->at++;
        value->kind = CTF_JSON_STRING;
        return take_string(reader, &value->text, err);
    }
    return byte == '-' || (byte >= '0' && byte <= '9') ? take_number(reader, value, err)
                                                       : take_word(reader, value, err);
}

enum weft_code ctf_json_next(struct ctf_json_reader *reader, const struct ctf_json **root,
                             struct weft_err *err)
{
    struct ctf_json *value = NULL;
    *root = NULL;
    do
        skip_space(reader);
    while (take(reader, 0x1e));
    if (reader->at == reader->end)
        return WEFT_OK;
    const enum weft_code code = take_value(reader, 0, &value, err);
    *root = value;
    return code;
}

const struct ctf_json *ctf_json_get(const struct ctf_json *object, const char *key)
{
    if (!object || object->kind != CTF_JSON_OBJECT)
        return NULL;
    for (const struct ctf_json *part = object->first; part; part = part->next)
        if (weft_str_equal(part->key, weft_str_of(key)))
            return part;
    return NULL;
}
