/* SPDX-License-Identifier: MIT
 *
 * Wraps one generator. Strings are cleaned of invalid UTF-8 in an arena that is reused; misuse of
 * the generator becomes a failure of the output, as callers do not check each call.
 */
#include "render/json/json.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "render/human.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

struct weft_json {
    struct weft_output *out;
    struct weft_arena *arena; /* one cleaned string at a time */
    yajl_gen generator;
};

static void print(void *context, const char *bytes, size_t n_bytes)
{
    weft_output_write(context, bytes, n_bytes);
}

enum weft_code weft_json_open(struct weft_output *out, struct weft_json **json,
                              struct weft_err *err)
{
    struct weft_json *made = calloc(1, sizeof *made);
    *json = NULL;
    if (made) {
        made->out = out;
        made->arena = weft_arena_new(0);
        made->generator = yajl_gen_alloc(NULL);
    }
    if (!made || !made->arena || !made->generator ||
        !yajl_gen_config(made->generator, yajl_gen_print_callback, print, out)) {
        weft_json_close(made);
        return weft_no_memory(err, "a JSON generator");
    }
    *json = made;
    return WEFT_OK;
}

void weft_json_close(struct weft_json *json)
{
    if (!json)
        return;
    if (json->generator)
        yajl_gen_free(json->generator);
    if (json->arena)
        weft_output_release(json->out, json->arena);
    free(json);
}

void weft_json_release(struct weft_json *json, struct weft_arena *arena)
{
    weft_output_release(json->out, arena);
}

/* The generator refuses only what this program must not do; a failure is kept, not lost. */
__attribute__((cold, noinline)) static void refused(struct weft_json *json, yajl_gen_status status)
{
    struct weft_err err = { 0 };
    (void)weft_fail(&err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                    "JSON generator refused a value (status %d)", (int)status);
    weft_output_fail(json->out, &err);
}

static inline void check(struct weft_json *json, yajl_gen_status status)
{
    if (__builtin_expect(status != yajl_gen_status_ok, 0))
        refused(json, status);
}

static void put_text(struct weft_json *json, const char *bytes, size_t n_bytes)
{
    check(json, yajl_gen_string(json->generator, (const unsigned char *)bytes, n_bytes));
}

static void put_key(struct weft_json *json, const char *key)
{
    if (key)
        put_text(json, key, strlen(key));
}

static void put_number(struct weft_json *json, const char *text, size_t n_bytes)
{
    check(json, yajl_gen_number(json->generator, text, n_bytes));
}

void weft_json_begin_object(struct weft_json *json, const char *key)
{
    put_key(json, key);
    check(json, yajl_gen_map_open(json->generator));
}

void weft_json_end_object(struct weft_json *json)
{
    check(json, yajl_gen_map_close(json->generator));
}

void weft_json_begin_array(struct weft_json *json, const char *key)
{
    put_key(json, key);
    check(json, yajl_gen_array_open(json->generator));
}

void weft_json_end_array(struct weft_json *json)
{
    check(json, yajl_gen_array_close(json->generator));
}

void weft_json_u64(struct weft_json *json, const char *key, uint64_t value)
{
    char text[20];
    put_key(json, key);
    put_number(json, text, weft_digits_u64(value, text));
}

void weft_json_i64(struct weft_json *json, const char *key, int64_t value)
{
    char text[21] = "-";
    bool is_negative = value < 0;
    uint64_t size = is_negative ? -(uint64_t)value : (uint64_t)value;
    size_t n_bytes = weft_digits_u64(size, text + is_negative) + is_negative;
    put_key(json, key);
    put_number(json, text, n_bytes);
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
    put_key(json, key);
    struct weft_real_text text = weft_real_text(value);
    put_number(json, text.text, strlen(text.text));
}

void weft_json_bool(struct weft_json *json, const char *key, bool value)
{
    put_key(json, key);
    check(json, yajl_gen_bool(json->generator, value));
}

void weft_json_null(struct weft_json *json, const char *key)
{
    put_key(json, key);
    check(json, yajl_gen_null(json->generator));
}

void weft_json_str(struct weft_json *json, const char *key, struct weft_str value)
{
    struct weft_str clean = weft_utf8_clean(json->arena, value);
    put_key(json, key);
    put_text(json, clean.bytes ? clean.bytes : "", clean.n_bytes);
    if (clean.bytes != value.bytes)
        weft_arena_reset(json->arena);
}

void weft_json_text(struct weft_json *json, const char *key, const char *value)
{
    weft_json_str(json, key, weft_str_of(value));
}

void weft_json_new_line(struct weft_json *json)
{
    weft_output_text(json->out, "\n");
}
