/* SPDX-License-Identifier: MIT */
#include "base/plain.h"
#include "base/utf8.h"
#include "render/columns/pack.h"
#include "render/human.h"
#include "render/json/json.h"
#include "render/strip.h"
#include "render/text/compare_words.h"
#include "render/text/table.h"
#include "schema/regtime.h"
#include "tap.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

static void numbers(void)
{
    tap_eq_str(weft_human_ns(0).text, "0 ns", "zero time");
    tap_eq_str(weft_human_ns(357).text, "357 ns", "ns");
    tap_eq_str(weft_human_ns(1000).text, "1.00 \xc2\xb5s", "1000 ns");
    tap_eq_str(weft_human_ns(999499).text, "999 \xc2\xb5s", "below a ms");
    tap_eq_str(weft_human_ns(999500).text, "1.00 ms", "rounds to a ms");
    tap_eq_str(weft_human_ns(85200000).text, "85.2 ms", "ms");
    tap_eq_str(weft_human_ns(99949999).text, "99.9 ms", "99.9 ms");
    tap_eq_str(weft_human_ns(99950000).text, "100 ms", "100 ms");
    tap_eq_str(weft_human_ns(UINT64_C(1037000000000)).text, "17.3 min", "minutes");
    tap_eq_str(weft_human_ns(UINT64_C(9000000000000)).text, "2.50 h", "hours");
    tap_eq_str(weft_human_ns(UINT64_MAX).text, "5124096 h", "all time");
    tap_eq_str(weft_human_at(1369123456).text, "1.369123 s", "a point of time");
    tap_eq_str(weft_human_bytes(999).text, "999 B", "bytes");
    tap_eq_str(weft_human_bytes(631000000).text, "631 MB", "MB");
    tap_eq_str(weft_human_count(78731234).text, "78,731,234", "thousands");
    tap_eq_str(weft_human_count(UINT64_MAX).text, "18,446,744,073,709,551,615", "the last count");
    tap_eq_str(weft_human_rough_count(78731234).text, "78.7 M", "millions");
    tap_eq_str(weft_human_share(0).text, "0 %", "no share");
    tap_eq_str(weft_human_share(0.0412).text, "4.12 %", "a share");
    tap_eq_str(weft_human_share(0.000001).text, "<0.001 %", "a tiny share");
    tap_eq_str(weft_human_ratio(1204.4).text, "1,204", "a ratio");
    tap_eq_str(weft_human_ratio(12.34).text, "12.3", "a small ratio");
}

static void utf8(void)
{
    static const struct {
        const char *name;
        const char *text;
        const char *clean;
        const char *plain;
    } rows[] = {
        { "ASCII", "main", "main", "main" },
        { "two bytes", "\xc2\xb5s", "\xc2\xb5s", "\xc2\xb5s" },
        { "a bad byte",
          "a\xff"
          "b",
          "a\xef\xbf\xbd"
          "b",
          "a\\xffb" },
        { "a cut sequence", "a\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd", "a\\xe2\\x82" },
        { "over-long", "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", "\\xc0\\xaf" },
        { "a surrogate", "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
          "\\xed\\xa0\\x80" },
        { "beyond Unicode", "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
          "\\xf4\\x90\\x80\\x80" },
        { "U+FFFD itself", "\xef\xbf\xbd", "\xef\xbf\xbd", "\xef\xbf\xbd" },
        { "an escape", "\033[31m", "\033[31m", "\\x1b[31m" },
        { "an escape behind eight letters", "abcdefgh\033[31m", "abcdefgh\033[31m",
          "abcdefgh\\x1b[31m" },
        { "lines", "a\r\n\tb\x7f", "a\r\n\tb\x7f", "a\\r\\n\\tb\\x7f" },
        { "an 8-bit control", "\xc2\x9b", "\xc2\x9b", "\\x9b" },
        { "a change of direction", "\xe2\x80\xae", "\xe2\x80\xae", "\\u202e" },
        { "no width", "\xe2\x80\x8b\xef\xbb\xbf", "\xe2\x80\x8b\xef\xbb\xbf", "\\u200b\\ufeff" },
        { "a tag", "\xf3\xa0\x81\x81", "\xf3\xa0\x81\x81", "\\U000e0041" },
    };
    struct weft_arena *arena = weft_arena_new(0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct weft_str text = weft_str_of(rows[i].text);
        tap_ok(weft_str_equal(weft_utf8_clean(arena, text), weft_str_of(rows[i].clean)),
               "clean: %s", rows[i].name);
        tap_ok(weft_str_equal(weft_plain(arena, text), weft_str_of(rows[i].plain)), "plain: %s",
               rows[i].name);
    }
    tap_eq_u64(weft_utf8_columns(WEFT_STR("\xc2\xb5s")), 2, "a micro sign takes one column");
    tap_eq_u64(weft_utf8_columns(WEFT_STR("\xe6\xbc\xa2")), 2, "a wide one two");
    tap_eq_u64(weft_utf8_columns(WEFT_STR("e\xcc\x81")), 1, "a combining one none");
    struct weft_str elided = weft_utf8_elide(arena, WEFT_STR("abcdefghijklmnop"), 11);
    tap_ok(weft_str_equal(elided, WEFT_STR("abcd\xe2\x80\xa6klmnop")), "elided in the middle");
    for (size_t width = 4; width < 20; width++)
        tap_ok(weft_utf8_columns(weft_utf8_elide(
                   arena, WEFT_STR("\xe6\xbc\xa2\xe5\xad\x97 name \xc2\xb5\xc2\xb5\xc2\xb5"),
                   width)) <= width,
               "elided to %zu columns", width);
    weft_arena_free(arena);
}

