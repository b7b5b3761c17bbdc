/* SPDX-License-Identifier: MIT
 *
 * Writes JSON straight into the buffer of an output: a value, with the separator and the key before
 * it, asks once for room. Bytes that are no UTF-8 become the replacement character. Misuse becomes
 * a failure of the output, as callers do not check each call.
 */
#include "render/json/json.h"

#include "base/utf8.h"
#include "render/human.h"
#include "render/put.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 24, ESCAPE_BYTES = 6, PIECE_BYTES = 4096 };

struct weft_json {
    struct weft_output *out;
    uint64_t n_open;      /* objects and arrays */
    bool needs_separator; /* before the next value */
};

enum weft_code weft_json_open(struct weft_output *out, struct weft_json **json,
                              struct weft_err *err)
{
    *json = calloc(1, sizeof **json);
    if (!*json)
        return weft_no_memory(err, "a JSON generator");
    (*json)->out = out;
    return WEFT_OK;
}

void weft_json_close(struct weft_json *json)
{
    free(json);
}

void weft_json_release(struct weft_json *json, struct weft_arena *arena)
{
    weft_output_release(json->out, arena);
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool needs_escape(char c)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

/* What stands for the character at the start of `text`; returns its end. */
static char *put_escape(char *to, struct weft_str text, size_t *n_used)
{
    static const char meanings[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\",
                      digits[] = "0123456789abcdef";
    const uint32_t point = weft_utf8_next(text.bytes, text.n_bytes, n_used);
    if (!weft_utf8_is_good(point, *n_used))
        return WEFT_PUT(to, "\xef\xbf\xbd");
    if (point >= 0x80)
        return weft_put_bytes(to, text.bytes, *n_used);
    const char *const meaning = point ? strchr(meanings, (int)point) : NULL;
    *to++ = '\\';
    if (meaning) {
        *to++ = letters[meaning - meanings];
        return to;
    }
    to = WEFT_PUT(to, "u00");
    *to++ = digits[point >> 4];
    *to++ = digits[point & 15];
    return to;
}

/* Without quotes, where there is room for ESCAPE_BYTES for each byte. */
static char *put_text(char *to, struct weft_str text)
{
    while (text.n_bytes > 0) {
        size_t n = 0;
        while (n < text.n_bytes && (unsigned char)text.bytes[n] < 0x80 &&
               !needs_escape(text.bytes[n])) {
            to[n] = text.bytes[n];
            n++;
        }
        to += n;
        if (n == text.n_bytes)
            break;
        text.bytes += n;
        text.n_bytes -= n;
        to = put_escape(to, text, &n);
        text.bytes += n;
        text.n_bytes -= n;
    }
    return to;
}

static char *put_quoted(char *to, struct weft_str text)
{
    *to++ = '"';
    to = put_text(to, text);
    *to++ = '"';
    return to;
}

/* Piece after piece, which asks for little more room than it needs. Pieces end between characters,
 * which have at most three bytes after the first. */
void weft_json_quoted(struct weft_output *out, struct weft_str text)
{
    weft_output_text(out, "\"");
    while (text.n_bytes > 0) {
        struct weft_str piece = { text.bytes, text.n_bytes };
        if (piece.n_bytes > PIECE_BYTES) {
            piece.n_bytes = PIECE_BYTES;
            for (int i = 0; i < 3 && (text.bytes[piece.n_bytes] & 0xc0) == 0x80; i++)
                piece.n_bytes--;
        }
        char *to = weft_output_room(out, piece.n_bytes * ESCAPE_BYTES);
        if (!to)
            return;
        weft_output_filled(out, put_text(to, piece));
        text.bytes += piece.n_bytes;
        text.n_bytes -= piece.n_bytes;
    }
    weft_output_text(out, "\"");
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Room for a value of `n_bytes`, after its separator and key; NULL once the output has failed. */
static inline char *begin_value(struct weft_json *json, const char *key, size_t n_bytes)
{
    const struct weft_str name = key ? weft_str_of(key) : (struct weft_str){ 0 };
    char *to = weft_output_room(json->out, n_bytes + name.n_bytes * ESCAPE_BYTES + 4);
    if (!to)
        return NULL;
    if (json->needs_separator)
        *to++ = ',';
    json->needs_separator = true;
    if (!key)
        return to;
    to = put_quoted(to, name);
    *to++ = ':';
    return to;
}

static void put_value(struct weft_json *json, const char *key, const char *bytes, size_t n_bytes)
{
    char *to = begin_value(json, key, n_bytes);
    if (to)
        weft_output_filled(json->out, weft_put_bytes(to, bytes, n_bytes));
}

static void begin(struct weft_json *json, const char *key, char bracket)
{
    put_value(json, key, &bracket, 1);
    json->needs_separator = false;
    json->n_open++;
}

static void end(struct weft_json *json, char bracket)
{
    if (json->n_open == 0) {
        struct weft_err err = { 0 };
        (void)weft_fail(&err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "JSON ends what was not begun");
        weft_output_fail(json->out, &err);
        return;
    }
    json->n_open--;
    json->needs_separator = json->n_open > 0;
    weft_output_write(json->out, &bracket, 1);
}

void weft_json_begin_object(struct weft_json *json, const char *key)
{
    begin(json, key, '{');
}

void weft_json_end_object(struct weft_json *json)
{
    end(json, '}');
}

void weft_json_begin_array(struct weft_json *json, const char *key)
{
    begin(json, key, '[');
}

void weft_json_end_array(struct weft_json *json)
{
    end(json, ']');
}

void weft_json_u64(struct weft_json *json, const char *key, uint64_t value)
{
    char *to = begin_value(json, key, NUMBER_BYTES);
    if (to)
        weft_output_filled(json->out, weft_put_u64(to, value));
}

void weft_json_i64(struct weft_json *json, const char *key, int64_t value)
{
    char *to = begin_value(json, key, NUMBER_BYTES);
    if (!to)
        return;
    if (value < 0)
        *to++ = '-';
    weft_output_filled(json->out, weft_put_u64(to, value < 0 ? -(uint64_t)value : (uint64_t)value));
}

struct weft_real_text weft_real_text(double value)
{
    struct weft_real_text out;
    for (int n_digits = 6; n_digits <= 17; n_digits++) {
        snprintf(out.text, sizeof out.text, "%.*g", n_digits, value);
        double back = strtod(out.text, NULL);
        if (!(back < value) && !(back > value))
            break;
    }
    return out;
}

void weft_json_real(struct weft_json *json, const char *key, double value)
{
    if (!isfinite(value)) {
        weft_json_null(json, key);
        return;
    }
    struct weft_real_text text = weft_real_text(value);
    put_value(json, key, text.text, strlen(text.text));
}

void weft_json_bool(struct weft_json *json, const char *key, bool value)
{
    put_value(json, key, value ? "true" : "false", value ? 4 : 5);
}

void weft_json_null(struct weft_json *json, const char *key)
{
    put_value(json, key, "null", 4);
}

void weft_json_str(struct weft_json *json, const char *key, struct weft_str value)
{
    const bool is_long = value.n_bytes > PIECE_BYTES;
    char *to = begin_value(json, key, is_long ? 0 : value.n_bytes * ESCAPE_BYTES + 2);
    if (!to)
        return;
    if (!is_long)
        to = put_quoted(to, value);
    weft_output_filled(json->out, to);
    if (is_long)
        weft_json_quoted(json->out, value);
}

void weft_json_text(struct weft_json *json, const char *key, const char *value)
{
    weft_json_str(json, key, weft_str_of(value));
}

void weft_json_new_line(struct weft_json *json)
{
    weft_output_text(json->out, "\n");
}
