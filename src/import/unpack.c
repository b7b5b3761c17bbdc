/* SPDX-License-Identifier: MIT
 *
 * Streaming decoders around zlib and libzstd. The zstd decoder gets no more input than it asks for,
 * so that the bytes before damage are known to be complete. The window is limited by the memory
 * limit, as a header may ask for gigabytes.
 */
#include "import/unpack.h"

#include "base/cursor.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#define ZLIB_CONST /* next_in points to const */
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    GZIP_WINDOW_BITS = 15 + 16, /* the largest window; gzip, not zlib */
    ZSTD_LEAST_WINDOW_LOG = 10,
    ZSTD_MOST_WINDOW_LOG = 31,
    ZSTD_BLOCK_HEADER_BYTES = 3,
    ZSTD_OTHER_BYTES = 4 << 20, /* what a decoder needs besides its window */
};

#define ZSTD_SKIPPABLE UINT32_C(0x184d2a50)
#define ZSTD_SKIPPABLE_MASK UINT32_C(0xfffffff0)

struct weft_unpacker {
    enum weft_packing packing;
    const char *damage;
    bool is_between; /* no member or frame is open */
    z_stream gzip;
    bool has_gzip;
    ZSTD_DCtx *zstd;
    size_t zstd_wants;    /* bytes that take the decoder just to the next block */
    bool has_more_inside; /* the room was filled: the decoder may hold back more */
    unsigned window_log;
};

enum weft_packing weft_packing_of(const uint8_t *bytes, size_t n_bytes)
{
    if (n_bytes >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8)
        return WEFT_PACKING_GZIP;
    if (n_bytes < WEFT_PACKING_LOOK_BYTES)
        return WEFT_PACKING_NONE;
    const uint32_t magic = weft_load_u32(bytes);
    if (magic == ZSTD_MAGICNUMBER || (magic & ZSTD_SKIPPABLE_MASK) == ZSTD_SKIPPABLE)
        return WEFT_PACKING_ZSTD;
    return WEFT_PACKING_NONE;
}

const char *weft_packing_name(enum weft_packing packing)
{
    return packing == WEFT_PACKING_GZIP ? "gzip" : packing == WEFT_PACKING_ZSTD ? "zstd" : "none";
}

/* The largest window that fits. */
static unsigned window_log_of(uint64_t memory_bytes)
{
    unsigned log = ZSTD_MOST_WINDOW_LOG;
    const ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    while (!ZSTD_isError(bounds.error) && log > (unsigned)bounds.upperBound)
        log--;
    while (memory_bytes && log > ZSTD_LEAST_WINDOW_LOG &&
           (UINT64_C(1) << log) + ZSTD_OTHER_BYTES > memory_bytes)
        log--;
    return log;
}

struct weft_unpacker *weft_unpacker_new(enum weft_packing packing, uint64_t memory_bytes)
{
    struct weft_unpacker *unpacker = calloc(1, sizeof *unpacker);
    if (!unpacker)
        return NULL;
    unpacker->packing = packing;
    unpacker->is_between = true;
    unpacker->window_log = window_log_of(memory_bytes);
    if (packing == WEFT_PACKING_GZIP) {
        unpacker->has_gzip = inflateInit2(&unpacker->gzip, GZIP_WINDOW_BITS) == Z_OK;
    } else {
        unpacker->zstd = ZSTD_createDCtx();
        if (unpacker->zstd)
            (void)ZSTD_DCtx_setParameter(unpacker->zstd, ZSTD_d_windowLogMax,
                                         (int)unpacker->window_log);
    }
    if (unpacker->has_gzip || unpacker->zstd)
        return unpacker;
    weft_unpacker_free(unpacker);
    return NULL;
}

void weft_unpacker_free(struct weft_unpacker *unpacker)
{
    if (!unpacker)
        return;
    if (unpacker->has_gzip)
        (void)inflateEnd(&unpacker->gzip);
    (void)ZSTD_freeDCtx(unpacker->zstd);
    free(unpacker);
}

const char *weft_unpacker_damage(const struct weft_unpacker *unpacker)
{
    return unpacker->damage;
}

bool weft_unpacker_is_complete(const struct weft_unpacker *unpacker)
{
    return unpacker->is_between && !unpacker->damage;
}

/* ---- gzip ------------------------------------------------------------------------------------ */

