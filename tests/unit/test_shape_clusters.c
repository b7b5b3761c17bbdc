/* SPDX-License-Identifier: MIT
 *
 * Clusters and ribbons: equal to the listings for any threshold and any number of workers; limits.
 */
#include "analysis/shapes/clusters.h"
#include "plain_shapes.h"
#include "random_shapes.h"
#include "tap.h"

enum { N_SETS = 600, MAX_SHAPES = 150 };

static void order_shapes(const struct random_shapes *raw, struct weft_arena *arena,
                         struct weft_shape_order *order)
{
    uint32_t *ranks = WEFT_ARENA_NEW(arena, raw->opts.n_functions, uint32_t);
    for (uint32_t k = 0; k < raw->opts.n_functions; k++)
        ranks[k] = k;
    if (weft_shape_order(&raw->set, ranks, arena, order, NULL))
        abort();
}

static bool are_consistent(const struct weft_shape_set *set, const struct weft_clusters *clusters)
{
    bool is_right = clusters->first_member[clusters->n_clusters] == set->n_shapes;
    for (uint32_t c = 0; c < clusters->n_clusters; c++) {
        const uint32_t from = clusters->first_member[c];
        const uint32_t end = clusters->first_member[c + 1];
        is_right &= from < end;
        for (uint32_t k = from; k < end; k++) {
            is_right &= clusters->cluster_of[clusters->member[k]] == c;
            is_right &= k == from || clusters->member[k - 1] < clusters->member[k];
        }
        is_right &= clusters->depth[c] == set->depth[clusters->member[end - 1]];
    }
    return is_right;
}

static void test_ribbons(const struct weft_shape_set *set, const struct weft_clusters *clusters,
                         const struct naive_shapes *naive, struct weft_arena *arena,
                         uint64_t *state)
{
    struct weft_cluster_relations *relations;
    if (weft_cluster_relations_build(set, clusters, &relations, NULL))
        abort();
    for (unsigned k = 0; k < 3; k++) {
        uint32_t *ids = WEFT_ARENA_NEW(arena, clusters->n_clusters, uint32_t);
        uint32_t *want = WEFT_ARENA_NEW(arena, clusters->n_clusters, uint32_t);
        uint32_t *got = NULL;
        uint32_t n_ids = 0;
        uint32_t n_ribbons = 0;
        for (uint32_t c = 0; c < clusters->n_clusters; c++)
            if (k == 0 || random_below(state, 3) == 0)
                ids[n_ids++] = c;
        if (weft_ribbons_build(relations, ids, n_ids, arena, &got, &n_ribbons, NULL))
            abort();
        tap_eq_u64(n_ribbons, naive_ribbons(naive, ids, n_ids, want), "ribbons of %u clusters",
                   n_ids);
        tap_eq_mem(got, want, n_ids * sizeof *want, "which is in which");
    }
    weft_cluster_relations_free(relations);
}

static void test_one(uint64_t *state, const struct weft_run *one, const struct weft_run *three)
{
    const struct random_shapes_opts opts = {
        .n_shapes = random_below(state, MAX_SHAPES),
        .n_functions = 1 + random_below(state, 12),
        .max_children = 1 + random_below(state, 12),
        .max_depth = 1 + random_below(state, 16),
        .is_recursive = random_below(state, 2),
    };
    const struct weft_clusters_opts limits = {
        .threshold_halves = random_below(state, 3) ? 3 : random_below(state, 9),
    };
    struct random_shapes raw;
    random_shapes_init(&raw, &opts, state);
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_shape_order order;
    struct naive_shapes naive;
    struct weft_clusters clusters, again;
    order_shapes(&raw, arena, &order);
    const size_t n = order.set.n_shapes;
    naive_shapes_init(&naive, &order.set);
    uint32_t *ids = WEFT_ARENA_NEW(arena, n, uint32_t);
    for (uint32_t s = 0; s < n; s++)
        ids[s] = s;
    naive_cluster(&naive, ids, limits.threshold_halves);
    if (weft_clusters_build(&order.set, &limits, one, arena, &clusters, NULL) ||
        weft_clusters_build(&order.set, &limits, three, arena, &again, NULL))
        abort();
    tap_eq_u64(clusters.n_clusters, naive.n_clusters, "clusters of %zu shapes", n);
    tap_eq_mem(clusters.cluster_of, naive.cluster_of, n * sizeof *ids, "which is in which");
    tap_eq_mem(again.cluster_of, clusters.cluster_of, n * sizeof *ids, "with three workers too");
    tap_ok(are_consistent(&order.set, &clusters) && clusters.n_unclustered == 0,
           "members and depths");
    test_ribbons(&order.set, &clusters, &naive, arena, state);
    naive_shapes_fini(&naive);
    weft_arena_free(arena);
    random_shapes_fini(&raw);
}

