/* SPDX-License-Identifier: MIT
 *
 * Scans the file for pieces, verifies each checksum once, and unpacks payloads on demand. Searching
 * behind damage has a budget proportional to the file's size, so that a hostile file cannot make it
 * quadratic. Pages that were read are given back to the kernel on the way.
 */
#include "ingest/recording/pieces.h"

#include "base/cursor.h"
#include "base/vec.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

enum {
    ALIGNMENT = 8,
    HEAD_BYTES = sizeof(struct weft_piece_head),
    STEP_PIECES = 1 << 12,
    STEP_BYTES = 1 << 26
};

enum codec { CODEC_PLAIN, CODEC_ZSTD, CODECS };

/* Looking for a piece behind damage may check so many bytes that are none, for each of the file. */
enum { SEARCH_FACTOR = 4, SEARCH_LEAST_BYTES = 1 << 26 };

/* ---- one piece ------------------------------------------------------------------------------- */

static uint64_t checksum_of(const uint8_t *head, uint32_t stored_bytes)
{
    XXH3_state_t state;
    (void)XXH3_64bits_reset(&state);
    (void)XXH3_64bits_update(&state, head, offsetof(struct weft_piece_head, checksum));
    (void)XXH3_64bits_update(&state, head + HEAD_BYTES, stored_bytes);
    return XXH3_64bits_digest(&state);
}

