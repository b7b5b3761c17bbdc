/* SPDX-License-Identifier: MIT
 *
 * Compression of one column: zstd, or raw where that is not longer. Repetitive columns are worth a
 * search for matches; the planes of time deltas are noise with a skewed histogram, and get an
 * entropy coder alone, which is three times as fast (docs/performance-store.md).
 */
#ifndef WEFT_STORE_COLUMN_H
#define WEFT_STORE_COLUMN_H

#include "base/error.h"
#include "store/bytes.h"
#include "store/format.h"

enum weft_column_nature {
    WEFT_COLUMN_REPETITIVE,
    WEFT_COLUMN_NOISE,
};

struct weft_column_encoder;

/* NULL without memory. One a worker. */
struct weft_column_encoder *weft_column_encoder_new(void);
void weft_column_encoder_free(struct weft_column_encoder *encoder);

/* Appends the encoded column to `out` (its sticky failure shows a lack of memory) and gives the
 * codec used. The same input gives the same bytes, whatever the encoder did before. */
enum weft_codec weft_column_encode(struct weft_column_encoder *encoder,
                                   enum weft_column_nature nature, const uint8_t *raw,
                                   size_t n_bytes, struct weft_bytes *out);

struct weft_column_decoder;

/* NULL without memory. One a worker. */
struct weft_column_decoder *weft_column_decoder_new(void);
void weft_column_decoder_free(struct weft_column_decoder *decoder);

/* Decodes exactly `raw_bytes` into `raw`, which has that much room; `at_off` is the place in the
 * file for messages. WEFT_E_MALFORMED when the content is broken, shorter or longer;
 * WEFT_E_UNSUPPORTED for an unknown codec. */
WEFT_CHECKED enum weft_code weft_column_decode(struct weft_column_decoder *decoder, uint8_t codec,
                                               const uint8_t *stored, size_t stored_bytes,
                                               uint8_t *raw, size_t raw_bytes, uint64_t at_off,
                                               struct weft_err *err);

#endif