/* ---- plain formats ---- */

static void plain_formats(void)
{
    char out[256], want[256];
#define SAME(...)                                                                                  \
    do {                                                                                           \
        size_t n = weft_plain_print(out, sizeof out, __VA_ARGS__);                                 \
        int n_want = snprintf(want, sizeof want, __VA_ARGS__);                                     \
        tap_ok(strcmp(out, want) == 0 && n == (size_t)n_want, "as printf: \"%s\"", want);          \
    } while (0)
    SAME("%d %i %u %x %X %o %c %%", -5, 7, 8U, 0xabU, 0xcdU, 8U, 'z');
    SAME("%ld %lu %lld %llu %zu %hhu %hd", -1L, 2UL, -3LL, 4ULL, sizeof out, (unsigned char)5,
         (short)-6);
    SAME("%" PRIu64 " %016" PRIx64 " %-8" PRIu32 "| %+d %05d % d", UINT64_MAX, UINT64_C(0xbeef),
         12U, 5, -42, 7);
    SAME("%.3f %8.2e %g %-10.1f| %.*f %+.3g", 1.23456, 12345.678, 0.0001, 2.25, 2, 3.14159, 0.5);
    SAME("%s|%10s|%-10s|%.2s|%.*s|%*s|%-*s|", "abc", "abc", "abc", "abc", 1, "abc", 6, "abc", 6,
         "abc");
    SAME("%*d %-*d|%s", -6, 1, 6, 2, "");
#undef SAME
    tap_eq_u64(weft_plain_print(out, sizeof out, "\033[2m%s\n%c", "a\033\n", '\a'), 4 + 7 + 1 + 4,
               "arguments are made plain, the format is not");
    tap_eq_str(out, "\033[2ma\\x1b\\n\n\\x07", "and that is what is printed");
    tap_eq_u64(weft_plain_print(out, 4, "%s", "abcdef"), 6, "what there would be with room");
    tap_eq_str(out, "abc", "what there is");
    tap_eq_u64(weft_plain_print(NULL, 0, "%s", "a\n"), 3, "no room at all");
}

/* Each code point but surrogates: what is not plain has an escape of both forms, all of ASCII. */
static void plain_points(void)
{
    uint32_t n_wrong = 0;
    for (uint32_t point = 1; point < 0x110000; point++) {
        char text[4], escape[WEFT_PLAIN_BYTES];
        size_t n = 0, n_used;
        if (point < 0x80) {
            text[n++] = (char)point;
        } else {
            const unsigned n_tails = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
            static const unsigned heads[] = { 0, 0xc0, 0xe0, 0xf0 };
            text[n++] = (char)(heads[n_tails] | point >> 6 * n_tails);
            for (unsigned i = n_tails; i-- > 0;)
                text[n++] = (char)(0x80 | (point >> 6 * i & 0x3f));
        }
        const struct weft_str as_text = { text, n };
        const bool is_surrogate = point >= 0xd800 && point < 0xe000;
        const bool is_plain = weft_plain_prefix(as_text) == n;
        n_wrong += is_plain != (weft_plain_is(point) && !is_surrogate);
        for (int form = 0; form < 2 && !is_plain; form++) {
            const size_t n_out =
                weft_plain_escape(as_text, (enum weft_plain_form)form, escape, &n_used);
            n_wrong +=
                n_out > sizeof escape || escape[0] != '\\' || n_used != (is_surrogate ? 1 : n);
            n_wrong += weft_plain_prefix((struct weft_str){ escape, n_out }) != n_out;
        }
    }
    tap_eq_u64(n_wrong, 0, "all code points");
}

