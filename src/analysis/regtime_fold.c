/* SPDX-License-Identifier: MIT
 *
 * Folding: smallest inclusive sum first, deeper first, later first. A caller's sum is never less
 * than its callee's and its depth is less, so callees are folded before their callers.
 */
#include "analysis/regtime_fold.h"

#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for RegTime");
}

void weft_regtime_folder_fini(struct regtime_folder *folder)
{
    free(folder->links);
    free(folder->others.items);
    free(folder->kept.items);
    *folder = (struct regtime_folder){ 0 };
}

/* ---- which nodes stay ------------------------------------------------------------------------ */

static bool is_root(const struct regtime_node *node)
{
    return node->function_id == WEFT_ID_NONE;
}

/* Folds nodes below the limit all of whose callees are folded; marks parents in `first`. */
static void fold_negligible(struct regtime_folder *folder, const struct regtime_tree *tree,
                            uint64_t limit_ns, struct weft_regtime_thread *thread)
{
    for (size_t i = tree->n_nodes; i-- > 1;) {
        const struct regtime_node *node = &tree->nodes[i];
        if (is_root(node))
            continue;
        bool has_kept = folder->links[i].first != 0;
        if (has_kept || node->self_ns >= limit_ns) {
            folder->links[node->parent].first = 1;
            continue;
        }
        folder->links[i].is_folded = true;
        thread->negligible_nodes++;
        thread->negligible_ns += node->self_ns;
    }
    for (size_t i = 1; i < tree->n_nodes; i++)
        folder->links[i].first = 0;
}

