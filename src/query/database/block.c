/* SPDX-License-Identifier: MIT
 *
 * Executions in memory, and what version 1 had: one in a row of its table.
 */
#include "query/database/block.h"

#include "base/vec.h"
#include "query/database/layout.h"

#include <math.h>
#include <xxhash.h>

/* ---- in memory ------------------------------------------------------------------------------- */

bool weft_database_block_is_full(const struct weft_database_block *block)
{
    return block->rows.n >= WEFT_DATABASE_BLOCK_ROWS || block->nodes.n >= WEFT_DATABASE_BLOCK_NODES;
}

static bool reserve(struct weft_database_block *block, size_t n_nodes, size_t n_values)
{
    return weft_vec_reserve(&block->rows.items, &block->rows.cap, block->rows.n + 1,
                            sizeof *block->rows.items) &&
           weft_vec_reserve(&block->nodes.items, &block->nodes.cap, block->nodes.n + n_nodes,
                            sizeof *block->nodes.items) &&
           weft_vec_reserve(&block->ns.items, &block->ns.cap, block->ns.n + n_nodes,
                            sizeof *block->ns.items) &&
           weft_vec_reserve(&block->values.items, &block->values.cap, block->values.n + n_values,
                            sizeof *block->values.items);
}

bool weft_database_block_add(struct weft_database_block *block,
                             const struct weft_database_block_row *row)
{
    if (!reserve(block, row->n_nodes, row->n_values))
        return false;
    for (size_t i = 0; i < row->n_nodes; i++) {
        block->nodes.items[block->nodes.n++] = row->nodes[i];
        block->ns.items[block->ns.n++] = row->ns[i];
    }
    for (size_t i = 0; i < row->n_values; i++)
        block->values.items[block->values.n++] = row->values[i];
    block->rows.items[block->rows.n++] = (struct weft_database_block_head){
        .flags = row->flags,
        .thread = row->thread,
        .tid = row->tid,
        .start_ns = row->start_ns,
        .nodes_end = block->nodes.n,
        .values_end = block->values.n,
    };
    return true;
}

struct weft_database_block_row weft_database_block_row(const struct weft_database_block *block,
                                                       size_t i)
{
    const struct weft_database_block_head *row = &block->rows.items[i];
    const size_t nodes = i ? row[-1].nodes_end : 0, values = i ? row[-1].values_end : 0;
    return (struct weft_database_block_row){
        .flags = row->flags,
        .thread = row->thread,
        .tid = row->tid,
        .start_ns = row->start_ns,
        .nodes = block->nodes.n ? block->nodes.items + nodes : NULL,
        .ns = block->nodes.n ? block->ns.items + nodes : NULL,
        .n_nodes = row->nodes_end - nodes,
        .values = block->values.n ? block->values.items + values : NULL,
        .n_values = row->values_end - values,
    };
}

uint64_t weft_database_block_row_end_ns(const struct weft_database_block_row *row)
{
    uint64_t end_ns = row->start_ns;
    for (size_t i = 0; i < row->n_nodes; i++)
        end_ns += row->ns[i];
    return end_ns;
}

void weft_database_block_reset(struct weft_database_block *block)
{
    block->rows.n = block->nodes.n = block->ns.n = block->values.n = 0;
}

void weft_database_block_fini(struct weft_database_block *block)
{
    WEFT_VEC_FINI(&block->rows);
    WEFT_VEC_FINI(&block->nodes);
    WEFT_VEC_FINI(&block->ns);
    WEFT_VEC_FINI(&block->values);
}

/* ---- by node --------------------------------------------------------------------------------- */

bool weft_database_layout_make(struct weft_database_layout *layout, struct weft_arena *arena)
{
    layout->starts = WEFT_ARENA_NEW(arena, layout->n_nodes + 1, size_t);
    layout->entries = WEFT_ARENA_NEW(arena, layout->n_entries, size_t);
    if (!layout->starts || !layout->entries)
        return false;
    for (size_t i = 0; i < layout->n_entries; i++)
        layout->starts[layout->places[i]]++;
    size_t at = 0;
    for (size_t i = 0; i <= layout->n_nodes; i++) {
        const size_t n = layout->starts[i];
        layout->starts[i] = at;
        at += n;
    }
    for (size_t i = 0; i < layout->n_entries; i++)
        layout->entries[layout->starts[layout->places[i]]++] = i;
    for (size_t i = layout->n_nodes; i > 0; i--) /* each stands at its end now */
        layout->starts[i] = layout->starts[i - 1];
    layout->starts[0] = 0;
    return true;
}

