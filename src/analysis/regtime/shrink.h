/* SPDX-License-Identifier: MIT
 *
 * How RegTime's trees lose nodes: which of them are folded, what a caller keeps of those that were,
 * and how a thread with more contexts than there is memory for gets by.
 *
 * A budget of n rows keeps the n largest contexts at most (by rank: the larger sum, then the less
 * deep, then the earlier). So a context whose calls have all been seen can go as soon as n others
 * rank above it: the result is that of folding at the end, for any ceiling. Of a run that is still
 * being read, whole subtrees are deferred to a later pass instead (regtime_later.h).
 */
#ifndef WEFT_ANALYSIS_REGTIME_SHRINK_H
#define WEFT_ANALYSIS_REGTIME_SHRINK_H

#include "analysis/regtime/marks.h"
#include "analysis/regtime/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Notes on a node while it is decided what stays. */
struct regtime_link {
    uint32_t first, last, next; /* children in order, 0 ends; see regtime_shrink.c for other uses */
    uint32_t other;             /* folded: the number of the "other" that holds it */
    bool is_folded;
};

/* The folded nodes of one parent. */
struct regtime_other {
    uint64_t count, n_inner, sum_ns, self_ns, min_ns, max_ns;
    uint64_t start_ns, end_ns;
    uint32_t n_folded;
    uint32_t owner; /* of outlier candidates, or 0 */
};

struct regtime_others {
    struct regtime_other *items;
    size_t n, cap;
};

/* Of one thread; a worker's memory. */
struct regtime_shrinker {
    size_t n_keep;          /* nodes that the budget keeps at most; SIZE_MAX: any number */
    uint64_t negligible_ns; /* a node with less self time is folded; 0: none */
    uint32_t n_functions;
    size_t max_nodes; /* beyond this many, the tree is shrunk; grows where that is no use */
    uint64_t negligible_nodes, negligible_self_ns; /* folded because of negligible_ns */
    bool has_deferred;                             /* the latest shrinking deferred something */
    struct regtime_link *links;                    /* by node */
    size_t cap_links;
    struct regtime_others others, others_moved; /* by number - 1 */
    struct {
        uint32_t *items;
        size_t n, cap;
    } kept; /* by rank, of weft_regtime_rank */
};

void weft_regtime_shrinker_fini(struct regtime_shrinker *shrinker);

/* For a thread, from its beginning. */
void weft_regtime_shrinker_reset(struct regtime_shrinker *shrinker, size_t max_nodes);

/* Zeroed links of all nodes and `n_more`; false without memory. */
bool weft_regtime_links_ready(struct regtime_shrinker *shrinker, const struct regtime_tree *tree,
                              size_t n_more);

/* Folds the nodes of [1, n_end) that are negligible and all of whose callees are. Nodes on the way
 * to a deferred one are left undecided, with `last` set. */
void weft_regtime_fold_negligible(struct regtime_shrinker *shrinker, struct regtime_tree *tree,
                                  size_t n_end);

/* Folds all but the `n_max` nodes of highest rank among those of [1, n_end) that are decided, and
 * lists these. False without memory. O(n log n_max). */
bool weft_regtime_rank(struct regtime_shrinker *shrinker, const struct regtime_tree *tree,
                       size_t n_end, size_t n_max);

/* Adds the folded nodes of [1, n_end) to the "other" of the caller that stays. False without
 * memory. */
bool weft_regtime_sum_folded(struct regtime_shrinker *shrinker, struct regtime_tree *tree,
                             struct regtime_candidates *candidates, size_t n_end);

/* Makes room: folds what can be of the finished nodes [1, *first_live), defers subtrees of the
 * others if that was not enough, and closes the ranks; nodes and *first_live move. Where node i
 * went: links[i].next; a call open in a subtree that was deferred goes on in the sink. False
 * without memory. O(n log n_keep). */
bool weft_regtime_shrink(struct regtime_shrinker *shrinker, struct regtime_tree *tree,
                         struct regtime_candidates *candidates, size_t *first_live);

#endif
