/* SPDX-License-Identifier: MIT
 *
 * The last folding of a thread, to its budget, and its rows.
 */
#include "analysis/regtime/fold.h"

#include "base/vec.h"
#include "schema/regtime.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- which nodes stay ------------------------------------------------------------------------ */

/* Marks (in `other`) the kept parents of folded nodes and counts them. */
static size_t mark_parents(struct regtime_shrinker *shrinker, const struct regtime_tree *tree)
{
    struct regtime_link *links = shrinker->links;
    size_t n_others = 0;
    for (size_t i = 1; i < tree->n_nodes; i++) {
        const struct regtime_node *node = &tree->nodes[i];
        uint32_t with = links[i].is_folded ? node->parent : node->other ? (uint32_t)i : 0;
        if (!with || links[with].is_folded || links[with].other)
            continue;
        links[with].other = 1;
        n_others++;
    }
    return n_others;
}

/* Folds until `n_rows_max` nodes and others are left. */
static bool fold_to_budget(struct regtime_shrinker *shrinker, const struct regtime_tree *tree,
                           size_t n_rows_max)
{
    if (!weft_regtime_rank(shrinker, tree, tree->n_nodes, n_rows_max))
        return false;
    size_t n_rows = shrinker->kept.n + mark_parents(shrinker, tree);
    while (n_rows > n_rows_max && shrinker->kept.n) {
        uint32_t at = shrinker->kept.items[--shrinker->kept.n];
        struct regtime_link *link = &shrinker->links[at];
        struct regtime_link *above = &shrinker->links[tree->nodes[at].parent];
        n_rows -= link->other ? 2 : 1;
        n_rows += above->other == 0;
        link->is_folded = true;
        link->other = 0;
        above->other = 1;
    }
    return true;
}