/* Begins the next member. Zeros between members are padding, as gzip(1) has it. */
static bool member_begin(struct weft_unpacker *unpacker, struct weft_unpack_io *io)
{
    for (; io->n_in > 0 && *io->in == 0; io->n_in--)
        io->in++;
    if (io->n_in == 0)
        return false;
    (void)inflateReset(&unpacker->gzip);
    unpacker->is_between = false;
    return true;
}

static enum weft_code gzip_step(struct weft_unpacker *unpacker, struct weft_unpack_io *io,
                                struct weft_err *err)
{
    z_stream *stream = &unpacker->gzip;
    if (unpacker->is_between && !member_begin(unpacker, io))
        return WEFT_OK;
    const uInt n_in = io->n_in < UINT_MAX ? (uInt)io->n_in : UINT_MAX;
    const uInt n_room = io->n_room < UINT_MAX ? (uInt)io->n_room : UINT_MAX;
    stream->next_in = io->in;
    stream->avail_in = n_in;
    stream->next_out = io->out;
    stream->avail_out = n_room;
    const int result = inflate(stream, Z_NO_FLUSH);
    io->in += n_in - stream->avail_in;
    io->n_in -= n_in - stream->avail_in;
    io->out += n_room - stream->avail_out;
    io->n_room -= n_room - stream->avail_out;
    if (result == Z_STREAM_END)
        unpacker->is_between = true;
    else if (result == Z_MEM_ERROR)
        return weft_no_memory(err, "a gzip decoder");
    else if (result != Z_OK && result != Z_BUF_ERROR)
        unpacker->damage = stream->msg ? stream->msg : "not gzip";
    return WEFT_OK;
}

/* ---- zstd ------------------------------------------------------------------------------------ */

static enum weft_code zstd_failed(struct weft_unpacker *unpacker, size_t result,
                                  struct weft_err *err)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "expected a zstd window of at most %" PRIu64
                         " bytes, found a larger one: give more memory with --mem",
                         UINT64_C(1) << unpacker->window_log);
    case ZSTD_error_memory_allocation:
        return weft_no_memory(err, "a zstd decoder's window");
    default:
        unpacker->damage = ZSTD_getErrorName(result);
        return WEFT_OK;
    }
}

/* A call that fails does not return how much it had put out before. So the decoder gets no more
 * than it says it wants for the next block, and nothing while it holds back what had no room. */
static enum weft_code zstd_step(struct weft_unpacker *unpacker, struct weft_unpack_io *io,
                                struct weft_err *err)
{
    size_t n_in = io->n_in;
    if (unpacker->is_between)
        unpacker->zstd_wants = ZSTD_initDStream(unpacker->zstd);
    size_t n_block = unpacker->zstd_wants;
    if (n_block > ZSTD_BLOCK_HEADER_BYTES) /* of the next block, which it wants to look into */
        n_block -= ZSTD_BLOCK_HEADER_BYTES;
    if (n_in > n_block)
        n_in = n_block;
    if (unpacker->has_more_inside)
        n_in = 0;
    ZSTD_inBuffer in = { .src = io->in, .size = n_in };
    ZSTD_outBuffer out = { .dst = io->out, .size = io->n_room };
    const size_t result = ZSTD_decompressStream(unpacker->zstd, &out, &in);
    if (ZSTD_isError(result))
        return zstd_failed(unpacker, result, err);
    io->in += in.pos;
    io->n_in -= in.pos;
    io->out += out.pos;
    io->n_room -= out.pos;
    unpacker->has_more_inside = io->n_room == 0 && result != 0;
    unpacker->zstd_wants = result;
    unpacker->is_between = result == 0;
    return WEFT_OK;
}

enum weft_code weft_unpacker_step(struct weft_unpacker *unpacker, struct weft_unpack_io *io,
                                  struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    bool is_moving = true;
    while (code == WEFT_OK && is_moving && !unpacker->damage && io->n_room > 0) {
        const struct weft_unpack_io before = *io;
        const bool was_full = unpacker->has_more_inside;
        if (unpacker->is_between && io->n_in == 0)
            break;
        code = unpacker->packing == WEFT_PACKING_GZIP ? gzip_step(unpacker, io, err)
                                                      : zstd_step(unpacker, io, err);
        is_moving = io->n_in != before.n_in || io->n_room != before.n_room ||
                    was_full != unpacker->has_more_inside;
    }
    return code;
}
