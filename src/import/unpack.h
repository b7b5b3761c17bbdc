/* SPDX-License-Identifier: MIT
 *
 * Unpacks gzip (RFC 1952, several members one after the other) and zstd (RFC 8878, several frames,
 * skippable ones too) as a stream: bytes go in, bytes come out, in pieces of any size.
 *
 * Damage is no error here: what stands before it has come out, and weft_unpacker_damage says what
 * is wrong. Not thread-safe.
 */
#ifndef WEFT_IMPORT_UNPACK_H
#define WEFT_IMPORT_UNPACK_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_packing { WEFT_PACKING_NONE, WEFT_PACKING_GZIP, WEFT_PACKING_ZSTD };

/* Bytes that weft_packing_of wants to see. */
enum { WEFT_PACKING_LOOK_BYTES = 4 };

/* How bytes that begin like this are packed. */
enum weft_packing weft_packing_of(const uint8_t *bytes, size_t n_bytes);

/* "gzip", "zstd". */
const char *weft_packing_name(enum weft_packing packing);

struct weft_unpacker;

/* `memory_bytes` bounds the window of a zstd frame (0: 2 GiB, the format's most). NULL without
 * memory. */
struct weft_unpacker *weft_unpacker_new(enum weft_packing packing, uint64_t memory_bytes);
void weft_unpacker_free(struct weft_unpacker *unpacker);

/* What is left of a piece of input, and of the room for output. */
struct weft_unpack_io {
    const uint8_t *in;
    size_t n_in;
    uint8_t *out;
    size_t n_room;
};

/* Continues until the input is used up, the room is full, or there is damage. WEFT_E_LIMIT for a
 * window beyond the bound, WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_unpacker_step(struct weft_unpacker *unpacker,
                                               struct weft_unpack_io *io, struct weft_err *err);

/* What is wrong with the bytes so far, or NULL. After damage no step does anything. */
const char *weft_unpacker_damage(const struct weft_unpacker *unpacker);

/* True where the input may end: nothing has begun that has not ended. */
bool weft_unpacker_is_complete(const struct weft_unpacker *unpacker);

#endif
