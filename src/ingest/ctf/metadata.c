/* SPDX-License-Identifier: MIT
 *
 * Turns the metadata file into text (packets are unpacked and joined, either byte order) and gives
 * it to the parser of its notation. The size of the file and of everything that is built from it is
 * limited. Compressed or encrypted metadata is refused.
 */
#include "ingest/ctf/metadata.h"

#include "base/cursor.h"
#include "base/vec.h"
#include "ingest/ctf/json.h"
#include "ingest/ctf/tsdl.h"

#include <inttypes.h>

enum {
    PACKET_HEAD_BYTES = 37,
    VERSION_OFF = 35,
    MOST_BYTES = 1 << 28, /* of metadata; real ones have less than 1 MB */
    MOST_ARENA_FACTOR = 64,
    ARENA_BASE_BYTES = 1 << 20,
};

#define PACKET_MAGIC UINT32_C(0x75d11d57)

/* ---- packets -------------------------------------------------------------------------------- */

struct packet {
    uint64_t content_bytes, packet_bytes; /* with the head */
    uint8_t compression, encryption, checksum_scheme, major, minor;
};

static uint32_t load_u32(const uint8_t *bytes, bool is_big)
{
    return is_big ? __builtin_bswap32(weft_load_u32(bytes)) : weft_load_u32(bytes);
}

static bool is_packeted(const uint8_t *bytes, size_t n_bytes, bool *is_big)
{
    *is_big = n_bytes >= 4 && load_u32(bytes, true) == PACKET_MAGIC;
    return *is_big || (n_bytes >= 4 && load_u32(bytes, false) == PACKET_MAGIC);
}

static struct packet packet_load(const uint8_t *head, bool is_big)
{
    return (struct packet){
        .content_bytes = load_u32(head + 24, is_big) / 8,
        .packet_bytes = load_u32(head + 28, is_big) / 8,
        .compression = head[32],
        .encryption = head[33],
        .checksum_scheme = head[34],
        .major = head[35],
        .minor = head[36],
    };
}

static enum weft_code packet_check(const struct packet *packet, const struct weft_cursor *in,
                                   uint64_t at_off, struct weft_err *err)
{
    const uint64_t n_left = weft_cur_left(in) + PACKET_HEAD_BYTES;
    if (!((packet->major == 1 && packet->minor == 8) || (packet->major == 2 && packet->minor == 0)))
        return weft_fail(err, WEFT_E_UNSUPPORTED, at_off + VERSION_OFF,
                         "expected metadata of version 1.8 or 2.0, found %u.%u", packet->major,
                         packet->minor);
    if (packet->compression || packet->encryption)
        return weft_fail(err, WEFT_E_UNSUPPORTED, at_off,
                         "expected metadata as plain text, found them compressed or encrypted");
    if (packet->content_bytes < PACKET_HEAD_BYTES || packet->packet_bytes < packet->content_bytes)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected a packet of at least %" PRIu64 " bytes, found %" PRIu64,
                         packet->content_bytes > PACKET_HEAD_BYTES ? packet->content_bytes
                                                                   : PACKET_HEAD_BYTES,
                         packet->packet_bytes);
    if (packet->content_bytes > n_left)
        return weft_fail(err, WEFT_E_TRUNCATED, at_off,
                         "expected a packet of metadata of %" PRIu64 " bytes, %" PRIu64 " left",
                         packet->content_bytes, n_left);
    return WEFT_OK;
}

