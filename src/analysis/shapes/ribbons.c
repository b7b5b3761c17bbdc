/* SPDX-License-Identifier: MIT
 *
 * First fit of clusters into groups of unrelated ones, 64 groups at a time: a cluster that fits
 * none of 64 goes to the next pass, as if the groups had been tried one after the other.
 *
 * A shape has two words: the groups that hold one of its proper ancestors, and one of its proper
 * descendants. Clusters come by descending depth, so the first is gathered from the parents when
 * the depth comes near (a shape enters), and brought up to date as long as it matters:
 *
 *     depth    above     D: clusters now      D - span         below
 *     shapes   settled   [ entered: both words are kept ]      not entered: 0
 *
 * where `span` is the greatest difference of depth within a cluster. What a group's new members
 * mean for shapes outside of that stretch is never asked, or gathered later. A pass costs the edges
 * once, and 64 x the stretch at most.
 */
#include "analysis/shapes/clusters.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PASS_GROUPS = 64 };

struct weft_cluster_relations {
    const struct weft_shape_set *set;
    const struct weft_clusters *clusters;
    uint32_t *first_parent; /* [n_shapes + 1] into `parent` */
    uint32_t *parent;
};

struct grouping {
    const struct weft_cluster_relations *relations;
    const struct weft_shape_set *set;
    const uint32_t *ids;
    uint32_t *order; /* positions in `ids`, by descending depth of the cluster, then id */
    size_t n_order;
    uint32_t *group_of;             /* by position in `ids` */
    uint32_t *deepest;              /* by group: depth of its first cluster */
    uint32_t n_groups, first_group; /* the latter: of the pass */
    uint32_t span;
    uint64_t *reached; /* bits: the clusters' shapes and all below */

    /* Of the pass. */
    uint64_t *own;           /* by cluster: its group as a bit */
    uint64_t *above, *under; /* by shape: groups of its ancestors, of its descendants */
    uint32_t entered;        /* shapes from here on have entered */
    struct {
        uint32_t *items;
        size_t n, cap;
    } stack;
};

/* ---- relations ------------------------------------------------------------------------------- */

static void fill_parents(struct weft_cluster_relations *relations)
{
    const struct weft_shape_set *set = relations->set;
    uint32_t *first = relations->first_parent;
    size_t n_edges = set->first_child[set->n_shapes];
    for (size_t k = 0; k < n_edges; k++)
        first[set->child[k] + 1]++;
    for (size_t s = 0; s < set->n_shapes; s++)
        first[s + 1] += first[s];
    for (uint32_t s = 0; s < set->n_shapes; s++)
        for (uint32_t k = set->first_child[s]; k < set->first_child[s + 1]; k++)
            relations->parent[first[set->child[k]]++] = s;
    for (size_t s = set->n_shapes; s > 0; s--) /* each has moved to its end */
        first[s] = first[s - 1];
    first[0] = 0;
}

enum weft_code weft_cluster_relations_build(const struct weft_shape_set *set,
                                            const struct weft_clusters *clusters,
                                            struct weft_cluster_relations **relations_out,
                                            struct weft_err *err)
{
    struct weft_cluster_relations *relations = calloc(1, sizeof *relations);
    *relations_out = NULL;
    if (!relations)
        return weft_no_memory(err, "ribbons");
    relations->set = set;
    relations->clusters = clusters;
    relations->first_parent = calloc(set->n_shapes + 2, sizeof *relations->first_parent);
    relations->parent =
        malloc(((size_t)set->first_child[set->n_shapes] + 1) * sizeof *relations->parent);
    if (!relations->first_parent || !relations->parent) {
        weft_cluster_relations_free(relations);
        return weft_no_memory(err, "ribbons");
    }
    fill_parents(relations);
    *relations_out = relations;
    return WEFT_OK;
}

void weft_cluster_relations_free(struct weft_cluster_relations *relations)
{
    if (!relations)
        return;
    free(relations->first_parent);
    free(relations->parent);
    free(relations);
}

/* ---- before --------------------------------------------------------------------------------- */

static const uint32_t *members_of(const struct grouping *grouping, uint32_t position,
                                  size_t *n_members)
{
    const struct weft_clusters *clusters = grouping->relations->clusters;
    uint32_t id = grouping->ids[position];
    *n_members = clusters->first_member[id + 1] - clusters->first_member[id];
    return clusters->member + clusters->first_member[id];
}

static void find_span(struct grouping *grouping, size_t n_ids)
{
    for (uint32_t k = 0; k < n_ids; k++) {
        size_t n_members;
        const uint32_t *members = members_of(grouping, k, &n_members);
        uint32_t span =
            grouping->set->depth[members[n_members - 1]] - grouping->set->depth[members[0]];
        grouping->span = span > grouping->span ? span : grouping->span;
    }
}

static void reach(uint64_t *reached, uint32_t shape)
{
    reached[shape / 64] |= UINT64_C(1) << (shape % 64);
}

