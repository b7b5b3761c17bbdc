/* SPDX-License-Identifier: MIT
 *
 * Builds, parses and verifies chunks. The checksum (XXH3) covers header and stored bytes; it is
 * compared once for a chunk of a block, and always for metadata. A chunk that claims to expand
 * beyond the format's ratio is refused before memory is reserved.
 */
#include "store/chunk.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static const size_t header_bytes = sizeof(struct weft_disk_chunk);
static const size_t summed_bytes = offsetof(struct weft_disk_chunk, checksum);

uint64_t weft_checksum(const void *bytes, size_t n_bytes)
{
    return XXH3_64bits(bytes, n_bytes);
}

uint64_t weft_chunk_checksum(const uint8_t *header, const uint8_t *payload, size_t n_bytes)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, header, summed_bytes);
    XXH3_64bits_update(&state, payload, n_bytes);
    return XXH3_64bits_digest(&state);
}

/* A ratio beyond the format's limit (which bounds what a reader allocates) is stored raw. */
static enum weft_codec put_payload(const struct weft_bytes *payload,
                                   struct weft_column_encoder *encoder, struct weft_bytes *out)
{
    if (encoder) {
        const size_t start = out->n;
        const enum weft_codec codec =
            weft_column_encode(encoder, WEFT_COLUMN_REPETITIVE, payload->items, payload->n, out);
        if (payload->n <= (out->n - start) * WEFT_FORMAT_MAX_RATIO)
            return codec;
        out->n = start;
    }
    weft_bytes_put(out, payload->items, payload->n);
    return WEFT_CODEC_RAW;
}

void weft_chunk_build(uint32_t id, uint8_t flags, const struct weft_bytes *payload,
                      struct weft_column_encoder *encoder, struct weft_bytes *out)
{
    const size_t start = out->n;
    struct weft_disk_chunk header = { .flags = flags };
    weft_store_u32(header.magic, WEFT_CHUNK_MAGIC);
    weft_store_u32(header.id, id);
    weft_bytes_put(out, &header, sizeof header);
    header.codec = (uint8_t)put_payload(payload, encoder, out);
    if (payload->has_failed)
        out->has_failed = true;
    if (out->has_failed)
        return;
    const size_t stored_bytes = out->n - start - sizeof header;
    weft_store_u64(header.stored_bytes, stored_bytes);
    weft_store_u64(header.raw_bytes, payload->n);
    weft_store_u64(header.checksum,
                   weft_chunk_checksum((const uint8_t *)&header, out->items + start + sizeof header,
                                       stored_bytes));
    memcpy(out->items + start, &header, sizeof header);
    weft_bytes_put(out, (const uint8_t[8]){ 0 }, weft_chunk_padding(out->n));
}

static enum weft_code chunk_check(struct weft_chunk *chunk, const struct weft_disk_chunk *header,
                                  struct weft_err *err)
{
    static const uint8_t zero[sizeof header->reserved];
    if (memcmp(header->reserved, zero, sizeof zero) != 0)
        return weft_fail(err, WEFT_E_UNSUPPORTED, chunk->off + 10,
                         "expected reserved bytes of 0 in a chunk header, found others");
    if (chunk->codec == WEFT_CODEC_RAW && chunk->raw_bytes != chunk->stored_bytes)
        return weft_fail(err, WEFT_E_MALFORMED, chunk->off + 24,
                         "expected a raw chunk of %zu bytes, found %zu", chunk->stored_bytes,
                         chunk->raw_bytes);
    if (chunk->raw_bytes / WEFT_FORMAT_MAX_RATIO > chunk->stored_bytes)
        return weft_fail(err, WEFT_E_MALFORMED, chunk->off + 24,
                         "expected at most %d bytes for each of %zu stored, found %zu",
                         WEFT_FORMAT_MAX_RATIO, chunk->stored_bytes, chunk->raw_bytes);
    return WEFT_OK;
}

