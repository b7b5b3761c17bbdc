/* SPDX-License-Identifier: MIT
 *
 * Indexes the packets of a stream file when it is opened and iterates over their events. After
 * damage the next packet is searched for by its magic number, at most 4,096 times for each file,
 * and must have the metadata's UUID. Lost packets and events are derived from the counters in
 * packet contexts.
 */
#include "ingest/ctf/packets.h"

#include "base/vec.h"

#include <stdlib.h>

#define MAGIC UINT32_C(0xc1fc1fc1)

enum {
    IS_BIG_HERE = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
    MOST_TRIES = 4096, /* places looked at for a packet behind damage, in one file */
};

static void tally_add(struct ctf_file *file, enum ctf_remark remark, uint64_t count,
                      uint64_t at_off)
{
    struct ctf_tally *tally = &file->remarks[remark];
    if (tally->count == 0)
        tally->at_off = at_off;
    tally->count += count;
}

static void damage_add(struct ctf_file *file, uint64_t n_bytes, uint64_t at_off,
                       const char *expected)
{
    tally_add(file, CTF_BAD_BYTES, n_bytes, at_off);
    if (!file->first_damage)
        file->first_damage = expected;
}

/* ---- one packet's header and context --------------------------------------------------------- */

static bool has_role(const struct ctf_decoder *decoder, enum ctf_role role)
{
    return decoder->roles >> role & 1;
}

static bool find_stream(const struct ctf_file *file, uint32_t *stream)
{
    const struct ctf_trace_plan *plan = file->plan;
    const struct ctf_decoder *decoder = &file->decoder;
    const uint64_t id =
        has_role(decoder, CTF_ROLE_STREAM_ID) ? decoder->role_of[CTF_ROLE_STREAM_ID] : 0;
    for (size_t k = 0; k < plan->n_streams; k++)
        if (plan->streams[k].class->id == id) {
            *stream = (uint32_t)k;
            return true;
        }
    *stream = 0;
    return !has_role(decoder, CTF_ROLE_STREAM_ID) && plan->n_streams == 1;
}

/* What is wrong with the head of a packet at `at_off`; NULL: nothing. Afterwards the decoder stands
 * behind its context. */
static const char *head_decode(struct ctf_file *file, uint64_t at_off, uint32_t *stream)
{
    struct ctf_decoder *decoder = &file->decoder;
    decoder->bytes = file->file.bytes + at_off;
    decoder->at_bits = 0;
    decoder->end_bits = (file->file.n_bytes - at_off) * 8;
    decoder->roles = 0;
    decoder->fault = (struct ctf_fault){ 0 };
    decoder->n_values = file->n_slots;
    if (!ctf_decode(decoder, &file->plan->packet_header))
        return "a packet header";
    if (has_role(decoder, CTF_ROLE_MAGIC) && decoder->role_of[CTF_ROLE_MAGIC] != MAGIC)
        return "the magic number of a packet (0xc1fc1fc1)";
    if (!find_stream(file, stream))
        return "a declared stream";
    if (!ctf_decode(decoder, &file->plan->streams[*stream].packet_context))
        return "a packet context";
    return NULL;
}

static uint64_t role_or(const struct ctf_decoder *decoder, enum ctf_role role, uint64_t otherwise)
{
    return has_role(decoder, role) ? decoder->role_of[role] : otherwise;
}

/* Sizes; without any the packet is all that is left. */
static const char *sizes_read(struct ctf_file *file, struct ctf_packet *packet)
{
    const struct ctf_decoder *decoder = &file->decoder;
    const uint64_t left_bits = (file->file.n_bytes - packet->at_off) * 8;
    const uint64_t size_bits =
        role_or(decoder, CTF_ROLE_PACKET_SIZE, role_or(decoder, CTF_ROLE_CONTENT_SIZE, left_bits));
    packet->content_bits = role_or(decoder, CTF_ROLE_CONTENT_SIZE, size_bits);
    if (size_bits == 0 || size_bits % 8 != 0)
        return "a packet of whole bytes";
    if (packet->content_bits > size_bits)
        return "content within its packet";
    if (packet->content_bits < decoder->at_bits)
        return "content behind the packet context";
    packet->n_bytes = size_bits / 8;
    return NULL;
}

static const char *packet_read(struct ctf_file *file, uint64_t at_off, struct ctf_packet *packet)
{
    *packet = (struct ctf_packet){ .at_off = at_off };
    const char *expected = head_decode(file, at_off, &packet->stream);
    const struct ctf_decoder *decoder = &file->decoder;
    if (expected)
        return expected;
    packet->has_begin = has_role(decoder, CTF_ROLE_BEGIN);
    packet->has_end = has_role(decoder, CTF_ROLE_END);
    packet->begin = role_or(decoder, CTF_ROLE_BEGIN, 0);
    packet->end = role_or(decoder, CTF_ROLE_END, 0);
    return sizes_read(file, packet);
}

/* ---- all packets ----------------------------------------------------------------------------- */

