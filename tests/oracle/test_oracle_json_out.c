/* SPDX-License-Identifier: MIT
 *
 * The writer of JSON against yajl's generator: random trees of values with texts of any bytes, long
 * ones too, come out as the same bytes.
 */
#include "base/arena.h"
#include "base/utf8.h"
#include "render/json/json.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

enum { ROUNDS = 3000, MOST_DEPTH = 5, LONG_BYTES = 20000 };

struct twins {
    struct weft_json *json;
    yajl_gen yajl;
    struct weft_arena *arena;
    uint64_t state;
};

static uint64_t draw(struct twins *twins, uint64_t n)
{
    return tap_random(&twins->state) % n;
}

/* Letters, what JSON escapes, characters of all lengths, and halves of them. */
static struct weft_str random_text(struct twins *twins)
{
    static const char *const parts[] = { "a",
                                         "\"",
                                         "\\",
                                         "\n",
                                         "\x01",
                                         "\x1f",
                                         "\x7f",
                                         "/",
                                         "\xc3\xa9",
                                         "\xe2\x82\xac",
                                         "\xf0\x9f\x98\x80",
                                         "\xff",
                                         "\xe2\x82",
                                         "\x80",
                                         "\xed\xa0\x80",
                                         "\xef\xbf\xbd" };
    const size_t n = draw(twins, 50) ? draw(twins, 8) : draw(twins, LONG_BYTES / 4);
    char *const text = weft_arena_alloc(twins->arena, LONG_BYTES + 1, 1);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const char *part = draw(twins, 3) ? parts[draw(twins, sizeof parts / sizeof *parts)] : "x";
        memcpy(text + at, part, strlen(part));
        at += strlen(part);
    }
    text[at] = '\0';
    return (struct weft_str){ text, at };
}

static void yajl_text(struct twins *twins, struct weft_str text)
{
    const struct weft_str clean = weft_utf8_clean(twins->arena, text);
    (void)yajl_gen_string(twins->yajl, (const unsigned char *)clean.bytes, clean.n_bytes);
}

static void put_number(struct twins *twins, const char *key)
{
    const uint64_t value = tap_random(&twins->state) >> draw(twins, 64);
    char text[32];
    if (draw(twins, 2)) {
        weft_json_u64(twins->json, key, value);
        snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    } else {
        weft_json_i64(twins->json, key, (int64_t)value);
        snprintf(text, sizeof text, "%lld", (long long)value);
    }
    (void)yajl_gen_number(twins->yajl, text, strlen(text));
}

static void put_scalar(struct twins *twins, const char *key)
{
    const uint64_t kind = draw(twins, 4);
    if (kind == 0) {
        put_number(twins, key);
    } else if (kind == 1) {
        weft_json_null(twins->json, key);
        (void)yajl_gen_null(twins->yajl);
    } else if (kind == 2) {
        const bool value = draw(twins, 2);
        weft_json_bool(twins->json, key, value);
        (void)yajl_gen_bool(twins->yajl, value);
    } else {
        const struct weft_str text = random_text(twins);
        weft_json_str(twins->json, key, text);
        yajl_text(twins, text);
    }
}

static void put_value(struct twins *twins, const char *key, unsigned depth)
{
    if (depth > 0 && (depth == MOST_DEPTH || draw(twins, 2))) {
        put_scalar(twins, key);
        return;
    }
    const bool is_object = draw(twins, 2);
    (is_object ? weft_json_begin_object : weft_json_begin_array)(twins->json, key);
    (void)(is_object ? yajl_gen_map_open : yajl_gen_array_open)(twins->yajl);
    for (uint64_t n = draw(twins, 5); n > 0; n--) {
        const struct weft_str inner = is_object ? random_text(twins) : (struct weft_str){ 0 };
        if (is_object)
            yajl_text(twins, inner);
        put_value(twins, inner.bytes, depth + 1);
    }
    (is_object ? weft_json_end_object : weft_json_end_array)(twins->json);
    (void)(is_object ? yajl_gen_map_close : yajl_gen_array_close)(twins->yajl);
}

/* But for the digits of \u001F, which yajl has as capitals. */
static bool are_same(const char *got, const char *want, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        if (got[i] != want[i] &&
            (i < 5 || memcmp(got + i - 5, "\\u00", 4) != 0 || got[i] != (want[i] | 0x20)))
            return false;
    return true;
}

static bool is_same(uint64_t seed)
{
    struct weft_output *out;
    struct twins twins = { .yajl = yajl_gen_alloc(NULL),
                           .arena = weft_arena_new(0),
                           .state = seed };
    if (weft_output_to_memory(&out, NULL) != WEFT_OK ||
        weft_json_open(out, &twins.json, NULL) != WEFT_OK)
        exit(1);
    put_value(&twins, NULL, 0);
    const unsigned char *want;
    size_t n_want;
    (void)yajl_gen_get_buf(twins.yajl, &want, &n_want);
    const struct weft_str got = weft_output_held(out);
    const bool is_equal = got.n_bytes == n_want && are_same(got.bytes, (const char *)want, n_want);
    weft_json_close(twins.json);
    weft_output_abort(out);
    weft_arena_free(twins.arena);
    yajl_gen_free(twins.yajl);
    return is_equal;
}

static void end_without_begin(void)
{
    struct weft_output *out;
    struct weft_json *json;
    if (weft_output_to_memory(&out, NULL) != WEFT_OK || weft_json_open(out, &json, NULL) != WEFT_OK)
        exit(1);
    weft_json_end_object(json);
    tap_ok(weft_output_has_failed(out), "an end without a beginning is a failure of the output");
    weft_json_close(json);
    weft_output_abort(out);
}

int main(void)
{
    unsigned n_wrong = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++)
        n_wrong += !is_same(seed);
    tap_eq_u64(n_wrong, 0, "trees that differ from yajl's");
    end_without_begin();
    return tap_done();
}
