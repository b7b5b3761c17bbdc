/* SPDX-License-Identifier: MIT
 *
 * Import as a whole: formats told by content, clear refusals, and an old output that stays when
 * anything fails.
 */
#include "import/import.h"
#include "store/reader.h"
#include "tap.h"
#include "xray_builder.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MOST_INPUTS = 3 };

static const char *path_of(const char *name)
{
    static char paths[8][4096];
    static unsigned n_used;
    char *path = paths[n_used++ % 8];
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof paths[0], "%s/test_import.%s", root ? root : ".", name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t n_bytes)
{
    FILE *file = fopen(path_of(name), "wb");
    if (!file || fwrite(bytes, 1, n_bytes, file) != n_bytes || fclose(file) != 0)
        abort();
}

/* Packed, without the last `n_less` bytes. */
static void write_gzip(const char *name, const char *text, size_t n_less)
{
    uint8_t packed[256];
    z_stream stream = { .next_in = (Bytef *)(uintptr_t)text,
                        .avail_in = (uInt)strlen(text),
                        .next_out = packed,
                        .avail_out = sizeof packed };
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
        deflate(&stream, Z_FINISH) != Z_STREAM_END)
        abort();
    (void)deflateEnd(&stream);
    write_file(name, packed, sizeof packed - stream.avail_out - n_less);
}

static void write_inputs(void)
{
    struct xb log = { 0 };
    xb_header(&log, 5, 1, 1000000000, 512);
    size_t at = xb_begin_buffer(&log);
    xb_head(&log, 1, 1, 0, 1000);
    xb_function(&log, XB_ENTER, 1, 0);
    xb_custom(&log, 2, 0, "abc", 3);
    xb_function(&log, XB_EXIT, 1, 5);
    xb_end_buffer(&log, at, 512);
    write_file("fdr", log.bytes, log.n_bytes);
    write_file("short.fdr", log.bytes, 20);
    xb_fini(&log);
    write_file("a.txt", "0 f 1\n1 f 5\n", 12);
    write_file("b.txt", "0 g 2\n1 g 9\n", 12);
    write_file("json", "[{\"ph\":\"X\",\"name\":\"f\",\"ts\":1,\"dur\":2,\"tid\":3}]", 46);
    write_file("csv", "start,dur,name\n1,2,f\n", 21);
    write_file("bad.txt", "0 f 1\n1 f x\n", 12);
    write_file("empty", "", 0);
    write_file("noise", "\x80\x81\x82\x83 what is this?", 18);
    write_file("elf",
               "\x7f"
               "ELF\2\1\1",
               7);
    write_file("zst", "\x28\xb5\x2f\xfd\4\5\6", 7);
    write_file("xz", "\xfd\x37zXZ\0\0\4", 8);
    write_gzip("a.txt.gz", "0 f 1\n1 f 5\n", 0);
    write_gzip("cut.txt.gz", "0 f 1\n1 f 5\n0 g", 3);
    write_gzip("bad.txt.gz", "0 f 1\n1 f x\n", 0);
    write_file("map", "1\t0x10\tmain\n", 12);
    if (mkdir(path_of("folder"), 0700) != 0 && access(path_of("folder"), F_OK) != 0)
        abort();
}

struct row {
    const char *name;
    const char *inputs[MOST_INPUTS];
    const char *map;
    const char *columns;
    const char *output; /* NULL: a fresh one */
    enum weft_code code;
    const char *words; /* in the error; else of no use */
    uint64_t threads, calls;
};

