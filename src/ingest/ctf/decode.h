/* SPDX-License-Identifier: MIT
 *
 * Runs plans over the bits of one packet. Values are 16 bytes each:
 *
 *     integer, varint   number (two's complement if signed)
 *     float             number: the bits of a double
 *     string, text      bytes, n: within the packet; no NUL
 *     array             first: value of the first element in `values`; n elements, element_slots
 *                       values each
 *     variant, optional first: operation that was chosen; n: 0 if an optional is not there
 */
#ifndef WEFT_INGEST_CTF_DECODE_H
#define WEFT_INGEST_CTF_DECODE_H

#include "ingest/ctf/plan.h"

struct ctf_value {
    union {
        uint64_t number;
        const char *bytes;
        uint64_t first;
    };
    uint64_t n;
};

/* More values than this in one event are an attack: 64 MiB. */
enum { CTF_MOST_VALUES = 1 << 22, CTF_MOST_EMPTY = 1 << 12 };

/* What a failed run expected and where. */
struct ctf_fault {
    const char *expected; /* "the rest of a field"; NULL: no fault */
    struct weft_str name; /* of the field */
    uint64_t at_bits;     /* in the packet */
    bool is_no_memory;
};

struct ctf_decoder {
    const uint8_t *bytes; /* of the packet */
    uint64_t at_bits, end_bits;
    struct ctf_value *values; /* frame 0, then arrays */
    size_t n_values, cap;
    uint64_t clock;    /* cycles of the stream's clock */
    uint64_t event_id; /* the last one decoded */
    uint64_t role_of[CTF_ROLES];
    uint32_t roles; /* bits of the roles seen since the caller cleared them */
    uint32_t frames[CTF_MAX_DEPTH + 1];
    struct ctf_fault fault;
};

/* Room for the slots of frame 0. */
bool ctf_decoder_init(struct ctf_decoder *decoder, uint32_t n_slots);
void ctf_decoder_fini(struct ctf_decoder *decoder);

/* Decodes one scope at decoder->at_bits; an empty plan decodes nothing. False: decoder->fault. */
bool ctf_decode(struct ctf_decoder *decoder, const struct ctf_plan *plan);

static inline double ctf_value_double(const struct ctf_value *value)
{
    double number;
    memcpy(&number, &value->number, sizeof number);
    return number;
}

#endif
