/* SPDX-License-Identifier: MIT
 *
 * Random CTF: field classes, their declaration in both notations, values, the bits that they are
 * written as, one at a time, and the JSON that they should become. It shares no code with the
 * decoder.
 */
#ifndef WEFT_TESTS_CTF_BUILDER_H
#define WEFT_TESTS_CTF_BUILDER_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CB_BITS = 1 << 18, CB_TEXT = 1 << 17, CB_MEMBERS = 6 };

enum cb_kind {
    CB_INT,
    CB_FLOAT,
    CB_STRING,
    CB_TEXT_ARRAY,
    CB_STRUCT,
    CB_ARRAY,
    CB_SEQUENCE,
    CB_VARIANT,
    CB_VARINT,
    CB_OPTIONAL,
    CB_KINDS
};

struct cb_node {
    enum cb_kind kind;
    unsigned n_bits, align;
    bool is_signed, is_big;
    unsigned length;                   /* ARRAY, TEXT_ARRAY */
    unsigned n_parts;                  /* STRUCT: members; VARIANT: options */
    struct cb_node *parts[CB_MEMBERS]; /* ARRAY, SEQUENCE, OPTIONAL: the first is the element */
};

struct cb_text {
    char bytes[CB_TEXT];
    size_t n;
};

struct cb {
    uint64_t state;              /* of the random numbers */
    bool is_big, is_json;        /* native order; notation */
    unsigned char bits[CB_BITS]; /* 0 or 1: by byte, the lowest bit first; all 0 to begin with */
    size_t at;                   /* bit to write next */
    struct cb_text tsdl, json, value;
};

