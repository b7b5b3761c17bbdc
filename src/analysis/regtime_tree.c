/* SPDX-License-Identifier: MIT
 *
 * Grows and shrinks the calling context trees.
 */
#include "analysis/regtime_tree.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024 };

_Static_assert(sizeof(struct regtime_node) == 128, "a node is two cache lines");

void weft_regtime_tree_fini(struct regtime_tree *tree)
{
    free(tree->nodes);
    free(tree->slots);
    free(tree->slot_of);
    *tree = (struct regtime_tree){ 0 };
}

void weft_regtime_tree_reset(struct regtime_tree *tree)
{
    if (tree->run_root)
        weft_regtime_tree_end(tree, false);
    tree->n_nodes = 0;
}

static bool reserve_node(struct regtime_tree *tree)
{
    if (tree->n_nodes + 1 < tree->cap_nodes)
        return true;
    size_t cap = tree->cap_nodes ? tree->cap_nodes * 2 : FIRST_SLOTS;
    struct regtime_node *nodes = cap < UINT32_MAX ? aligned_alloc(64, cap * sizeof *nodes) : NULL;
    if (!nodes)
        return false;
    if (tree->n_nodes)
        memcpy(nodes, tree->nodes, tree->n_nodes * sizeof *nodes);
    free(tree->nodes);
    tree->nodes = nodes;
    tree->cap_nodes = cap;
    return true;
}

/* A new node, or 0. Node 0 is never used. */
static uint32_t add_node(struct regtime_tree *tree, uint32_t parent, uint32_t function_id,
                         uint32_t level)
{
    if (!reserve_node(tree))
        return 0;
    tree->n_nodes += tree->n_nodes == 0;
    struct regtime_node *node = &tree->nodes[tree->n_nodes];
    *node = (struct regtime_node){
        .min_ns = UINT64_MAX,
        .function_id = function_id,
        .parent = parent,
        .level = level,
    };
    for (size_t i = 0; i < REGTIME_MEMOS; i++)
        node->memo[i].function_id = WEFT_ID_NONE;
    return (uint32_t)tree->n_nodes++;
}

uint32_t weft_regtime_tree_begin(struct regtime_tree *tree, uint32_t level)
{
    /* The root has no function; its level wraps so that its children are at `level`. */
    uint32_t root = add_node(tree, 0, WEFT_ID_NONE, level - 1);
    tree->run_root = root;
    return root;
}

void weft_regtime_tree_end(struct regtime_tree *tree, bool is_kept)
{
    for (size_t i = tree->run_root + 1; i < tree->n_nodes; i++)
        tree->slots[tree->slot_of[i - tree->run_root]] = 0;
    if (!is_kept)
        tree->n_nodes = tree->run_root;
    tree->run_root = 0;
}

static size_t slot_start(const struct regtime_tree *tree, uint32_t parent, uint32_t function_id)
{
    uint64_t key = (uint64_t)parent << 32 | function_id;
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (tree->n_slots - 1);
}

/* The slot of the child, or the empty one where it belongs. */
static size_t find_slot(const struct regtime_tree *tree, uint32_t parent, uint32_t function_id)
{
    size_t at = slot_start(tree, parent, function_id);
    while (tree->slots[at]) {
        const struct regtime_node *node = &tree->nodes[tree->slots[at]];
        if (node->parent == parent && node->function_id == function_id)
            break;
        at = (at + 1) & (tree->n_slots - 1);
    }
    return at;
}

/* Room for one more child: the table is at most half full. */
static bool reserve_slot(struct regtime_tree *tree)
{
    size_t n_run = tree->n_nodes - tree->run_root;
    if (!weft_vec_reserve(&tree->slot_of, &tree->cap_slot_of, n_run + 1, sizeof *tree->slot_of))
        return false;
    if (n_run * 2 < tree->n_slots)
        return true;
    size_t n_slots = tree->n_slots ? tree->n_slots * 2 : FIRST_SLOTS;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots || n_slots > UINT32_MAX) {
        free(slots);
        return false;
    }
    free(tree->slots);
    tree->slots = slots;
    tree->n_slots = n_slots;
    for (size_t i = tree->run_root + 1; i < tree->n_nodes; i++) {
        size_t at = find_slot(tree, tree->nodes[i].parent, tree->nodes[i].function_id);
        tree->slots[at] = (uint32_t)i;
        tree->slot_of[i - tree->run_root] = (uint32_t)at;
    }
    return true;
}

uint32_t weft_regtime_tree_child_slow(struct regtime_tree *tree, uint32_t parent,
                                      uint32_t function_id)
{
    if (!reserve_slot(tree))
        return 0;
    size_t at = find_slot(tree, parent, function_id);
    uint32_t child = tree->slots[at];
    if (!child) {
        child = add_node(tree, parent, function_id, tree->nodes[parent].level + 1);
        if (!child)
            return 0;
        tree->slots[at] = child;
        tree->slot_of[child - tree->run_root] = (uint32_t)at;
    }
    tree->nodes[parent].memo[function_id % REGTIME_MEMOS].function_id = function_id;
    tree->nodes[parent].memo[function_id % REGTIME_MEMOS].node = child;
    return child;
}
