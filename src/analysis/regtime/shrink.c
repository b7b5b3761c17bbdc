/* SPDX-License-Identifier: MIT
 *
 * Folding, deferring, closing the ranks. Callees are folded before their callers: a caller's sum is
 * never less than its callee's, and it is less deep.
 */
#include "analysis/regtime/shrink.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

void weft_regtime_shrinker_fini(struct regtime_shrinker *shrinker)
{
    free(shrinker->links);
    WEFT_VEC_FINI(&shrinker->others);
    WEFT_VEC_FINI(&shrinker->others_moved);
    WEFT_VEC_FINI(&shrinker->kept);
    shrinker->links = NULL;
    shrinker->cap_links = 0;
}

void weft_regtime_shrinker_reset(struct regtime_shrinker *shrinker, size_t max_nodes)
{
    shrinker->max_nodes = max_nodes;
    shrinker->negligible_nodes = shrinker->negligible_self_ns = 0;
    shrinker->has_deferred = false;
    shrinker->others.n = shrinker->kept.n = 0;
}

bool weft_regtime_links_ready(struct regtime_shrinker *shrinker, const struct regtime_tree *tree,
                              size_t n_more)
{
    size_t n_links = tree->n_nodes + n_more + 1;
    if (!weft_vec_reserve(&shrinker->links, &shrinker->cap_links, n_links, sizeof *shrinker->links))
        return false;
    memset(shrinker->links, 0, n_links * sizeof *shrinker->links);
    return true;
}

/* ---- which nodes are folded ------------------------------------------------------------------ */

/* Whether a later pass is adding to what the node calls. */
static bool is_active(const struct regtime_node *node)
{
    return node->is_settled && !node->is_closed;
}

/* `first` of a link: a callee is not negligible. */
void weft_regtime_fold_negligible(struct regtime_shrinker *shrinker, struct regtime_tree *tree,
                                  size_t n_end)
{
    struct regtime_link *links = shrinker->links;
    for (size_t i = n_end; i-- > 1;) {
        struct regtime_node *node = &tree->nodes[i];
        struct regtime_link *link = &links[i], *above = &links[node->parent];
        if (weft_regtime_is_root(node))
            continue;
        node->is_needed = node->is_needed || link->first;
        if (link->last || node->is_deferred || is_active(node)) {
            link->last = above->last = 1;
            above->first = above->first || node->is_needed;
        } else if (node->is_needed || node->self_ns >= shrinker->negligible_ns) {
            above->first = 1;
        } else {
            link->is_folded = true;
            shrinker->negligible_nodes++;
            shrinker->negligible_self_ns += node->self_ns;
        }
    }
}

/* Whether node x, as deep as y, occurred first. */
static bool is_earlier(const struct regtime_node *nodes, uint32_t x, uint32_t y)
{
    if (nodes[x].first_start_ns != nodes[y].first_start_ns)
        return nodes[x].first_start_ns < nodes[y].first_start_ns;
    while (nodes[x].parent != nodes[y].parent) { /* up to siblings, or to the roots of two runs */
        x = nodes[x].parent ? nodes[x].parent : x;
        y = nodes[y].parent ? nodes[y].parent : y;
    }
    return x < y;
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
    return x == y ? 0 : is_earlier(nodes, x, y) ? -1 : 1;
}

static void keep_best(struct regtime_shrinker *shrinker, const struct regtime_tree *tree,
                      size_t n_max)
{
    if (shrinker->kept.n)
        qsort_r(shrinker->kept.items, shrinker->kept.n, sizeof *shrinker->kept.items, by_rank,
                tree->nodes);
    for (size_t k = n_max; k < shrinker->kept.n; k++)
        shrinker->links[shrinker->kept.items[k]].is_folded = true;
    shrinker->kept.n = shrinker->kept.n < n_max ? shrinker->kept.n : n_max;
}

bool weft_regtime_rank(struct regtime_shrinker *shrinker, const struct regtime_tree *tree,
                       size_t n_end, size_t n_max)
{
    shrinker->kept.n = 0;
    for (size_t i = 1; i < n_end; i++) {
        const struct regtime_link *link = &shrinker->links[i];
        if (weft_regtime_is_root(&tree->nodes[i]) || link->is_folded || link->last)
            continue;
        if (shrinker->kept.n >= 128 && shrinker->kept.n / 2 > n_max)
            keep_best(shrinker, tree, n_max);
        uint32_t *item = WEFT_VEC_PUSH(&shrinker->kept);
        if (!item)
            return false;
        *item = (uint32_t)i;
    }
    keep_best(shrinker, tree, n_max);
    return true;
}

/* ---- what a caller keeps of them ------------------------------------------------------------- */

