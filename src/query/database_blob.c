/* SPDX-License-Identifier: MIT */
#include "query/database_blob.h"

#include "base/cursor.h"
#include "base/vec.h"

#include <math.h>
#include <xxhash.h>

enum { CHECKSUM_BYTES = 2 };

/* Numbers beyond this are not integers for sure. */
#define MOST_INTEGER 9007199254740992.0

static uint16_t checksum(const uint8_t *bytes, size_t n_bytes)
{
    return (uint16_t)XXH3_64bits(bytes, n_bytes);
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool put(struct weft_blob_bytes *bytes, uint8_t byte)
{
    uint8_t *at = WEFT_VEC_PUSH(bytes);
    if (at)
        *at = byte;
    return at != NULL;
}

static bool put_varint(struct weft_blob_bytes *bytes, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        if (!put(bytes, (uint8_t)(value | 0x80)))
            return false;
    return put(bytes, (uint8_t)value);
}

/* The metric's distance to the one before, doubled, and 1 if eight bytes of a double follow; else
 * the value follows as a signed integer. */
static bool put_value(struct weft_blob_bytes *bytes, uint64_t delta, double value)
{
    const bool is_integer =
        fabs(value) < MOST_INTEGER && value == trunc(value) && !(value == 0 && signbit(value));
    if (!put_varint(bytes, delta << 1 | !is_integer))
        return false;
    if (is_integer) {
        const int64_t number = (int64_t)value;
        return put_varint(bytes, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (unsigned i = 0; i < 8; i++)
        if (!put(bytes, (uint8_t)(bits >> (8 * i))))
            return false;
    return true;
}

bool weft_blob_encode(const struct weft_blob_execution *execution, struct weft_blob_bytes *bytes)
{
    bytes->n = 0;
    bool is_good = put(bytes, 0) && put(bytes, 0) && put_varint(bytes, execution->flags) &&
                   put_varint(bytes, execution->tid) && put_varint(bytes, execution->thread) &&
                   put_varint(bytes, execution->start_ns) && put_varint(bytes, execution->nodes.n);
    uint32_t before = 0;
    for (size_t i = 0; is_good && i < execution->nodes.n; i++) {
        is_good = put_varint(bytes, execution->nodes.items[i] - before) &&
                  put_varint(bytes, execution->ns.items[i]);
        before = execution->nodes.items[i];
    }
    before = 0;
    for (size_t i = 0; is_good && i < execution->values.n; i++) {
        const struct weft_blob_value *value = &execution->values.items[i];
        is_good = put_value(bytes, value->metric - before, value->value);
        before = value->metric;
    }
    if (!is_good)
        return false;
    const uint16_t sum = checksum(bytes->items + CHECKSUM_BYTES, bytes->n - CHECKSUM_BYTES);
    bytes->items[0] = (uint8_t)sum;
    bytes->items[1] = (uint8_t)(sum >> 8);
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum weft_code bad(struct weft_err *err, const struct weft_cursor *cur, const char *what)
{
    return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(cur),
                     "expected %s of an execution, found other bytes", what);
}

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for an execution");
}

static enum weft_code read_nodes(struct weft_cursor *cur, uint32_t n_nodes,
                                 struct weft_blob_execution *execution, struct weft_err *err)
{
    const uint64_t n = weft_cur_varint_max(cur, weft_cur_left(cur) / 2);
    uint64_t node = 0, end_ns = execution->start_ns;
    for (uint64_t i = 0; i < n && !cur->fault; i++) {
        const uint64_t delta = weft_cur_varint_max(cur, UINT32_MAX);
        const uint64_t ns = weft_cur_varint(cur);
        node += delta;
        if (cur->fault || delta == 0 || node >= n_nodes || ns == 0 ||
            __builtin_add_overflow(end_ns, ns, &end_ns))
            return bad(err, cur, "a node");
        uint32_t *to_node = WEFT_VEC_PUSH(&execution->nodes);
        uint64_t *to_ns = WEFT_VEC_PUSH(&execution->ns);
        if (!to_node || !to_ns)
            return no_memory(err);
        *to_node = (uint32_t)node;
        *to_ns = ns;
    }
    return cur->fault ? bad(err, cur, "nodes") : WEFT_OK;
}

static double read_value(struct weft_cursor *cur, bool is_double)
{
    double value;
    if (!is_double)
        return (double)weft_cur_svarint(cur);
    const uint64_t bits = weft_cur_u64(cur);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static enum weft_code read_values(struct weft_cursor *cur, uint32_t n_metrics,
                                  struct weft_blob_execution *execution, struct weft_err *err)
{
    uint64_t metric = 0;
    while (weft_cur_left(cur) && !cur->fault) {
        const uint64_t head = weft_cur_varint_max(cur, (uint64_t)UINT32_MAX << 1 | 1);
        const double value = read_value(cur, head & 1);
        metric += head >> 1;
        if (cur->fault || metric >= n_metrics || isnan(value) ||
            (execution->values.n && head >> 1 == 0))
            return bad(err, cur, "a metric");
        struct weft_blob_value *to = WEFT_VEC_PUSH(&execution->values);
        if (!to)
            return no_memory(err);
        *to = (struct weft_blob_value){ (uint32_t)metric, value };
    }
    return WEFT_OK;
}

enum weft_code weft_blob_decode(const uint8_t *bytes, size_t n_bytes,
                                const struct weft_blob_limits *limits,
                                struct weft_blob_execution *execution, struct weft_err *err)
{
    struct weft_cursor cur = weft_cur_init(bytes, n_bytes, 0);
    execution->nodes.n = execution->ns.n = execution->values.n = 0;
    const uint16_t sum = weft_cur_u16(&cur);
    if (cur.fault || sum != checksum(cur.at, weft_cur_left(&cur)))
        return bad(err, &cur, "the checksum");
    execution->flags = (uint32_t)weft_cur_varint_max(&cur, UINT32_MAX);
    execution->tid = weft_cur_varint(&cur);
    const uint64_t thread = weft_cur_varint_max(&cur, UINT32_MAX);
    execution->start_ns = weft_cur_varint(&cur);
    if (cur.fault || thread >= limits->n_threads)
        return bad(err, &cur, "the thread");
    execution->thread = (uint32_t)thread;
    enum weft_code code = read_nodes(&cur, limits->n_nodes, execution, err);
    return code == WEFT_OK ? read_values(&cur, limits->n_metrics, execution, err) : code;
}

uint64_t weft_blob_end_ns(const struct weft_blob_execution *execution)
{
    uint64_t end_ns = execution->start_ns;
    for (size_t i = 0; i < execution->ns.n; i++)
        end_ns += execution->ns.items[i];
    return end_ns;
}

void weft_blob_execution_fini(struct weft_blob_execution *execution)
{
    WEFT_VEC_FINI(&execution->nodes);
    WEFT_VEC_FINI(&execution->ns);
    WEFT_VEC_FINI(&execution->values);
}