/* ---- numbers ---- */

static struct weft_human human_of(const char *kind, const char *value)
{
    const uint64_t whole = strtoull(value, NULL, 10);
    const double real = strtod(value, NULL);
    if (strcmp(kind, "ns") == 0)
        return weft_human_ns(whole);
    if (strcmp(kind, "bytes") == 0)
        return weft_human_bytes(whole);
    if (strcmp(kind, "count") == 0)
        return weft_human_count(whole);
    if (strcmp(kind, "rough") == 0)
        return weft_human_rough_count(whole);
    if (strcmp(kind, "share") == 0)
        return weft_human_share(real);
    return strcmp(kind, "ratio") == 0 ? weft_human_ratio(real) : weft_human_p(real);
}

/* What the page prints, too (ui/tests/unit/numbers.test.ts). */
static void shared_numbers(void)
{
    const char *root = getenv("WEFT_SOURCE_ROOT");
    char path[1024], line[256];
    unsigned n = 0, n_wrong = 0;
    (void)snprintf(path, sizeof path, "%s/tests/data/numbers.tsv", root ? root : ".");
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        char *rest = line, *kind = strsep(&rest, "\t"), *value = strsep(&rest, "\t");
        char *text = strsep(&rest, "\n");
        if (line[0] == '#' || !text)
            continue;
        const struct weft_human found = human_of(kind, value);
        n++;
        if (strcmp(found.text, text) == 0)
            continue;
        n_wrong++;
        tap_note("%s of %s: expected '%s', found '%s'", kind, value, text, found.text);
    }
    if (file)
        fclose(file);
    tap_ok(n > 3000 && n_wrong == 0, "numbers as the page has them (%u)", n);
}

/* ---- table ---- */

struct sample {
    uint64_t count;
    struct weft_str name;
    double share;
    uint32_t flags;
    int32_t cpu;
};

#define ROW struct sample

static const struct weft_field fields[] = {
    WEFT_FIELD("count", "calls", COUNT, count, "calls"),
    WEFT_FIELD("name", "name", TEXT, name, "a name"),
    WEFT_FIELD("share", "%", SHARE, share, "a share; not a number: unknown"),
    WEFT_FIELD("flag", NULL, BOOL, flags, "a bit", .as = WEFT_AS_FLAG, .arg = 8),
};

static const struct weft_table_type type = WEFT_TABLE_TYPE("samples", "a test", fields, ROW);

static const struct sample samples[] = {
    { UINT64_MAX, { "say \"hi\", x", 11 }, 0.1, 8, 3 },
    { 7, { "a\xff\n", 3 }, (double)NAN, 1, -1 },
};

static const struct weft_table table = { .type = &type, .rows = samples, .n_rows = 2 };

/* What is unknown: each rule once, in a row of its own. */
static void unknown_cells(void)
{
    static const struct weft_field rules[] = {
        WEFT_FIELD("cpu", NULL, ID, cpu, "negative: unknown"),
        WEFT_FIELD("given", NULL, ID, count, "given", .given = WEFT_MEMBER(ROW, share)),
        WEFT_FIELD("zero", NULL, ID, flags, "zero", .zero_is_unknown = true),
        WEFT_FIELD("needs", NULL, ID, count, "needs", .needs = 6),
        WEFT_FIELD("id", NULL, ID, flags, "an id", .as = WEFT_AS_ID),
    };
    static const struct sample known = { .count = 1, .share = 1, .flags = 1 }, unknown[] = {
        { .cpu = -1 }, { 0 }, { 0 }, { .count = 1 }, { .flags = WEFT_ID_NONE }
    };
    const struct weft_table_context with = { .known = 2 }, without = { .known = 1 };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct weft_cell a = { 0 }, b = { 0 };
        weft_field_cell(&rules[i], &with, &known, &a);
        weft_field_cell(&rules[i], &without, &unknown[i], &b);
        tap_ok(!a.is_null && b.is_null, "unknown by %s", rules[i].key);
    }
}

