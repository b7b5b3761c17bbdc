/* SPDX-License-Identifier: MIT
 *
 * Makes trees of what base/json_read.h reads, for the metadata of CTF 2: nodes and unescaped
 * strings lie in the metadata's arena, depth is limited. Texts follow each other, separated by RS
 * (RFC 7464). Events are never read with it.
 */
#include "ingest/ctf/json_tree.h"

#include <string.h>

static enum weft_code fail(const struct weft_json_reader *reader, struct weft_err *err)
{
    const char *expected = reader->expected ? reader->expected : "a JSON value";
    const uint64_t at_off = (uint64_t)(reader->at - reader->begin);
    if (reader->at == reader->end)
        return weft_fail(err, WEFT_E_TRUNCATED, at_off,
                         "expected %s, found the end of the metadata", expected);
    return weft_fail(err, WEFT_E_MALFORMED, at_off, "expected %s, found byte 0x%02x", expected,
                     (uint8_t)*reader->at);
}

/* Without escapes; a string that has none stays where it is. */
static enum weft_code text_of(struct ctf_json_reader *reader, const struct weft_json_value *string,
                              struct weft_str *text, struct weft_err *err)
{
    *text = (struct weft_str){ string->bytes, string->n_bytes };
    if (!string->has_escapes)
        return WEFT_OK;
    char *out = WEFT_ARENA_NEW(reader->arena, string->n_bytes, char);
    if (!out)
        return weft_no_memory(err, "the metadata");
    *text = (struct weft_str){ out, weft_json_unescape(string, out) };
    return WEFT_OK;
}

static void set_number(struct ctf_json *value)
{
    const struct weft_str text = value->text;
    value->is_negative = text.bytes[0] == '-';
    value->kind = CTF_JSON_INTEGER;
    for (size_t i = value->is_negative; i < text.n_bytes; i++) {
        const char byte = text.bytes[i];
        if (byte < '0' || byte > '9' || __builtin_mul_overflow(value->number, 10, &value->number) ||
            __builtin_add_overflow(value->number, (uint64_t)(byte - '0'), &value->number))
            value->kind = CTF_JSON_REAL;
    }
    if (value->is_negative && value->number > UINT64_C(1) << 63)
        value->kind = CTF_JSON_REAL;
    if (value->is_negative)
        value->number = 0 - value->number;
}

static enum weft_code take_scalar(struct ctf_json_reader *reader, struct ctf_json *value,
                                  struct weft_err *err)
{
    static const enum ctf_json_kind kinds[] = { [WEFT_JSON_TRUE] = CTF_JSON_TRUE,
                                                [WEFT_JSON_FALSE] = CTF_JSON_FALSE,
                                                [WEFT_JSON_NULL] = CTF_JSON_NULL };
    struct weft_json_value read;
    if (!weft_json_value(&reader->in, &read))
        return fail(&reader->in, err);
    value->text = (struct weft_str){ read.bytes, read.n_bytes };
    if (read.type == WEFT_JSON_STRING) {
        value->kind = CTF_JSON_STRING;
        return text_of(reader, &read, &value->text, err);
    }
    if (read.type == WEFT_JSON_NUMBER)
        set_number(value);
    else
        value->kind = kinds[read.type];
    return WEFT_OK;
}

static enum weft_code take_value(struct ctf_json_reader *reader, unsigned depth,
                                 struct ctf_json **result, struct weft_err *err);

/* The parts of an object or array, whose bracket `at` stands on. */
static enum weft_code take_parts(struct ctf_json_reader *reader, unsigned depth,
                                 struct ctf_json *value, struct weft_err *err)
{
    const bool is_object = value->kind == CTF_JSON_OBJECT;
    const struct ctf_json **place = &value->first;
    reader->in.at++;
    for (bool is_first = true;; is_first = false) {
        struct weft_json_value key = { 0 };
        struct ctf_json *part;
        bool is_end;
        if (!(is_object ? weft_json_member(&reader->in, is_first, &key, &is_end)
                        : weft_json_element(&reader->in, is_first, &is_end)))
            return fail(&reader->in, err);
        if (is_end)
            return WEFT_OK;
        WEFT_TRY(take_value(reader, depth + 1, &part, err));
        WEFT_TRY(text_of(reader, &key, &part->key, err));
        *place = part;
        place = &part->next;
    }
}

static enum weft_code take_value(struct ctf_json_reader *reader, unsigned depth,
                                 struct ctf_json **result, struct weft_err *err)
{
    const char first = weft_json_peek(&reader->in);
    struct ctf_json *value = *result = WEFT_ARENA_NEW(reader->arena, 1, struct ctf_json);
    if (!value)
        return weft_no_memory(err, "the metadata");
    value->at_off = (uint64_t)(reader->in.at - reader->in.begin);
    if (depth > CTF_JSON_MOST_DEPTH)
        return weft_fail(err, WEFT_E_LIMIT, value->at_off, "expected JSON nested at most %d deep",
                         CTF_JSON_MOST_DEPTH);
    if (first != '{' && first != '[')
        return take_scalar(reader, value, err);
    value->kind = first == '{' ? CTF_JSON_OBJECT : CTF_JSON_ARRAY;
    return take_parts(reader, depth, value, err);
}

enum weft_code ctf_json_next(struct ctf_json_reader *reader, const struct ctf_json **root,
                             struct weft_err *err)
{
    struct ctf_json *value = NULL;
    *root = NULL;
    while (weft_json_take(&reader->in, 0x1e))
        continue;
    weft_json_blanks(&reader->in);
    if (reader->in.at == reader->in.end)
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
