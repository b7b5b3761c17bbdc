/* SPDX-License-Identifier: MIT */
#include "ingest/ctf/payload.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool reserve(struct ctf_payload *payload, size_t n_bytes)
{
    if (payload->has_failed || n_bytes <= payload->cap - payload->n_bytes)
        return !payload->has_failed;
    size_t cap = payload->cap ? payload->cap * 2 : 1024;
    while (cap - payload->n_bytes < n_bytes)
        cap *= 2;
    char *bytes = realloc(payload->bytes, cap);
    payload->has_failed = bytes == NULL;
    if (!bytes)
        return false;
    payload->bytes = bytes;
    payload->cap = cap;
    return true;
}

static void put(struct ctf_payload *payload, const char *bytes, size_t n_bytes)
{
    if (!reserve(payload, n_bytes))
        return;
    memcpy(payload->bytes + payload->n_bytes, bytes, n_bytes);
    payload->n_bytes += n_bytes;
}

static void put_byte(struct ctf_payload *payload, char byte)
{
    put(payload, &byte, 1);
}

static void put_unsigned(struct ctf_payload *payload, uint64_t number)
{
    char text[20];
    size_t at = sizeof text;
    do {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    put(payload, text + at, sizeof text - at);
}

static void put_integer(struct ctf_payload *payload, uint64_t number, bool is_signed)
{
    const bool is_minus = is_signed && (int64_t)number < 0;
    if (is_minus)
        put_byte(payload, '-');
    put_unsigned(payload, is_minus ? 0 - number : number);
}

/* JSON has neither infinities nor "not a number". */
static void put_double(struct ctf_payload *payload, double number)
{
    char text[40];
    const int n_text = isfinite(number) ? snprintf(text, sizeof text, "%.17g", number)
                                        : snprintf(text, sizeof text, "null");
    put(payload, text, (size_t)n_text);
}

/* Bytes that are no UTF-8 stay as they are: a payload is bytes. */
static void put_text(struct ctf_payload *payload, const char *bytes, uint64_t n_bytes)
{
    static const char digits[] = "0123456789abcdef";
    put_byte(payload, '"');
    uint64_t plain = 0;
    for (uint64_t k = 0; k < n_bytes; k++) {
        const unsigned char byte = (unsigned char)bytes[k];
        if (byte >= 32 && byte != '"' && byte != '\\')
            continue;
        put(payload, bytes + plain, (size_t)(k - plain));
        plain = k + 1;
        if (byte >= 32) {
            const char escaped[] = { '\\', (char)byte };
            put(payload, escaped, sizeof escaped);
        } else {
            const char escaped[] = { '\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15] };
            put(payload, escaped, sizeof escaped);
        }
    }
    put(payload, bytes + plain, (size_t)(n_bytes - plain));
    put_byte(payload, '"');
}

static const struct ctf_range *range_of(const struct ctf_op *op, uint64_t number)
{
    for (uint32_t k = 0; k < op->class->n_ranges; k++) {
        const struct ctf_range *range = &op->class->ranges[k];
        if (op->is_signed ? (int64_t)number >= (int64_t)range->first &&
                                (int64_t)number <= (int64_t)range->last
                          : number >= range->first && number <= range->last)
            return range;
    }
    return NULL;
}

static void put_number(struct ctf_payload *payload, const struct ctf_op *op, uint64_t number)
{
    const struct ctf_range *range = op->class->is_enum ? range_of(op, number) : NULL;
    if (range)
        put_text(payload, range->label.bytes, range->label.n_bytes);
    else if (op->class->is_bool)
        put(payload, number ? "true" : "false", number ? 4 : 5);
    else
        put_integer(payload, number, op->is_signed);
}

static void put_blob(struct ctf_payload *payload, const struct ctf_value *value)
{
    put_byte(payload, '[');
    for (uint64_t k = 0; k < value->n; k++) {
        if (k)
            put_byte(payload, ',');
        put_unsigned(payload, (uint8_t)value->bytes[k]);
    }
    put_byte(payload, ']');
}

static void put_value(struct ctf_payload *payload, const struct ctf_op *ops, uint32_t at,
                      const struct ctf_value *values, size_t frame);

static void put_members(struct ctf_payload *payload, const struct ctf_op *ops, uint32_t at,
                        const struct ctf_value *values, size_t frame)
{
    put_byte(payload, '{');
    for (uint32_t k = at + 1; k < ops[at].next; k = ops[k].next) {
        if (k > at + 1)
            put_byte(payload, ',');
        put_text(payload, ops[k].name.bytes, ops[k].name.n_bytes);
        put_byte(payload, ':');
        put_value(payload, ops, k, values, frame);
    }
    put_byte(payload, '}');
}

static void put_array(struct ctf_payload *payload, const struct ctf_op *ops, uint32_t at,
                      const struct ctf_value *values, const struct ctf_value *array)
{
    put_byte(payload, '[');
    for (uint64_t k = 0; k < array->n; k++) {
        if (k)
            put_byte(payload, ',');
        put_value(payload, ops, at + 1, values, (size_t)(array->first + k * ops[at].element_slots));
    }
    put_byte(payload, ']');
}

static void put_value(struct ctf_payload *payload, const struct ctf_op *ops, uint32_t at,
                      const struct ctf_value *values, size_t frame)
{
    const struct ctf_op *op = &ops[at];
    if (op->kind == CTF_OP_STRUCT) {
        put_members(payload, ops, at, values, frame);
        return;
    }
    const struct ctf_value *value = &values[frame + op->slot];
    switch ((enum ctf_op_kind)op->kind) {
    case CTF_OP_BYTES:
    case CTF_OP_BITS:
    case CTF_OP_VARINT:
        put_number(payload, op, value->number);
        break;
    case CTF_OP_FLOAT:
        put_double(payload, ctf_value_double(value));
        break;
    case CTF_OP_STRING:
    case CTF_OP_TEXT:
        if (op->class->kind == CTF_BLOB)
            put_blob(payload, value);
        else
            put_text(payload, value->bytes, value->n);
        break;
    case CTF_OP_ARRAY:
        put_array(payload, ops, at, values, value);
        break;
    case CTF_OP_VARIANT:
    case CTF_OP_OPTIONAL:
        if (value->n)
            put_value(payload, ops, (uint32_t)value->first, values, frame);
        else
            put(payload, "null", 4);
        break;
    case CTF_OP_STRUCT:
        break;
    }
}

void ctf_payload_begin(struct ctf_payload *payload)
{
    payload->n_bytes = 0;
    payload->has_failed = false;
    put_byte(payload, '{');
}

void ctf_payload_add(struct ctf_payload *payload, const struct ctf_plan *plan,
                     const struct ctf_value *values, bool (*hides)(const struct ctf_op *op))
{
    for (uint32_t k = 1; k < plan->n_ops; k = plan->ops[k].next) {
        if (hides && hides(&plan->ops[k]))
            continue;
        if (payload->n_bytes > 1)
            put_byte(payload, ',');
        put_text(payload, plan->ops[k].name.bytes, plan->ops[k].name.n_bytes);
        put_byte(payload, ':');
        put_value(payload, plan->ops, k, values, 0);
    }
}

struct weft_str ctf_payload_end(struct ctf_payload *payload)
{
    if (payload->has_failed || payload->n_bytes <= 1)
        return (struct weft_str){ 0 };
    put_byte(payload, '}');
    return (struct weft_str){ payload->bytes, payload->n_bytes };
}

void ctf_payload_fini(struct ctf_payload *payload)
{
    free(payload->bytes);
    *payload = (struct ctf_payload){ 0 };
}