static void expect(struct weft_output *out, const char *want, const char *what)
{
    struct weft_str held = weft_output_held(out);
    tap_ok(weft_str_equal(held, weft_str_of(want)), "%s", what);
    if (!weft_str_equal(held, weft_str_of(want)))
        tap_note("got %.*s", (int)held.n_bytes, held.bytes);
    (void)!weft_output_close(out, NULL);
}

static struct weft_output *memory(void)
{
    struct weft_output *out = NULL;
    (void)!weft_output_to_memory(&out, NULL);
    return out;
}

/* Columns without a value go; then, where a line is too narrow, details, and then names are elided.
 */
static void narrow_tables(void)
{
    static const struct weft_field columns[] = {
        WEFT_FIELD("count", "calls", COUNT, count, "calls"),
        WEFT_FIELD("flags", "flags", COUNT, flags, "a number"),
        WEFT_FIELD("detail", "detail", COUNT, count, "a detail", .is_detail = true),
        WEFT_FIELD("name", "name", TEXT, name, "a name"),
        WEFT_FIELD("below", "below", TEXT, name, "below the row", .is_below = true),
    };
    static const struct weft_table_type narrow_type =
        WEFT_TABLE_TYPE("narrow", "a table", columns, ROW);
    static const struct sample rows[] = {
        { .count = 7, .name = { "abcdefghijklmnopqrstuvwxyz0123456789", 36 } },
        { .count = 8, .name = { "b", 1 } },
    };
    const struct weft_table narrow = { .type = &narrow_type, .rows = rows, .n_rows = 2 };
    struct weft_output *out = memory();
    weft_table_text(&narrow, &(struct weft_style){ 0 }, out);
    expect(out,
           "calls  detail  name                                  below\n"
           "    7       7  abcdefghijklmnopqrstuvwxyz0123456789  "
           "abcdefghijklmnopqrstuvwxyz0123456789\n"
           "    8       8  b                                     b\n",
           "a column of zeros is dropped");
    out = memory();
    weft_table_text(&narrow, &(struct weft_style){ .n_columns = 25 }, out);
    expect(out,
           "calls  name\n"
           "    7  abcdef\xe2\x80\xa6z0123456789\n"
           "    abcdefgh\xe2\x80\xa6yz0123456789\n"
           "    8  b\n"
           "    b\n",
           "details are dropped, names elided");
}

static void tables(void)
{
    unknown_cells();
    narrow_tables();
    struct weft_output *out = memory();
    weft_table_text(&table, &(struct weft_style){ 0 }, out);
    expect(out,
           "                     calls  name              %\n"
           "18,446,744,073,709,551,615  say \"hi\", x  10.0 %\n"
           "                         7  a\\xff\\n           -\n",
           "text, aligned");
    out = memory();
    weft_table_csv(&table, out);
    expect(out,
           "count,name,share,flag\n"
           "18446744073709551615,\"say \"\"hi\"\", x\",0.1,1\n"
           "7,\"a\xff\n\",,0\n",
           "CSV, quoted");
    out = memory();
    struct weft_json *json;
    if (weft_json_open(out, &json, NULL) == WEFT_OK)
        weft_table_json(&table, NULL, json);
    weft_json_close(json);
    expect(out,
           "[\n{\"count\":18446744073709551615,\"name\":\"say \\\"hi\\\", x\",\"share\":0.1,"
           "\"flag\":true}\n,{\"count\":7,\"name\":\"a\xef\xbf\xbd\\n\",\"share\":null,"
           "\"flag\":false}]",
           "JSON, UTF-8 and exact");
}

static void reals(void)
{
    static const double values[] = { 0.1, 1.0 / 3, 1e300, 5e-324, 123456789.123, 1 };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct weft_real_text text = weft_real_text(values[i]);
        double back = strtod(text.text, NULL);
        tap_ok(!(back < values[i]) && !(back > values[i]), "%s reads back", text.text);
    }
    tap_eq_str(weft_real_text(0.1).text, "0.1", "shortest");
}

