/* SPDX-License-Identifier: MIT
 *
 * Grows calling context trees.
 */
#include "store/context_tree.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 };

void weft_context_tree_fini(struct weft_context_tree *tree)
{
    free(tree->nodes);
    free(tree->slots);
    *tree = (struct weft_context_tree){ 0 };
}

static uint32_t add_node(struct weft_context_tree *tree, uint32_t parent, uint32_t function)
{
    if (tree->n >= WEFT_ID_NONE - 1 ||
        !weft_vec_reserve(&tree->nodes, &tree->cap, tree->n + 1, sizeof *tree->nodes))
        return WEFT_ID_NONE;
    tree->nodes[tree->n] = (struct weft_context){
        .parent = parent,
        .function = function,
        .memo_child = WEFT_ID_NONE,
    };
    return (uint32_t)tree->n++;
}

bool weft_context_tree_reset(struct weft_context_tree *tree)
{
    if (tree->slots)
        memset(tree->slots, 0, tree->n_slots * sizeof *tree->slots);
    tree->n = 0;
    tree->has_raised = tree->is_frozen = false;
    tree->root = add_node(tree, WEFT_ID_NONE, WEFT_ID_NONE);
    return tree->root != WEFT_ID_NONE;
}

static size_t find_slot(const struct weft_context_tree *tree, uint32_t parent, uint32_t function)
{
    size_t at = weft_context_slot(tree, parent, function);
    for (; tree->slots[at]; at = (at + 1) & (tree->n_slots - 1)) {
        const struct weft_context *node = &tree->nodes[tree->slots[at] - 1];
        if (node->parent == parent && node->function == function)
            break;
    }
    return at;
}

/* Room for one more node in the table, which stays at most a quarter full: most are found at once.
 */
static bool reserve_slot(struct weft_context_tree *tree)
{
    if ((tree->n + 1) * 4 <= tree->n_slots)
        return true;
    size_t n_slots = tree->n_slots ? tree->n_slots * 2 : FIRST_SLOTS;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return false;
    free(tree->slots);
    tree->slots = slots;
    tree->n_slots = n_slots;
    for (uint32_t i = 0; i < tree->n; i++)
        if (i != tree->root)
            slots[find_slot(tree, tree->nodes[i].parent, tree->nodes[i].function)] = i + 1;
    return true;
}

/* The child of a frozen tree. */
static uint32_t find_frozen(const struct weft_context_tree *tree, uint32_t parent,
                            uint32_t function)
{
    if (tree->nodes[parent].function == WEFT_ID_NONE && parent != tree->root)
        return parent;
    size_t at = find_slot(tree, parent, function);
    if (tree->slots[at] == 0)
        at = find_slot(tree, parent, WEFT_ID_NONE);
    return tree->slots[at] - 1;
}

uint32_t weft_context_child_slow(struct weft_context_tree *tree, uint32_t parent, uint32_t function)
{
    if (tree->is_frozen)
        return find_frozen(tree, parent, function);
    if (!reserve_slot(tree))
        return WEFT_ID_NONE;
    size_t at = find_slot(tree, parent, function);
    uint32_t child = tree->slots[at] ? tree->slots[at] - 1 : add_node(tree, parent, function);
    if (child == WEFT_ID_NONE)
        return WEFT_ID_NONE;
    tree->slots[at] = child + 1;
    tree->nodes[parent].memo_function = function;
    tree->nodes[parent].memo_child = child;
    return child;
}

bool weft_context_tree_freeze(struct weft_context_tree *tree)
{
    for (uint32_t i = 0, n = (uint32_t)tree->n; i < n; i++)
        if (weft_context_child_slow(tree, i, WEFT_ID_NONE) == WEFT_ID_NONE)
            return false;
    tree->is_frozen = true;
    return true;
}

bool weft_context_tree_raise(struct weft_context_tree *tree, uint32_t function)
{
    if (!reserve_slot(tree))
        return false;
    uint32_t old = tree->root;
    uint32_t root = add_node(tree, WEFT_ID_NONE, WEFT_ID_NONE);
    if (root == WEFT_ID_NONE)
        return false;
    tree->root = root;
    tree->has_raised = true;
    tree->nodes[old].parent = root;
    tree->nodes[old].function = function;
    tree->slots[find_slot(tree, root, function)] = old + 1;
    return true;
}

/* Links of the nodes as first child and next sibling, in the order in which they were made. */
struct links {
    uint32_t *first, *last, *next;
};

static bool make_links(const struct weft_context_tree *tree, struct links *links)
{
    size_t n = tree->n;
    uint32_t *room = malloc(3 * n * sizeof *room);
    if (!room)
        return false;
    *links = (struct links){ room, room + n, room + 2 * n };
    memset(room, 0xff, 3 * n * sizeof *room); /* WEFT_ID_NONE */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = tree->nodes[i].parent;
        if (parent == WEFT_ID_NONE)
            continue;
        if (links->last[parent] == WEFT_ID_NONE)
            links->first[parent] = i;
        else
            links->next[links->last[parent]] = i;
        links->last[parent] = i;
    }
    return true;
}

bool weft_context_tree_order(const struct weft_context_tree *tree, uint32_t *order, uint32_t *depth)
{
    struct links links;
    if (!make_links(tree, &links))
        return false;
    uint32_t at = tree->root, level = 0;
    for (size_t n = 0; at != WEFT_ID_NONE; n++) {
        order[n] = at;
        if (depth)
            depth[n] = level;
        if (links.first[at] != WEFT_ID_NONE) {
            at = links.first[at];
            level++;
            continue;
        }
        while (at != tree->root && links.next[at] == WEFT_ID_NONE) {
            at = tree->nodes[at].parent;
            level--;
        }
        at = at == tree->root ? WEFT_ID_NONE : links.next[at];
    }
    free(links.first);
    return true;
}

static bool add_in_order(struct weft_context_tree *into, uint32_t at,
                         const struct weft_context_tree *tree, const uint32_t *order,
                         uint32_t *image)
{
    for (uint32_t i = 0; i < tree->n; i++) {
        uint32_t from = order ? order[i] : i;
        const struct weft_context *node = &tree->nodes[from];
        uint32_t to =
            from == tree->root ? at : weft_context_child(into, image[node->parent], node->function);
        if (to == WEFT_ID_NONE)
            return false;
        image[from] = to;
        into->nodes[to].count += node->count;
        into->nodes[to].self_ns += node->self_ns;
    }
    return true;
}

bool weft_context_tree_add(struct weft_context_tree *into, uint32_t at,
                           const struct weft_context_tree *tree)
{
    uint32_t *image = malloc(2 * tree->n * sizeof *image);
    uint32_t *order = tree->has_raised && image ? image + tree->n : NULL;
    bool is_ok = image && (!order || weft_context_tree_order(tree, order, NULL)) &&
                 add_in_order(into, at, tree, order, image);
    free(image);
    return is_ok;
}
