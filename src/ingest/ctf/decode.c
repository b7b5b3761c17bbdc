/* SPDX-License-Identifier: MIT
 *
 * The interpreter of plans (plan.h), run for each event: bit fields of any alignment and byte
 * order, strings, arrays, variants. Every length is checked against the bits left in the packet
 * before memory is reserved, and the number of values is limited. Recursion is bounded by the depth
 * of the plan.
 */
#include "ingest/ctf/decode.h"

#include "ingest/ctf/bits.h"

#include <stdlib.h>

static bool reserve(struct ctf_decoder *decoder, size_t n_values)
{
    if (n_values <= decoder->cap)
        return true;
    size_t cap = decoder->cap ? decoder->cap : 64;
    while (cap < n_values)
        cap *= 2;
    struct ctf_value *values = realloc(decoder->values, cap * sizeof *values);
    if (!values)
        return false;
    memset(values + decoder->cap, 0, (cap - decoder->cap) * sizeof *values);
    decoder->values = values;
    decoder->cap = cap;
    return true;
}

bool ctf_decoder_init(struct ctf_decoder *decoder, uint32_t n_slots)
{
    *decoder = (struct ctf_decoder){ .n_values = n_slots };
    return reserve(decoder, (size_t)n_slots + 1);
}

void ctf_decoder_fini(struct ctf_decoder *decoder)
{
    free(decoder->values);
    decoder->values = NULL;
}

/* ---- faults --------------------------------------------------------------------------------- */

__attribute__((noinline, cold)) static bool fail(struct ctf_decoder *decoder,
                                                 const struct ctf_op *op, const char *expected)
{
    decoder->fault =
        (struct ctf_fault){ .expected = expected, .name = op->name, .at_bits = decoder->at_bits };
    return false;
}

/* Moves to the operation's alignment; false beyond the end of the packet. */
static inline bool align(struct ctf_decoder *decoder, const struct ctf_op *op)
{
    const uint64_t at_bits = (decoder->at_bits + op->align_mask) & ~(uint64_t)op->align_mask;
    if (__builtin_expect(at_bits > decoder->end_bits, 0))
        return fail(decoder, op, "padding before a field");
    decoder->at_bits = at_bits;
    return true;
}

static inline uint64_t bits_left(const struct ctf_decoder *decoder)
{
    return decoder->end_bits - decoder->at_bits;
}

static inline struct ctf_value *slot_of(struct ctf_decoder *decoder, const struct ctf_op *op)
{
    return &decoder->values[decoder->frames[op->level] + op->slot];
}

static inline uint64_t told(const struct ctf_decoder *decoder, const struct ctf_op *op)
{
    return decoder->values[decoder->frames[op->ref_level] + op->ref_slot].number;
}

/* ---- integers ------------------------------------------------------------------------------- */

/* A field of less than 64 bits shows the low bits of the clock, which has passed zero at most once
 * since the last field. */
static void clock_move(struct ctf_decoder *decoder, const struct ctf_op *op, uint64_t value)
{
    const uint64_t mask = ctf_mask(op->n_bits ? op->n_bits : 64);
    const uint64_t low = decoder->clock & mask;
    if (value < low)
        value += mask + 1; /* of 64 bits: adds nothing */
    decoder->clock = (decoder->clock & ~mask) + value;
}

__attribute__((noinline)) static void integer_means(struct ctf_decoder *decoder,
                                                    const struct ctf_op *op, uint64_t value)
{
    if (op->is_clock)
        clock_move(decoder, op, value);
    if (op->role == CTF_ROLE_EVENT_ID)
        decoder->event_id = value;
    decoder->role_of[op->role] = value;
    decoder->roles |= UINT32_C(1) << op->role;
}

static inline void integer_put(struct ctf_decoder *decoder, const struct ctf_op *op, uint64_t value)
{
    if (op->is_signed)
        value = ctf_sign_extend(value, op->n_bits);
    slot_of(decoder, op)->number = value;
    if (op->is_clock || op->role)
        integer_means(decoder, op, value);
}

