/* SPDX-License-Identifier: MIT
 *
 * One gzip member from pieces that are compressed on their own:
 *
 *     head | piece 0 | piece 1 | ... | last piece | checksum, length
 *
 * Each piece but the last ends with an empty block, at a whole byte, so that they can be joined; it
 * may refer to the text before it, which serves as its dictionary.
 */
#define ZLIB_CONST /* next_in points to const bytes */
#include "render/columns/pack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    PIECE_BYTES = 512 * 1024,
    WINDOW_BYTES = 32 * 1024,
    SMALL_LEVEL = 7, /* 9 takes twice as long for half a per cent */
    HEAD_BYTES = 10,
    TAIL_BYTES = 8,
};

struct piece {
    uint8_t *bytes;
    size_t n_bytes;
    uLong crc;
};

struct job {
    struct weft_str text;
    int level;
    struct piece *pieces;
    size_t n_pieces;
};

/* ---- pieces ---------------------------------------------------------------------------------- */

/* False without memory: nothing else can fail, since there is room for the worst. */
static bool deflate_piece(z_stream *stream, struct piece *piece, bool is_last)
{
    size_t cap = deflateBound(stream, stream->avail_in) + 64; /* and the empty block */
    piece->bytes = malloc(cap);
    if (!piece->bytes)
        return false;
    stream->next_out = piece->bytes;
    stream->avail_out = (uInt)cap;
    int status = deflate(stream, is_last ? Z_FINISH : Z_SYNC_FLUSH);
    piece->n_bytes = cap - stream->avail_out;
    return status == (is_last ? Z_STREAM_END : Z_OK) && stream->avail_in == 0;
}

static enum weft_code pack_piece(void *context, size_t index, unsigned worker, struct weft_err *err)
{
    (void)worker;
    struct job *job = context;
    struct piece *piece = &job->pieces[index];
    const size_t at = index * PIECE_BYTES, n_left = job->text.n_bytes - at;
    const size_t n_before = at < WINDOW_BYTES ? at : WINDOW_BYTES;
    const Bytef *bytes = (const Bytef *)job->text.bytes + at;
    z_stream stream = { 0 };
    if (deflateInit2(&stream, job->level, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return weft_no_memory(err, "the page's compressed data");
    stream.next_in = n_left ? bytes : (const Bytef *)"";
    stream.avail_in = (uInt)(n_left < PIECE_BYTES ? n_left : PIECE_BYTES);
    piece->crc = crc32(0, stream.next_in, stream.avail_in);
    bool is_ok =
        n_before == 0 || deflateSetDictionary(&stream, bytes - n_before, (uInt)n_before) == Z_OK;
    is_ok = is_ok && deflate_piece(&stream, piece, index + 1 == job->n_pieces);
    deflateEnd(&stream);
    return is_ok ? WEFT_OK : weft_no_memory(err, "the page's compressed data");
}

static enum weft_code pack_pieces(struct job *job, struct weft_pool *pool, struct weft_err *err)
{
    job->n_pieces = job->text.n_bytes ? (job->text.n_bytes - 1) / PIECE_BYTES + 1 : 1;
    job->pieces = calloc(job->n_pieces, sizeof *job->pieces);
    if (!job->pieces)
        return weft_no_memory(err, "the page's compressed data");
    if (pool)
        return weft_pool_run(pool, job->n_pieces, pack_piece, job, NULL, err);
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; !code && i < job->n_pieces; i++)
        code = pack_piece(job, i, 0, err);
    return code;
}

static void job_fini(struct job *job)
{
    for (size_t i = 0; job->pieces && i < job->n_pieces; i++)
        free(job->pieces[i].bytes);
    free(job->pieces);
}

/* ---- the member ------------------------------------------------------------------------------ */

/* Where its bytes go: as they are, or as base64, for which up to two wait until there are three. */
struct target {
    struct weft_output *out;
    bool is_base64;
    uint8_t held[3];
    size_t n_held;
};

static void put_three(struct target *target)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *held = target->held;
    uint32_t word = (uint32_t)held[0] << 16 | (uint32_t)held[1] << 8 | held[2];
    char text[4] = { digits[word >> 18], digits[word >> 12 & 63],
                     target->n_held > 1 ? digits[word >> 6 & 63] : '=',
                     target->n_held > 2 ? digits[word & 63] : '=' };
    weft_output_write(target->out, text, sizeof text);
    memset(target->held, 0, sizeof target->held);
    target->n_held = 0;
}

static void put_bytes(struct target *target, const uint8_t *bytes, size_t n_bytes)
{
    if (!target->is_base64) {
        weft_output_write(target->out, bytes, n_bytes);
        return;
    }
    for (size_t i = 0; i < n_bytes; i++) {
        target->held[target->n_held++] = bytes[i];
        if (target->n_held == sizeof target->held)
            put_three(target);
    }
}

static void put_member(const struct job *job, struct target *target)
{
    static const uint8_t head[HEAD_BYTES] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };
    uLong crc = crc32(0, NULL, 0);
    put_bytes(target, head, sizeof head);
    for (size_t i = 0; i < job->n_pieces; i++) {
        const size_t n_left = job->text.n_bytes - i * PIECE_BYTES;
        crc = crc32_combine(crc, job->pieces[i].crc,
                            (z_off_t)(n_left < PIECE_BYTES ? n_left : PIECE_BYTES));
        put_bytes(target, job->pieces[i].bytes, job->pieces[i].n_bytes);
    }
    uint8_t tail[TAIL_BYTES];
    for (unsigned i = 0; i < 4; i++) {
        tail[i] = (uint8_t)(crc >> 8 * i);
        tail[4 + i] = (uint8_t)((uint64_t)job->text.n_bytes >> 8 * i);
    }
    put_bytes(target, tail, sizeof tail);
    if (target->n_held > 0)
        put_three(target);
}

static enum weft_code pack_to(struct weft_str text, int level, struct weft_pool *pool,
                              struct target *target, struct weft_err *err)
{
    struct job job = { .text = text, .level = level };
    enum weft_code code = pack_pieces(&job, pool, err);
    if (code == WEFT_OK)
        put_member(&job, target);
    job_fini(&job);
    return code;
}

enum weft_code weft_pack(struct weft_str text, struct weft_pool *pool, struct weft_output *out,
                         struct weft_err *err)
{
    struct target target = { .out = out, .is_base64 = true };
    return pack_to(text, SMALL_LEVEL, pool, &target, err);
}

enum weft_code weft_gzip(struct weft_str text, int level, struct weft_output *out,
                         struct weft_err *err)
{
    struct target target = { .out = out };
    return pack_to(text, level, NULL, &target, err);
}

enum weft_code weft_packed_bytes(struct weft_str text, enum weft_pack_effort effort,
                                 struct weft_pool *pool, uint64_t *n_bytes, struct weft_err *err)
{
    struct job job = { .text = text,
                       .level = effort == WEFT_PACK_FAST ? Z_BEST_SPEED : SMALL_LEVEL };
    enum weft_code code = pack_pieces(&job, pool, err);
    *n_bytes = HEAD_BYTES + TAIL_BYTES;
    for (size_t i = 0; code == WEFT_OK && i < job.n_pieces; i++)
        *n_bytes += job.pieces[i].n_bytes;
    *n_bytes = (*n_bytes + 2) / 3 * 4;
    job_fini(&job);
    return code;
}