static void add_to_other(struct regtime_other *other, const struct regtime_node *node,
                         bool is_topmost)
{
    other->n_folded++;
    other->count += node->count;
    other->n_inner += node->n_inner;
    other->self_ns += node->self_ns;
    if (!is_topmost)
        return;
    other->sum_ns += node->sum_ns;
    other->min_ns = node->min_ns < other->min_ns ? node->min_ns : other->min_ns;
    other->max_ns = node->max_ns > other->max_ns ? node->max_ns : other->max_ns;
    other->start_ns =
        node->first_start_ns < other->start_ns ? node->first_start_ns : other->start_ns;
    other->end_ns = node->last_end_ns > other->end_ns ? node->last_end_ns : other->end_ns;
}

/* What a folded node had folded itself: none of it is topmost. */
static bool add_inner_other(struct regtime_other *other, const struct regtime_other *inner,
                            struct regtime_candidates *candidates)
{
    other->n_folded += inner->n_folded;
    other->count += inner->count;
    other->n_inner += inner->n_inner;
    other->self_ns += inner->self_ns;
    return weft_regtime_candidates_join(candidates, &other->owner, inner->owner);
}

static bool other_of(struct regtime_shrinker *shrinker, struct regtime_node *node, uint32_t *number)
{
    if (!node->other) {
        struct regtime_other *other = WEFT_VEC_PUSH(&shrinker->others);
        if (!other)
            return false;
        other->start_ns = other->min_ns = UINT64_MAX;
        node->other = (uint32_t)shrinker->others.n;
    }
    *number = node->other;
    return true;
}

bool weft_regtime_sum_folded(struct regtime_shrinker *shrinker, struct regtime_tree *tree,
                             struct regtime_candidates *candidates, size_t n_end)
{
    for (size_t i = 1; i < n_end; i++) {
        const struct regtime_node *node = &tree->nodes[i];
        struct regtime_link *link = &shrinker->links[i];
        const struct regtime_link *above = &shrinker->links[node->parent];
        if (!link->is_folded)
            continue;
        if (above->is_folded)
            link->other = above->other;
        else if (!other_of(shrinker, &tree->nodes[node->parent], &link->other))
            return false;
        struct regtime_other *other = &shrinker->others.items[link->other - 1];
        add_to_other(other, node, !above->is_folded);
        if (node->other &&
            !add_inner_other(other, &shrinker->others.items[node->other - 1], candidates))
            return false;
        if (!weft_regtime_candidate_add(candidates, &other->owner, node->function_id, node->max_ns))
            return false;
    }
    return true;
}

/* Drops the "others" that were added to another one. */
static bool move_others(struct regtime_shrinker *shrinker, struct regtime_tree *tree)
{
    struct regtime_others *moved = &shrinker->others_moved, before = shrinker->others;
    moved->n = 0;
    for (size_t i = 1; i < tree->n_nodes; i++) {
        struct regtime_node *node = &tree->nodes[i];
        if (!node->other)
            continue;
        struct regtime_other *other = WEFT_VEC_PUSH(moved);
        if (!other)
            return false;
        *other = before.items[node->other - 1];
        node->other = (uint32_t)moved->n;
    }
    shrinker->others = *moved;
    *moved = before;
    return true;
}

/* ---- deferring --------------------------------------------------------------------------------
 */

/* What is being read: nodes from first_live on, but for the sink, under the run's root or, in a
 * later pass, under active nodes. `first` of a link: nodes in the subtree. */
struct live {
    struct regtime_shrinker *shrinker;
    struct regtime_tree *tree;
    size_t first, end;
    size_t first_active; /* is never deferred again: every pass gets on; or first */
};

static bool is_live(const struct live *live, size_t at)
{
    const struct regtime_tree *tree = live->tree;
    return at >= live->first && at != tree->sink && !weft_regtime_is_sunk(tree, &tree->nodes[at]);
}

static void measure(const struct live *live)
{
    struct regtime_link *links = live->shrinker->links;
    for (size_t i = 0; i < live->end; i++)
        links[i].first = 0;
    for (size_t i = live->end; i-- > live->first;) {
        if (!is_live(live, i))
            continue;
        links[i].first++;
        links[live->tree->nodes[i].parent].first += links[i].first;
    }
}

/* Nodes that go when node `at` is deferred, if it is a largest subtree of at most `size` nodes. */
static size_t gain_of(const struct live *live, size_t at, size_t size)
{
    const struct regtime_link *links = live->shrinker->links;
    const struct regtime_node *node = &live->tree->nodes[at];
    size_t n_below = links[at].first - (at >= live->first);
    if (weft_regtime_is_root(node) || links[at].first > size || n_below == 0)
        return 0;
    if (at < live->first)
        return is_active(node) && at != live->first_active ? n_below : 0;
    return is_live(live, at) && links[node->parent].first > size ? n_below : 0;
}

