/* SPDX-License-Identifier: MIT
 *
 * Inputs of every form give the same bytes: plain, gzip, zstd, in one piece or many, from a file,
 * a pipe that trickles, a named pipe. Cut and damaged ones give what stands before, and say so.
 */
#include "import/input.h"
#include "import/unpack.h"
#include "tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { TEXT_BYTES = 3 << 20, PACKED_ROOM = 8 << 20 };

struct bytes {
    uint8_t *items;
    size_t n;
};

static struct bytes text;

static const char *path_of(const char *name)
{
    static char paths[8][4096];
    static unsigned n_used;
    char *path = paths[n_used++ % 8];
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof paths[0], "%s/test_import_input.%s", root ? root : ".", name);
    return path;
}

static struct bytes room(void)
{
    return (struct bytes){ .items = calloc(PACKED_ROOM, 1) };
}

/* Words, with some noise between. */
static void make_text(void)
{
    uint64_t state = 7;
    text.items = malloc(TEXT_BYTES);
    for (; text.n < TEXT_BYTES; text.n++)
        text.items[text.n] = (uint8_t)(tap_random(&state) % 4 ? 'a' + text.n % 7 : state >> 32);
}

static void put(struct bytes *out, const void *bytes, size_t n_bytes)
{
    memcpy(out->items + out->n, bytes, n_bytes);
    out->n += n_bytes;
}

static void put_gzip(struct bytes *out, const uint8_t *bytes, size_t n_bytes)
{
    z_stream stream = { 0 };
    (void)deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)n_bytes;
    stream.next_out = out->items + out->n;
    stream.avail_out = (uInt)(PACKED_ROOM - out->n);
    (void)deflate(&stream, Z_FINISH);
    out->n = PACKED_ROOM - stream.avail_out;
    (void)deflateEnd(&stream);
}

/* A frame with a checksum; window_log 0: the level's. */
static void put_zstd(struct bytes *out, const uint8_t *bytes, size_t n_bytes, int window_log)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    if (window_log)
        (void)ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
    ZSTD_inBuffer in = { bytes, 1, 0 }; /* a known size would make the window smaller */
    ZSTD_outBuffer room_left = { out->items + out->n, PACKED_ROOM - out->n, 0 };
    (void)ZSTD_compressStream2(context, &room_left, &in, ZSTD_e_continue);
    in.size = n_bytes;
    (void)ZSTD_compressStream2(context, &room_left, &in, ZSTD_e_end);
    out->n += room_left.pos;
    (void)ZSTD_freeCCtx(context);
}

static void write_file(const char *name, const struct bytes *bytes)
{
    FILE *file = fopen(path_of(name), "wb");
    if (!file || fwrite(bytes->items, 1, bytes->n, file) != bytes->n || fclose(file) != 0)
        abort();
}

static enum weft_code open_path(const char *path, uint64_t memory_bytes, struct weft_input *input,
                                struct weft_err *err)
{
    char beside[4096];
    (void)snprintf(beside, sizeof beside, "%s", path_of("out.weft"));
    const struct weft_input_opts opts = { .beside = beside, .memory_bytes = memory_bytes };
    *err = (struct weft_err){ 0 };
    return weft_input_open(path, &opts, input, err);
}

static bool holds(const struct weft_input *input, size_t n_bytes)
{
    return input->file.n_bytes == n_bytes && memcmp(input->file.bytes, text.items, n_bytes) == 0;
}

/* ---- whole inputs ---------------------------------------------------------------------------- */

static void expect_text(const char *name, const struct bytes *bytes)
{
    struct weft_input input;
    struct weft_err err;
    write_file("in", bytes);
    const char *path = path_of("in");
    tap_eq_u64(open_path(path, 0, &input, &err), WEFT_OK, "%s opens %s", name, err.text);
    tap_ok(holds(&input, text.n), "%s: the same bytes", name);
    tap_eq_u64(input.given_bytes, bytes->n, "%s: the size as given", name);
    tap_ok(!input.loss.is_any, "%s: nothing is lost", name);
    weft_input_close(&input);
    (void)remove(path);
}