/* The counters of two packets that follow each other show what is missing between them. */
struct counters {
    uint64_t sequence, discarded;
    bool has_sequence, has_discarded;
};

static void counters_look(struct ctf_file *file, const struct ctf_packet *packet,
                          struct counters *before)
{
    const struct ctf_decoder *decoder = &file->decoder;
    const bool has_sequence = has_role(decoder, CTF_ROLE_SEQUENCE);
    const uint64_t sequence = decoder->role_of[CTF_ROLE_SEQUENCE];
    const uint64_t discarded = decoder->role_of[CTF_ROLE_DISCARDED];
    if (has_sequence && before->has_sequence && sequence > before->sequence + 1)
        tally_add(file, CTF_LOST_PACKETS, sequence - before->sequence - 1, packet->at_off);
    if (has_role(decoder, CTF_ROLE_DISCARDED)) {
        /* The counter runs from the start of tracing: in the first packet of a trace that was cut
         * it counts events from before the cut. */
        const uint64_t base = before->has_discarded          ? before->discarded
                              : has_sequence && sequence > 0 ? discarded
                                                             : 0;
        if (discarded > base)
            tally_add(file, CTF_LOST_EVENTS, discarded - base, packet->at_off);
        before->discarded = discarded;
        before->has_discarded = true;
    }
    before->sequence = sequence;
    before->has_sequence = has_sequence;
}

/* Files of another trace are read like their own; but a packet that is searched for behind damage
 * must have the UUID of the metadata, if its header has any. */
static bool is_same_uuid(const struct ctf_file *file)
{
    const struct ctf_metadata *meta = file->plan->meta;
    const struct ctf_op *op = ctf_plan_find(&file->plan->packet_header, "uuid");
    if (!op || !meta->has_uuid)
        return true;
    const struct ctf_value *value = &file->decoder.values[op->slot];
    if (op->kind == CTF_OP_TEXT)
        return value->n != 16 || memcmp(value->bytes, meta->uuid, 16) == 0;
    if (op->kind != CTF_OP_ARRAY || value->n != 16 || op->element_slots != 1)
        return true;
    for (unsigned k = 0; k < 16; k++)
        if ((uint8_t)file->decoder.values[value->first + k].number != meta->uuid[k])
            return false;
    return true;
}

/* Where the next packet may begin behind damage at `at_off`; the end of the file if nowhere. Only
 * packets with a magic number can be found again, and the number of tries is limited. */
static uint64_t find_next(struct ctf_file *file, uint64_t at_off)
{
    const struct ctf_op *op = ctf_plan_find(&file->plan->packet_header, "magic");
    struct ctf_packet packet;
    if (!op)
        return file->file.n_bytes;
    const uint32_t magic = op->is_big == IS_BIG_HERE ? MAGIC : __builtin_bswap32(MAGIC);
    for (uint64_t off = at_off + 1; off < file->file.n_bytes && file->n_tries < MOST_TRIES; off++) {
        const uint8_t *at = memmem(file->file.bytes + off, (size_t)(file->file.n_bytes - off),
                                   &magic, sizeof magic);
        if (!at)
            break;
        off = (uint64_t)(at - file->file.bytes);
        file->n_tries++;
        if (!packet_read(file, off, &packet) && is_same_uuid(file))
            return off;
    }
    return file->file.n_bytes;
}

static enum weft_code packet_add(struct ctf_file *file, struct ctf_packet *packet,
                                 struct weft_err *err)
{
    const uint64_t n_left = file->file.n_bytes - packet->at_off;
    if (packet->n_bytes > n_left) {
        tally_add(file, CTF_MISSING_BYTES, packet->n_bytes - n_left, file->file.n_bytes);
        packet->n_bytes = n_left;
        if (packet->content_bits > n_left * 8)
            packet->content_bits = n_left * 8;
    }
    struct ctf_packet *place = WEFT_VEC_PUSH(&file->packets);
    if (!place)
        return weft_no_memory(err, "packets");
    *place = *packet;
    return WEFT_OK;
}

static enum weft_code find_packets(struct ctf_file *file, struct weft_err *err)
{
    struct counters counters = { 0 };
    for (uint64_t at_off = 0; at_off < file->file.n_bytes;) {
        struct ctf_packet packet;
        const char *expected = packet_read(file, at_off, &packet);
        if (file->decoder.fault.is_no_memory)
            return weft_no_memory(err, "packets");
        if (expected) {
            const uint64_t next_off = find_next(file, at_off);
            damage_add(file, next_off - at_off, at_off, expected);
            at_off = next_off;
            continue;
        }
        counters_look(file, &packet, &counters);
        WEFT_TRY(packet_add(file, &packet, err));
        at_off += file->packets.items[file->packets.n - 1].n_bytes;
    }
    return WEFT_OK;
}

static int compare_packets(const void *a_void, const void *b_void)
{
    const struct ctf_packet *a = a_void;
    const struct ctf_packet *b = b_void;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->at_off > b->at_off) - (a->at_off < b->at_off);
}