static const struct row rows[] = {
    { .name = "an FDR log", .inputs = { "fdr" }, .threads = 1, .calls = 1 },
    { .name = "an FDR log with a map",
      .inputs = { "fdr" },
      .map = "map",
      .threads = 1,
      .calls = 1 },
    { .name = "a text trace", .inputs = { "a.txt" }, .threads = 1, .calls = 1 },
    { .name = "two text traces", .inputs = { "a.txt", "b.txt" }, .threads = 2, .calls = 2 },
    { .name = "trace event JSON", .inputs = { "json" }, .threads = 1, .calls = 1 },
    { .name = "CSV", .inputs = { "csv" }, .threads = 1, .calls = 1 },
    { .name = "CSV with columns",
      .inputs = { "csv" },
      .columns = "start,duration_ms,op",
      .threads = 1,
      .calls = 1 },
    { .name = "a table with columns beside a log",
      .inputs = { "csv", "fdr" },
      .columns = "start,duration_ms,op",
      .threads = 2,
      .calls = 2 },
    { .name = "columns of a text trace",
      .inputs = { "a.txt" },
      .columns = "start,duration,op",
      .code = WEFT_E_ARG,
      .words = "no columns" },
    { .name = "two tables", .inputs = { "csv", "csv" }, .threads = 2, .calls = 2 },
    { .name = "no input", .code = WEFT_E_ARG, .words = "an input" },
    { .name = "a folder",
      .inputs = { "folder" },
      .code = WEFT_E_UNSUPPORTED,
      .words = "directory" },
    { .name = "a missing file", .inputs = { "missing" }, .code = WEFT_E_IO, .words = "No such" },
    { .name = "an empty file",
      .inputs = { "empty" },
      .code = WEFT_E_TRUNCATED,
      .words = "empty file" },
    { .name = "an empty file beside another",
      .inputs = { "a.txt", "empty" },
      .code = WEFT_E_TRUNCATED,
      .words = "empty file" },
    { .name = "an unknown format",
      .inputs = { "noise" },
      .code = WEFT_E_UNSUPPORTED,
      .words = "found 80 81 82 83 20 77" },
    { .name = "the formats are listed",
      .inputs = { "noise" },
      .code = WEFT_E_UNSUPPORTED,
      .words = "XRay log, text trace" },
    { .name = "a program as a trace",
      .inputs = { "elf" },
      .code = WEFT_E_UNSUPPORTED,
      .words = "--binary" },
    { .name = "a compressed trace without its end",
      .inputs = { "zst" },
      .code = WEFT_E_TRUNCATED,
      .words = "expected zstd data" },
    { .name = "a compressed trace of another kind",
      .inputs = { "xz" },
      .code = WEFT_E_UNSUPPORTED,
      .words = "xz -dc" },
    { .name = "a compressed text trace", .inputs = { "a.txt.gz" }, .threads = 1, .calls = 1 },
    { .name = "a text trace, compressed and cut",
      .inputs = { "cut.txt.gz" },
      .threads = 1,
      .calls = 1 },
    { .name = "a bad line in compressed data",
      .inputs = { "bad.txt.gz" },
      .code = WEFT_E_MALFORMED,
      .words = "in the unpacked data" },
    { .name = "a cut header", .inputs = { "short.fdr" }, .code = WEFT_E_TRUNCATED, .words = "32" },
    { .name = "two logs become one trace", .inputs = { "fdr", "fdr" }, .threads = 2, .calls = 2 },
    { .name = "two formats become one trace",
      .inputs = { "a.txt", "fdr", "b.txt" },
      .threads = 3,
      .calls = 3 },
    { .name = "a map for one of two formats",
      .inputs = { "a.txt", "fdr" },
      .map = "map",
      .threads = 2,
      .calls = 2 },
    { .name = "a bad one of several",
      .inputs = { "fdr", "bad.txt" },
      .code = WEFT_E_MALFORMED,
      .words = "bad.txt" },
    { .name = "a text trace with a map",
      .inputs = { "a.txt" },
      .map = "map",
      .code = WEFT_E_ARG,
      .words = "neither program nor function map" },
    { .name = "a missing map",
      .inputs = { "fdr" },
      .map = "missing",
      .code = WEFT_E_IO,
      .words = "No such" },
    { .name = "a map that is none",
      .inputs = { "fdr" },
      .map = "a.txt",
      .code = WEFT_E_UNSUPPORTED,
      .words = "function map" },
    { .name = "a bad line",
      .inputs = { "bad.txt" },
      .code = WEFT_E_MALFORMED,
      .words = "whole ns" },
    { .name = "the output is a folder",
      .inputs = { "fdr" },
      .output = "folder",
      .code = WEFT_E_IO,
      .words = "a directory" },
    { .name = "the output's folder is missing",
      .inputs = { "fdr" },
      .output = "missing/out",
      .code = WEFT_E_IO,
      .words = "No such" },
};

