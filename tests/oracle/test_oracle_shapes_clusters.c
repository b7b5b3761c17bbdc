/* SPDX-License-Identifier: MIT
 *
 * Clusters and ribbons of random shapes against Listing A.1, and what the paper promises of them.
 */
#include "analysis/shapes/clusters.h"
#include "random_instances.h"
#include "tap.h"

#include <stdlib.h>

enum { SETS = 2500 };

struct fixture {
    struct naive_memory memory;
    struct naive_list list;
    struct naive_clusters want;
    struct weft_shape_set set;
    struct weft_clusters got;
    struct weft_cluster_relations *relations;
    struct weft_arena *arena;
};

static bool clusters_equal(const struct fixture *fixture)
{
    const struct weft_clusters *got = &fixture->got;
    bool is_ok = got->n_clusters == fixture->want.n && got->n_unclustered == 0;
    for (size_t c = 0; is_ok && c < got->n_clusters; c++) {
        const struct naive_cluster *want = &fixture->want.at[c];
        const uint32_t first = got->first_member[c];
        is_ok = got->first_member[c + 1] - first == want->n_shapes && got->depth[c] == want->depth;
        for (size_t i = 0; is_ok && i < want->n_shapes; i++)
            is_ok =
                got->member[first + i] == want->shapes[i] && got->cluster_of[want->shapes[i]] == c;
        if (!is_ok)
            tap_note("cluster %zu of %zu", c, got->n_clusters);
    }
    if (!is_ok)
        tap_note("%zu clusters, want %zu", got->n_clusters, fixture->want.n);
    return is_ok;
}

/* One function, all pairs within the threshold, none below another. */
static bool has_cluster_property(const struct fixture *fixture, uint32_t threshold_halves)
{
    for (uint32_t i = 0; i < fixture->list.n; i++)
        for (uint32_t j = 0; j < fixture->list.n; j++)
            if (i != j && fixture->got.cluster_of[i] == fixture->got.cluster_of[j] &&
                (fixture->list.at[i]->function != fixture->list.at[j]->function ||
                 naive_distance(fixture->list.at[i], fixture->list.at[j]) > threshold_halves ||
                 naive_is_below(fixture->list.at[i], fixture->list.at[j])))
                return false;
    return true;
}

static bool ribbons_equal(struct fixture *fixture, const bool *is_in)
{
    struct naive_ribbons want =
        naive_ribbons(&fixture->memory, &fixture->list, &fixture->want, is_in);
    uint32_t *ids = naive_take(&fixture->memory, fixture->want.n * sizeof *ids), *ribbon_of = NULL;
    uint32_t n_ids = 0, n_ribbons = 0;
    for (uint32_t c = 0; c < fixture->want.n; c++)
        if (is_in[c])
            ids[n_ids++] = c;
    bool is_ok = !weft_ribbons_build(fixture->relations, ids, n_ids, fixture->arena, &ribbon_of,
                                     &n_ribbons, NULL) &&
                 n_ribbons == want.n;
    size_t n_seen = 0;
    for (size_t r = 0; is_ok && r < want.n; r++)
        for (size_t i = 0; is_ok && i < want.at[r].n_clusters; i++, n_seen++) {
            size_t at = 0;
            while (ids[at] != want.at[r].clusters[i])
                at++;
            is_ok = ribbon_of[at] == r;
        }
    if (!is_ok)
        tap_note("%u ribbons of %u clusters, want %zu", n_ribbons, n_ids, want.n);
    return is_ok && n_seen == n_ids;
}

static bool check_set(struct fixture *fixture, struct random_source *random,
                      const struct weft_run *run)
{
    const struct weft_clusters_opts opts = { .threshold_halves =
                                                 (uint32_t)random_below(random, 7) };
    fixture->set = shape_set_of(&fixture->memory, &fixture->list);
    fixture->want = naive_clusters(&fixture->memory, &fixture->list, opts.threshold_halves);
    if (weft_clusters_build(&fixture->set, &opts, run, fixture->arena, &fixture->got, NULL) ||
        weft_cluster_relations_build(&fixture->set, &fixture->got, &fixture->relations, NULL))
        return false;
    bool is_ok = clusters_equal(fixture) && has_cluster_property(fixture, opts.threshold_halves);
    bool *is_in = naive_take(&fixture->memory, fixture->want.n);
    for (size_t part = 0; is_ok && part < 4; part++) { /* all of them, then threads of some */
        for (size_t c = 0; c < fixture->want.n; c++)
            is_in[c] = part == 0 || random_below(random, part + 1) == 0;
        is_ok = ribbons_equal(fixture, is_in);
    }
    weft_cluster_relations_free(fixture->relations);
    return is_ok;
}

static void test_random(struct random_source *random)
{
    struct weft_pool *pools[] = { weft_pool_new(1), weft_pool_new(2), weft_pool_new(4) };
    unsigned n_bad = 0;
    size_t n_shapes = 0, n_clusters = 0;
    for (unsigned i = 0; i < SETS && n_bad == 0; i++) {
        struct fixture fixture = { .arena = weft_arena_new(0) };
        fixture.list = random_shapes(&fixture.memory, random, i % 100 == 0 ? 20 : 4, 5);
        n_bad += !check_set(&fixture, random, &(struct weft_run){ .pool = pools[i % 3] });
        n_shapes += fixture.list.n;
        n_clusters += fixture.want.n;
        weft_arena_free(fixture.arena);
        naive_free(&fixture.memory);
    }
    tap_ok(n_bad == 0, "%d sets: %zu shapes, %zu clusters, and their ribbons", SETS, n_shapes,
           n_clusters);
    for (size_t i = 0; i < 3; i++)
        weft_pool_free(pools[i]);
}

/* A limit on the work leaves shapes alone, says how many, and puts no shape where it may not be. */
static void test_limit(struct random_source *random)
{
    struct weft_pool *pool = weft_pool_new(2);
    const struct weft_run run = { .pool = pool };
    unsigned n_bad = 0, n_cut = 0;
    for (unsigned i = 0; i < SETS / 5 && n_bad == 0; i++) {
        struct fixture fixture = { .arena = weft_arena_new(0) };
        const struct weft_clusters_opts opts = { .threshold_halves = 3,
                                                 .max_work = 1 + random_below(random, 40) };
        fixture.list = random_shapes(&fixture.memory, random, 6, 4);
        fixture.set = shape_set_of(&fixture.memory, &fixture.list);
        n_bad +=
            weft_clusters_build(&fixture.set, &opts, &run, fixture.arena, &fixture.got, NULL) ||
            !has_cluster_property(&fixture, 3);
        size_t n_alone = 0;
        for (size_t c = 0; n_bad == 0 && c < fixture.got.n_clusters; c++)
            n_alone += fixture.got.first_member[c + 1] - fixture.got.first_member[c] == 1;
        n_bad += fixture.got.n_unclustered > n_alone;
        n_cut += fixture.got.n_unclustered > 0;
        weft_arena_free(fixture.arena);
        naive_free(&fixture.memory);
    }
    tap_ok(n_bad == 0 && n_cut > 0, "limits on the work, %u of which cut", n_cut);
    weft_pool_free(pool);
}

int main(void)
{
    struct random_source random = { tap_seed(43) };
    test_random(&random);
    test_limit(&random);
    return tap_done();
}