/* A ring buffer that was read out may begin in its middle. */
static void order_packets(struct ctf_file *file)
{
    bool is_sorted = true;
    for (size_t k = 0; k < file->packets.n; k++) {
        const struct ctf_packet *packet = &file->packets.items[k];
        if (!packet->has_begin)
            return;
        is_sorted &= k == 0 || packet[-1].begin <= packet->begin;
    }
    if (!is_sorted)
        qsort(file->packets.items, file->packets.n, sizeof *file->packets.items, compare_packets);
}

enum weft_code ctf_file_open(const struct ctf_trace_plan *plan, const struct weft_mapped *mapped,
                             const char *name, struct ctf_file *file, struct weft_err *err)
{
    uint32_t n_slots = plan->n_packet_slots;
    for (size_t k = 0; k < plan->n_streams; k++)
        n_slots = plan->streams[k].n_slots > n_slots ? plan->streams[k].n_slots : n_slots;
    *file = (struct ctf_file){ .plan = plan, .file = *mapped, .name = name, .n_slots = n_slots };
    if (!ctf_decoder_init(&file->decoder, n_slots))
        return weft_no_memory(err, "packets");
    const enum weft_code code = find_packets(file, err);
    order_packets(file);
    memcpy(file->opened, file->remarks, sizeof file->opened);
    ctf_file_rewind(file);
    return code;
}

void ctf_file_rewind(struct ctf_file *file)
{
    memcpy(file->remarks, file->opened, sizeof file->remarks);
    file->decoder.clock = 0;
    file->n_opened = 0;
    file->packet = NULL;
}

void ctf_file_close(struct ctf_file *file)
{
    WEFT_VEC_FINI(&file->packets);
    ctf_decoder_fini(&file->decoder);
}

/* ---- events --------------------------------------------------------------------------------- */

/* The rest of the packet from the event in work on is lost. */
static void packet_drop(struct ctf_file *file, const char *expected)
{
    const struct ctf_packet *packet = file->packet;
    const uint64_t at_off = packet->at_off + file->event_bits / 8;
    const uint64_t end_off = packet->at_off + (packet->content_bits + 7) / 8;
    if (!file->first_damage)
        file->first_fault = file->decoder.fault;
    damage_add(file, end_off > at_off ? end_off - at_off : 1, at_off, expected);
    file->packet = NULL;
}

static void packet_open(struct ctf_file *file)
{
    const struct ctf_packet *packet = &file->packets.items[file->n_opened++];
    uint32_t stream;
    file->decoder.event_id = 0;
    if (head_decode(file, packet->at_off, &stream))
        return; /* without memory: it was read before */
    file->packet = packet;
    file->stream = &file->plan->streams[stream];
    file->packet_values = (uint32_t)file->decoder.n_values;
    file->decoder.end_bits = packet->content_bits;
}

static const struct ctf_event_plan *find_event(const struct ctf_file *file)
{
    const struct ctf_stream_plan *stream = file->stream;
    const uint64_t id =
        has_role(&file->decoder, CTF_ROLE_EVENT_ID) ? file->decoder.event_id : stream->lone_event;
    if (id < stream->n_of_id)
        return stream->of_id[id];
    const uint32_t index = weft_map_find(stream->class->event_of_id, id);
    return index == WEFT_MAP_NONE ? NULL : &stream->events[index];
}

static bool header_decode(struct ctf_file *file)
{
    struct ctf_decoder *decoder = &file->decoder;
    file->event_bits = decoder->at_bits;
    decoder->n_values = file->packet_values;
    decoder->roles &= ~(UINT32_C(1) << CTF_ROLE_EVENT_ID);
    if (!ctf_decode(decoder, &file->stream->event_header)) {
        packet_drop(file, decoder->fault.expected);
        return false;
    }
    file->event = find_event(file);
    if (!file->event)
        packet_drop(file, "the number of a declared event");
    return file->event != NULL;
}

enum weft_code ctf_file_next(struct ctf_file *file, bool *is_end, struct weft_err *err)
{
    *is_end = false;
    for (;;) {
        if (file->packet && file->decoder.at_bits >= file->decoder.end_bits)
            file->packet = NULL;
        if (!file->packet) {
            if (file->n_opened == file->packets.n) {
                *is_end = true;
                return WEFT_OK;
            }
            packet_open(file);
        } else if (header_decode(file)) {
            return WEFT_OK;
        }
        if (file->decoder.fault.is_no_memory)
            return weft_no_memory(err, "packets");
    }
}

enum weft_code ctf_file_event(struct ctf_file *file, bool *is_good, struct weft_err *err)
{
    struct ctf_decoder *decoder = &file->decoder;
    *is_good = ctf_decode(decoder, &file->stream->event_context) &&
               ctf_decode(decoder, &file->event->context) &&
               ctf_decode(decoder, &file->event->fields);
    if (decoder->fault.is_no_memory)
        return weft_no_memory(err, "packets");
    if (!*is_good) {
        packet_drop(file, decoder->fault.expected);
    } else if (decoder->at_bits == file->event_bits) {
        *is_good = false;
        packet_drop(file, "an event of at least one bit");
    }
    return WEFT_OK;
}