/* Joins the texts of the packets to one, in the arena. */
static enum weft_code unpack(const struct weft_mapped *file, bool is_big, struct weft_arena *arena,
                             struct weft_str *text, struct weft_err *err)
{
    struct weft_cursor in = weft_cur_init(file->bytes, (size_t)file->n_bytes, 0);
    char *joined = WEFT_ARENA_NEW(arena, (size_t)file->n_bytes, char);
    size_t n_joined = 0;
    if (!joined)
        return weft_no_memory(err, "the metadata");
    while (weft_cur_left(&in) > 0) {
        const uint64_t at_off = weft_cur_offset(&in);
        const uint8_t *head = weft_cur_take(&in, PACKET_HEAD_BYTES);
        if (!head || load_u32(head, is_big) != PACKET_MAGIC)
            return weft_fail(err, head ? WEFT_E_MALFORMED : WEFT_E_TRUNCATED, at_off,
                             "expected the head of a packet of metadata, found %s",
                             head ? "other bytes" : "the end of the file");
        const struct packet packet = packet_load(head, is_big);
        WEFT_TRY(packet_check(&packet, &in, at_off, err));
        const size_t n_content = (size_t)packet.content_bytes - PACKET_HEAD_BYTES;
        const uint64_t n_rest = packet.packet_bytes - PACKET_HEAD_BYTES;
        memcpy(joined + n_joined, in.at, n_content);
        n_joined += n_content;
        (void)weft_cur_take(&in, n_rest < weft_cur_left(&in) ? (size_t)n_rest : weft_cur_left(&in));
    }
    *text = (struct weft_str){ joined, n_joined };
    return WEFT_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static size_t space_bytes(const uint8_t *bytes, size_t n_bytes)
{
    size_t n_space = 0;
    while (n_space < n_bytes &&
           (bytes[n_space] == ' ' || (bytes[n_space] >= '\t' && bytes[n_space] <= '\r')))
        n_space++;
    return n_space;
}

/* RFC 7464 puts a record separator before each JSON text; some writers leave it out. */
static bool is_json(struct weft_str text)
{
    const size_t n_space = space_bytes((const uint8_t *)text.bytes, text.n_bytes);
    return n_space < text.n_bytes && (text.bytes[n_space] == '{' || text.bytes[n_space] == 0x1e);
}

static bool starts_with(const uint8_t *bytes, size_t n_bytes, const char *word)
{
    return n_bytes >= strlen(word) && memcmp(bytes, word, strlen(word)) == 0;
}

bool ctf_metadata_sniff(const uint8_t *bytes, size_t n_bytes)
{
    static const char *const words[] = {
        "/*",  "//",     "trace", "typealias", "typedef", "struct",
        "env", "stream", "event", "clock",     "enum",    "variant"
    };
    bool is_big;
    if (is_packeted(bytes, n_bytes, &is_big) ||
        is_json((struct weft_str){ (const char *)bytes, n_bytes }))
        return true;
    const size_t n_space = space_bytes(bytes, n_bytes);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (starts_with(bytes + n_space, n_bytes - n_space, words[k]))
            return true;
    return false;
}

enum weft_code ctf_metadata_read(const struct weft_mapped *file, struct ctf_metadata *meta,
                                 struct weft_err *err)
{
    struct weft_str text = { (const char *)file->bytes, (size_t)file->n_bytes };
    bool is_big;
    *meta = (struct ctf_metadata){ 0 };
    if (file->n_bytes == 0)
        return weft_fail(err, WEFT_E_TRUNCATED, 0, "expected metadata, found an empty file");
    if (file->n_bytes > MOST_BYTES)
        return weft_fail(err, WEFT_E_LIMIT, 0, "expected at most %d bytes of metadata", MOST_BYTES);
    meta->arena = weft_arena_new((size_t)file->n_bytes * MOST_ARENA_FACTOR + ARENA_BASE_BYTES);
    if (!meta->arena)
        return weft_no_memory(err, "the metadata");
    enum weft_code code = WEFT_OK;
    if (is_packeted(file->bytes, (size_t)file->n_bytes, &is_big))
        code = unpack(file, is_big, meta->arena, &text, err);
    if (code != WEFT_OK)
        return code;
    return is_json(text) ? ctf_json_parse(text, meta, err) : ctf_tsdl_parse(text, meta, err);
}

void ctf_metadata_fini(struct ctf_metadata *meta)
{
    for (size_t k = 0; k < meta->streams.n; k++) {
        weft_map_free(meta->streams.items[k].event_of_id);
        WEFT_VEC_FINI(&meta->streams.items[k].events);
    }
    WEFT_VEC_FINI(&meta->streams);
    WEFT_VEC_FINI(&meta->clocks);
    WEFT_VEC_FINI(&meta->env);
    weft_arena_free(meta->arena);
    *meta = (struct ctf_metadata){ 0 };
}