enum weft_code weft_chunk_parse(const uint8_t *file, uint64_t file_bytes, uint64_t off,
                                struct weft_chunk *chunk, struct weft_err *err)
{
    if (off % 8 != 0)
        return weft_fail(err, WEFT_E_MALFORMED, off, "expected a chunk at a multiple of 8");
    if (off > file_bytes || file_bytes - off < header_bytes)
        return weft_fail(err, WEFT_E_TRUNCATED, off,
                         "expected a chunk header of %zu bytes, %llu "
                         "left",
                         header_bytes,
                         (unsigned long long)(off > file_bytes ? 0 : file_bytes - off));
    struct weft_disk_chunk header;
    memcpy(&header, file + off, sizeof header);
    if (weft_load_u32(header.magic) != WEFT_CHUNK_MAGIC)
        return weft_fail(err, WEFT_E_MALFORMED, off,
                         "expected a chunk (WEFc), found %02x %02x %02x %02x", header.magic[0],
                         header.magic[1], header.magic[2], header.magic[3]);
    const uint64_t stored_bytes = weft_load_u64(header.stored_bytes);
    const uint64_t left = file_bytes - off - header_bytes;
    if (stored_bytes > left)
        return weft_fail(err, WEFT_E_TRUNCATED, off + 16,
                         "expected a payload of %llu bytes, %llu left",
                         (unsigned long long)stored_bytes, (unsigned long long)left);
    *chunk = (struct weft_chunk){
        .id = weft_load_u32(header.id),
        .codec = header.codec,
        .flags = header.flags,
        .off = off,
        .chunk_bytes = header_bytes + stored_bytes,
        .stored = file + off + header_bytes,
        .stored_bytes = (size_t)stored_bytes,
        .raw_bytes = (size_t)weft_load_u64(header.raw_bytes),
    };
    return chunk_check(chunk, &header, err);
}

enum weft_code weft_chunk_verify(const uint8_t *file, const struct weft_chunk *chunk,
                                 struct weft_err *err)
{
    const uint8_t *header = file + chunk->off;
    const uint64_t want = weft_load_u64(header + summed_bytes);
    const uint64_t found = weft_chunk_checksum(header, chunk->stored, chunk->stored_bytes);
    if (want == found)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_MALFORMED, chunk->off + summed_bytes,
                     "expected checksum %016llx, found %016llx: the chunk is damaged",
                     (unsigned long long)want, (unsigned long long)found);
}

enum weft_code weft_chunk_verify_once(const uint8_t *file, const struct weft_chunk *chunk,
                                      _Atomic bool *is_intact, struct weft_err *err)
{
    if (atomic_load_explicit(is_intact, memory_order_relaxed))
        return WEFT_OK;
    const enum weft_code code = weft_chunk_verify(file, chunk, err);
    if (code == WEFT_OK)
        atomic_store_explicit(is_intact, true, memory_order_relaxed);
    return code;
}

enum weft_code weft_chunk_open(const struct weft_chunk *chunk, struct weft_column_decoder *decoder,
                               struct weft_bytes *room, struct weft_cursor *content,
                               struct weft_err *err)
{
    const uint64_t payload_off = chunk->off + header_bytes;
    if (chunk->codec == WEFT_CODEC_RAW) {
        *content = weft_cur_init(chunk->stored, chunk->stored_bytes, payload_off);
        return WEFT_OK;
    }
    room->n = 0;
    if (!weft_bytes_reserve(room, chunk->raw_bytes))
        return weft_fail(err, WEFT_E_NOMEM, payload_off, "a chunk of %zu bytes", chunk->raw_bytes);
    const enum weft_code code =
        weft_column_decode(decoder, chunk->codec, chunk->stored, chunk->stored_bytes, room->items,
                           chunk->raw_bytes, payload_off, err);
    /* Offsets inside compressed content do not exist in the file: messages name its beginning. */
    *content = weft_cur_init(room->items, chunk->raw_bytes, payload_off);
    return code;
}
