/* SPDX-License-Identifier: MIT
 *
 * Packed records (perf record -z): each holds a piece of one zstd stream, in which records follow
 * each other, also across pieces. They are unpacked once, since they are read several times.
 */
#include "base/file.h"
#include "ingest/perf/file.h"
#include "kernel/bytes.h"

#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

enum { OUT_BYTES = 1 << 18, KEPT_BYTES = 1 << 16, MOST_WINDOW_LOG = 27 };

struct unpacker {
    const struct perf_records *records;
    const struct perf_file_opts *opts;
    struct perf_file *file;
    ZSTD_DCtx *zstd;
    uint8_t
        *out; /* what is to be written; begins with a part of a record, if it has not all come */
    size_t n_out;
    uint64_t n_written;
    int fd;
    struct weft_err *err;
};

static enum weft_code put(struct unpacker *unpacker, const void *bytes, size_t n_bytes)
{
    unpacker->n_written += n_bytes;
    if (unpacker->n_written > unpacker->opts->most_unpacked_bytes)
        return weft_fail(unpacker->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "packed records of more than %llu bytes",
                         (unsigned long long)unpacker->opts->most_unpacked_bytes);
    return weft_fd_write(unpacker->fd, bytes, n_bytes, unpacker->err);
}

/* Writes the whole records of `out`, and moves the rest to its begin. */
static enum weft_code put_records(struct unpacker *unpacker)
{
    size_t n_whole = 0;
    while (unpacker->n_out - n_whole >= PERF_RECORD_HEADER_BYTES) {
        const size_t n_record =
            kernel_load_u16(unpacker->out + n_whole + 6, unpacker->records->is_big);
        if (n_record < PERF_RECORD_HEADER_BYTES) {
            unpacker->file->unpack_damage = "a size of less than 8 bytes";
            break;
        }
        if (n_record > unpacker->n_out - n_whole)
            break;
        n_whole += n_record;
    }
    const enum weft_code code = put(unpacker, unpacker->out, n_whole);
    memmove(unpacker->out, unpacker->out + n_whole, unpacker->n_out - n_whole);
    unpacker->n_out -= n_whole;
    return code;
}

static enum weft_code unpack(struct unpacker *unpacker, const uint8_t *bytes, size_t n_bytes)
{
    ZSTD_inBuffer in = { .src = bytes, .size = n_bytes };
    enum weft_code code = WEFT_OK;
    bool is_full = true;
    while (code == WEFT_OK && !unpacker->file->unpack_damage && (in.pos < in.size || is_full)) {
        ZSTD_outBuffer out = { .dst = unpacker->out + unpacker->n_out,
                               .size = OUT_BYTES + KEPT_BYTES - unpacker->n_out };
        const size_t result = ZSTD_decompressStream(unpacker->zstd, &out, &in);
        if (ZSTD_isError(result)) {
            unpacker->file->unpack_damage = ZSTD_getErrorName(result);
            break;
        }
        is_full = out.pos == out.size;
        unpacker->n_out += out.pos;
        code = put_records(unpacker);
        if (out.pos == 0 && in.pos == in.size)
            break;
    }
    return code;
}

/* The packed bytes of a record: newer ones state how many of them count. */
static struct weft_str packed_of(const struct perf_record *record, bool is_big)
{
    struct weft_str packed = { (const char *)record->body, record->n_body };
    if (record->type == PERF_OWN_COMPRESSED2 && packed.n_bytes >= 8) {
        const uint64_t n_told = kernel_load_u64(record->body, is_big);
        packed.bytes += 8;
        packed.n_bytes -= 8;
        packed.n_bytes = n_told < packed.n_bytes ? (size_t)n_told : packed.n_bytes;
    }
    return packed;
}

static enum weft_code unpack_all(struct unpacker *unpacker)
{
    const struct perf_records *records = unpacker->records;
    enum weft_code code = WEFT_OK;
    uint64_t at = 0;
    uint64_t next = 0;
    struct perf_record record;
    for (; code == WEFT_OK && perf_record_next(records, &next, &record); at = next) {
        if (record.type != PERF_OWN_COMPRESSED && record.type != PERF_OWN_COMPRESSED2) {
            code = put(unpacker, records->bytes + at, (size_t)(next - at));
        } else if (!unpacker->file->unpack_damage) {
            const struct weft_str packed = packed_of(&record, records->is_big);
            code = unpack(unpacker, (const uint8_t *)packed.bytes, packed.n_bytes);
            unpacker->file->bad_off = records->base_off + at;
        }
        if (unpacker->file->unpack_damage && record.type >= PERF_OWN_COMPRESSED)
            unpacker->file->n_bad_bytes += next - at;
    }
    if (code == WEFT_OK && unpacker->n_out > 0 && !unpacker->file->unpack_damage)
        unpacker->file->n_missing_bytes += unpacker->n_out;
    return code;
}

enum weft_code perf_unpack(const struct perf_records *records, const struct perf_file_opts *opts,
                           struct perf_file *file, struct weft_err *err)
{
    struct unpacker unpacker = {
        .records = records, .opts = opts, .file = file, .fd = -1, .err = err
    };
    enum weft_code code =
        weft_temp_open(opts->beside ? opts->beside : "/var/tmp/weft", &unpacker.fd, err);
    if (code == WEFT_OK) {
        unpacker.zstd = ZSTD_createDCtx();
        unpacker.out = malloc(OUT_BYTES + KEPT_BYTES);
        if (unpacker.zstd)
            (void)ZSTD_DCtx_setParameter(unpacker.zstd, ZSTD_d_windowLogMax, MOST_WINDOW_LOG);
        code = unpacker.zstd && unpacker.out ? unpack_all(&unpacker)
                                             : weft_no_memory(err, "unpacking records");
        WEFT_THEN(code, weft_mapped_from_fd(unpacker.fd, "unpacked records", &file->unpacked, err));
        (void)ZSTD_freeDCtx(unpacker.zstd);
        free(unpacker.out);
        (void)close(unpacker.fd);
    }
    return code;
}
