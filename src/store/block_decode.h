/* SPDX-License-Identifier: MIT
 *
 * Rebuilds the calls of a block from its columns. Safe on any bytes: what does not fit is an error.
 */
#ifndef WEFT_STORE_BLOCK_DECODE_H
#define WEFT_STORE_BLOCK_DECODE_H

#include "store/block.h"

/* Columns before and after. */
struct weft_block_decode {
    const struct weft_block_head *head;
    const uint8_t *columns[WEFT_BLOCK_COLUMNS]; /* decompressed */
    const uint32_t *function_ids; /* by dictionary index; 256 or 65,536 elements, as indexes go */
    uint32_t n_open;              /* calls open at the start, cut frames too */

    uint64_t *start_ns; /* n_rows elements */
    uint64_t *end_ns;   /* n_rows + n_open: the last are the open calls by depth, UINT64_MAX for
                           those that do not end here */
    uint32_t *function_id;
    uint32_t *depth;
    uint32_t *stack; /* n_open + n_rows; afterwards the calls open at the end, by depth: row, or
                        n_rows + depth for an open call */
    uint32_t n_left; /* out: calls on the stack at the end */
};

/* `at_off` names the block in messages. end_ns of rows on the final stack is undefined.
 * WEFT_E_MALFORMED. */
WEFT_CHECKED enum weft_code weft_block_decode(struct weft_block_decode *block, uint64_t at_off,
                                              struct weft_err *err);

#endif
