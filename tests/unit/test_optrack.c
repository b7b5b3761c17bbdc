/* SPDX-License-Identifier: MIT
 *
 * WiredTiger operation tracking: headers, maps and their names, sessions, times, damage.
 */
#include "ingest/optrack/op_map.h"
#include "ingest/optrack/optrack.h"
#include "optrack_builder.h"
#include "recording_sink.h"
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

enum { MOST_INPUTS = 4 };
#define EPOCH UINT64_C(1795244775)

struct set {
    struct xb files[MOST_INPUTS];
    const char *paths[MOST_INPUTS];
    size_t n;
};

static struct xb *add(struct set *set, const char *path)
{
    set->paths[set->n] = path;
    return &set->files[set->n++];
}

static void add_text(struct set *set, const char *path, const char *text)
{
    xb_bytes(add(set, path), text, strlen(text));
}

static enum weft_code import(const struct set *set, const struct weft_optrack_opts *opts,
                             unsigned n_workers, struct rec_sink *rec, struct weft_err *err)
{
    struct weft_optrack_input inputs[MOST_INPUTS];
    uint8_t *copies[MOST_INPUTS];
    for (size_t k = 0; k < set->n; k++) {
        size_t n_bytes = set->files[k].n_bytes;
        copies[k] = n_bytes ? malloc(n_bytes) : NULL; /* exact size */
        if (n_bytes)
            memcpy(copies[k], set->files[k].bytes, n_bytes);
        inputs[k] = (struct weft_optrack_input){ .file = { .bytes = copies[k], .n_bytes = n_bytes },
                                                 .path = set->paths[k] };
    }
    const struct weft_run run = { .pool = n_workers ? weft_pool_new(n_workers) : NULL };
    rec_init(rec);
    enum weft_code code = weft_optrack_import(inputs, set->n, opts, &rec->sink, &run, err);
    weft_pool_free(run.pool);
    for (size_t k = 0; k < set->n; k++)
        free(copies[k]);
    return code;
}

static void fini(struct set *set)
{
    for (size_t k = 0; k < set->n; k++)
        xb_fini(&set->files[k]);
    *set = (struct set){ 0 };
}

static void expect(const struct set *set, const char *want, const char *name)
{
    for (unsigned n_workers = 0; n_workers < 3; n_workers += 2) {
        struct rec_sink rec;
        struct weft_err err = { 0 };
        enum weft_code code = import(set, NULL, n_workers, &rec, &err);
        char *got = rec_whole(&rec);
        tap_eq_u64((uint64_t)code, WEFT_OK, "%s: code, %s", name, err.text);
        tap_eq_str(got, want, "%s, %u workers", name, n_workers);
        tap_eq_u64(rec.n_order_errors, 0, "%s: order", name);
        free(got);
        rec_fini(&rec);
    }
}

static void expect_error(const struct set *set, enum weft_code want, uint64_t at_off, uint64_t line,
                         const char *words, const char *name)
{
    struct rec_sink rec;
    struct weft_err err = { 0 };
    enum weft_code code = import(set, NULL, 0, &rec, &err);
    tap_eq_u64((uint64_t)code, (uint64_t)want, "%s: code", name);
    tap_eq_u64(err.at_off, at_off, "%s: offset", name);
    tap_eq_u64(err.line, line, "%s: line", name);
    tap_ok(strstr(err.text, words) != NULL, "%s: \"%s\" says \"%s\"", name, err.text, words);
    rec_fini(&rec);
}

static void test_two_sessions(void)
{
    struct set set = { 0 };
    struct xb *file = add(&set, "d/optrack.0000004474.0000000017");
    ob_header(file, 3, 1, 2000, EPOCH);
    ob_record(file, 2001, 1, 0);
    ob_record(file, 2002, 65534, 0);
    ob_record(file, 2007, 65534, 1);
    ob_record(file, 3000, 1, 1);
    file = add(&set, "d/optrack.0000004474.0000000002");
    ob_header(file, 3, 0, 2000, EPOCH);
    ob_record(file, 1000, 2, 0);
    add_text(&set, "d/optrack-map.0000004474",
             "1 int __f(WT_CURSOR *, int)\n2 __g\n-2 __wt_signed\n");
    expect(&set,
           "begin optrack: version 3, 2 sessions (1 internal), 2.000 ticks a ns\n"
           "clock 2000000000 zero 1000 realtime 1795244775000000000\n"
           "function 1 __f [] 0x0\nfunction 2 __g [] 0x0\nfunction 65534 __wt_signed [] 0x0\n"
           "thread 0 tid 2 pid 4474 name session 2\n"
           "thread 1 tid 17 pid 4474 name session 17 (internal)\n"
           "-- 0\nE 2 @0\nend @0\n"
           "-- 1\nE 1 @500\nE 65534 @501\nX 65534 @503\nX 1 @1000\nend @1000\n",
           "two sessions and a map");
    fini(&set);
}

