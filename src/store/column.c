/* SPDX-License-Identifier: MIT
 *
 * Contexts of zstd for two kinds of columns, and one decoder. Encoders and decoders belong to one
 * worker; they are kept, as setting one up costs more than a small column.
 */
#define ZSTD_STATIC_LINKING_ONLY /* for the parameter that keeps Huffman coding at fast levels */
#include "store/column.h"

#include <zstd.h>

enum {
    REPETITIVE_LEVEL = 1,
    NOISE_LEVEL = -100,  /* steps over the input so fast that it finds next to no match */
    MIN_COMPRESSED = 24, /* shorter columns are stored raw: a frame costs about that much */
};

struct weft_column_encoder {
    ZSTD_CCtx *repetitive;
    ZSTD_CCtx *noise;
};

static ZSTD_CCtx *context_new(int level, bool forces_huffman)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (!context)
        return NULL;
    size_t fault = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    if (!ZSTD_isError(fault)) /* the block head holds the size */
        fault = ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    if (!ZSTD_isError(fault) && forces_huffman)
        fault = ZSTD_CCtx_setParameter(context, ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
    if (!ZSTD_isError(fault))
        return context;
    ZSTD_freeCCtx(context);
    return NULL;
}

struct weft_column_encoder *weft_column_encoder_new(void)
{
    struct weft_column_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder)
        return NULL;
    encoder->repetitive = context_new(REPETITIVE_LEVEL, false);
    encoder->noise = context_new(NOISE_LEVEL, true);
    if (encoder->repetitive && encoder->noise)
        return encoder;
    weft_column_encoder_free(encoder);
    return NULL;
}

void weft_column_encoder_free(struct weft_column_encoder *encoder)
{
    if (!encoder)
        return;
    ZSTD_freeCCtx(encoder->repetitive);
    ZSTD_freeCCtx(encoder->noise);
    free(encoder);
}

enum weft_codec weft_column_encode(struct weft_column_encoder *encoder,
                                   enum weft_column_nature nature, const uint8_t *raw,
                                   size_t n_bytes, struct weft_bytes *out)
{
    if (n_bytes >= MIN_COMPRESSED) {
        const size_t bound = ZSTD_compressBound(n_bytes);
        if (!weft_bytes_reserve(out, bound))
            return WEFT_CODEC_RAW;
        ZSTD_CCtx *context = nature == WEFT_COLUMN_NOISE ? encoder->noise : encoder->repetitive;
        const size_t size = ZSTD_compress2(context, out->items + out->n, bound, raw, n_bytes);
        if (!ZSTD_isError(size) && size < n_bytes) {
            out->n += size;
            return WEFT_CODEC_ZSTD;
        }
    }
    weft_bytes_put(out, raw, n_bytes);
    return WEFT_CODEC_RAW;
}

struct weft_column_decoder {
    ZSTD_DCtx *context;
};

struct weft_column_decoder *weft_column_decoder_new(void)
{
    struct weft_column_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->context = ZSTD_createDCtx();
    if (decoder->context)
        return decoder;
    free(decoder);
    return NULL;
}

void weft_column_decoder_free(struct weft_column_decoder *decoder)
{
    if (!decoder)
        return;
    ZSTD_freeDCtx(decoder->context);
    free(decoder);
}

enum weft_code weft_column_decode(struct weft_column_decoder *decoder, uint8_t codec,
                                  const uint8_t *stored, size_t stored_bytes, uint8_t *raw,
                                  size_t raw_bytes, uint64_t at_off, struct weft_err *err)
{
    if (codec == WEFT_CODEC_RAW) {
        if (stored_bytes != raw_bytes)
            return weft_fail(err, WEFT_E_MALFORMED, at_off, "expected %zu raw bytes, found %zu",
                             raw_bytes, stored_bytes);
        if (raw_bytes)
            memcpy(raw, stored, raw_bytes);
        return WEFT_OK;
    }
    if (codec != WEFT_CODEC_ZSTD)
        return weft_fail(err, WEFT_E_UNSUPPORTED, at_off, "codec %u is newer than this program",
                         codec);
    const size_t size = ZSTD_decompressDCtx(decoder->context, raw, raw_bytes, stored, stored_bytes);
    if (ZSTD_isError(size))
        return weft_fail(err, WEFT_E_MALFORMED, at_off, "expected zstd data of %zu bytes, found %s",
                         raw_bytes, ZSTD_getErrorName(size));
    if (size != raw_bytes)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected %zu bytes after decompression, found %zu", raw_bytes, size);
    return WEFT_OK;
}
