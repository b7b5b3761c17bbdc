/* SPDX-License-Identifier: MIT */
#define ZLIB_CONST /* next_in points to const bytes */
#include "render/pack.h"

#include <stdint.h>
#include <string.h>
#include <zlib.h>

/* A multiple of 3, so that base64 needs padding at the end only. */
enum { CHUNK_BYTES = 3 * 16 * 1024, GZIP_WINDOW_BITS = 15 + 16 };

static void base64(const uint8_t *bytes, size_t n_bytes, struct weft_output *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t at = 0; at < n_bytes; at += 3) {
        size_t n_left = n_bytes - at;
        uint32_t word = (uint32_t)bytes[at] << 16 |
                        (n_left > 1 ? (uint32_t)bytes[at + 1] << 8 : 0) |
                        (n_left > 2 ? bytes[at + 2] : 0);
        char text[4] = { digits[word >> 18], digits[word >> 12 & 63],
                         n_left > 1 ? digits[word >> 6 & 63] : '=',
                         n_left > 2 ? digits[word & 63] : '=' };
        weft_output_write(out, text, sizeof text);
    }
}

/* Feeds zlib at most UINT_MAX bytes at a time. */
static void feed(z_stream *stream, struct weft_str *left)
{
    if (stream->avail_in > 0 || left->n_bytes == 0)
        return;
    size_t n_bytes = left->n_bytes < (1U << 30) ? left->n_bytes : 1U << 30;
    stream->next_in = (const Bytef *)left->bytes;
    stream->avail_in = (uInt)n_bytes;
    left->bytes += n_bytes;
    left->n_bytes -= n_bytes;
}

static void as_it_is(const uint8_t *bytes, size_t n_bytes, struct weft_output *out)
{
    weft_output_write(out, bytes, n_bytes);
}

static enum weft_code compress_to(struct weft_str text, int level,
                                  void (*put)(const uint8_t *bytes, size_t n_bytes,
                                              struct weft_output *out),
                                  struct weft_output *out, struct weft_err *err)
{
    uint8_t chunk[CHUNK_BYTES];
    z_stream stream = { 0 };
    if (deflateInit2(&stream, level, Z_DEFLATED, GZIP_WINDOW_BITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET,
                         "no memory to compress the page's data");
    int status = Z_OK;
    stream.next_out = chunk;
    stream.avail_out = sizeof chunk;
    while (status == Z_OK) {
        feed(&stream, &text);
        status = deflate(&stream, text.n_bytes == 0 ? Z_FINISH : Z_NO_FLUSH);
        if (stream.avail_out == 0 || status == Z_STREAM_END) {
            put(chunk, sizeof chunk - stream.avail_out, out);
            stream.next_out = chunk;
            stream.avail_out = sizeof chunk;
        }
    }
    deflateEnd(&stream);
    if (status != Z_STREAM_END)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "zlib refused the page's data (%d)",
                         status);
    return WEFT_OK;
}

enum weft_code weft_gzip(struct weft_str text, int level, struct weft_output *out,
                         struct weft_err *err)
{
    return compress_to(text, level, as_it_is, out, err);
}

enum weft_code weft_pack(struct weft_str text, struct weft_output *out, struct weft_err *err)
{
    return compress_to(text, Z_BEST_COMPRESSION, base64, out, err);
}