/* A session's number is used again: the new one overwrote the beginning. */
static void test_reuse(void)
{
    struct set set = { 0 };
    struct xb *file = add(&set, "optrack.1.5");
    ob_header(file, 3, 0, 1000, EPOCH);
    ob_record(file, 900, 1, 0);
    ob_record(file, 950, 9, 0); /* newest; open at the end */
    ob_record(file, 500, 2, 1); /* the one before: its beginning is gone */
    ob_record(file, 510, 9, 0);
    ob_record(file, 100, 3, 1); /* the oldest */
    ob_record(file, 110, 4, 0);
    ob_record(file, 120, 5, 0);
    expect(&set,
           "begin optrack: version 3, 1 sessions (0 internal), 1.000 ticks a ns\n"
           "clock 1000000000 zero 100 realtime 1795244775000000000\n"
           "thread 0 tid 5 pid 1 name session 5\n"
           "note time_backward 2 thread 0\nnote lost_records 6 thread 0\n"
           "note exit_without_entry 1 thread 0\nnote open_at_end 3 thread 0\n"
           "-- 0\nX 3 @0\nE 4 @10\nE 5 @20\nX 5 @20\nX 4 @20\n"
           "E 2 @400\nX 2 @400\nE 9 @410\nX 9 @410\n"
           "E 1 @800\nE 9 @850\nend @850\n",
           "a session's number used three times");
    fini(&set);
    file = add(&set, "optrack.1.5");
    ob_header(file, 3, 0, 1000, EPOCH);
    ob_record(file, 100, 1, 0);
    ob_record(file, 150, 1, 1);
    ob_record(file, 140, 2, 0); /* overlaps: two threads shared the session */
    ob_record(file, 160, 2, 1);
    expect(&set,
           "begin optrack: version 3, 1 sessions (0 internal), 1.000 ticks a ns\n"
           "clock 1000000000 zero 100 realtime 1795244775000000000\n"
           "thread 0 tid 5 pid 1 name session 5\n"
           "-- 0\nE 1 @0\nX 1 @50\nE 2 @40\nX 2 @60\nend @60\n",
           "a small step back stays for the sink");
    fini(&set);
}

static void test_version_2(void)
{
    struct set set = { 0 };
    struct xb *file = add(&set, "odd name");
    ob_header(file, 2, 0, 2699, 0);
    ob_record(file, 10000, 1, 0);
    ob_record(file, 10000 + 2699, 1, 1);
    ob_record(file, 10000 + 2698, 1, 7); /* no kind */
    xb_int(file, 0, 5);
    expect(&set,
           "begin optrack: version 2, 1 sessions (0 internal), 2.699 ticks a ns\n"
           "clock 2699000000 zero 10000\nthread 0 tid 1 pid 0 name session 1\n"
           "note truncated 11 thread 0 at 0x3c\nnote bad_record 16 thread 0 at 0x2c\n"
           "-- 0\nE 1 @0\nX 1 @1000\nend @1000\n",
           "version 2, a bad record, a cut one");
    fini(&set);
}

static void test_bad_headers(void)
{
    struct set set = { 0 };
    ob_header(add(&set, "optrack.1.1"), 4, 0, 2699, EPOCH);
    expect_error(&set, WEFT_E_UNSUPPORTED, 0, 0, "version 2 or 3, found 4", "a newer version");
    fini(&set);
    ob_header(add(&set, "optrack.1.1"), 3, 2, 2699, EPOCH);
    expect_error(&set, WEFT_E_MALFORMED, 4, 0, "0 or 1", "neither internal nor not");
    fini(&set);
    ob_header(add(&set, "optrack.1.1"), 3, 1, 99, EPOCH);
    expect_error(&set, WEFT_E_MALFORMED, 8, 0, "found 0.099", "a slow clock");
    fini(&set);
    xb_int(add(&set, "optrack.1.1"), 3, 4);
    expect_error(&set, WEFT_E_TRUNCATED, WEFT_NO_OFFSET, 0, "found none", "half a header");
    fini(&set);
    add_text(&set, "optrack-map.1", "1 f\n");
    expect_error(&set, WEFT_E_TRUNCATED, WEFT_NO_OFFSET, 0, "found none", "a map alone");
    fini(&set);
}

