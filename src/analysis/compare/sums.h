/* SPDX-License-Identifier: MIT
 *
 * Sums by node of the executions of two groups, kept while the groups change: whole numbers, so
 * that taking away is as exact as adding, and that no order of changes matters.
 */
#ifndef WEFT_ANALYSIS_COMPARE_SUMS_H
#define WEFT_ANALYSIS_COMPARE_SUMS_H

#include "base/error.h"
#include "base/u128.h"
#include "schema/ecct.h"

#include <stddef.h>
#include <stdint.h>

enum weft_group { WEFT_GROUP_A, WEFT_GROUP_B, WEFT_GROUPS };

/* Bits of an item's membership. */
enum { WEFT_IN_A = 1, WEFT_IN_B = 2 };

struct weft_node_sum {
    weft_u128 squares;
    uint64_t sum_ns;
    uint64_t n; /* executions that have the node */
};

struct weft_compare_sums {
    const struct weft_ecct_matrix *matrix; /* borrowed */
    uint8_t *members;                      /* by item: WEFT_IN_A, WEFT_IN_B */
    struct weft_node_sum *nodes[WEFT_GROUPS];
    uint64_t n[WEFT_GROUPS]; /* executions */
};

/* The groups are empty yet. */
WEFT_CHECKED enum weft_code weft_compare_sums_init(struct weft_compare_sums *sums,
                                                   const struct weft_ecct_matrix *matrix,
                                                   struct weft_err *err);
void weft_compare_sums_fini(struct weft_compare_sums *sums);

/* Makes `members` (n_items) the groups: adds and takes away the executions that changed, or adds
 * all anew if that is less. O(n_items + values of these executions). */
void weft_compare_sums_set(struct weft_compare_sums *sums, const uint8_t *members);

/* Mean and variance (of the sample; absent values are 0) of a node in a group. */
double weft_node_mean(const struct weft_node_sum *sum, uint64_t n);
double weft_node_variance(const struct weft_node_sum *sum, uint64_t n);

#endif