/* < 0 if node `a` stays longer than node `b`. */
static int by_rank(const void *a, const void *b, void *context)
{
    const struct regtime_node *nodes = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (nodes[x].sum_ns != nodes[y].sum_ns)
        return nodes[x].sum_ns > nodes[y].sum_ns ? -1 : 1;
    if (nodes[x].level != nodes[y].level)
        return nodes[x].level < nodes[y].level ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The kept nodes as a list in which the first `n_max` are the last to be folded. Every node stays
 * a row of its own at most while it is one of those, so the rest is folded at once. */
static bool list_kept(struct regtime_folder *folder, const struct regtime_tree *tree, size_t n_max)
{
    folder->kept.n = 0;
    for (size_t i = 1; i < tree->n_nodes; i++) {
        if (is_root(&tree->nodes[i]) || folder->links[i].is_folded)
            continue;
        if (folder->kept.n == 2 * n_max + 64) {
            qsort_r(folder->kept.items, folder->kept.n, sizeof *folder->kept.items, by_rank,
                    tree->nodes);
            for (size_t k = n_max; k < folder->kept.n; k++)
                folder->links[folder->kept.items[k]].is_folded = true;
            folder->kept.n = n_max;
        }
        uint32_t *item = WEFT_VEC_PUSH(&folder->kept);
        if (!item)
            return false;
        *item = (uint32_t)i;
    }
    if (folder->kept.n)
        qsort_r(folder->kept.items, folder->kept.n, sizeof *folder->kept.items, by_rank,
                tree->nodes);
    return true;
}

/* Marks (in `other`) the kept parents of folded nodes and counts them. */
static size_t mark_parents(struct regtime_folder *folder, const struct regtime_tree *tree)
{
    size_t n_others = 0;
    for (size_t i = 1; i < tree->n_nodes; i++) {
        uint32_t parent = tree->nodes[i].parent;
        if (is_root(&tree->nodes[i]) || !folder->links[i].is_folded)
            continue;
        struct regtime_link *above = &folder->links[parent];
        if (!above->is_folded && !above->other) {
            above->other = 1;
            n_others++;
        }
    }
    return n_others;
}

/* Folds until `n_rows_max` nodes and others are left. */
static bool fold_to_budget(struct regtime_folder *folder, const struct regtime_tree *tree,
                           size_t n_rows_max)
{
    if (!list_kept(folder, tree, n_rows_max))
        return false;
    while (folder->kept.n > n_rows_max)
        folder->links[folder->kept.items[--folder->kept.n]].is_folded = true;
    size_t n_rows = folder->kept.n + mark_parents(folder, tree);
    while (n_rows > n_rows_max && folder->kept.n) {
        uint32_t at = folder->kept.items[--folder->kept.n];
        struct regtime_link *link = &folder->links[at];
        struct regtime_link *above = &folder->links[tree->nodes[at].parent];
        n_rows -= link->other ? 2 : 1;
        n_rows += above->other == 0;
        link->is_folded = true;
        link->other = 0;
        above->other = 1;
    }
    return true;
}

/* ---- what the rows hold ---------------------------------------------------------------------- */

static void add_to_other(struct regtime_other *other, const struct regtime_node *node,
                         bool is_topmost)
{
    other->n_folded++;
    other->count += node->count;
    other->n_inner += node->n_inner;
    other->self_ns += node->self_ns;
    if (!is_topmost)
        return;
    bool is_first = other->sum_ns == 0 && other->start_ns == UINT64_MAX;
    other->sum_ns += node->sum_ns;
    other->min_ns = is_first || node->min_ns < other->min_ns ? node->min_ns : other->min_ns;
    other->max_ns = node->max_ns > other->max_ns ? node->max_ns : other->max_ns;
    other->start_ns =
        node->first_start_ns < other->start_ns ? node->first_start_ns : other->start_ns;
    other->end_ns = node->last_end_ns > other->end_ns ? node->last_end_ns : other->end_ns;
}

/* Links the kept nodes to their parents and sums the folded ones up. Parents come first. */
static bool link_nodes(struct regtime_folder *folder, const struct regtime_tree *tree,
                       struct regtime_candidates *candidates)
{
    folder->others.n = 0;
    for (size_t i = 1; i < tree->n_nodes; i++)
        folder->links[i].other = 0;
    for (size_t i = 1; i < tree->n_nodes; i++) {
        const struct regtime_node *node = &tree->nodes[i];
        struct regtime_link *link = &folder->links[i], *above = &folder->links[node->parent];
        if (is_root(node))
            continue;
        if (!link->is_folded) {
            if (above->last)
                folder->links[above->last].next = (uint32_t)i;
            else
                above->first = (uint32_t)i;
            above->last = (uint32_t)i;
            continue;
        }
        if (!above->other) {
            struct regtime_other *other = WEFT_VEC_PUSH(&folder->others);
            if (!other)
                return false;
            other->start_ns = UINT64_MAX;
            above->other = (uint32_t)folder->others.n;
        }
        link->other = above->other;
        struct regtime_other *other = &folder->others.items[link->other - 1];
        add_to_other(other, node, !above->is_folded);
        if (!weft_regtime_candidate_add(candidates, &other->owner, node->function_id, node->max_ns))
            return false;
    }
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct emitter {
    const struct regtime_folder *folder;
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
    const struct regtime_link *link = &out->folder->links[at];
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
    out->thread->records_after += link->first || link->other ? 2 : 1;
    return true;
}

static bool emit_other(struct emitter *out, uint32_t index, uint32_t level, uint32_t parent_row)
{
    const struct regtime_other *other = &out->folder->others.items[index];
    struct weft_regtime_row *row = push_row(out, WEFT_REGTIME_OTHER, level, parent_row);
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
    struct regtime_link *links = out->folder->links;
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
        if (links[inside].other &&
            !emit_other(out, links[inside].other - 1, nodes[inside].level + 1, links[inside].last))
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
    const struct regtime_node *nodes = out->builder->tree.nodes;
    size_t at = out->rows->n;
    struct weft_regtime_row *row = push_row(out, WEFT_REGTIME_EXPRESSION, item->level, parent_row);
    if (!row)
        return false;
    row->start_ns = item->start_ns;
    row->end_ns = item->end_ns;
    row->min_ns = UINT64_MAX;
    for (uint32_t i = item->root + 1; i < item->end; i++) {
        row->count += nodes[i].count;
        row->records += nodes[i].count + nodes[i].n_inner;
        row->self_ns += nodes[i].self_ns;
        if (nodes[i].parent != item->root)
            continue;
        row->sum_ns += nodes[i].sum_ns;
        row->min_ns = nodes[i].min_ns < row->min_ns ? nodes[i].min_ns : row->min_ns;
        row->max_ns = nodes[i].max_ns > row->max_ns ? nodes[i].max_ns : row->max_ns;
    }
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
            return no_memory(err);
    }
    return WEFT_OK;
}

enum weft_code weft_regtime_fold(struct regtime_folder *folder, struct regtime_builder *builder,
                                 const struct regtime_fold_opts *opts, struct regtime_rows *rows,
                                 struct weft_regtime_thread *thread, struct weft_err *err)
{
    const struct regtime_tree *tree = &builder->tree;
    size_t n_bytes = tree->n_nodes * sizeof *folder->links;
    if (!weft_vec_reserve(&folder->links, &folder->cap_links, tree->n_nodes + 1,
                          sizeof *folder->links))
        return no_memory(err);
    memset(folder->links, 0, n_bytes);
    if (opts->negligible_ns)
        fold_negligible(folder, tree, opts->negligible_ns, thread);
    uint64_t n_notable = builder->notable.n;
    if (opts->glyphs && !fold_to_budget(folder, tree, opts->glyphs - (size_t)n_notable))
        return no_memory(err);
    if (!link_nodes(folder, tree, &builder->candidates))
        return no_memory(err);
    struct emitter out = { folder, builder, rows, thread };
    enum weft_code code = emit(&out, err);
    thread->rows_after = thread->n_notable + thread->n_nodes + thread->n_others;
    if (!code && opts->glyphs && thread->rows_after > opts->glyphs)
        code = weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "internal error: RegTime made %" PRIu64 " rows of at most %" PRIu32,
                         thread->rows_after, opts->glyphs);
    return code;
}