static void test_bad_maps(void)
{
    static const struct {
        const char *text;
        uint64_t at_off, line;
        const char *words;
    } rows[] = {
        { "1 f\nx g\n", 4, 2, "found \"x g\"" },
        { "1 f\n2\n", 4, 2, "found \"2\"" },
        { "1 f\n2 \n", 4, 2, "found \"2\"" },
        { "65536 f\n", 0, 1, "an operation's id" },
        { "-32769 f\n", 0, 1, "an operation's id" },
        { "99999999999999999999 f\n", 0, 1, "an operation's id" },
        { "1 f\n2 g\n1 h\n", WEFT_NO_OFFSET, 3, "another in line 1" },
        { "65535 f\n-1 g\n", WEFT_NO_OFFSET, 2, "another in line 1" },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct set set = { 0 };
        ob_header(add(&set, "optrack.1.1"), 3, 0, 2699, EPOCH);
        add_text(&set, "optrack-map.1", rows[k].text);
        expect_error(&set, WEFT_E_MALFORMED, rows[k].at_off, rows[k].line, rows[k].words,
                     rows[k].text);
        fini(&set);
    }
}

static void test_short_names(void)
{
    static const struct {
        const char *name, *want;
    } rows[] = {
        { "__curfile_search", "__curfile_search" },
        { "int __f(WT_CURSOR *)", "__f" },
        { "char *name(const char *)", "name" },
        { "void f(WT_SESSION *, _Bool (*)(WT_SESSION *), _Bool *)", "f" },
        { "void (*f(int))(void)", "void (*f(int))(void)" },
        { "f(int)", "f(int)" },
        { "int ns::f(int)", "int ns::f(int)" },
        { "T g<T>(int)", "T g<T>(int)" },
        { "int f(int) const", "int f(int) const" },
        { "int f(int", "int f(int" },
        { "int 9(int)", "int 9(int)" },
        { "(", "(" },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct weft_str got = weft_op_short_name(weft_str_of(rows[k].name));
        tap_ok(weft_str_equal(got, weft_str_of(rows[k].want)), "\"%s\" is shown as \"%.*s\"",
               rows[k].name, (int)got.n_bytes, got.bytes);
    }
    struct weft_op_map map = { 0 };
    const char *text =
        "1 int f(int)\n2 void f(void)\n3 int g(int)\n4 int g(int)\n\n3 int g(int)\r\n";
    enum weft_code code = weft_op_map_read((const uint8_t *)text, strlen(text), &map, NULL);
    tap_ok(code == WEFT_OK && map.n == 4 &&
               weft_str_equal(map.items[0].shown, WEFT_STR("int f(int)")) &&
               weft_str_equal(map.items[1].shown, WEFT_STR("void f(void)")) &&
               weft_str_equal(map.items[2].shown, WEFT_STR("g")),
           "two that would become one name stay as they are");
    weft_op_map_fini(&map);
}

