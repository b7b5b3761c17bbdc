/* SPDX-License-Identifier: MIT
 *
 * Grows and shrinks the calling context trees.
 */
#include "analysis/regtime/tree.h"

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
    if (tree->run_root || tree->is_reopened)
        weft_regtime_tree_end(tree, true);
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
        .level = level & REGTIME_LEVEL_MAX,
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

static void clear_slots(struct regtime_tree *tree)
{
    for (size_t i = tree->run_root + 1; i < tree->n_nodes; i++)
        if (!weft_regtime_is_root(&tree->nodes[i]))
            tree->slots[tree->slot_of[i - tree->run_root]] = 0;
}

/* Closes the ranks where the sink was; slot_of, no longer needed, maps old places to new ones. */
static void drop_sink(struct regtime_tree *tree)
{
    uint32_t *to = tree->slot_of;
    size_t n_nodes = tree->sink;
    for (size_t i = tree->sink + 1; i < tree->n_nodes; i++) {
        struct regtime_node *node = &tree->nodes[i];
        if (weft_regtime_is_sunk(tree, node))
            continue;
        to[i - tree->run_root] = (uint32_t)n_nodes;
        if (node->parent > tree->sink)
            node->parent = to[node->parent - tree->run_root];
        tree->nodes[n_nodes++] = *node;
    }
    tree->n_nodes = n_nodes;
    tree->sink = 0;
}

void weft_regtime_tree_end(struct regtime_tree *tree, bool is_kept)
{
    clear_slots(tree);
    if (!is_kept)
        tree->n_nodes = tree->run_root;
    else if (tree->sink)
        drop_sink(tree);
    tree->run_root = 0;
    tree->sink = 0;
    tree->is_reopened = false;
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

static void fill_slots(struct regtime_tree *tree)
{
    for (size_t i = tree->run_root + 1; i < tree->n_nodes; i++) {
        const struct regtime_node *node = &tree->nodes[i];
        if (weft_regtime_is_root(node))
            continue;
        size_t at = find_slot(tree, node->parent, node->function_id);
        tree->slots[at] = (uint32_t)i;
        tree->slot_of[i - tree->run_root] = (uint32_t)at;
    }
}

/* Room for one more child and a sink: the table is at most half full. */
static bool reserve_slot(struct regtime_tree *tree)
{
    size_t n_run = tree->n_nodes - tree->run_root;
    if (!weft_vec_reserve(&tree->slot_of, &tree->cap_slot_of, n_run + 2, sizeof *tree->slot_of))
        return false;
    if (n_run * 2 < tree->n_slots)
        return true;
    size_t n_slots = tree->n_slots ? tree->n_slots : FIRST_SLOTS;
    while (n_slots <= n_run * 2)
        n_slots *= 2;
    uint32_t *slots = n_slots <= UINT32_MAX ? calloc(n_slots, sizeof *slots) : NULL;
    if (!slots)
        return false;
    free(tree->slots);
    tree->slots = slots;
    tree->n_slots = n_slots;
    fill_slots(tree);
    return true;
}

bool weft_regtime_tree_rehash(struct regtime_tree *tree)
{
    if (tree->n_slots)
        memset(tree->slots, 0, tree->n_slots * sizeof *tree->slots);
    size_t n_before = tree->n_slots;
    if (!reserve_slot(tree))
        return false;
    if (tree->n_slots == n_before)
        fill_slots(tree);
    return true;
}

bool weft_regtime_tree_reopen(struct regtime_tree *tree)
{
    tree->run_root = 0;
    tree->is_reopened = true;
    for (size_t i = 1; i < tree->n_nodes; i++)
        for (size_t k = 0; k < REGTIME_MEMOS; k++)
            tree->nodes[i].memo[k].function_id = WEFT_ID_NONE;
    return weft_regtime_tree_rehash(tree);
}

static uint32_t add_child(struct regtime_tree *tree, size_t slot, uint32_t parent,
                          uint32_t function_id)
{
    uint32_t child =
        add_node(tree, parent, function_id, weft_regtime_level_below(&tree->nodes[parent]));
    if (!child)
        return 0;
    tree->slots[slot] = child;
    tree->slot_of[child - tree->run_root] = (uint32_t)slot;
    return child;
}

uint32_t weft_regtime_tree_sink(struct regtime_tree *tree, uint32_t function_id)
{
    if (!tree->sink)
        tree->sink = add_node(tree, 0, WEFT_ID_NONE, 0);
    if (!tree->sink || !reserve_slot(tree))
        return 0;
    size_t at = find_slot(tree, tree->sink, function_id);
    if (tree->slots[at])
        return tree->slots[at];
    uint32_t sunk = add_child(tree, at, tree->sink, function_id);
    if (sunk)
        tree->nodes[sunk].is_closed = tree->nodes[sunk].is_settled = 1;
    return sunk;
}

uint32_t weft_regtime_tree_child_slow(struct regtime_tree *tree, uint32_t parent,
                                      uint32_t function_id)
{
    if (!reserve_slot(tree))
        return 0;
    size_t at = find_slot(tree, parent, function_id);
    uint32_t child = tree->slots[at];
    if (!child)
        child = tree->nodes[parent].is_closed ? weft_regtime_tree_sink(tree, function_id)
                                              : add_child(tree, at, parent, function_id);
    if (!child)
        return 0;
    tree->nodes[parent].memo[function_id % REGTIME_MEMOS].function_id = function_id;
    tree->nodes[parent].memo[function_id % REGTIME_MEMOS].node = child;
    return child;
}