/* The last shape before `end` that is reached, if there is one. */
static bool last_reached(const struct grouping *grouping, uint32_t end, uint32_t *shape)
{
    size_t word = end / 64;
    uint64_t bits = grouping->reached[word] & ((UINT64_C(1) << (end % 64)) - 1);
    while (bits == 0 && word > 0)
        bits = grouping->reached[--word];
    *shape = (uint32_t)word * 64 + 63 - (bits ? (uint32_t)__builtin_clzll(bits) : 0);
    return bits != 0;
}

static void find_reached(struct grouping *grouping, size_t n_ids)
{
    for (uint32_t k = 0; k < n_ids; k++) {
        size_t n_members;
        const uint32_t *members = members_of(grouping, k, &n_members);
        for (size_t m = 0; m < n_members; m++)
            reach(grouping->reached, members[m]);
    }
    uint32_t s = (uint32_t)grouping->set->n_shapes;
    while (last_reached(grouping, s, &s)) {
        size_t n_children;
        const uint32_t *children = weft_shape_children(grouping->set, s, &n_children);
        for (size_t k = 0; k < n_children; k++)
            reach(grouping->reached, children[k]);
    }
}

/* By counting, as depths are small numbers. False without memory. */
static bool sort_by_depth(struct grouping *grouping, size_t n_ids)
{
    const uint32_t *depth = grouping->relations->clusters->depth;
    uint32_t deepest = 0;
    for (size_t k = 0; k < n_ids; k++)
        deepest = depth[grouping->ids[k]] > deepest ? depth[grouping->ids[k]] : deepest;
    uint32_t *ends = calloc((size_t)deepest + 2, sizeof *ends);
    if (!ends)
        return false;
    for (size_t k = 0; k < n_ids; k++)
        ends[deepest - depth[grouping->ids[k]] + 1]++;
    for (uint32_t rank = 0; rank < deepest; rank++)
        ends[rank + 1] += ends[rank];
    for (size_t k = 0; k < n_ids; k++)
        grouping->order[ends[deepest - depth[grouping->ids[k]]]++] = (uint32_t)k;
    grouping->n_order = n_ids;
    free(ends);
    return true;
}

/* ---- a pass --------------------------------------------------------------------------------- */

static bool push_shape(struct grouping *grouping, uint32_t shape)
{
    uint32_t *item = WEFT_VEC_PUSH(&grouping->stack);
    if (item)
        *item = shape;
    return item != NULL;
}

/* Lets the shapes down to this depth enter. */
static void enter(struct grouping *grouping, uint32_t depth)
{
    const struct weft_cluster_relations *relations = grouping->relations;
    uint32_t shape;
    while (last_reached(grouping, grouping->entered, &shape) &&
           grouping->set->depth[shape] >= depth) {
        grouping->entered = shape;
        uint64_t above = 0;
        for (uint32_t k = relations->first_parent[shape]; k < relations->first_parent[shape + 1];
             k++)
            above |= grouping->above[relations->parent[k]] |
                     grouping->own[relations->clusters->cluster_of[relations->parent[k]]];
        grouping->above[shape] = above;
    }
}

/* All that has entered below the shape learns of the group. False without memory. */
static bool tell_below(struct grouping *grouping, uint32_t shape, uint64_t bit)
{
    if (!push_shape(grouping, shape))
        return false;
    while (grouping->stack.n > 0) {
        size_t n_children;
        const uint32_t *children = weft_shape_children(
            grouping->set, grouping->stack.items[--grouping->stack.n], &n_children);
        for (size_t k = n_children; k-- > 0 && children[k] >= grouping->entered;) {
            if (grouping->above[children[k]] & bit)
                continue;
            grouping->above[children[k]] |= bit;
            if (!push_shape(grouping, children[k]))
                return false;
        }
    }
    return true;
}

/* All above the shape learns of the group, but for what is deeper than the clusters to come. */
static bool tell_above(struct grouping *grouping, uint32_t shape, uint64_t bit, uint32_t depth)
{
    const struct weft_cluster_relations *relations = grouping->relations;
    if (!push_shape(grouping, shape))
        return false;
    while (grouping->stack.n > 0) {
        uint32_t at = grouping->stack.items[--grouping->stack.n];
        for (uint32_t k = relations->first_parent[at]; k < relations->first_parent[at + 1]; k++) {
            uint32_t parent = relations->parent[k];
            if (grouping->set->depth[parent] > depth)
                break; /* parents ascend */
            if (grouping->under[parent] & bit)
                continue;
            grouping->under[parent] |= bit;
            if (!push_shape(grouping, parent))
                return false;
        }
    }
    return true;
}

/* Puts the cluster in the first group without related ones; *fits is false if that is none of the
 * pass. */