/* ---- output ---- */

static void failures(void)
{
    struct weft_output *out = NULL;
    struct weft_err err = { 0 };
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full < 0) {
        tap_note("no /dev/full here");
        return;
    }
    tap_eq_u64(weft_output_to_fd(full, "full", &out, &err), WEFT_OK, "opens");
    weft_output_repeat(out, "0123456789", 100000);
    tap_ok(weft_output_has_failed(out), "a full disk is noticed under way");
    tap_eq_u64(weft_output_close(out, &err), WEFT_E_IO, "and reported at the end");
    tap_eq_str(err.file, "full", "with the name");
    close(full);
}

/* Written byte by byte, so that characters lie across the borders of what is written at once; the
 * last one is cut. */
static void characters_in_pieces(void)
{
    static const char text[] = "na\u00efve \u20ac \U0001f41f ";
    enum { N_BYTES = sizeof text - 1, N_TIMES = 20000, CUT_BYTES = 2 };
    struct weft_output *out = NULL;
    struct weft_err err = { 0 };
    static char back[N_BYTES * N_TIMES + 64];
    const int fd = memfd_create("characters", MFD_CLOEXEC);
    tap_eq_u64(weft_output_to_fd(fd, "characters", &out, &err), WEFT_OK, "opens");
    weft_output_set_form(out, WEFT_OUTPUT_TEXT);
    for (size_t k = 0; k < N_TIMES; k++)
        for (size_t i = 0; i < N_BYTES; i++)
            weft_output_write(out, text + i, 1);
    weft_output_write(out, "\u20ac", CUT_BYTES);
    tap_eq_u64(weft_output_close(out, &err), WEFT_OK, "closes");
    const ssize_t n_read = pread(fd, back, sizeof back, 0);
    tap_eq_u64((uint64_t)n_read, N_BYTES * N_TIMES + CUT_BYTES * strlen("\\xe2"), "as long");
    size_t n_same = 0;
    while (n_same < N_TIMES && memcmp(back + n_same * N_BYTES, text, N_BYTES) == 0)
        n_same++;
    tap_eq_u64(n_same, N_TIMES, "characters across a border stay whole");
    tap_ok(n_read > 8 && memcmp(back + N_BYTES * N_TIMES, "\\xe2\\x82", 8) == 0,
           "one that ends early is escaped");
    close(fd);
}

/* What base64 and gzip make of a packed text; the caller frees it. NULL if that is not all of it.
 */
static char *unpack(struct weft_str packed, size_t n_text_bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *bytes = malloc(packed.n_bytes);
    char *text = malloc(n_text_bytes + 1);
    z_stream stream = { .next_in = bytes, .next_out = (Bytef *)text };
    size_t n_bytes = 0;
    for (size_t i = 0; i + 4 <= packed.n_bytes; i += 4) {
        uint32_t word = 0;
        size_t n_pads = 0;
        for (size_t k = 0; k < 4; k++) {
            const char *digit = strchr(digits, packed.bytes[i + k]);
            n_pads += packed.bytes[i + k] == '=';
            word = word << 6 | (digit ? (uint32_t)(digit - digits) : 0);
        }
        for (size_t k = 0; k < 3 - n_pads; k++)
            bytes[n_bytes++] = (unsigned char)(word >> (16 - 8 * k));
    }
    stream.avail_in = (uInt)n_bytes;
    stream.avail_out = (uInt)n_text_bytes + 1;
    bool is_ok = inflateInit2(&stream, 15 + 16) == Z_OK;
    is_ok = is_ok && inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0 &&
            stream.total_out == n_text_bytes;
    inflateEnd(&stream);
    free(bytes);
    if (is_ok)
        return text;
    free(text);
    return NULL;
}

static void packs_text(const char *text, size_t n_bytes, struct weft_pool *pool, const char *what)
{
    struct weft_output *one = memory(), *other = memory();
    const struct weft_str str = { text, n_bytes };
    uint64_t n_packed = 0;
    bool is_ok = weft_pack(str, NULL, one, NULL) == WEFT_OK &&
                 weft_pack(str, pool, other, NULL) == WEFT_OK &&
                 weft_packed_bytes(str, WEFT_PACK_SMALL, pool, &n_packed, NULL) == WEFT_OK;
    struct weft_str held = weft_output_held(one);
    char *back = unpack(held, n_bytes);
    tap_ok(is_ok && back && memcmp(back, text, n_bytes) == 0, "%s: packed and unpacked", what);
    tap_ok(weft_str_equal(held, weft_output_held(other)), "%s: the same by three workers", what);
    tap_eq_u64(n_packed, held.n_bytes, "%s: as many bytes as was said", what);
    free(back);
    (void)!weft_output_close(one, NULL);
    (void)!weft_output_close(other, NULL);
}

