/* SPDX-License-Identifier: MIT
 *
 * Writes protocol buffers (the wire format only: tags, varints, lengths) into memory. The first
 * failed allocation is kept; what follows it is dropped.
 */
#ifndef WEFT_RENDER_EXPORT_PROTO_H
#define WEFT_RENDER_EXPORT_PROTO_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_proto {
    char *bytes;
    size_t n, cap;
    bool has_failed;
};

void weft_proto_fini(struct weft_proto *proto);

/* Forgets the bytes, and a failure. */
void weft_proto_reset(struct weft_proto *proto);

void weft_proto_varint(struct weft_proto *proto, uint32_t field, uint64_t value);
void weft_proto_fixed64(struct weft_proto *proto, uint32_t field, uint64_t value);
void weft_proto_bytes(struct weft_proto *proto, uint32_t field, struct weft_str value);

/* A string field: valid UTF-8 whatever `value` holds. */
void weft_proto_string(struct weft_proto *proto, uint32_t field, struct weft_str value);

/* An embedded message: what is written between belongs to it. Its length takes four bytes, as a
 * varint that is not the shortest; all readers take it. At most 2^28 - 1 bytes. */
size_t weft_proto_begin(struct weft_proto *proto, uint32_t field);
void weft_proto_end(struct weft_proto *proto, size_t mark);

#endif
