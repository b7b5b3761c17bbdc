/* SPDX-License-Identifier: MIT
 *
 * Chunks: what a .weft file is made of. A header with id, sizes and checksum, a payload, and zero
 * bytes up to the next multiple of 8.
 */
#ifndef WEFT_STORE_CHUNK_H
#define WEFT_STORE_CHUNK_H

#include "base/error.h"
#include "store/bytes.h"
#include "store/column.h"
#include "store/format.h"

#include <stdatomic.h>

/* A chunk in a mapped file. `stored` points into the map. */
struct weft_chunk {
    uint32_t id;
    uint8_t codec;
    uint8_t flags;
    uint64_t off;         /* of the header */
    uint64_t chunk_bytes; /* header and payload, without padding */
    const uint8_t *stored;
    size_t stored_bytes;
    size_t raw_bytes;
};

/* Bytes up to the next multiple of 8. */
static inline uint64_t weft_chunk_padding(uint64_t off)
{
    return (8 - off % 8) % 8;
}

/* Appends a whole chunk with its padding to `out`, whose first byte lies at a multiple of 8 in the
 * file; the payload is compressed if `encoder` is given and that helps. */
void weft_chunk_build(uint32_t id, uint8_t flags, const struct weft_bytes *payload,
                      struct weft_column_encoder *encoder, struct weft_bytes *out);

/* Reads the header at `off` and checks sizes against the file, but not the checksum: cheap, and
 * safe on any bytes. WEFT_E_TRUNCATED, WEFT_E_MALFORMED. */
WEFT_CHECKED enum weft_code weft_chunk_parse(const uint8_t *file, uint64_t file_bytes, uint64_t off,
                                             struct weft_chunk *chunk, struct weft_err *err);

/* Reads the payload once to compare its checksum; WEFT_E_MALFORMED. */
WEFT_CHECKED enum weft_code weft_chunk_verify(const uint8_t *file, const struct weft_chunk *chunk,
                                              struct weft_err *err);

/* The same, unless `is_intact` says that it was compared before; sets it. */
WEFT_CHECKED enum weft_code weft_chunk_verify_once(const uint8_t *file,
                                                   const struct weft_chunk *chunk,
                                                   _Atomic bool *is_intact, struct weft_err *err);

/* Gives the content: a view into the file for raw chunks, otherwise decompressed into `room`. */
WEFT_CHECKED enum weft_code weft_chunk_open(const struct weft_chunk *chunk,
                                            struct weft_column_decoder *decoder,
                                            struct weft_bytes *room, struct weft_cursor *content,
                                            struct weft_err *err);

/* XXH3-64. */
uint64_t weft_checksum(const void *bytes, size_t n_bytes);

/* Checksum of a chunk: its header up to the checksum, then the payload as stored. */
uint64_t weft_chunk_checksum(const uint8_t *header, const uint8_t *payload, size_t n_bytes);

#endif
