/* SPDX-License-Identifier: MIT
 *
 * Decides which code points are plain, writes the escapes of the others, and is the project's own
 * printf for text from traces: %s and %c go through the escapes, numbers through snprintf. A
 * conversion that plain.h does not list aborts, as it is a mistake in this program.
 */
#include "base/plain.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPEC_BYTES = 64, NUMBER_BYTES = 512 };

/* ---- what is plain --------------------------------------------------------------------------- */

bool weft_plain_is(uint32_t point)
{
    /* Controls; what is invisible; what breaks lines; what changes the direction of text. */
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        { 0x00, 0x1f },       { 0x7f, 0x9f },     { 0xad, 0xad },     { 0x34f, 0x34f },
        { 0x61c, 0x61c },     { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },
        { 0x200b, 0x200f },   { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 },
        { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0x1d173, 0x1d17a },
        { 0xe0000, 0xe0fff },
    };
    if (point >= 0x20 && point < 0x7f)
        return true;
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden && point >= hidden[i].first; i++)
        if (point <= hidden[i].last)
            return false;
    return true;
}

/* True if each of the eight bytes is a printable one of ASCII. */
static bool are_ascii(const char *bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    uint64_t eight;
    memcpy(&eight, bytes, sizeof eight);
    const uint64_t is_low = (eight - ones * 0x20) & ~eight; /* a byte below 0x20 */
    const uint64_t is_del = ((eight ^ ones * 0x7f) - ones) & ~(eight ^ ones * 0x7f);
    return ((eight | is_low | is_del) & highs) == 0;
}

size_t weft_plain_prefix(struct weft_str text)
{
    size_t at = 0, n_used;
    while (at < text.n_bytes) {
        if (text.n_bytes - at >= sizeof(uint64_t) && are_ascii(text.bytes + at)) {
            at += sizeof(uint64_t);
            continue;
        }
        const uint32_t point = weft_utf8_next(text.bytes + at, text.n_bytes - at, &n_used);
        if (!weft_utf8_is_good(point, n_used) || !weft_plain_is(point))
            break;
        at += n_used;
    }
    return at;
}

/* ---- escapes --------------------------------------------------------------------------------- */

static size_t put_hex(char *out, const char *lead, uint32_t value, unsigned n_digits)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = 0;
    while (*lead)
        out[n++] = *lead++;
    while (n_digits-- > 0)
        out[n++] = digits[value >> 4 * n_digits & 15];
    return n;
}

static size_t escape_text(uint32_t point, char *out)
{
    const char *const letter = point == '\n'   ? "\\n"
                               : point == '\r' ? "\\r"
                               : point == '\t' ? "\\t"
                                               : NULL;
    if (letter)
        return put_hex(out, letter, 0, 0);
    return point < 0x100     ? put_hex(out, "\\x", point, 2)
           : point < 0x10000 ? put_hex(out, "\\u", point, 4)
                             : put_hex(out, "\\U", point, 8);
}

static size_t escape_json(uint32_t point, char *out)
{
    if (point < 0x10000)
        return put_hex(out, "\\u", point, 4);
    const size_t n = put_hex(out, "\\u", 0xd800 + ((point - 0x10000) >> 10), 4);
    return n + put_hex(out + n, "\\u", 0xdc00 + (point & 0x3ff), 4);
}

size_t weft_plain_escape(struct weft_str text, enum weft_plain_form form,
                         char out[WEFT_PLAIN_BYTES], size_t *n_used)
{
    const uint32_t point = weft_utf8_next(text.bytes, text.n_bytes, n_used);
    if (form == WEFT_PLAIN_JSON)
        return escape_json(point, out);
    return escape_text(weft_utf8_is_good(point, *n_used) ? point : (uint8_t)text.bytes[0], out);
}

/* ---- a sink of bounded room ------------------------------------------------------------------ */

/* `n` counts what there would be with room for all. */
struct sink {
    char *out;
    size_t n_room, n;
};

static void put(struct sink *sink, const char *bytes, size_t n_bytes)
{
    if (sink->n < sink->n_room) {
        const size_t n_left = sink->n_room - sink->n;
        memcpy(sink->out + sink->n, bytes, n_bytes < n_left ? n_bytes : n_left);
    }
    sink->n += n_bytes;
}

static void put_plain(struct sink *sink, struct weft_str text)
{
    while (text.n_bytes > 0) {
        char escape[WEFT_PLAIN_BYTES];
        size_t n_used = weft_plain_prefix(text);
        if (n_used > 0)
            put(sink, text.bytes, n_used);
        else
            put(sink, escape, weft_plain_escape(text, WEFT_PLAIN_TEXT, escape, &n_used));
        text.bytes += n_used;
        text.n_bytes -= n_used;
    }
}

struct weft_str weft_plain(struct weft_arena *arena, struct weft_str text)
{
    if (weft_plain_prefix(text) == text.n_bytes)
        return text;
    struct sink sink = { 0 };
    put_plain(&sink, text);
    sink = (struct sink){ .out = weft_arena_alloc(arena, sink.n, 1), .n_room = sink.n };
    if (sink.out)
        put_plain(&sink, text);
    return (struct weft_str){ .bytes = sink.out, .n_bytes = sink.n };
}

/* ---- formats --------------------------------------------------------------------------------- */

/* A conversion: its text in the format, up to and with the letter. The formats are this program's
 * own, so that there is room for their flags. */
struct spec {
    char text[SPEC_BYTES];
    size_t n;
    bool is_left;
    int width;     /* 0: none; negative: as with the flag '-' */
    int precision; /* negative: none */
    enum { LENGTH_INT, LENGTH_LONG, LENGTH_LONG_LONG, LENGTH_SIZE } length;
    char letter;
};

