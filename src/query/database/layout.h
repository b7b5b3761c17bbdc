/* SPDX-License-Identifier: MIT
 *
 * What writing and reading a block have in common. For database_block*.c.
 */
#ifndef WEFT_QUERY_DATABASE_LAYOUT_H
#define WEFT_QUERY_DATABASE_LAYOUT_H

#include "query/database/block.h"

enum { WEFT_DATABASE_BLOCK_CHECKSUM_BYTES = 8 };

/* A block has at least a byte for so many of its numbers, zeros at its end if need be: so memory to
 * read it is bounded by its size. */
enum { WEFT_DATABASE_BLOCK_NUMBERS_OF_BYTE = 16 };

/* How a metric's numbers are to be taken; those from WEFT_VALUES_PLUS_MORE on add, by turns, the ns
 * of a class, and a metric before. */
enum weft_values_form {
    WEFT_VALUES_DOUBLES,
    WEFT_VALUES_INTEGERS,
    WEFT_VALUES_PLUS_DURATION,
    WEFT_VALUES_PLUS_MORE
};

/* Entries of the sparse matrix in the order in which their ns are written: those of the first node
 * of the block's table, by execution, then those of the second. */
struct weft_database_layout {
    size_t n_nodes, n_entries; /* the caller's, as places */
    const uint32_t *places;    /* by entry: the node, as a place in the table */
    size_t *starts;            /* n_nodes + 1: of a node's in entries */
    size_t *entries;
};

/* Fills in the last two. False without memory. */
bool weft_database_layout_make(struct weft_database_layout *layout, struct weft_arena *arena);

#endif