static enum weft_code run_row(const struct row *row, const char *output,
                              struct weft_writer_totals *totals, struct weft_err *err)
{
    const char *inputs[MOST_INPUTS];
    struct weft_import_opts opts = { .inputs = inputs, .output = output };
    for (; opts.n_inputs < MOST_INPUTS && row->inputs[opts.n_inputs]; opts.n_inputs++)
        inputs[opts.n_inputs] = path_of(row->inputs[opts.n_inputs]);
    opts.columns = row->columns;
    opts.map_path = row->map ? path_of(row->map) : NULL;
    const struct weft_run run = { .pool = weft_pool_new(2) };
    enum weft_code code = weft_import_run(&opts, &run, totals, err);
    weft_pool_free(run.pool);
    return code;
}

static bool holds(const char *path, const char *text)
{
    char bytes[64] = "";
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    size_t n_bytes = fread(bytes, 1, sizeof bytes - 1, file);
    (void)fclose(file);
    return n_bytes == strlen(text) && memcmp(bytes, text, n_bytes) == 0;
}

static void test_row(const struct row *row)
{
    char output[4096];
    (void)snprintf(output, sizeof output, "%s", path_of(row->output ? row->output : "out.weft"));
    if (!row->output)
        write_file("out.weft", "old", 3);
    struct weft_writer_totals totals = { 0 };
    struct weft_err err = { 0 };
    enum weft_code code = run_row(row, output, &totals, &err);
    char text[1024];
    weft_err_print(&err, text, sizeof text);
    tap_eq_u64((uint64_t)code, (uint64_t)row->code, "%s: %s", row->name, code ? text : "imported");
    if (row->code == WEFT_OK) {
        tap_eq_u64(totals.n_threads, row->threads, "%s: threads", row->name);
        tap_eq_u64(totals.calls, row->calls, "%s: calls", row->name);
        tap_ok(!holds(output, "old"), "%s: the output is new", row->name);
        return;
    }
    tap_ok(strstr(text, row->words) != NULL, "%s: says \"%s\"", row->name, row->words);
    if (!row->output)
        tap_ok(holds(output, "old"), "%s: the old output stays", row->name);
}

/* What is no call comes into the file too. */
static void test_events(void)
{
    const struct row row = { .inputs = { "fdr" } };
    struct weft_writer_totals totals = { 0 };
    struct weft_err err = { 0 };
    struct weft_store *store;
    if (!tap_ok(run_row(&row, path_of("out.weft"), &totals, &err) == WEFT_OK &&
                    weft_store_open(path_of("out.weft"), &store, &err) == WEFT_OK,
                "an FDR log with events"))
        return;
    struct weft_event_buf *buf = weft_event_buf_new();
    const struct weft_event *events;
    size_t n_events = 0;
    tap_eq_u64(totals.events, 2, "events written");
    tap_eq_u64(weft_store_thread_get(store, 0)->n_event_blocks, 1, "blocks of events");
    if (buf && weft_store_load_events(store, 0, 0, buf, &events, &n_events, &err) == WEFT_OK &&
        tap_eq_u64(n_events, 2, "events read")) {
        tap_ok(events[0].kind == WEFT_EVENT_COUNTER &&
                   weft_str_equal(events[0].name, WEFT_STR("cpu")) && events[0].time_ns == 0,
               "the processor is a counter");
        tap_ok(events[1].kind == WEFT_EVENT_INSTANT && events[1].time_ns == 2 &&
                   weft_str_equal(events[1].name, WEFT_STR("custom event")) &&
                   weft_str_equal(events[1].payload, WEFT_STR("abc")),
               "a custom event is an instant with its bytes");
    }
    weft_event_buf_free(buf);
    weft_store_close(store);
}

int main(void)
{
    static const char *const names[] = {
        "fdr", "short.fdr", "a.txt", "b.txt",    "bad.txt",    "empty",      "noise", "elf", "zst",
        "map", "out.weft",  "xz",    "a.txt.gz", "cut.txt.gz", "bad.txt.gz", "csv",   "json"
    };
    write_inputs();
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        test_row(&rows[k]);
    test_events();
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        (void)remove(path_of(names[k]));
    (void)rmdir(path_of("folder"));
    return tap_done();
}
