/* SPDX-License-Identifier: MIT
 *
 * Reads runs again.
 */
#include "analysis/regtime/later.h"

/* Nodes that are there keep their numbers and get no more callees. */
static void settle(struct regtime_tree *tree)
{
    for (size_t i = 1; i < tree->n_nodes; i++)
        tree->nodes[i].is_settled = tree->nodes[i].is_closed = 1;
}

/* The deferred nodes of one run take callees now. */
static bool activate(struct regtime_builder *builder, uint32_t root)
{
    struct regtime_tree *tree = &builder->tree;
    struct regtime_shrinker *shrinker = &builder->shrinker;
    if (!weft_regtime_links_ready(shrinker, tree, 0))
        return false;
    for (size_t i = 1; i < tree->n_nodes; i++) {
        struct regtime_node *node = &tree->nodes[i];
        struct regtime_link *link = &shrinker->links[i]; /* `other`: the root */
        link->other =
            weft_regtime_is_root(node) ? (uint32_t)i : shrinker->links[node->parent].other;
        if (node->is_deferred && link->other == root)
            node->is_deferred = node->is_closed = 0;
    }
    return true;
}

/* Adds a call where its caller or it is of this pass. */
static void add_call(struct regtime_tree *tree, uint32_t parent, uint32_t at, uint64_t start_ns,
                     uint64_t end_ns, bool is_first)
{
    struct regtime_node *caller = &tree->nodes[parent];
    uint64_t self_ns = caller->self_ns;
    if (caller->is_settled && tree->nodes[at].is_settled)
        return;
    weft_regtime_tree_call(tree, parent, at, start_ns, end_ns);
    if (caller->is_settled)
        caller->self_ns = self_ns;
    else
        caller->n_inner += is_first;
}

/* The calls of `calls` that have the numbers [from, to). */
static enum weft_code read_block(struct regtime_builder *builder, const struct weft_scan *scan,
                                 const struct weft_calls *calls, uint64_t from, uint64_t to,
                                 struct weft_err *err)
{
    struct regtime_tree *tree = &builder->tree;
    uint32_t *node_at = builder->node_at;
    size_t begin = from > scan->first_call ? (size_t)(from - scan->first_call) : 0;
    size_t end =
        to - scan->first_call < calls->n_rows ? (size_t)(to - scan->first_call) : calls->n_rows;
    for (size_t i = begin; i < end; i++) {
        uint32_t depth = calls->depth[i], parent = node_at[depth];
        uint32_t node = weft_regtime_tree_child(tree, parent, calls->function_id[i]);
        if (!node)
            return weft_no_memory(err, "RegTime");
        add_call(tree, parent, node, calls->start_ns[i], calls->end_ns[i],
                 depth > builder->prev_depth);
        node_at[depth + 1] = node;
        builder->prev_depth = depth;
    }
    return WEFT_OK;
}

static enum weft_code read_run(struct regtime_builder *builder, struct weft_scan *scan,
                               const struct regtime_item *run, size_t *first_live,
                               struct weft_err *err)
{
    const struct weft_calls *calls = NULL;
    uint64_t end = run->first_call + run->count;
    enum weft_code code = WEFT_OK;
    if (run->first_block == WEFT_NO_BLOCK)
        weft_scan_rewind(scan);
    else
        weft_scan_seek(scan, run->first_block);
    while (!code && !(code = weft_scan_next(scan, &calls, err)) && calls &&
           scan->first_call < end) {
        code = weft_regtime_make_room(builder, calls->n_rows, first_live, err);
        if (!code)
            code = read_block(builder, scan, calls, run->first_call, end, err);
    }
    return code;
}

/* One pass over the expression `item`. */
static enum weft_code add_deferred(struct regtime_builder *builder, struct weft_scan *scan,
                                   size_t item, struct weft_err *err)
{
    struct regtime_tree *tree = &builder->tree;
    const struct regtime_item *run = &builder->items.items[item];
    size_t first_live = tree->n_nodes;
    settle(tree);
    if (!activate(builder, run->root) || !weft_regtime_tree_reopen(tree))
        return weft_no_memory(err, "RegTime");
    builder->run.has_deferred = false;
    builder->n_open = run->level;
    builder->prev_depth = (int64_t)run->level - 1;
    builder->node_at[run->level] = run->root;
    enum weft_code code = read_run(builder, scan, run, &first_live, err);
    for (size_t i = first_live; !code && i < tree->n_nodes; i++)
        if (i != tree->sink && !weft_regtime_is_sunk(tree, &tree->nodes[i]))
            code = weft_regtime_check_node(builder, scan, i, err);
    weft_regtime_tree_end(tree, true);
    settle(tree);
    builder->items.items[item].has_deferred = builder->run.has_deferred;
    first_live = tree->n_nodes;
    return code ? code : weft_regtime_make_room(builder, 0, &first_live, err);
}

enum weft_code weft_regtime_build_deferred(struct regtime_builder *builder, struct weft_scan *scan,
                                           struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (bool is_left = true; !code && is_left;) {
        is_left = false;
        for (size_t i = 0; !code && i < builder->items.n; i++) {
            if (!builder->items.items[i].has_deferred)
                continue;
            code = add_deferred(builder, scan, i, err);
            is_left = is_left || builder->items.items[i].has_deferred;
        }
    }
    return code;
}
