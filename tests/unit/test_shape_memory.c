/* SPDX-License-Identifier: MIT
 *
 * Comparing shapes without memory: whichever allocation fails, the answer is an error and nothing
 * leaks; where it succeeds, it is the answer as ever.
 */
#include "analysis/shapes/clusters.h"
#include "analysis/shapes/compare.h"
#include "analysis/shapes/metric.h"
#include "analysis/shapes/order.h"
#include "failing_alloc.h"
#include "random_shapes.h"
#include "tap.h"

enum { MAX_ALLOCATIONS = 400, N_FUNCTIONS = 5 };

/* A sum over all that is told of the shapes; *code is the first failure. */
static uint64_t ask(const struct weft_shape_set *raw, struct weft_pool *pool, enum weft_code *code)
{
    static const struct weft_str names[N_FUNCTIONS] = {
        { "b", 1 }, { "a", 1 }, { "", 0 }, { "c", 1 }, { "a", 1 }
    };
    static const uint32_t common[N_FUNCTIONS] = { 0, 1, 2, 3, 4 };
    const struct weft_run run = { .pool = pool };
    const struct weft_clusters_opts opts = { .threshold_halves = 3 };
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_shape_order order;
    struct weft_shape_union all;
    struct weft_clusters clusters;
    struct weft_cluster_relations *kin = NULL;
    struct weft_shape_metric *metric = NULL;
    struct weft_shape_match *nodes;
    struct weft_shape_near *near;
    uint32_t *ranks, *ids, *ribbon_of, n_ribbons;
    size_t n_nodes, n_near;
    bool is_cut;
    uint64_t sum = 0;
    *code = arena ? WEFT_OK : WEFT_E_NOMEM;
    if (!*code)
        *code = weft_shape_function_ranks(names, N_FUNCTIONS, arena, &ranks, NULL);
    if (!*code)
        *code = weft_shape_order(raw, ranks, arena, &order, NULL);
    if (!*code) {
        const struct weft_shape_side sides[2] = { { &order.set, common }, { &order.set, common } };
        *code = weft_shape_union_build(sides, names, N_FUNCTIONS, arena, &all, NULL);
    }
    if (!*code)
        *code = weft_clusters_build(&all.set, &opts, &run, arena, &clusters, NULL);
    if (!*code)
        *code = weft_cluster_relations_build(&all.set, &clusters, &kin, NULL);
    ids = *code ? NULL : WEFT_ARENA_NEW(arena, clusters.n_clusters, uint32_t);
    if (!*code && !ids)
        *code = WEFT_E_NOMEM;
    for (uint32_t c = 0; !*code && c < clusters.n_clusters; c++)
        ids[c] = c;
    if (!*code)
        *code =
            weft_ribbons_build(kin, ids, clusters.n_clusters, arena, &ribbon_of, &n_ribbons, NULL);
    for (uint32_t c = 0; !*code && c < clusters.n_clusters; c++)
        sum += ribbon_of[c] * (c + 1);
    metric = *code ? NULL : weft_shape_metric_new(&all.set);
    if (!*code && !metric)
        *code = WEFT_E_NOMEM;
    if (!*code)
        *code =
            weft_shape_match(metric, (uint32_t)all.set.n_shapes - 1, (uint32_t)all.set.n_shapes - 2,
                             true, 5000, arena, &nodes, &n_nodes, &is_cut, NULL);
    if (!*code)
        *code =
            weft_shape_near(metric, (uint32_t)all.set.n_shapes - 1, 9, arena, &near, &n_near, NULL);
    if (!*code)
        sum += (uint64_t)n_nodes << 32 | n_near << 48;
    weft_shape_metric_free(metric);
    weft_cluster_relations_free(kin);
    weft_arena_free(arena);
    return sum;
}

int main(void)
{
    uint64_t state = tap_seed(1);
    const struct random_shapes_opts opts = { 300, N_FUNCTIONS, 8, 12, true };
    struct random_shapes raw;
    random_shapes_init(&raw, &opts, &state);
    for (unsigned n_workers = 1; n_workers <= 2; n_workers++) {
        struct weft_pool *pool = weft_pool_new(n_workers);
        enum weft_code code;
        const uint64_t want = ask(&raw.set, pool, &code); /* starts the pool's threads too */
        tap_ok(pool && !code && want > 0, "%u shapes with memory", raw.n_shapes);
        int n = 0;
        for (; n < MAX_ALLOCATIONS; n++) {
            n_until_failure = n;
            const uint64_t got = ask(&raw.set, pool, &code);
            const bool is_reached = n_until_failure < 0;
            n_until_failure = -1;
            if (!is_reached) {
                tap_ok(!code && got == want, "enough memory after %d allocations", n);
                break;
            }
            /* qsort does without memory */
            if (!tap_ok(code == WEFT_E_NOMEM || (!code && got == want), "allocation %d fails", n))
                break;
        }
        tap_ok(n < MAX_ALLOCATIONS, "all %d allocations were tried", n);
        weft_pool_free(pool);
    }
    random_shapes_fini(&raw);
    return tap_done();
}