static inline uint64_t integer_read(const struct ctf_decoder *decoder, const struct ctf_op *op)
{
    if (op->kind == CTF_OP_BYTES)
        return ctf_bytes_read(decoder->bytes + decoder->at_bits / 8, op->n_bits, op->is_big);
    if (op->n_bits <= 57 && bits_left(decoder) >= 64)
        return ctf_bits_read_fast(decoder->bytes, decoder->at_bits, op->n_bits, op->is_big);
    return ctf_bits_read(decoder->bytes, decoder->at_bits, op->n_bits, op->is_big);
}

static bool take_varint(struct ctf_decoder *decoder, const struct ctf_op *op)
{
    uint64_t value = 0;
    unsigned n_bits = 0;
    for (bool has_more = true; has_more; n_bits += 7) {
        if (bits_left(decoder) < 8)
            return fail(decoder, op, "the rest of a number of variable length");
        const uint8_t byte = decoder->bytes[decoder->at_bits / 8];
        has_more = byte & 0x80;
        if (n_bits > 63 || (n_bits == 63 && (has_more || ((byte & 0x7f) > 1 && !op->is_signed))))
            return fail(decoder, op, "a number of variable length within 64 bits");
        value |= (uint64_t)(byte & 0x7f) << n_bits;
        decoder->at_bits += 8;
    }
    if (op->is_signed && n_bits < 64)
        value = ctf_sign_extend(value, n_bits);
    slot_of(decoder, op)->number = value;
    if (op->is_clock || op->role)
        integer_means(decoder, op, value);
    return true;
}

static bool take_float(struct ctf_decoder *decoder, const struct ctf_op *op)
{
    if (bits_left(decoder) < op->n_bits)
        return fail(decoder, op, "the rest of a float");
    const uint64_t raw = ctf_bits_read(decoder->bytes, decoder->at_bits, op->n_bits, op->is_big);
    uint64_t number = raw;
    if (op->n_bits == 32) {
        const uint32_t narrow = (uint32_t)raw;
        float single;
        memcpy(&single, &narrow, sizeof single);
        const double wide = (double)single;
        memcpy(&number, &wide, sizeof number);
    }
    slot_of(decoder, op)->number = number;
    decoder->at_bits += op->n_bits;
    return true;
}

/* ---- strings -------------------------------------------------------------------------------- */

/* The bytes up to the first NUL unit, or all. */
static size_t text_bytes(const uint8_t *bytes, size_t n_bytes, unsigned n_char_bytes)
{
    static const uint8_t zeros[4];
    if (n_char_bytes <= 1) {
        const uint8_t *end = n_bytes ? memchr(bytes, 0, n_bytes) : NULL;
        return end ? (size_t)(end - bytes) : n_bytes;
    }
    for (size_t k = 0; k + n_char_bytes <= n_bytes; k += n_char_bytes)
        if (memcmp(bytes + k, zeros, n_char_bytes) == 0)
            return k;
    return n_bytes;
}

static bool take_string(struct ctf_decoder *decoder, const struct ctf_op *op)
{
    const unsigned n_char_bytes = op->class->n_char_bytes ? op->class->n_char_bytes : 1;
    const uint8_t *bytes = decoder->bytes + decoder->at_bits / 8;
    const size_t n_left = (size_t)(bits_left(decoder) / 8);
    const size_t n_text = text_bytes(bytes, n_left, n_char_bytes);
    if (n_left < n_char_bytes || n_text > n_left - n_char_bytes)
        return fail(decoder, op, "the NUL at the end of a string");
    struct ctf_value *value = slot_of(decoder, op);
    value->bytes = (const char *)bytes;
    value->n = n_text;
    decoder->at_bits += ((uint64_t)n_text + n_char_bytes) * 8;
    return true;
}

static bool take_text(struct ctf_decoder *decoder, const struct ctf_op *op)
{
    const uint64_t length = op->is_told ? told(decoder, op) : op->length;
    if (length > bits_left(decoder) / 8)
        return fail(decoder, op, "the rest of a text");
    const uint8_t *bytes = decoder->bytes + decoder->at_bits / 8;
    struct ctf_value *value = slot_of(decoder, op);
    value->bytes = (const char *)bytes;
    value->n = op->class->kind == CTF_BLOB
                   ? length
                   : text_bytes(bytes, (size_t)length, op->class->n_char_bytes);
    decoder->at_bits += length * 8;
    return true;
}

/* ---- compounds ------------------------------------------------------------------------------ */