static void test_whole(void)
{
    static const uint8_t zeros[513];
    struct bytes bytes = room();
    put(&bytes, text.items, text.n);
    expect_text("a plain file", &bytes);
    bytes.n = 0;
    put_gzip(&bytes, text.items, text.n);
    expect_text("gzip", &bytes);
    put(&bytes, zeros, sizeof zeros);
    expect_text("gzip with padding", &bytes);
    bytes.n = 0;
    for (size_t k = 0; k < 16; k++)
        put_gzip(&bytes, text.items + text.n / 16 * k, text.n / 16);
    expect_text("gzip of many members", &bytes);
    bytes.n = 0;
    put_zstd(&bytes, text.items, text.n, 0);
    expect_text("zstd", &bytes);
    bytes.n = 0;
    for (size_t k = 0; k < 16; k++) {
        put(&bytes, "\x53\x2a\x4d\x18\x03\0\0\0abc", 11); /* a skippable frame */
        put_zstd(&bytes, text.items + text.n / 16 * k, text.n / 16, 0);
    }
    expect_text("zstd of many frames", &bytes);
    free(bytes.items);
}

/* ---- pipes ----------------------------------------------------------------------------------- */

struct feed {
    const struct bytes *bytes;
    const char *path; /* NULL: fd */
    int fd;
    size_t piece_bytes;
};

