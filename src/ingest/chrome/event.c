/* SPDX-License-Identifier: MIT
 *
 * Parses one event object in a single pass. Member names of up to eight letters are compared as
 * 64-bit words, which makes this loop as fast as reading the bytes. Values stay views of the text;
 * the caller interprets them (collect.c, deliver.c).
 */
#include "ingest/chrome/event.h"

#include "base/cursor.h"

#include <string.h>
#include <xxhash.h>

enum { WORD_BYTES = 8, SAFE_DIGITS = 18 /* fit in 64 bits */ };

/* A name of at most eight letters as a number, the first letter lowest. */
#define WORD(a, b, c, d, e, f, g, h)                                                               \
    ((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 |              \
     (uint64_t)(e) << 32 | (uint64_t)(f) << 40 | (uint64_t)(g) << 48 | (uint64_t)(h) << 56)

static enum chrome_field field_of_word(uint64_t word)
{
    switch (word) {
    case WORD('n', 'a', 'm', 'e', 0, 0, 0, 0):
        return CHROME_NAME;
    case WORD('c', 'a', 't', 0, 0, 0, 0, 0):
        return CHROME_CAT;
    case WORD('p', 'h', 0, 0, 0, 0, 0, 0):
        return CHROME_PH;
    case WORD('t', 's', 0, 0, 0, 0, 0, 0):
        return CHROME_TS;
    case WORD('d', 'u', 'r', 0, 0, 0, 0, 0):
        return CHROME_DUR;
    case WORD('p', 'i', 'd', 0, 0, 0, 0, 0):
        return CHROME_PID;
    case WORD('t', 'i', 'd', 0, 0, 0, 0, 0):
        return CHROME_TID;
    case WORD('a', 'r', 'g', 's', 0, 0, 0, 0):
        return CHROME_ARGS;
    case WORD('i', 'd', 0, 0, 0, 0, 0, 0):
        return CHROME_ID;
    case WORD('i', 'd', '2', 0, 0, 0, 0, 0):
        return CHROME_ID2;
    case WORD('s', 'c', 'o', 'p', 'e', 0, 0, 0):
        return CHROME_SCOPE;
    case WORD('b', 'i', 'n', 'd', '_', 'i', 'd', 0):
        return CHROME_BIND_ID;
    case WORD('f', 'l', 'o', 'w', '_', 'i', 'n', 0):
        return CHROME_FLOW_IN;
    case WORD('f', 'l', 'o', 'w', '_', 'o', 'u', 't'):
        return CHROME_FLOW_OUT;
    case WORD('s', 'f', 0, 0, 0, 0, 0, 0):
        return CHROME_SF;
    case WORD('s', 't', 'a', 'c', 'k', 0, 0, 0):
        return CHROME_STACK;
    case WORD('w', 'e', 'i', 'g', 'h', 't', 0, 0):
        return CHROME_WEIGHT;
    case WORD('t', 't', 's', 0, 0, 0, 0, 0):
        return CHROME_TTS;
    case WORD('t', 'd', 'u', 'r', 0, 0, 0, 0):
        return CHROME_TDUR;
    case WORD('e', 's', 'f', 0, 0, 0, 0, 0):
        return CHROME_ESF;
    default:
        return CHROME_OTHER;
    }
}

static enum chrome_field field_of(const struct weft_json_value *key, const char *end)
{
    struct weft_json_value plain = *key;
    char letters[WORD_BYTES * 6];
    if (key->has_escapes && key->n_bytes <= sizeof letters) {
        plain.n_bytes = weft_json_unescape(key, letters);
        plain.bytes = letters;
        end = letters;
    }
    if (plain.n_bytes > WORD_BYTES || plain.n_bytes == 0)
        return CHROME_OTHER;
    uint64_t word = 0;
    if (end - plain.bytes >= WORD_BYTES) {
        word = weft_load_u64((const uint8_t *)plain.bytes) &
               (UINT64_MAX >> (8 * (WORD_BYTES - plain.n_bytes)));
    } else {
        for (size_t k = 0; k < plain.n_bytes; k++)
            word |= (uint64_t)(uint8_t)plain.bytes[k] << (8 * k);
    }
    return field_of_word(word);
}

/* A key of up to seven plain letters, and its colon, as nearly all are: quote and word are found in
 * one load. NULL if it is not of this kind, or near the end of the text. */
static const char *short_key(const char *at, const char *end, enum chrome_field *field)
{
    if (end - at < 2 * WORD_BYTES || *at != '"')
        return NULL;
    uint64_t special = weft_json_special8(at + 1);
    if (!special)
        return NULL;
    unsigned n_bits = (unsigned)__builtin_ctzll(special) & ~7u;
    const char *quote = at + 1 + n_bits / 8;
    if (*quote != '"')
        return NULL;
    *field = field_of_word(weft_load_u64((const uint8_t *)at + 1) & ((UINT64_C(1) << n_bits) - 1));
    at = weft_json_skip_blanks(quote + 1, end);
    return at < end && *at == ':' ? at + 1 : NULL;
}

/* The rest of a member whose key is at `at`. */
static bool read_member(struct weft_json_reader *reader, const char *at, struct chrome_event *event)
{
    enum chrome_field field;
    struct weft_json_value ignored;
    const char *behind = short_key(at, reader->end, &field);
    if (behind) {
        reader->at = behind;
    } else {
        struct weft_json_value key;
        bool is_end;
        reader->at = at;
        if (!weft_json_member(reader, true, &key, &is_end))
            return false;
        field = field_of(&key, reader->end);
    }
    bool is_known = field < CHROME_FIELDS;
    event->present |= is_known ? UINT32_C(1) << field : 0;
    return weft_json_value(reader, is_known ? &event->fields[field] : &ignored);
}

bool chrome_event_read(struct weft_json_reader *reader, struct chrome_event *event)
{
    const char *end = reader->end;
    event->begin = reader->at;
    event->present = 0;
    const char *at = weft_json_skip_blanks(reader->at + 1, end);
    for (bool is_first = true; at == end || *at != '}'; is_first = false) {
        if (!is_first && (at == end || *at != ',')) {
            reader->at = at;
            return weft_json_fail(reader, "',' or '}'");
        }
        at = is_first ? at : weft_json_skip_blanks(at + 1, end);
        if (at < end && *at == '}') { /* behind a comma */
            reader->at = at;
            return weft_json_fail(reader, "a name in quotes");
        }
        if (!read_member(reader, at, event))
            return false;
        at = weft_json_skip_blanks(reader->at, end);
    }
    event->end = reader->at = at + 1;
    return true;
}

char chrome_event_phase(const struct chrome_event *event)
{
    const struct weft_json_value *phase = chrome_field(event, CHROME_PH);
    return phase && phase->type == WEFT_JSON_STRING && phase->n_bytes == 1 ? *phase->bytes : '\0';
}

bool chrome_event_time(const struct chrome_event *event, enum chrome_field field,
                       struct weft_decimal_ns *time)
{
    const struct weft_json_value *value = chrome_field(event, field);
    return value && (value->type == WEFT_JSON_NUMBER || value->type == WEFT_JSON_STRING) &&
           weft_decimal_parse(value->bytes, value->n_bytes, WEFT_DECIMAL_US, time);
}

static int digit_of(char letter, unsigned base)
{
    unsigned digit = (unsigned)(letter - '0');
    if (digit > 9)
        digit = (unsigned)((letter | 0x20) - 'a') + 10;
    return digit < base ? (int)digit : -1;
}

/* Any length, base 10 or 16. */
static bool long_number(const struct weft_json_value *value, uint64_t *number)
{
    const char *at = value->bytes;
    const char *end = at + value->n_bytes;
    bool is_hex = value->n_bytes > 2 && at[0] == '0' && (at[1] | 0x20) == 'x';
    unsigned base = is_hex ? 16 : 10;
    uint64_t sum = 0;
    for (at += is_hex ? 2 : 0; at < end; at++) {
        int digit = digit_of(*at, base);
        if (digit < 0 || __builtin_mul_overflow(sum, base, &sum) ||
            __builtin_add_overflow(sum, (unsigned)digit, &sum))
            return false;
    }
    *number = sum;
    return true;
}

bool chrome_whole_number(const struct weft_json_value *value, uint64_t *number)
{
    uint64_t sum = 0;
    if (value->type > WEFT_JSON_NUMBER || value->n_bytes == 0)
        return false;
    if (value->n_bytes > SAFE_DIGITS)
        return long_number(value, number);
    for (const char *at = value->bytes, *end = at + value->n_bytes; at < end; at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (digit > 9)
            return long_number(value, number);
        sum = sum * 10 + digit;
    }
    *number = sum;
    return true;
}

uint64_t chrome_id_number(const struct weft_json_value *value)
{
    uint64_t number;
    return chrome_whole_number(value, &number) ? number : XXH3_64bits(value->bytes, value->n_bytes);
}

bool chrome_member(const struct weft_json_value *object, const char *name,
                   struct weft_json_value *value)
{
    if (object->type != WEFT_JSON_OBJECT)
        return false;
    struct weft_json_reader reader = weft_json_reader_of(object->bytes, object->n_bytes);
    bool is_end = false;
    bool is_found = false;
    reader.at++;
    for (bool is_first = true;; is_first = false) {
        struct weft_json_value key;
        struct weft_json_value here;
        if (!weft_json_member(&reader, is_first, &key, &is_end) || is_end ||
            !weft_json_value(&reader, &here))
            return is_found;
        if (key.n_bytes == strlen(name) && memcmp(key.bytes, name, key.n_bytes) == 0) {
            *value = here;
            is_found = true;
        }
    }
}

bool chrome_event_id(const struct chrome_event *event, bool is_bound, struct chrome_id *id)
{
    const struct weft_json_value *value = chrome_field(event, CHROME_ID);
    struct weft_json_value inner;
    *id = (struct chrome_id){ 0 };
    if (is_bound) {
        value = chrome_field(event, CHROME_BIND_ID);
    } else if (!value && chrome_field(event, CHROME_ID2)) {
        const struct weft_json_value *id2 = chrome_field(event, CHROME_ID2);
        id->is_local = chrome_member(id2, "local", &inner);
        if (id->is_local || chrome_member(id2, "global", &inner))
            value = &inner;
    }
    if (!value)
        return false;
    id->number = chrome_id_number(value);
    return true;
}
