/* SPDX-License-Identifier: MIT
 *
 * The reader of JSON against yajl, on thousands of random documents, whole and damaged: both take
 * the same texts, and find the same names, strings and numbers in them.
 */
#include "base/json_read.h"
#include "recording_sink.h"
#include "tap.h"

#include <yajl/yajl_parse.h>

enum { ROUNDS = 20000, MOST_DEPTH = 6 };

static uint64_t draw(uint64_t *state, uint64_t n)
{
    return tap_random(state) % n;
}

/* ---- random documents ----------------------------------------------------------------------- */

static void put_blanks(struct rec_text *text, uint64_t *state)
{
    static const char *const blanks[] = { "", "", "", " ", "\n    ", "\t", "\r\n" };
    rec_add(text, "%s", blanks[draw(state, sizeof blanks / sizeof *blanks)]);
}

static void put_string(struct rec_text *text, uint64_t *state)
{
    static const char *const parts[] = {
        "a",   "ph",      "ts",      "xyz",     "0123456789abcdef", "\\n",      "\\\"", "\\\\",
        "\\/", "\\u0041", "\\u00e9", "\\u20ac", "\\ud83d\\ude00",   "\xc3\xa9", "\xff", " ",
        "{",   "]"
    };
    rec_add(text, "\"");
    for (uint64_t n = draw(state, 5); n; n--)
        rec_add(text, "%s", parts[draw(state, sizeof parts / sizeof *parts)]);
    rec_add(text, "\"");
}

static void put_scalar(struct rec_text *text, uint64_t *state)
{
    static const char *const words[] = {
        "true", "false", "null",  "0",        "-0",
        "-1.5", "1e5",   "12E-3", "1.25e+10", "123456789012345678901234567890"
    };
    if (draw(state, 2))
        put_string(text, state);
    else
        rec_add(text, "%s", words[draw(state, sizeof words / sizeof *words)]);
}

static void put_value(struct rec_text *text, uint64_t *state, unsigned depth)
{
    uint64_t kind = depth < MOST_DEPTH ? draw(state, 4) : 0;
    put_blanks(text, state);
    if (kind < 2) {
        put_scalar(text, state);
        put_blanks(text, state);
        return;
    }
    rec_add(text, "%c", kind == 2 ? '{' : '[');
    put_blanks(text, state);
    for (uint64_t n = draw(state, 5), k = 0; k < n; k++) {
        if (k)
            rec_add(text, ",");
        if (kind == 2) {
            put_blanks(text, state);
            put_string(text, state);
            put_blanks(text, state);
            rec_add(text, ":");
        }
        put_value(text, state, depth + 1);
    }
    rec_add(text, "%c", kind == 2 ? '}' : ']');
    put_blanks(text, state);
}

static void damage(struct rec_text *text, uint64_t *state)
{
    static const char letters[] = "\"\\{}[],:0123456789.eE+-truefalsn \n\x01u";
    for (uint64_t n = draw(state, 3) + 1; n && text->n_bytes; n--) {
        size_t at = (size_t)draw(state, text->n_bytes);
        switch (draw(state, 3)) {
        case 0:
            text->bytes[at] = letters[draw(state, sizeof letters - 1)];
            break;
        case 1:
            memmove(text->bytes + at, text->bytes + at + 1, text->n_bytes - at - 1);
            text->n_bytes--;
            break;
        default:
            text->n_bytes = draw(state, 4) ? text->n_bytes : at;
            break;
        }
    }
}

/* ---- what yajl finds ------------------------------------------------------------------------ */

static int on_null(void *out)
{
    rec_add(out, "w ");
    return 1;
}

static int on_boolean(void *out, int is_true)
{
    (void)is_true;
    return on_null(out);
}

static int on_number(void *out, const char *bytes, size_t n_bytes)
{
    rec_add(out, "n%.*s ", (int)n_bytes, bytes);
    return 1;
}

static int on_string(void *out, const unsigned char *bytes, size_t n_bytes)
{
    rec_add(out, "s%zu", n_bytes);
    for (size_t k = 0; k < n_bytes; k++)
        rec_add(out, "%02x", bytes[k]);
    rec_add(out, " ");
    return 1;
}

static int on_bracket(void *out)
{
    rec_add(out, "( ");
    return 1;
}

static int on_end(void *out)
{
    rec_add(out, ") ");
    return 1;
}

static bool read_with_yajl(const struct rec_text *text, struct rec_text *out)
{
    static const yajl_callbacks callbacks = { .yajl_null = on_null,
                                              .yajl_boolean = on_boolean,
                                              .yajl_number = on_number,
                                              .yajl_string = on_string,
                                              .yajl_start_map = on_bracket,
                                              .yajl_map_key = on_string,
                                              .yajl_end_map = on_end,
                                              .yajl_start_array = on_bracket,
                                              .yajl_end_array = on_end };
    yajl_handle handle = yajl_alloc(&callbacks, NULL, out);
    yajl_config(handle, yajl_dont_validate_strings, 1);
    bool is_good =
        yajl_parse(handle, (const unsigned char *)text->bytes, text->n_bytes) == yajl_status_ok;
    is_good = yajl_complete_parse(handle) == yajl_status_ok && is_good;
    yajl_free(handle);
    return is_good;
}

