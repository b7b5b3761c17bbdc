/* SPDX-License-Identifier: MIT
 *
 * Formats decoded values as JSON, guided by the plan of the event. Recursion follows the plan,
 * whose depth is limited. Called for events that are kept as instants only, in the second pass.
 */
#include "ingest/ctf/payload.h"

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
        weft_json_string(&payload->text, range->label.bytes, range->label.n_bytes);
    else if (op->class->is_bool)
        weft_json_put(&payload->text, number ? "true" : "false", number ? 4 : 5);
    else
        weft_json_integer(&payload->text, number, op->is_signed);
}

static void put_blob(struct ctf_payload *payload, const struct ctf_value *value)
{
    weft_json_byte(&payload->text, '[');
    for (uint64_t k = 0; k < value->n; k++) {
        if (k)
            weft_json_byte(&payload->text, ',');
        weft_json_unsigned(&payload->text, (uint8_t)value->bytes[k]);
    }
    weft_json_byte(&payload->text, ']');
}

static void put_value(struct ctf_payload *payload, const struct ctf_op *ops, uint32_t at,
                      const struct ctf_value *values, size_t frame);

static void put_members(struct ctf_payload *payload, const struct ctf_op *ops, uint32_t at,
                        const struct ctf_value *values, size_t frame)
{
    weft_json_byte(&payload->text, '{');
    for (uint32_t k = at + 1; k < ops[at].next; k = ops[k].next) {
        if (k > at + 1)
            weft_json_byte(&payload->text, ',');
        weft_json_string(&payload->text, ops[k].name.bytes, ops[k].name.n_bytes);
        weft_json_byte(&payload->text, ':');
        put_value(payload, ops, k, values, frame);
    }
    weft_json_byte(&payload->text, '}');
}

static void put_array(struct ctf_payload *payload, const struct ctf_op *ops, uint32_t at,
                      const struct ctf_value *values, const struct ctf_value *array)
{
    weft_json_byte(&payload->text, '[');
    for (uint64_t k = 0; k < array->n; k++) {
        if (k)
            weft_json_byte(&payload->text, ',');
        put_value(payload, ops, at + 1, values, (size_t)(array->first + k * ops[at].element_slots));
    }
    weft_json_byte(&payload->text, ']');
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
        weft_json_double(&payload->text, ctf_value_double(value));
        break;
    case CTF_OP_STRING:
    case CTF_OP_TEXT:
        if (op->class->kind == CTF_BLOB)
            put_blob(payload, value);
        else
            weft_json_string(&payload->text, value->bytes, value->n);
        break;
    case CTF_OP_ARRAY:
        put_array(payload, ops, at, values, value);
        break;
    case CTF_OP_VARIANT:
    case CTF_OP_OPTIONAL:
        if (value->n)
            put_value(payload, ops, (uint32_t)value->first, values, frame);
        else
            weft_json_put(&payload->text, "null", 4);
        break;
    case CTF_OP_STRUCT:
        break;
    }
}

void ctf_payload_begin(struct ctf_payload *payload)
{
    weft_json_reset(&payload->text);
    weft_json_byte(&payload->text, '{');
}

void ctf_payload_add(struct ctf_payload *payload, const struct ctf_plan *plan,
                     const struct ctf_value *values, bool (*hides)(const struct ctf_op *op))
{
    for (uint32_t k = 1; k < plan->n_ops; k = plan->ops[k].next) {
        if (hides && hides(&plan->ops[k]))
            continue;
        if (payload->text.n_bytes > 1)
            weft_json_byte(&payload->text, ',');
        weft_json_string(&payload->text, plan->ops[k].name.bytes, plan->ops[k].name.n_bytes);
        weft_json_byte(&payload->text, ':');
        put_value(payload, plan->ops, k, values, 0);
    }
}

struct weft_str ctf_payload_end(struct ctf_payload *payload)
{
    if (payload->text.has_failed || payload->text.n_bytes <= 1)
        return (struct weft_str){ 0 };
    weft_json_byte(&payload->text, '}');
    return (struct weft_str){ payload->text.bytes, payload->text.n_bytes };
}

void ctf_payload_fini(struct ctf_payload *payload)
{
    weft_json_fini(&payload->text);
}