/* The subtrees are a share of all: more of them hit the number wanted, fewer take less work. */
static size_t choose_size(const struct live *live, size_t n_wanted)
{
    size_t n_live = live->end - live->first, size = n_live / 16 + 2;
    for (; size < n_live; size *= 2) {
        size_t n_gained = 0;
        for (size_t i = 1; i < live->end; i++)
            n_gained += gain_of(live, i, size);
        if (n_gained >= n_wanted)
            break;
    }
    return size;
}

/* Adds a node that goes to the sink: if the run turns out to be a sliver, that is all it needs. */
static bool sink_node(const struct live *live, size_t at)
{
    struct regtime_tree *tree = live->tree;
    uint32_t sunk = weft_regtime_tree_sink(tree, tree->nodes[at].function_id);
    if (!sunk)
        return false;
    const struct regtime_node *node = &tree->nodes[at];
    struct regtime_node *sink = &tree->nodes[sunk];
    sink->count += node->count;
    sink->n_inner += node->n_inner;
    sink->sum_ns += node->sum_ns;
    sink->max_ns = node->max_ns > sink->max_ns ? node->max_ns : sink->max_ns;
    live->shrinker->links[at].is_folded = true;
    live->shrinker->links[at].other = sunk;
    return true;
}

/* Defers the latest subtrees until `n_wanted` nodes are gone. */
static bool defer(const struct live *live, size_t n_wanted)
{
    struct regtime_node *nodes = live->tree->nodes;
    measure(live);
    size_t size = choose_size(live, n_wanted), n_gained = 0;
    for (size_t i = live->end; i-- > 1 && n_gained < n_wanted;) {
        size_t n_gain = gain_of(live, i, size);
        if (!n_gain)
            continue;
        n_gained += n_gain;
        nodes[i].is_deferred = nodes[i].is_closed = 1;
        live->shrinker->has_deferred = true;
    }
    for (size_t i = live->first; i < live->end; i++) {
        const struct regtime_node *node = &live->tree->nodes[i];
        bool is_gone = is_live(live, i) && !weft_regtime_is_root(node) &&
                       (live->tree->nodes[node->parent].is_deferred ||
                        live->shrinker->links[node->parent].is_folded);
        if (is_gone && !sink_node(live, i))
            return false;
    }
    return true;
}

/* ---- closing the ranks ------------------------------------------------------------------------
 */

static bool close_ranks(const struct live *live)
{
    struct regtime_tree *tree = live->tree;
    struct regtime_link *links = live->shrinker->links;
    size_t n_nodes = 1;
    for (size_t i = 1; i < tree->n_nodes; i++) {
        links[i].next = links[i].is_folded ? 0 : (uint32_t)n_nodes;
        if (links[i].is_folded)
            continue;
        struct regtime_node *node = &tree->nodes[n_nodes++];
        *node = tree->nodes[i];
        node->parent = links[node->parent].next;
        for (size_t k = 0; k < REGTIME_MEMOS; k++)
            node->memo[k].function_id = WEFT_ID_NONE;
    }
    for (size_t i = live->first; i < live->end; i++)
        if (links[i].is_folded)
            links[i].next = links[links[i].other].next;
    tree->n_nodes = n_nodes;
    tree->sink = links[tree->sink].next;
    tree->run_root = links[tree->run_root].next;
    return tree->run_root || tree->is_reopened ? weft_regtime_tree_rehash(tree) : true;
}

bool weft_regtime_shrink(struct regtime_shrinker *shrinker, struct regtime_tree *tree,
                         struct regtime_candidates *candidates, size_t *first_live)
{
    struct live live = { shrinker, tree, *first_live, tree->n_nodes, 1 };
    while (live.first_active < live.first && !is_active(&tree->nodes[live.first_active]))
        live.first_active++;
    shrinker->has_deferred = false;
    if (!weft_regtime_links_ready(shrinker, tree, (size_t)shrinker->n_functions + 2))
        return false;
    weft_regtime_fold_negligible(shrinker, tree, live.first);
    if (!weft_regtime_rank(shrinker, tree, live.first, shrinker->n_keep) ||
        !weft_regtime_sum_folded(shrinker, tree, candidates, live.first))
        return false;
    size_t n_left = live.end - live.first, n_first = 1;
    for (size_t i = 1; i < live.first; i++)
        n_first += !shrinker->links[i].is_folded;
    n_left += n_first;
    if (n_left > shrinker->max_nodes / 2 && live.end > live.first &&
        !defer(&live, n_left - shrinker->max_nodes / 2))
        return false;
    if (!close_ranks(&live) || !move_others(shrinker, tree) ||
        !weft_regtime_candidates_settle(candidates))
        return false;
    *first_live = n_first;
    if (tree->n_nodes > shrinker->max_nodes / 4 * 3)
        shrinker->max_nodes = tree->n_nodes * 2;
    return true;
}
