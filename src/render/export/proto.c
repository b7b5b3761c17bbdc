/* SPDX-License-Identifier: MIT
 *
 * Nested messages reserve four bytes for their length, which is filled in at the end as a padded
 * varint: no message is built twice. A message beyond 2^28 - 1 bytes is a failure.
 */
#include "render/export/proto.h"

#include "base/utf8.h"
#include "base/vec.h"
#include "render/put.h"

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, TAG_BYTES = 5, LENGTH_BYTES = 4, TYPE_BITS = 3 };

#define LENGTH_MAX ((UINT32_C(1) << 28) - 1)

void weft_proto_fini(struct weft_proto *proto)
{
    free(proto->bytes);
    *proto = (struct weft_proto){ 0 };
}

void weft_proto_reset(struct weft_proto *proto)
{
    proto->n = 0;
    proto->has_failed = false;
}

/* Where the next bytes go; NULL after a failure. */
static char *room(struct weft_proto *proto, size_t n_bytes)
{
    if (proto->has_failed || !weft_vec_reserve(&proto->bytes, &proto->cap, proto->n + n_bytes, 1)) {
        proto->has_failed = true;
        return NULL;
    }
    return proto->bytes + proto->n;
}

static void filled(struct weft_proto *proto, const char *end)
{
    proto->n = (size_t)(end - proto->bytes);
}

static char *put_tag(char *to, uint32_t field, unsigned type)
{
    return weft_put_varint(to, field << TYPE_BITS | type);
}

void weft_proto_varint(struct weft_proto *proto, uint32_t field, uint64_t value)
{
    char *to = room(proto, TAG_BYTES + WEFT_PUT_VARINT_BYTES);
    if (to)
        filled(proto, weft_put_varint(put_tag(to, field, VARINT), value));
}

void weft_proto_fixed64(struct weft_proto *proto, uint32_t field, uint64_t value)
{
    char *to = room(proto, TAG_BYTES + sizeof value);
    if (!to)
        return;
    to = put_tag(to, field, FIXED64);
    for (unsigned shift = 0; shift < 64; shift += 8)
        *to++ = (char)(value >> shift);
    filled(proto, to);
}

void weft_proto_bytes(struct weft_proto *proto, uint32_t field, struct weft_str value)
{
    char *to = room(proto, TAG_BYTES + WEFT_PUT_VARINT_BYTES + value.n_bytes);
    if (to)
        filled(proto,
               weft_put_str(weft_put_varint(put_tag(to, field, LENGTH), value.n_bytes), value));
}

void weft_proto_string(struct weft_proto *proto, uint32_t field, struct weft_str value)
{
    if (weft_utf8_valid_prefix(value) == value.n_bytes) {
        weft_proto_bytes(proto, field, value);
        return;
    }
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_str clean = arena ? weft_utf8_clean(arena, value) : (struct weft_str){ 0 };
    proto->has_failed = proto->has_failed || !clean.bytes;
    weft_proto_bytes(proto, field, clean);
    weft_arena_free(arena);
}

size_t weft_proto_begin(struct weft_proto *proto, uint32_t field)
{
    char *to = room(proto, TAG_BYTES + LENGTH_BYTES);
    if (to)
        filled(proto, put_tag(to, field, LENGTH) + LENGTH_BYTES);
    return proto->n;
}

void weft_proto_end(struct weft_proto *proto, size_t mark)
{
    size_t n_bytes = proto->n - mark;
    if (n_bytes > LENGTH_MAX)
        proto->has_failed = true;
    if (proto->has_failed)
        return;
    char *to = proto->bytes + mark - LENGTH_BYTES;
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        to[i] = (char)((n_bytes >> 7 * i & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}
