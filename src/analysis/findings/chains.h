/* SPDX-License-Identifier: MIT
 *
 * Functions in which most of a problem lies. For problems.c.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_CHAINS_H
#define WEFT_ANALYSIS_FINDINGS_CHAINS_H

#include "base/error.h"
#include "schema/problems.h"

#include <stdbool.h>
#include <stdint.h>

/* Stacks of one problem after the other: to be zeroed, and finished. */
struct weft_chain_stacks {
    struct {
        const struct weft_frame **items;
        size_t n, cap;
    } functions;
    struct weft_chain_stack *items; /* parts of `functions` */
    size_t n, cap;
};

void weft_chain_stacks_fini(struct weft_chain_stacks *stacks);

/* Of the nodes whose `of` is `group`: where the execution's own thread waits, and where the holder
 * and the last thread are, if there are any. As deep as at least half of what slow executions have
 * more lies. O(frames of the paths). False without memory. */
WEFT_CHECKED bool weft_chains_of(struct weft_chain_stacks *stacks,
                                 const struct weft_finding *finding, const uint32_t *of,
                                 uint32_t group, struct weft_problem *problem);

#endif
