/* SPDX-License-Identifier: MIT
 *
 * Adds the calls of a part of a block, clipped to an interval, to the sums of their contexts.
 */
#ifndef WEFT_MODEL_INTERVAL_WALK_H
#define WEFT_MODEL_INTERVAL_WALK_H

#include "model/interval/sums.h"
#include "store/block_part.h"

/* What is added of one block: what happens from from_ns on before to_ns. */
struct weft_interval_walk {
    uint64_t from_ns, to_ns;
    uint64_t now_ns, limit_ns; /* the block's own borders; then: reached, and to be reached */
    uint64_t sign;             /* 1, or UINT64_MAX to subtract */
    bool counts_open;          /* calls that are open at from_ns count */
};

/* Room for calls that are open; zeroed: empty. */
struct weft_interval_walker {
    struct weft_interval_sums *sums;
    struct {
        struct weft_interval_frame {
            uint64_t end_ns;
            uint32_t node; /* its context */
        } * items;
        size_t n, cap;
    } stack;
    struct {
        uint32_t *items; /* the contexts of the calls open, the root's first */
        size_t n, cap;
    } nodes;
};

void weft_interval_walker_fini(struct weft_interval_walker *walker);

/* *n_calls: rows looked at. Fails as weft_block_part_rows. */
WEFT_CHECKED enum weft_code weft_interval_walk_part(struct weft_interval_walker *walker,
                                                    struct weft_block_part *part,
                                                    struct weft_interval_walk walk,
                                                    uint64_t *n_calls, struct weft_err *err);

#endif