static uint64_t padded(uint64_t n_bytes)
{
    return (n_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

enum verdict { IS_PIECE, IS_NONE, IS_CUT };

/* What stands at `off`, a multiple of 8? `*cost`: bytes that had to be looked at. */
static enum verdict look(const struct weft_mapped *file, uint64_t off, struct rec_piece *piece,
                         uint64_t *cost)
{
    const uint8_t *head = file->bytes + off;
    const uint64_t n_left = file->n_bytes - off;
    *cost = 0;
    if (n_left < HEAD_BYTES)
        return IS_CUT;
    struct weft_cursor cur = weft_cur_init(head, HEAD_BYTES, off);
    const uint32_t magic = weft_cur_u32(&cur);
    *piece = (struct rec_piece){ .payload_off = off + HEAD_BYTES };
    const uint16_t kind = weft_cur_u16(&cur);
    piece->codec = weft_cur_u8(&cur);
    (void)weft_cur_u8(&cur);
    piece->stored_bytes = weft_cur_u32(&cur);
    piece->raw_bytes = weft_cur_u32(&cur);
    piece->stream = weft_cur_u32(&cur);
    piece->pid = weft_cur_u32(&cur);
    piece->time_ns = weft_cur_u64(&cur);
    piece->kind = kind < WEFT_PIECES ? (uint8_t)kind : 0;
    if (magic != WEFT_PIECE_MAGIC || piece->stored_bytes > WEFT_PIECE_BYTES_MAX ||
        piece->raw_bytes > WEFT_PIECE_BYTES_MAX)
        return IS_NONE;
    if (piece->stored_bytes > n_left - HEAD_BYTES)
        return IS_CUT;
    *cost = HEAD_BYTES + piece->stored_bytes;
    return checksum_of(head, piece->stored_bytes) == weft_cur_u64(&cur) ? IS_PIECE : IS_NONE;
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct search {
    struct rec_pieces *pieces;
    uint64_t budget_bytes; /* that may still be checked in vain */
    uint64_t unpacked_bytes, most_unpacked;
};

/* The next piece at `off` or behind it: its place, or the file's end. */
static uint64_t find_next(struct search *search, uint64_t off, struct rec_piece *piece)
{
    const struct weft_mapped *file = search->pieces->file;
    for (; off + HEAD_BYTES <= file->n_bytes; off += ALIGNMENT) {
        uint64_t cost;
        if (look(file, off, piece, &cost) == IS_PIECE)
            return off;
        if (cost > search->budget_bytes)
            break;
        search->budget_bytes -= cost;
    }
    return file->n_bytes;
}

static enum weft_code keep(struct search *search, const struct rec_piece *piece,
                           struct weft_err *err)
{
    struct rec_pieces *pieces = search->pieces;
    const uint64_t off = piece->payload_off - HEAD_BYTES;
    if (piece->kind == 0 || piece->codec >= CODECS ||
        (piece->codec == CODEC_PLAIN && piece->raw_bytes != piece->stored_bytes)) {
        if (pieces->n_unknown++ == 0)
            pieces->unknown_off = off;
        return WEFT_OK;
    }
    search->unpacked_bytes += piece->codec == CODEC_PLAIN ? 0 : piece->raw_bytes;
    if (search->unpacked_bytes > search->most_unpacked)
        return weft_fail(err, WEFT_E_LIMIT, off, "more than %llu bytes when it is unpacked",
                         (unsigned long long)search->most_unpacked);
    struct rec_piece *place = WEFT_VEC_PUSH(pieces);
    if (!place)
        return weft_fail(err, WEFT_E_NOMEM, off, "no memory for the chunks of a recording");
    *place = *piece;
    return WEFT_OK;
}

/* What is no piece ends at the next one, or is the rest of the file: then a piece that was begun
 * is missing its end. */
static uint64_t skip(struct search *search, uint64_t off, bool is_cut, struct rec_piece *piece)
{
    struct rec_pieces *pieces = search->pieces;
    const uint64_t n_bytes = pieces->file->n_bytes;
    const uint64_t next = find_next(search, off + ALIGNMENT, piece);
    if (next >= n_bytes && is_cut) {
        pieces->n_missing_bytes = n_bytes - off;
        pieces->missing_off = off;
    } else {
        if (pieces->n_bad_bytes == 0)
            pieces->bad_off = off;
        pieces->n_bad_bytes += (next < n_bytes ? next : n_bytes) - off;
    }
    return next;
}

static enum weft_code find_all(struct search *search, uint64_t off, const struct weft_run *run,
                               struct weft_err *err)
{
    const struct weft_mapped *file = search->pieces->file;
    enum weft_code code = WEFT_OK;
    uint64_t n_looked = 0, done_off = off;
    while (code == WEFT_OK && off < file->n_bytes) {
        struct rec_piece piece;
        uint64_t cost;
        const enum verdict verdict = look(file, off, &piece, &cost);
        if (verdict != IS_PIECE)
            off = skip(search, off, verdict == IS_CUT, &piece);
        if (off >= file->n_bytes)
            break;
        code = keep(search, &piece, err);
        off = piece.payload_off + padded(piece.stored_bytes);
        if (off - done_off >= STEP_BYTES) {
            weft_mapped_done(file, done_off, off - done_off);
            done_off = off;
        }
        if (run && ++n_looked % STEP_PIECES == 0 && weft_progress_is_cancelled(run->progress))
            return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    }
    return code;
}

static enum weft_code check_head(const struct weft_mapped *file, uint64_t *head_bytes,
                                 struct weft_err *err)
{
    const size_t n_head = sizeof(struct weft_recording_head);
    struct weft_cursor cur = weft_cur_init(file->bytes, (size_t)file->n_bytes, 0);
    const uint8_t *bytes = weft_cur_take(&cur, n_head);
    if (!bytes)
        return weft_fail(err, WEFT_E_TRUNCATED, 0, "expected a header of %zu bytes, found %llu",
                         n_head, (unsigned long long)file->n_bytes);
    if (memcmp(bytes, WEFT_RECORDING_MAGIC, 8) != 0)
        return weft_fail(err, WEFT_E_MALFORMED, 0, "expected the magic of a recording");
    const uint16_t version = weft_load_u16(bytes + 8);
    *head_bytes = weft_load_u16(bytes + 10);
    const bool is_right = XXH3_64bits(bytes, offsetof(struct weft_recording_head, checksum)) ==
                          weft_load_u64(bytes + offsetof(struct weft_recording_head, checksum));
    if (is_right && version != WEFT_RECORDING_VERSION)
        return weft_fail(err, WEFT_E_UNSUPPORTED, 8,
                         "a recording of version %u, which is %s than this program: expected %u",
                         version, version > WEFT_RECORDING_VERSION ? "newer" : "older",
                         WEFT_RECORDING_VERSION);
    if (!is_right || *head_bytes < n_head || *head_bytes % ALIGNMENT)
        *head_bytes = n_head; /* nothing in a damaged header is missing in the pieces */
    return WEFT_OK;
}

enum weft_code rec_pieces_open(const struct weft_mapped *file, uint64_t most_unpacked,
                               const struct weft_run *run, struct rec_pieces *pieces,
                               struct weft_err *err)
{
    struct search search = { .pieces = pieces,
                             .budget_bytes = file->n_bytes * SEARCH_FACTOR + SEARCH_LEAST_BYTES,
                             .most_unpacked = most_unpacked };
    uint64_t head_bytes = 0;
    *pieces = (struct rec_pieces){ .file = file };
    const enum weft_code code = check_head(file, &head_bytes, err);
    return code == WEFT_OK ? find_all(&search, head_bytes, run, err) : code;
}

void rec_pieces_close(struct rec_pieces *pieces)
{
    WEFT_VEC_FINI(pieces);
}

/* ---- payloads -------------------------------------------------------------------------------- */

void rec_room_fini(struct rec_room *room)
{
    free(room->bytes);
    *room = (struct rec_room){ 0 };
}

bool rec_piece_read(const struct rec_pieces *pieces, const struct rec_piece *piece,
                    struct rec_room *room, struct weft_str *payload)
{
    const uint8_t *stored = pieces->file->bytes + piece->payload_off;
    *payload = (struct weft_str){ (const char *)stored, piece->stored_bytes };
    if (piece->codec == CODEC_PLAIN)
        return true;
    if (!weft_vec_reserve(&room->bytes, &room->cap, (size_t)piece->raw_bytes + 1, 1))
        return false;
    const size_t n_bytes =
        ZSTD_decompress(room->bytes, piece->raw_bytes, stored, piece->stored_bytes);
    *payload = (struct weft_str){ (const char *)room->bytes, ZSTD_isError(n_bytes) ? 0 : n_bytes };
    return true;
}

static size_t unpack_front(const uint8_t *stored, size_t n_stored, uint8_t *bytes, size_t n_bytes)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = { .src = stored, .size = n_stored };
    ZSTD_outBuffer out = { .dst = bytes, .size = n_bytes };
    size_t left = stream ? 1 : 0;
    while (stream && left > 0 && !ZSTD_isError(left) && out.pos < out.size) {
        const size_t before = in.pos + out.pos;
        left = ZSTD_decompressStream(stream, &out, &in);
        if (in.pos + out.pos == before)
            break;
    }
    (void)ZSTD_freeDStream(stream);
    return ZSTD_isError(left) ? 0 : out.pos;
}

size_t rec_piece_front(const struct rec_pieces *pieces, const struct rec_piece *piece,
                       uint8_t *bytes, size_t n_bytes)
{
    const uint8_t *stored = pieces->file->bytes + piece->payload_off;
    if (piece->codec != CODEC_PLAIN)
        return unpack_front(stored, piece->stored_bytes, bytes, n_bytes);
    const size_t n_front = piece->stored_bytes < n_bytes ? piece->stored_bytes : n_bytes;
    memcpy(bytes, stored, n_front);
    return n_front;
}
