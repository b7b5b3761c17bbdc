/* SPDX-License-Identifier: MIT
 *
 * What exports are made of: numbers, JSON text, protocol buffers, against printf, yajl and readers
 * by hand; and the small trace in every format, twice.
 */
#include "render/export/export.h"
#include "render/export/exporter.h"
#include "render/export/proto.h"
#include "render/json/json.h"
#include "render/json/text.h"
#include "render/put.h"
#include "small_trace.h"
#include "tap.h"

#include <yajl/yajl_tree.h>

static char path[512];

static void numbers(void)
{
    uint64_t state = tap_seed(1);
    unsigned n_wrong = 0;
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t value = tap_random(&state) >> (tap_random(&state) % 64);
        uint64_t power = 1;
        for (unsigned k = (unsigned)(tap_random(&state) % 20); k > 0; k--)
            power *= 10;
        if (i % 2)
            value = power + tap_random(&state) % 3 - 1;
        char got[64], want[64];
        *weft_put_u64(got, value) = '\0';
        (void)snprintf(want, sizeof want, "%" PRIu64, value);
        n_wrong += strcmp(got, want) != 0;
        *weft_put_us(got, value) = '\0';
        (void)snprintf(want, sizeof want, "%" PRIu64 ".%03" PRIu64, value / 1000, value % 1000);
        n_wrong += strcmp(got, want) != 0;
    }
    tap_eq_u64(n_wrong, 0, "numbers are those of printf");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_texts(void)
{
    static const struct {
        const char *text;
        bool is_valid;
    } rows[] = {
        { "{}", true },
        { " [1, -0, 2.5e-3] ", true },
        { "\"\\ud83d\\udc1f\"", true },
        { "null", true },
        { "", false },
        { "\"\\ud83d\"", false },
        { "[1,]", false },
        { "{\"a\":}", false },
        { "01", false },
        { "+1", false },
        { "1 2", false },
        { "{a:1}", false },
        { "\"\x01\"", false },
        { "nan", false },
        { "[}", false },
        { "{\"a\":1]", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tap_ok(weft_json_text_is_valid(weft_str_of(rows[i].text)) == rows[i].is_valid,
               "%s is%s JSON", rows[i].text, rows[i].is_valid ? "" : " not");
}

static void json_members(void)
{
    struct weft_str members, key, value;
    struct weft_str text = WEFT_STR(" { \"a\\u00e9\\n\" : [1, {\"b\": 2}] , \"c\":\"}\" } ");
    char out[32];
    tap_ok(weft_json_text_is_valid(text) && weft_json_text_members(text, &members), "an object");
    tap_ok(weft_json_text_member(&members, &key, &value), "its first member");
    out[weft_json_text_unescape(key, out)] = '\0';
    tap_eq_str(out, "a\xc3\xa9\n", "its key, unescaped");
    tap_ok(weft_str_equal(value, WEFT_STR("[1, {\"b\": 2}]")), "its value");
    tap_ok(weft_json_text_member(&members, &key, &value), "its second member");
    tap_ok(weft_str_equal(key, WEFT_STR("c")) && weft_str_equal(value, WEFT_STR("\"}\"")),
           "a brace in a string is no end");
    tap_ok(!weft_json_text_member(&members, &key, &value), "no third member");
    tap_ok(!weft_json_text_members(WEFT_STR("[1]"), &members), "a list has none");
    tap_ok(weft_json_text_members(WEFT_STR("{ }"), &members) && members.n_bytes == 0,
           "an empty object has none");
}

/* What yajl reads back from a string that was written, for all bytes. */
static void json_strings(void)
{
    unsigned n_wrong = 0;
    for (unsigned c = 0; c < 256; c++) {
        const char bytes[] = { 'a', (char)c, 'z' };
        struct weft_output *out = NULL;
        if (weft_output_to_memory(&out, NULL) != WEFT_OK)
            return;
        weft_json_quoted(out, (struct weft_str){ bytes, sizeof bytes });
        weft_output_write(out, "", 1);
        yajl_val read = yajl_tree_parse(weft_output_held(out).bytes, NULL, 0);
        const char *got = YAJL_GET_STRING(read);
        const char *want = c < 0x80 ? bytes : "a\xef\xbf\xbdz";
        size_t n_want = c < 0x80 ? 3 : 5;
        n_wrong += !got || memcmp(got, want, n_want) != 0 || (c != 0 && strlen(got) != n_want);
        yajl_tree_free(read);
        weft_output_abort(out);
    }
    tap_eq_u64(n_wrong, 0, "strings of any byte");
}

/* {"ph":"X", ... "args":{...}} of a call with these texts and two numbers. */
static void json_args(void)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "{\"x\":1}", "\"x\":1,\"arg0\":7,\"arg1\":18446744073709551615" },
        { "{ }", "\"arg0\":7,\"arg1\":18446744073709551615" },
        { "[1]", "\"args\":[1],\"arg0\":7,\"arg1\":18446744073709551615" },
        { "(int) \"5\"", "\"args\":\"(int) \\\"5\\\"\",\"arg0\":7,\"arg1\":18446744073709551615" },
    };
    const uint64_t args[] = { 7, UINT64_MAX };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct weft_str text = weft_str_of(rows[i].text);
        const struct weft_walk_call call = {
            .args = args, .n_args = 2, .arg_texts = &text, .n_arg_texts = 1
        };
        struct weft_output *out = NULL;
        if (weft_output_to_memory(&out, NULL) != WEFT_OK)
            return;
        tap_ok(weft_put_json_args(out, &call), "arguments %s", rows[i].text);
        tap_ok(weft_str_equal(weft_output_held(out), weft_str_of(rows[i].want)), "become %s",
               rows[i].want);
        weft_output_abort(out);
    }
}

