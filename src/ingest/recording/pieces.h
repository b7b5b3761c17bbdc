/* SPDX-License-Identifier: MIT
 *
 * The pieces of a recording: found once, checked once. Behind damage reading continues at the next
 * piece whose checksum is right.
 */
#ifndef WEFT_INGEST_RECORDING_PIECES_H
#define WEFT_INGEST_RECORDING_PIECES_H

#include "base/file.h"
#include "base/pool.h"
#include "base/str.h"
#include "schema/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rec_piece {
    uint64_t payload_off; /* in the file */
    uint64_t time_ns;
    uint32_t stored_bytes, raw_bytes;
    uint32_t stream, pid;
    uint8_t kind, codec;
};

struct rec_pieces {
    const struct weft_mapped *file;
    struct {
        struct rec_piece *items; /* in order of the file */
        size_t n, cap;
    };
    uint64_t n_bad_bytes, bad_off;         /* in the middle */
    uint64_t n_missing_bytes, missing_off; /* of a last piece that was not written to its end */
    uint64_t n_unknown, unknown_off;       /* pieces of unknown kinds or codecs */
};

/* Finds all pieces. Packed ones become at most `most_unpacked` bytes together; those beyond are
 * WEFT_E_LIMIT. */
WEFT_CHECKED enum weft_code rec_pieces_open(const struct weft_mapped *file, uint64_t most_unpacked,
                                            const struct weft_run *run, struct rec_pieces *pieces,
                                            struct weft_err *err);
void rec_pieces_close(struct rec_pieces *pieces);

/* Room for one payload after the other; all zero is none. */
struct rec_room {
    uint8_t *bytes;
    size_t cap;
};

void rec_room_fini(struct rec_room *room);

/* The payload of a piece as it was before packing: in the file, or in `room`, until that is used
 * again. A packed one that does not come out is empty. False without memory. */
bool rec_piece_read(const struct rec_pieces *pieces, const struct rec_piece *piece,
                    struct rec_room *room, struct weft_str *payload);

/* Only its first bytes, at most `n_bytes`, copied to `bytes`; gives how many there are. */
size_t rec_piece_front(const struct rec_pieces *pieces, const struct rec_piece *piece,
                       uint8_t *bytes, size_t n_bytes);

#endif