static void cb_add(struct cb_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void cb_add(struct cb_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n_new = vsnprintf(text->bytes + text->n, CB_TEXT - text->n, format, args);
    va_end(args);
    if (n_new < 0 || (size_t)n_new >= CB_TEXT - text->n)
        abort();
    text->n += (size_t)n_new;
}

/* splitmix64 */
static uint64_t cb_random(struct cb *cb)
{
    uint64_t z = cb->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static unsigned cb_below(struct cb *cb, unsigned n)
{
    return (unsigned)(cb_random(cb) % n);
}

/* ---- classes -------------------------------------------------------------------------------- */

/* Fields that share a byte with others have the native order. */
static void cb_make_int(struct cb *cb, struct cb_node *node)
{
    node->n_bits = 1 + cb_below(cb, 64);
    if (cb_below(cb, 2))
        node->n_bits = 8u << cb_below(cb, 4);
    node->align = 1u << cb_below(cb, 7);
    node->is_signed = cb_below(cb, 2);
    node->is_big = cb->is_big;
    if (node->n_bits % 8 == 0 && node->align >= 8)
        node->is_big = cb_below(cb, 2);
}

static struct cb_node *cb_make(struct cb *cb, unsigned depth)
{
    struct cb_node *node = calloc(1, sizeof *node);
    if (!node)
        abort();
    do
        node->kind = (enum cb_kind)cb_below(cb, CB_KINDS);
    while ((depth == 0 && node->kind >= CB_STRUCT && node->kind != CB_VARINT) ||
           (!cb->is_json && node->kind >= CB_VARINT));
    node->align = 8;
    if (node->kind == CB_INT) {
        cb_make_int(cb, node);
    } else if (node->kind == CB_FLOAT) {
        node->n_bits = cb_below(cb, 2) ? 32 : 64;
        node->align = 8u << cb_below(cb, 3);
        node->is_big = cb_below(cb, 2);
    } else if (node->kind == CB_STRUCT || node->kind == CB_VARIANT) {
        node->n_parts = 1 + cb_below(cb, CB_MEMBERS);
        node->align = 1u << cb_below(cb, 6);
    } else if (node->kind >= CB_ARRAY && node->kind != CB_VARINT) {
        node->n_parts = 1;
    } else if (node->kind == CB_VARINT) {
        node->is_signed = cb_below(cb, 2);
    }
    node->length = cb_below(cb, 5);
    for (unsigned k = 0; k < node->n_parts; k++)
        node->parts[k] = cb_make(cb, depth - 1);
    return node;
}

static void cb_free(struct cb_node *node)
{
    for (unsigned k = 0; k < node->n_parts; k++)
        cb_free(node->parts[k]);
    free(node);
}

/* ---- TSDL ----------------------------------------------------------------------------------- */

static void cb_put_tsdl(struct cb *cb, const struct cb_node *node, const char *name);

static void cb_put_tsdl_struct(struct cb *cb, const struct cb_node *node, const char *name)
{
    cb_add(&cb->tsdl, "struct { ");
    for (unsigned k = 0; k < node->n_parts; k++) {
        char part[16];
        (void)snprintf(part, sizeof part, "f%u", k);
        cb_put_tsdl(cb, node->parts[k], part);
    }
    cb_add(&cb->tsdl, "} align(%u) %s", node->align, name);
}

static void cb_put_tsdl_variant(struct cb *cb, const struct cb_node *node, const char *name)
{
    cb_add(&cb->tsdl, "enum : integer { size = 8; } { ");
    for (unsigned k = 0; k < node->n_parts; k++)
        cb_add(&cb->tsdl, "o%u = %u ... %u, ", k, k * 10, k * 10 + 9);
    cb_add(&cb->tsdl, "} _t%s; variant <_t%s> { ", name, name);
    for (unsigned k = 0; k < node->n_parts; k++) {
        char part[16];
        (void)snprintf(part, sizeof part, "o%u", k);
        cb_put_tsdl_struct(
            cb, &(struct cb_node){ .align = 1, .n_parts = 1, .parts = { node->parts[k] } }, part);
        cb_add(&cb->tsdl, "; ");
    }
    cb_add(&cb->tsdl, "} %s", name);
}

/* Elements are structures, so that lengths and tags can stand before what they are of. */
static void cb_put_tsdl_element(struct cb *cb, const struct cb_node *node)
{
    cb_put_tsdl_struct(
        cb, &(struct cb_node){ .align = 1, .n_parts = 1, .parts = { node->parts[0] } }, "");
}

static void cb_put_tsdl(struct cb *cb, const struct cb_node *node, const char *name)
{
    switch (node->kind) {
    case CB_INT:
        cb_add(&cb->tsdl, "integer { size = %u; align = %u; signed = %s; byte_order = %s; } %s",
               node->n_bits, node->align, node->is_signed ? "true" : "false",
               node->is_big ? "be" : "le", name);
        break;
    case CB_FLOAT:
        cb_add(&cb->tsdl,
               "floating_point { exp_dig = %u; mant_dig = %u; align = %u; byte_order = %s; } %s",
               node->n_bits == 32 ? 8 : 11, node->n_bits == 32 ? 24 : 53, node->align,
               node->is_big ? "be" : "le", name);
        break;
    case CB_STRING:
        cb_add(&cb->tsdl, "string %s", name);
        break;
    case CB_TEXT_ARRAY:
        cb_add(&cb->tsdl, "integer { size = 8; align = 8; encoding = UTF8; } %s[%u]", name,
               node->length);
        break;
    case CB_STRUCT:
        cb_put_tsdl_struct(cb, node, name);
        break;
    case CB_ARRAY:
        cb_put_tsdl_element(cb, node);
        cb_add(&cb->tsdl, " %s[%u]", name, node->length);
        break;
    case CB_SEQUENCE:
        cb_add(&cb->tsdl, "integer { size = 16; } _l%s; ", name);
        cb_put_tsdl_element(cb, node);
        cb_add(&cb->tsdl, " %s[_l%s]", name, name);
        break;
    case CB_VARIANT:
        cb_put_tsdl_variant(cb, node, name);
        break;
    default:
        abort();
    }
    cb_add(&cb->tsdl, "; ");
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void cb_put_json(struct cb *cb, const struct cb_node *node);

/* A member, behind the field that says its length or tag. */
static void cb_put_json_member(struct cb *cb, const struct cb_node *node, const char *name)
{
    const char helper = node->kind == CB_SEQUENCE ? 'l' : 't';
    if (node->kind == CB_SEQUENCE || node->kind == CB_VARIANT || node->kind == CB_OPTIONAL) {
        cb_add(&cb->json, "{\"name\":\"%c%s\",\"field-class\":", helper, name);
        cb_add(&cb->json,
               "{\"type\":\"fixed-length-unsigned-integer\",\"length\":%u,\"alignment\":8,"
               "\"byte-order\":\"%s\"}},",
               helper == 'l' ? 16 : 8, cb->is_big ? "big-endian" : "little-endian");
    }
    cb_add(&cb->json, "{\"name\":\"%s\",\"field-class\":", name);
    if (node->kind == CB_SEQUENCE)
        cb_add(&cb->json, "{\"type\":\"dynamic-length-array\",\"length-field-location\":[\"l%s\"],",
               name);
    else if (node->kind == CB_VARIANT)
        cb_add(&cb->json, "{\"type\":\"variant\",\"selector-field-location\":{\"path\":[\"t%s\"]},",
               name);
    else if (node->kind == CB_OPTIONAL)
        cb_add(&cb->json,
               "{\"type\":\"optional\",\"selector-field-location\":{\"path\":[\"t%s\"]},"
               "\"selector-field-ranges\":[[3,9],[200,255]],",
               name);
    cb_put_json(cb, node);
    cb_add(&cb->json, "}");
}

static void cb_put_json_struct(struct cb *cb, const struct cb_node *node)
{
    cb_add(&cb->json, "{\"type\":\"structure\",\"minimum-alignment\":%u,\"member-classes\":[",
           node->align);
    for (unsigned k = 0; k < node->n_parts; k++) {
        char part[16];
        (void)snprintf(part, sizeof part, "f%u", k);
        cb_add(&cb->json, "%s", k ? "," : "");
        cb_put_json_member(cb, node->parts[k], part);
    }
    cb_add(&cb->json, "]}");
}

static void cb_put_json_element(struct cb *cb, const struct cb_node *part)
{
    cb_put_json_struct(cb, &(struct cb_node){ .align = 1,
                                              .n_parts = 1,
                                              .parts = { (struct cb_node *)(uintptr_t)part } });
}

static void cb_put_json(struct cb *cb, const struct cb_node *node)
{
    const char *order = node->is_big ? "big-endian" : "little-endian";
    switch (node->kind) {
    case CB_INT:
        cb_add(&cb->json,
               "{\"type\":\"fixed-length-%ssigned-integer\",\"length\":%u,\"alignment\":%u,"
               "\"byte-order\":\"%s\"}",
               node->is_signed ? "" : "un", node->n_bits, node->align, order);
        break;
    case CB_FLOAT:
        cb_add(&cb->json,
               "{\"type\":\"fixed-length-floating-point-number\",\"length\":%u,\"alignment\":%u,"
               "\"byte-order\":\"%s\"}",
               node->n_bits, node->align, order);
        break;
    case CB_STRING:
        cb_add(&cb->json, "{\"type\":\"null-terminated-string\"}");
        break;
    case CB_TEXT_ARRAY:
        cb_add(&cb->json, "{\"type\":\"static-length-string\",\"length\":%u}", node->length);
        break;
    case CB_STRUCT:
        cb_put_json_struct(cb, node);
        break;
    case CB_VARINT:
        cb_add(&cb->json, "{\"type\":\"variable-length-%ssigned-integer\"}",
               node->is_signed ? "" : "un");
        break;
    case CB_ARRAY:
        cb_add(&cb->json, "{\"type\":\"static-length-array\",\"length\":%u,", node->length);
        __attribute__((fallthrough));
    case CB_SEQUENCE:
        cb_add(&cb->json, "\"element-field-class\":");
        cb_put_json_element(cb, node->parts[0]);
        cb_add(&cb->json, "}");
        break;
    case CB_OPTIONAL:
        cb_add(&cb->json, "\"field-class\":");
        cb_put_json_element(cb, node->parts[0]);
        cb_add(&cb->json, "}");
        break;
    case CB_VARIANT:
        cb_add(&cb->json, "\"options\":[");
        for (unsigned k = 0; k < node->n_parts; k++) {
            cb_add(&cb->json,
                   "%s{\"selector-field-ranges\":[[%u,%u]],\"field-class\":", k ? "," : "", k * 10,
                   k * 10 + 9);
            cb_put_json_element(cb, node->parts[k]);
            cb_add(&cb->json, "}");
        }
        cb_add(&cb->json, "]}");
        break;
    case CB_KINDS:
        abort();
    }
}

/* ---- bits ----------------------------------------------------------------------------------- */

static void cb_align(struct cb *cb, unsigned align)
{
    cb->at = (cb->at + align - 1) / align * align;
}

/* CTF 1.8.3, 4.1.5: little endian fills bytes from their lowest bit, big endian from the highest.
 */
static void cb_put_bits(struct cb *cb, uint64_t value, unsigned n_bits, bool is_big)
{
    if (cb->at + n_bits > CB_BITS)
        abort();
    for (unsigned k = 0; k < n_bits; k++, cb->at++) {
        const unsigned place = is_big ? n_bits - 1 - k : k;
        const size_t in_byte = cb->at % 8;
        cb->bits[cb->at - in_byte + (is_big ? 7 - in_byte : in_byte)] =
            (unsigned char)(value >> place & 1);
    }
}

static size_t cb_bytes(const struct cb *cb, uint8_t *bytes)
{
    const size_t n_bytes = (cb->at + 7) / 8;
    for (size_t k = 0; k < n_bytes; k++) {
        bytes[k] = 0;
        for (unsigned bit = 0; bit < 8; bit++)
            bytes[k] = (uint8_t)(bytes[k] | (cb->bits[8 * k + bit] & 1) << bit);
    }
    return n_bytes;
}

/* What alignment a class has, with all that is in it. */
static unsigned cb_align_of(const struct cb_node *node);

/* Of what stands in a structure for this field: with its length or tag. */
static unsigned cb_member_align(const struct cb_node *node)
{
    const unsigned align = cb_align_of(node);
    const bool has_helper =
        node->kind == CB_SEQUENCE || node->kind == CB_VARIANT || node->kind == CB_OPTIONAL;
    return has_helper && align < 8 ? 8 : align;
}

static unsigned cb_align_of(const struct cb_node *node)
{
    unsigned align = node->kind == CB_VARIANT || node->kind == CB_OPTIONAL ||
                             node->kind == CB_ARRAY || node->kind == CB_SEQUENCE
                         ? 1
                         : node->align;
    if (node->kind == CB_VARIANT || node->kind == CB_OPTIONAL)
        return align;
    for (unsigned k = 0; k < node->n_parts; k++)
        if (cb_member_align(node->parts[k]) > align)
            align = cb_member_align(node->parts[k]);
    return align;
}

/* ---- values: bits and the JSON they become --------------------------------------------------- */

static void cb_put_value(struct cb *cb, const struct cb_node *node);

static void cb_put_int(struct cb *cb, unsigned n_bits, bool is_signed, bool is_big)
{
    uint64_t value = cb_random(cb) >> cb_below(cb, 64);
    if (cb_below(cb, 4) == 0)
        value = ~value;
    const uint64_t mask = n_bits == 64 ? UINT64_MAX : (UINT64_C(1) << n_bits) - 1;
    value &= mask;
    cb_put_bits(cb, value, n_bits, is_big);
    if (is_signed && value >> (n_bits - 1) & 1)
        cb_add(&cb->value, "%" PRId64, (int64_t)(value | ~mask));
    else
        cb_add(&cb->value, "%" PRIu64, value);
}

static void cb_put_float(struct cb *cb, const struct cb_node *node)
{
    const double number = ((double)cb_below(cb, 2000) - 1000) / 8;
    const float narrow = (float)number;
    uint64_t bits = 0;
    uint32_t narrow_bits;
    memcpy(&bits, &number, sizeof bits);
    memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
    cb_put_bits(cb, node->n_bits == 32 ? narrow_bits : bits, node->n_bits, node->is_big);
    cb_add(&cb->value, "%.17g", number);
}

/* LEB128, as long as it may be. */
static void cb_put_varint(struct cb *cb, bool is_signed)
{
    uint64_t value = cb_random(cb) >> cb_below(cb, 64);
    cb_add(&cb->value, is_signed ? "%" PRId64 : "%" PRIu64, value);
    for (bool has_more = true; has_more;) {
        const uint64_t low = value & 0x7f;
        value = is_signed ? (uint64_t)((int64_t)value >> 7) : value >> 7;
        has_more = is_signed
                       ? !((value == 0 && !(low & 0x40)) || (value == UINT64_MAX && (low & 0x40)))
                       : value != 0;
        cb_put_bits(cb, low | (has_more ? 0x80 : 0), 8, false);
    }
}

static void cb_put_text(struct cb *cb, unsigned n_text, unsigned n_room)
{
    cb_add(&cb->value, "\"");
    for (unsigned k = 0; k < n_room; k++) {
        const char byte = k < n_text ? (char)('a' + cb_below(cb, 26)) : '\0';
        cb_put_bits(cb, (uint8_t)byte, 8, false);
        if (byte)
            cb_add(&cb->value, "%c", byte);
    }
    cb_add(&cb->value, "\"");
}

static void cb_put_struct(struct cb *cb, const struct cb_node *node)
{
    cb_align(cb, cb_align_of(node));
    cb_add(&cb->value, "{");
    for (unsigned k = 0; k < node->n_parts; k++) {
        const struct cb_node *part = node->parts[k];
        const char helper = part->kind == CB_SEQUENCE ? 'l' : 't';
        cb_add(&cb->value, "%s", k ? "," : "");
        if (part->kind == CB_SEQUENCE || part->kind == CB_VARIANT || part->kind == CB_OPTIONAL) {
            const unsigned number = part->kind == CB_SEQUENCE  ? cb_below(cb, 4)
                                    : part->kind == CB_VARIANT ? cb_below(cb, part->n_parts * 10)
                                                               : cb_below(cb, 256);
            cb_align(cb, 8);
            cb_put_bits(cb, number, helper == 'l' ? 16 : 8, cb->is_big);
            if (helper == 't' && !cb->is_json)
                cb_add(&cb->value, "\"tf%u\":\"o%u\",", k, number / 10);
            else
                cb_add(&cb->value, "\"%cf%u\":%u,", helper, k, number);
            /* The writer needs it as the decoder does. */
            ((struct cb_node *)(uintptr_t)part)->length = number;
        }
        cb_add(&cb->value, "\"f%u\":", k);
        cb_put_value(cb, part);
    }
    cb_add(&cb->value, "}");
}

static void cb_put_element(struct cb *cb, struct cb_node *part)
{
    cb_put_struct(
        cb, &(struct cb_node){ .kind = CB_STRUCT, .align = 1, .n_parts = 1, .parts = { part } });
}

static void cb_put_value(struct cb *cb, const struct cb_node *node)
{
    const unsigned length = node->length;
    cb_align(cb, cb_align_of(node));
    switch (node->kind) {
    case CB_INT:
        cb_put_int(cb, node->n_bits, node->is_signed, node->is_big);
        break;
    case CB_FLOAT:
        cb_put_float(cb, node);
        break;
    case CB_VARINT:
        cb_put_varint(cb, node->is_signed);
        break;
    case CB_STRING: {
        const unsigned n_text = cb_below(cb, 9);
        cb_put_text(cb, n_text, n_text + 1);
        break;
    }
    case CB_TEXT_ARRAY:
        cb_put_text(cb, cb_below(cb, node->length + 1), node->length);
        break;
    case CB_STRUCT:
        cb_put_struct(cb, node);
        break;
    case CB_ARRAY:
    case CB_SEQUENCE:
        cb_add(&cb->value, "[");
        for (unsigned k = 0; k < length; k++) {
            cb_add(&cb->value, "%s", k ? "," : "");
            cb_put_element(cb, node->parts[0]);
        }
        cb_add(&cb->value, "]");
        break;
    case CB_OPTIONAL:
        if ((length >= 3 && length <= 9) || length >= 200)
            cb_put_element(cb, node->parts[0]);
        else
            cb_add(&cb->value, "null");
        break;
    case CB_VARIANT:
        cb_put_element(cb, node->parts[length / 10]);
        break;
    case CB_KINDS:
        abort();
    }
}

#endif