struct arguments {
    va_list list;
};

/* Digits of a width or precision, or the argument in their place; kept in the text as digits. */
static const char *read_number(const char *at, struct spec *spec, struct arguments *args,
                               int *number)
{
    if (*at == '*') {
        *number = va_arg(args->list, int);
        spec->n += (size_t)snprintf(spec->text + spec->n, SPEC_BYTES - spec->n, "%d", *number);
        return at + 1;
    }
    for (*number = 0; *at >= '0' && *at <= '9'; at++) {
        *number = *number * 10 + (*at - '0');
        spec->text[spec->n++] = *at;
    }
    return at;
}

static const char *read_length(const char *at, struct spec *spec)
{
    for (; *at && strchr("hlzjt", *at); at++) {
        spec->length = *at == 'h'                    ? LENGTH_INT
                       : *at != 'l'                  ? LENGTH_SIZE
                       : spec->length == LENGTH_LONG ? LENGTH_LONG_LONG
                                                     : LENGTH_LONG;
        spec->text[spec->n++] = *at;
    }
    return at;
}

/* Reads the conversion after the percent sign at `at`; returns what follows it. */
static const char *read_spec(const char *at, struct spec *spec, struct arguments *args)
{
    *spec = (struct spec){ .text = "%", .n = 1, .precision = -1 };
    for (at++; *at && strchr("-+ #0", *at); at++) {
        spec->is_left |= *at == '-';
        spec->text[spec->n++] = *at;
    }
    at = read_number(at, spec, args, &spec->width);
    if (*at == '.') {
        spec->text[spec->n++] = '.';
        at = read_number(at + 1, spec, args, &spec->precision);
    }
    at = read_length(at, spec);
    spec->letter = *at;
    spec->text[spec->n] = *at;
    return *at ? at + 1 : at;
}

static void pad(struct sink *sink, size_t n_columns)
{
    for (; n_columns > 0; n_columns--)
        put(sink, " ", 1);
}

static void put_string(struct sink *sink, const struct spec *spec, const char *bytes)
{
    bytes = bytes ? bytes : "(null)";
    const struct weft_str text = { bytes, spec->precision >= 0
                                              ? strnlen(bytes, (size_t)spec->precision)
                                              : strlen(bytes) };
    const bool is_left = spec->is_left || spec->width < 0;
    const size_t width = (size_t)(spec->width < 0 ? -(int64_t)spec->width : spec->width);
    struct sink measure = { 0 };
    if (width > 0)
        put_plain(&measure, text);
    const size_t n_columns = measure.n == text.n_bytes ? weft_utf8_columns(text) : measure.n;
    const size_t n_pad = width > n_columns ? width - n_columns : 0;
    pad(sink, is_left ? 0 : n_pad);
    put_plain(sink, text);
    pad(sink, is_left ? n_pad : 0);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* The argument as snprintf prints it. */
#define PUT_NUMBER(sink, spec, type, args)                                                         \
    do {                                                                                           \
        char number[NUMBER_BYTES];                                                                 \
        snprintf(number, sizeof number, (spec)->text, va_arg((args)->list, type));                 \
        put(sink, number, strlen(number));                                                         \
    } while (0)

static void put_integer(struct sink *sink, const struct spec *spec, struct arguments *args)
{
    switch (spec->length) {
    case LENGTH_INT:
        PUT_NUMBER(sink, spec, int, args);
        break;
    case LENGTH_LONG:
        PUT_NUMBER(sink, spec, long, args);
        break;
    case LENGTH_LONG_LONG:
        PUT_NUMBER(sink, spec, long long, args);
        break;
    case LENGTH_SIZE:
        PUT_NUMBER(sink, spec, size_t, args);
        break;
    }
}

static void put_argument(struct sink *sink, const struct spec *spec, struct arguments *args)
{
    if (spec->letter == 's') {
        put_string(sink, spec, va_arg(args->list, const char *));
    } else if (spec->letter == 'c') {
        const char letter[] = { (char)va_arg(args->list, int), '\0' };
        put_string(sink, spec, letter);
    } else if (spec->letter == 'p') {
        PUT_NUMBER(sink, spec, void *, args);
    } else if (spec->letter != '\0' && strchr("efg", spec->letter)) {
        PUT_NUMBER(sink, spec, double, args);
    } else if (spec->letter != '\0' && strchr("diuxXo", spec->letter)) {
        put_integer(sink, spec, args);
    } else if (spec->letter == '%') {
        put(sink, "%", 1);
    } else {
        abort(); /* a format of this program with what the header does not list */
    }
}

#pragma GCC diagnostic pop

size_t weft_plain_vprint(char *out, size_t n_bytes, const char *format, va_list list)
{
    struct sink sink = { .out = out, .n_room = n_bytes ? n_bytes - 1 : 0 };
    struct arguments args;
    va_copy(args.list, list);
    for (const char *at = format; *at;) {
        const char *percent = strchrnul(at, '%');
        struct spec spec;
        put(&sink, at, (size_t)(percent - at));
        at = *percent ? read_spec(percent, &spec, &args) : percent;
        if (*percent)
            put_argument(&sink, &spec, &args);
    }
    va_end(args.list);
    if (n_bytes > 0)
        out[sink.n < n_bytes ? sink.n : n_bytes - 1] = '\0';
    return sink.n;
}

size_t weft_plain_print(char *out, size_t n_bytes, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const size_t n = weft_plain_vprint(out, n_bytes, format, args);
    va_end(args);
    return n;
}