static void *feed_run(void *context)
{
    struct feed *feed = context;
    if (feed->path)
        feed->fd = open(feed->path, O_WRONLY | O_CLOEXEC);
    for (size_t at = 0; at < feed->bytes->n;) {
        const size_t left = feed->bytes->n - at;
        const ssize_t n = write(feed->fd, feed->bytes->items + at,
                                left < feed->piece_bytes ? left : feed->piece_bytes);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    (void)close(feed->fd);
    return NULL;
}

static void expect_pipe(const char *name, const struct bytes *bytes, bool is_named,
                        size_t piece_bytes)
{
    struct weft_input input;
    struct weft_err err;
    pthread_t writer;
    char path[4096];
    int ends[2] = { -1, -1 };
    struct feed feed = { .bytes = bytes, .piece_bytes = piece_bytes };
    if (is_named) {
        (void)snprintf(path, sizeof path, "%s", path_of("fifo"));
        (void)remove(path);
        feed.path = path;
        if (mkfifo(path, 0600) != 0)
            abort();
    } else {
        if (pipe(ends) != 0)
            abort();
        feed.fd = ends[1];
        (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    }
    if (pthread_create(&writer, NULL, feed_run, &feed) != 0)
        abort();
    const enum weft_code code = open_path(path, 0, &input, &err);
    (void)pthread_join(writer, NULL);
    tap_eq_u64(code, WEFT_OK, "%s opens %s", name, err.text);
    tap_ok(holds(&input, text.n), "%s: the same bytes", name);
    tap_eq_u64(input.given_bytes, bytes->n, "%s: the size as given", name);
    tap_eq_str(weft_input_source(&input), is_named ? "test_import_input.fifo" : "pipe",
               "%s: its name", name);
    weft_input_close(&input);
    if (is_named)
        (void)remove(path);
    else
        (void)close(ends[0]);
}

static void test_pipes(void)
{
    struct bytes plain = room(), gzip = room(), zstd = room();
    put(&plain, text.items, text.n);
    put_gzip(&gzip, text.items, text.n);
    put_zstd(&zstd, text.items, text.n, 0);
    expect_pipe("a pipe", &plain, false, 5000);
    expect_pipe("a pipe of gzip in small pieces", &gzip, false, 1000);
    expect_pipe("a pipe of zstd in small pieces", &zstd, false, 777);
    expect_pipe("a named pipe", &plain, true, 1 << 16);
    expect_pipe("a named pipe of zstd", &zstd, true, 1 << 16);
    free(plain.items);
    free(gzip.items);
    free(zstd.items);
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* What comes out of `bytes` is a beginning of the text of at least `n_least` bytes, and the input
 * says what is wrong. */
static void expect_loss(const char *name, const struct bytes *bytes, size_t n_least,
                        const char *words)
{
    struct weft_input input;
    struct weft_err err;
    write_file("in", bytes);
    tap_eq_u64(open_path(path_of("in"), 0, &input, &err), WEFT_OK, "%s opens %s", name, err.text);
    tap_ok(input.file.n_bytes >= n_least && input.file.n_bytes <= text.n, "%s: %" PRIu64 " bytes",
           name, input.file.n_bytes);
    tap_ok(holds(&input, (size_t)input.file.n_bytes), "%s: those that stand before", name);
    tap_ok(input.loss.is_any && input.loss.n_bytes > 0 && strstr(input.loss.detail, words) != NULL,
           "%s: %s", name, input.loss.detail);
    tap_eq_u64(input.given_bytes, bytes->n, "%s: the size as given", name);
    weft_input_close(&input);
    (void)remove(path_of("in"));
}

static void test_losses(void)
{
    struct bytes gzip = room(), zstd = room();
    put_gzip(&gzip, text.items, text.n / 2);
    const size_t half_gzip = gzip.n;
    put(&gzip, "this is no gzip", 15);
    expect_loss("gzip and something else", &gzip, text.n / 2, "incorrect header check");
    gzip.n = half_gzip;
    put_gzip(&gzip, text.items + text.n / 2, text.n / 2);
    gzip.n -= 5;
    expect_loss("gzip without its last bytes", &gzip, text.n, "without their end");
    gzip.n = half_gzip + 100;
    expect_loss("gzip cut in its second member", &gzip, text.n / 2, "without their end");
    put_zstd(&zstd, text.items, text.n / 2, 0);
    const size_t half_zstd = zstd.n;
    put(&zstd, "this is no zstd", 15);
    expect_loss("zstd and something else", &zstd, text.n / 2, "damaged zstd");
    zstd.n = half_zstd;
    put_zstd(&zstd, text.items + text.n / 2, text.n / 2, 0);
    zstd.items[zstd.n - 1] ^= 1;
    expect_loss("zstd with a wrong checksum", &zstd, text.n, "checksum");
    zstd.n = half_zstd + (zstd.n - half_zstd) / 2;
    expect_loss("zstd cut in its second frame", &zstd, text.n / 2 + (128 << 10),
                "without their end");
    free(gzip.items);
    free(zstd.items);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void expect_error(const char *name, const char *path, uint64_t memory_bytes,
                         enum weft_code code, const char *words)
{
    struct weft_input input;
    struct weft_err err;
    char said[1024];
    tap_eq_u64(open_path(path, memory_bytes, &input, &err), code, "%s", name);
    weft_err_print(&err, said, sizeof said);
    tap_ok(strstr(said, words) != NULL, "%s: %s", name, said);
}

static void expect_bad(const char *name, const void *bytes, size_t n_bytes, uint64_t memory_bytes,
                       enum weft_code code, const char *words)
{
    struct bytes copy = { .items = malloc(n_bytes + 1) };
    put(&copy, bytes, n_bytes);
    write_file("bad", &copy);
    expect_error(name, path_of("bad"), memory_bytes, code, words);
    (void)remove(path_of("bad"));
    free(copy.items);
}

static void test_refusals(void)
{
    struct bytes zstd = room();
    expect_bad("an empty file", "", 0, 0, WEFT_E_TRUNCATED, "empty file");
    expect_bad("gzip of nothing", "\x1f\x8b\x08\0\0\0\0\0\0\3\3\0\0\0\0\0\0\0\0\0", 20, 0,
               WEFT_E_TRUNCATED, "empty gzip data");
    expect_bad("a gzip header", "\x1f\x8b\x08\0\0\0\0\0\0\3", 10, 0, WEFT_E_TRUNCATED, "no end");
    expect_bad("gzip with a bad block", "\x1f\x8b\x08\0\0\0\0\0\0\3\7\1\2\3\4\5", 16, 0,
               WEFT_E_MALFORMED, "byte 0xb: expected gzip data, found invalid block type");
    expect_bad("a zstd magic number", "\x28\xb5\x2f\xfd", 4, 0, WEFT_E_TRUNCATED, "byte 0x4");
    expect_error("a missing file", path_of("missing"), 0, WEFT_E_IO, "No such file");
    expect_error("/dev/null", "/dev/null", 0, WEFT_E_TRUNCATED, "empty file");
    put_zstd(&zstd, text.items, text.n, 27);
    expect_bad("a zstd window beyond the ceiling", zstd.items, zstd.n, 64 << 20, WEFT_E_LIMIT,
               "at most 33554432 bytes");
    struct weft_input input;
    struct weft_err err;
    write_file("in", &zstd);
    tap_eq_u64(open_path(path_of("in"), 256 << 20, &input, &err), WEFT_OK, "one below it opens");
    weft_input_close(&input);
    (void)remove(path_of("in"));
    free(zstd.items);
}

static bool never(const uint8_t *bytes, size_t n_bytes)
{
    return n_bytes == 0 || bytes == NULL;
}

static void test_unwelcome(void)
{
    struct bytes gzip = room();
    put_gzip(&gzip, text.items, text.n);
    write_file("in", &gzip);
    char beside[4096];
    (void)snprintf(beside, sizeof beside, "%s", path_of("out.weft"));
    const struct weft_input_opts opts = { .beside = beside, .is_welcome = never };
    struct weft_input input;
    tap_eq_u64(weft_input_open(path_of("in"), &opts, &input, NULL), WEFT_OK, "unknown bytes open");
    tap_ok(holds(&input, 1 << 16), "but are unpacked only as far as was looked");
    weft_input_close(&input);
    struct weft_progress progress = { .is_cancelled = true };
    struct weft_err err = { 0 };
    const struct weft_input_opts cancelled = { .beside = beside, .progress = &progress };
    tap_eq_u64(weft_input_open(path_of("in"), &cancelled, &input, &err), WEFT_E_CANCELLED,
               "an interrupted input");
    const struct weft_input_opts nowhere = { .beside = "/nowhere/out.weft" };
    err = (struct weft_err){ 0 };
    tap_eq_u64(weft_input_open(path_of("in"), &nowhere, &input, &err), WEFT_E_IO,
               "no folder for the temporary file");
    (void)remove(path_of("in"));
    free(gzip.items);
}

static void test_names(void)
{
    static const struct {
        const char *path, *name, *source;
    } rows[] = { { "/dev/null", "null", "null" },  { ".", ".", "." },
                 { "/usr/", "usr", "usr" },        { "-", "stdin", "stdin" },
                 { "/dev/fd/99", "pipe", "pipe" }, { "a/b.fdr.zst", "b.fdr", "b.fdr.zst" },
                 { ".gz", ".gz", ".gz" } };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *slash = strrchr(rows[k].path, '/');
        const char *base = slash && slash[1] ? slash + 1 : rows[k].path;
        struct weft_input input;
        const enum weft_code code =
            weft_input_open(rows[k].path, &(struct weft_input_opts){ .beside = "." }, &input, NULL);
        if (code == WEFT_OK) {
            tap_eq_str(input.name, rows[k].name, "the name of %s", rows[k].path);
            tap_eq_str(weft_input_source(&input), rows[k].source, "the source %s", rows[k].path);
            weft_input_close(&input);
        }
        tap_ok(weft_input_stem(base) <= strlen(base), "the stem of %s", base);
    }
    tap_eq_u64(weft_input_stem("a.fdr.zst"), 5, "the stem of a zstd file");
    tap_eq_u64(weft_input_stem("a.txt.gz"), 5, "the stem of a gzip file");
    tap_eq_u64(weft_input_stem(".gz"), 3, "a name that is only a suffix is a stem");
}

int main(void)
{
    make_text();
    test_whole();
    test_pipes();
    test_losses();
    test_refusals();
    test_unwelcome();
    test_names();
    free(text.items);
    return tap_done();
}