/* Links the kept nodes to their parents, which come first. */
static void link_nodes(struct regtime_shrinker *shrinker, const struct regtime_tree *tree)
{
    struct regtime_link *links = shrinker->links;
    for (size_t i = 1; i < tree->n_nodes; i++)
        links[i].first = links[i].last = links[i].next = links[i].other = 0;
    for (size_t i = 1; i < tree->n_nodes; i++) {
        struct regtime_link *above = &links[tree->nodes[i].parent];
        if (weft_regtime_is_root(&tree->nodes[i]) || links[i].is_folded)
            continue;
        if (above->last)
            links[above->last].next = (uint32_t)i;
        else
            above->first = (uint32_t)i;
        above->last = (uint32_t)i;
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct emitter {
    struct regtime_builder *builder;
    struct regtime_rows *rows;
    struct weft_regtime_thread *thread;
};

/* The candidates of `owner` are in the row made last. */
static void settle_owner(struct emitter *out, uint32_t owner)
{
    if (owner)
        out->builder->candidates.row_of.items[owner - 1] = (uint32_t)out->rows->n - 1;
}

static struct weft_regtime_row *push_row(struct emitter *out, enum weft_regtime_kind kind,
                                         uint32_t level, uint32_t parent)
{
    struct weft_regtime_row *row = WEFT_VEC_PUSH(out->rows);
    if (!row)
        return NULL;
    row->kind = kind;
    row->level = level;
    row->parent = parent;
    row->function_id = WEFT_ID_NONE;
    return row;
}

static bool emit_node(struct emitter *out, uint32_t at, uint32_t parent_row)
{
    const struct regtime_node *node = &out->builder->tree.nodes[at];
    const struct regtime_link *link = &out->builder->shrinker.links[at];
    struct weft_regtime_row *row = push_row(out, WEFT_REGTIME_NODE, node->level, parent_row);
    if (!row)
        return false;
    row->function_id = node->function_id;
    row->start_ns = node->first_start_ns;
    row->end_ns = node->last_end_ns;
    row->count = node->count;
    row->records = node->count + node->n_inner;
    row->sum_ns = node->sum_ns;
    row->self_ns = node->self_ns;
    row->min_ns = node->min_ns;
    row->max_ns = node->max_ns;
    row->sum_squares = node->sum_squares;
    out->thread->n_nodes++;
    out->thread->records_after += link->first || node->other ? 2 : 1;
    return true;
}

static bool emit_other(struct emitter *out, uint32_t index, uint32_t parent, uint32_t parent_row)
{
    const struct regtime_node *caller = &out->builder->tree.nodes[parent];
    const struct regtime_other *other = &out->builder->shrinker.others.items[index];
    struct weft_regtime_row *row =
        push_row(out, WEFT_REGTIME_OTHER, weft_regtime_level_below(caller), parent_row);
    if (!row)
        return false;
    settle_owner(out, other->owner);
    row->n_folded = other->n_folded;
    row->start_ns = other->start_ns;
    row->end_ns = other->end_ns;
    row->count = other->count;
    row->records = other->count + other->n_inner;
    row->sum_ns = other->sum_ns;
    row->self_ns = other->self_ns;
    row->min_ns = other->min_ns;
    row->max_ns = other->max_ns;
    out->thread->n_others++;
    out->thread->records_after++;
    out->thread->folded_nodes += other->n_folded;
    out->thread->folded_calls += other->count;
    out->thread->folded_ns += other->self_ns;
    return true;
}

/* The nodes under `root` in pre-order, after each parent's nodes its "other". `last` of a link,
 * no longer needed, keeps the row of its node. */
static bool emit_nodes(struct emitter *out, uint32_t root, uint32_t expression_row)
{
    const struct regtime_node *nodes = out->builder->tree.nodes;
    struct regtime_link *links = out->builder->shrinker.links;
    uint32_t inside = root, at = links[root].first;
    links[root].last = expression_row;
    for (;;) {
        if (at) {
            links[at].last = (uint32_t)out->rows->n;
            if (!emit_node(out, at, links[inside].last))
                return false;
            inside = at;
            at = links[at].first;
            continue;
        }
        if (nodes[inside].other &&
            !emit_other(out, nodes[inside].other - 1, inside, links[inside].last))
            return false;
        if (inside == root)
            return true;
        at = links[inside].next;
        inside = nodes[inside].parent;
    }
}

static bool emit_expression(struct emitter *out, const struct regtime_item *item,
                            uint32_t parent_row)
{
    size_t at = out->rows->n;
    struct weft_regtime_row *row = push_row(out, WEFT_REGTIME_EXPRESSION, item->level, parent_row);
    if (!row)
        return false;
    row->start_ns = item->start_ns;
    row->end_ns = item->end_ns;
    row->count = item->count;
    row->records = item->count + item->n_inner;
    row->sum_ns = row->self_ns = item->sum_ns;
    row->min_ns = item->min_ns;
    row->max_ns = item->max_ns;
    out->thread->n_expressions++;
    out->thread->expression_ns += row->self_ns;
    return emit_nodes(out, item->root, (uint32_t)at);
}

static bool emit_plain(struct emitter *out, const struct regtime_item *item, uint32_t parent_row)
{
    struct weft_regtime_row *row = push_row(out, item->kind, item->level, parent_row);
    if (!row)
        return false;
    settle_owner(out, item->owner);
    row->flags = item->flags;
    row->function_id = item->function_id;
    row->start_ns = item->start_ns;
    row->end_ns = item->end_ns;
    if (item->kind == WEFT_REGTIME_CALL) {
        row->count = 1;
        row->records = item->has_calls ? 2 : 1;
        row->sum_ns = row->min_ns = row->max_ns = item->end_ns - item->start_ns;
        row->self_ns = item->self_ns;
        out->thread->n_notable++;
        out->thread->records_after += row->records;
    } else if (item->kind == WEFT_REGTIME_SLIVER) {
        row->count = item->count;
        row->records = item->count + item->n_inner;
        row->sum_ns = row->self_ns = item->sum_ns;
        row->min_ns = item->min_ns;
        row->max_ns = item->max_ns;
        out->thread->sliver_calls += item->count;
        out->thread->sliver_ns += item->span_ns;
    } else {
        out->thread->n_gaps++;
    }
    return true;
}

static enum weft_code emit(struct emitter *out, struct weft_err *err)
{
    struct regtime_item *items = out->builder->items.items;
    uint64_t root_end_ns = 0;
    for (size_t i = 0; i < out->builder->items.n; i++) {
        struct regtime_item *item = &items[i];
        bool has_parent = item->parent != WEFT_ID_NONE;
        uint64_t *child_end_ns = has_parent ? &items[item->parent].child_end_ns : &root_end_ns;
        if (item->kind != WEFT_REGTIME_SLIVER) {
            bool is_inside = !has_parent || (item->start_ns >= items[item->parent].start_ns &&
                                             item->end_ns <= items[item->parent].end_ns);
            if (item->start_ns < *child_end_ns || item->end_ns < item->start_ns || !is_inside)
                return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                                 "internal error: RegTime's invariant \"siblings are disjoint and "
                                 "in order\" fails at %" PRIu64 " ns",
                                 item->start_ns);
            *child_end_ns = item->end_ns;
        }
        uint32_t parent_row = has_parent ? items[item->parent].row : WEFT_ID_NONE;
        item->row = (uint32_t)out->rows->n;
        bool is_ok = item->kind == WEFT_REGTIME_EXPRESSION ? emit_expression(out, item, parent_row)
                                                           : emit_plain(out, item, parent_row);
        if (!is_ok)
            return weft_no_memory(err, "RegTime");
    }
    return WEFT_OK;
}

enum weft_code weft_regtime_fold(struct regtime_builder *builder, uint32_t glyphs,
                                 struct regtime_rows *rows, struct weft_regtime_thread *thread,
                                 struct weft_err *err)
{
    struct regtime_shrinker *shrinker = &builder->shrinker;
    struct regtime_tree *tree = &builder->tree;
    if (!weft_regtime_links_ready(shrinker, tree, 0))
        return weft_no_memory(err, "RegTime");
    if (shrinker->negligible_ns)
        weft_regtime_fold_negligible(shrinker, tree, tree->n_nodes);
    thread->negligible_nodes = shrinker->negligible_nodes;
    thread->negligible_ns = shrinker->negligible_self_ns;
    if (glyphs && !fold_to_budget(shrinker, tree, glyphs - builder->notable.n))
        return weft_no_memory(err, "RegTime");
    link_nodes(shrinker, tree);
    if (!weft_regtime_sum_folded(shrinker, tree, &builder->candidates, tree->n_nodes) ||
        !weft_regtime_candidates_settle(&builder->candidates))
        return weft_no_memory(err, "RegTime");
    struct emitter out = { builder, rows, thread };
    enum weft_code code = emit(&out, err);
    thread->rows_after = thread->n_notable + thread->n_nodes + thread->n_others;
    if (!code && glyphs && thread->rows_after > glyphs)
        code = weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "internal error: RegTime made %" PRIu64 " rows of at most %" PRIu32,
                         thread->rows_after, glyphs);
    return code;
}
