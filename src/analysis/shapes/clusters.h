/* SPDX-License-Identifier: MIT
 *
 * Clusters and ribbons (paper, Listing A.1, with the `break` that it lacks; ALGORITHMS.md 3).
 */
#ifndef WEFT_ANALYSIS_SHAPES_CLUSTERS_H
#define WEFT_ANALYSIS_SHAPES_CLUSTERS_H

#include "analysis/shapes/set.h"
#include "base/arena.h"
#include "base/pool.h"

#include <stdint.h>

struct weft_clusters_opts {
    uint32_t threshold_halves;
    uint64_t max_work; /* pairs looked at (shape_metric.h) for all functions together, each of which
                          has a share in proportion to its shapes; 0: 1 << 29. Shapes that come
                          after a share is used up are alone in their cluster */
};

/* Clusters in order of creation, over the shapes in canonical order. */
struct weft_clusters {
    size_t n_clusters;
    uint32_t *cluster_of;   /* [n_shapes] */
    uint32_t *first_member; /* [n_clusters + 1] into `member` */
    uint32_t *member;       /* shape ids, ascending in each cluster */
    uint32_t *depth;        /* [n_clusters]: deepest member's */
    uint64_t n_unclustered; /* shapes alone because of max_work */
};

/* First fit over the shapes in canonical order: a shape joins the first cluster of its function
 * whose members are all within the threshold, and none above or below it. Functions are independent
 * of each other and go to the workers of `run`, each of which takes up to 32 MiB and 50 bytes a
 * shape. What is in *clusters is allocated from `arena`. Same result for any number of workers.
 * WEFT_E_NOMEM, WEFT_E_CANCELLED. */
WEFT_CHECKED enum weft_code
weft_clusters_build(const struct weft_shape_set *set, const struct weft_clusters_opts *opts,
                    const struct weft_run *run, struct weft_arena *arena,
                    struct weft_clusters *clusters, struct weft_err *err);

/* Finds which clusters have a shape below a shape of another (paper, Appendix A): no ribbon may
 * hold these together. Borrows the set and the clusters; shared by all workers. 4 bytes for each
 * shape and child. */
struct weft_cluster_relations;

/* WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_cluster_relations_build(const struct weft_shape_set *set,
                                                         const struct weft_clusters *clusters,
                                                         struct weft_cluster_relations **relations,
                                                         struct weft_err *err);
void weft_cluster_relations_free(struct weft_cluster_relations *relations);

/* The ribbons of some clusters (ascending ids, say those of a thread): (*ribbon_of)[i], in `arena`,
 * is the ribbon of ids[i], 0 on top. First fit over clusters by descending depth, ties by id; a
 * ribbon holds no two clusters of which one has a shape below a shape of the other. Ribbons ascend
 * by the depth of their deepest cluster, those of equal depth in order of creation. O((shapes +
 * children) x (1 + ribbons / 64)) in practice; 16 bytes a shape while it runs. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_ribbons_build(const struct weft_cluster_relations *relations,
                                               const uint32_t *ids, size_t n_ids,
                                               struct weft_arena *arena, uint32_t **ribbon_of,
                                               uint32_t *n_ribbons, struct weft_err *err);

#endif
