/* SPDX-License-Identifier: MIT
 *
 * Clusters and ribbons (paper, Listing A.1, with the `break` that it lacks; ALGORITHMS.md 3).
 */
#ifndef WEFT_ANALYSIS_SHAPE_CLUSTERS_H
#define WEFT_ANALYSIS_SHAPE_CLUSTERS_H

#include "analysis/shape_set.h"
#include "base/arena.h"
#include "base/pool.h"

#include <stdint.h>

struct weft_clusters_opts {
    uint32_t threshold_halves;
    uint64_t max_work; /* evaluations of the metric for one function's shapes; 0: the default. Those
                          that come after it are alone in their cluster, and counted */
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

/* First fit; functions are independent of each other and go to the workers of `run`. Everything is
 * allocated from `arena`. WEFT_E_NOMEM, WEFT_E_CANCELLED. */
WEFT_CHECKED enum weft_code
weft_clusters_build(const struct weft_shape_set *set, const struct weft_clusters_opts *opts,
                    const struct weft_run *run, struct weft_arena *arena,
                    struct weft_clusters *clusters, struct weft_err *err);

/* Which clusters have a shape below a shape of another (paper, Appendix A): what no ribbon may hold
 * together. Shared by all workers. */
struct weft_cluster_kin;

WEFT_CHECKED enum weft_code weft_cluster_kin_build(const struct weft_shape_set *set,
                                                   const struct weft_clusters *clusters,
                                                   struct weft_cluster_kin **kin,
                                                   struct weft_err *err);
void weft_cluster_kin_free(struct weft_cluster_kin *kin);

/* The ribbons of the given clusters (ascending ids): *ribbon_of[i] is the ribbon of ids[i], 0 on
 * top (shallowest). First fit over clusters by descending depth, ties by id. */
WEFT_CHECKED enum weft_code weft_ribbons_build(const struct weft_clusters *clusters,
                                               const struct weft_cluster_kin *kin,
                                               const uint32_t *ids, size_t n_ids,
                                               struct weft_arena *arena, uint32_t **ribbon_of,
                                               uint32_t *n_ribbons, struct weft_err *err);

#endif