/* ---- version 1 ------------------------------------------------------------------------------- */

static enum weft_code bad(struct weft_err *err, const struct weft_cursor *cur, const char *what)
{
    return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(cur),
                     "expected %s of an execution, found other bytes", what);
}

static enum weft_code read_nodes(struct weft_cursor *cur, uint64_t start_ns,
                                 struct weft_database_block *block, struct weft_err *err)
{
    const uint64_t n = weft_cur_varint_max(cur, weft_cur_left(cur) / 2);
    uint64_t node = 0, end_ns = start_ns;
    for (uint64_t i = 0; i < n && !cur->fault; i++) {
        const uint64_t delta = weft_cur_varint_max(cur, UINT32_MAX);
        const uint64_t ns = weft_cur_varint(cur);
        node += delta;
        if (cur->fault || delta == 0 || node > UINT32_MAX || ns == 0 ||
            __builtin_add_overflow(end_ns, ns, &end_ns))
            return bad(err, cur, "a node");
        uint32_t *to_node = WEFT_VEC_PUSH(&block->nodes);
        uint64_t *to_ns = WEFT_VEC_PUSH(&block->ns);
        if (!to_node || !to_ns)
            return weft_no_memory(err, "an execution");
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

static enum weft_code read_values(struct weft_cursor *cur, struct weft_database_block *block,
                                  struct weft_err *err)
{
    const size_t n_before = block->values.n;
    uint64_t metric = 0;
    while (weft_cur_left(cur) && !cur->fault) {
        const uint64_t head = weft_cur_varint_max(cur, (uint64_t)UINT32_MAX << 1 | 1);
        const double value = read_value(cur, head & 1);
        metric += head >> 1;
        if (cur->fault || metric > UINT32_MAX || isnan(value) ||
            (block->values.n > n_before && head >> 1 == 0))
            return bad(err, cur, "a metric");
        struct weft_database_block_value *to = WEFT_VEC_PUSH(&block->values);
        if (!to)
            return weft_no_memory(err, "an execution");
        *to = (struct weft_database_block_value){ (uint32_t)metric, value };
    }
    return WEFT_OK;
}

static enum weft_code read_row(struct weft_cursor *cur, struct weft_database_block *block,
                               struct weft_err *err)
{
    const uint16_t sum = weft_cur_u16(cur);
    if (cur->fault || sum != (uint16_t)XXH3_64bits(cur->at, weft_cur_left(cur)))
        return bad(err, cur, "the checksum");
    struct weft_database_block_head row = { 0 };
    row.flags = (uint32_t)weft_cur_varint_max(cur, UINT32_MAX);
    row.tid = weft_cur_varint(cur);
    row.thread = (uint32_t)weft_cur_varint_max(cur, UINT32_MAX);
    row.start_ns = weft_cur_varint(cur);
    if (cur->fault)
        return bad(err, cur, "the thread");
    enum weft_code code = read_nodes(cur, row.start_ns, block, err);
    WEFT_THEN(code, read_values(cur, block, err));
    if (code != WEFT_OK)
        return code;
    row.nodes_end = block->nodes.n;
    row.values_end = block->values.n;
    struct weft_database_block_head *to = WEFT_VEC_PUSH(&block->rows);
    if (!to)
        return weft_no_memory(err, "an execution");
    *to = row;
    return WEFT_OK;
}

enum weft_code weft_database_block_decode_1(const uint8_t *bytes, size_t n_bytes,
                                            struct weft_database_block *block, struct weft_err *err)
{
    struct weft_cursor cur = weft_cur_init(bytes, n_bytes, 0);
    const size_t n_nodes = block->nodes.n, n_values = block->values.n;
    const enum weft_code code = read_row(&cur, block, err);
    if (code != WEFT_OK) {
        block->nodes.n = block->ns.n = n_nodes;
        block->values.n = n_values;
    }
    return code;
}
