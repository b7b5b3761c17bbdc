/* SPDX-License-Identifier: MIT
 *
 * Distances, clusters and groups of shapes as the paper's listings have them, on whole matrices:
 * slow, short, and sharing no code with the analysis.
 */
#ifndef WEFT_TESTS_PLAIN_SHAPES_H
#define WEFT_TESTS_PLAIN_SHAPES_H

#include "analysis/shapes/set.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Rows and columns: shapes by id, then null. */
struct naive_shapes {
    const struct weft_shape_set *set;
    uint32_t n; /* with null */
    uint32_t *distance;
    bool *is_below; /* [n x n]: column is a proper descendant of row */
    uint32_t *cluster_of;
    uint32_t n_clusters;
};

static inline uint32_t naive_max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint32_t naive_distance(const struct naive_shapes *naive, uint32_t a, uint32_t b)
{
    return naive->distance[(size_t)a * naive->n + b];
}

/* From the children of a, and null, to those of b, and null. */
static inline uint32_t naive_half(const struct naive_shapes *naive, uint32_t a, uint32_t b)
{
    const uint32_t null = naive->n - 1;
    const uint32_t *first = naive->set->first_child;
    const uint32_t *child = naive->set->child;
    uint32_t farthest = 0;
    for (uint32_t i = a == null ? 0 : first[a]; a != null && i < first[a + 1]; i++) {
        uint32_t nearest = naive_distance(naive, child[i], null);
        for (uint32_t j = b == null ? 0 : first[b]; b != null && j < first[b + 1]; j++) {
            const uint32_t found = naive_distance(naive, child[i], child[j]);
            nearest = found < nearest ? found : nearest;
        }
        farthest = naive_max(farthest, nearest);
    }
    return farthest; /* null is null's nearest */
}

static inline void naive_fill(struct naive_shapes *naive, uint32_t a, uint32_t b)
{
    const uint32_t null = naive->n - 1;
    uint32_t of_function = a == null || b == null                                     ? 1
                           : naive->set->function_id[a] == naive->set->function_id[b] ? 0
                                                                                      : 2;
    of_function = a == b ? 0 : of_function;
    const uint32_t found =
        of_function + naive_max(naive_half(naive, a, b), naive_half(naive, b, a));
    naive->distance[(size_t)a * naive->n + b] = found;
    naive->distance[(size_t)b * naive->n + a] = found;
}

static inline void naive_find_below(struct naive_shapes *naive)
{
    const size_t n = naive->n;
    for (uint32_t s = 0; s + 1 < n; s++) {
        for (uint32_t k = naive->set->first_child[s]; k < naive->set->first_child[s + 1]; k++) {
            const uint32_t child = naive->set->child[k];
            naive->is_below[s * n + child] = true;
            for (uint32_t other = 0; other + 1 < n; other++)
                naive->is_below[s * n + other] |= naive->is_below[child * n + other];
        }
    }
}

static inline bool naive_related(const struct naive_shapes *naive, uint32_t a, uint32_t b)
{
    const size_t n = naive->n;
    return naive->is_below[a * n + b] || naive->is_below[b * n + a];
}

/* Aborts without memory. */
static inline void naive_shapes_init(struct naive_shapes *naive, const struct weft_shape_set *set)
{
    const size_t n = set->n_shapes + 1;
    *naive = (struct naive_shapes){ .set = set, .n = (uint32_t)n };
    naive->distance = calloc(n * n, sizeof *naive->distance);
    naive->is_below = calloc(n * n, sizeof *naive->is_below);
    naive->cluster_of = calloc(n, sizeof *naive->cluster_of);
    if (!naive->distance || !naive->is_below || !naive->cluster_of)
        abort();
    for (uint32_t a = 0; a + 1 < n; a++) {
        naive_fill(naive, a, (uint32_t)n - 1); /* children have lower ids: theirs are known */
        for (uint32_t b = 0; b < a; b++)
            naive_fill(naive, a, b);
    }
    naive_find_below(naive);
}

