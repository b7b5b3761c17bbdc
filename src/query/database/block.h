/* SPDX-License-Identifier: MIT
 *
 * Executions as the database keeps them: some hundreds in one row of a table, column by column
 * (docs/database.md, "blocks.bytes"), where each takes a few bits more than what is new in it.
 */
#ifndef WEFT_QUERY_DATABASE_BLOCK_H
#define WEFT_QUERY_DATABASE_BLOCK_H

#include "base/arena.h"
#include "base/error.h"
#include "query/database/column.h"

struct weft_database_block_value {
    uint32_t metric;
    double value; /* no NAN */
};

/* Numbers of nodes, threads and metrics are those of the database. */
struct weft_database_block_row {
    uint32_t flags; /* enum weft_execution_flag */
    uint32_t thread;
    uint64_t tid;
    uint64_t start_ns;
    const uint32_t *nodes; /* ascending strictly, none is 0 */
    const uint64_t *ns;    /* of each node; none is 0; their sum is the duration */
    size_t n_nodes;
    const struct weft_database_block_value *values; /* by metric, ascending strictly */
    size_t n_values;
};

/* Executions in memory; all zero is empty. Used again and again. */
struct weft_database_block {
    struct {
        struct weft_database_block_head {
            uint32_t flags, thread;
            uint64_t tid, start_ns;
            size_t nodes_end, values_end; /* in the following; they begin where those before end */
        } * items;
        size_t n, cap;
    } rows;
    struct {
        uint32_t *items;
        size_t n, cap;
    } nodes;
    struct {
        uint64_t *items;
        size_t n, cap;
    } ns;
    struct {
        struct weft_database_block_value *items;
        size_t n, cap;
    } values;
};

/* A block is written when it has that many executions or nodes. */
enum { WEFT_DATABASE_BLOCK_ROWS = 2048, WEFT_DATABASE_BLOCK_NODES = 1 << 15 };

bool weft_database_block_is_full(const struct weft_database_block *block);

/* Adds a copy. False without memory. */
bool weft_database_block_add(struct weft_database_block *block,
                             const struct weft_database_block_row *row);

/* Row i, until the block changes. */
struct weft_database_block_row weft_database_block_row(const struct weft_database_block *block,
                                                       size_t i);

/* The end of an execution: its start and all ns of its nodes. */
uint64_t weft_database_block_row_end_ns(const struct weft_database_block_row *row);

void weft_database_block_reset(struct weft_database_block *block);
void weft_database_block_fini(struct weft_database_block *block);

/* What nodes have in common whose times may make up a metric, by node: 0 for those that are not in
 * here. It makes blocks smaller, and nothing else. */
struct weft_database_block_classes {
    const uint32_t *items;
    size_t n;
};

/* Replaces what `bytes` holds; the block has one row at least. The arena is reset. False without
 * memory. O(n log n) of what is in the block. */
bool weft_database_block_encode(const struct weft_database_block *block,
                                const struct weft_database_block_classes *classes,
                                struct weft_arena *arena, struct weft_blob_bytes *bytes);

/* Adds the executions in any bytes; memory is O(n_bytes), with a factor of 2,000 at most. The arena
 * is reset. WEFT_E_MALFORMED for what is not from weft_database_block_encode, WEFT_E_NOMEM; then
 * the block holds what it held. */
WEFT_CHECKED enum weft_code weft_database_block_decode(const uint8_t *bytes, size_t n_bytes,
                                                       struct weft_arena *arena,
                                                       struct weft_database_block *block,
                                                       struct weft_err *err);

/* The same of a row of version 1: one execution. */
WEFT_CHECKED enum weft_code weft_database_block_decode_1(const uint8_t *bytes, size_t n_bytes,
                                                         struct weft_database_block *block,
                                                         struct weft_err *err);

#endif