/* ---- what our reader finds ------------------------------------------------------------------ */

static void tell_string(const struct weft_json_value *value, struct rec_text *out)
{
    char *plain = malloc(value->n_bytes + 1);
    size_t n_bytes = weft_json_unescape(value, plain);
    on_string(out, (const unsigned char *)plain, n_bytes);
    free(plain);
}

static bool walk(struct weft_json_reader *reader, struct rec_text *out);

static bool walk_inner(struct weft_json_reader *reader, bool is_object, struct rec_text *out)
{
    struct weft_json_value key;
    bool is_end;
    reader->at++;
    on_bracket(out);
    for (bool is_first = true;; is_first = false) {
        if (!(is_object ? weft_json_member(reader, is_first, &key, &is_end)
                        : weft_json_element(reader, is_first, &is_end)))
            return false;
        if (is_end)
            return on_end(out);
        if (is_object)
            tell_string(&key, out);
        if (!walk(reader, out))
            return false;
    }
}

static bool walk(struct weft_json_reader *reader, struct rec_text *out)
{
    char letter = weft_json_peek(reader);
    struct weft_json_value value;
    if (letter == '{' || letter == '[')
        return walk_inner(reader, letter == '{', out);
    if (!weft_json_value(reader, &value))
        return false;
    if (value.type == WEFT_JSON_STRING)
        tell_string(&value, out);
    else if (value.type == WEFT_JSON_NUMBER)
        on_number(out, value.bytes, value.n_bytes);
    else
        on_null(out);
    return true;
}

static bool is_at_end(struct weft_json_reader *reader)
{
    weft_json_blanks(reader);
    return reader->at == reader->end;
}

/* By its parts, and, into `is_whole_good`, as one value. */
static bool read_with_ours(const struct rec_text *text, struct rec_text *out, bool *is_whole_good)
{
    char *bytes = malloc(text->n_bytes ? text->n_bytes : 1); /* exact size */
    if (text->n_bytes)
        memcpy(bytes, text->bytes, text->n_bytes);
    struct weft_json_reader reader = weft_json_reader_of(bytes, text->n_bytes);
    struct weft_json_value value;
    *is_whole_good = weft_json_value(&reader, &value) && is_at_end(&reader);
    bool has_reason = *is_whole_good || reader.expected || reader.at < reader.end;
    reader = weft_json_reader_of(bytes, text->n_bytes);
    bool is_good = walk(&reader, out) && is_at_end(&reader);
    free(bytes);
    return is_good && has_reason;
}

/* yajl writes '?' for half a pair of surrogates, where we write U+FFFD. */
static bool has_surrogates(const struct rec_text *text)
{
    return memmem(text->bytes, text->n_bytes, "\\ud", 3) != NULL ||
           memmem(text->bytes, text->n_bytes, "\\uD", 3) != NULL;
}

/* Behind a whole value yajl overlooks a token that is cut off: [] " */
static bool has_cut_token(const struct rec_text *text)
{
    struct weft_json_reader reader = weft_json_reader_of(text->bytes, text->n_bytes);
    struct weft_json_value value;
    if (!weft_json_value(&reader, &value) || is_at_end(&reader))
        return false;
    return !weft_json_value(&reader, &value) && reader.at == reader.end;
}

static bool is_same(const struct rec_text *text, bool is_damaged, bool *is_taken)
{
    struct rec_text want = { 0 };
    struct rec_text got = { 0 };
    bool is_whole_good;
    *is_taken = read_with_yajl(text, &want) && !has_cut_token(text);
    bool is_good = read_with_ours(text, &got, &is_whole_good);
    bool is_equal = is_good == *is_taken && is_whole_good == *is_taken;
    if (*is_taken && !(is_damaged && has_surrogates(text)))
        is_equal = is_equal && strcmp(rec_str(&got), rec_str(&want)) == 0;
    free(want.bytes);
    free(got.bytes);
    return is_equal;
}

int main(void)
{
    uint64_t seed = tap_seed(1);
    unsigned n_different = 0;
    unsigned n_taken = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t state = seed + round;
        struct rec_text text = { 0 };
        bool is_taken;
        bool is_damaged = round % 2;
        put_value(&text, &state, 0);
        if (is_damaged)
            damage(&text, &state);
        if (!is_same(&text, is_damaged, &is_taken) && n_different++ < 5)
            tap_note("WEFT_SEED=%" PRIu64 ": %.*s", seed + round, (int)text.n_bytes, text.bytes);
        n_taken += is_taken;
        free(text.bytes);
    }
    tap_eq_u64(n_different, 0, "%d random texts are read as yajl reads them", ROUNDS);
    tap_ok(n_taken > ROUNDS / 2 && n_taken < ROUNDS, "%u of them are JSON", n_taken);
    return tap_done();
}
