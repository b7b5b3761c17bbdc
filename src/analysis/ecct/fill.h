/* SPDX-License-Identifier: MIT
 *
 * From a critical path to the tree of its execution (docs/analyses/ecct.md; TraceCompare, figures 5
 * and 6). What threads did comes from whoever fills in the operations below.
 */
#ifndef WEFT_ANALYSIS_ECCT_FILL_H
#define WEFT_ANALYSIS_ECCT_FILL_H

#include "analysis/ecct/tree.h"
#include "analysis/path/walk.h"

enum { WEFT_ECCT_THREADS = 16 }; /* on a chain, unless asked for otherwise */

/* A node of the tree, and how sure it is that time belongs to it. */
struct weft_ecct_spot {
    uint32_t node;
    enum weft_confidence confidence;
};

struct weft_ecct_part {
    struct weft_ecct_spot spot;
    uint64_t weight;
};

struct weft_ecct_parts {
    struct weft_ecct_part *items;
    size_t n, cap;
};

struct weft_ecct_interval {
    uint32_t thread_id;
    uint64_t from_ns, to_ns;
    uint64_t samples_to_ns; /* of stacks that belong to it: later, if an interrupt follows */
};

struct weft_ecct_ops {
    /* Adds, below `below`, the stacks in which a running thread was. *is_share: weights stand for
     * the whole interval in proportion; else they are ns, and it was in no stack for the rest. */
    enum weft_code (*running)(void *stacks, struct weft_ecct_tree *tree,
                              const struct weft_ecct_interval *interval,
                              const struct weft_ecct_spot *below, struct weft_ecct_parts *parts,
                              bool *is_share, struct weft_err *err);
    /* Goes from a spot to that of the stack in which a thread waits since `at_ns`. */
    enum weft_code (*waiting)(void *stacks, struct weft_ecct_tree *tree, uint32_t thread_id,
                              uint64_t at_ns, struct weft_ecct_spot *spot, struct weft_err *err);
    /* What a thread on the chain of an execution of `first` is called (schema/ecct.h). The name is
     * empty for a task that idles: it takes nothing from anybody. */
    struct weft_frame (*thread)(void *stacks, uint32_t thread_id, uint32_t first);
    /* What a lock of the graph is; its name is empty if it says no more than its address. */
    const struct weft_lock_object *(*lock)(void *stacks, struct weft_graph *graph, uint32_t lock);
};

struct weft_ecct_entry {
    uint32_t node;
    uint64_t ns;
};

struct weft_ecct_fill;

/* `tree` and `stacks` must live longer. NULL without memory. `max_threads` 0: WEFT_ECCT_THREADS. */
struct weft_ecct_fill *weft_ecct_fill_new(struct weft_ecct_tree *tree,
                                          const struct weft_ecct_ops *ops, void *stacks,
                                          unsigned max_threads);
/* NULL is allowed. */
void weft_ecct_fill_free(struct weft_ecct_fill *fill);

/* What the path of an execution comes to; valid until the next one. */
struct weft_ecct_filled {
    const struct weft_ecct_entry *entries; /* each node once, by its first time on the path */
    size_t n_entries;
    uint64_t n_too_deep; /* threads that were left out of chains */
    uint64_t n_on_chain; /* others that were on the chain already, and not appended */
};

/* `walked` was walked on `graph` with frames. The sum of all ns is the length of the path. Time:
 * O(segments + stacks), and the questions to the graph. */
WEFT_CHECKED enum weft_code weft_ecct_fill(struct weft_ecct_fill *fill, struct weft_graph *graph,
                                           const struct weft_path_walked *walked,
                                           struct weft_ecct_filled *filled, struct weft_err *err);

/* Splits `total` by weights, the largest remainders get what is left, of equal ones the first: the
 * weights become shares, the sum of which is `total` (if a weight is not 0; else all stay 0). */
void weft_ecct_share(struct weft_ecct_part *parts, size_t n_parts, uint64_t total);

#endif
