/* SPDX-License-Identifier: MIT
 *
 * The calling context trees of RegTime's runs, in one growing array. A run is a tree under a root
 * of its own; trees of finished expressions stay, those of slivers are taken back.
 *
 *     nodes: [0 unused][root, nodes of run 1][root, nodes of run 2] ... parents before children,
 *            children in order of first occurrence
 *
 * Finding a child costs one probe of the parent's own small table in the usual case.
 *
 * When a thread has more contexts than there is memory for, some wait for a later pass over the
 * run: a deferred node is closed, and calls below a closed node fall to the sink, one node a
 * function under a root of its own, which goes when the run ends.
 */
#ifndef WEFT_ANALYSIS_REGTIME_TREE_H
#define WEFT_ANALYSIS_REGTIME_TREE_H

#include "base/u128.h"
#include "schema/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REGTIME_MEMOS = 4, REGTIME_LEVEL_MAX = (1 << 28) - 1 };

/* Two cache lines: the numbers that every call changes, and the rest. */
struct regtime_node {
    weft_u128 sum_squares;
    uint64_t count, sum_ns, self_ns, min_ns, max_ns;
    uint64_t last_end_ns;

    uint64_t first_start_ns;
    uint64_t n_inner; /* calls that made calls */
    uint32_t function_id;
    uint32_t parent;
    uint32_t level : 28;
    uint32_t is_settled : 1;  /* counted by an earlier pass: its numbers stay */
    uint32_t is_closed : 1;   /* gets no callee that it does not have */
    uint32_t is_deferred : 1; /* what it calls is for a later pass; closed */
    uint32_t is_needed : 1;   /* had a callee that is not negligible, and was folded for its rank */
    uint32_t other;           /* what was folded below it: number in the shrinker's list, or 0 */
    struct {
        uint32_t function_id, node;
    } memo[REGTIME_MEMOS];
};

struct regtime_tree {
    struct regtime_node *nodes;
    size_t n_nodes, cap_nodes;
    uint32_t *slots; /* children of the current run: hash of (parent, function) -> node, 0 empty */
    uint32_t *slot_of; /* by node - run_root: the slot that holds it */
    size_t n_slots, cap_slot_of;
    size_t run_root; /* of the run whose children are in slots; 0: none, or in a later pass all */
    bool is_reopened;
    uint32_t sink; /* 0: none */
};

static inline bool weft_regtime_is_root(const struct regtime_node *node)
{
    return node->function_id == WEFT_ID_NONE;
}

/* The level of a root wraps: it is one less than that of the run's calls, which may be 0. */
static inline uint32_t weft_regtime_level_below(const struct regtime_node *node)
{
    return (node->level + 1) & REGTIME_LEVEL_MAX;
}

/* Whether the node (not the sink itself) stands for calls that a later pass counts. */
static inline bool weft_regtime_is_sunk(const struct regtime_tree *tree,
                                        const struct regtime_node *node)
{
    return tree->sink && node->parent == tree->sink;
}

void weft_regtime_tree_fini(struct regtime_tree *tree);

/* Forgets every node and keeps the memory. */
void weft_regtime_tree_reset(struct regtime_tree *tree);

/* Begins a run whose calls have depth >= `level`; gives its root, or 0 without memory. */
uint32_t weft_regtime_tree_begin(struct regtime_tree *tree, uint32_t level);

/* Takes up all runs again: every node is found by its parent; new ones go to the end. */
bool weft_regtime_tree_reopen(struct regtime_tree *tree);

/* After nodes have moved: makes the table of the run (or of all) anew. */
bool weft_regtime_tree_rehash(struct regtime_tree *tree);

/* The sink's node of a function; 0 without memory. May move the nodes. */
uint32_t weft_regtime_tree_sink(struct regtime_tree *tree, uint32_t function_id);

/* Ends the run (or a later pass), and with it the sink; takes the run's nodes back unless they are
 * kept. Numbers of nodes above the sink's change. */
void weft_regtime_tree_end(struct regtime_tree *tree, bool is_kept);

/* The child found or made when the memo does not know it; 0 without memory. May move the nodes. */
uint32_t weft_regtime_tree_child_slow(struct regtime_tree *tree, uint32_t parent,
                                      uint32_t function_id);

static inline uint32_t weft_regtime_tree_child(struct regtime_tree *tree, uint32_t parent,
                                               uint32_t function_id)
{
    const struct regtime_node *node = &tree->nodes[parent];
    uint32_t at = function_id % REGTIME_MEMOS;
    return node->memo[at].function_id == function_id
               ? node->memo[at].node
               : weft_regtime_tree_child_slow(tree, parent, function_id);
}

/* Adds a call to its node and takes its time from the caller's. */
static inline void weft_regtime_tree_call(struct regtime_tree *tree, uint32_t parent, uint32_t at,
                                          uint64_t start_ns, uint64_t end_ns)
{
    struct regtime_node *node = &tree->nodes[at];
    uint64_t duration_ns = end_ns - start_ns;
    tree->nodes[parent].self_ns -= duration_ns;
    node->first_start_ns = node->count == 0 ? start_ns : node->first_start_ns;
    node->count++;
    node->sum_ns += duration_ns;
    node->self_ns += duration_ns;
    node->min_ns = duration_ns < node->min_ns ? duration_ns : node->min_ns;
    node->max_ns = duration_ns > node->max_ns ? duration_ns : node->max_ns;
    node->sum_squares += (weft_u128)duration_ns * duration_ns;
    node->last_end_ns = end_ns; /* ends of one context ascend */
}

#endif