/* Those before the limit are clustered as ever, those after it alone; for any number of workers. */
static void test_limit(uint64_t *state, const struct weft_run *one, const struct weft_run *three)
{
    const struct random_shapes_opts opts = { 2000, 5, 8, 12, true };
    struct random_shapes raw;
    random_shapes_init(&raw, &opts, state);
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_shape_order order;
    order_shapes(&raw, arena, &order);
    uint64_t before = UINT64_MAX;
    for (uint64_t work = 1; work < 1 << 20; work *= 4) {
        const struct weft_clusters_opts limits = { .threshold_halves = 3, .max_work = work };
        struct weft_clusters clusters, again;
        if (weft_clusters_build(&order.set, &limits, one, arena, &clusters, NULL) ||
            weft_clusters_build(&order.set, &limits, three, arena, &again, NULL))
            abort();
        tap_ok(are_consistent(&order.set, &clusters) && clusters.n_unclustered <= before &&
                   clusters.n_unclustered <= clusters.n_clusters,
               "work %" PRIu64 " leaves %" PRIu64 " of %zu shapes alone", work,
               clusters.n_unclustered, order.set.n_shapes);
        tap_ok(again.n_unclustered == clusters.n_unclustered &&
                   memcmp(again.cluster_of, clusters.cluster_of,
                          order.set.n_shapes * sizeof(uint32_t)) == 0,
               "the same with three workers");
        before = clusters.n_unclustered;
    }
    weft_arena_free(arena);
    random_shapes_fini(&raw);
}

/* A function that calls itself: all is relations, no two shapes share a cluster, nor a ribbon. */
static void test_recursion(uint32_t depth, const struct weft_run *run)
{
    struct weft_arena *arena = weft_arena_new(0);
    uint32_t *function_id = WEFT_ARENA_NEW(arena, depth, uint32_t);
    uint32_t *depths = WEFT_ARENA_NEW(arena, depth, uint32_t);
    uint32_t *first_child = WEFT_ARENA_NEW(arena, depth + 1, uint32_t);
    uint32_t *child = WEFT_ARENA_NEW(arena, depth, uint32_t);
    for (uint32_t s = 0; s < depth; s++) {
        depths[s] = s + 1;
        first_child[s + 1] = s;
        if (s)
            child[s - 1] = s - 1;
    }
    const struct weft_shape_set set = { depth, function_id, depths, first_child, child };
    const struct weft_clusters_opts limits = { .threshold_halves = 3 };
    struct weft_clusters clusters;
    struct weft_cluster_relations *relations;
    uint32_t *ribbon_of, n_ribbons;
    if (weft_clusters_build(&set, &limits, run, arena, &clusters, NULL) ||
        weft_cluster_relations_build(&set, &clusters, &relations, NULL) ||
        weft_ribbons_build(relations, clusters.cluster_of, depth, arena, &ribbon_of, &n_ribbons,
                           NULL))
        abort();
    tap_eq_u64(clusters.n_clusters, depth, "clusters of %u levels of recursion", depth);
    tap_eq_u64(n_ribbons, depth, "ribbons of recursion");
    tap_ok(ribbon_of[0] == 0 && ribbon_of[depth - 1] == depth - 1, "the shallowest on top");
    weft_cluster_relations_free(relations);
    weft_arena_free(arena);
}

int main(void)
{
    uint64_t state = tap_seed(1);
    struct weft_run one = { .pool = weft_pool_new(1) };
    struct weft_run three = { .pool = weft_pool_new(3) };
    for (unsigned k = 0; k < N_SETS; k++)
        test_one(&state, &one, &three);
    test_limit(&state, &one, &three);
    test_recursion(20000, &one);
    weft_pool_free(one.pool);
    weft_pool_free(three.pool);
    return tap_done();
}
