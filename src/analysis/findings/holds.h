/* SPDX-License-Identifier: MIT
 *
 * Which groups of waits for locks are one problem: one lock without a name that is asked for in
 * several functions, and the locks of an array that one thread holds. For problems.c.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_HOLDS_H
#define WEFT_ANALYSIS_FINDINGS_HOLDS_H

#include "schema/ecct.h"

/* Of a group of waits. */
struct weft_hold {
    uint32_t node;    /* where most of it is waited for; 0: for no lock. The rest is found: */
    uint32_t to;      /* the first group that is the same problem, or itself */
    uint64_t key;     /* of the problem, the same in all types of executions; 0: it keeps its own */
    bool is_of_array; /* of three locks or more of one variable */
};

/* False without memory. O(n * depth). */
bool weft_holds_join(const struct weft_ecct_matrix *matrix, struct weft_hold *holds, size_t n);

/* The variable that a lock is a part of, by its name: "shards" of "shards+0x108100" and of
 * "shards[5].guard"; all of others. */
struct weft_str weft_hold_variable(struct weft_str lock);

#endif