static bool run(struct ctf_decoder *decoder, const struct ctf_op *ops, uint32_t begin,
                uint32_t end);

static bool take_array(struct ctf_decoder *decoder, const struct ctf_op *ops,
                       const struct ctf_op *op)
{
    const uint64_t length = op->is_told ? told(decoder, op) : op->length;
    const size_t first = decoder->n_values;
    const uint32_t begin = (uint32_t)(op - ops) + 1;
    if (op->element_bits && length > bits_left(decoder) / op->element_bits)
        return fail(decoder, op, "the rest of an array");
    if (!op->element_bits && length > CTF_MOST_EMPTY)
        return fail(decoder, op, "an array of fewer elements that take no bits");
    size_t n_new;
    if (__builtin_mul_overflow(length, op->element_slots, &n_new) ||
        n_new > CTF_MOST_VALUES - (first < CTF_MOST_VALUES ? first : CTF_MOST_VALUES))
        return fail(decoder, op, "an array of fewer elements");
    if (!reserve(decoder, first + n_new)) {
        decoder->fault.is_no_memory = true;
        return false;
    }
    struct ctf_value *value = slot_of(decoder, op);
    value->first = first;
    value->n = length;
    decoder->n_values = first + n_new;
    for (uint64_t k = 0; k < length; k++) {
        decoder->frames[op->level + 1] = (uint32_t)(first + k * op->element_slots);
        if (!run(decoder, ops, begin, op->next))
            return false;
    }
    return true;
}

static const struct ctf_option *option_of(const struct ctf_op *op, uint64_t tag)
{
    for (uint32_t k = 0; k < op->n_options; k++) {
        const struct ctf_option *option = &op->options[k];
        if (op->is_ref_signed
                ? (int64_t)tag >= (int64_t)option->first && (int64_t)tag <= (int64_t)option->last
                : tag >= option->first && tag <= option->last)
            return option;
    }
    return NULL;
}

static bool take_choice(struct ctf_decoder *decoder, const struct ctf_op *ops,
                        const struct ctf_op *op)
{
    const struct ctf_option *option = option_of(op, told(decoder, op));
    struct ctf_value *value = slot_of(decoder, op);
    value->n = option != NULL;
    if (!option)
        return op->kind == CTF_OP_OPTIONAL || fail(decoder, op, "a tag that is an option's");
    value->first = option->begin;
    return run(decoder, ops, option->begin, option->end);
}

static bool take_other(struct ctf_decoder *decoder, const struct ctf_op *ops,
                       const struct ctf_op *op)
{
    switch ((enum ctf_op_kind)op->kind) {
    case CTF_OP_FLOAT:
        return take_float(decoder, op);
    case CTF_OP_VARINT:
        return take_varint(decoder, op);
    case CTF_OP_ARRAY:
        return take_array(decoder, ops, op);
    case CTF_OP_VARIANT:
    case CTF_OP_OPTIONAL:
        return take_choice(decoder, ops, op);
    case CTF_OP_STRING:
        return take_string(decoder, op);
    case CTF_OP_TEXT:
        return take_text(decoder, op);
    case CTF_OP_STRUCT:
    case CTF_OP_BYTES:
    case CTF_OP_BITS:
        break;
    }
    return true;
}

/* Operations [begin, end) and their parts. Depth is bounded by that of the plan. */
static bool run(struct ctf_decoder *decoder, const struct ctf_op *ops, uint32_t begin, uint32_t end)
{
    for (uint32_t k = begin; k < end;) {
        const struct ctf_op *op = &ops[k];
        if (!align(decoder, op))
            return false;
        if (op->kind == CTF_OP_STRUCT) {
            k++;
            continue;
        }
        if (op->kind == CTF_OP_BYTES || op->kind == CTF_OP_BITS) {
            if (__builtin_expect(bits_left(decoder) < op->n_bits, 0))
                return fail(decoder, op, "the rest of an integer");
            integer_put(decoder, op, integer_read(decoder, op));
            decoder->at_bits += op->n_bits;
        } else if (!take_other(decoder, ops, op)) {
            return false;
        }
        k = op->next;
    }
    return true;
}

bool ctf_decode(struct ctf_decoder *decoder, const struct ctf_plan *plan)
{
    return run(decoder, plan->ops, 0, plan->n_ops);
}