static void test_sniff(void)
{
    static const struct {
        const char *text;
        bool is_it;
    } rows[] = {
        { "1 __f\n2 g(int)\n", true }, { "1 int f(char *)", true }, { "", false },
        { "hello\n", false },          { "0 f 12\n", false },       { "1 f\nwhat\n", false },
        { "1\tf\n", false },           { "1 2\n", false },          { "1 f9\n3 g\n4 ", true },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        tap_ok(weft_optrack_sniff((const uint8_t *)rows[k].text, strlen(rows[k].text)) ==
                   rows[k].is_it,
               "\"%s\" is %sa map", rows[k].text, rows[k].is_it ? "" : "not ");
    struct xb file = { 0 };
    ob_header(&file, 3, 1, 2699, EPOCH);
    tap_ok(weft_optrack_sniff(file.bytes, file.n_bytes), "a header alone");
    ob_record(&file, 5, 1, 1);
    tap_ok(weft_optrack_sniff(file.bytes, file.n_bytes), "a header and a record");
    file.bytes[34] = 2;
    tap_ok(!weft_optrack_sniff(file.bytes, file.n_bytes), "no kind: not taken");
    xb_fini(&file);
    xb_header(&file, 3, 0, 2699, 0);
    tap_ok(!weft_optrack_sniff(file.bytes, file.n_bytes), "a basic XRay log is not taken");
    xb_fini(&file);
}

/* Cut at every byte, every bit flipped: an error with a reason, or all is told. */
static void test_damage(void)
{
    struct set set = { 0 };
    struct xb *file = add(&set, "optrack.1.1");
    ob_header(file, 3, 1, 2699, EPOCH);
    for (unsigned k = 0; k < 6; k++)
        ob_record(file, 5000 + k * 100, k / 2, k % 2);
    size_t n_whole = file->n_bytes;
    unsigned n_wrong = 0;
    for (size_t n_bytes = 0; n_bytes <= n_whole; n_bytes++) {
        struct rec_sink rec;
        struct weft_err err = { 0 };
        file->n_bytes = n_bytes;
        enum weft_code code = import(&set, NULL, 0, &rec, &err);
        bool is_told = strstr(rec_str(&rec.trace), "note truncated") != NULL;
        n_wrong += n_bytes < 24 ? code != WEFT_E_TRUNCATED
                                : code != WEFT_OK || is_told != ((n_bytes - 24) % 16 != 0);
        rec_fini(&rec);
    }
    tap_eq_u64(n_wrong, 0, "cut at each of %zu bytes", n_whole);
    file->n_bytes = n_whole;
    n_wrong = 0;
    for (size_t bit = 0; bit < n_whole * 8; bit++) {
        struct rec_sink rec;
        struct weft_err err = { 0 };
        file->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum weft_code code = import(&set, NULL, 0, &rec, &err);
        n_wrong += (code != WEFT_OK && err.text[0] == '\0') || rec.n_order_errors;
        file->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        rec_fini(&rec);
    }
    tap_eq_u64(n_wrong, 0, "each of %zu bits flipped", n_whole * 8);
    fini(&set);
}

/* ---- in a directory ---------------------------------------------------------------------------
 */

static const char *path_of(const char *name)
{
    static char paths[4][4096];
    static unsigned n_used;
    char *path = paths[n_used++ % 4];
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof paths[0], "%s/test_optrack%s%s", root ? root : ".",
                   *name ? "/" : "", name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t n_bytes)
{
    FILE *file = fopen(path_of(name), "wb");
    if (!file || fwrite(bytes, 1, n_bytes, file) != n_bytes || fclose(file) != 0)
        abort();
}

static void test_directory(void)
{
    struct xb file = { 0 };
    ob_header(&file, 3, 0, 1000, EPOCH);
    ob_record(&file, 50, 7, 0);
    (void)mkdir(path_of(""), 0700);
    tap_ok(!weft_optrack_sniff_dir(path_of("nothing")), "a missing directory");
    write_file("other", "x", 1);
    tap_ok(!weft_optrack_sniff_dir(path_of("")), "a directory of something else");
    write_file("optrack.0000000009.0000000003", file.bytes, file.n_bytes);
    write_file("optrack-map.0000000009", "7 seven\n", 8);
    tap_ok(weft_optrack_sniff_dir(path_of("")), "a directory of OpTrack");
    struct rec_sink rec;
    struct weft_err err = { 0 };
    rec_init(&rec);
    enum weft_code code = weft_optrack_import_dir(path_of(""), NULL, &rec.sink, NULL, &err);
    tap_ok(code == WEFT_OK && strstr(rec_str(&rec.trace), "function 7 seven"), "its map is read");
    rec_fini(&rec);
    struct weft_mapped mapped = { .bytes = file.bytes, .n_bytes = file.n_bytes };
    const char *path = path_of("optrack.0000000009.0000000003");
    const struct weft_optrack_input input = { .file = mapped, .path = path };
    const struct weft_optrack_opts opts = { .looks_beside_files = true };
    rec_init(&rec);
    code = weft_optrack_import(&input, 1, &opts, &rec.sink, NULL, &err);
    tap_ok(code == WEFT_OK && strstr(rec_str(&rec.trace), "function 7 seven"),
           "the map beside a file is found");
    rec_fini(&rec);
    write_file("names", "7 other\n", 8);
    const struct weft_optrack_opts given = { .map_path = path_of("names") };
    rec_init(&rec);
    code = weft_optrack_import(&input, 1, &given, &rec.sink, NULL, &err);
    tap_ok(code == WEFT_OK && strstr(rec_str(&rec.trace), "function 7 other"),
           "the map that is given rules");
    rec_fini(&rec);
    for (const char *const *name =
             (const char *const[]){ "other", "names", "optrack.0000000009.0000000003",
                                    "optrack-map.0000000009", NULL };
         *name; name++)
        (void)unlink(path_of(*name));
    (void)rmdir(path_of(""));
    xb_fini(&file);
}

int main(void)
{
    test_two_sessions();
    test_reuse();
    test_version_2();
    test_bad_headers();
    test_bad_maps();
    test_short_names();
    test_sniff();
    test_damage();
    test_directory();
    return tap_done();
}