/* ---- protocol buffers ------------------------------------------------------------------------ */

static void proto(void)
{
    static const unsigned char want[] = {
        0x08, 0xac, 0x02,                               /* 1: varint 300 */
        0x12, 0x85, 0x80, 0x80, 0x00,                   /* 2: message of 5 bytes */
        0x1a, 0x03, 0xef, 0xbf, 0xbd,                   /* 3: a string, mended */
        0x81, 0x03, 1,    0,    0,    0, 0, 0, 0, 0x80, /* 48: fixed64 */
    };
    struct weft_proto out = { 0 };
    weft_proto_varint(&out, 1, 300);
    size_t mark = weft_proto_begin(&out, 2);
    weft_proto_string(&out, 3, WEFT_STR("\xff"));
    weft_proto_end(&out, mark);
    weft_proto_fixed64(&out, 48, UINT64_C(0x8000000000000001));
    tap_ok(!out.has_failed, "messages are written");
    tap_eq_u64(out.n, sizeof want, "bytes of the messages");
    tap_eq_mem(out.bytes, want, sizeof want, "as the wire format has them");
    weft_proto_fini(&out);
}

/* ---- a trace --------------------------------------------------------------------------------- */

static uint64_t export_once(const struct weft_trace *trace, enum weft_export_format format,
                            struct weft_export_totals *totals, char **bytes)
{
    const struct weft_export_opts opts = {
        .trace = trace, .name = "small", .window = WEFT_WINDOW_ALL, .format = format
    };
    struct weft_output *out = NULL;
    struct weft_err err = { 0 };
    if (weft_output_to_memory(&out, &err) != WEFT_OK ||
        weft_export_write(&opts, out, totals, &err) != WEFT_OK)
        return 0;
    struct weft_str held = weft_output_held(out);
    *bytes = malloc(held.n_bytes + 1);
    memcpy(*bytes, held.bytes, held.n_bytes);
    uint64_t n_bytes = held.n_bytes;
    weft_output_abort(out);
    return n_bytes;
}

static void small_trace(void)
{
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    tap_ok(small_trace_write(path, &err) == WEFT_OK &&
               weft_trace_open(path, &trace, &err) == WEFT_OK,
           "the small trace opens");
    const struct weft_store_meta *meta = weft_trace_meta(trace);
    for (enum weft_export_format format = 0; format < WEFT_EXPORT_FORMATS; format++) {
        struct weft_export_totals totals;
        char *first = NULL, *second = NULL;
        uint64_t n_bytes = export_once(trace, format, &totals, &first);
        tap_eq_u64(totals.calls, meta->calls + meta->cut_calls, "format %u writes all calls",
                   format);
        tap_ok(n_bytes > 0 && export_once(trace, format, &totals, &second) == n_bytes &&
                   memcmp(first, second, n_bytes) == 0,
               "format %u gives the same bytes again", format);
        bool has_args = format != WEFT_EXPORT_FOLDED && format != WEFT_EXPORT_SPEEDSCOPE;
        tap_ok((totals.args_lost > 0) != has_args, "format %u tells of arguments it loses", format);
        free(first);
        free(second);
    }
    weft_trace_close(trace);
    (void)remove(path);
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof path, "%s/render_export.weft", root ? root : ".");
    numbers();
    json_texts();
    json_members();
    json_strings();
    json_args();
    proto();
    small_trace();
    return tap_done();
}