static void packs(void)
{
    enum { LARGE_BYTES = 1700000, PIECE_BYTES = 512 * 1024 };
    struct weft_pool *pool = weft_pool_new(3);
    char *text = malloc(LARGE_BYTES);
    uint64_t state = tap_seed(5);
    for (size_t i = 0; i < LARGE_BYTES; i++)
        text[i] = i % 5 ? (char)('0' + tap_random(&state) % 10) : ',';
    packs_text("", 0, pool, "nothing");
    packs_text("weft weft weft weft weft", 24, pool, "a little");
    packs_text(text, PIECE_BYTES, pool, "one piece");
    packs_text(text, PIECE_BYTES + 1, pool, "a byte more");
    packs_text(text, LARGE_BYTES, pool, "several pieces");
    free(text);
    weft_pool_free(pool);
}

static void strips(void)
{
    struct weft_regtime_row rows[] = {
        { .kind = WEFT_REGTIME_CALL, .parent = UINT32_MAX, .start_ns = 0, .end_ns = 600 },
        { .kind = WEFT_REGTIME_EXPRESSION, .parent = 0, .start_ns = 0, .end_ns = 100 },
        { .kind = WEFT_REGTIME_EXPRESSION, .parent = 0, .start_ns = 100, .end_ns = 150 },
        { .kind = WEFT_REGTIME_GAP, .parent = UINT32_MAX, .start_ns = 600, .end_ns = 900 },
        { .kind = WEFT_REGTIME_EXPRESSION, .parent = UINT32_MAX, .start_ns = 900, .end_ns = 1000 },
    };
    const struct weft_regtime_thread thread = { .rows = rows, .n_rows_all = 5 };
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_str strip = weft_strip(arena, &thread, 1000, 10);
    tap_ok(weft_str_equal(strip, WEFT_STR("\xe2\x96\x88\xe2\x96\x84\xe2\x94\x80\xe2\x94\x80"
                                          "\xe2\x94\x80\xe2\x94\x80   \xe2\x96\x88")),
           "runs, long calls, no call");
    weft_arena_free(arena);
}

/* Functions and types of executions as sentences name them. */
static void names_in_sentences(void)
{
    static const struct {
        const char *name, *said;
    } names[] = {
        { "look_up.isra.0", "look_up" },
        { "decode (inlined)", "decode" },
        { "f(int) [clone .isra.0]", "f(int)" },
        { "int store::find<int>(int)", "store::find<int>(int)" },
        { "std::vector<int> (anonymous namespace)::load<int>(int)",
          "(anonymous namespace)::load<int>(int)" },
        { "(anonymous namespace)::serve(int)", "(anonymous namespace)::serve(int)" },
        { "bool operator==(a const&, b const&)", "bool operator==(a const&, b const&)" },
        { "main.(*server).handle", "main.(*server).handle" },
        { "<logd::File as std::io::Write>::write", "<logd::File as std::io::Write>::write" },
        { "anonymous [server.js:18]", "anonymous [server.js:18]" },
        { "void parser::walk<node, visitor, allocator>(node const&, visitor const&)",
          "parser::walk<\xe2\x80\xa6>(node const&, visitor const&)" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct weft_output *out = memory();
        weft_words_function(out, weft_str_of(names[i].name));
        expect(out, names[i].said, names[i].said);
    }
    struct weft_output *out = memory();
    weft_words_executions(out, WEFT_STR("server after recv in run"));
    weft_output_text(out, ", ");
    weft_words_executions(out, WEFT_STR("get"));
    expect(out, "iterations of server after recv in run, get", "types of executions");
}

int main(void)
{
    names_in_sentences();
    shared_numbers();
    numbers();
    utf8();
    plain_formats();
    plain_points();
    tables();
    reals();
    failures();
    characters_in_pieces();
    packs();
    strips();
    return tap_done();
}
