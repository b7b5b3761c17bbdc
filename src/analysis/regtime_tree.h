/* SPDX-License-Identifier: MIT
 *
 * The calling context trees of RegTime's runs, in one growing array. A run is a tree under a root
 * of its own; trees of finished expressions stay, those of slivers are taken back.
 *
 *     nodes: [0 unused][root, nodes of run 1][root, nodes of run 2] ... parents before children,
 *            children in order of first occurrence
 *
 * Finding a child costs one probe of the parent's own small table in the usual case.
 */
#ifndef WEFT_ANALYSIS_REGTIME_TREE_H
#define WEFT_ANALYSIS_REGTIME_TREE_H

#include "base/u128.h"
#include "schema/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REGTIME_MEMOS = 4 };

/* Two cache lines: the numbers that every call changes, and the rest. */
struct regtime_node {
    weft_u128 sum_squares;
    uint64_t count, sum_ns, self_ns, min_ns, max_ns;
    uint64_t last_end_ns;

    uint64_t first_start_ns;
    uint64_t n_inner; /* calls that made calls */
    uint32_t function_id;
    uint32_t parent;
    uint32_t level;
    uint32_t reserved;
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
    size_t run_root;
};

void weft_regtime_tree_fini(struct regtime_tree *tree);

/* Forgets every node and keeps the memory. */
void weft_regtime_tree_reset(struct regtime_tree *tree);

/* Begins a run whose calls have depth >= `level`; gives its root, or 0 without memory. */
uint32_t weft_regtime_tree_begin(struct regtime_tree *tree, uint32_t level);

/* Ends the run; takes its nodes back unless they are kept. */
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