static inline void naive_shapes_fini(struct naive_shapes *naive)
{
    free(naive->distance);
    free(naive->is_below);
    free(naive->cluster_of);
}

/* May the shape join the cluster of those before it? */
static inline bool naive_fits(const struct naive_shapes *naive, const uint32_t *order,
                              uint32_t n_before, uint32_t shape, uint32_t cluster,
                              uint32_t threshold)
{
    for (uint32_t k = 0; k < n_before; k++) {
        const uint32_t member = order[k];
        if (naive->cluster_of[member] == cluster &&
            (naive->set->function_id[member] != naive->set->function_id[shape] ||
             naive_distance(naive, shape, member) > threshold ||
             naive_related(naive, shape, member)))
            return false;
    }
    return true;
}

/* First fit over the shapes in any order. */
static inline void naive_cluster(struct naive_shapes *naive, const uint32_t *order,
                                 uint32_t threshold)
{
    naive->n_clusters = 0;
    for (uint32_t k = 0; k + 1 < naive->n; k++) {
        uint32_t cluster = 0;
        while (cluster < naive->n_clusters &&
               !naive_fits(naive, order, k, order[k], cluster, threshold))
            cluster++;
        naive->cluster_of[order[k]] = cluster;
        naive->n_clusters += cluster == naive->n_clusters;
    }
}

static inline uint32_t naive_cluster_depth(const struct naive_shapes *naive, uint32_t cluster)
{
    uint32_t depth = 0;
    for (uint32_t s = 0; s + 1 < naive->n; s++)
        if (naive->cluster_of[s] == cluster)
            depth = naive_max(depth, naive->set->depth[s]);
    return depth;
}

static inline bool naive_kin(const struct naive_shapes *naive, uint32_t a, uint32_t b)
{
    for (uint32_t s = 0; s + 1 < naive->n; s++)
        for (uint32_t t = 0; naive->cluster_of[s] == a && t + 1 < naive->n; t++)
            if (naive->cluster_of[t] == b && naive_related(naive, s, t))
                return true;
    return false;
}

/* Groups of some clusters (ascending ids), as ribbons: group_of[i] is that of ids[i]. */
static inline uint32_t naive_ribbons(const struct naive_shapes *naive, const uint32_t *ids,
                                     uint32_t n_ids, uint32_t *ribbon_of)
{
    uint32_t *order = calloc(n_ids + 1, sizeof *order);
    uint32_t *group_of = calloc(n_ids + 1, sizeof *group_of);
    uint32_t *depth = calloc(n_ids + 1, sizeof *depth); /* of a group's deepest */
    uint32_t n_groups = 0;
    if (!order || !group_of || !depth)
        abort();
    for (uint32_t k = 0; k < n_ids; k++) { /* insertion: deepest first, equal ones by id */
        uint32_t at = k;
        for (; at > 0 &&
               naive_cluster_depth(naive, ids[order[at - 1]]) < naive_cluster_depth(naive, ids[k]);
             at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
    for (uint32_t k = 0; k < n_ids; k++) {
        uint32_t group = 0;
        for (uint32_t before = 0; before < k && group < n_groups; before++) {
            if (group_of[order[before]] == group &&
                naive_kin(naive, ids[order[before]], ids[order[k]])) {
                group++;
                before = UINT32_MAX; /* from the first again */
            }
        }
        group_of[order[k]] = group;
        if (group == n_groups)
            depth[n_groups++] = naive_cluster_depth(naive, ids[order[k]]);
    }
    for (uint32_t k = 0; k < n_ids; k++) { /* its rank among the groups: shallow first */
        ribbon_of[k] = 0;
        for (uint32_t other = 0; other < n_groups; other++)
            ribbon_of[k] += depth[other] < depth[group_of[k]] ||
                            (depth[other] == depth[group_of[k]] && other < group_of[k]);
    }
    free(order);
    free(group_of);
    free(depth);
    return n_groups;
}

#endif