static bool place(struct grouping *grouping, uint32_t position, bool *fits)
{
    uint32_t id = grouping->ids[position];
    uint32_t depth = grouping->relations->clusters->depth[id];
    size_t n_members;
    const uint32_t *members = members_of(grouping, position, &n_members);
    uint64_t relations = 0;
    enter(grouping, depth > grouping->span ? depth - grouping->span : 0);
    for (size_t m = 0; m < n_members; m++)
        relations |= grouping->above[members[m]] | grouping->under[members[m]];
    *fits = relations != UINT64_MAX;
    if (!*fits)
        return true;
    uint64_t bit = ~relations & (relations + 1); /* the lowest that is not set */
    uint32_t group = grouping->first_group + (uint32_t)__builtin_ctzll(bit);
    if (group == grouping->n_groups)
        grouping->deepest[grouping->n_groups++] = depth;
    grouping->group_of[position] = group;
    grouping->own[id] = bit;
    for (size_t m = 0; m < n_members; m++)
        if (!tell_below(grouping, members[m], bit) || !tell_above(grouping, members[m], bit, depth))
            return false;
    return true;
}

/* Places what fits into 64 more groups; the rest stays in `order`. False without memory. */
static bool run_pass(struct grouping *grouping)
{
    const struct weft_shape_set *set = grouping->set;
    if (grouping->n_groups > 0) { /* they come zeroed */
        memset(grouping->own, 0, grouping->relations->clusters->n_clusters * sizeof *grouping->own);
        memset(grouping->above, 0, set->n_shapes * sizeof *grouping->above);
        memset(grouping->under, 0, set->n_shapes * sizeof *grouping->under);
    }
    grouping->entered = (uint32_t)set->n_shapes;
    grouping->first_group = grouping->n_groups;
    size_t n_left = 0;
    for (size_t k = 0; k < grouping->n_order; k++) {
        bool fits;
        if (!place(grouping, grouping->order[k], &fits))
            return false;
        if (!fits)
            grouping->order[n_left++] = grouping->order[k];
    }
    grouping->n_order = n_left;
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Groups become ribbons by ascending depth, equal ones in order of creation. Depths of groups
 * descend: stretches of equal depth are turned around as a whole. */
static void number(const struct grouping *grouping, uint32_t *ribbon_of_group)
{
    uint32_t ribbon = 0;
    for (uint32_t end = grouping->n_groups, from; end > 0; end = from) {
        from = end - 1;
        while (from > 0 && grouping->deepest[from - 1] == grouping->deepest[end - 1])
            from--;
        for (uint32_t group = from; group < end; group++)
            ribbon_of_group[group] = ribbon++;
    }
}

static bool init(struct grouping *grouping, size_t n_ids)
{
    size_t n_shapes = grouping->set->n_shapes;
    grouping->order = malloc((n_ids + 1) * sizeof *grouping->order);
    grouping->group_of = malloc((n_ids + 1) * sizeof *grouping->group_of);
    grouping->deepest = malloc((n_ids + 1) * sizeof *grouping->deepest);
    grouping->reached = calloc(n_shapes / 64 + 1, sizeof *grouping->reached);
    grouping->own = calloc(grouping->relations->clusters->n_clusters + 1, sizeof *grouping->own);
    grouping->above = calloc(n_shapes + 1, sizeof *grouping->above);
    grouping->under = calloc(n_shapes + 1, sizeof *grouping->under);
    return grouping->order && grouping->group_of && grouping->deepest && grouping->reached &&
           grouping->own && grouping->above && grouping->under && sort_by_depth(grouping, n_ids);
}

static void fini(struct grouping *grouping)
{
    free(grouping->order);
    free(grouping->group_of);
    free(grouping->deepest);
    free(grouping->reached);
    free(grouping->own);
    free(grouping->above);
    free(grouping->under);
    WEFT_VEC_FINI(&grouping->stack);
}

enum weft_code weft_ribbons_build(const struct weft_cluster_relations *relations,
                                  const uint32_t *ids, size_t n_ids, struct weft_arena *arena,
                                  uint32_t **ribbon_of, uint32_t *n_ribbons, struct weft_err *err)
{
    struct grouping grouping = { .relations = relations, .set = relations->set, .ids = ids };
    *ribbon_of = WEFT_ARENA_NEW(arena, n_ids, uint32_t);
    *n_ribbons = 0;
    bool is_ready = *ribbon_of && init(&grouping, n_ids);
    if (is_ready) {
        find_span(&grouping, n_ids);
        find_reached(&grouping, n_ids);
    }
    while (is_ready && grouping.n_order > 0)
        is_ready = run_pass(&grouping);
    uint32_t *ribbon_of_group =
        is_ready ? malloc(((size_t)grouping.n_groups + 1) * sizeof *ribbon_of_group) : NULL;
    if (ribbon_of_group) {
        number(&grouping, ribbon_of_group);
        for (size_t k = 0; k < n_ids; k++)
            (*ribbon_of)[k] = ribbon_of_group[grouping.group_of[k]];
        *n_ribbons = grouping.n_groups;
    }
    free(ribbon_of_group);
    fini(&grouping);
    return ribbon_of_group ? WEFT_OK : weft_no_memory(err, "ribbons");
}
