/* SPDX-License-Identifier: MIT
 *
 * A calling context tree: for every path of calls from the thread's root, how many calls were
 * entered on it and how long the thread was in it without being in a callee. Both add up over
 * disjoint pieces of time, which is what the index of intervals rests on
 * (docs/analyses/interval.md); inclusive time is the sum over a node's subtree.
 *
 * Functions are what the caller numbers them by: keys while writing, ids while reading.
 */
#ifndef WEFT_STORE_CONTEXT_TREE_H
#define WEFT_STORE_CONTEXT_TREE_H

#include "schema/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_context {
    uint32_t parent; /* WEFT_ID_NONE: the root */
    uint32_t function;
    uint32_t memo_function, memo_child; /* the child asked for last */
    uint64_t count;
    uint64_t self_ns;
};

/* What is to be added to a node. */
struct weft_context_entry {
    uint64_t count;
    uint64_t self_ns;
    uint32_t node;
};

struct weft_context_entries {
    struct weft_context_entry *items;
    size_t n, cap;
};

/* Zeroed: empty, to be reset before use. Parents have lower numbers than their children, but for
 * roots that were put below by weft_context_tree_raise. */
struct weft_context_tree {
    struct weft_context *nodes;
    size_t n, cap;
    uint32_t *slots; /* hash table of (parent, function): number + 1, or 0 */
    size_t n_slots;
    uint32_t root;
    bool has_raised;
    bool is_frozen;
};

/* A tree of a root alone, keeping its memory. False without memory. */
bool weft_context_tree_reset(struct weft_context_tree *tree);
void weft_context_tree_fini(struct weft_context_tree *tree);

/* Use weft_context_child. */
uint32_t weft_context_child_slow(struct weft_context_tree *tree, uint32_t parent,
                                 uint32_t function);

/* The child of `parent`, made if it is new (see weft_context_tree_freeze); WEFT_ID_NONE without
 * memory. Expected O(1). */
static inline uint32_t weft_context_child(struct weft_context_tree *tree, uint32_t parent,
                                          uint32_t function)
{
    const struct weft_context *node = &tree->nodes[parent];
    return node->memo_function == function && node->memo_child != WEFT_ID_NONE
               ? node->memo_child
               : weft_context_child_slow(tree, parent, function);
}

static inline size_t weft_context_slot(const struct weft_context_tree *tree, uint32_t parent,
                                       uint32_t function)
{
    const uint64_t key = (uint64_t)parent << 32 | function;
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (tree->n_slots - 1);
}

/* The same for children that are asked for in no order, so that the last one is no hint. */
static inline uint32_t weft_context_any_child(struct weft_context_tree *tree, uint32_t parent,
                                              uint32_t function)
{
    if (__builtin_expect(tree->n_slots == 0, 0))
        return weft_context_child_slow(tree, parent, function);
    size_t at = weft_context_slot(tree, parent, function);
    for (; tree->slots[at]; at = (at + 1) & (tree->n_slots - 1)) {
        const struct weft_context *node = &tree->nodes[tree->slots[at] - 1];
        if (__builtin_expect(node->parent == parent && node->function == function, 1))
            return tree->slots[at] - 1;
    }
    return weft_context_child_slow(tree, parent, function);
}

/* From now on no node is made: a child that is not there is its parent's remainder instead, a child
 * of function WEFT_ID_NONE that every node gets here, and what lies below a remainder is that
 * remainder. False without memory. */
bool weft_context_tree_freeze(struct weft_context_tree *tree);

/* A call of `function` turns out to have been open around all: a new root, of which the old one
 * becomes a child. False without memory. */
bool weft_context_tree_raise(struct weft_context_tree *tree, uint32_t function);

/* Adds a tree, path by path, below node `at` of `into`. False without memory. */
bool weft_context_tree_add(struct weft_context_tree *into, uint32_t at,
                           const struct weft_context_tree *tree);

/* The nodes in pre-order, children in the order in which they were made: `order`, n elements, gets
 * their numbers, and `depth`, unless NULL, their depths; the root is first, with depth 0. False
 * without memory. */
bool weft_context_tree_order(const struct weft_context_tree *tree, uint32_t *order,
                             uint32_t *depth);

#endif
